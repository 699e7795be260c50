// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::op {

/// `run(ordinal, plan)`, a detail::sort_plan: the order of the elements of each row.
struct sort {};

}  // namespace devplace::op

namespace devplace::detail {

/// Unsigned keys that compare as the elements do: as wide as the elements, but at least 32 bits, which devices sort
/// efficiently.
template <element T> using sort_key_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <element T> inline constexpr int sort_key_bits = static_cast<int>(8 * sizeof(T));

/// The order of all sorts on every backend: keys compare as the elements do; -0 equals 0; all NaN are equal and greater
/// than all numbers.
template <element T> DEVPLACE_HD constexpr sort_key_t<T> sort_key(T x, bool descending) {
  using key = sort_key_t<T>;
  constexpr key top = key{1} << (sort_key_bits<T> - 1), all = top | (top - 1);
  key result{};
  if constexpr (!std::is_integral_v<T>) {
    if (x != x) {
      result = all;
    } else {
      key bits{};
      if constexpr (storage_element<T>)
        bits = x.bits();
      else
        bits = __builtin_bit_cast(key, x);
      if (x == 0) bits = 0;
      result = (bits & top) != 0 ? ~bits & all : bits | top;
    }
  } else if constexpr (std::is_signed_v<T>) {
    result = static_cast<key>(x) ^ top;
  } else {
    result = x;
  }
  return descending ? result ^ all : result;
}

/// Sorts each row of x stably: order[row * columns + j] becomes the index in x of the row's j-th element after sorting.
/// Only the first `kept` entries of each row are needed; the other entries are unspecified.
template <element T> struct sort_plan {
  const T* x;
  std::size_t rows;
  std::size_t columns;
  std::size_t kept;
  bool descending;
  std::int64_t* order;
};

/// Extracts the results of a sort from `order`: the elements, their positions in the row, or both. The results are
/// row-major, outer x kept x inner; a row lies along `kept`. `positions` may be `order` if whole rows are kept and
/// inner is 1.
template <element T> struct take_sorted {
  const T* x;
  const std::int64_t* order;
  std::size_t columns;
  std::size_t kept;
  std::size_t inner;
  T* values;                ///< null if not wanted
  std::int64_t* positions;  ///< null if not wanted

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t tile = i / inner, row = tile / kept * inner + i % inner, first = row * columns;
    const std::int64_t from = order[first + tile % kept];
    if (values != nullptr) values[i] = x[from];
    if (positions != nullptr) positions[i] = from - static_cast<std::int64_t>(first);
  }
};

}  // namespace devplace::detail
