// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/hash.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/process/detail/mpi_messages.hpp>
#include <devplace/process/mpi_calls.hpp>
#include <devplace/process/shared_memory_transport.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// Connects the processes of an MPI communicator by point-to-point messages. The caller computes sums, in the order of
/// the ranks.
class mpi_transport final : public transport {
 public:
  /// Makes a transport that owns the communicator `handle`. All processes of `handle` call this function; it throws in
  /// all of them or in none. `watch(ranks)` makes the monitor, or returns null; all processes call `watch` together.
  template <class Watch> static std::shared_ptr<mpi_transport> connect(MPI_Comm handle, const Watch& watch) {
    mpi_communicator communicator(handle);
    check_mpi("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN));
    std::shared_ptr<mpi_transport> connected;
    std::exception_ptr failure;
    try {
      const mpi_position position = find_mpi_position(handle);
      connected = std::make_shared<mpi_transport>(communicator, position);
      connected->watch(watch(position.ranks));
    } catch (...) {
      failure = std::current_exception();
    }
    int any_failed = failure != nullptr;
    check_mpi("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &any_failed, 1, MPI_INT, MPI_MAX, handle));
    if (any_failed == 0) return connected;
    connected.reset();  // frees the communicator in all processes
    if (failure != nullptr) std::rethrow_exception(failure);
    throw communication_error("another process could not connect to the group; its own error says why.");
  }

  /// Takes ownership of the communicator; connect() has checked it.
  mpi_transport(mpi_communicator& communicator, const mpi_position& position)
      : transport(position.ranks), messages_(position.oversubscribed) {
    communicator_ = std::move(communicator);
  }
  /// Frees the communicator, as all processes must do together. After a failure this process cannot know whether the
  /// others free the communicator, so the communicator is left to MPI_Finalize. A child of fork() frees nothing.
  ~mpi_transport() override {
    if (failed() || inherited() || std::uncaught_exceptions() != 0) communicator_.leave_to_mpi();
  }

  std::string description() const override {
    return devplace::detail::joined({size(), size() == 1 ? " process" : " processes", ", by MPI (", library_, ")"});
  }
  // Smaller portions wait more often, larger ones need more memory; measured by all_reduce_mpi_bench.
  std::size_t portion() const noexcept override { return std::size_t{16} << 20; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    start_call(call_kind::collect, begins, [&] { start_exchange(buffers, begins.data(), 1); });
  }

  std::size_t most_everywhere() const noexcept override { return small_mpi_messages / (processes() * processes()); }
  void start_collect_everywhere(std::span<std::byte* const> buffers, std::size_t bytes) override {
    const std::size_t whole[] = {0, bytes};
    start_call(call_kind::everywhere, whole, [&] { start_exchange(buffers, whole, 0); });
  }

  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    const std::size_t bytes = begins[rank() + 1] - begins[rank()];
    start_call(call_kind::distribute, begins, [&] {
      for (std::size_t from = 0; from != processes(); ++from)
        if (from != rank())
          messages_.receive(communicator_.get(), tag_, static_cast<int>(from), buffers[0] + begins[from],
                            begins[from + 1] - begins[from]);
      for (std::size_t to = after(rank()); to != rank(); to = after(to))
        messages_.send(communicator_.get(), tag_, static_cast<int>(to), part, bytes);
    });
    part_ = part;
    buffers_ = buffers;
    begins_ = begins;
  }

  void start_messages(std::span<const message> sends, std::span<const message> receives) override {
    start_call(call_kind::messages, {}, [&] {
      for (const message& m : receives) messages_.receive(communicator_.get(), tag_, m.process, m.data, m.bytes);
      for (const message& m : sends) messages_.send(communicator_.get(), tag_, m.process, m.data, m.bytes);
    });
  }

  /// Returns shared memory for a few processes of one host, between which MPI's messages take longer
  /// (exchange_mpi_bench); null in a group without a monitor, because a process that waits for shared memory cannot
  /// detect that another process waits in a call of MPI.
  std::shared_ptr<transport> for_messages() override {
    const bool few = ranks().local_size == size() && size() > 1 && size() <= most_by_memory;
    if (!few || monitor_ == nullptr || std::exchange(asked_for_memory_, true)) return by_memory_;
    const announced_call call(*this, {"exchange", 0, 1});
    try {
      by_memory_ = shared_memory_transport::connect(
          ranks(), [&](const void* own, std::size_t bytes, void* all) { all_gather(own, bytes, all); }, monitor_);
    } catch (const communication_error&) {
      if (failed_) throw;  // otherwise the processes cannot share memory, as they all have found
    } catch (...) {
      failed_ = true;  // the others wait for this process
      throw;
    }
    return by_memory_;
  }

  bool poll() override {
    bool arrived = false;
    fail_on_exception([&] { arrived = messages_.progress(monitor()); });
    if (arrived) end();
    return arrived;
  }
  void wait() override {
    fail_on_exception([&] { messages_.wait(monitor()); });
    end();
  }
  collected summands() noexcept override { return {summands_, result_}; }
  void give_up() noexcept override {
    if (!open_) return;
    failed_ = true;
    drop_messages();
  }

  void barrier() override {
    call_mpi("MPI_Ibarrier", [](MPI_Comm in, MPI_Request* request) { return MPI_Ibarrier(in, request); });
  }

  /// Starts a collective of MPI by `start(communicator, &request)`, which calls MPI's function `name`. All processes
  /// start the same collectives in the same order.
  template <class Start> void start_mpi(const char* name, const Start& start) {
    start_call(call_kind::collective, {}, [&] {
      messages_.start_collective(name, [&](MPI_Request* request) { return start(communicator_.get(), request); });
    });
  }
  void progress_mpi() {
    start_call(call_kind::collective, {}, [&] { messages_.progress(monitor()); });
  }
  void finish_mpi() {
    start_call(call_kind::collective, {}, [&] { messages_.wait(monitor()); });
  }
  /// Starts a collective of MPI and returns when all started collectives have ended.
  template <class Start> void call_mpi(const char* name, const Start& start) {
    start_mpi(name, start);
    finish_mpi();
  }
  /// Makes the transport unusable, after an exception during started collectives. MPI cannot cancel them, so they may
  /// still read and write the buffers when the program calls MPI.
  void abandon_mpi() noexcept {
    failed_ = true;
    messages_.abandon();
  }

  /// Exchanges the arguments first, so that all processes have arrived before MPI_Comm_split, which cannot be
  /// interrupted. MPI takes no colors below 0: the rank of the part's first member replaces the color.
  std::shared_ptr<transport> split(int color, int key) override {
    const std::vector<int> members = members_of_part(*this, color, key);
    std::shared_ptr<mpi_transport> part;
    start_call(call_kind::collective, {}, [&] {
      MPI_Comm of_part = MPI_COMM_NULL;
      check_mpi("MPI_Comm_split", MPI_Comm_split(communicator_.get(), members[0], key, &of_part));
      part = connect(of_part,
                     [&](const process_ranks&) { return monitor_ == nullptr ? nullptr : monitor_->part(members); });
    });
    return part;
  }

  MPI_Comm communicator() const noexcept { return communicator_.get(); }

  group_monitor* monitor() noexcept override { return monitor_.get(); }
  void watch(std::shared_ptr<group_monitor> by) noexcept { monitor_ = std::move(by); }

 private:
  /// Maximum number of processes that exchange by shared memory: every exchange waits for all of them, and MPI's only
  /// for neighbours.
  static constexpr int most_by_memory = 8;

  bool failed() const noexcept { return failed_ || (by_memory_ != nullptr && by_memory_->failed()); }
  std::size_t processes() const { return static_cast<std::size_t>(size()); }
  std::size_t rank() const { return static_cast<std::size_t>(ranks().rank); }
  std::size_t after(std::size_t rank) const { return rank + 1 == processes() ? 0 : rank + 1; }

  void reserve(std::size_t bytes) {
    if (received_.bytes() >= bytes) return;
    received_ = {};
    received_ = devplace::detail::allocate<backend::cpu>(0, bytes, memory_purpose::workspace);
  }

  /// Never frees a block that MPI may still write to.
  static void leak(devplace::detail::memory_block&& block) {
    static auto* const kept = new std::vector<devplace::detail::memory_block>;
    kept->push_back(std::move(block));
  }

  /// Sends the bytes [begins[r * stride], begins[r * stride + 1]) of the buffers to process r, and receives this
  /// process's bytes from all other processes.
  void start_exchange(std::span<std::byte* const> buffers, const std::size_t* begins, std::size_t stride) {
    const auto begin = [&](std::size_t r) { return begins[r * stride]; };
    const auto size = [&](std::size_t r) { return begins[r * stride + 1] - begins[r * stride]; };
    const std::size_t slot = devplace::detail::aligned(size(rank()));
    reserve((processes() - 1) * buffers.size() * slot);
    auto* received = static_cast<std::byte*>(received_.data());
    summands_.clear();
    for (std::size_t from = 0; from != processes(); ++from)
      for (std::byte* const buffer : buffers) {
        summands_.push_back(from == rank() ? buffer + begin(rank()) : received);
        if (from == rank()) continue;
        messages_.receive(communicator_.get(), tag_, static_cast<int>(from), received, size(rank()));
        received += slot;
      }
    for (std::size_t to = after(rank()); to != rank(); to = after(to))
      for (const std::byte* const buffer : buffers)
        messages_.send(communicator_.get(), tag_, static_cast<int>(to), buffer + begin(to), size(to));
    result_ = buffers[0] + begin(rank());
  }

  enum class call_kind : std::size_t { collect = 1, distribute = 2, everywhere = 3, messages = 4, collective = 5 };

  /// Chooses a tag from 0 to 32767, the range that every MPI supports. With a monitor the tag depends on the call and
  /// its boundaries, so that messages of different calls do not match: the monitor then names the process that makes
  /// another call. If the messages matched, MPICH would end the program at a message that is too long.
  void choose_tag(call_kind kind, std::span<const std::size_t> begins) noexcept {
    if (kind == call_kind::collective)
      return;  // collectives have no tag, and each process may poll them a different number of times
    std::uint64_t number = ++calls_;
    if (monitor_ != nullptr) {
      number += static_cast<std::size_t>(kind);
      for (const std::size_t begin : begins) devplace::detail::add_to_hash(number, begin);
      number >>= 40;
    }
    tag_ = static_cast<int>(number % 32768);
  }

  /// Checks that a call can be made and calls f(), which starts it. The transport is unusable if f() throws.
  template <class F> void start_call(call_kind kind, std::span<const std::size_t> begins, const F& f) {
    check_mpi_runs("process_group");
    for (std::size_t r = 1; r < begins.size(); ++r)
      if (begins[r] - begins[r - 1] > INT_MAX)
        throw argument_error({"process_group: a process's part has ", begins[r] - begins[r - 1],
                              " bytes, and MPI counts to ", INT_MAX, ". Pass at most portion() bytes to each call."});
    if (failed())
      throw communication_error(
          "process_group: an earlier collective call of this group failed in this process, so the others wait in "
          "another call. End the program.");
    const bool exchanging = by_memory_ != nullptr && by_memory_->open();
    if (open_ || exchanging || (kind != call_kind::collective && !messages_.empty()))
      throw error(
          "process_group: another call was made before the started call has ended. End the started call first, by "
          "wait() or a poll() that returns true.");
    choose_tag(kind, begins);
    fail_on_exception(f);
    open_ = kind != call_kind::collective;
  }
  template <class F> void fail_on_exception(const F& f) {
    try {
      f();
    } catch (...) {
      failed_ = true;
      drop_messages();
      throw;
    }
  }
  void drop_messages() noexcept {
    open_ = false;
    if (!messages_.abandon()) leak(std::move(received_));
  }

  /// Completes a call whose messages have arrived. For distribute(), copies the parts of all processes to every buffer.
  void end() {
    open_ = false;
    const std::span<std::byte* const> buffers = std::exchange(buffers_, {});
    if (buffers.empty() || begins_.back() == 0) return;
    const std::size_t own = begins_[rank()], bytes = begins_[rank() + 1] - own;
    if (bytes != 0 && part_ != buffers[0] + own) std::memcpy(buffers[0] + own, part_, bytes);
    for (std::byte* const buffer : buffers.subspan(1)) std::memcpy(buffer, buffers[0], begins_.back());
  }

  mpi_communicator communicator_;
  std::string library_ = mpi_library();
  std::shared_ptr<group_monitor> monitor_;
  bool asked_for_memory_ = false;
  std::shared_ptr<shared_memory_transport> by_memory_;
  bool failed_ = false;
  bool open_ = false;  ///< whether a started call has not ended
  std::size_t calls_ = 0;
  int tag_ = 0;
  mpi_messages messages_;
  devplace::detail::memory_block received_;
  std::vector<const std::byte*> summands_;
  std::byte* result_ = nullptr;
  // The arguments of a call that distributes.
  const std::byte* part_ = nullptr;
  std::span<std::byte* const> buffers_;
  std::span<const std::size_t> begins_;
};

}  // namespace devplace::parallel::detail
