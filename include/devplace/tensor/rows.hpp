// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/tensor/detail/as_view.hpp>

namespace devplace {

namespace detail {

/// A position along the first axis of a view.
template <class View>
class row_position {
 public:
  constexpr row_position(const View& x, std::size_t index) : x_(x), index_(index) {}

  /// The element if the array has one axis and the host can access it; otherwise a view of the row.
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

/// Loop over the first axis: `for (auto row : matrix) row += 1.0f;`. The rows of an array of one axis are its elements,
/// `for (float& x : list)`, or on a device views of its elements.
///@{
template <tensor_like X>
  requires(std::remove_cvref_t<X>::rank > 0)
constexpr auto begin(X&& x) {
  static_assert(
      single_place<typename std::remove_cvref_t<X>::placement_type> || detail::is_view<std::remove_cvref_t<X>>,
      "devplace: rows of a tensor over several places are those of x.local(k), or of gather<cpu>(x).");
  return detail::row_position(detail::as_window(x), 0);
}
template <tensor_like X>
  requires(std::remove_cvref_t<X>::rank > 0)
constexpr auto end(X&& x) {
  return detail::row_position(detail::as_window(x), x.extent(0));
}
///@}

}  // namespace devplace
