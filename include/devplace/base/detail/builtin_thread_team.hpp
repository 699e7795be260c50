// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/clock.hpp>
#include <devplace/base/detail/processor_count.hpp>
#include <devplace/base/detail/team_task.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/fork_count.hpp>
#include <devplace/base/spin_wait.hpp>
#include <devplace/config.hpp>

namespace devplace {

namespace detail {
struct process_team_owner;
}

/// A team of threads that devplace starts and joins. The thread that calls run() is member 0; the others wait for work:
/// they spin for some tens of microseconds and then sleep, unless keep_awake(true) is in force.
///
/// Starting and joining a run costs 0.1 to 0.9 us, by the distance of the processors, while the workers spin and about
/// 50 us once they sleep. The calling thread, the leader, waits some microseconds after its own part. Then it also runs
/// the parts of workers that have not begun, for example because their processors are busy. If several threads call
/// run() concurrently, the first one gets the workers; the others run all parts themselves. So no call waits for a busy
/// team or machine, and run() may be nested. A member must not wait for another member. After fork(), the child's first
/// run() starts new workers.
class builtin_thread_team {
 public:
  /// Starts `size - 1` workers. Throws argument_error unless 1 <= size <= 4096.
  explicit builtin_thread_team(int size) { start(size); }

  builtin_thread_team& operator=(builtin_thread_team&&) = delete;

  /// Joins the workers. Must not be called during a run().
  ~builtin_thread_team() { stop(); }

  /// Number of members, including the calling thread.
  int size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// Calls `function(member)` for each member 0..size()-1 and returns when all calls are done. If some throw, the
  /// others still run, and the exception of the throwing member with the lowest number is rethrown.
  template <class Function> void run(Function&& function) { run_parts(size(), function); }

  /// Calls `function(part)` for each part 0..parts-1. Part i belongs to member i % size(), so that a part runs on the
  /// same thread every time while that thread is awake. Rethrows exceptions as run() does.
  template <class Function> void run_parts(int parts, Function&& function) {
    if constexpr (std::is_nothrow_invocable_v<Function&, int>) {
      dispatch(detail::team_task(function), parts);
    } else {
      detail::first_exception errors;
      const auto guarded = detail::guarded(function, errors);
      dispatch(detail::team_task(guarded), parts);
      errors.rethrow();
    }
  }

  /// Calls `function` on every worker's own thread, to prepare thread-local memory. Later calls with the same `tag`
  /// return at once, until the workers are replaced. Waits until each call has begun. Does nothing while another thread
  /// has the workers.
  void prepare_workers(const void* tag, detail::team_task function) {
    if (size() == 1 || prepared_.load(std::memory_order_acquire) == tag) return;
    if (dispatch(function, size(), false)) prepared_.store(tag, std::memory_order_release);
  }

  /// Keeps workers awake while calls with true outnumber calls with false, except workers whose processors have other
  /// work. A call with true wakes sleeping workers. See team_region.
  void keep_awake(bool on) noexcept {
    awake_.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
    const auto nothing = [](int) noexcept {};
    if (on && asleep_.load(std::memory_order_relaxed) != 0 && started_in_ == detail::fork_count())
      dispatch(detail::team_task(nothing), size());
  }

  /// Whether no worker sleeps now, so that run() starts the workers in less than a microsecond.
  bool is_awake() const noexcept {
    return asleep_.load(std::memory_order_relaxed) == 0 && started_in_ == detail::fork_count();
  }

  /// Replaces the workers so that the team has `size` members. Waits for other threads' run() to end. Throws
  /// argument_error for a size outside 1..4096, and error inside the team's own run() or while keep_awake is in force,
  /// because a training step relies on the team's size.
  void resize(int size) {
    check(size);
    if (running_ == this) {
      throw error(
          "the number of threads cannot change inside a function that these threads are running. Call set_thread_count "
          "before the operation.");
    }
    if (awake_.load(std::memory_order_relaxed) > 0) {
      throw error(
          "the number of threads cannot change while a training step or another team_region is running. "
          "Call set_thread_count before it begins.");
    }
    detail::spin_wait wait(true);
    while (!occupy()) wait.step();
    const busy_guard guard{busy_};
    if (size == this->size()) return;
    stop();
    start(size);
  }

 private:
  friend struct detail::process_team_owner;

  /// The last generation (number of a run) in which a member's parts were begun; has its own cache line.
  struct alignas(64) last_begun {
    std::atomic<unsigned> generation = 0;
  };
  std::atomic<unsigned>& begun(int member) const noexcept {
    return begun_[static_cast<std::size_t>(member)].generation;
  }

  struct busy_guard {
    std::atomic<unsigned>& busy;
    ~busy_guard() { busy.store(0, std::memory_order_release); }
  };

  /// Marks the calling thread as running the team's functions.
  struct running_guard {
    explicit running_guard(const builtin_thread_team* team) : before(std::exchange(running_, team)) {}
    running_guard& operator=(running_guard&&) = delete;
    ~running_guard() { running_ = before; }
    const builtin_thread_team* before;
  };

  /// Takes the workers for the calling thread, unless another thread of this process has them.
  bool occupy() noexcept {
    const unsigned self = detail::fork_count();
    unsigned holder = busy_.load(std::memory_order_relaxed);
    return holder != self && busy_.compare_exchange_strong(holder, self, std::memory_order_acquire);
  }

  static void check(int size) {
    if (size < 1 || size > detail::largest_thread_count) {
      throw argument_error({"a thread team of ", size, " members was asked for. Ask for 1 to ",
                            detail::largest_thread_count, "; the calling thread counts as one."});
    }
  }

  DEVPLACE_COMPILABLE([[gnu::noinline]]) void start(int size) {
    check(size);
    started_in_ = detail::fork_count();
    oversubscribed_ = size > detail::usable_processors();
    stopping_ = false;
    move_interval_ = 0;
    prepared_.store(nullptr, std::memory_order_relaxed);
    int member = 1;
    try {
      std::vector<std::thread>(static_cast<std::size_t>(size - 1)).swap(workers_);
      const unsigned seen = generation_.load(std::memory_order_relaxed);
      begun_ = std::make_unique<last_begun[]>(static_cast<std::size_t>(size));
      for (std::thread& worker : workers_) {
        begun(member).store(seen, std::memory_order_relaxed);
        worker = std::thread([this, member, seen] { work(member, seen); });
        ++member;
      }
    } catch (const std::system_error& refusal) {  // leaves a team of one thread, not an incomplete team
      stop();
      throw error({"the operating system refused to start thread ", member + 1, " of ", size, " (", refusal.what(),
                   "). Ask for fewer threads (OMP_NUM_THREADS or set_thread_count) or raise the limit (ulimit -u)."});
    } catch (const std::bad_alloc&) {
      stop();
      throw out_of_memory(
          {"there is no memory to start a thread team of ", size, " members. Free some, or ask for fewer threads."});
    }
    size_.store(size, std::memory_order_relaxed);
  }

  DEVPLACE_COMPILABLE([[gnu::noinline]]) void stop() noexcept {
    if (started_in_ != detail::fork_count()) forget_workers();
    size_.store(1, std::memory_order_relaxed);
    stopping_ = true;
    announce();
    for (std::thread& worker : workers_)
      if (worker.joinable()) worker.join();
    workers_.clear();
  }

  /// Discards the workers in a child of fork(): they run in the parent only.
  void forget_workers() {
    detail::forget_threads(workers_);
    workers_.clear();
    awake_.store(0, std::memory_order_relaxed);
    asleep_.store(0, std::memory_order_relaxed);
  }

  /// Publishes task_, parts_ and stopping_ to the workers (release); returns the new generation.
  unsigned announce() noexcept {
    const unsigned generation = generation_.fetch_add(1, std::memory_order_seq_cst) + 1;
    generation_.notify_all();
    return generation;
  }

  /// Claims a member's parts of this generation for the calling thread; false if another thread has them.
  bool begin(int member, unsigned generation) noexcept {
    unsigned before = generation - 1;
    return begun(member).compare_exchange_strong(before, generation, std::memory_order_relaxed);
  }

  void run_parts_of(int member, int members) const noexcept {
    for (int part = member; part < parts_; part += members) task_(part);
  }

  /// Runs all parts and returns whether this thread had the workers. With `take_over`, the calling thread also runs the
  /// parts of late workers, or all parts if it does not get the workers.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) bool dispatch(detail::team_task task, int parts, bool take_over = true) {
    if (parts == 1 || size() == 1 || !occupy()) {
      for (int part = 0; take_over && part < parts; ++part) task(part);
      return false;
    }
    const busy_guard guard{busy_};
    const int members = size();
    if (started_in_ != detail::fork_count()) {
      forget_workers();
      start(members);
    }
    const running_guard running(this);
    task_ = task;
    parts_ = parts;
    const unsigned all_finished = finished_.load(std::memory_order_relaxed) + static_cast<unsigned>(members - 1);
    const unsigned generation = announce();
    run_parts_of(0, members);
    detail::spin_wait wait(oversubscribed_);
    bool taken_over = !take_over;  // whether the leader has claimed the parts of late workers
    while (finished_.load(std::memory_order_acquire) != all_finished) {
      wait.step();
      if (taken_over || !wait.yielding()) continue;
      const bool move_late = should_move_late_workers();
      for (int member = 1; member < members; ++member) {
        if (!begin(member, generation)) continue;
        if (move_late && member < parts)
          detail::move_from_this_processor(workers_[static_cast<std::size_t>(member - 1)]);
        run_parts_of(member, members);
        finished_.fetch_add(1, std::memory_order_relaxed);
      }
      taken_over = true;
    }
    if (!wait.yielding()) move_interval_ = 0;
    return true;
  }

  /// Whether to move late workers away from the leader's processor, where the scheduler may have put them. True once
  /// the leader has waited longer than workers take to wake up, then at doubling intervals of at most a second. The
  /// scheduler itself separates the threads after milliseconds if another processor is idle. The scheduler may take
  /// seconds if all processors are busy, for example with spinning threads of another library.
  bool should_move_late_workers() noexcept {
    if (oversubscribed_ || started_in_ != detail::fork_count()) return false;
    constexpr std::int64_t microsecond = 1000, second = 1'000'000 * microsecond;
    const std::int64_t now = detail::monotonic_nanoseconds();
    const bool first = move_interval_ == 0;
    if (!first && now - interval_begin_ < move_interval_) return false;
    interval_begin_ = now;
    move_interval_ = first ? 500 * microsecond : std::min(2 * move_interval_, second);
    return !first;
  }

  DEVPLACE_COMPILABLE([[gnu::noinline]]) void work(int member, unsigned seen) noexcept {
    running_ = this;
    for (;;) {
      detail::spin_wait wait(oversubscribed_);
      unsigned generation = seen;
      while ((generation = generation_.load(std::memory_order_acquire)) == seen) {
        if (wait.exhausted() && (awake_.load(std::memory_order_relaxed) <= 0 || !detail::yields_at_once())) {
          asleep_.fetch_add(1, std::memory_order_relaxed);
          generation_.wait(seen, std::memory_order_acquire);
          asleep_.fetch_sub(1, std::memory_order_relaxed);
        } else {
          wait.step();
        }
      }
      seen = generation;
      if (!begin(member, generation)) continue;
      if (stopping_) return;
      run_parts_of(member, size());
      finished_.fetch_add(1, std::memory_order_release);
    }
  }

  // Written by the leader before it increments generation_, read by workers after they have seen the new value: one
  // cache line, since a line takes some 100 ns from one processor to another.
  alignas(64) std::atomic<unsigned> generation_ = 0;
  int parts_ = 0;
  detail::team_task task_;
  std::atomic<int> size_ = 1;
  bool oversubscribed_ = false;
  bool stopping_ = false;
  // Members except the leader that have finished, in all runs. Counts on, so that the leader only reads this line.
  alignas(64) std::atomic<unsigned> finished_ = 0;
  alignas(64) std::atomic<unsigned> busy_ = 0;   // fork_count() of the process whose thread has the workers; 0: none
  unsigned started_in_ = 0;                      // fork_count() of the process in which the workers run
  std::atomic<int> awake_ = 0;                   // calls of keep_awake(true) minus calls of keep_awake(false)
  std::atomic<int> asleep_ = 0;                  // workers that sleep
  std::atomic<const void*> prepared_ = nullptr;  // tag of the last prepare_workers()
  std::int64_t interval_begin_ = 0;              // nanoseconds
  std::int64_t move_interval_ = 0;  // nanoseconds; 0 if the leader did not wait for workers in the last run
  std::vector<std::thread> workers_;
  std::unique_ptr<last_begun[]> begun_;  // one element per member

  // The innermost team whose function the thread is running.
  static inline constinit thread_local const builtin_thread_team* running_ = nullptr;
};
DEVPLACE_COMPILED(void builtin_thread_team::start(int))
DEVPLACE_COMPILED(void builtin_thread_team::stop() noexcept)
DEVPLACE_COMPILED(bool builtin_thread_team::dispatch(detail::team_task, int, bool))
DEVPLACE_COMPILED(void builtin_thread_team::work(int, unsigned) noexcept)

}  // namespace devplace
