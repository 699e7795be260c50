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

#include <devplace/memory/detail/device_watch.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/nccl_clique.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel::detail {

/// NCCL's communicators with a stream of high priority for each device, on which its collectives run in their order.
/// While a thread waits for one of the devices, it asks the communicators, and the group's monitor, whether the
/// collective can still end.
class nccl_ranks final : public nccl_clique, public devplace::detail::device_watch {
 public:
  /// Of these devices and the same number in each process. All processes make it together.
  nccl_ranks(std::span<const int> ordinals, const process_group& processes) : nccl_clique(ordinals, processes) {
    try {
      lanes_.resize(ordinals.size());
      for (std::size_t k = 0; k != lanes_.size(); ++k)
        on_device(k, [&] { lanes_[k] = make_lane(ordinals[k]); });
      devplace::detail::device_watches::of_process().add(*this);
    } catch (...) {
      abort();
      throw;
    }
  }
  /// Waits until the collectives of all ranks are done, unless an exception is the reason: then the other processes
  /// may never come to that. A child of fork() has neither CUDA nor NCCL's threads.
  ~nccl_ranks() override {
    devplace::detail::device_watches::of_process().remove(*this);
    if (via().inherited()) return;
    try {
      finish();  // so that memory which the device frees later is not used any more
      if (!failed() && std::uncaught_exceptions() == exceptions_) {
        take_down();
        return;
      }
    } catch (...) {  // a destructor cannot report it
    }
    if (!failed()) abort();
  }

  /// Marks what device `k` has been given so far.
  void mark(std::size_t k) {
    lane& l = lanes_.at(k);
    on_device(k, [&] {
      if (l.marked == l.marks.size()) l.marks.push_back(devplace::detail::make_event<backend::cuda>(ordinals()[k]));
      devplace::detail::record_event<backend::cuda>(l.marks[l.marked]);
    });
    ++l.marked;
  }

  /// Calls `enqueue(k, communicator, stream)` for each device of this process in one group of calls; it returns NCCL's
  /// result. The collective is ordered after each device's oldest mark that no other start has used. Waits for nothing
  /// but that NCCL has passed on the call before. Without elements NCCL is not called, on any rank.
  ///
  /// `then`, if given, is called when NCCL has given the collective to the devices, in progress() or in one of the next
  /// calls: it enqueues what comes next on the same streams, by on_streams() and go_on().
  template <class F>
  void start(const char* nccl_call, const collective_call& call, std::size_t elements, const F& enqueue,
             const std::function<void()>& then = {}) {
    for (const lane& l : lanes_)
      check_marked(l.marked > used_);
    const std::size_t use = used_++;
    if (elements == 0) return;
    const announced_call announced(via(), call);
    pass_on(
        nccl_call, enqueue, then, [use](const lane& l) -> const auto& { return l.marks[use]; });
  }
  /// The same after all that the devices have been given so far, and before all that they will be given.
  template <class F>
  void run(const char* nccl_call, const collective_call& call, std::size_t elements, const F& enqueue,
           const std::function<void()>& then = {}) {
    if (elements == 0) return;
    via().require_own(call.name);  // before CUDA is used, which a child of fork() cannot
    for (std::size_t k = 0; k != lanes_.size(); ++k)
      on_device(k, [&] { devplace::detail::record_event<backend::cuda>(lanes_[k].before); });
    const announced_call announced(via(), call);
    pass_on(
        nccl_call, enqueue, then, [](const lane& l) -> const auto& { return l.before; });
    settle();
    join();
  }
  /// For `then` of the above: calls `f(k)` for each device while the stream of its collectives is the current one.
  template <class F>
  void on_streams(const F& f) {
    for (std::size_t k = 0; k != lanes_.size(); ++k)
      on_device(k, [&] {
        const auto on_stream = use_stream(k);
        f(k);
      });
  }
  /// For `then` of the above: a further group of calls of the collective.
  template <class F>
  void go_on(const char* nccl_call, const F& enqueue) {
    last_ = nccl_call;
    in_progress_ = true;
    issue(nccl_call, [&](std::size_t k, ncclComm_t communicator) {
      return enqueue(k, communicator, static_cast<cudaStream_t>(lanes_[k].stream.get()));
    });
  }
  /// Returns when NCCL has given all collectives to the devices: nothing may be enqueued on their streams before.
  void settle() {
    while (in_progress_ || next_) {
      if (in_progress_ && !failed()) wait_for_nccl(last_);
      take_next();
    }
  }
  /// Orders the devices' later work after the collectives so far, and forgets all marks.
  void finish() {
    used_ = 0;
    for (lane& l : lanes_)
      l.marked = 0;
    if (!unordered_) return;
    settle();
    join();
  }
  /// The same after an exception, without waiting: what NCCL has not given to the devices yet is aborted.
  void abandon() noexcept {
    try {
      while (in_progress_ || next_) {
        if (!failed() && !ask(last_)) abort();
        take_next();
      }
      finish();
    } catch (...) {  // NCCL was aborted, or a device is lost
    }
  }
  /// Asks NCCL for errors, without waiting.
  void progress() {
    if (unordered_ && !failed() && ask(last_)) take_next();
  }

  void check(int ordinal, double waited) override {
    if (!is_mine() || failed()) return;
    const auto at = std::find(ordinals().begin(), ordinals().end(), ordinal);
    if (at == ordinals().end()) return;
    const lane& here = lanes_[static_cast<std::size_t>(at - ordinals().begin())];
    if (!unordered_ && devplace::detail::events_of<backend::cuda>().ready(here.after.get(), ordinal)) return;
    begin_waiting();
    ask(last_);
    check_time(last_, waited);
  }
  void end_wait() noexcept override {
    if (is_mine()) end_waiting();
  }

 private:
  /// What a device has for its collectives.
  struct lane {
    devplace::detail::stream_handle stream;
    devplace::detail::event_handle before, after;
    std::vector<devplace::detail::event_handle> marks;
    std::size_t marked = 0;
  };

  /// Gradients are needed as soon as they are there: the stream's work goes before that of other streams.
  static lane make_lane(int ordinal) {
    const devplace::detail::cuda_device_guard device(ordinal);
    int least = 0, greatest = 0;
    devplace::detail::check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                                 "cudaDeviceGetStreamPriorityRange", ordinal);
    cudaStream_t stream = nullptr;
    devplace::detail::check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
                                 "cudaStreamCreateWithPriority", ordinal);
    devplace::detail::stream_handle owned(stream, {ordinal, &release_stream});
    auto before = devplace::detail::make_event<backend::cuda>(ordinal);
    return {std::move(owned), std::move(before), devplace::detail::make_event<backend::cuda>(ordinal), {}, 0};
  }
  /// CUDA destroys the stream when its work is done.
  static void release_stream(void* stream, int ordinal) noexcept {
    if (!devplace::detail::cuda_device_lost(ordinal))
      static_cast<void>(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
  }
  devplace::detail::current_stream_change use_stream(std::size_t k) const {
    return {backend::cuda{}, ordinals()[k], lanes_[k].stream.get()};
  }
  template <class F>
  void on_device(std::size_t k, const F& f) const {
    devplace::detail::on_behalf_of_replica<backend::cuda>(k, ordinals().size(), ordinals()[k], f);
  }

  /// Whether this thread made the last collective: others that wait for a device do not speak for the process.
  bool is_mine() const noexcept { return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  /// Enqueues a collective on the devices' streams, after an event of each.
  template <class F, class EventOf>
  void pass_on(const char* nccl_call, const F& enqueue, const std::function<void()>& then, const EventOf& event_of) {
    require_usable();
    settle();
    for (std::size_t k = 0; k != lanes_.size(); ++k)
      on_device(k, [&] {
        const auto on_stream = use_stream(k);
        devplace::detail::follow_event<backend::cuda>(ordinals()[k], event_of(lanes_[k]));
      });
    thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    unordered_ = true;
    go_on(nccl_call, enqueue);
    next_ = then;
  }
  /// Enqueues what comes next in the last collective, which NCCL has given to the devices, or has given up.
  void take_next() {
    in_progress_ = false;
    const std::function<void()> next = std::exchange(next_, nullptr);
    if (next && !failed()) next();
  }
  /// Orders the devices after their streams.
  void join() {
    for (std::size_t k = 0; k != lanes_.size(); ++k)
      on_device(k, [&] {
        {
          const auto on_stream = use_stream(k);
          devplace::detail::record_event<backend::cuda>(lanes_[k].after);
        }
        devplace::detail::follow_event<backend::cuda>(ordinals()[k], lanes_[k].after);
      });
    unordered_ = false;
  }
  /// What the aborted work may still touch is freed in the order of the devices' streams.
  void after_abort() noexcept override {
    try {
      if (unordered_) join();
    } catch (...) {  // a lost device, whose memory goes with the process
    }
  }

  std::vector<lane> lanes_;
  std::atomic<std::thread::id> thread_{};  // of the last collective; the others are this thread's alone
  const char* last_ = "";                  // the last collective
  std::function<void()> next_;             // what its next part is, once NCCL has given this one to the devices
  std::size_t used_ = 0;                   // marks of each device that start() has used
  bool in_progress_ = false;               // whether NCCL may not have given the last collective to the devices yet
  bool unordered_ = false;                 // whether the devices' later work is not ordered after it
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace devplace::parallel::detail
