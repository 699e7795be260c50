// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/stream.hpp>

namespace devplace {

/// CUDA streams, created non-blocking: without implicit synchronisation with the default stream.
template <> struct implementation<backend::cuda, op::streams> {
  static detail::stream_handle create(int ordinal) {
    const detail::cuda_scope device(ordinal);
    return {detail::of_place<detail::cuda_stream_pool>(ordinal).take(ordinal), ordinal, &release};
  }
  static detail::stream_handle create_without_memory(int ordinal) { return create(ordinal); }
  static detail::stream_handle own(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    return {detail::cuda_queue_of(ordinal, device.visible()).stream, ordinal, nullptr};
  }
  /// Returns the stream for the program's own work.
  static void* native(void* state) {
    detail::launch_collected();
    return state;
  }
  static void synchronize(int ordinal, void* native) {
    const detail::cuda_device_guard device(ordinal);
    detail::launch_collected();
    detail::wait_for_cuda_stream(native_stream(native), ordinal);
  }
  static bool ready(int ordinal, void* native) {
    if (detail::cuda_device_lost(ordinal)) return true;
    const detail::cuda_device_guard device(ordinal);
    detail::launch_collected();
    return !detail::cuda_query_pending(cudaStreamQuery(native_stream(native)), "cudaStreamQuery", ordinal);
  }

 private:
  static cudaStream_t native_stream(void* native) { return static_cast<cudaStream_t>(native); }
  static void release(void* native, int ordinal) noexcept {
    detail::of_place<detail::cuda_stream_pool>(ordinal).give(native_stream(native));
  }
};

}  // namespace devplace
