// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/control/detail/parts.hpp>
#include <devplace/process/control/detail/watched_process.hpp>
#include <devplace/process/control/endpoint.hpp>
#include <devplace/process/process_options.hpp>

namespace devplace::parallel::detail {

/// The common part of both roles, process 0 and the others: the loop of the watching thread, and the data that the
/// watching and the communicating thread share.
class control_role {
 public:
  control_role(const job_member& member, const process_options& options)
      : options_(options), member_(member), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!wake_) throw communication_error({"the system gives no eventfd: ", std::strerror(errno), "."});
    wake_.close_in_children();
  }
  control_role& operator=(control_role&&) = delete;
  virtual ~control_role() = default;

  published_calls calls;
  own_parts parts;

  const process_options& options() const noexcept { return options_; }

  /// The processes of the group, by rank.
  const watched_processes& processes() const noexcept { return processes_; }

  void check() const {
    if (!failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    throw communication_error(sentence_);
  }

  /// Waits as long as process 0 may need to detect a failure, and throws the failure that process 0 reports.
  void explain() {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> detection_time(1 + 5 * options_.heartbeat);
    if (changed_.wait_for(lock, detection_time, [&] { return failed_.load(std::memory_order_relaxed); }))
      throw communication_error(sentence_);
  }

  /// An all-gather of part `part` of the group between `members`, which include this process; between all processes if
  /// `members` is empty. `bytes_of_all` is the size of all contributions together, 0 if they have the same size.
  void exchange(std::span<const std::int32_t> members, std::uint64_t part, const void* own, std::size_t bytes,
                void* all, std::size_t bytes_of_all) {
    std::unique_lock lock(mutex_);
    const control_gather head{hash_of(part, members), static_cast<std::uint32_t>(members.size()), bytes_of_all == 0};
    contribution_.clear();
    for (const auto& [from, size] : {std::pair<const void*, std::size_t>{&head, sizeof head},
                                     {members.data(), members.size_bytes()},
                                     {own, bytes}})
      contribution_.insert(contribution_.end(), static_cast<const std::byte*>(from),
                           static_cast<const std::byte*>(from) + size);
    has_contribution_ = true;
    wake();
    changed_.wait(lock, [&] { return has_result_ || failed_.load(std::memory_order_relaxed); });
    if (!has_result_) throw communication_error(sentence_);
    has_result_ = false;
    if (bytes_of_all != 0 && result_.size() != bytes_of_all)
      throw communication_error({"the processes gave ", result_.size(),
                                 " bytes to a collective call, and this process expected ", bytes_of_all,
                                 ": all processes of a group must make the same calls, with as many elements."});
    if (!result_.empty()) std::memcpy(all, result_.data(), result_.size());
  }

  void leave(leaving mode) noexcept {
    leaving_.store(mode, std::memory_order_release);
    wake();
  }

  void run() {
    double last = monotonic_seconds(), next_heartbeat = last;
    std::vector<::pollfd> polled;
    for (bool running = true; running;) {
      polled.assign(1, {wake_.get(), POLLIN, 0});
      descriptors(polled);
      ::poll(polled.data(), polled.size(), poll_milliseconds(next_heartbeat - last));
      std::uint64_t ignored = 0;
      static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
      const double now = monotonic_seconds();
      // If this process itself was stopped, the others were not silent during that time.
      if (now - last > 2 * options_.heartbeat) {
        call_since_ += now - last;
        parts.exclude_stop(now - last);
        for (watched_process& one : processes_) one.last_message += now - last;
      }
      last = now;
      const bool heartbeat_due = now >= next_heartbeat;
      if (heartbeat_due) next_heartbeat = now + options_.heartbeat;
      // Reads the leave state before the calls: a process that leaves has made its last call, so none is missed.
      const leaving mode = leave_state();
      control_state state = calls.read();
      update_waited(state, self().state, call_since_, now);
      self().state = state;
      self().last_message = now;
      running = serve(now, heartbeat_due, mode);
    }
  }

 protected:
  /// Adds the sockets that poll() waits for.
  virtual void descriptors(std::vector<::pollfd>& to) const = 0;
  /// Handles messages and, if `heartbeat_due`, the periodic work. Returns false if the thread may end.
  virtual bool serve(double now, bool heartbeat_due, leaving mode) = 0;

  bool terminates() const noexcept { return options_.failure == on_failure::terminate; }
  bool has_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  leaving leave_state() const noexcept { return leaving_.load(std::memory_order_acquire); }
  watched_process& self() noexcept { return processes_[static_cast<std::size_t>(member_.rank)]; }

  /// The end of messages about the rendezvous: where this process's position comes from, if the program says it.
  std::string source() const {
    if (member_.source.empty()) return {};
    return joined({member_.rank == 0 ? " Process 0 is " : " This process is ", member_.source, "."});
  }
  /// Maximum number of bytes of a message to an exchange.
  std::size_t gather_limit() const noexcept {
    return control_gather_limit + sizeof(control_gather) + processes_.size() * sizeof(std::int32_t);
  }
  bool is_silent(const watched_process& process, double now) const noexcept {
    return options_.heartbeat_timeout != 0 && now - process.last_message > options_.heartbeat_timeout;
  }

  /// Moves out the communicating thread's contribution to the next exchange; false if there is none.
  bool take_contribution(std::vector<std::byte>& to) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(has_contribution_, false)) return false;
    to = std::move(contribution_);
    return true;
  }
  void answer(const std::byte* result, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    result_.assign(result, result + bytes);
    has_result_ = true;
    changed_.notify_all();
  }

  /// Makes check() and exchange() throw from now on.
  void note_failure(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    sentence_ = sentence;
    failed_.store(true, std::memory_order_release);
    changed_.notify_all();
  }

  /// Writes one line in a single call, so that lines of several processes do not mix.
  static void print(const std::string& sentence) noexcept {
    const std::string line = joined({"devplace: ", sentence, "\n"});
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
  /// Prints the failure that ends this process, once. A process may have several groups: the first group that detects
  /// the failure knows the cause; the other groups only see that processes end.
  static void print_final(const std::string& sentence) noexcept {
    static std::atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!printed.test_and_set()) print(sentence);
  }
  [[noreturn]] static void end_process() { std::_Exit(process_options::exit_code); }

  process_options options_;
  job_member member_;
  watched_processes processes_;

 private:
  void wake() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  }

  file_descriptor wake_;
  double call_since_ = 0;
  std::atomic<bool> failed_{false};
  std::atomic<leaving> leaving_{leaving::no};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string sentence_;
  std::vector<std::byte> contribution_, result_;
  bool has_contribution_ = false, has_result_ = false;
};

}  // namespace devplace::parallel::detail
