// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// A place's object of this type. Never destroyed: CUDA may shut down before static objects are destroyed.
template <class T> T& of_place(int ordinal) {
  static auto& objects = *new std::array<T, counted_ordinals>;
  return objects[static_cast<std::size_t>(ordinal)];
}

/// The kernel last launched on the place `ordinal`, or null. An asynchronous error comes from it or an earlier one.
inline std::atomic<const char*>& last_launch(int ordinal) {
  static std::array<std::atomic<const char*>, counted_ordinals> names{};
  return names[static_cast<std::size_t>(ordinal)];
}

/// Returns `name` after setting it at the first call to the kernel's type in `text`. The string is never destroyed.
[[gnu::noinline]] inline const char* name_once(std::atomic<const std::string*>& name, const char* text) {
  const std::string* known = name.load(std::memory_order_acquire);
  if (known != nullptr) return known->c_str();
  auto made = std::make_unique<const std::string>(type_in(text, "Kernel = "));
  if (name.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return known->c_str();
}

template <class Kernel> const char* kernel_name() {
  static std::atomic<const std::string*> name{nullptr};
  return name_once(name, __PRETTY_FUNCTION__);
}

/// Returns whether `text`, the value of an environment variable, is 1. `purpose` says what the variable is set for.
inline bool parse_switch(const char* variable, const char* purpose, const char* text) {
  const std::string_view value = text == nullptr ? "" : text;
  if (value == "1") return true;
  if (value.empty() || value == "0") return false;
  throw argument_error({"the environment variable ", variable, " is \"", value,
                        "\", which is neither 0 nor 1. Set it to 1 ", purpose, ", or unset it."});
}

inline bool sync_launches() {
  static const bool enabled =
      parse_switch("DEVPLACE_SYNC_LAUNCH", "to wait for each kernel, so that errors name the failing kernel",
                   std::getenv("DEVPLACE_SYNC_LAUNCH"));
  return enabled;
}

inline std::string cuda_error_text(cudaError_t code) {
  return joined({cudaGetErrorString(code), " (", cudaGetErrorName(code), ", ", static_cast<int>(code), ")"});
}

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
DEVPLACE_COMPILABLE() std::string last_launch_text(int ordinal) {
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
DEVPLACE_COMPILED_APART(std::string last_launch_text(int))

/// Whether a visible device is lost to this process.
struct cuda_device_loss {
  std::atomic<const std::string*> why;  ///< the reason; null while the device is usable
  std::atomic<bool> thrown;             ///< whether a call has thrown device_lost for the device
};

/// Returns the state of the device behind `ordinal`; null if CUDA has no such device.
inline cuda_device_loss* loss_of_cuda_device(int ordinal) {
  static std::array<cuda_device_loss, counted_ordinals> losses{};
  const int visible = device_map::of_process().visible(ordinal);
  return visible < 0 || visible >= counted_ordinals ? nullptr : &losses[static_cast<std::size_t>(visible)];
}

/// Marks the device behind `ordinal` as lost because of `why` (without full stop), unless it is lost already.
inline void mark_cuda_device_lost(const std::string& why, int ordinal) {
  cuda_device_loss* const loss = loss_of_cuda_device(ordinal);
  if (loss == nullptr || loss->why.load(std::memory_order_acquire) != nullptr) return;
  const auto* text = new std::string(why);
  const std::string* none = nullptr;
  if (!loss->why.compare_exchange_strong(none, text, std::memory_order_acq_rel)) delete text;
}

DEVPLACE_COMPILABLE() void mark_cuda_device_lost(cudaError_t code, const char* call, int ordinal) {
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
DEVPLACE_COMPILED_APART(void mark_cuda_device_lost(cudaError_t, const char*, int))

DEVPLACE_COMPILABLE() void mark_cuda_device_timed_out(int ordinal) {
  const char* last = last_launch(ordinal).load(std::memory_order_relaxed);
  std::string why = timeout_text("the device", last == nullptr ? "its work" : last);
  why.pop_back();
  mark_cuda_device_lost(why, ordinal);
}
DEVPLACE_COMPILED_APART(void mark_cuda_device_timed_out(int))

/// Returns whether the device is lost. For destructors, which make no calls on a lost device.
inline bool cuda_device_lost(int ordinal) noexcept {
  const cuda_device_loss* const loss = loss_of_cuda_device(ordinal);
  return loss != nullptr && loss->why.load(std::memory_order_acquire) != nullptr;
}

/// Returns why the device behind the existing place `ordinal` is lost; empty while usable. Makes no CUDA call.
DEVPLACE_COMPILABLE() std::string why_cuda_device_lost(int ordinal) {
  if (!cuda_device_lost(ordinal)) return {};
  return joined({place_name(backend::cuda{}, ordinal), ": ", *loss_of_cuda_device(ordinal)->why});
}
DEVPLACE_COMPILED_APART(std::string why_cuda_device_lost(int))

inline void require_cuda_device_usable(int ordinal) {
  if (cuda_device_lost(ordinal)) [[unlikely]] {
    loss_of_cuda_device(ordinal)->thrown = true;
    throw device_lost(why_cuda_device_lost(ordinal) + ".");
  }
}

/// Returns advice for an error of `call` that leaves the device usable, except out-of-memory and a missing device.
inline const char* cuda_error_remedy(cudaError_t code, std::string_view call) {
  switch (code) {
    case cudaErrorNotSupported:
      return call.starts_with("cudaMemPool")
                 ? "The GPU has no memory pools, which devplace needs: it is a virtual GPU without unified memory, or "
                   "its driver is too old. Turn on unified memory for the virtual GPU, update the driver, or use "
                   "another GPU."
                 : "The GPU or its driver does not have this function; update the driver, or use another GPU.";
    case cudaErrorDevicesUnavailable:
      return "Another process uses the GPU, which is in exclusive-process mode, or its mode prohibits computing: see "
             "the compute mode and the processes in nvidia-smi -q. Give each process a GPU of its own by "
             "bind_devices() or CUDA_VISIBLE_DEVICES, or change the mode by nvidia-smi -c DEFAULT.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "The program contains no code for this GPU; add its architecture to CMAKE_CUDA_ARCHITECTURES and rebuild.";
    case cudaErrorUnsupportedPtxVersion:
      return "The driver is older than the CUDA Toolkit of this program; update the driver, or build with the GPU's "
             "architecture in CMAKE_CUDA_ARCHITECTURES.";
    default:
      return "Run the program under compute-sanitizer to find the failing kernel; an asynchronous error may come from "
             "work that was enqueued earlier.";
  }
}

/// Throws the exception for a failed call. If the device can still be used, clears CUDA's record of the error;
/// otherwise marks the device as lost.
DEVPLACE_COMPILABLE([[noreturn]]) void throw_cuda_error(cudaError_t code, const char* call, int ordinal) {
  static_cast<void>(cudaGetLastError());
  if (is_device_lost(code)) {
    mark_cuda_device_lost(code, call, ordinal);
    require_cuda_device_usable(ordinal);
  }
  const std::string sentence =
      joined({call, " on ", place_name(backend::cuda{}, ordinal), " failed: ", cuda_error_text(code), ". "});
  if (code == cudaErrorMemoryAllocation)
    throw out_of_memory(sentence +
                        "Use a smaller batch, free tensors that are not needed, or see nvidia-smi for other "
                        "programs on this GPU.");
  throw error(sentence + cuda_error_remedy(code, call) + last_launch_text(ordinal));
}
DEVPLACE_COMPILED_APART(void throw_cuda_error(cudaError_t, const char*, int))

/// Checks the result of a CUDA runtime call; every such call is wrapped in this function.
inline void check_cuda(cudaError_t code, const char* call, int ordinal) {
  if (code != cudaSuccess) [[unlikely]]
    throw_cuda_error(code, call, ordinal);
}

/// Ignores the result of a call, as destructors do. Clears CUDA's record of its error, which the program would
/// otherwise take for an error of its own.
inline void ignore_cuda(cudaError_t code) noexcept {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Returns whether a queried stream or event has work left, given the query's result. Returns false after a failure;
/// a call that waits for the work throws the failure.
inline bool cuda_query_pending(cudaError_t code, const char* call, int ordinal) {
  if (code == cudaSuccess) return false;
  static_cast<void>(cudaGetLastError());
  if (is_device_lost(code)) mark_cuda_device_lost(code, call, ordinal);
  return code == cudaErrorNotReady;
}

}  // namespace devplace::detail
