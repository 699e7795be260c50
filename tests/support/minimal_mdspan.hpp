// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace devplace::test::minimal {

// As much of the standard's mdspan as devplace asks of one, for tests on machines that have no other.

template <class Index, std::size_t... N> class extents {
 public:
  using index_type = Index;
  static constexpr std::size_t rank() { return sizeof...(N); }
  static constexpr std::size_t static_extent(std::size_t axis) {
    return std::array<std::size_t, rank() + 1>{N..., 0}[axis];
  }

  constexpr extents() : extents(static_cast<Index>(N == static_cast<std::size_t>(-1) ? 0 : N)...) {}
  template <class... Size>
    requires(sizeof...(Size) == sizeof...(N) && sizeof...(N) != 0)
  constexpr explicit extents(Size... sizes) : sizes_{static_cast<Index>(sizes)...} {}
  constexpr Index extent(std::size_t axis) const { return sizes_[axis]; }

 private:
  std::array<Index, sizeof...(N) + 1> sizes_{};
};
template <class Index> class extents<Index> {
 public:
  using index_type = Index;
  static constexpr std::size_t rank() { return 0; }
  constexpr Index extent(std::size_t) const { return 0; }
};
template <class Index, std::size_t> inline constexpr std::size_t dynamic = static_cast<std::size_t>(-1);
template <class Index, class Axes> struct all_dynamic;
template <class Index, std::size_t... Axis> struct all_dynamic<Index, std::index_sequence<Axis...>> {
  using type = extents<Index, dynamic<Index, Axis>...>;
};
template <class Index, std::size_t Rank>
using dextents = typename all_dynamic<Index, std::make_index_sequence<Rank>>::type;

/// Strides and the offset of an element; `Order` computes the strides, or `Stored` ones are given.
template <class Extents, class Order, bool Stored> class mapping_by_strides {
 public:
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using strides_type = std::array<index_type, Extents::rank()>;
  static constexpr bool is_always_exhaustive() { return !Stored; }
  static constexpr bool is_always_strided() { return true; }

  constexpr mapping_by_strides() : mapping_by_strides(Extents()) {}
  constexpr explicit mapping_by_strides(const Extents& e) : extents_(e), strides_(Order::strides(e)) {}
  constexpr mapping_by_strides(const Extents& e, const strides_type& strides)
    requires(Stored)
      : extents_(e), strides_(strides) {}

  constexpr const Extents& extents() const { return extents_; }
  constexpr strides_type strides() const
    requires(Stored)
  {
    return strides_;
  }
  constexpr index_type stride(std::size_t axis) const { return strides_[axis]; }
  template <class... Number> constexpr index_type operator()(Number... indices) const {
    const std::array<index_type, Extents::rank()> index{static_cast<index_type>(indices)...};
    std::ptrdiff_t result = 0;
    for (std::size_t axis = 0; axis != Extents::rank(); ++axis)
      result += static_cast<std::ptrdiff_t>(index[axis]) * static_cast<std::ptrdiff_t>(strides_[axis]);
    return static_cast<index_type>(result);
  }

 private:
  Extents extents_;
  strides_type strides_;
};

struct layout_right {
  template <class E> static constexpr std::array<typename E::index_type, E::rank()> strides(const E& e) {
    std::array<typename E::index_type, E::rank()> result{};
    typename E::index_type step = 1;
    for (std::size_t axis = E::rank(); axis-- != 0; step = static_cast<typename E::index_type>(step * e.extent(axis)))
      result[axis] = step;
    return result;
  }
  template <class E> using mapping = mapping_by_strides<E, layout_right, false>;
};
struct layout_left {
  template <class E> static constexpr std::array<typename E::index_type, E::rank()> strides(const E& e) {
    std::array<typename E::index_type, E::rank()> result{};
    typename E::index_type step = 1;
    for (std::size_t axis = 0; axis != E::rank(); step = static_cast<typename E::index_type>(step * e.extent(axis++)))
      result[axis] = step;
    return result;
  }
  template <class E> using mapping = mapping_by_strides<E, layout_left, false>;
};
struct layout_stride {
  template <class E> using mapping = mapping_by_strides<E, layout_right, true>;
};

template <class T> struct default_accessor {
  using offset_policy = default_accessor;
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;
  constexpr T& access(T* data, std::size_t offset) const { return data[offset]; }
  constexpr T* offset(T* data, std::size_t offset) const { return data + offset; }
};

template <class T, class Extents, class Layout = layout_right, class Accessor = default_accessor<T>> class mdspan {
 public:
  using element_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  using accessor_type = Accessor;
  using mapping_type = typename Layout::template mapping<Extents>;
  using index_type = typename Extents::index_type;
  using data_handle_type = typename Accessor::data_handle_type;
  using reference = typename Accessor::reference;
  static constexpr std::size_t rank() { return Extents::rank(); }

  constexpr mdspan(data_handle_type data, const mapping_type& mapping) : data_(data), mapping_(mapping) {}
  constexpr mdspan(data_handle_type data, const Extents& e) : data_(data), mapping_(e) {}

  constexpr const data_handle_type& data_handle() const { return data_; }
  constexpr const mapping_type& mapping() const { return mapping_; }
  constexpr accessor_type accessor() const { return {}; }
  constexpr index_type extent(std::size_t axis) const { return mapping_.extents().extent(axis); }
  constexpr index_type stride(std::size_t axis) const { return mapping_.stride(axis); }
  template <class... Index> constexpr reference operator()(Index... indices) const {
    return Accessor().access(data_, static_cast<std::size_t>(mapping_(indices...)));
  }

 private:
  data_handle_type data_;
  mapping_type mapping_;
};

}  // namespace devplace::test::minimal
