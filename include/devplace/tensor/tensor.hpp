// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

template <class P> class stream;

/// A tensor on one place. If the host can reach the elements, the tensor is a contiguous range of the standard library:
/// begin() and end() go over the elements in row-major order.
template <element T, extents_like Extents, single_place P>
class DEVPLACE_NODISCARD tensor<T, Extents, P>
    : public element_range<tensor<T, Extents, P>, detail::element_iterator<T, Extents::rank, P, row_major>,
                           detail::element_iterator<const T, Extents::rank, P, row_major>> {
 public:
  /// The properties given by the type: element type, extents, placement, backend.
  ///@{
  using value_type = T;
  using extents_type = Extents;
  using placement_type = P;
  using backend_type = backend_of_t<P>;
  ///@}
  /// Views of its elements.
  ///@{
  using view_type = devplace::view<T, Extents, P>;
  using const_view_type = devplace::view<const T, Extents, P>;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = Extents::rank;

  /// Makes zeros; every dynamic extent is 0. Not available for pinned memory, where no operations run.
  DEVPLACE_CONFIGURED tensor()
    requires(detail::computes<backend_type>)
      : tensor(Extents{}) {
    fill(*this, T{});
  }

  /// Uninitialised elements; for initialised elements see ops/creation.hpp (`zeros`, `full`, `uniform`, ...).
  DEVPLACE_CONFIGURED explicit tensor(const Extents& extents)
      : block_(detail::allocate_on<P>(extents.size() * sizeof(T))), extents_(extents) {}

  /// From a list: `tensor<float, extents<3>, on<cpu>> a{1, 2, 3}`.
  template <class... Value>
    requires detail::list_of_values<Extents, Value...>
  DEVPLACE_CONFIGURED explicit(!detail::converts_to_tensor<Value...>) tensor(const Value&... values)
      : tensor(Extents{}) {
    if constexpr (detail::check_list<T, Extents, Value...>()) {
      const T list[] = {static_cast<T>(values)...};
      detail::copy_in<backend_type>(place_traits<P>::ordinal, memory<false>(), list, sizeof list);
    }
  }

  /// From nested lists: `tensor<float, extents<2, 3>, on<cpu>> a{{1, 2, 3}, {4, 5, 6}}`, also for dynamic extents.
  /// Ragged rows do not compile.
  template <std::size_t... Columns>
    requires(sizeof...(Columns) > 0)
  DEVPLACE_CONFIGURED tensor(const T (&... rows)[Columns])
      : tensor(Extents(typename detail::lists<Columns...>::template extents_for<Extents>{})) {
    constexpr bool matrix = rank == 2, fits = !matrix || detail::lists<Columns...>::template fit<Extents>;
    static_assert(matrix, "devplace: nested lists make a matrix; a tensor of one axis takes a list, {1, 2, 3}.");
    static_assert(fits,
                  "devplace: the nested list does not have the tensor's extents; for extents<rows, columns> give that "
                  "many rows, each with that many values.");
    std::size_t row = 0;
    ((detail::copy_in<backend_type>(place_traits<P>::ordinal, memory<false>() + row * Columns, rows, sizeof rows),
      ++row),
     ...);
  }

  /// Evaluates an expression into a new tensor (ops/elementwise.hpp).
  template <class Expression>
    requires(std::remove_cvref_t<Expression>::is_expression)
  DEVPLACE_CONFIGURED tensor(Expression&& expression) : tensor(Extents(expression.extents())) {
    assign(view(), std::forward<Expression>(expression));
  }

  /// Moves the memory; no elements are copied.
  ///@{
  tensor(tensor&&) noexcept = default;
  tensor& operator=(tensor&&) noexcept = default;
  ///@}
  tensor(const tensor&) = delete;             // x.clone() is a copy
  tensor& operator=(const tensor&) = delete;  // x = other.clone(), or copy(x, other) for the elements

  /// Assigns the elements of an expression; its extents must equal or broadcast to the tensor's.
  template <class Expression>
    requires(std::remove_cvref_t<Expression>::is_expression)
  DEVPLACE_CONFIGURED tensor& operator=(Expression&& expression) {
    assign(view(), std::forward<Expression>(expression));
    return *this;
  }

  /// Sets every element to a number, as fill(x, value).
  template <class Number>
    requires(!detail::is_local_expression<Number>)
  DEVPLACE_CONFIGURED tensor& operator=(const Number& value) {
    constexpr bool is_number = std::is_arithmetic_v<Number>;
    static_assert(
        is_number,
        "devplace: a tensor is assigned an expression, a number, or a tensor of the same type by std::move; "
        "copy(x, other) copies elements, also from another place, and to<Where>(other) makes a tensor there.");
    if constexpr (is_number) view() = value;
    return *this;
  }

  /// A copy on the same place.
  DEVPLACE_CONFIGURED tensor clone() const {
    tensor result(extents_);
    detail::copy_within<backend_type>(place_traits<P>::ordinal, result.memory<false>(), memory<true>(),
                                      size() * sizeof(T));
    return result;
  }

  /// Address of the first element in the place's memory, as view::data(); null if the tensor has no elements.
  ///@{
  detail::data_pointer<T, P> data() DEVPLACE_LIFETIMEBOUND { return detail::data_pointer<T, P>(memory<false>()); }
  detail::data_pointer<const T, P> data() const DEVPLACE_LIFETIMEBOUND {
    return detail::data_pointer<const T, P>(memory<false>());
  }
  ///@}
  /// The place; prints as `cpu` or `cuda:0`.
  static constexpr P placement() { return {}; }
  /// The sizes of all axes.
  const Extents& extents() const { return extents_; }
  /// The size of one axis; checked as element access is.
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, std::integral Axis>
  std::size_t extent(Axis axis) const DEVPLACE_REFUSED_IF(detail::no_axis<Extents>(axis), DEVPLACE_DETAIL_NO_AXIS) {
    return view().template extent<Checked>(axis);
  }
  /// Number of elements.
  std::size_t size() const { return extents_.size(); }

  /// A view of all elements, const for a const tensor. Deleted for temporaries. This function, and every function that
  /// takes a view of the tensor, throws error for a moved-from tensor.
  ///@{
  view_type view() & DEVPLACE_LIFETIMEBOUND { return {memory<true>(), extents_}; }
  const_view_type view() const& DEVPLACE_LIFETIMEBOUND { return {memory<true>(), extents_}; }
  void view() const&& = delete;  // would outlive the temporary's memory; keep the tensor in a variable
  ///@}

  /// Converts to the view that a function takes: with dynamic extents, const elements or strides.
  ///@{
  template <class U, class Other, class Layout>
    requires std::is_convertible_v<view_type, devplace::view<U, Other, P, Layout>>
  operator devplace::view<U, Other, P, Layout>() & DEVPLACE_LIFETIMEBOUND {
    return view();
  }
  template <class U, class Other, class Layout>
    requires std::is_convertible_v<const_view_type, devplace::view<U, Other, P, Layout>>
  operator devplace::view<U, Other, P, Layout>() const& DEVPLACE_LIFETIMEBOUND {
    return view();
  }
  template <class U, class Other, class Layout>
    requires std::is_convertible_v<const_view_type, devplace::view<U, Other, P, Layout>>
  operator devplace::view<U, Other, P, Layout>() const&& = delete;
  ///@}

  /// A tensor with the same elements on another place, as `to<Where>(x)`; moves a temporary that is already on that
  /// place.
  ///@{
  template <class Where> DEVPLACE_CONFIGURED auto to() const& { return detail::mover<Where>::move(*this); }
  template <class Where> DEVPLACE_CONFIGURED auto to() && { return detail::mover<Where>::move(std::move(*this)); }
  ///@}

  /// Element access, as view::operator().
  ///@{
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, class... Index>
  T& operator()(Index... indices)
      DEVPLACE_LIFETIMEBOUND DEVPLACE_REFUSED_IF(detail::past_end<Extents>(indices...), DEVPLACE_DETAIL_PAST_END) {
    return view_type(memory<Checked>(), extents_).template operator()<Checked>(indices...);
  }
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, class... Index>
  const T& operator()(Index... indices) const
      DEVPLACE_LIFETIMEBOUND DEVPLACE_REFUSED_IF(detail::past_end<Extents>(indices...), DEVPLACE_DETAIL_PAST_END) {
    return const_view_type(memory<Checked>(), extents_).template operator()<Checked>(indices...);
  }
  ///@}

  /// Views of parts of the elements, or of all elements in another order or shape, like the functions of view()
  /// (tensor/view.hpp). Deleted for temporaries, because the view would outlive the memory.
  ///@{
  auto operator[](std::size_t index) & DEVPLACE_LIFETIMEBOUND { return view()[index]; }
  auto operator[](std::size_t index) const& DEVPLACE_LIFETIMEBOUND { return view()[index]; }
  void operator[](std::size_t) const&& = delete;  // would outlive the temporary's memory; keep the tensor in a variable
#define DEVPLACE_DETAIL_VIEW_OF_TENSOR(name)                                             \
  template <class... X> auto name(const X&... arguments) & DEVPLACE_LIFETIMEBOUND {      \
    return view().name(detail::as_index(arguments)...);                                  \
  }                                                                                      \
  template <class... X> auto name(const X&... arguments) const& DEVPLACE_LIFETIMEBOUND { \
    return view().name(detail::as_index(arguments)...);                                  \
  }                                                                                      \
  /* would outlive the temporary's memory; keep it in a variable */                      \
  template <class... X> void name(const X&...) const&& = delete
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(select);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(slice);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(permute);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(broadcast_to);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(reshape);
#undef DEVPLACE_DETAIL_VIEW_OF_TENSOR
  ///@}
  /// Reshapes a temporary into a tensor that takes over its memory.
  template <class Other> auto reshape(const Other& shape) && {
    [[maybe_unused]] const auto reshaped = view().reshape(shape);  // throws if the sizes differ
    if constexpr (detail::may_be_reshaped<Extents, Other>)
      return tensor<T, Other, P>(std::move(block_), shape);
    else
      return reshaped;
  }

  /// Declares that work of stream `s` (memory/stream.hpp) uses the tensor, like torch's record_stream. The memory is
  /// then freed after all work that was enqueued on `s` before the tensor's destruction. Call this function before the
  /// tensor is destroyed, once for each such stream except the stream on which the tensor was made.
  template <place Other> void record_stream(const stream<Other>& s) const {
    static_assert(std::is_same_v<P, Other>,
                  "devplace: record_stream: the stream is of another place than the tensor; use a stream of its place, "
                  "or bring the tensor to the stream's place with to<...>.");
    block_.record_stream(s.native_handle());
  }

 private:
  template <class, class, class> friend class tensor;
  friend struct detail::leading_extent;
  friend struct detail::distributed_access;
  friend struct detail::block_access;

  tensor(detail::memory_block&& block, const Extents& extents) : block_(std::move(block)), extents_(extents) {}

  /// The elements; if checked, throws error for a moved-from tensor.
  template <bool Checked> T* memory() const {
    T* const first = static_cast<T*>(block_.data());
    if constexpr (Checked)
      if (first == nullptr && extents_.size() != 0) detail::throw_moved_from();
    return first;
  }

  detail::memory_block block_;
  [[no_unique_address]] Extents extents_;
};

}  // namespace devplace

#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/rows.hpp>
