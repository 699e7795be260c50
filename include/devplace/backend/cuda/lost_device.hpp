// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include <devplace/backend/cuda/last_launch.hpp>
#include <devplace/base/error.hpp>
#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Returns CUDA's description of an error, its enumerator and its number.
inline std::string cuda_error_text(cudaError_t code) {
  return joined({cudaGetErrorString(code), " (", cudaGetErrorName(code), ", ", static_cast<int>(code), ")"});
}

/// Returns whether the error is a hardware fault and not caused by a kernel.
inline bool is_hardware_fault(cudaError_t code) {
  return code == cudaErrorECCUncorrectable || code == cudaErrorNvlinkUncorrectable ||
         code == cudaErrorHardwareStackError;
}

/// Returns whether all later calls of this process on the device fail, too (documentation of cudaError).
inline bool is_device_lost(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return true;
    default:  // cudaErrorContained and cudaErrorTensorMemoryLeak, not named in CUDA 12.4
      return is_hardware_fault(code) || static_cast<int>(code) == 226 || static_cast<int>(code) == 721;
  }
}

/// Returns a sentence about the kernels that may have caused an error of this device, including kernels of other places
/// on the same GPU; empty if no kernel was launched.
inline std::string last_launch_text(int ordinal) {
  if (ordinal < 0 || ordinal >= counted_ordinals) return {};
  const device_map& map = device_map::of_process();
  std::string text;
  if (const char* name = last_launch(ordinal).load(std::memory_order_relaxed))
    text = joined({" The last kernel launched on the device is ", name, "."});
  for (int other = 0; other < counted_ordinals; ++other) {
    const char* name = last_launch(other).load(std::memory_order_relaxed);
    if (other == ordinal || name == nullptr || map.visible(other) != map.visible(ordinal)) continue;
    text += joined(
        {" The last kernel launched on ", place_name(backend::cuda{}, other), ", on the same GPU, is ", name, "."});
  }
  return text;
}

/// For each visible device, the reason why it is lost to this process; null while it is usable.
inline std::atomic<const std::string*>& loss_of_cuda_device(int visible) {
  static std::array<std::atomic<const std::string*>, counted_ordinals> losses{};
  return losses[static_cast<std::size_t>(visible)];
}

/// For each visible device, whether a call has thrown device_lost for it.
inline std::atomic<bool>& thrown_loss_of_cuda_device(int visible) {
  static std::array<std::atomic<bool>, counted_ordinals> thrown{};
  return thrown[static_cast<std::size_t>(visible)];
}

/// Marks the device behind `ordinal` as lost because of `why` (without full stop), unless it is lost already.
inline void mark_cuda_device_lost(const std::string& why, int ordinal) {
  const int visible = device_map::of_process().visible(ordinal);
  if (visible < 0 || visible >= counted_ordinals) return;
  std::atomic<const std::string*>& loss = loss_of_cuda_device(visible);
  if (loss.load(std::memory_order_acquire) != nullptr) return;
  const auto* text = new std::string(why);
  const std::string* none = nullptr;
  if (!loss.compare_exchange_strong(none, text, std::memory_order_acq_rel)) delete text;
}

inline void mark_cuda_device_lost(cudaError_t code, const char* call, int ordinal) {
  mark_cuda_device_lost(
      joined({"the device is lost to this process since ", call, " on ", place_name(backend::cuda{}, ordinal),
              " failed: ", cuda_error_text(code), ".", last_launch_text(ordinal),
              is_hardware_fault(code)
                  ? " The GPU reports a hardware fault; run on another device and see nvidia-smi -q."
                  : " A kernel failed and this process cannot use the device any more; run the program with "
                    "DEVPLACE_SYNC_LAUNCH=1, or under compute-sanitizer, to find the kernel.",
              " To use the device again, restart the process"}),
      ordinal);
}

/// Marks the device as lost because its work takes longer than device_timeout().
inline void mark_cuda_device_timed_out(int ordinal) {
  const char* last = last_launch(ordinal).load(std::memory_order_relaxed);
  std::string why = timeout_text("the device", last == nullptr ? "its work" : last);
  why.pop_back();
  mark_cuda_device_lost(why, ordinal);
}

/// Returns why the device behind the existing place `ordinal` is lost; empty while usable. Makes no CUDA call.
inline std::string why_cuda_device_lost(int ordinal) {
  const int visible = device_map::of_process().visible(ordinal);
  if (visible < 0 || visible >= counted_ordinals) return {};
  const std::string* loss = loss_of_cuda_device(visible).load(std::memory_order_acquire);
  return loss == nullptr ? std::string() : joined({place_name(backend::cuda{}, ordinal), ": ", *loss});
}

/// Returns whether the device is lost. For destructors, which make no calls on a lost device.
inline bool cuda_device_lost(int ordinal) noexcept {
  const int visible = device_map::of_process().visible(ordinal);
  return visible >= 0 && visible < counted_ordinals &&
         loss_of_cuda_device(visible).load(std::memory_order_acquire) != nullptr;
}

inline void require_cuda_device_usable(int ordinal) {
  if (cuda_device_lost(ordinal)) [[unlikely]] {
    thrown_loss_of_cuda_device(device_map::of_process().visible(ordinal)) = true;
    throw device_lost(why_cuda_device_lost(ordinal) + ".");
  }
}

}  // namespace devplace::detail
