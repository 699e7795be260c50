// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/detail/failure_at_exit.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Waits for a stream at exit until the clock reaches `end`. Marks a device that is still busy as lost only if the
/// program has set a device_timeout().
inline void check_stream_at_exit(cudaStream_t stream, int ordinal, std::int64_t end) {
  if (cuda_device_lost(ordinal)) return;
  const cudaError_t code = poll_cuda([stream] { return cudaStreamQuery(stream); }, end);
  if (code == cudaErrorNotReady && device_timeout() != 0) mark_cuda_device_timed_out(ordinal);
  if (is_device_lost(code)) mark_cuda_device_lost(code, "cudaStreamQuery", ordinal);
}

/// Writes one sentence for each device that failed and whose failure no call has thrown. Checks the devices that this
/// process used, except in a forked child that inherited them. Waits one second in total, or device_timeout(): a
/// failing kernel fails early, and an endless kernel must not keep the program from exiting. Ignores other errors,
/// because CUDA may already have been shut down.
inline cuda_exit_report::~cuda_exit_report() {
  if (made_in != fork_count()) return;
  try {
    const std::int64_t end = in_seconds(device_timeout() == 0 ? 1 : device_timeout());
    for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal) {
      const cuda_queue* queue = cuda_queue_slot::on_device(ordinal).queue.load(std::memory_order_acquire);
      if (queue == nullptr) continue;
      const int visible = device_map::of_process().visible(ordinal);
      const quiet_cuda_device_guard device(visible);
      check_stream_at_exit(queue->stream, ordinal, end);
      std::size_t index = 0;
      while (const cudaStream_t stream = cuda_stream_pool::on_device(ordinal).created(index++))
        check_stream_at_exit(stream, ordinal, end);
      if (cuda_device_lost(ordinal) && !thrown_loss_of_cuda_device(visible).exchange(true))
        write_failure_at_exit(place_name(backend::cuda{}, ordinal), why_cuda_device_lost(ordinal) + ".");
    }
  } catch (...) {  // if memory for the sentence is missing
  }
}

}  // namespace devplace::detail
