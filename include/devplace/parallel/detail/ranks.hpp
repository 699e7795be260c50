// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <devplace/memory/event.hpp>
#include <devplace/parallel/detail/combine.hpp>
#include <devplace/place/detail/parallel_for.hpp>
#include <devplace/place/error.hpp>

namespace devplace::parallel::detail {

/// The devices of this process that an engine uses, with an event for each and the synchronisation between them.
template <class Backend>
class rank_devices {
 public:
  rank_devices(std::span<const int> ordinals) : ordinals_(ordinals.begin(), ordinals.end()) {
    if (ordinals.empty() || ordinals.size() > max_ranks)
      throw argument_error("a communicator was given " + std::to_string(ordinals.size()) + " devices; it takes 1 to " +
                           std::to_string(max_ranks) + ".");
    for (const int ordinal : ordinals_)
      events_.push_back(devplace::detail::make_event<Backend>(ordinal));
  }

  int size() const { return static_cast<int>(ordinals_.size()); }
  int ordinal(int rank) const { return ordinals_[index(rank)]; }

  /// Records each rank's event.
  void mark() {
    for (int rank = 0; rank != size(); ++rank)
      mark(rank);
  }
  void mark(int rank) { devplace::detail::record_event<Backend>(events_[index(rank)]); }
  /// Orders rank `rank` after the last mark of rank `other`.
  void follow(int rank, int other) {
    if (rank != other) devplace::detail::follow_event<Backend>(ordinal(rank), events_[index(other)]);
  }
  /// A barrier between the ranks' devices. With many ranks the first one waits for all and then all wait for it, which
  /// needs a number of calls linear in the number of ranks instead of quadratic.
  void fence() {
    mark();
    if (size() <= 3) {
      for (int rank = 0; rank != size(); ++rank)
        for (int other = 0; other != size(); ++other)
          follow(rank, other);
      return;
    }
    for (int rank = 1; rank != size(); ++rank)
      follow(0, rank);
    mark(0);
    for (int rank = 1; rank != size(); ++rank)
      follow(rank, 0);
  }

  template <class T>
  rank_table<T> table(std::span<T* const> buffers) const {
    check(buffers.size());
    rank_table<T> result{};
    result.ranks = size();
    for (std::size_t k = 0; k != buffers.size(); ++k)
      result.of[k] = buffers[k];
    return result;
  }

  void check(std::size_t buffers) const {
    if (buffers != ordinals_.size())
      throw argument_error("collective: " + std::to_string(buffers) + " buffers were given for " +
                           std::to_string(ordinals_.size()) + " places; give one for each.");
  }
  void check(std::span<const std::size_t> begins) const {
    bool ascending = begins.size() == ordinals_.size() + 1;
    for (std::size_t k = 1; ascending && k != begins.size(); ++k)
      ascending = begins[k - 1] <= begins[k];
    if (!ascending)
      throw argument_error(
          "collective: the boundaries of the parts must be ascending, one more than there are places.");
  }
  void check_root(int root) const {
    if (root < 0 || root >= size())
      throw argument_error("collective: there is no place number " + std::to_string(root) + " among " +
                           std::to_string(size()) + ", counted from 0.");
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<int> ordinals_;
  std::vector<devplace::detail::event_handle> events_;
};

/// Part `part` of `count` elements divided into `parts`, as [first, last): sizes differ by at most `unit` elements.
struct element_range {
  std::size_t first;
  std::size_t last;
  std::size_t size() const { return last - first; }
};
inline element_range part_of(std::size_t count, int parts, int part, std::size_t unit) {
  const auto begin = [&](int k) {
    const std::size_t units = (count + unit - 1) / unit;
    const std::size_t at =
        devplace::detail::part_begin(units, static_cast<std::size_t>(parts), static_cast<std::size_t>(k)) * unit;
    return at < count ? at : count;
  };
  return {begin(part), begin(part + 1)};
}
/// Part `part` of elements that are divided at given boundaries.
inline element_range part(std::span<const std::size_t> begins, int part) {
  return {begins[static_cast<std::size_t>(part)], begins[static_cast<std::size_t>(part) + 1]};
}

}  // namespace devplace::parallel::detail
