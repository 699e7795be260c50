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

#include <sched.h>

#include <devplace/parallel/detail/monitor_of_part.hpp>
#include <devplace/parallel/detail/own_processors.hpp>
#include <devplace/parallel/detail/shared_arrival.hpp>
#include <devplace/parallel/detail/shared_places.hpp>
#include <devplace/parallel/detail/shared_segment.hpp>
#include <devplace/parallel/detail/shared_writer.hpp>
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
  /// Bytes of a call: what a second-level cache holds. Each process has 4 times as much shared memory.
  static constexpr std::size_t default_portion = std::size_t{1} << 20;

  /// Called by all processes. `all_gather(own, bytes, all)` writes what each of them passes, `bytes` bytes that begin
  /// at `own`, to `all` in the order of their ranks; it is called twice. `watch` may be null. The first process's
  /// `portion` counts. Throws communication_error, in all of them, if they cannot share memory.
  template <class AllGather>
  static std::shared_ptr<shared_memory_transport> connect(const process_ranks& ranks, AllGather&& all_gather,
                                                          std::shared_ptr<group_monitor> watch,
                                                          std::size_t portion = default_portion) {
    detail::shared_segment::require_one_host(ranks.rank, ranks.local_size, ranks.size);
    const auto processes = static_cast<std::size_t>(ranks.size);
    const auto segment = std::make_shared<detail::shared_segment>();
    opening own;
    if (ranks.rank == 0) {
      own.portion = portion_for(processes, portion);
      segment->create(detail::shared_layout{processes, own.portion}.bytes());
      own.segment = segment->where();
    }
    std::vector<opening> openings(processes);
    all_gather(static_cast<const void*>(&own), sizeof own, static_cast<void*>(openings.data()));
    const opening& first = openings[0];
    for (const opening& other : openings)
      CPU_OR(&own.processors, &own.processors, &other.processors);
    const bool crowded = ranks.size > CPU_COUNT(&own.processors);
    if (ranks.rank != 0 && first.segment.descriptor >= 0) segment->open(first.segment);
    std::shared_ptr<shared_memory_transport> connected;
    if (segment->data() != nullptr) {
      const detail::shared_layout layout{processes, first.portion};
      if (ranks.rank == 0) segment->reserve(0, layout.arrivals_bytes());
      segment->reserve(layout.memory_at(static_cast<std::size_t>(ranks.rank)), layout.memory_bytes());
      if (segment->failed().step == detail::shared_segment::failure::none)
        connected = std::make_shared<shared_memory_transport>(ranks, segment, first.portion, crowded, std::move(watch));
    }
    std::vector<detail::shared_segment::failure> failed(processes);
    all_gather(static_cast<const void*>(&segment->failed()), sizeof failed[0], static_cast<void*>(failed.data()));
    for (int r = 0; r != ranks.size; ++r)
      if (const auto& failure = failed[static_cast<std::size_t>(r)]; failure.step != 0)
        detail::shared_segment::report(failure, r, ranks.size, first.segment.bytes);
    segment->settle();
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
        creator_(::getpid()),
        crowded_(crowded) {
    ::new (static_cast<void*>(segment_->data() + rank() * sizeof(detail::shared_arrival))) detail::shared_arrival();
  }
  ~shared_memory_transport() override {
    if (::getpid() == creator_) line(rank()).leave();  // not in a child of fork
  }

  std::string description() const override { return std::to_string(size()) + " processes, by shared memory"; }
  std::size_t portion() const noexcept override { return portion_; }

  collected collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    enter(detail::shared_call::collect, buffers.size(), begins);
    const std::size_t at = places_.take(buffers.size() * begins.back());
    // The parts for one process are beside each other.
    for (std::size_t q = 0; q != processes(); ++q)
      for (std::size_t b = 0; q != rank() && b != buffers.size(); ++b)
        writer_.copy(memory_of(rank()) + at + buffers.size() * begins[q] + b * (begins[q + 1] - begins[q]),
                     buffers[b] + begins[q], begins[q + 1] - begins[q]);
    return summands(buffers, begins[rank()], at + buffers.size() * begins[rank()], begins[rank() + 1] - begins[rank()]);
  }

  /// 16 KB for two processes: what is read more takes less time than to wait once more.
  std::size_t most_everywhere() const noexcept override {
    return std::min(portion_, (std::size_t{64} << 10) / (processes() * processes()));
  }
  collected collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) override {
    whole_.assign(processes() + 1, bytes);
    whole_[0] = 0;
    enter(detail::shared_call::everywhere, buffers.size(), whole_);
    const std::size_t at = places_.take(buffers.size() * bytes);
    for (std::size_t b = 0; b != buffers.size(); ++b)
      writer_.copy(memory_of(rank()) + at + b * bytes, buffers[b], bytes);
    return summands(buffers, 0, at, bytes);
  }

  void distribute(const std::byte* part, std::span<std::byte* const> buffers,
                  std::span<const std::size_t> begins) override {
    distribute(detail::shared_call::distribute, part, buffers, begins);
  }

  void barrier() override {
    enter(detail::shared_call::barrier, 0, {});
    arrive();
    for_others([](std::size_t) {});
  }

  std::shared_ptr<transport> split(int color, int key) override {
    struct wish {
      int color, key, rank;
    };
    std::vector<wish> members(processes());
    const wish own{color, key, ranks().rank};
    exchange(&own, sizeof own, members.data());
    std::erase_if(members, [&](const wish& other) { return other.color != color; });
    std::sort(members.begin(), members.end(),
              [](const wish& a, const wish& b) { return a.key != b.key ? a.key < b.key : a.rank < b.rank; });
    const auto here = std::find_if(members.begin(), members.end(), [&](const wish& x) { return x.rank == own.rank; });
    const int new_rank = static_cast<int>(here - members.begin()), new_size = static_cast<int>(members.size());
    const auto among_members = [&](const void* message, std::size_t bytes, void* all) {
      std::vector<std::byte> everybody(processes() * bytes);
      exchange(message, bytes, everybody.data());
      for (std::size_t i = 0; i != members.size(); ++i)
        copy(static_cast<std::byte*>(all) + i * bytes,
             everybody.data() + static_cast<std::size_t>(members[i].rank) * bytes, bytes);
    };
    std::shared_ptr<group_monitor> watch;
    if (monitor_ != nullptr) watch = std::make_shared<detail::monitor_of_part>(monitor_);
    return connect({new_rank, new_size, new_rank, new_size}, among_members, std::move(watch), portion_);
  }

  group_monitor* monitor() noexcept override { return monitor_.get(); }

 private:
  struct opening {
    detail::shared_segment::address segment;
    std::uint64_t portion = 0;
    ::cpu_set_t processors = detail::own_processors();
  };

  /// Enough for the messages of split().
  static std::size_t portion_for(std::size_t processes, std::size_t wanted) {
    return std::max(wanted, processes * sizeof(opening) + 63) / 64 * 64;
  }
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
  detail::shared_layout layout() const noexcept { return {processes(), portion_}; }
  std::byte* memory_of(std::size_t q) const noexcept { return segment_->data() + layout().memory_at(q); }

  /// Begins the next call, whose data may then be written to this process's area.
  void enter(detail::shared_call::call_kind kind, std::size_t buffers, std::span<const std::size_t> begins) {
    if (broken_)
      throw communication_error("this group of processes cannot be used any more, because a call of it has failed.");
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
  }

  /// Calls `f(q)` for every other process q when it has arrived at this call.
  template <class F>
  void for_others(const F& f) {
    try {
      for (std::size_t k = 1; k != processes(); ++k) {
        const std::size_t q = (rank() + k) % processes();
        await(q);
        f(q);
      }
    } catch (...) {
      broken_ = true;
      line(rank()).leave();  // nobody needs to wait for this process any more
      throw;
    }
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

  /// What is in this process's buffers from byte `first` on, and at `at` in the others' memory, `bytes` for each
  /// buffer.
  collected summands(std::span<std::byte* const> buffers, std::size_t first, std::size_t at, std::size_t bytes) {
    summands_.resize(processes() * buffers.size());  // may throw, and then this call was not announced
    arrive();
    for (std::size_t b = 0; b != buffers.size(); ++b)
      summands_[rank() * buffers.size() + b] = buffers[b] + first;
    for_others([&](std::size_t q) {
      for (std::size_t b = 0; b != buffers.size(); ++b)
        summands_[q * buffers.size() + b] = memory_of(q) + at + b * bytes;
    });
    return {summands_, buffers[0] + first};
  }

  void distribute(detail::shared_call::call_kind kind, const std::byte* part, std::span<std::byte* const> buffers,
                  std::span<const std::size_t> begins) {
    enter(kind, buffers.size(), begins);
    std::size_t largest = 0;
    for (std::size_t q = 0; q != processes(); ++q)
      largest = std::max(largest, begins[q + 1] - begins[q]);
    const std::size_t at = places_.take(largest);
    const std::size_t bytes = begins[rank() + 1] - begins[rank()];
    writer_.copy(memory_of(rank()) + at, part, bytes);
    arrive();
    for (std::byte* const buffer : buffers)
      if (bytes != 0 && buffer + begins[rank()] != part) copy(buffer + begins[rank()], part, bytes);
    for_others([&](std::size_t q) {
      for (std::byte* const buffer : buffers)
        copy(buffer + begins[q], memory_of(q) + at, begins[q + 1] - begins[q]);
    });
  }

  /// Gathers a message of every process.
  void exchange(const void* own, std::size_t bytes, void* all) {
    std::vector<std::size_t> begins(processes() + 1);
    for (std::size_t r = 0; r != begins.size(); ++r)
      begins[r] = r * bytes;
    std::byte* const to = static_cast<std::byte*>(all);
    distribute(detail::shared_call::split, static_cast<const std::byte*>(own), std::span(&to, 1), begins);
  }

  std::shared_ptr<detail::shared_segment> segment_;
  std::size_t portion_;
  std::shared_ptr<group_monitor> monitor_;
  detail::shared_places places_;
  detail::shared_writer writer_;
  ::pid_t creator_;
  bool crowded_;
  bool broken_ = false;
  std::uint32_t number_ = detail::shared_arrival::no_call;  ///< of the latest call
  detail::shared_call call_;
  std::vector<const std::byte*> summands_;
  std::vector<std::size_t> whole_;
};

}  // namespace devplace::parallel
