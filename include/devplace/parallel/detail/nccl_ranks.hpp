// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/nccl_clique.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail {

/// Owns NCCL's communicators and a high-priority stream for each device, on which the device's collectives run in
/// order. A thread that waits for one of the devices polls the communicators and the group's monitor for failures.
class nccl_ranks final : public nccl_clique, public devplace::detail::device_watch {
 public:
  /// Connects these devices with an equal number of devices in every other process. All processes call this together.
  nccl_ranks(std::span<const int> ordinals, const process_group& processes) : nccl_clique(ordinals, processes) {
    try {
      lanes_.resize(ordinals.size());
      on_devices([&](std::size_t k) { lanes_[k] = make_lane(ordinals[k]); });
      devplace::detail::device_watches::of_process().add(*this);
    } catch (...) {
      abort();
      throw;
    }
  }
  /// Waits until the collectives of all ranks have ended. After an exception the destructor aborts instead, because
  /// collectives of other processes may never end. Does nothing in a child of fork(), which has neither CUDA nor NCCL's
  /// threads.
  ~nccl_ranks() override {
    devplace::detail::device_watches::of_process().remove(*this);
    if (group_transport().inherited()) return;
    try {
      finish();  // orders later frees after the collectives
      if (!failed() && std::uncaught_exceptions() == exceptions_) {
        shut_down();
        return;
      }
    } catch (...) {  // a destructor cannot report the failure
    }
    if (!failed()) abort();
  }

  void mark(std::size_t k) {
    lane& l = lanes_.at(k);
    on_device(k, [&] {
      if (l.marked == l.marks.size()) l.marks.push_back(devplace::detail::make_event<backend::cuda>(ordinals()[k]));
      devplace::detail::record_event<backend::cuda>(l.marks[l.marked]);
    });
    ++l.marked;
  }

  /// Runs a collective after all earlier work of the devices and before all later work; if `started`, after each
  /// device's oldest unused mark, waiting only until NCCL has enqueued the previous collective. Calls `enqueue(k,
  /// communicator, stream)`, which returns NCCL's result, for each device of this process in one NCCL group. Does not
  /// call NCCL, on any rank, if there are no elements.
  ///
  /// `continuation`, if given, is called when NCCL has enqueued the collective, in progress() or in a later call.
  /// `continuation` enqueues the next part of the collective by on_streams() and enqueue_next().
  void run(bool started, std::size_t elements, const char* nccl_call, const collective_call& call, const auto& enqueue,
           const std::function<void()>& continuation = {}) {
    for (const lane& l : lanes_) check_marked(!started || l.marked > used_);
    const std::size_t use = started ? used_++ : 0;
    if (elements == 0) return;
    group_transport().require_own(call.name);  // before the use of CUDA, which a child of fork() must not use
    if (!started) on_devices([&](std::size_t k) { devplace::detail::record_event<backend::cuda>(lanes_[k].before); });
    const announced_call announced(group_transport(), call);
    require_usable();
    wait_for_enqueued();
    on_streams([&](std::size_t k) {
      devplace::detail::follow_event<backend::cuda>(ordinals()[k], started ? lanes_[k].marks[use] : lanes_[k].before);
    });
    thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    unordered_ = true;
    enqueue_next(nccl_call, enqueue);
    next_ = continuation;
    if (started) return;
    wait_for_enqueued();
    join();
  }
  /// Calls `f(k)` for each device while the stream of its collectives is the current stream. Others use it only in
  /// `continuation`.
  template <class F> void on_streams(const F& f) {
    on_devices([&](std::size_t k) {
      const auto on_stream = use_stream(k);
      f(k);
    });
  }
  /// Only for use in `continuation`: enqueues a further NCCL group of the collective.
  template <class F> void enqueue_next(const char* nccl_call, const F& enqueue) {
    last_ = nccl_call;
    in_progress_ = true;
    issue(nccl_call, [&](std::size_t k, ncclComm_t communicator) {
      return enqueue(k, communicator, static_cast<cudaStream_t>(lanes_[k].stream.get()));
    });
  }
  /// Returns when NCCL has enqueued all collectives; before that, nothing else may be enqueued on their streams.
  void wait_for_enqueued() {
    while (in_progress_ || next_) {
      if (in_progress_ && !failed()) wait_for_nccl(last_);
      run_next();
    }
  }
  /// Orders the devices' later work after all collectives so far, and discards all marks.
  void finish() {
    used_ = 0;
    for (lane& l : lanes_) l.marked = 0;
    if (!unordered_) return;
    wait_for_enqueued();
    join();
  }
  /// Replaces finish() after an exception. Does not wait; aborts collectives that NCCL has not enqueued yet.
  void abandon() noexcept {
    try {
      while (in_progress_ || next_) {
        if (!failed() && !poll(last_)) abort();
        run_next();
      }
      finish();
    } catch (...) {  // NCCL was aborted, or a device is lost
    }
  }
  /// Polls NCCL and advances the last collective, without waiting.
  void progress() {
    if (unordered_ && !failed() && poll(last_)) run_next();
  }

  void check(int ordinal, double waited) override {
    if (!is_mine() || failed()) return;
    const auto at = std::find(ordinals().begin(), ordinals().end(), ordinal);
    if (at == ordinals().end()) return;
    const lane& l = lanes_[static_cast<std::size_t>(at - ordinals().begin())];
    if (!unordered_ && devplace::detail::events_of<backend::cuda>().ready(l.after.get(), ordinal)) return;
    begin_waiting();
    poll(last_);
    check_time(last_, waited);
  }
  void end_wait() noexcept override {
    if (is_mine()) end_waiting();
  }

 private:
  struct lane {
    devplace::detail::stream_handle stream;
    devplace::detail::event_handle before, after;
    std::vector<devplace::detail::event_handle> marks;
    std::size_t marked = 0;
  };

  /// Creates a lane with a stream of the highest priority, so that gradients are reduced before other work.
  static lane make_lane(int ordinal) {
    const devplace::detail::cuda_device_guard device(ordinal);
    int least = 0, greatest = 0;
    devplace::detail::check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                                 "cudaDeviceGetStreamPriorityRange", ordinal);
    cudaStream_t stream = nullptr;
    devplace::detail::check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
                                 "cudaStreamCreateWithPriority", ordinal);
    devplace::detail::stream_handle owned(stream, ordinal, &release_stream);
    auto before = devplace::detail::make_event<backend::cuda>(ordinal);
    return {std::move(owned), std::move(before), devplace::detail::make_event<backend::cuda>(ordinal), {}, 0};
  }
  /// Releases the stream; CUDA destroys it when its work is complete.
  static void release_stream(void* stream, int ordinal) noexcept {
    if (devplace::detail::cuda_device_lost(ordinal)) return;
    const devplace::detail::quiet_cuda_device_guard device(devplace::detail::device_map::of_process().visible(ordinal));
    devplace::detail::ignore_cuda(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
  }
  devplace::detail::current_stream_change use_stream(std::size_t k) const {
    return {backend::cuda{}, ordinals()[k], lanes_[k].stream.get()};
  }
  template <class F> void on_device(std::size_t k, const F& f) const {
    devplace::detail::on_behalf_of_replica<backend::cuda>(k, ordinals().size(), ordinals()[k], f);
  }
  template <class F> void on_devices(const F& f) const {
    for (std::size_t k = 0; k != lanes_.size(); ++k) on_device(k, [&] { f(k); });
  }

  /// Whether this thread has started the last collective; other threads that wait for a device do not report to the
  /// monitor.
  bool is_mine() const noexcept { return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  /// Enqueues the next part of the last collective, once NCCL has enqueued or aborted the previous part.
  void run_next() {
    in_progress_ = false;
    const std::function<void()> next = std::exchange(next_, nullptr);
    if (next && !failed()) next();
  }
  /// Orders the devices' later work after the collectives' streams, also that of the devices beside a lost one.
  void join() {
    std::exception_ptr failure;
    for (std::size_t k = 0; k != lanes_.size(); ++k) try {
        on_device(k, [&] {
          {
            const auto on_stream = use_stream(k);
            devplace::detail::record_event<backend::cuda>(lanes_[k].after);
          }
          devplace::detail::follow_event<backend::cuda>(ordinals()[k], lanes_[k].after);
        });
      } catch (...) {
        if (failure == nullptr) failure = std::current_exception();
      }
    if (failure != nullptr) std::rethrow_exception(failure);
    unordered_ = false;
  }
  /// Orders later frees of memory after the aborted work, which may still access the memory.
  void after_abort() noexcept override {
    try {
      if (unordered_) join();
    } catch (...) {  // the device is lost; its memory is freed when the process ends
    }
  }

  std::vector<lane> lanes_;
  std::atomic<std::thread::id> thread_{};  // thread of the last collective; no other thread uses the other members
  const char* last_ = "";                  // the last collective
  std::function<void()> next_;             // enqueues the next part of the last collective
  std::size_t used_ = 0;                   // number of used marks of each device
  bool in_progress_ = false;               // whether NCCL may still be enqueueing the last collective
  bool unordered_ = false;                 // whether the devices' later work may overtake the collectives
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace devplace::parallel::detail
