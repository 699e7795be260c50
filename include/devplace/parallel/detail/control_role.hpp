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

#include <devplace/parallel/control_endpoint.hpp>
#include <devplace/parallel/detail/control_link.hpp>
#include <devplace/parallel/detail/control_parts.hpp>
#include <devplace/parallel/detail/published_calls.hpp>
#include <devplace/parallel/detail/watched_process.hpp>
#include <devplace/parallel/process_options.hpp>

namespace devplace::parallel::detail {

enum class leaving { no, in_order, by_exception };

/// What process 0 and the others have in common: the loop of the watching thread, and what it shares with the thread
/// that communicates.
class control_role {
 public:
  control_role(const job_member& who, const process_options& options)
      : options_(options), who_(who), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!wake_) throw communication_error(std::string("the system gives no eventfd: ") + std::strerror(errno) + ".");
    wake_.close_in_children();
  }
  control_role(const control_role&) = delete;
  control_role& operator=(const control_role&) = delete;
  virtual ~control_role() = default;

  published_calls calls;
  own_parts parts;

  const process_options& options() const noexcept { return options_; }

  /// Where the processes are, by rank.
  const watched_processes& processes() const noexcept { return all_; }

  void check() const {
    if (!failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    throw communication_error(sentence_);
  }

  /// Waits as long as it takes process 0 at most to find and tell a failure.
  void explain() {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> while_others_tell(1 + 5 * options_.heartbeat);
    if (changed_.wait_for(lock, while_others_tell, [&] { return failed_.load(std::memory_order_relaxed); }))
      throw communication_error(sentence_);
  }

  /// Between `members`, of which this process is one; all of the group if there are none. `bytes_of_all` is what all
  /// give together; 0 if all give as many bytes.
  void exchange(std::span<const std::int32_t> members, const void* own, std::size_t bytes, void* all,
                std::size_t bytes_of_all = 0) {
    std::unique_lock lock(mutex_);
    control_gather head{14695981039346656037u, static_cast<std::uint32_t>(members.size()), bytes_of_all == 0};
    for (const std::int32_t member : members)
      head.key = (head.key ^ static_cast<std::uint32_t>(member)) * 1099511628211u;  // FNV-1a
    own_.clear();
    for (const auto& [from, size] : {std::pair<const void*, std::size_t>{&head, sizeof head},
                                     {members.data(), members.size_bytes()},
                                     {own, bytes}})
      own_.insert(own_.end(), static_cast<const std::byte*>(from), static_cast<const std::byte*>(from) + size);
    asked_ = true;
    wake();
    changed_.wait(lock, [&] { return answered_ || failed_.load(std::memory_order_relaxed); });
    if (!answered_) throw communication_error(sentence_);
    answered_ = false;
    if (bytes_of_all != 0 && result_.size() != bytes_of_all)
      throw communication_error("the processes gave " + std::to_string(result_.size()) +
                                " bytes to a collective call, and this one expected " + std::to_string(bytes_of_all) +
                                ": all processes of a group must make the same calls, with as many elements.");
    if (!result_.empty()) std::memcpy(all, result_.data(), result_.size());
  }

  void leave(leaving how) noexcept {
    leaving_.store(how, std::memory_order_release);
    wake();
  }

  /// The watching thread's.
  void run() {
    double last = monotonic_seconds(), beat = last;
    std::vector<::pollfd> waited_for;
    for (bool goes_on = true; goes_on;) {
      waited_for.assign(1, {wake_.get(), POLLIN, 0});
      descriptors(waited_for);
      ::poll(waited_for.data(), waited_for.size(), poll_milliseconds(beat - last));
      std::uint64_t ignored = 0;
      static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
      const double now = monotonic_seconds();
      // This thread did not run: it has been stopped itself, and must not take its own silence for that of others.
      if (now - last > 2 * options_.heartbeat) {
        call_since_ += now - last;
        parts.forgive(now - last);
        for (watched_process& one : all_)
          one.heard += now - last;
      }
      last = now;
      const bool beats = now >= beat;
      if (beats) beat = now + options_.heartbeat;
      const leaving how = leaves();  // before the calls, which are then all that this process makes
      look_at_own_calls(now);
      goes_on = serve(now, beats, how);
    }
  }

 protected:
  virtual void descriptors(std::vector<::pollfd>& to) const = 0;
  /// Does what there is to do, and once in a heartbeat what must be done regularly. False if the thread may end.
  virtual bool serve(double now, bool beats, leaving how) = 0;

  bool terminates() const noexcept { return options_.failure == on_failure::terminate; }
  bool has_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  leaving leaves() const noexcept { return leaving_.load(std::memory_order_acquire); }
  watched_process& self() noexcept { return all_[static_cast<std::size_t>(who_.rank)]; }

  /// The most bytes of a message to an exchange.
  std::size_t gather_limit() const noexcept {
    return control_gather_limit + sizeof(control_gather) + all_.size() * sizeof(std::int32_t);
  }
  bool is_silent(const watched_process& who, double now) const noexcept {
    return options_.heartbeat_timeout != 0 && now - who.heard > options_.heartbeat_timeout;
  }

  /// What the other thread gives to the next exchange, once.
  bool take_own(std::vector<std::byte>& to) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(asked_, false)) return false;
    to = std::move(own_);
    return true;
  }
  void answer(const std::byte* result, std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      result_.assign(result, result + bytes);
      answered_ = true;
    }
    changed_.notify_all();
  }

  /// From now on check() and exchange() throw.
  void note_failure(const std::string& sentence) {
    {
      const std::lock_guard lock(mutex_);
      sentence_ = sentence;
      failed_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }

  /// One line, by one call, so that lines of several processes do not mix.
  static void print(const std::string& sentence) noexcept {
    const std::string line = "devplace: " + sentence + "\n";
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
  /// Of a failure that ends this process, which may have several groups: the first one that finds it speaks, since the
  /// others see no more than that processes end.
  static void print_last(const std::string& sentence) noexcept {
    static std::atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!printed.test_and_set()) print(sentence);
  }
  [[noreturn]] static void end_process() { std::_Exit(process_options::exit_code); }

  process_options options_;
  job_member who_;
  watched_processes all_;

 private:
  void wake() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  }

  void look_at_own_calls(double now) {
    control_state state = calls.read();
    note_waiting(state, self().state, call_since_, now);
    self().state = state;
    self().heard = now;
  }

  descriptor wake_;
  double call_since_ = 0;
  std::atomic<bool> failed_{false};
  std::atomic<leaving> leaving_{leaving::no};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string sentence_;
  std::vector<std::byte> own_, result_;
  bool asked_ = false, answered_ = false;
};

}  // namespace devplace::parallel::detail
