// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

/// A position among the rows, and the range of the rows from there on.
template <class View> class row_position {
 public:
  constexpr row_position(const View& x, std::size_t index) : x_(x), index_(index) {}

  constexpr row_position begin() const { return *this; }
  constexpr row_position end() const { return {x_, x_.extent(0)}; }

  /// Returns the element if the array has one axis and the host can access it; otherwise a view of the row.
  constexpr decltype(auto) operator*() const {
    if constexpr (View::rank == 1 && host_accessible<typename View::placement_type>)
      return x_(index_);
    else
      return x_[index_];
  }
  constexpr row_position& operator++() {
    ++index_;
    return *this;
  }
  constexpr bool operator!=(const row_position& other) const { return index_ != other.index_; }

 private:
  View x_;
  std::size_t index_;
};

}  // namespace detail

/// The rows along the first axis, for a loop: `for (auto row : rows(matrix)) row += 1.0f;`. The rows of an array of one
/// axis are its elements, or on a device views of the elements. Copies nothing, so x must outlive the loop.
template <tensor_like X>
  requires(std::remove_cvref_t<X>::rank > 0)
DEVPLACE_CONFIGURED constexpr auto rows(X&& x) {
  using plain = std::remove_cvref_t<X>;
  constexpr bool on_one_place = detail::is_view<plain> || single_place<typename plain::placement_type>,
                 kept = !detail::is_tensor<std::remove_const_t<X>>;
  static_assert(on_one_place,
                "devplace: a tensor over several places has no rows to loop over; loop over rows(x.local(k)) or over "
                "the rows of gather<cpu>(x).");
  static_assert(kept, "devplace: rows: a temporary tensor would be gone before the loop; give it a name first.");
  if constexpr (on_one_place && kept)
    return detail::row_position(detail::as_any_view(x), 0);
  else
    return detail::refusal{};
}

}  // namespace devplace
