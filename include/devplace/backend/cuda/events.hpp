// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <exception>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/event.hpp>

namespace devplace {

/// CUDA events without timing, recorded on the streams of the places.
template <> struct implementation<backend::cuda, op::events> {
  static detail::event_handle create(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    cudaEvent_t created = nullptr;
    detail::check_cuda(cudaEventCreateWithFlags(&created, cudaEventDisableTiming), "cudaEventCreateWithFlags", ordinal);
    return {created, ordinal, &release};
  }
  static void record(int ordinal, void* state) { detail::cuda_scope(ordinal).record(native_event(state)); }
  static void follow(int ordinal, void* state) { detail::cuda_scope(ordinal).follow(native_event(state)); }
  static void wait(void* state, int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    detail::launch_record_of(native_event(state));
    detail::wait_for_cuda_event(native_event(state), ordinal);
  }
  static bool ready(void* state, int ordinal) {
    if (detail::cuda_device_lost(ordinal)) return true;
    const detail::cuda_device_guard device(ordinal);
    detail::launch_record_of(native_event(state));
    return !detail::cuda_query_pending(cudaEventQuery(native_event(state)), "cudaEventQuery", ordinal);
  }
  static detail::device_failure drain(int ordinal) {
    try {
      detail::cuda_scope(ordinal).wait();
    } catch (...) {
      return {std::current_exception(), ordinal};
    }
    return {};
  }
  /// Returns the number of failures, at most 1: a failed device is lost to the process.
  static std::uint64_t failures(int ordinal) { return detail::cuda_device_lost(ordinal) ? 1 : 0; }

 private:
  static cudaEvent_t native_event(void* state) { return static_cast<cudaEvent_t>(state); }
  static void release(void* state, int ordinal) noexcept {
    if (detail::cuda_device_lost(ordinal)) return;
    detail::launch_record_of_destroyed(native_event(state));
    const detail::quiet_cuda_device_guard device(detail::device_map::of_process().visible(ordinal));
    detail::ignore_cuda(cudaEventDestroy(native_event(state)));
  }
};

}  // namespace devplace
