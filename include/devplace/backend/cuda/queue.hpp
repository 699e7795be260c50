// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <devplace/backend/cuda/repeated_launches.hpp>
#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/backend/cuda/wait.hpp>
#include <devplace/base/fork_count.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Whether this thread's operations only make plans and workspaces, without enqueueing work (ops/planning.hpp).
inline bool& only_plans() {
  static thread_local bool enabled = false;
  return enabled;
}

/// The additional streams of one cuda place; thread-safe. Reuses returned streams and never destroys them: memory may
/// later be freed in a stream's order, and CUDA may shut down before static objects are destroyed.
class cuda_stream_pool {
 public:
  /// Takes a stream of the place, whose device is the current one. Work of a previous owner may still be pending on it.
  cudaStream_t take(int ordinal) {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const cudaStream_t stream = idle_.back();
      idle_.pop_back();
      return stream;
    }
    created_.reserve(created_.size() + 1);
    idle_.reserve(created_.size() + 1);  // so that give() does not allocate
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", ordinal);
    created_.push_back(stream);
    return stream;
  }

  void give(cudaStream_t stream) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(stream);
  }

  /// Returns the `index`-th stream created so far, with or without an owner; null past the last.
  cudaStream_t created(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return index < created_.size() ? created_[index] : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<cudaStream_t> created_;
  std::vector<cudaStream_t> idle_;
};

/// The resources of a logical device on its GPU: a stream for its work, and a pool from which memory is allocated and
/// freed in the stream's order. Logical devices on one GPU run concurrently.
struct cuda_queue {
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
};

/// Makes a queue on the device `visible`, which is the current one. The pool never releases memory on its own.
DEVPLACE_COMPILABLE() cuda_queue make_cuda_queue(int ordinal, int visible) {
  static_cast<void>(device_timeout());  // throws here, at a device's first use, if the value is invalid
  cuda_queue queue;
  check_cuda(cudaStreamCreateWithFlags(&queue.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", ordinal);
  try {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = visible;
    check_cuda(cudaMemPoolCreate(&queue.pool, &properties), "cudaMemPoolCreate", ordinal);
    std::uint64_t keep_all = UINT64_MAX;
    check_cuda(cudaMemPoolSetAttribute(queue.pool, cudaMemPoolAttrReleaseThreshold, &keep_all),
               "cudaMemPoolSetAttribute", ordinal);
  } catch (...) {
    if (queue.pool != nullptr) ignore_cuda(cudaMemPoolDestroy(queue.pool));
    ignore_cuda(cudaStreamDestroy(queue.stream));
    throw;
  }
  return queue;
}
DEVPLACE_COMPILED_APART(cuda_queue make_cuda_queue(int, int))

/// A place's queue, created on first use, and the mutex that guards its creation.
struct cuda_queue_slot {
  std::mutex mutex;
  std::atomic<const cuda_queue*> queue{nullptr};
};

/// Waits for a stream at exit until the clock reaches `end`. Marks a device that is still busy as lost only if the
/// program has set a device_timeout().
inline void check_stream_at_exit(cudaStream_t stream, int ordinal, std::int64_t end) {
  if (cuda_device_lost(ordinal)) return;
  const cudaError_t code = poll_cuda([stream] { return cudaStreamQuery(stream); }, end);
  if (code == cudaErrorNotReady && device_timeout() != 0) mark_cuda_device_timed_out(ordinal);
  if (is_device_lost(code)) mark_cuda_device_lost(code, "cudaStreamQuery", ordinal);
}

/// Writes at exit one sentence for each device that failed and whose failure no call has thrown. Checks the devices
/// that this process used. Waits one second in total, or device_timeout(): a failing kernel fails early, and an endless
/// kernel must not keep the program from exiting. Ignores other errors, because CUDA may already have been shut down.
DEVPLACE_COMPILABLE() void report_cuda_failures_at_exit() noexcept try {
  const std::int64_t end = in_seconds(device_timeout() == 0 ? 1 : device_timeout());
  for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal) {
    const cuda_queue* queue = of_place<cuda_queue_slot>(ordinal).queue.load(std::memory_order_acquire);
    if (queue == nullptr) continue;
    const int visible = device_map::of_process().visible(ordinal);
    const quiet_cuda_device_guard device(visible);
    check_stream_at_exit(queue->stream, ordinal, end);
    const cuda_stream_pool& others = of_place<cuda_stream_pool>(ordinal);
    for (std::size_t k = 0; const cudaStream_t stream = others.created(k); ++k)
      check_stream_at_exit(stream, ordinal, end);
    if (cuda_device_lost(ordinal) && !loss_of_cuda_device(ordinal)->thrown.exchange(true))
      write_failure_at_exit(place_name(backend::cuda{}, ordinal), why_cuda_device_lost(ordinal) + ".");
  }
} catch (...) {  // if memory for the sentence is missing
}
DEVPLACE_COMPILED_APART(void report_cuda_failures_at_exit() noexcept)

/// Reports at exit, except in a forked child, which inherited the devices.
struct cuda_exit_report {
  unsigned made_in = fork_count();
  ~cuda_exit_report() {
    if (made_in == fork_count()) report_cuda_failures_at_exit();
  }
};

/// Returns the queue of the place `ordinal`, whose device is the current one; made at first use. Never destroyed,
/// because CUDA may shut down before static objects are destroyed.
inline const cuda_queue& cuda_queue_of(int ordinal, int visible) {
  cuda_queue_slot& slot = of_place<cuda_queue_slot>(ordinal);
  const cuda_queue* queue = slot.queue.load(std::memory_order_acquire);
  if (queue == nullptr) [[unlikely]] {
    const std::lock_guard lock(slot.mutex);  // std::call_once hangs after an exception on some systems
    queue = slot.queue.load(std::memory_order_relaxed);
    if (queue == nullptr) {
      queue = new cuda_queue(make_cuda_queue(ordinal, visible));
      slot.queue.store(queue, std::memory_order_release);
      static const cuda_exit_report at_exit;  // constructed after CUDA's own objects, so destroyed before them
    }
  }
  return *queue;
}

/// Makes the device behind a cuda place the current one of this thread while the object lives, and provides the place's
/// pool and stream: the thread's current stream (memory/stream.hpp) if one is set, otherwise the queue's. Throws
/// placement_unavailable if there is no such device.
class cuda_scope {
 public:
  explicit cuda_scope(int ordinal)
      : ordinal_(ordinal),
        device_(ordinal),
        queue_(cuda_queue_of(ordinal, device_.visible())),
        stream_(current_stream(ordinal) == nullptr ? queue_.stream
                                                   : static_cast<cudaStream_t>(current_stream(ordinal))) {}

  int visible() const { return device_.visible(); }
  /// Returns the stream for a call of CUDA, after all work that this thread has enqueued.
  cudaStream_t stream() const {
    launch_collected();
    return stream_;
  }
  /// Returns the stream as an identity.
  cudaStream_t stream_id() const { return stream_; }
  cudaMemPool_t pool() const { return queue_.pool; }

  /// Enqueues work by `call(arguments, ordinal, stream)`, or lets a trainer's step enqueue the work later, with a copy
  /// of the `bytes` bytes of the arguments. `name` is for error messages. With DEVPLACE_SYNC_LAUNCH=1 waits for the
  /// work, so that its errors are reported here.
  void enqueue(call_sequence::function call, const char* name, const void* arguments, std::size_t bytes) const {
    if (cuda_repeated_launches* const collector = collecting_launches())
      return collector->add({ordinal_, stream_}, call, name, arguments, bytes);
    call(arguments, ordinal_, stream_);
    after_launch(name);
  }
  /// Enqueues the work of `call(ordinal, stream)`, whose members are its arguments.
  template <class Call> void enqueue(const char* name, Call call) const {
    clear_padding(call);
    const auto run = [](const void* copy, int ordinal, cudaStream_t stream) {
      (*static_cast<const Call*>(copy))(ordinal, stream);
    };
    enqueue(run, name, &call, sizeof call);
  }
  /// Records an event after all work that this thread has enqueued on the stream.
  void record(cudaEvent_t event) const {
    cuda_repeated_launches* const collector = collecting_launches();
    if (collector != nullptr && collector->record({ordinal_, stream_}, event)) return;
    check_cuda(cudaEventRecord(event, stream()), "cudaEventRecord", ordinal_);
  }
  /// Orders later work of the stream after the last record of an event.
  void follow(cudaEvent_t event) const {
    cuda_repeated_launches* const collector = collecting_launches();
    if (collector != nullptr && collector->follow({ordinal_, stream_}, event)) return;
    check_cuda(cudaStreamWaitEvent(stream(), event, 0), "cudaStreamWaitEvent", ordinal_);
  }
  /// Records the name of enqueued work for later error messages.
  void after_launch(const char* name) const {
    last_launch(ordinal_).store(name, std::memory_order_relaxed);
    if (sync_launches()) wait();
  }

  void wait() const { wait_for_cuda_stream(stream(), ordinal_); }

  void wait_for_all_streams() const {
    launch_collected();
    wait_for_cuda_stream(queue_.stream, ordinal_);
    const cuda_stream_pool& others = of_place<cuda_stream_pool>(ordinal_);
    for (std::size_t k = 0; const cudaStream_t stream = others.created(k); ++k) wait_for_cuda_stream(stream, ordinal_);
  }

 private:
  int ordinal_;
  cuda_device_guard device_;
  const cuda_queue& queue_;
  cudaStream_t stream_;
};

/// Throws the error of a lost device, after `call` of a library has failed.
inline void throw_if_device_lost(const char* call, int ordinal) {
  if (cuda_devices().count == 0) return;  // descriptors can be created without a device
  if (const cudaError_t code = cudaStreamQuery(cuda_scope(ordinal).stream()); is_device_lost(code))
    throw_cuda_error(code, call, ordinal);
  static_cast<void>(cudaGetLastError());  // clears the query's error
}

/// Orders all future work of `later` after the present work of `earlier`, a stream of the same (current) device. If
/// CUDA cannot create the event, waits on the host instead.
inline void order_after(cudaStream_t later, cudaStream_t earlier) noexcept {
  cudaEvent_t reached = nullptr;
  const bool ordered = cudaEventCreateWithFlags(&reached, cudaEventDisableTiming) == cudaSuccess &&
                       cudaEventRecord(reached, earlier) == cudaSuccess &&
                       cudaStreamWaitEvent(later, reached, 0) == cudaSuccess;
  if (!ordered) {
    static_cast<void>(cudaGetLastError());
    ignore_cuda(cudaStreamSynchronize(earlier));
  }
  if (reached != nullptr) ignore_cuda(cudaEventDestroy(reached));
}

}  // namespace devplace::detail
