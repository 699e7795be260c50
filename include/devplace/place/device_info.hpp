// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// A property of a device that its maker's interface has under this name.
struct device_attribute {
  const char* name = "";  ///< as CUDA writes it behind cudaDevAttr: `WarpSize`
  long long value = 0;    ///< in the unit that CUDA gives it
};

/// What this process has of one place.
struct device_information {
  std::string place;             ///< as PyTorch writes it: `cpu`, `cuda:1`
  std::string processor;         ///< the maker's name, as `AMD EPYC 9654` or `NVIDIA H200`
  int units = 0;                 ///< processors that this process may use, or streaming multiprocessors
  const char* unit_name = "";    ///< `cores` or `SMs`
  std::size_t memory_total = 0;  ///< bytes
  std::size_t memory_free = 0;   ///< bytes that could be allocated now, by all processes together
  std::string support;           ///< what this program was compiled with for it; of GPUs also what the driver supports
  std::string device;            ///< where numbers differ: `visible device 0, physical device 2`; else empty

  // Of GPUs alone.
  std::string uuid = {};                          ///< as `nvidia-smi -L` shows it: `GPU-` and 32 digits
  int capability_major = 0;                       ///< compute capability 9.0 is 9 and 0
  int capability_minor = 0;                       ///< the number behind the point
  std::size_t l2_cache = 0;                       ///< bytes
  std::vector<device_attribute> attributes = {};  ///< limits and abilities
  std::vector<std::string> peers = {};            ///< places whose memory its work can reach, as `cuda:1`
};

}  // namespace devplace

namespace devplace::op {

/// Devices of a backend: `count()`, `why_unavailable(ordinal)` (empty when it can be used), `describe(ordinal)`,
/// `support()` (what the program was compiled with) and `numbering()` (what orders and chooses its devices).
struct device_query {};

}  // namespace devplace::op

namespace devplace::detail {

/// Why the component that runs cuda places is not there, in a translation unit that cannot use them.
inline std::string cuda_component_missing() {
  return "this program was compiled without a component for cuda places; add devplace::cuda (or "
         "devplace::simulated_cuda, which needs no GPU) to target_link_libraries";
}

}  // namespace devplace::detail

#include <devplace/backend/cpu/device_query.hpp>
#include DEVPLACE_CUDA_DEVICES

namespace devplace::detail {

template <class Backend>
void append_devices(std::vector<device_information>& found) {
  if constexpr (provided<Backend, op::device_query>) {
    using query = implementation<Backend, op::device_query>;
    for (int ordinal = 0; ordinal < query::count(); ++ordinal)
      if (query::why_unavailable(ordinal).empty()) found.push_back(query::describe(ordinal));
  }
}

template <class Backend>
std::string support_description() {
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

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The places of this machine that this program can use now: the CPU, and each CUDA device that a component of this
/// translation unit works with (real or simulated). Asking a GPU for its free memory starts its context, and asking for
/// cuda devices freezes the device map.
inline std::vector<device_information> list_devices() {
  std::vector<device_information> found;
  detail::append_devices<backend::cpu>(found);
  detail::append_devices<backend::cuda>(found);
  return found;
}

/// What this translation unit was compiled with for cuda places, in a sentence: the component, what gives the devices
/// their numbers (CUDA_DEVICE_ORDER, CUDA_VISIBLE_DEVICES) and, where it finds none, why.
inline std::string cuda_support_description() {
  return detail::support_description<backend::cuda>();
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
