// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <iterator>
#include <span>  // std::ranges::enable_borrowed_range; <ranges> costs a tenth of a second
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace {

template <class T, extents_like Extents, view_placement Where, view_layout Layout = row_major>
  requires element<std::remove_const_t<T>>
class view;

}  // namespace devplace

namespace devplace::detail {

template <class V> inline constexpr bool is_view = false;
template <class T, class E, class W, class L> inline constexpr bool is_view<view<T, E, W, L>> = true;

/// A row-major view at `here<Backend>`, on the device with this ordinal.
template <class Backend, class T, class Extents>
constexpr view<T, Extents, here<Backend>> view_at(int ordinal, T* data, const Extents& extents) {
  return {data, extents, device_of<here<Backend>>{ordinal}};
}

/// A position among the elements of a view with strides, in row-major order. At the position behind the last element,
/// `index_` and `offset_` are those of the first element.
template <class T, std::size_t Rank> class strided_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  constexpr strided_iterator() = default;
  template <class View> constexpr strided_iterator(const View& x, std::size_t position) : data_(x.data()) {
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      extents_[axis] = static_cast<difference_type>(x.extents().extent(axis));
      strides_[axis] = x.stride(axis);
    }
    position_ = static_cast<difference_type>(position);  // the first element, or behind the last
  }

  constexpr T& operator*() const { return data_[offset_]; }
  constexpr T* operator->() const { return data_ + offset_; }
  constexpr T& operator[](difference_type n) const { return *(*this + n); }

  constexpr strided_iterator& operator++() {
    ++position_;
    for (std::size_t axis = Rank; axis-- != 0;) {
      offset_ += strides_[axis];
      if (++index_[axis] != extents_[axis]) break;
      offset_ -= extents_[axis] * strides_[axis];
      index_[axis] = 0;
    }
    return *this;
  }
  constexpr strided_iterator& operator--() {
    --position_;
    for (std::size_t axis = Rank; axis-- != 0;) {
      offset_ -= strides_[axis];
      if (index_[axis]-- != 0) break;
      offset_ += extents_[axis] * strides_[axis];
      index_[axis] = extents_[axis] - 1;
    }
    return *this;
  }
  constexpr strided_iterator& operator+=(difference_type n) {
    if (n == 0) return *this;  // the extents may be 0
    position_ += n;
    offset_ = 0;
    difference_type rest = position_;
    for (std::size_t axis = Rank; axis-- != 0; rest /= extents_[axis]) {
      index_[axis] = rest % extents_[axis];
      offset_ += index_[axis] * strides_[axis];
    }
    return *this;
  }
  constexpr strided_iterator& operator-=(difference_type n) { return *this += -n; }
  constexpr strided_iterator operator++(int) {
    const strided_iterator before = *this;
    ++*this;
    return before;
  }
  constexpr strided_iterator operator--(int) {
    const strided_iterator before = *this;
    --*this;
    return before;
  }
  friend constexpr strided_iterator operator+(strided_iterator i, difference_type n) { return i += n; }
  friend constexpr strided_iterator operator+(difference_type n, strided_iterator i) { return i += n; }
  friend constexpr strided_iterator operator-(strided_iterator i, difference_type n) { return i -= n; }
  friend constexpr difference_type operator-(const strided_iterator& a, const strided_iterator& b) {
    return a.position_ - b.position_;
  }
  friend constexpr bool operator==(const strided_iterator& a, const strided_iterator& b) {
    return a.position_ == b.position_;
  }
  friend constexpr auto operator<=>(const strided_iterator& a, const strided_iterator& b) {
    return a.position_ <=> b.position_;
  }

 private:
  T* data_ = nullptr;
  difference_type position_ = 0;
  difference_type offset_ = 0;
  std::array<difference_type, Rank> index_{};
  std::array<difference_type, Rank> extents_{};
  std::array<difference_type, Rank> strides_{};
};

/// Stands for the iterators of elements that the host cannot reach. The class is no iterator, so that a tensor with
/// such elements is no range of the standard library.
struct no_iterator {
  refusal operator*() const;
  no_iterator& operator++();
  bool operator==(const no_iterator&) const;
};

template <class T, std::size_t Rank, class Where, class Layout>
using element_iterator =
    std::conditional_t<host_accessible<Where>,
                       std::conditional_t<std::is_same_v<Layout, row_major>, T*, strided_iterator<T, Rank>>,
                       no_iterator>;

}  // namespace devplace::detail

namespace devplace {

/// The base of tensors and views, which makes them ranges of the standard library: a contiguous range for row-major
/// elements, a random-access range otherwise. The order is row-major. A tensor on a device, or over several places, is
/// no range, because the host cannot reach the elements; a loop over such a tensor does not compile. Iterators are not
/// checked. An iterator stays valid when the view from which it was taken is destroyed.
template <class X, class Iterator, class ConstIterator = Iterator> class element_range {
 public:
  /// The first element, and the end behind the last element.
  ///@{
  constexpr Iterator begin() { return position<Iterator>(static_cast<X&>(*this), false); }
  constexpr ConstIterator begin() const { return position<ConstIterator>(static_cast<const X&>(*this), false); }
  constexpr Iterator end() { return position<Iterator>(static_cast<X&>(*this), true); }
  constexpr ConstIterator end() const { return position<ConstIterator>(static_cast<const X&>(*this), true); }
  ///@}

 private:
  template <class Position, class Elements> static constexpr Position position(Elements&& x, bool behind) {
    constexpr bool reachable = !std::is_same_v<Position, detail::no_iterator>;
    static_assert(reachable,
                  "devplace: the host cannot reach these elements in a loop or algorithm; copy them first, with "
                  "to<on<cpu>>(x) or, parts on several places, gather<on<cpu>>(x); rows(x) loops over views of rows.");
    if constexpr (!reachable)
      return {};
    else if constexpr (!detail::is_view<std::remove_cvref_t<Elements>>)
      return position<Position>(x.view(), behind);  // throws for a moved-from tensor
    else if constexpr (std::is_pointer_v<Position>)
      return behind ? x.data() + x.size() : x.data();
    else
      return Position(x, behind ? x.size() : 0);
  }
};

}  // namespace devplace

/// @cond Doxygen cannot resolve this specialisation.
// Iterators of a view stay valid after the view's end.
template <class T, class Extents, class Where, class Layout>
inline constexpr bool std::ranges::enable_borrowed_range<devplace::view<T, Extents, Where, Layout>> = true;
/// @endcond
