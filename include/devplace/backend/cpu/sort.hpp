// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/sort_plan.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

__extension__ typedef unsigned __int128 wide_sort_item;

/// Sorts rows as numbers, items, that have an element's key in their upper half and its position in the lower one, so
/// that equal elements keep their order.
template <class T, class Item> struct row_sort {
  static constexpr std::size_t half = 4 * sizeof(Item), digit = 11, digits = std::size_t{1} << digit;
  static constexpr std::size_t passes = divided_up(8 * sizeof(T), digit);
  static constexpr bool fits_order = sizeof(Item) == sizeof(std::int64_t);

  const sort_plan<T>& plan;

  /// Sorting by digits takes longer if the elements are few, or if few of the sorted elements are needed.
  bool by_digits() const { return plan.columns >= 256 && plan.kept >= plan.columns / 16; }

  void rows(std::size_t first, std::size_t last) const {
    const std::size_t needed = by_digits() ? 2 : 1, buffers = fits_order ? needed - 1 : needed;
    const memory_block memory =
        allocate<backend::cpu>(0, buffers * plan.columns * sizeof(Item), memory_purpose::workspace);
    for (std::size_t row = first; row != last; ++row) {
      std::int64_t* const order = plan.order + row * plan.columns;
      auto* const scratch = static_cast<Item*>(memory.data());
      Item* other;
      if constexpr (fits_order)
        other = reinterpret_cast<Item*>(order);
      else
        other = scratch + plan.columns;
      if (by_digits())
        sort_digits(row * plan.columns, order, scratch, other);
      else
        compare(row * plan.columns, order, fits_order ? other : scratch);
    }
  }

 private:
  Item item(std::size_t begin, std::size_t i) const {
    return Item{sort_key(plan.x[begin + i], plan.descending)} << half | Item{i};
  }
  static std::int64_t index(std::size_t begin, Item item) {
    return static_cast<std::int64_t>(begin + static_cast<std::size_t>(item & ((Item{1} << half) - 1)));
  }

  void compare(std::size_t begin, std::int64_t* order, Item* items) const {
    for (std::size_t i = 0; i < plan.columns; ++i) items[i] = item(begin, i);
    if (plan.columns > plan.kept)  // nvcc would take `kept <` for a template of that name in the program
      std::partial_sort(items, items + plan.kept, items + plan.columns);
    else
      std::sort(items, items + plan.columns);
    for (std::size_t i = 0; i < plan.kept; ++i) order[i] = index(begin, items[i]);
  }

  /// Sorts by each digit of the keys, the lowest first. The first pass reads the elements and the last one writes their
  /// order; the passes between them move items from one buffer to the other. `other` may be `order`.
  void sort_digits(std::size_t begin, std::int64_t* order, Item* scratch, Item* other) const {
    std::size_t ends[passes][digits] = {};
    const auto digit_of = [](Item item, std::size_t pass) {
      return static_cast<std::size_t>(item >> (half + pass * digit)) & (digits - 1);
    };
    for (std::size_t i = 0; i < plan.columns; ++i) {
      const Item of = item(begin, i);
      for (std::size_t pass = 0; pass < passes; ++pass) ++ends[pass][digit_of(of, pass)];
    }
    Item* from = passes % 2 == 0 ? other : scratch;
    Item* to = passes % 2 == 0 ? scratch : other;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::size_t next = 0;
      for (std::size_t& end : ends[pass]) next += std::exchange(end, next);
      for (std::size_t i = 0; i < plan.columns; ++i) {
        const Item of = pass == 0 ? item(begin, i) : from[i];
        const std::size_t at = ends[pass][digit_of(of, pass)]++;
        if (pass + 1 == passes)
          order[at] = index(begin, of);
        else
          to[at] = of;
      }
      std::swap(from, to);
    }
  }
};

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace {

template <> struct implementation<backend::cpu, op::sort> {
  template <class T> static void run(int, const detail::sort_plan<T>& plan) {
    using item = std::conditional_t<sizeof(T) == 8, detail::wide_sort_item, std::uint64_t>;
    if (sizeof(T) == 8 || plan.columns <= 0xffffffff)
      sort<item>(plan);
    else
      sort<detail::wide_sort_item>(plan);
  }

 private:
  template <class Item, class T> static void sort(const detail::sort_plan<T>& plan) {
    detail::parallel_ranges(
        plan.rows, detail::row_grain(plan.columns, 16),
        [&plan](std::size_t first, std::size_t last) { detail::row_sort<T, Item>{plan}.rows(first, last); });
  }
};

}  // namespace devplace
