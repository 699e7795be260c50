// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/fork_count.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// Threads that make batches ahead of their reader, in a ring of slots: batch b lies in slot b % slots. One thread
/// makes a whole batch and batches are read in order, so results do not depend on timing. Only the constructor
/// allocates, unless making a batch throws. A child of fork() starts its own threads when needed, and makes again the
/// batches that its parent's threads had made ahead.
class prefetcher {
 public:
  using make_function = void (*)(void* object, std::size_t slot, std::size_t batch);

  /// Without workers, wait() makes the batch in the calling thread. `object` is not used before start().
  [[gnu::noinline]] prefetcher(std::size_t workers, std::size_t slots, make_function make, void* object)
      : prefetcher(make, object, workers, slots) {
    require_workers();  // if it throws, the destructor joins the started threads
  }
  prefetcher& operator=(prefetcher&&) = delete;
  ~prefetcher() {
    forget_workers_of_parent();
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_all();
    for (std::thread& worker : workers_)
      if (worker.joinable()) worker.join();
  }

  /// Starts an epoch of `batches` batches at batch `first`. Requires that the previous epoch was stopped.
  void start(std::size_t batches, std::size_t first = 0) {
    require_workers();
    {
      const std::lock_guard lock(mutex_);
      next_ = released_ = read_ = first;
      batches_ = batches;
    }
    work_.notify_all();
  }

  /// Waits until batch `batch` is made and returns its slot. Throws the exception of a failed batch. Batch numbers must
  /// increase from call to call.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) std::size_t wait(std::size_t batch) {
    const std::size_t slot = batch % results_.size();
    if (workers_.empty()) {
      make_(object_, slot, batch);
      return slot;
    }
    require_workers();
    std::unique_lock lock(mutex_);
    result& entry = results_[slot];
    done_.wait(lock, [&] { return entry.count == batch + 1; });
    read_ = batch + 1;
    if (entry.failed) std::rethrow_exception(entry.failed);
    return slot;
  }

  /// Frees the slots of all batches up to `batch` for reuse.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) void release(std::size_t batch) {
    if (workers_.empty()) return;
    forget_workers_of_parent();
    {
      const std::lock_guard lock(mutex_);
      released_ = batch + 1;
    }
    work_.notify_one();
  }

  /// Discards unread batches and waits until no worker is making a batch.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) void stop() noexcept {
    forget_workers_of_parent();
    std::unique_lock lock(mutex_);
    batches_ = 0;
    done_.wait(lock, [this] { return making_ == 0; });
    next_ = released_ = 0;
    for (result& entry : results_) entry = {};
  }

 private:
  struct result {
    std::size_t count = 0;  // number of the batch in the slot, counted from 1; 0 if empty
    std::exception_ptr failed;
  };

  DEVPLACE_COMPILABLE() void require_workers() {
    forget_workers_of_parent();
    try {
      for (; started_ < workers_.size(); ++started_) workers_[started_] = std::thread([this] { work(); });
    } catch (const std::system_error& refusal) {
      throw error({"the operating system refused to start a loader's worker ", started_ + 1, " of ", workers_.size(),
                   " (", refusal.what(), "). Raise the limit (ulimit -u) or ask for fewer workers."});
    }
  }

  /// Resets the state in a child of fork(), where threads of the parent may have left the mutex locked and slots half
  /// filled. Continues after the last batch that was read.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) void forget_workers_of_parent() {
    if (started_in_ == fork_count()) return;
    started_in_ = fork_count();
    forget_threads(workers_);
    started_ = 0;
    ::new (&mutex_) std::mutex;
    ::new (&work_) std::condition_variable;
    ::new (&done_) std::condition_variable;
    next_ = read_;
    making_ = 0;
    for (result& entry : results_) entry = {};
  }

  DEVPLACE_COMPILABLE() void work() {
    const thread_team_scope inline_operations(serial_team_instance);  // the process's team stays free for the model
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return ending_ || (next_ < batches_ && next_ < released_ + results_.size()); });
      if (ending_) return;
      const std::size_t batch = next_++, slot = batch % results_.size();
      ++making_;
      lock.unlock();
      std::exception_ptr failed;
      try {
        make_(object_, slot, batch);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      --making_;
      results_[slot].count = batch + 1;
      results_[slot].failed = std::move(failed);
      done_.notify_one();
    }
  }

  prefetcher(make_function make, void* object, std::size_t workers, std::size_t slots)
      : make_(make), object_(object), results_(slots), workers_(workers) {}

  make_function make_;
  void* object_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::size_t batches_ = 0;   // number of batches of the current epoch
  std::size_t next_ = 0;      // first batch that no worker has taken
  std::size_t released_ = 0;  // number of batches that the reader has released
  std::size_t read_ = 0;      // number of batches that the reader has received
  std::size_t making_ = 0;    // number of workers that are making a batch now
  bool ending_ = false;
  std::vector<result> results_;  // one for each slot
  std::vector<std::thread> workers_;
  std::size_t started_ = 0;             // number of workers that run
  unsigned started_in_ = fork_count();  // fork_count() in the process that started the workers
};
DEVPLACE_COMPILED(std::size_t prefetcher::wait(std::size_t))
DEVPLACE_COMPILED(void prefetcher::release(std::size_t))
DEVPLACE_COMPILED(void prefetcher::stop() noexcept)
DEVPLACE_COMPILED(void prefetcher::require_workers())
DEVPLACE_COMPILED(void prefetcher::forget_workers_of_parent())
DEVPLACE_COMPILED(void prefetcher::work())

}  // namespace devplace::detail
