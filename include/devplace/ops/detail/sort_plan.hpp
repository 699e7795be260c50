// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, plan)`, a detail::sort_plan: the order of the elements of each row.
struct sort {};

}  // namespace op

namespace detail {

/// Unsigned numbers in the order of the elements: as many bits, at least 32, because that is what devices sort well.
template <element T>
using sort_key_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Bits of the keys that differ between elements.
template <element T>
inline constexpr int sort_key_bits = static_cast<int>(8 * sizeof(T));

/// The one definition of the order, for every backend: keys compare as the elements do, -0 as 0, every NaN alike and
/// above all numbers.
template <element T>
DEVPLACE_HD constexpr sort_key_t<T> sort_key(T x, bool descending) {
  using key = sort_key_t<T>;
  constexpr key top = key{1} << (sort_key_bits<T> - 1), all = top | (top - 1);
  key result{};
  if constexpr (floating_element<T>) {
    if (x != x) {
      result = all;
    } else {
      const key bits = x == 0 ? key{0} : __builtin_bit_cast(key, x);
      result = (bits & top) != 0 ? static_cast<key>(~bits) : bits | top;
    }
  } else if constexpr (std::is_signed_v<T>) {
    result = static_cast<key>(x) ^ top;
  } else {
    result = x;
  }
  return descending ? result ^ all : result;
}

/// Sorts each row of x, stably: order[row * columns + j] becomes the index in x of what comes j-th in its row. Only
/// the first `kept` of a row are needed; the rest of its order may be anything.
template <element T>
struct sort_plan {
  const T* x;
  std::size_t rows;
  std::size_t columns;
  std::size_t kept;
  bool descending;
  std::int64_t* order;
};

/// What a sort returns for its order: the elements, their positions in the row, or both. `positions` may be `order`
/// where whole rows are kept.
template <element T>
struct take_sorted {
  const T* x;
  const std::int64_t* order;
  std::size_t columns;
  std::size_t kept;
  T* values;                ///< null where they are not wanted
  std::int64_t* positions;  ///< the same

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t first = i / kept * columns;
    const std::int64_t from = order[first + i % kept];
    if (values != nullptr) values[i] = x[from];
    if (positions != nullptr) positions[i] = from - static_cast<std::int64_t>(first);
  }
};

}  // namespace detail
}  // namespace devplace
