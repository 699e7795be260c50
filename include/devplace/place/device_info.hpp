// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// A property of a device, named as in the vendor's interface.
struct device_attribute {
  const char* name = "";  ///< CUDA's name without cudaDevAttr: `WarpSize`
  long long value = 0;    ///< in CUDA's unit
};

/// Information about one place, as this process sees it.
struct device_information {
  std::string place;             ///< PyTorch's name: `cpu`, `cuda:1`
  std::string processor;         ///< the vendor's name: `AMD EPYC 9654` or `NVIDIA H200`
  int units = 0;                 ///< number of cores that this process may use, or of streaming multiprocessors
  const char* unit_name = "";    ///< `cores` or `SMs`
  std::size_t memory_total = 0;  ///< bytes
  std::size_t memory_free = 0;   ///< bytes that can be allocated now; other processes compete for them
  std::string support;           ///< components compiled in for the place; for GPUs also the driver's CUDA version
  std::string device;            ///< if renumbered: `visible device 0, physical device 2`; else empty

  // Only for GPUs.
  std::string uuid = {};                          ///< as in `nvidia-smi -L`: `GPU-` and 32 digits
  int capability_major = 0;                       ///< 9 for compute capability 9.0
  int capability_minor = 0;                       ///< 0 for compute capability 9.0
  std::size_t l2_cache = 0;                       ///< bytes
  std::vector<device_attribute> attributes = {};  ///< limits and capabilities
  std::vector<std::string> peers = {};            ///< places whose memory this place can access: `cuda:1`

  /// Prints a summary: `cuda:0: NVIDIA H200, 132 SMs, 139.8 GiB of memory, 139.1 GiB free`.
  friend std::ostream& operator<<(std::ostream& out, const device_information& d) {
    const auto gib = [](std::size_t bytes) {
      const std::size_t tenths = (bytes / 1024 * 10 + (1 << 19)) >> 20;
      return detail::joined({tenths / 10, ".", tenths % 10});
    };
    return out << d.place << ": " << d.processor << ", " << std::to_string(d.units) << ' ' << d.unit_name << ", "
               << gib(d.memory_total) << " GiB of memory, " << gib(d.memory_free) << " GiB free";
  }
};

}  // namespace devplace

namespace devplace::op {

/// Devices of a backend: `count()`, `why_unavailable(ordinal)` (empty if usable), `describe(ordinal)`, `support()`
/// (compiled-in components) and `numbering()` (the variables that order and select the devices).
struct device_query {};

}  // namespace devplace::op

namespace devplace::detail {

/// Why cuda places cannot be used in a translation unit without a component for them.
inline std::string cuda_component_missing() {
  return "this program was compiled without a component for cuda places; add devplace::cuda (or "
         "devplace::simulated_cuda, which needs no GPU) to target_link_libraries";
}

template <class Backend> void append_devices(std::vector<device_information>& found) {
  if constexpr (provided<Backend, op::device_query>) {
    using query = implementation<Backend, op::device_query>;
    for (int ordinal = 0; ordinal < query::count(); ++ordinal)
      if (query::why_unavailable(ordinal).empty()) found.push_back(query::describe(ordinal));
  }
}

template <class Backend> int count_devices() {
  if constexpr (provided<Backend, op::device_query>)
    return implementation<Backend, op::device_query>::count();
  else
    return 0;
}

template <class Backend> std::string support_description() {
  if constexpr (provided<Backend, op::device_query>) {
    using query = implementation<Backend, op::device_query>;
    std::string text = query::support();
    if constexpr (configuration::cuda == cuda_support::host_only)
      text += "; this file is compiled as C++ and has no kernels";
    text += "; " + query::numbering();
    if (query::count() == 0) text += "; no device: " + query::why_unavailable(0);
    return text + ".";
  } else {
    return cuda_component_missing() + ".";
  }
}

}  // namespace devplace::detail

#include <devplace/backend/cpu/device_query.hpp>
#include DEVPLACE_DEVICES(device_query)

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The places of this machine that the program can use now: the CPU, and each CUDA device (real or simulated) if a
/// component of this translation unit supports them. Querying a GPU's free memory creates its context; listing cuda
/// devices freezes the device map.
inline std::vector<device_information> list_devices() {
  return detail::naming_bad_alloc("the list of devices", [] {
    std::vector<device_information> found;
    detail::append_devices<backend::cpu>(found);
    detail::append_devices<backend::device>(found);
    return found;
  });
}

/// Number of CUDA devices, real or simulated, that this program can use, as torch.cuda.device_count(); 0 if no
/// component supports them. Freezes the device map.
inline int device_count() { return detail::count_devices<backend::device>(); }

/// A sentence about this translation unit's support for cuda places: the component, the variables that number the
/// devices (CUDA_DEVICE_ORDER, CUDA_VISIBLE_DEVICES) and, if there are no devices, the reason.
inline std::string cuda_support_description() {
  return detail::naming_bad_alloc("the description", detail::support_description<backend::device>);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
