// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/process/detail/shared_arrival.hpp>
#include <devplace/process/detail/shared_segment.hpp>
#include <devplace/process/detail/shared_writer.hpp>
#include <devplace/process/shared_layout.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel {

/// Connects the processes of one host by memory that all have mapped, without MPI or files.
///
/// Each process writes its data to its own memory and then publishes the number of its call; the others read the data
/// there. Every call waits for all other processes, so no process is ahead by more than one call, and the memory of the
/// call before the last can be reused. A call waits once; an all_reduce of a portion consists of two calls and waits
/// twice. The transport detects at once a process that makes another call than the rest or has destroyed its transport;
/// the monitor detects other failures.
class shared_memory_transport final : public transport {
 public:
  /// Connects the processes. All processes call this function. `all_gather(own, bytes, all)` stores `bytes` bytes from
  /// every process's `own` in `all`, in the order of the ranks; connect() calls it twice. `watch` may be null.
  /// `portion` is the maximum number of bytes of a call; the value of the first process counts. Each process has 4
  /// times as much shared memory. 0 selects 1 MiB, or less for more than 8 processes. Throws communication_error in all
  /// processes if they cannot share memory.
  static std::shared_ptr<shared_memory_transport> connect(const process_ranks& ranks, auto&& all_gather,
                                                          std::shared_ptr<group_monitor> watch,
                                                          std::size_t portion = 0) {
    detail::shared_opening opening(ranks, all_gather, portion);
    std::shared_ptr<shared_memory_transport> connected;
    if (opening.usable())
      connected = std::make_shared<shared_memory_transport>(ranks, opening.segment, opening.portion,
                                                            opening.oversubscribed, std::move(watch));
    opening.finish(all_gather);
    connected->lenders_ = std::move(opening.lenders);
    return connected;
  }

  /// Uses a segment with the layout for these processes and this portion. All processes must have constructed their
  /// transports before the first call. `oversubscribed`: there are more processes than processors.
  shared_memory_transport(const process_ranks& ranks, std::shared_ptr<detail::shared_segment> segment,
                          std::size_t portion, bool oversubscribed, std::shared_ptr<group_monitor> watch)
      : transport(ranks),
        segment_(std::move(segment)),
        portion_(portion),
        monitor_(std::move(watch)),
        offsets_(portion),
        writer_(memory_of(rank()), layout().memory_bytes()),
        oversubscribed_(oversubscribed),
        received_(static_cast<std::size_t>(ranks.size)) {
    ::new (static_cast<void*>(segment_->data() + rank() * sizeof(detail::shared_arrival))) detail::shared_arrival();
  }
  ~shared_memory_transport() override {
    if (!inherited()) arrival(rank()).leave();
  }

  std::string description() const override { return detail::joined({size(), " processes, by shared memory"}); }
  std::size_t portion() const noexcept override { return portion_; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    enter(detail::shared_call::collect, buffers.size(), begins);
    const std::size_t at = offsets_.take(buffers.size() * begins.back());
    // The parts for one process are contiguous.
    for (std::size_t q = 0; q != processes(); ++q)
      for (std::size_t b = 0; q != rank() && b != buffers.size(); ++b)
        writer_.copy(memory_of(rank()) + at + buffers.size() * begins[q] + b * (begins[q + 1] - begins[q]),
                     buffers[b] + begins[q], begins[q + 1] - begins[q]);
    publish_collect(buffers, begins[rank()], at + buffers.size() * begins[rank()], begins[rank() + 1] - begins[rank()]);
  }

  /// 16 KB for two processes: up to this size, reading whole buffers is faster than waiting a second time.
  std::size_t most_everywhere() const noexcept override {
    return std::min(portion_, (std::size_t{64} << 10) / (processes() * processes()));
  }
  void start_collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) override {
    whole_window_.assign(processes() + 1, bytes);
    whole_window_[0] = 0;
    enter(detail::shared_call::everywhere, buffers.size(), {whole_window_.data(), whole_window_.size()});
    const std::size_t at = offsets_.take(buffers.size() * bytes);
    for (std::size_t b = 0; b != buffers.size(); ++b)
      writer_.copy(memory_of(rank()) + at + b * bytes, buffers[b], bytes);
    publish_collect(buffers, 0, at, bytes);
  }

  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    enter(std::exchange(next_distribute_, detail::shared_call::distribute), buffers.size(), begins);
    std::size_t largest = 0;
    for (std::size_t q = 0; q != processes(); ++q) largest = std::max(largest, begins[q + 1] - begins[q]);
    offset_ = offsets_.take(largest);
    const std::size_t bytes = begins[rank() + 1] - begins[rank()];
    writer_.copy(memory_of(rank()) + offset_, part, bytes);
    arrive();
    for (std::byte* const buffer : buffers)
      if (bytes != 0 && buffer + begins[rank()] != part) copy(buffer + begins[rank()], part, bytes);
    buffers_ = buffers;
    begins_ = begins;
  }

  /// 1 GiB if the processes can copy from each other's memory.
  std::size_t message_portion() const noexcept override {
    return lenders_.empty() ? portion_ : std::max(portion_, std::size_t{1} << 30);
  }
  /// Writes the messages one after the other, behind a table of their receivers and sizes. If they are large, the
  /// receivers copy them from this process's memory, once instead of twice, and all processes wait until they have.
  void start_messages(std::span<const message> sends, std::span<const message> receives) override {
    const std::size_t table_bytes = devplace::detail::padded_to((sends.size() + 1) * sizeof(sent_message), 64);
    std::size_t bytes = 0;
    for (const message& m : sends) bytes += devplace::detail::padded_to(m.bytes, 64);
    const bool lends = table_bytes + bytes > 2 * portion_ || (!lenders_.empty() && bytes > most_copied_twice);
    if (table_bytes > 2 * portion_ || (lends && (lenders_.empty() || bytes > message_portion())))
      throw argument_error({"shared_memory_transport: ", sends.size(), " messages have more than the ",
                            message_portion(), " bytes of a call."});
    enter(detail::shared_call::messages, 0, {});
    offset_ = offsets_.take(2 * portion_);  // equal in all processes, whose messages differ
    std::byte* const table = memory_of(rank()) + offset_;
    std::size_t at = offset_ + table_bytes;
    arrival(rank()).calls[number_ % 2].lends = lends;
    std::size_t i = 0;
    for (const message& m : sends) {
      const sent_message entry{static_cast<std::size_t>(m.process), m.bytes,
                               lends ? reinterpret_cast<std::size_t>(m.data) : at};
      std::memcpy(table + i++ * sizeof entry, &entry, sizeof entry);
      if (lends) continue;
      writer_.copy(memory_of(rank()) + at, m.data, m.bytes);
      at += devplace::detail::padded_to(m.bytes, 64);
    }
    const sent_message end{processes(), 0, 0};
    std::memcpy(table + i * sizeof end, &end, sizeof end);
    arrive();
    receives_ = receives;
    lent_ = lends;
  }

  /// Whether a started call has not ended.
  bool open() const noexcept { return received_ != processes(); }
  /// Whether a call has failed, after which the transport is unusable.
  bool failed() const noexcept { return broken_; }

  bool poll() override { return receive(false); }
  void wait() override { receive(true); }
  collected summands() noexcept override { return {{summands_.data(), summands_.size()}, result_}; }
  void give_up() noexcept override {
    if (open()) fail();
  }

  void barrier() override {
    enter(detail::shared_call::barrier, 0, {});
    arrive();
    wait();
  }

  std::shared_ptr<transport> split(int color, int key) override {
    next_distribute_ = detail::shared_call::split;
    const std::vector<int> members = detail::members_of_part(*this, color, key);
    const auto self = std::find(members.begin(), members.end(), ranks().rank);
    const int new_rank = static_cast<int>(self - members.begin()), new_size = static_cast<int>(members.size());
    const auto among_members = [&](const void* values, std::size_t bytes, void* all) {
      std::vector<std::byte> messages(processes() * bytes);
      next_distribute_ = detail::shared_call::split;
      all_gather(values, bytes, messages.data());
      for (std::size_t i = 0; i != members.size(); ++i)
        copy(static_cast<std::byte*>(all) + i * bytes, messages.data() + static_cast<std::size_t>(members[i]) * bytes,
             bytes);
    };
    std::shared_ptr<group_monitor> watch;
    if (monitor_ != nullptr) watch = monitor_->part({members.data(), members.size()});
    return connect({new_rank, new_size, new_rank, new_size}, among_members, std::move(watch), portion_);
  }

  group_monitor* monitor() noexcept override { return monitor_.get(); }

 private:
  /// A process's messages of more bytes are copied once by the system, which is faster from there on if they lie in
  /// huge pages, as those of large fields do. Measured by exchange_mpi_bench.
  static constexpr std::size_t most_copied_twice = std::size_t{512} << 10;

  /// An entry of the table in front of a process's messages; the last one has the receiver processes().
  struct sent_message {
    std::size_t receiver, bytes, at;
  };

  /// As std::memcpy, but allows null pointers for 0 bytes.
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  std::size_t rank() const noexcept { return static_cast<std::size_t>(ranks().rank); }
  std::size_t processes() const noexcept { return static_cast<std::size_t>(size()); }
  detail::shared_arrival& arrival(std::size_t q) const noexcept {
    return *std::launder(
        reinterpret_cast<detail::shared_arrival*>(segment_->data() + q * sizeof(detail::shared_arrival)));
  }
  shared_layout layout() const noexcept { return {processes(), portion_}; }
  std::byte* memory_of(std::size_t q) const noexcept { return segment_->data() + layout().memory_at(q); }

  /// Begins the next call, whose data may then be written to this process's area.
  void enter(detail::shared_call::call_kind kind, std::size_t buffers, std::span<const std::size_t> begins) {
    if (broken_)
      throw communication_error("this group of processes cannot be used any more, because an earlier call failed.");
    if (open())
      throw error(
          "shared_memory_transport: another call was made before the started call has ended. End the started call "
          "first, by wait() or a poll() that returns true.");
    call_ = {.kind = kind, .buffers = static_cast<std::uint32_t>(buffers)};
    if (kind != detail::shared_call::barrier && kind != detail::shared_call::messages) {
      const bool usable = begins.size() == processes() + 1 && begins[0] == 0 &&
                          std::is_sorted(begins.begin(), begins.end()) &&
                          (begins.back() == 0 || buffers <= portion_ / begins.back());
      if (!usable)
        throw argument_error({"shared_memory_transport: a call needs ", processes() + 1,
                              " ascending boundaries that begin with 0, and at most ", portion_,
                              " bytes in all buffers together."});
      call_.bytes = begins.back();
      for (const std::size_t begin : begins) devplace::detail::add_to_hash(call_.boundaries, begin);
    }
    ++number_;
    arrival(rank()).calls[number_ % 2] = call_;
  }
  /// Tells the other processes that this process's data is complete.
  void arrive() noexcept {
    writer_.fence();
    arrival(rank()).arrive(number_);
    received_ = 1;
  }

  /// Receives the data of each other process, from the next rank on, when the process has arrived at the call. Returns
  /// false if a process has not arrived and `blocking` is false.
  bool receive(bool blocking) {
    try {
      for (; received_ != processes() || finish_lending(); ++received_) {
        const std::size_t q = (rank() + received_) % processes();
        if (!blocking && !arrival(q).reached(number_)) return false;
        await(q);
        receive_from(q);
      }
    } catch (...) {
      fail();
      throw;
    }
    return true;
  }
  /// After messages that a process has lent, starts to wait until all processes have copied them.
  bool finish_lending() {
    if (!std::exchange(lent_, false)) return false;
    enter(detail::shared_call::barrier, 0, {});
    arrive();
    return true;
  }
  void fail() noexcept {
    broken_ = true;
    lent_ = false;
    received_ = processes();
    if (!inherited()) arrival(rank()).leave();  // so that no process waits for this one
  }

  /// Waits until process q arrives at this call; throws if process q makes another call.
  void await(std::size_t q) {
    detail::shared_arrival& peer = arrival(q);
    const bool arrived = detail::await_arrival(peer, number_, oversubscribed_, [&] {
      if (monitor_ != nullptr) monitor_->check();
    });
    const detail::shared_call& other = peer.calls[number_ % 2];
    if (arrived && other == call_) return;
    if (monitor_ != nullptr) monitor_->explain();
    const std::string own = detail::joined({"rank ", rank(), " ", call_.text()}), name = detail::joined({"rank ", q});
    throw communication_error(
        (!arrived
             ? detail::joined({name, " has left the group, or one of its calls has failed, while ", own})
             : detail::joined({own, " while ", name, " ", other.text(),
                               other.text() == call_.text() ? ", with other boundaries between their parts" : ""})) +
        ". All processes of a group make the same calls in the same order.");
  }

  /// Publishes a call that collects `bytes` bytes per buffer: from byte `first` of this process's buffers, and from
  /// offset `at` of the other processes' memory.
  void publish_collect(std::span<std::byte* const> buffers, std::size_t first, std::size_t at, std::size_t bytes) {
    summands_.resize(processes() * buffers.size());  // may throw, so before the call is announced
    arrive();
    for (std::size_t b = 0; b != buffers.size(); ++b) summands_[rank() * buffers.size() + b] = buffers[b] + first;
    result_ = buffers[0] + first;
    offset_ = at;
    bytes_ = bytes;
  }

  void receive_from(std::size_t q) {
    if (call_.kind == detail::shared_call::collect || call_.kind == detail::shared_call::everywhere)
      for (std::size_t b = 0; b != call_.buffers; ++b)
        summands_[q * call_.buffers + b] = memory_of(q) + offset_ + b * bytes_;
    else if (call_.kind == detail::shared_call::messages)
      receive_messages(q);
    else if (call_.kind != detail::shared_call::barrier)
      for (std::byte* const buffer : buffers_)
        copy(buffer + begins_[q], memory_of(q) + offset_, begins_[q + 1] - begins_[q]);
  }

  /// Copies the messages from process q to this one.
  void receive_messages(std::size_t q) {
    const std::byte* table = memory_of(q) + offset_;
    const bool lends = arrival(q).calls[number_ % 2].lends != 0;
    lent_ = lent_ || lends;
    sent_message next{};
    const auto advance = [&] {
      do {
        std::memcpy(&next, table, sizeof next);
        table += sizeof next;
      } while (next.receiver != rank() && next.receiver != processes());
    };
    for (const message& m : receives_) {
      if (static_cast<std::size_t>(m.process) != q) continue;
      advance();
      if (next.receiver != rank() || next.bytes != m.bytes)
        throw communication_error({"rank ", q, " sent ", next.receiver == rank() ? next.bytes : 0, " bytes to rank ",
                                   rank(), " where ", m.bytes,
                                   " were expected. All processes of a group make the same calls in "
                                   "the same order, with as many elements."});
      if (!lends) {
        copy(m.data, memory_of(q) + next.at, m.bytes);
      } else if (!detail::copy_from_process(lenders_[q], m.data, next.at, m.bytes)) {
        const std::string why = std::generic_category().message(errno);
        if (monitor_ != nullptr) monitor_->explain();
        throw communication_error({"rank ", rank(), " could not copy ", m.bytes, " bytes from the memory of rank ", q,
                                   " (", why, "), which has probably ended."});
      }
    }
  }

  std::shared_ptr<detail::shared_segment> segment_;
  std::size_t portion_;
  std::shared_ptr<group_monitor> monitor_;
  detail::shared_offsets offsets_;
  detail::shared_writer writer_;
  bool oversubscribed_;
  bool broken_ = false;
  std::uint32_t number_ = detail::shared_arrival::no_call;  ///< number of the latest call
  detail::shared_call call_;
  detail::shared_call::call_kind next_distribute_ = detail::shared_call::distribute;  ///< the kind, for messages
  std::size_t received_;  ///< number of processes, including this one, whose data of the latest call is here
  // The data of the present call.
  std::vector<const std::byte*> summands_;
  std::byte* result_ = nullptr;
  std::size_t offset_ = 0, bytes_ = 0;
  std::span<std::byte* const> buffers_;
  std::span<const std::size_t> begins_;
  std::vector<std::size_t> whole_window_;
  std::span<const message> receives_;
  std::vector<std::int64_t> lenders_;  ///< the processes, if each can copy from the memory of all others
  bool lent_ = false;                  ///< whether a process has lent messages of the latest call
};

}  // namespace devplace::parallel
