// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

class transport_alone final : public transport {
 public:
  transport_alone() : transport(process_ranks{}) {}

  std::string description() const override { return "1 process"; }
  std::size_t portion() const noexcept override { return std::size_t{16} << 20; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t>) override {
    for (std::size_t k = 0; k != buffers.size(); ++k) summands_[k] = buffers[k];
    collected_ = {{summands_, buffers.size()}, buffers[0]};
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    for (std::byte* const buffer : buffers)
      if (buffer != part && begins.back() != 0) std::memcpy(buffer, part, begins.back());
  }
  bool poll() override { return true; }
  void wait() override {}
  collected summands() noexcept override { return collected_; }
  void barrier() override {}
  std::shared_ptr<transport> split(int, int) override { return std::shared_ptr<transport>(new transport_alone); }

 private:
  const std::byte* summands_[max_ranks] = {};
  collected collected_{};
};

/// Whether an object can be sent as bytes: it contains no addresses, which have no meaning in another process.
template <class T> inline constexpr bool is_value = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;
template <class T, std::size_t N> inline constexpr bool is_value<std::span<T, N>> = false;
template <class T> inline constexpr bool is_value<std::basic_string_view<T>> = false;

}  // namespace devplace::parallel::detail

namespace devplace {

/// The processes that train together, and this process's rank. A program makes the group in main and opens a
/// process_scope with it, in which models, loaders and trainers on `across<...>` find the group. The group's
/// collectives are for small values on the host, such as a seed, a decision or a metric; all processes call them in the
/// same order, from one thread. They throw communication_error if another process has failed, and in children of
/// fork().
///
/// Move-only; a moved-from group may only be assigned to or destroyed.
class process_group {
 public:
  /// A group of this process alone: rank 0 of 1. Models on `across<on<cpu>>` are then trained as on `on<cpu>`.
  process_group() : transport_(new parallel::detail::transport_alone) {}
  /// A group of the processes that a transport connects (process/transport.hpp).
  explicit process_group(std::shared_ptr<parallel::transport> connected) : transport_(std::move(connected)) {
    if (transport_ == nullptr) throw argument_error("process_group: it was given no transport.");
  }

  /// This process's number, from 0, and the number of processes.
  ///@{
  int rank() const { return valid_transport().ranks().rank; }
  int size() const { return valid_transport().ranks().size; }
  ///@}
  /// The process's rank among the group's processes on this host, and the number of these processes.
  ///@{
  int local_rank() const { return valid_transport().ranks().local_rank; }
  int local_size() const { return valid_transport().ranks().local_size; }
  ///@}
  /// Whether this is rank 0, which prints and writes files for all.
  bool is_main() const { return rank() == 0; }
  /// This process's rank and how the processes are connected, for logs: `rank 1 of 4 processes, by shared memory`.
  std::string description() const { return detail::joined({"rank ", rank(), " of ", valid_transport().description()}); }

  /// Returns when all processes have called it.
  void barrier() const {
    const parallel::announced_call call(valid_transport(), {"barrier", 0, 0});
    valid_transport().barrier();
  }

  /// Gathers the values of all processes, in the order of their ranks.
  template <class T> std::vector<T> all_gather(const T& value) const {
    constexpr bool is_number_or_struct = parallel::detail::is_value<T>;
    static_assert(
        is_number_or_struct,
        "devplace: process_group: all_gather is for numbers and structs of numbers, not for addresses, which "
        "mean nothing in another process; an array is sent by each process in turn: broadcast(std::span(v), rank).");
    const auto processes = static_cast<std::size_t>(size());
    std::vector<T> all(processes, value);
    if (processes * sizeof(T) > valid_transport().portion()) {
      for (int r = 0; r != size(); ++r) all[static_cast<std::size_t>(r)] = broadcast(value, r);
      return all;
    }
    std::vector<std::byte> bytes(processes * sizeof(T));  // std::vector<bool> has no addressable elements
    const parallel::announced_call call(valid_transport(), {"all_gather", 1, sizeof(T)});
    valid_transport().all_gather(&value, sizeof(T), bytes.data());
    for (std::size_t r = 0; r != processes; ++r) {
      T one = value;
      std::memcpy(&one, bytes.data() + r * sizeof(T), sizeof(T));
      all[r] = one;
    }
    return all;
  }

  /// Reduces the numbers of all processes in the order of their ranks; every process gets the result.
  template <class T> T all_reduce(T value, reduction op = reduction::sum) const {
    static_assert(std::is_arithmetic_v<T>,
                  "devplace: process_group: all_reduce combines one number of each process; tensors on across<...> are "
                  "combined by synchronize and trainers.");
    parallel::detail::check_reduction<T>(op);
    const std::vector<T> all = all_gather(value);
    parallel::detail::with_reduction<T>(op, [&]<reduction Op>() {
      using combine = parallel::detail::combine<T, Op>;
      value = all[0];
      for (std::size_t r = 1; r < all.size(); ++r) value = combine::both(value, all[r]);
      value = combine::finish(value, size());
    });
    return value;
  }

  /// The value of process `root`.
  ///@{
  template <class T> T broadcast(T value, int root = 0) const {
    constexpr bool is_number_or_struct = parallel::detail::is_value<T>;
    static_assert(
        is_number_or_struct,
        "devplace: process_group: broadcast is for numbers and structs of numbers, not for addresses, which mean "
        "nothing in another process; the elements of a vector are sent as a span: broadcast(std::span(v)).");
    broadcast(std::span<T>(&value, 1), root);
    return value;
  }
  /// Overwrites `values` by those of process `root`; all processes pass the same number of values.
  template <class T, std::size_t N> void broadcast(std::span<T, N> values, int root = 0) const {
    constexpr bool can_be_overwritten = parallel::detail::is_value<T> && !std::is_const_v<T>;
    static_assert(can_be_overwritten,
                  "devplace: process_group: broadcast overwrites numbers or structs of numbers; give a span of "
                  "elements that are not const.");
    if (root < 0 || root >= size())
      throw argument_error(
          {"process_group: the root of a broadcast is rank ", root, "; give one from 0 to ", size() - 1, "."});
    const parallel::announced_call call(valid_transport(), {"broadcast", values.size(), sizeof(T)});
    auto* bytes = reinterpret_cast<std::byte*>(values.data());
    std::vector<std::size_t> begins(static_cast<std::size_t>(size()) + 1);
    for (std::size_t left = values.size_bytes(); left != 0;) {
      const std::size_t now = left < valid_transport().portion() ? left : valid_transport().portion();
      for (std::size_t r = 0; r != begins.size(); ++r) begins[r] = r > static_cast<std::size_t>(root) ? now : 0;
      valid_transport().distribute(bytes, {&bytes, 1}, {begins.data(), begins.size()});
      bytes += now;
      left -= now;
    }
  }
  ///@}

  /// Makes a group of the processes with the same `color`, ranked by `key` and then by their rank in this group, as
  /// MPI_Comm_split does. All processes of this group call it.
  process_group split(int color, int key = 0) const {
    const parallel::announced_call call(valid_transport(), {"split", 0, 0});
    return process_group(valid_transport().split(color, key));
  }

  /// The transport that connects the processes, for engines.
  const std::shared_ptr<parallel::transport>& transport() const {
    static_cast<void>(valid_transport());
    return transport_;
  }

 private:
  parallel::transport& valid_transport() const {
    if (transport_ == nullptr) throw error("this process_group was moved from; use the variable that it was moved to.");
    return *transport_;
  }

  std::shared_ptr<parallel::transport> transport_;
};

namespace parallel::detail {

/// The transport of this thread's innermost process_scope; null if there is none.
inline std::shared_ptr<transport>& transport_of_scope() {
  thread_local std::shared_ptr<transport> current;
  return current;
}

}  // namespace parallel::detail

/// Loaders and trainers on `across<...>` that this thread makes during the scope use the group, and keep it afterwards.
/// An inner scope, for example of `group.split(color)`, replaces the outer scope until the inner scope ends.
class [[nodiscard]] process_scope {
 public:
  /// Opens the scope, which may outlive the variable `group`.
  explicit process_scope(const process_group& group)
      : outer_(std::exchange(parallel::detail::transport_of_scope(), group.transport())) {}
  process_scope& operator=(process_scope&&) = delete;
  ~process_scope() { parallel::detail::transport_of_scope() = std::move(outer_); }

 private:
  std::shared_ptr<parallel::transport> outer_;
};

/// Whether this process prints and writes files for all: it has rank 0 in this thread's process_scope, or there is no
/// scope.
inline bool is_main_process() {
  const auto& current = parallel::detail::transport_of_scope();
  return current == nullptr || current->ranks().rank == 0;
}

namespace parallel {

/// The group of this thread's innermost process_scope; throws error if there is none. The message names `caller`.
inline process_group current_processes(const char* caller) {
  const auto& current = detail::transport_of_scope();
  if (current == nullptr)
    throw error(std::string(caller) +
                ": its placement lies across processes, and this thread has no process_scope. Make a process_group and "
                "a scope first, in the same thread: process_group processes; process_scope scope{processes};");
  current->require_own(caller);
  return process_group(current);
}

/// This process's participants of a placement across the processes of the scope.
template <placement Where> participants current_participants(const char* caller) {
  const process_group processes = current_processes(caller);
  return {static_cast<std::size_t>(processes.rank()) * local_place_count<Where>,
          participant_count<Where>(static_cast<std::size_t>(processes.size()))};
}

}  // namespace parallel

}  // namespace devplace
