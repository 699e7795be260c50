// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/halo.hpp>

#define DEVPLACE_DETAIL_BEYOND_HALO \
  "a relative index is beyond the field's halo; give the field a wider one, as in halo<2, 2>."

namespace devplace {

namespace parallel::detail {

[[noreturn]] inline void throw_beyond_halo(std::size_t axis, std::ptrdiff_t by, std::size_t width) {
  throw argument_error({"stencil: the relative index ", by < 0 ? "-" : "", by < 0 ? -by : by, " along axis ", axis,
                        " is beyond the field's halo, which is ", width, " wide there; give the field a wider halo."});
}

/// Whether relative indices are beyond a halo.
template <class Halo, class... By> constexpr bool beyond_halo(By... by) {
  std::size_t axis = 0;
  bool result = false;
  ((result = result || static_cast<std::size_t>(by < 0 ? -by : by) > Halo::width(axis), ++axis), ...);
  return result;
}

}  // namespace parallel::detail

/// A cell of an exchanged field and its neighbours, which a functor of stencil() reads by relative indices: `u(0, 0)`
/// is the cell, `u(-1, 0)` its neighbour in the row above. Throws argument_error for a relative index beyond the halo
/// if `Checked`, which is DEVPLACE_CHECK_BOUNDS; on GPUs such an index is not found. clang also rejects constant ones.
template <class T, class Halo, std::size_t Rank, bool Checked = DEVPLACE_CHECK_BOUNDS> class neighbourhood {
 public:
  /// Of the cell at an address; `strides` are those of the axes.
  DEVPLACE_HD constexpr neighbourhood(const T* cell, const std::ptrdiff_t (&strides)[Rank]) : cell_(cell) {
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) strides_[axis] = strides[axis];
  }

  /// The value of a neighbour: one relative index for each axis.
  template <std::integral... By>
  DEVPLACE_HD constexpr T operator()(By... by) const
      DEVPLACE_REFUSED_IF((parallel::detail::beyond_halo<Halo>(by...)), DEVPLACE_DETAIL_BEYOND_HALO) {
    constexpr bool one_per_axis = sizeof...(By) == Rank, all_signed = (std::is_signed_v<By> && ...);
    static_assert(one_per_axis,
                  "devplace: stencil: give one relative index for each axis of the field, as in u(-1, 0).");
    static_assert(all_signed, "devplace: stencil: relative indices are signed integers, as in u(-1, 0).");
    if constexpr (one_per_axis && all_signed) {
      if constexpr (Checked) check(by...);
      std::size_t axis = 0;
      std::ptrdiff_t at = 0;
      ((at += axis + 1 == Rank ? static_cast<std::ptrdiff_t>(by) : static_cast<std::ptrdiff_t>(by) * strides_[axis],
        ++axis),
       ...);
      return cell_[at];
    } else {
      return *cell_;
    }
  }

 private:
  template <class... By> DEVPLACE_HD static constexpr void check([[maybe_unused]] By... by) {
    DEVPLACE_IF_HOST(
        [[maybe_unused]] std::size_t axis = 0;
        ((static_cast<std::size_t>(by < 0 ? -by : by) > Halo::width(axis)
              ? parallel::detail::throw_beyond_halo(axis, static_cast<std::ptrdiff_t>(by), Halo::width(axis))
              : void(),
          ++axis),
         ...);)
  }

  const T* cell_;
  std::ptrdiff_t strides_[Rank] = {};
};

}  // namespace devplace
