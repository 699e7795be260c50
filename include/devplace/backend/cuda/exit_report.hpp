// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/detail/untold_failure.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Waits for a stream at exit until the clock is at `end`. Gives the device up only if the program has chosen a
/// device_timeout().
inline void look_at_exit(cudaStream_t stream, int ordinal, std::int64_t end) {
  if (cuda_device_lost(ordinal)) return;
  const cudaError_t code = poll_cuda([stream] { return cudaStreamQuery(stream); }, end);
  if (code == cudaErrorNotReady && device_timeout() != 0) give_up_cuda_device(ordinal);
  if (loses_the_device(code)) lose_cuda_device(code, "cudaStreamQuery", ordinal);
}

/// Looks at the devices that the process used, unless they stayed in its parent, and writes one sentence for each that
/// failed and whose failure no call has thrown. Waits a second for all of them, or as long as device_timeout() says: a
/// kernel that fails does so early, and one that never ends must not keep the program. Other errors are ignored: CUDA
/// may already have been shut down.
inline cuda_exit_report::~cuda_exit_report() {
  if (made_in != fork_count()) return;
  try {
    const std::int64_t end = in_seconds(device_timeout() == 0 ? 1 : device_timeout());
    for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal) {
      const cuda_queue* queue = cuda_queue_slot::of(ordinal).queue.load(std::memory_order_acquire);
      if (queue == nullptr) continue;
      const int visible = device_map::of_process().visible(ordinal);
      const quiet_cuda_device_guard device(visible);
      look_at_exit(queue->stream, ordinal, end);
      std::size_t index = 0;
      while (const cudaStream_t stream = cuda_stream_pool::of(ordinal).made(index++))
        look_at_exit(stream, ordinal, end);
      if (cuda_device_lost(ordinal) && !told_loss_of_cuda_device(visible).exchange(true))
        write_failure_at_exit(place_name(backend::cuda{}, ordinal), why_cuda_device_lost(ordinal) + ".");
    }
  } catch (...) {  // no memory for a sentence
  }
}

}  // namespace devplace::detail
