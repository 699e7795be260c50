// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/backend/simulated/guard.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::op {
struct events;
}

namespace devplace::detail {

/// Returns a text that contains the name of the type `Work`, a literal.
template <class Work> consteval const char* text_of_work() { return __PRETTY_FUNCTION__; }

/// A simulated GPU: a thread that executes submitted work in the order of the calls, while the caller continues.
/// Thread-safe. Submitting does not allocate; it waits while `pending_limit` calls are pending. Like a GPU, a device
/// that spends more than device_timeout() on one call is lost: every later use throws device_lost.
class simulated_device {
 public:
  static constexpr std::size_t pending_limit = 128;
  /// CUDA's limit on the size of kernel arguments.
  static constexpr std::size_t closure_bytes = 4096;

  explicit simulated_device(int ordinal = 0) : ordinal_(ordinal), timeout_(device_timeout()) {
    reserve_failure();
    worker_ = std::thread([this] { work(); });
  }
  simulated_device& operator=(simulated_device&&) = delete;
  ~simulated_device() { stop(); }

  /// Enqueues `function()` for the device's thread. The next wait() throws the function's exception; until then the
  /// device skips all work, so that nothing uses a failed result. With `Always`, `function` is not skipped
  /// (for freeing memory). `Named`: the type in messages, by default `Function`; op::events means that `function` waits
  /// for another device.
  template <bool Always = false, class Named = void, class Function> void submit(const Function& function) {
    static_assert(std::is_trivially_copyable_v<Function>,
                  "devplace: the arguments of an operation on a cuda place must be trivially copyable, because the "
                  "device reads its own copy of them later; pass pointers and numbers.");
    static_assert(sizeof(Function) <= closure_bytes && alignof(Function) <= alignof(std::max_align_t),
                  "devplace: the arguments of this operation exceed the 4096 bytes of a CUDA kernel's arguments; "
                  "evaluate part of the expression into a tensor first.");
    submit_closure(&function, sizeof(Function), Always, std::is_same_v<Named, op::events>,
                   text_of_work<std::conditional_t<std::is_void_v<Named>, Function, Named>>(),
                   [](void* closure) { (*std::launder(static_cast<Function*>(closure)))(); });
  }

  /// Waits for all submitted work; throws the first error since the last wait().
  void wait() {
    if (const device_failure failed = drain()) std::rethrow_exception(failed.what);
  }

  /// Waits for all submitted work; returns and clears the first failure since the last wait.
  device_failure drain() {
    std::unique_lock lock(mutex_);
    const bool waited = wait_until(lock, [this, last = submitted_] { return finished_ >= last; });
    thrown_ = failed_.size();
    if (!waited) return lost_;
    if (!failing()) return {};
    reserve_failure();
    reported_ = failed_.size();
    return failed_.back().what;
  }

  struct point {
    std::uint64_t calls = 0;   ///< calls of submit() before the point
    std::size_t reported = 0;  ///< number of failures that drain() had returned before the point
  };

  point now() const {
    const std::lock_guard lock(mutex_);
    return {submitted_, reported_};
  }

  /// Returns whether the work before a point is done or was skipped.
  bool reached(const point& at) const {
    const std::lock_guard lock(mutex_);
    return lost_ || finished_ >= at.calls;
  }
  bool idle() const { return reached(now()); }

  /// Waits for a point; returns the failure that made the device skip work before the point. `throws`: the caller
  /// throws the failure to the program.
  device_failure wait_for(const point& at, bool throws = false) {
    std::unique_lock lock(mutex_);
    if (!wait_until(lock, [this, &at] { return finished_ >= at.calls; })) {
      if (throws) thrown_ = failed_.size();
      return lost_;
    }
    for (std::size_t i = at.reported; i < failed_.size(); ++i)
      if (failed_[i].call <= at.calls) {
        if (throws && thrown_ <= i) thrown_ = i + 1;
        return failed_[i].what;
      }
    return {};
  }

  /// Makes the device skip its work after the failure `other` of another device whose results it needs.
  void fail_with(device_failure other) {
    const std::lock_guard lock(mutex_);
    if (!failing()) failed_.push_back({std::move(other), finished_ + 1});
  }

  /// Returns the number of failures so far, including those propagated from other devices.
  std::uint64_t failures() const {
    const std::lock_guard lock(mutex_);
    return failed_.size();
  }

  /// Finishes submitted work and ends the thread; later submit() calls execute their functions in the calling thread.
  /// Detaches the thread of a lost device.
  void stop() noexcept {
    {
      std::unique_lock lock(mutex_);
      if (stopped_) return;
      if (timeout_ != 0 && !wait_until(lock, [this] { return finished_ == submitted_; })) {
        worker_.detach();
        return;
      }
      stopped_ = true;
    }
    work_.notify_one();
    worker_.join();
  }

  /// Returns whether a call on this device has thrown the failure to the program.
  bool was_thrown(const std::exception_ptr& failure) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < thrown_; ++i)
      if (failed_[i].what.what == failure) return true;
    return false;
  }

  /// Returns a failure that began on this device and that no device has thrown to the program.
  /// `thrown_elsewhere(failure)`: whether another device has thrown it. Call after stop() of all devices.
  template <class Thrown> std::exception_ptr unthrown_failure(const Thrown& thrown_elsewhere) const {
    for (std::size_t i = thrown_; i < failed_.size(); ++i)
      if (failed_[i].what.ordinal == ordinal_ && !thrown_elsewhere(failed_[i].what.what)) return failed_[i].what.what;
    return nullptr;
  }

 private:
  struct command {
    void (*run)(void*) = nullptr;
    const char* name = nullptr;
    bool always = false;
    bool follows = false;  // waits for another device
    alignas(std::max_align_t) std::byte closure[closure_bytes];
  };

  struct failed_call {
    device_failure what;
    std::uint64_t call;
  };

  bool failing() const { return failed_.size() > reported_; }

  /// Reserves memory for one failure, so that the device's thread records it without allocating.
  void reserve_failure() {
    if (failed_.size() == failed_.capacity())
      naming_bad_alloc("the failures of a simulated device", [this] { failed_.reserve(2 * failed_.size() + 4); });
  }

  /// The type-erased submit(): copies the function's bytes; `run` calls the copy.
  void submit_closure(const void* function, std::size_t bytes, bool always, bool follows, const char* name,
                      void (*run)(void*)) {
    std::unique_lock lock(mutex_);
    if (!wait_until(lock, [this] { return submitted_ - finished_ < (stopped_ ? 1 : pending_limit); })) {
      if (always) return;  // the memory to free is not used again
      thrown_ = failed_.size();
      std::rethrow_exception(lost_.what);
    }
    command& next = ring_[submitted_ % pending_limit];
    std::memcpy(next.closure, function, bytes);
    next.always = always;
    next.follows = follows;
    next.name = name;
    next.run = run;
    ++submitted_;
    if (stopped_) {  // during static destruction the thread has ended, so the caller does the work
      simulated_guard::of_process().enter();
      run_next(lock);
      return;
    }
    lock.unlock();
    work_.notify_one();
  }

  /// Executes, or skips, the oldest pending call.
  void run_next(std::unique_lock<std::mutex>& lock) {
    command& current = ring_[finished_ % pending_limit];
    if (current.always || !failing()) {
      lock.unlock();
      std::exception_ptr failed = run_on_serial_team(current.run, current.closure);
      lock.lock();
      // Later errors are consequences of the first error, which has not been reported yet.
      if (failed && !failing()) failed_.push_back({{std::move(failed), ordinal_}, finished_ + 1});
    }
    if (finished_ + 1 == submitted_) simulated_guard::of_process().leave();  // before the device appears idle
    ++finished_;
    if (waiting_ != 0) done_.notify_all();
  }

  /// Waits until the condition holds and returns true, or returns false as soon as the device is lost.
  template <class Condition> bool wait_until(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (lost_) return false;
    ++waiting_;
    if (timeout_ == 0) {
      done_.wait(lock, condition);
    } else {
      std::uint64_t before = finished_;
      const auto done = [&] { return lost_ || condition(); };
      // A device that waits for another device is not lost: its wait marks the other device as lost at the timeout.
      while (!done_.wait_for(lock, std::chrono::seconds(timeout_), done))
        if (std::exchange(before, finished_) == finished_ && !ring_[finished_ % pending_limit].follows) mark_lost();
    }
    --waiting_;
    return !lost_;
  }

  void mark_lost() {
    const device_lost why(
        timeout_text(place_name(backend::cuda{}, ordinal_), type_in(ring_[finished_ % pending_limit].name, "Work = ")));
    lost_ = {std::make_exception_ptr(why), ordinal_};
    failed_.push_back({lost_, finished_ + 1});
    done_.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return stopped_ || finished_ != submitted_; });
      if (finished_ == submitted_) return;
      simulated_guard::of_process().enter();
      do {
        run_next(lock);
      } while (finished_ != submitted_);
    }
  }

  /// Runs a closure on a team of one thread; several devices would compete for a larger team.
  static std::exception_ptr run_on_serial_team(void (*run)(void*), void* closure) noexcept {
    const thread_team_scope scope(serial_team_instance);
    try {
      run(closure);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  const int ordinal_;
  const int timeout_;  // in seconds; 0: none
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
  int waiting_ = 0;
  bool stopped_ = false;
  std::vector<failed_call> failed_;  // all failures; after each, the device skips its work until drain() returns it
  std::size_t reported_ = 0;
  std::size_t thrown_ = 0;  // failures before this index were thrown to the program
  device_failure lost_;     // why the device is lost, if it is
  std::array<command, pending_limit> ring_;
  std::thread worker_;
};

}  // namespace devplace::detail
