// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>

namespace devplace::detail {

/// Which columns of a row a thread takes in a step: adjacent ones, or every Group::size-th; `by_length` chooses at run
/// time.
enum class row_steps { by_length, adjacent, strided };

/// The columns of a row, or of a part of a long row, that one thread handles, in steps of `Width`. If the row's length
/// is a multiple of Width, the columns of a step are adjacent and take one access if memory is aligned. Otherwise a
/// step takes every Group::size-th column, because rows then begin at unaligned addresses and adjacent threads should
/// read adjacent elements. So the order of sums depends on the length and the element type, not on addresses.
template <class Group, unsigned Width, row_steps Kind> class row_columns {
 public:
  static constexpr unsigned width = Width;
  static constexpr row_steps kind = Kind;

  /// `length` is the row's, of which `columns` belong to the part.
  DEVPLACE_DEVICE row_columns(const Group& group, std::size_t length, unsigned columns)
      : group_(group),
        adjacent_(Kind == row_steps::by_length ? length % Width == 0 : Kind == row_steps::adjacent),
        first_(adjacent_ ? group.index() * Width : group.index()),
        next_(adjacent_ ? 1 : Group::size),
        left_(columns < first_ ? 0 : columns - first_) {}

  /// Returns column number w of step k.
  DEVPLACE_DEVICE std::size_t at(unsigned k, unsigned w) const { return std::size_t{first_} + after_first(k, w); }
  DEVPLACE_DEVICE bool has(unsigned k, unsigned w = 0) const {
    return after_first(k, Kind == row_steps::adjacent ? 0 : w) < left_;
  }

  /// Returns whether the steps of these rows can be read and written as packs.
  template <class... T> DEVPLACE_DEVICE bool are_packs(const T*... row) const {
    return adjacent_ && (is_aligned<Width>(row) && ...);
  }

  DEVPLACE_DEVICE const auto& thread() const { return group_.thread(); }

 private:
  DEVPLACE_DEVICE unsigned after_first(unsigned k, unsigned w) const { return k * (Group::size * Width) + w * next_; }

  const Group& group_;
  bool adjacent_;
  unsigned first_, next_;
  unsigned left_;  // columns from the first one on
};

/// A thread's elements in `Steps` steps of a row, or of a part of a row that begins at column `begin`, in registers.
template <class T, class Columns, unsigned Steps> class row_part {
  static constexpr unsigned width = Columns::width;

 public:
  using value_type = T;

  DEVPLACE_DEVICE row_part(const Columns& columns, const T* row, std::size_t begin) : columns_(columns), begin_(begin) {
    const auto read_steps = [&](bool packs) {
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < Steps; ++k) values_[k] = columns.has(k) ? read(k, row, packs) : pack<T, width>{};
    };
    const bool packs = columns.are_packs(row);
    // Two loops for long rows, whose loads should follow each other; nvcc does not always make two from one.
    const bool apart = packs && Steps > 1 && Columns::kind == row_steps::adjacent;
    apart ? read_steps(true) : read_steps(packs);
  }

  /// Calls f(column, element, other rows' elements...) for each column.
  template <class F, class... Others> DEVPLACE_DEVICE void each(const F& f, const Others*... others) const {
    const bool packs = columns_.are_packs(others...);
    each_step([&](unsigned k, const pack<T, width>& x) {
      call(
          k, [&](unsigned, std::size_t c, const auto&... elements) { f(c, elements...); }, x,
          read(k, others, packs)...);
    });
  }

  /// Replaces the elements by the results of f(column, element).
  template <class F> DEVPLACE_DEVICE void replace(const F& f) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < Steps; ++k)
      call(k, [&](unsigned w, std::size_t c) { values_[k].value[w] = f(c, values_[k].value[w]); });
  }

  /// Calls f like each(), and writes the results to the row `to`.
  template <class To> DEVPLACE_DEVICE void write(To* to, const auto& f, const auto*... others) const {
    const bool packs = columns_.are_packs(to, others...);
    each_step([&](unsigned k, const pack<T, width>& x) {
      pack<To, width> results;
      if constexpr (sizeof(To) < 4) results = {};  // elements share registers, which would be undefined in part
      call(
          k,
          [&](unsigned w, std::size_t c, const auto&... elements) {
            results.value[w] = static_cast<To>(f(c, elements...));
          },
          x, read(k, others, packs)...);
      if (packs) return columns_.thread().store(to + begin_ + columns_.at(k, 0), results);
      call(k, [&](unsigned w, std::size_t c) { to[c] = results.value[w]; });
    });
  }

  /// Calls f with the only part of a row.
  template <class F> DEVPLACE_DEVICE void each_part(const F& f) { f(*this); }

 private:
  /// Reads step k of a row; columns past the end are 0.
  template <class U> DEVPLACE_DEVICE pack<U, width> read(unsigned k, const U* row, bool packs) const {
    if (packs) return columns_.thread().template load<U, width>(row + begin_ + columns_.at(k, 0));
    pack<U, width> result{};
    call(k, [&](unsigned w, std::size_t c) { result.value[w] = row[c]; });
    return result;
  }

  template <class F> DEVPLACE_DEVICE void each_step(const F& f) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < Steps; ++k)
      if (columns_.has(k)) f(k, values_[k]);
  }

  template <class F, class... U> DEVPLACE_DEVICE void call(unsigned k, const F& f, const pack<U, width>&... x) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < width; ++w)
      if (columns_.has(k, w)) f(w, begin_ + columns_.at(k, w), x.value[w]...);
  }

  Columns columns_;
  std::size_t begin_;
  pack<T, width> values_[Steps];
};

/// A thread's share of a row of any length, which each pass reads part by part. In passes over this row alone, a part
/// is four steps of adjacent columns: a thread begins four loads before it uses the first one's elements. Other parts
/// are one step, which has several loads.
template <class T, class Group> class long_row {
  static constexpr unsigned width = widest_access<T>;
  template <class... Others> static constexpr unsigned steps = sizeof...(Others) == 0 ? 4 : 1;

 public:
  using value_type = T;

  DEVPLACE_DEVICE long_row(const Group& group, const T* row, std::size_t columns)
      : group_(group), row_(row), columns_(columns) {}

  /// Calls f(part) for each part, which has the members each() and write(), too.
  template <class F> DEVPLACE_DEVICE void each_part(const F& f) const { each_part<steps<>>(f); }

  template <class F, class... Others> DEVPLACE_DEVICE void each(const F& f, const Others*... others) const {
    each_part<steps<Others...>>([&](const auto& part) { part.each(f, others...); });
  }
  template <class To, class F, class... Others>
  DEVPLACE_DEVICE void write(To* to, const F& f, const Others*... others) const {
    each_part<steps<Others...>>([&](const auto& part) { part.write(to, f, others...); });
  }

 private:
  template <unsigned Steps, class F> DEVPLACE_DEVICE void each_part(const F& f) const {
    if (columns_ % width == 0)
      each_part<Steps, row_steps::adjacent>(f);
    else
      each_part<1, row_steps::strided>(f);
  }
  template <unsigned Steps, row_steps Kind, class F> DEVPLACE_DEVICE void each_part(const F& f) const {
    using columns = row_columns<Group, width, Kind>;
    constexpr unsigned most = Steps * Group::size * width;
    for (std::size_t begin = 0; begin < columns_; begin += most) {
      const auto count = static_cast<unsigned>(columns_ - begin < most ? columns_ - begin : most);
      f(row_part<T, columns, Steps>(columns(group_, columns_, count), row_, begin));
    }
  }

  const Group& group_;
  const T* row_;
  std::size_t columns_;
};

/// Gives functors of rows access to a thread's share of a row. Rows of at most PerThread * Group::size elements are
/// held in registers and read once; if PerThread is 0, rows have any length and are read in each pass.
template <unsigned PerThread> struct row_access {
  static constexpr bool reads_once = PerThread != 0;

  template <class T, class Group>
  DEVPLACE_DEVICE static auto values(const Group& group, const T* row, std::size_t columns) {
    if constexpr (PerThread == 0) {
      return long_row<T, Group>(group, row, columns);
    } else {
      constexpr unsigned width = PerThread < widest_access<T> ? PerThread : widest_access<T>;
      using share = row_columns<Group, width, row_steps::by_length>;
      return row_part<T, share, PerThread / width>(share(group, columns, static_cast<unsigned>(columns)), row, 0);
    }
  }
};

}  // namespace devplace::detail
