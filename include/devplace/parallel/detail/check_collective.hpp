// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <devplace/base/error.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// The base class of communicators with equally many participants in each process. Checks the arguments of collectives;
/// all checks throw argument_error.
class participants {
 public:
  /// The numbers of participants in all processes and in this process, and this process's first rank.
  int size() const { return processes_ * local_; }
  int first_rank() const { return process_ * local_; }
  int local_count() const { return local_; }

 protected:
  participants(const process_ranks& processes, std::size_t local)
      : processes_(processes.size), process_(processes.rank), local_(static_cast<int>(local)) {}

  int processes() const { return processes_; }
  int process() const { return process_; }
  int process_of(int rank) const { return rank / local_; }
  bool is_here(int rank) const { return process_of(rank) == process_; }
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  /// Checks arguments of a collective, in this order.
  template <class... X> void check(const X&... arguments) const { (check_one(arguments), ...); }

 private:
  void check_one(std::size_t buffers) const {
    if (buffers != index(local_))
      throw argument_error(
          {"collective: ", buffers, " buffers were given for ", local_, " places of this process; give one for each."});
  }
  void check_one(std::span<const std::size_t> begins) const {
    if (begins.size() != index(size()) + 1 || !std::is_sorted(begins.begin(), begins.end()))
      throw argument_error(
          "collective: the boundaries of the parts must be ascending numbers, one more than there are participants in "
          "all processes; the part of rank r is [begins[r], begins[r + 1]).");
  }
  void check_one(int root) const {
    if (root < 0 || root >= size())
      throw argument_error({"collective: the root is rank ", root, "; give one from 0 to ", size() - 1, "."});
  }

  int processes_, process_, local_;
};

/// Requires 1 to max_ranks devices. The message begins with `owner`.
inline void check_devices(std::size_t devices, const std::string& owner) {
  if (devices == 0 || devices > max_ranks)
    throw argument_error({owner, " was given ", devices, " devices; it takes 1 to ", max_ranks, "."});
}

/// Throws unless mark_ready() was called for each participant of this process before a collective is started.
inline void check_marked(bool marked) {
  if (!marked)
    throw argument_error(
        "communicator: a collective was started before mark_ready(k) was called for every participant of this "
        "process; each start uses up one mark of every participant.");
}

/// Throws if the workspace is too small for the collective that is being started.
inline void check_prepared(bool prepared) {
  if (!prepared)
    throw argument_error(
        "communicator: a started collective needs more workspace than prepare(count, element_bytes) has allocated; "
        "call prepare with the largest number of elements before the first start.");
}

}  // namespace devplace::parallel::detail
