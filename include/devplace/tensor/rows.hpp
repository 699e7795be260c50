// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

/// A position along the first axis of a view.
template <class View> class row_position {
 public:
  constexpr row_position(const View& x, std::size_t index) : x_(x), index_(index) {}

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

/// Views, and tensors on one place.
template <class X> inline constexpr bool has_rows = is_view<X> || single_place<typename X::placement_type>;

}  // namespace detail

/// Loops over the first axis: `for (auto row : matrix) row += 1.0f;`. For an array of one axis, loops over the
/// elements, `for (float& x : list)`, or on a device over views of the elements.
///@{
template <tensor_like X>
  requires(std::remove_cvref_t<X>::rank > 0)
constexpr auto begin(X&& x) {
  constexpr bool on_one_place = detail::has_rows<std::remove_cvref_t<X>>;
  static_assert(
      on_one_place,
      "devplace: a tensor over several places has no rows to loop over; loop over x.local(k) or gather<cpu>(x).");
  if constexpr (on_one_place)
    return detail::row_position(detail::as_any_view(x), 0);
  else
    return static_cast<const detail::refusal*>(nullptr);
}
template <tensor_like X>
  requires(std::remove_cvref_t<X>::rank > 0)
constexpr auto end(X&& x) {
  if constexpr (detail::has_rows<std::remove_cvref_t<X>>)
    return detail::row_position(detail::as_any_view(x), x.extent(0));
  else
    return static_cast<const detail::refusal*>(nullptr);
}
///@}

}  // namespace devplace
