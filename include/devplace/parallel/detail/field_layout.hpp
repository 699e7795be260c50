// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/split.hpp>

namespace devplace::parallel::detail {

template <std::size_t Rank> using per_axis = std::array<std::size_t, Rank>;
template <std::size_t Rank> using strides_of = std::array<std::ptrdiff_t, Rank>;

/// A place's part of a field: consecutive indices along every axis, and ghost rows around them in one row-major array.
template <std::size_t Rank> struct field_part {
  per_axis<Rank> begin{}, size{}, width{};

  std::size_t padded(std::size_t axis) const { return size[axis] + 2 * width[axis]; }
  std::size_t padded_size() const {
    std::size_t count = 1;
    for (std::size_t axis = 0; axis != Rank; ++axis) count *= padded(axis);
    return count;
  }
  strides_of<Rank> strides() const {
    strides_of<Rank> result{};
    std::size_t step = 1;
    for (std::size_t axis = Rank; axis-- != 0; step *= padded(axis)) result[axis] = static_cast<std::ptrdiff_t>(step);
    return result;
  }
  /// Position of the first cell that is no ghost.
  std::ptrdiff_t origin() const {
    const strides_of<Rank> by = strides();
    std::ptrdiff_t result = 0;
    for (std::size_t axis = 0; axis != Rank; ++axis) result += static_cast<std::ptrdiff_t>(width[axis]) * by[axis];
    return result;
  }
};

/// How a field's cells are divided: into `parts[axis]` parts along each axis. The participants are numbered in
/// row-major order of the parts' positions.
template <std::size_t Rank> struct field_layout {
  per_axis<Rank> size{}, parts{}, width{};
  devplace::participants members{};

  per_axis<Rank> position(std::size_t participant) const {
    per_axis<Rank> result{};
    for (std::size_t axis = Rank; axis-- != 0; participant /= parts[axis]) result[axis] = participant % parts[axis];
    return result;
  }
  /// The part of the k-th place of this process.
  field_part<Rank> part(std::size_t k) const {
    field_part<Rank> result{{}, {}, width};
    const auto at = position(members.first + k);
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      const auto begin = [&](std::size_t p) {
        return devplace::detail::split_begin(split::even, size[axis], parts[axis], p);
      };
      result.begin[axis] = begin(at[axis]);
      result.size[axis] = begin(at[axis] + 1) - result.begin[axis];
    }
    return result;
  }
  /// The participant before or after another one along an axis, around the ends. With one part, itself.
  std::size_t neighbour(std::size_t participant, std::size_t axis, bool after) const {
    auto at = position(participant);
    at[axis] = (at[axis] + (after ? 1 : parts[axis] - 1)) % parts[axis];
    std::size_t result = 0;
    for (std::size_t a = 0; a != Rank; ++a) result = result * parts[a] + at[a];
    return result;
  }
  /// Whether the k-th place's part ends at the field's edge, before its first or after its last index.
  bool at_edge(std::size_t k, std::size_t axis, bool after) const {
    return position(members.first + k)[axis] == (after ? parts[axis] - 1 : 0);
  }
  /// Whether any neighbours along an axis are in different processes, each of which has `places` participants.
  bool crosses_processes(std::size_t axis, std::size_t places) const {
    for (std::size_t p = 0; p != members.count; ++p)
      if (p / places != neighbour(p, axis, true) / places) return true;
    return false;
  }
  /// Largest number of ghost cells on one side of an axis, of all participants.
  std::size_t largest_layer(std::size_t axis) const {
    std::size_t count = width[axis];
    for (std::size_t a = 0; a != Rank; ++a)
      if (a != axis) count *= (size[a] + parts[a] - 1) / parts[a] + 2 * width[a];
    return count;
  }

  /// Throws argument_error if a part has fewer rows than its neighbour's ghost rows.
  void check() const {
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      const std::size_t smallest = size[axis] / parts[axis];
      if (smallest < width[axis])
        throw argument_error(
            {"field: axis ", axis, " has ", size[axis], " indices in ", parts[axis],
             parts[axis] == 1 ? " part" : " parts", ", and its halo is ", width[axis],
             " wide; each part needs at least that many indices: use fewer places, a larger field or a "
             "narrower halo."});
    }
  }

  friend bool operator==(const field_layout& a, const field_layout& b) {
    return a.size == b.size && a.parts == b.parts && a.members == b.members;
  }
};

/// The offset of a cell.
template <std::size_t Rank>
DEVPLACE_HD constexpr std::ptrdiff_t offset_of(const std::size_t* index, const std::ptrdiff_t (&strides)[Rank]) {
  std::ptrdiff_t result = 0;
  for (std::size_t axis = 0; axis != Rank; ++axis) result += static_cast<std::ptrdiff_t>(index[axis]) * strides[axis];
  return result;
}

}  // namespace devplace::parallel::detail
