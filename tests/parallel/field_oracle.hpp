// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include <devplace/fields.hpp>
#include <devplace/tensor/copy.hpp>

// Fields in one std::vector, computed by plain loops, and the cells of fields over places.
namespace devplace::test {

/// A grid without parts and ghost rows.
template <class T, std::size_t Rank> struct whole_field {
  std::array<std::size_t, Rank> size{};
  std::vector<T> cells;

  explicit whole_field(const std::array<std::size_t, Rank>& sizes) : size(sizes) {
    std::size_t count = 1;
    for (const std::size_t n : sizes) count *= n;
    cells.resize(count);
  }
  T& at(const std::array<std::size_t, Rank>& index) {
    std::size_t i = 0;
    for (std::size_t axis = 0; axis != Rank; ++axis) i = i * size[axis] + index[axis];
    return cells[i];
  }
  /// A cell or a ghost, by the rules of the edges. The last axis decides about corners.
  T at(std::array<std::ptrdiff_t, Rank> index, const std::array<edge::rule, Rank>& edges) const {
    std::size_t i = 0, step = 1;
    for (std::size_t axis = Rank; axis-- != 0; step *= size[axis]) {
      const auto n = static_cast<std::ptrdiff_t>(size[axis]);
      std::ptrdiff_t& k = index[axis];
      const edge::rule& rule = edges[axis];
      if ((k < 0 || k >= n) && rule.kind == edge::kind::fixed) return static_cast<T>(k < 0 ? rule.low : rule.high);
      if (rule.kind == edge::kind::periodic) k = (k + n) % n;
      if (rule.kind == edge::kind::mirrored) k = k < 0 ? -1 - k : k >= n ? 2 * n - 1 - k : k;
      i += static_cast<std::size_t>(k) * step;
    }
    return cells[i];
  }
  /// Calls f(index) for all cells.
  template <class F> void for_cells(const F& f) const {
    std::array<std::size_t, Rank> index{};
    for (std::size_t i = 0; i != cells.size(); ++i) {
      std::size_t rest = i;
      for (std::size_t axis = Rank; axis-- != 0; rest /= size[axis]) index[axis] = rest % size[axis];
      f(index);
    }
  }
};

/// Relative indices of an oracle's cell, called as those of a neighbourhood.
template <class T, std::size_t Rank> struct oracle_cell {
  const whole_field<T, Rank>& of;
  const std::array<edge::rule, Rank>& edges;
  std::array<std::size_t, Rank> index;
  template <class... By> T operator()(By... by) const {
    std::array<std::ptrdiff_t, Rank> at{by...};
    for (std::size_t axis = 0; axis != Rank; ++axis) at[axis] += static_cast<std::ptrdiff_t>(index[axis]);
    return of.at(at, edges);
  }
};

/// Stores the cells of this process's parts of a field in a whole one. Processes that are threads may do so at once.
template <class Field, class T, std::size_t Rank> void store_parts(const Field& x, whole_field<T, Rank>& to) {
  static std::mutex mutex;
  for (std::size_t k = 0; k != Field::places; ++k) {
    const auto part = devplace::to<cpu>(x.local(k));
    const auto begin = x.begin(k);
    std::array<std::size_t, Rank> size{};
    for (std::size_t axis = 0; axis != Rank; ++axis) size[axis] = part.extent(axis);
    const whole_field<T, Rank> box(size);
    const std::lock_guard lock(mutex);
    std::size_t i = 0;
    box.for_cells([&](std::array<std::size_t, Rank> index) {
      for (std::size_t axis = 0; axis != Rank; ++axis) index[axis] += begin[axis];
      to.at(index) = part.data()[i++];
    });
  }
}

}  // namespace devplace::test
