// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/memory/device_pointer.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/element_range.hpp>
#include <devplace/tensor/detail/view_errors.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace {

/// Non-owning view of elements; `view<const T, ...>` is read-only. Copying a view copies the reference, not the
/// elements; assigning an expression assigns elements (ops/elementwise.hpp). Must not outlive the memory. Several
/// threads may read the same elements through views at once; a thread that writes must be the only one. `Layout` is
/// `row_major` (contiguous), `column_major` (in the last two axes) or `strided` (a stride for every axis).
/// docs/views.md describes which operations return and accept which layout. If the host can reach the elements, the
/// view is a range of the standard library: begin() and end() go over the elements in row-major order.
template <class T, extents_like Extents, view_placement Where, view_layout Layout>
  requires element<std::remove_const_t<T>>
class DEVPLACE_NODISCARD view
    : public element_range<view<T, Extents, Where, Layout>, detail::element_iterator<T, Extents::rank, Where, Layout>> {
 public:
  /// Properties given by the type: element type with and without const, extents, placement, layout, backend.
  ///@{
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using extents_type = Extents;
  using placement_type = Where;
  using layout_type = Layout;
  using backend_type = typename detail::device_of<Where>::backend_type;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = Extents::rank;
  /// Whether the layout is row-major by its type, and whether the view stores strides.
  ///@{
  static constexpr bool is_row_major = std::is_same_v<Layout, row_major>, is_strided = std::is_same_v<Layout, strided>;
  ///@}

  /// From memory that the view does not own (see wrap()); `device` is an ordinal, for `here<Backend>` only.
  ///@{
  [[gnu::always_inline]] constexpr view(T* data, const Extents& extents, detail::device_of<Where> device = {})
    requires(!is_strided)
      : data_(data), extents_(extents), device_(device) {}
  constexpr view(T* data, const Extents& extents, const std::array<std::ptrdiff_t, rank>& strides,
                 detail::device_of<Where> device = {})
    requires(is_strided)
      : data_(data), extents_(extents), strides_{strides}, device_(device) {}
  ///@}
  /// Fails to compile for a shape in braces.
  template <std::size_t Count> constexpr view(T* data, const std::size_t (&)[Count]) : data_(data) {
    static_assert(Count == 0, "devplace: view: give the shape as extents, extents(2, 3), not in braces.");
  }
  /// Copies the reference.
  constexpr view(const view&) = default;

  /// Converts from non-const to const elements, from static to dynamic extents, and from other layouts to strided.
  template <class U, class Other, class From>
    requires(!std::is_same_v<view<U, Other, Where, From>, view> && std::is_convertible_v<U (*)[], T (*)[]> &&
             std::is_convertible_v<const Other&, Extents> && (is_strided || std::is_same_v<From, Layout>))
  constexpr view(const view<U, Other, Where, From>& other)
      : data_(other.data_), extents_(other.extents()), device_(other.device()) {
    if constexpr (is_strided) strides_.values = other.strides();
  }

  view& operator=(const view&) = delete;  // would copy the reference; copy(x, other) copies the elements

  /// Assigns the elements of an expression; its extents must equal or broadcast to the view's.
  template <class Expression>
    requires(std::remove_cvref_t<Expression>::is_expression)
  DEVPLACE_CONFIGURED const view& operator=(Expression&& expression) const {
    constexpr bool written = !std::is_const_v<T>, fits = detail::assigned_extents<Extents, Expression>::fit;
    static_assert(written, DEVPLACE_DETAIL_CONST_VIEW);
    static_assert(fits, DEVPLACE_DETAIL_ASSIGNED_EXTENTS);  // here, so that the compiler shows the user's line
    if constexpr (written && fits) assign(*this, std::forward<Expression>(expression));
    return *this;
  }

  /// Sets every element to a number, as fill(x, value).
  template <class Number = std::initializer_list<value_type>>
    requires(!detail::is_local_expression<Number>)
  DEVPLACE_CONFIGURED const view& operator=(const Number& value) const {
    constexpr bool is_number = std::is_arithmetic_v<Number>, written = !std::is_const_v<T>,
                   exact = !is_number || std::is_integral_v<Number> || !std::is_integral_v<value_type>;
    static_assert(is_number, DEVPLACE_DETAIL_ASSIGNED_TO_VIEW);
    static_assert(written, DEVPLACE_DETAIL_CONST_VIEW);
    static_assert(exact, DEVPLACE_DETAIL_FRACTION_ASSIGNED);
    if constexpr (is_number && written && exact) fill(*this, static_cast<value_type>(value));
    return *this;
  }

  /// The placement.
  static constexpr Where placement() { return {}; }
  /// Address of the first element: a `T*`, or a device_pointer<T> in memory that the host cannot reach.
  [[gnu::always_inline]] constexpr detail::data_pointer<T, Where> data() const {
    return detail::data_pointer<T, Where>(data_);
  }
  /// The sizes of all axes.
  [[gnu::always_inline]] constexpr const Extents& extents() const { return extents_; }
  /// The size of one axis; checked as element access is.
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, std::integral Axis>
  constexpr std::size_t extent(Axis axis) const
      DEVPLACE_REFUSED_IF(detail::no_axis<Extents>(axis), DEVPLACE_DETAIL_NO_AXIS) {
    if constexpr (Checked)
      if (detail::no_axis<Extents>(axis)) detail::throw_no_axis(static_cast<std::size_t>(axis), rank);
    return extents_.extent(static_cast<std::size_t>(axis));
  }
  /// Number of elements.
  [[gnu::always_inline]] constexpr std::size_t size() const { return extents_.size(); }
  /// Number of elements between consecutive indices of an axis; negative along an axis of reversed() elements.
  constexpr std::ptrdiff_t stride(std::size_t axis) const {
    if constexpr (is_strided)
      return strides_.values[axis];
    else if (!is_row_major && axis + 2 >= rank)
      return axis + 1 == rank ? static_cast<std::ptrdiff_t>(extents_.extent(rank - 2)) : 1;
    else
      return static_cast<std::ptrdiff_t>(extents_.stride(axis));
  }
  /// The strides of all axes.
  constexpr std::array<std::ptrdiff_t, rank> strides() const {
    std::array<std::ptrdiff_t, rank> result{};
    for (std::size_t axis = 0; axis != rank; ++axis) result[axis] = stride(axis);
    return result;
  }
  /// Whether the elements are contiguous in row-major order; true for some strided views too.
  constexpr bool is_contiguous() const { return detail::is_contiguous(detail::sizes_of(extents_), strides()); }
  /// The device, for constructing other views of this memory.
  [[gnu::always_inline]] constexpr detail::device_of<Where> device() const { return device_; }
  /// The device's ordinal within its backend.
  [[gnu::always_inline]] constexpr int ordinal() const { return device_.ordinal(); }

  /// Erases the ordinal from the view's type; layers and operations work on such views.
  DEVPLACE_CONFIGURED constexpr auto erased() const {
    using where = here<backend_type>;
    return window<Layout, Extents, T, where>(data_, extents_, strides_, detail::device_of<where>{ordinal()});
  }

  /// Element access, if the host can access the memory: one index for each axis. Throws argument_error for an index
  /// past the end if DEVPLACE_CHECK_BOUNDS is 1, the default without NDEBUG. clang also rejects constant indices past
  /// static extents; a static_assert could not see these constants.
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, class... Index>
  constexpr T& operator()(Index... indices) const
      DEVPLACE_REFUSED_IF(detail::past_end<Extents>(indices...), DEVPLACE_DETAIL_PAST_END) {
    constexpr bool one_per_axis = detail::is_index_list<rank, Index...>, reachable = host_accessible<Where>;
    constexpr bool reached = !one_per_axis || reachable;
    static_assert(one_per_axis, DEVPLACE_DETAIL_ONE_INDEX_PER_AXIS);
    static_assert(reached, DEVPLACE_DETAIL_NOT_REACHABLE);
    if constexpr (one_per_axis && reachable) {
      if constexpr (Checked) {
        [[maybe_unused]] std::size_t axis = 0;
        (require_index(static_cast<std::size_t>(indices), axis++), ...);
      }
      return data_[offset(static_cast<std::size_t>(indices)...)];
    } else {
      return *data_;
    }
  }
  /// Selects index `index` of an axis and removes the axis: `x.select(axis<1>{}, 0)`; `x[index]` uses the first axis.
  /// Throws argument_error for an index out of range. The result is row-major if the view is and the axis is its first,
  /// otherwise strided.
  ///@{
  template <class Axis> constexpr auto select(Axis, std::size_t index) const {
    constexpr bool has_axis = detail::axis_number<Axis> < rank;
    static_assert(has_axis, DEVPLACE_DETAIL_SELECT);
    if constexpr (has_axis) {
      constexpr std::size_t n = detail::axis_number<Axis>;
      const detail::axes_without_t<rank, n> rest;
      require_index(index, n);
      return of_axes<along<n>>(at_offset(index, n), rest);
    } else {
      return detail::refusal{};
    }
  }
  constexpr auto operator[](std::size_t index) const
    requires(rank > 0)
  {
    return select(axis<0>{}, index);
  }
  ///@}

  /// Selects indices `first` to `last` (exclusive) of an axis, or every `step`-th of them: `x.slice(axis<1>{}, 0, 2)`.
  /// Slices axis 0 if no axis is given. Throws argument_error for indices out of range. The result is row-major if
  /// a row-major view is sliced along the first axis without a step, otherwise strided.
  ///@{
  template <class Axis> constexpr auto slice(Axis, std::size_t first, std::size_t last, std::size_t step) const {
    return cut<detail::axis_number<Axis>, strided>(first, last, step);
  }
  template <class Axis> constexpr auto slice(Axis, std::size_t first, std::size_t last) const {
    return cut<detail::axis_number<Axis>, along<detail::axis_number<Axis>>>(first, last, 1);
  }
  constexpr auto slice(std::size_t first, std::size_t last) const
    requires(rank > 0)
  {
    return slice(axis<0>{}, first, last);
  }
  ///@}

  /// Returns the axes in another order: axis k of the result is the k-th argument. `x.permute(axis<2>{}, axis<0>{},
  /// axis<1>{})` of 2x3x4 is 4x2x3. The result is strided. transposed() (tensor/transposed.hpp) exchanges the last two.
  template <class... Axis> constexpr auto permute(Axis...) const {
    constexpr bool every_axis_once = detail::is_order_of_axes<rank, detail::axis_number<Axis>...>;
    static_assert(every_axis_once, DEVPLACE_DETAIL_PERMUTE);
    if constexpr (every_axis_once)
      return of_axes<strided>(data_, std::index_sequence<detail::axis_number<Axis>...>{});
    else
      return detail::refusal{};
  }

  /// Broadcasts the elements to another shape, as numpy.broadcast_to: extents are aligned at the last axis; a missing
  /// axis, or an axis of extent 1, is repeated with stride 0. The result is strided, and read-only because several
  /// positions are the same element. Throws shape_error if run-time extents cannot be broadcast.
  template <class Shape, class... Other> constexpr auto broadcast_to(const Shape& shape, const Other&...) const {
    constexpr bool has_axes = detail::has_axes<Shape, rank> && sizeof...(Other) == 0;
    static_assert(has_axes, DEVPLACE_DETAIL_BROADCAST_TO);
    if constexpr (has_axes) {
      std::array<std::ptrdiff_t, Shape::rank> by{};
      if (!detail::broadcast_strides(detail::sizes_of(extents_), strides(), detail::sizes_of(shape), by))
        detail::throw_no_broadcast(detail::sizes_of(extents_), detail::sizes_of(shape));
      return window<strided, Shape, const T>(data_, shape, {by}, device_);
    } else {
      return detail::refusal{};
    }
  }

  /// Returns the same elements, in the order of their indices, in another shape of equal size. The result is row-major
  /// if the view is, otherwise strided. Static extents of other sizes do not compile. Throws shape_error if run-time
  /// sizes differ, and if no strides exist for the shape, as for some permuted views. Make a row-major copy of such
  /// views first, with to<on<...>>(x).
  template <class Shape, class... Other> constexpr auto reshape(const Shape& shape, const Other&...) const {
    constexpr bool fits = detail::may_be_reshaped<Extents, Shape> && sizeof...(Other) == 0;
    static_assert(fits, DEVPLACE_DETAIL_RESHAPE);
    if constexpr (!fits) {
      return detail::refusal{};
    } else {
      if (shape.size() != size()) detail::throw_reshape(detail::sizes_of(extents_), detail::sizes_of(shape));
      if constexpr (is_row_major) {
        return window<Layout, Shape>(data_, shape, {}, device_);
      } else {
        detail::layout_strides<strided, Shape::rank> by;
        if (!detail::reshape_strides(detail::sizes_of(extents_), strides(), detail::sizes_of(shape), by.values))
          detail::throw_no_strides(detail::sizes_of(extents_), strides(), detail::sizes_of(shape));
        return window<strided, Shape>(data_, shape, by, device_);
      }
    }
  }

 private:
  template <class Element, extents_like Other, view_placement Placement, view_layout From>
    requires element<std::remove_const_t<Element>>
  friend class view;

  constexpr view(T* data, const Extents& extents, const detail::layout_strides<Layout, rank>& strides,
                 detail::device_of<Where> device)
      : data_(data), extents_(extents), strides_(strides), device_(device) {}

  /// The layout after axis N is sliced or removed.
  template <std::size_t N> using along = std::conditional_t<N == 0 && is_row_major, row_major, strided>;

  /// Another view on the same memory.
  template <class L, class Other, class Element = T, class Placement = Where>
  using window = view<Element, Other, Placement, L>;

  /// Returns a view of some of the axes, starting at an element.
  template <class L, std::size_t... Axis> constexpr auto of_axes(T* first, std::index_sequence<Axis...> axes) const {
    detail::layout_strides<L, sizeof...(Axis)> by;
    if constexpr (std::is_same_v<L, strided>) by.values = {stride(Axis)...};
    const auto of_result = detail::extents_of_axes(extents_, axes);
    return window<L, std::remove_const_t<decltype(of_result)>>(first, of_result, by, device_);
  }

  /// Returns a view of every `step`-th index of an axis from `first` on.
  template <std::size_t N, class L> constexpr auto cut(std::size_t first, std::size_t last, std::size_t step) const {
    constexpr bool has_axis = N < rank;
    static_assert(has_axis, DEVPLACE_DETAIL_SLICE);
    if constexpr (has_axis) {
      const std::size_t count = detail::extent_of_slice(first, last, step, N, extents_.extent(N));
      const auto of_result = detail::with_dynamic_axis<Extents, N>::with(count, extents_);
      detail::layout_strides<L, rank> by{};
      if constexpr (std::is_same_v<L, strided>) {
        by.values = strides();
        if (count > 1) by.values[N] *= static_cast<std::ptrdiff_t>(step);
      }
      return window<L, std::remove_const_t<decltype(of_result)>>(at_offset(first, N), of_result, by, device_);
    } else {
      return detail::refusal{};
    }
  }

  constexpr void require_index(std::size_t index, std::size_t axis) const {
    if (index >= extents_.extent(axis)) detail::throw_past_end(index, axis, extents_.extent(axis));
  }

  /// Keeps null, because a view without elements may have no memory.
  constexpr T* at_offset(std::size_t index, std::size_t axis) const {
    return data_ == nullptr ? data_ : data_ + static_cast<std::ptrdiff_t>(index) * stride(axis);
  }

  template <class... Index> constexpr std::ptrdiff_t offset(Index... indices) const {
    std::ptrdiff_t result = 0;
    std::size_t axis = 0;
    if constexpr (is_row_major)
      ((result = result * static_cast<std::ptrdiff_t>(extents_.extent(axis)) + static_cast<std::ptrdiff_t>(indices),
        ++axis),
       ...);
    else
      ((result += static_cast<std::ptrdiff_t>(indices) * stride(axis), ++axis), ...);
    return result;
  }

  T* data_;
  [[no_unique_address]] Extents extents_;
  [[no_unique_address]] detail::layout_strides<Layout, rank> strides_;
  [[no_unique_address]] detail::device_of<Where> device_;
};

}  // namespace devplace

#include <devplace/ops/assign.hpp>
