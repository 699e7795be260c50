// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/pack.hpp>

namespace devplace::detail {

/// The columns of a row that one thread handles, in steps of `Width`. If the row's length is a multiple of Width, the
/// columns of a step are adjacent and take one access if memory is aligned. Otherwise a step takes every Group::size-th
/// column, because rows then begin at unaligned addresses and adjacent threads should read adjacent elements. So the
/// order of sums depends on the length and the element type, not on addresses.
///
/// `Index` is unsigned where the length is known to be small.
template <class Group, unsigned Width, class Index> class row_columns {
 public:
  DEVPLACE_DEVICE row_columns(const Group& group, std::size_t columns)
      : group_(group),
        neighbours_(columns % Width == 0),
        first_(neighbours_ ? group.index() * Width : group.index()),
        next_(neighbours_ ? 1 : Group::size),
        left_(static_cast<Index>(columns < first_ ? 0 : columns - first_)) {}

  /// Returns column number w of step k.
  DEVPLACE_DEVICE std::size_t at(Index k, unsigned w) const { return first_ + after_first(k, w); }
  DEVPLACE_DEVICE bool has(Index k, unsigned w = 0) const { return after_first(k, w) < left_; }

  /// Returns whether the steps of these rows can be read and written as packs.
  template <class... T> DEVPLACE_DEVICE bool are_packs(const T*... row) const {
    return neighbours_ && (is_aligned<Width>(row) && ...);
  }

  /// Reads step k, which must exist, of a row; columns past the end are 0.
  template <class T> DEVPLACE_DEVICE pack<T, Width> read(Index k, const T* row, bool packs) const {
    if (packs) return group_.thread().template load<T, Width>(row + at(k, 0));
    pack<T, Width> result;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < Width; ++w) result.value[w] = has(k, w) ? row[at(k, w)] : T{};
    return result;
  }
  template <class T> DEVPLACE_DEVICE void write(Index k, T* row, bool packs, const pack<T, Width>& elements) const {
    if (packs) return group_.thread().store(row + at(k, 0), elements);
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < Width; ++w)
      if (has(k, w)) row[at(k, w)] = elements.value[w];
  }

 private:
  DEVPLACE_DEVICE Index after_first(Index k, unsigned w) const { return k * (Group::size * Width) + w * next_; }

  const Group& group_;
  bool neighbours_;
  unsigned first_, next_;
  Index left_;  // columns from the first one on
};

/// A thread's share of a row. The row has at most PerThread * Group::size elements, held in registers, so it is read
/// once. If PerThread is 0, the row may have any length and is read in each pass.
template <class T, class Group, unsigned PerThread> class row_values {
  static constexpr unsigned width = PerThread != 0 && PerThread < widest_access<T> ? PerThread : widest_access<T>;
  static constexpr unsigned steps = PerThread / width;
  using index = std::conditional_t<PerThread == 0, std::size_t, unsigned>;

 public:
  DEVPLACE_DEVICE row_values(const Group& group, const T* row, std::size_t columns)
      : columns_(group, columns), row_(row), packs_(columns_.are_packs(row)) {
    if constexpr (PerThread != 0) {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < steps; ++k)
        if (columns_.has(k)) values_[k] = columns_.read(k, row, packs_);
    }
  }

  /// Calls f(column, element, other rows' elements...) for each of the thread's columns.
  template <class F, class... Others> DEVPLACE_DEVICE void each(const F& f, const Others*... others) const {
    const bool packs = columns_.are_packs(others...);
    each_step([&](index k, const pack<T, width>& x) {
      call(
          k, [&](unsigned, std::size_t c, const auto&... elements) { f(c, elements...); }, x,
          columns_.read(k, others, packs)...);
    });
  }

  /// Calls f like each(), and writes the results to the row `to`.
  template <class To, class F, class... Others>
  DEVPLACE_DEVICE void write(To* to, const F& f, const Others*... others) const {
    const bool packs = columns_.are_packs(to, others...);
    each_step([&](index k, const pack<T, width>& x) {
      pack<To, width> results;
      call(
          k,
          [&](unsigned w, std::size_t c, const auto&... elements) {
            results.value[w] = static_cast<To>(f(c, elements...));
          },
          x, columns_.read(k, others, packs)...);
      columns_.write(k, to, packs, results);
    });
  }

 private:
  template <class F> DEVPLACE_DEVICE void each_step(const F& f) const {
    if constexpr (PerThread != 0) {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < steps; ++k)
        if (columns_.has(k)) f(k, values_[k]);
    } else {
      for (index k = 0; columns_.has(k); ++k) f(k, columns_.read(k, row_, packs_));
    }
  }

  template <class F, class... Packs> DEVPLACE_DEVICE void call(index k, const F& f, const Packs&... x) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w)
      if (columns_.has(k, w)) f(w, columns_.at(k, w), x.value[w]...);
  }

  row_columns<Group, width, index> columns_;
  const T* row_;
  bool packs_;
  pack<T, width> values_[steps == 0 ? 1 : steps];
};

/// Gives functors of rows access to a row; with 0 elements per thread, rows may have any length.
template <unsigned PerThread> struct row_access {
  template <class T, class Group>
  DEVPLACE_DEVICE static row_values<T, Group, PerThread> values(const Group& group, const T* row, std::size_t columns) {
    return {group, row, columns};
  }
};

}  // namespace devplace::detail
