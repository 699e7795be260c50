// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include <devplace/backend/cuda/check.hpp>
#include <devplace/base/error.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// The devices that are visible to this process, or the error of the query.
struct cuda_device_list {
  device_numbering numbering;
  int count = 0;
  cudaError_t code = cudaSuccess;
};

/// Returns the devices, queried once, because CUDA also reads CUDA_VISIBLE_DEVICES only at its first call.
inline const cuda_device_list& cuda_devices() {
  static const cuda_device_list list = [] {
    cuda_device_list found{device_numbering::of_environment()};
    found.code = cudaGetDeviceCount(&found.count);
    if (found.code != cudaSuccess) {  // the count is -1 after an error
      found.count = 0;
      static_cast<void>(cudaGetLastError());
    }
    return found;
  }();
  return list;
}

/// Formats a version number of CUDA: 13000 is 13.0.
inline std::string cuda_version_text(int version) { return joined({version / 1000, ".", version % 1000 / 10}); }

/// Returns the number of cuda places: of the visible devices, or of the device map's entries. Freezes the map.
inline int cuda_place_count(const char* used_by) { return device_map::of_process().use(cuda_devices().count, used_by); }

/// Returns why the cuda place `ordinal` cannot be used; empty if it can.
DEVPLACE_COMPILABLE() std::string why_no_cuda_device(int ordinal) {
  if (ordinal >= 0 && ordinal < cuda_place_count("a query of the devices")) return why_cuda_device_lost(ordinal);
  const cuda_device_list& list = cuda_devices();
  const std::string name = place_name(backend::cuda{}, ordinal);
  const std::string answer =
      list.code == cudaSuccess ? "" : joined({" (cudaGetDeviceCount: ", cuda_error_text(list.code), ")"});
  if (list.code == cudaErrorInsufficientDriver)
    return joined(
        {name, " needs an NVIDIA driver, and this machine has none or one older than the CUDA Toolkit of this ",
         "program, ", cuda_version_text(CUDART_VERSION), answer, "; install or update the driver, or run on cpu"});
  if (list.code == cudaErrorSystemNotReady)
    return joined({name, " cannot be used, because the machine's GPUs are not ready", answer,
                   "; GPUs connected by NVSwitch need the service nvidia-fabricmanager, of the driver's version: start "
                   "it and see Fabric in nvidia-smi -q, or run on cpu"});
  if (list.count == 0)
    return joined(
        {name, " does not exist: CUDA finds no device for this process", answer, "; see nvidia-smi",
         list.numbering.has_choice
             ? joined({" and the environment variable CUDA_VISIBLE_DEVICES, which is \"", list.numbering.choice, "\""})
             : " (the environment variable CUDA_VISIBLE_DEVICES is not set)",
         ", or run on cpu"});
  if (device_map::of_process().given()) return device_map::of_process().why_absent(ordinal);
  const std::string shown =
      !list.numbering.has_choice
          ? std::string(", all that CUDA finds (CUDA_VISIBLE_DEVICES is not set); ")
          : joined({", because the environment variable CUDA_VISIBLE_DEVICES is \"", list.numbering.choice,
                    "\"; name more devices of nvidia-smi -L there, or unset it, or "});
  return joined({name, " does not exist: this process sees ", list.count, " CUDA device(s), counted from 0", shown,
                 "let several places share a device by DEVPLACE_DEVICE_MAP, or use a lower ordinal"});
}
DEVPLACE_COMPILED_APART(std::string why_no_cuda_device(int))

/// Returns the visible device behind the cuda place `ordinal`. Throws placement_unavailable if there is none.
DEVPLACE_COMPILABLE() int cuda_visible_device(int ordinal) {
  if (ordinal < 0 || ordinal >= cuda_place_count("work or memory on a device"))
    throw placement_unavailable(why_no_cuda_device(ordinal) + ".");
  return device_map::of_process().visible(ordinal);
}
DEVPLACE_COMPILED_APART(int cuda_visible_device(int))

/// Returns whether a visible device has a primary context in this process. Makes none, unlike most calls for a device.
/// Returns true if the driver cannot be asked.
inline bool has_cuda_context(int visible) noexcept {
  static const auto query = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    ignore_cuda(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found, 7000, 0, &result));
#else
    ignore_cuda(cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &found, 0, &result));
#endif
    return reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(found);
  }();
  unsigned flags = 0;
  int active = 0;
  return query == nullptr || (query(visible, &flags, &active) == CUDA_SUCCESS && active != 0);
}

/// Makes a visible device the current one of this thread while the object lives. Afterwards restores the thread's
/// device if it has a context. Otherwise the program has not made it current, because cudaSetDevice creates a context;
/// it is the default, device 0, on which a process with another device must not occupy memory. Ignores errors, as
/// destructors do: freeing memory of one device does not fail because of another device.
class quiet_cuda_device_guard {
 public:
  explicit quiet_cuda_device_guard(int visible) noexcept : code_(cudaGetDevice(&previous_)) {
    changed_ = code_ == cudaSuccess && previous_ != visible;
    if (changed_) code_ = cudaSetDevice(visible);
    ignore_cuda(code_);
  }
  quiet_cuda_device_guard& operator=(quiet_cuda_device_guard&&) = delete;
  ~quiet_cuda_device_guard() {
    if (changed_ && has_cuda_context(previous_)) ignore_cuda(cudaSetDevice(previous_));
  }

  /// Returns the error of making the device the current one.
  cudaError_t code() const noexcept { return code_; }

 private:
  int previous_ = 0;
  cudaError_t code_;
  bool changed_ = false;
};

/// Makes the device behind a cuda place the current one of this thread while the object lives. Throws
/// placement_unavailable if there is no such device, device_lost if it is no longer usable.
class cuda_device_guard {
 public:
  explicit cuda_device_guard(int ordinal) : visible_(usable_device(ordinal)), device_(visible_) {
    check_cuda(device_.code(), "cudaSetDevice", ordinal);
  }

  /// Returns the device's number among CUDA's visible devices.
  int visible() const { return visible_; }

 private:
  static int usable_device(int ordinal) {
    const int visible = cuda_visible_device(ordinal);
    require_cuda_device_usable(ordinal);
    return visible;
  }

  int visible_;
  quiet_cuda_device_guard device_;
};

}  // namespace devplace::detail
