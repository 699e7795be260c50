// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/parallel/detail/part_members.hpp>
#include <devplace/parallel/detail/shared_arrival.hpp>
#include <devplace/parallel/detail/shared_opening.hpp>
#include <devplace/parallel/detail/shared_segment.hpp>
#include <devplace/parallel/detail/shared_writer.hpp>
#include <devplace/parallel/shared_layout.hpp>
#include <devplace/parallel/transport.hpp>
#include <devplace/place/error.hpp>

namespace devplace::parallel {

/// Connects the processes of one host by memory that all have mapped; no MPI is needed, and no file is made.
///
/// Each process writes there what the others shall read, and then the number of its call. Since a call needs a word of
/// all other processes, nobody is ahead by more than one call, and the memory of the call before the last one is free
/// again: a call waits once, and all_reduce of a portion twice. Summands are read where the others have put them. A
/// process that makes another call than the rest is found at once, and so is one that has destroyed its transport;
/// other failures are found by the monitor.
class shared_memory_transport final : public transport {
 public:
  /// Called by all processes. `all_gather(own, bytes, all)` writes what each of them passes, `bytes` bytes that begin
  /// at `own`, to `all` in the order of their ranks; it is called twice. `watch` may be null. The first process's
  /// `portion` counts: the most bytes of a call. Each process has 4 times as much shared memory, which all map. 0
  /// stands for 1 MiB, for less if there are more than 8. Throws communication_error, in all, if they cannot share
  /// memory.
  template <class AllGather>
  static std::shared_ptr<shared_memory_transport> connect(const process_ranks& ranks, AllGather&& all_gather,
                                                          std::shared_ptr<group_monitor> watch,
                                                          std::size_t portion = 0) {
    detail::shared_opening opening(ranks, all_gather, portion);
    std::shared_ptr<shared_memory_transport> connected;
    if (opening.usable())
      connected = std::make_shared<shared_memory_transport>(ranks, opening.segment, opening.portion, opening.crowded,
                                                            std::move(watch));
    opening.settle(all_gather);
    return connected;
  }

  /// Of a segment with the layout for these processes and this portion. The first call may be made when all processes
  /// have made theirs. `crowded`: they have fewer processors than they are.
  shared_memory_transport(const process_ranks& ranks, std::shared_ptr<detail::shared_segment> segment,
                          std::size_t portion, bool crowded, std::shared_ptr<group_monitor> watch)
      : transport(ranks),
        segment_(std::move(segment)),
        portion_(portion),
        monitor_(std::move(watch)),
        places_(portion),
        writer_(memory_of(rank()), layout().memory_bytes()),
        crowded_(crowded),
        met_(static_cast<std::size_t>(ranks.size)) {
    ::new (static_cast<void*>(segment_->data() + rank() * sizeof(detail::shared_arrival))) detail::shared_arrival();
  }
  ~shared_memory_transport() override {
    if (!inherited()) line(rank()).leave();
  }

  std::string description() const override { return std::to_string(size()) + " processes, by shared memory"; }
  std::size_t portion() const noexcept override { return portion_; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    enter(detail::shared_call::collect, buffers.size(), begins);
    const std::size_t at = places_.take(buffers.size() * begins.back());
    // The parts for one process are beside each other.
    for (std::size_t q = 0; q != processes(); ++q)
      for (std::size_t b = 0; q != rank() && b != buffers.size(); ++b)
        writer_.copy(memory_of(rank()) + at + buffers.size() * begins[q] + b * (begins[q + 1] - begins[q]),
                     buffers[b] + begins[q], begins[q + 1] - begins[q]);
    ask_for(buffers, begins[rank()], at + buffers.size() * begins[rank()], begins[rank() + 1] - begins[rank()]);
  }

  /// 16 KB for two processes: what is read more takes less time than to wait once more.
  std::size_t most_everywhere() const noexcept override {
    return std::min(portion_, (std::size_t{64} << 10) / (processes() * processes()));
  }
  void start_collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) override {
    whole_.assign(processes() + 1, bytes);
    whole_[0] = 0;
    enter(detail::shared_call::everywhere, buffers.size(), whole_);
    const std::size_t at = places_.take(buffers.size() * bytes);
    for (std::size_t b = 0; b != buffers.size(); ++b)
      writer_.copy(memory_of(rank()) + at + b * bytes, buffers[b], bytes);
    ask_for(buffers, 0, at, bytes);
  }

  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    give(detail::shared_call::distribute, part, buffers, begins);
  }

  bool poll() override { return meet(false); }
  void wait() override { meet(true); }
  collected summands() noexcept override { return {summands_, result_}; }
  void give_up() noexcept override {
    if (met_ != processes()) fail();
  }

  void barrier() override {
    enter(detail::shared_call::barrier, 0, {});
    arrive();
    wait();
  }

  std::shared_ptr<transport> split(int color, int key) override {
    std::vector<detail::split_request> requests(processes());
    const detail::split_request own{color, key, ranks().rank};
    exchange(&own, sizeof own, requests.data());
    const std::vector<int> members = detail::members_of_part(std::move(requests), color);
    const auto here = std::find(members.begin(), members.end(), own.rank);
    const int new_rank = static_cast<int>(here - members.begin()), new_size = static_cast<int>(members.size());
    const auto among_members = [&](const void* message, std::size_t bytes, void* all) {
      std::vector<std::byte> everybody(processes() * bytes);
      exchange(message, bytes, everybody.data());
      for (std::size_t i = 0; i != members.size(); ++i)
        copy(static_cast<std::byte*>(all) + i * bytes, everybody.data() + static_cast<std::size_t>(members[i]) * bytes,
             bytes);
    };
    std::shared_ptr<group_monitor> watch;
    if (monitor_ != nullptr) watch = monitor_->part(members);
    return connect({new_rank, new_size, new_rank, new_size}, among_members, std::move(watch), portion_);
  }

  group_monitor* monitor() noexcept override { return monitor_.get(); }

 private:
  /// Null pointers are allowed for 0 bytes.
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  std::size_t rank() const noexcept { return static_cast<std::size_t>(ranks().rank); }
  std::size_t processes() const noexcept { return static_cast<std::size_t>(size()); }
  detail::shared_arrival& line(std::size_t q) const noexcept {
    return *std::launder(
        reinterpret_cast<detail::shared_arrival*>(segment_->data() + q * sizeof(detail::shared_arrival)));
  }
  shared_layout layout() const noexcept { return {processes(), portion_}; }
  std::byte* memory_of(std::size_t q) const noexcept { return segment_->data() + layout().memory_at(q); }

  /// Begins the next call, whose data may then be written to this process's area.
  void enter(detail::shared_call::call_kind kind, std::size_t buffers, std::span<const std::size_t> begins) {
    if (broken_)
      throw communication_error("this group of processes cannot be used any more, because a call of it has failed.");
    if (met_ != processes())
      throw error(
          "shared_memory_transport: another call was made before one that was started has ended. End that one first, "
          "by "
          "wait() or a poll() that returns true.");
    call_ = {kind, static_cast<std::uint32_t>(buffers), 0, 0};
    if (kind != detail::shared_call::barrier) {
      const bool usable = begins.size() == processes() + 1 && begins[0] == 0 &&
                          std::is_sorted(begins.begin(), begins.end()) &&
                          (begins.back() == 0 || buffers <= portion_ / begins.back());
      if (!usable)
        throw argument_error("shared_memory_transport: a call needs " + std::to_string(processes() + 1) +
                             " ascending boundaries that begin with 0, and at most " + std::to_string(portion_) +
                             " bytes of all buffers.");
      call_.bytes = begins.back();
      for (const std::size_t begin : begins)
        call_.boundaries = (call_.boundaries ^ begin) * 0x9e37'79b9'7f4a'7c15U;
    }
    ++number_;
    line(rank()).calls[number_ % 2] = call_;
  }
  void arrive() noexcept {
    writer_.settle();
    line(rank()).arrive(number_);
    met_ = 1;
  }

  /// Takes from every other process what it has for this call, in the order of ranks from this one on, when it has
  /// arrived there; false if one has not, and this one does not wait.
  bool meet(bool waits) {
    try {
      for (; met_ != processes(); ++met_) {
        const std::size_t q = (rank() + met_) % processes();
        if (!waits && !line(q).reached(number_)) return false;
        await(q);
        take(q);
      }
    } catch (...) {
      fail();
      throw;
    }
    return true;
  }
  void fail() noexcept {
    broken_ = true;
    met_ = processes();
    if (!inherited()) line(rank()).leave();  // nobody needs to wait for this process any more
  }

  void await(std::size_t q) {
    detail::shared_arrival& there = line(q);
    const bool arrived = detail::await_arrival(there, number_, crowded_, [&] {
      if (monitor_ != nullptr) monitor_->check();
    });
    const detail::shared_call& other = there.calls[number_ % 2];
    if (arrived && other == call_) return;
    if (monitor_ != nullptr) monitor_->explain();
    const std::string own = "rank " + std::to_string(rank()) + " " + call_.text(), name = "rank " + std::to_string(q);
    throw communication_error(
        (!arrived ? name + " has left the group, or a call of it has failed there, while " + own
                  : own + " while " + name + " " + other.text() +
                        (other.text() == call_.text() ? ", with other boundaries between their parts" : "")) +
        ". All processes of a group make the same calls in the same order.");
  }

  /// Collects what is in this process's buffers from byte `first` on, and at `at` in the others' memory, `bytes` for
  /// each buffer.
  void ask_for(std::span<std::byte* const> buffers, std::size_t first, std::size_t at, std::size_t bytes) {
    summands_.resize(processes() * buffers.size());  // may throw, and then this call was not announced
    arrive();
    for (std::size_t b = 0; b != buffers.size(); ++b)
      summands_[rank() * buffers.size() + b] = buffers[b] + first;
    result_ = buffers[0] + first;
    at_ = at;
    bytes_ = bytes;
  }

  void give(detail::shared_call::call_kind kind, const std::byte* part, std::span<std::byte* const> buffers,
            std::span<const std::size_t> begins) {
    enter(kind, buffers.size(), begins);
    std::size_t largest = 0;
    for (std::size_t q = 0; q != processes(); ++q)
      largest = std::max(largest, begins[q + 1] - begins[q]);
    at_ = places_.take(largest);
    const std::size_t bytes = begins[rank() + 1] - begins[rank()];
    writer_.copy(memory_of(rank()) + at_, part, bytes);
    arrive();
    for (std::byte* const buffer : buffers)
      if (bytes != 0 && buffer + begins[rank()] != part) copy(buffer + begins[rank()], part, bytes);
    buffers_ = buffers;
    begins_ = begins;
  }

  /// What process q has for the present call.
  void take(std::size_t q) {
    if (call_.kind == detail::shared_call::collect || call_.kind == detail::shared_call::everywhere)
      for (std::size_t b = 0; b != call_.buffers; ++b)
        summands_[q * call_.buffers + b] = memory_of(q) + at_ + b * bytes_;
    else if (call_.kind != detail::shared_call::barrier)
      for (std::byte* const buffer : buffers_)
        copy(buffer + begins_[q], memory_of(q) + at_, begins_[q + 1] - begins_[q]);
  }

  /// Gathers a message of every process.
  void exchange(const void* own, std::size_t bytes, void* all) {
    std::vector<std::size_t> begins(processes() + 1);
    for (std::size_t r = 0; r != begins.size(); ++r)
      begins[r] = r * bytes;
    std::byte* const to = static_cast<std::byte*>(all);
    give(detail::shared_call::split, static_cast<const std::byte*>(own), std::span(&to, 1), begins);
    wait();
  }

  std::shared_ptr<detail::shared_segment> segment_;
  std::size_t portion_;
  std::shared_ptr<group_monitor> monitor_;
  detail::shared_places places_;
  detail::shared_writer writer_;
  bool crowded_;
  bool broken_ = false;
  std::uint32_t number_ = detail::shared_arrival::no_call;  ///< of the latest call
  detail::shared_call call_;
  std::size_t met_;  ///< of that call: processes from which this one has taken what they have, counted from itself on
  // What the call takes, and where.
  std::vector<const std::byte*> summands_;
  std::byte* result_ = nullptr;
  std::size_t at_ = 0, bytes_ = 0;
  std::span<std::byte* const> buffers_;
  std::span<const std::size_t> begins_;
  std::vector<std::size_t> whole_;
};

}  // namespace devplace::parallel
