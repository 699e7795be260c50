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

template <place P>
class stream;

namespace detail {

/// Converts integers to indices; other arguments are returned unchanged.
template <class X>
constexpr auto as_index(const X& x) {
  if constexpr (std::is_integral_v<X>)
    return static_cast<std::size_t>(x);
  else
    return x;
}

struct leading_extent;
struct distributed_access;
struct block_access;

}  // namespace detail

/// A tensor on one place.
template <element T, extents_like Extents, single_place P>
class [[nodiscard]] tensor<T, Extents, P> {
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

  /// Uninitialised elements; for initialised ones see ops/creation.hpp (`zeros`, `full`, `uniform`, ...).
  template <detail::configured = detail::configuration>
  explicit tensor(const Extents& extents)
      : block_(detail::allocate<backend_type>(place_traits<P>::ordinal, extents.size() * sizeof(T))),
        extents_(extents) {}

  /// Extents and a value: `full<T, Where>(extents, value)` instead.
  template <class Value, class FIX = USE_full_FOR_ELEMENTS_OF_ONE_VALUE>
    requires std::is_arithmetic_v<Value> tensor(const Extents& extents, Value value)
  = delete;

  /// From a list: `tensor<float, extents<3>, on<cpu>> a{1, 2, 3}`.
  template <class... Value, detail::configured = detail::configuration>
    requires(rank == 1 && Extents::is_static && sizeof...(Value) > 0 && (std::is_arithmetic_v<Value> && ...))
  tensor(Value... values) : tensor(Extents{}) {
    static_assert(sizeof...(Value) == Extents::static_extent(0),
                  "devplace: the list does not have the tensor's extents; give exactly as many values as the extent.");
    static_assert(std::is_floating_point_v<T> || (std::is_integral_v<Value> && ...),
                  "devplace: the list has floating-point values and the tensor integer elements, which would cut off "
                  "their fractions; write integers.");
    const T list[] = {static_cast<T>(values)...};
    detail::copy_in<backend_type>(place_traits<P>::ordinal, block_.data(), list, sizeof list);
  }

  /// From nested lists: `tensor<float, extents<2, 3>, on<cpu>> a{{1, 2, 3}, {4, 5, 6}}`. Ragged rows do not compile.
  template <std::size_t... Columns, detail::configured = detail::configuration>
    requires(rank == 2 && Extents::is_static && sizeof...(Columns) > 0)
  tensor(const T (&... rows)[Columns]) : tensor(Extents{}) {
    static_assert(sizeof...(Columns) == Extents::static_extent(0) && ((Columns == Extents::static_extent(1)) && ...),
                  "devplace: the nested list does not have the tensor's extents; give extents<rows, columns> as many "
                  "rows, each with as many values, as it says.");
    std::size_t row = 0;
    ((detail::copy_in<backend_type>(place_traits<P>::ordinal, data() + row * Columns, rows, sizeof rows), ++row), ...);
  }

  /// Evaluates an expression into a new tensor (ops/elementwise.hpp).
  template <class Expression, detail::configured = detail::configuration>
    requires(std::remove_cvref_t<Expression>::is_expression)
  tensor(Expression&& expression) : tensor(Extents(expression.extents())) {
    assign(view(), std::forward<Expression>(expression));
  }

  /// Transfers the memory without copying elements.
  ///@{
  tensor(tensor&&) noexcept = default;
  tensor& operator=(tensor&&) noexcept = default;
  ///@}
  // Deleted so that the compiler's message names the fix; the qualifiers make the template the better match.
  tensor(const tensor&, USE_clone_TO_COPY_A_TENSOR* = nullptr) = delete;
  tensor& operator=(const volatile tensor&) const volatile&& = delete;
  template <class FIX = USE_clone_TO_COPY_A_TENSOR>
  void operator=(const tensor&) = delete;

  /// Assigns the elements of an expression; its extents must equal or broadcast to the tensor's.
  template <class Expression, detail::configured = detail::configuration>
    requires(std::remove_cvref_t<Expression>::is_expression)
  tensor& operator=(Expression&& expression) {
    assign(view(), std::forward<Expression>(expression));
    return *this;
  }

  /// A new tensor with the same elements on the same place.
  template <detail::configured = detail::configuration>
  tensor clone() const {
    tensor result(extents_);
    detail::copy_within<backend_type>(place_traits<P>::ordinal, result.data(), data(), size() * sizeof(T));
    return result;
  }

  /// Address of the first element in the place's memory; null if there is none.
  ///@{
  T* data() DEVPLACE_LIFETIMEBOUND { return static_cast<T*>(block_.data()); }
  const T* data() const DEVPLACE_LIFETIMEBOUND { return static_cast<const T*>(block_.data()); }
  ///@}
  /// The sizes of all axes.
  const Extents& extents() const { return extents_; }
  /// The size of one axis. Checked as element access is.
  template <bool Checked = DEVPLACE_CHECK_BOUNDS>
  std::size_t extent(std::size_t axis) const {
    return view().template extent<Checked>(axis);
  }
  /// Number of elements.
  std::size_t size() const { return extents_.size(); }

  /// A view of all elements; of const elements for a const tensor. Deleted for temporaries.
  ///@{
  view_type view() & DEVPLACE_LIFETIMEBOUND { return {data(), extents_}; }
  const_view_type view() const& DEVPLACE_LIFETIMEBOUND { return {data(), extents_}; }
  template <class FIX = KEEP_THE_TENSOR_IN_A_VARIABLE>
  void view() const&& = delete;
  ///@}

  /// Element access, as a view's.
  ///@{
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, class... Index>
    requires(sizeof...(Index) == rank && host_accessible<P>)
  T& operator()(Index... indices) DEVPLACE_LIFETIMEBOUND { return view().template operator()<Checked>(indices...); }
  template <bool Checked = DEVPLACE_CHECK_BOUNDS, class... Index>
    requires(sizeof...(Index) == rank && host_accessible<P>)
  const T& operator()(Index... indices) const DEVPLACE_LIFETIMEBOUND {
    return view().template operator()<Checked>(indices...);
  }
  ///@}
  template <class FIX = COPY_IT_FIRST_WITH_to_on_cpu, class... Index>
    requires(sizeof...(Index) == rank && !host_accessible<P>)
  void operator()(Index...) const = delete;
  template <class FIX = GIVE_ONE_INDEX_FOR_EACH_AXIS, class... Index>
    requires(sizeof...(Index) != rank)
  void operator()(Index...) const = delete;

  /// Views of parts of the elements, or with another order or shape, as from view() (tensor/view.hpp). Deleted for
  /// temporaries, whose memory the view would outlive.
  ///@{
  auto operator[](std::size_t index) & DEVPLACE_LIFETIMEBOUND { return view()[index]; }
  auto operator[](std::size_t index) const& DEVPLACE_LIFETIMEBOUND { return view()[index]; }
  void operator[](std::size_t) const&& = delete;
#define DEVPLACE_DETAIL_VIEW_OF_TENSOR(name)                               \
  template <class... Arguments>                                            \
  auto name(const Arguments&... arguments)& DEVPLACE_LIFETIMEBOUND {       \
    return view().name(detail::as_index(arguments)...);                    \
  }                                                                        \
  template <class... Arguments>                                            \
  auto name(const Arguments&... arguments) const& DEVPLACE_LIFETIMEBOUND { \
    return view().name(detail::as_index(arguments)...);                    \
  }                                                                        \
  template <class... Arguments>                                            \
  void name(const Arguments&...) const&& = delete
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(select);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(slice);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(permute);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(broadcast_to);
  DEVPLACE_DETAIL_VIEW_OF_TENSOR(reshape);
#undef DEVPLACE_DETAIL_VIEW_OF_TENSOR
  ///@}
  /// The same for a temporary: a tensor that takes its memory.
  template <class Other>
  auto reshape(const Other& shape) && {
    static_cast<void>(view().reshape(shape));
    return tensor<T, Other, P>(std::move(block_), shape);
  }

  /// Declares that work of stream `s` (memory/stream.hpp) uses the tensor, like torch's record_stream: its memory is
  /// freed after all work that was enqueued on `s` before the tensor's destruction. To be called once for each such
  /// stream other than the one on which the tensor was made, before it is destroyed.
  template <place Other>
  void record_stream(const stream<Other>& s) const {
    static_assert(std::is_same_v<P, Other>,
                  "devplace: record_stream: the stream is of another place than the tensor; use a stream of its place, "
                  "or bring the tensor to the stream's place with to<...>.");
    block_.record_stream(s.native_handle());
  }

 private:
  template <class, class, class>
  friend class tensor;
  friend struct detail::leading_extent;
  friend struct detail::distributed_access;
  friend struct detail::block_access;

  tensor(detail::memory_block&& block, const Extents& extents) : block_(std::move(block)), extents_(extents) {}

  detail::memory_block block_;
  [[no_unique_address]] Extents extents_;
};

namespace detail {

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class E, class W>
inline constexpr bool is_tensor<tensor<T, E, W>> = true;

}  // namespace detail

/// A tensor or a view.
template <class X>
concept tensor_like = detail::is_tensor<std::remove_cvref_t<X>> || detail::is_view<std::remove_cvref_t<X>>;

namespace detail {

/// For asynchronous copies.
struct block_access {
  template <class T, class E, place P>
  static memory_block take(tensor<T, E, P>&& x) {
    return std::move(x.block_);
  }
  template <class T, class E, place P>
  static memory_block& of(tensor<T, E, P>& x) {
    return x.block_;
  }
};

/// The window of a tensor or view, const for a const tensor, of any layout.
template <class X>
constexpr auto as_window(X&& x) {
  if constexpr (is_view<std::remove_cvref_t<X>>)
    return x;
  else
    return x.view();
}

/// Rejects views with strides, for operations on row-major elements.
template <class T, class E, class W, class L>
constexpr auto as_row_major(const view<T, E, W, L>& x) {
  static_assert(std::is_same_v<L, row_major>,
                "devplace: this operation takes tensors and row-major views, and the view has strides; make a "
                "row-major copy first, with to<on<...>>(x).");
  return view<T, E, W>{x.data(), x.extents(), x.device()};
}

/// As as_window, for operations on row-major elements.
template <class X>
constexpr auto as_view(X&& x) {
  return as_row_major(as_window(x));
}

}  // namespace detail
}  // namespace devplace
