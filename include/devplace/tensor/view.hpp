// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/place/placement.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

namespace detail {

/// The device of a value: part of the type of `on<P>`, a number beside the pointer for `here<Backend>`.
template <class Where>
struct device_of;

template <class P>
struct device_of<on<P>> {
  using backend_type = backend_of_t<P>;
  static constexpr int ordinal() { return place_traits<P>::ordinal; }
};

template <class Backend>
struct device_of<here<Backend>> {
  using backend_type = Backend;
  constexpr device_of() = default;
  constexpr explicit device_of(int ordinal) : ordinal_(ordinal) {}
  constexpr int ordinal() const { return ordinal_; }

 private:
  int ordinal_ = 0;
};

[[noreturn]] inline void throw_past_end(std::size_t index, std::size_t extent) {
  throw argument_error("index " + std::to_string(index) + " is past the first axis's extent " + std::to_string(extent) +
                       ".");
}
[[noreturn]] inline void throw_no_slice(std::size_t first, std::size_t last, std::size_t extent) {
  throw argument_error("slice " + std::to_string(first) + " to " + std::to_string(last) +
                       " does not lie in the first axis, whose extent is " + std::to_string(extent) + ".");
}
[[noreturn]] inline void throw_reshape(std::span<const std::size_t> from, std::span<const std::size_t> to) {
  const auto count = [](std::span<const std::size_t> sizes) {
    std::size_t product = 1;
    for (const std::size_t size : sizes)
      product *= size;
    return std::to_string(product);
  };
  throw shape_error("reshape from " + sizes_text(from) + " to " + sizes_text(to) +
                    " would change the number of elements from " + count(from) + " to " + count(to) + ".");
}

}  // namespace detail

/// Placements that a view can have: one place, or one backend's device given by a number.
template <class Where>
concept view_placement = requires {
  typename detail::device_of<Where>::backend_type;
};

/// Named in the message when an element is read where the host cannot reach the memory.
struct COPY_IT_FIRST_WITH_to_on_cpu;
/// Named in the message when a view is assigned to a view.
struct USE_copy_TO_COPY_ELEMENTS;

/// Non-owning row-major window on a tensor's elements; const elements through `view<const T, ...>`. Copying a view
/// copies the window, not the elements; assigning an expression to it assigns elements (ops/elementwise.hpp). It must
/// not outlive the tensor.
template <class T, extents_like Extents, view_placement Where>
  requires element<std::remove_const_t<T>>
class view {
 public:
  /// What the type says: element with and without const, extents, placement, and the family of code that works on it.
  ///@{
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using extents_type = Extents;
  using placement_type = Where;
  using backend_type = typename detail::device_of<Where>::backend_type;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = Extents::rank;

  /// A window on memory that somebody else owns; `device` matters for `here<Backend>` only.
  constexpr view(T* data, const Extents& extents, detail::device_of<Where> device = {})
      : data_(data), extents_(extents), device_(device) {}
  /// The same window.
  constexpr view(const view&) = default;

  /// A view of const elements from one of elements, and of dynamic extents from static ones.
  template <class U, class Other>
    requires(!std::is_same_v<view<U, Other, Where>, view> && std::is_convertible_v<U (*)[], T (*)[]> &&
             std::is_convertible_v<const Other&, Extents>)
  constexpr view(const view<U, Other, Where>& other)
      : data_(other.data()), extents_(other.extents()), device_(other.device()) {}

  // Deleted so that the compiler's message names the fix; the qualifiers make the template the better match.
  view& operator=(const volatile view&) const volatile&& = delete;
  template <class FIX = USE_copy_TO_COPY_ELEMENTS>
  void operator=(const view&) const = delete;

  /// Assigns an expression's elements; extents must agree or broadcast.
  template <class Expression, class Tu = detail::this_tu>
    requires(Expression::is_expression && !std::is_const_v<T>)
  const view& operator=(const Expression& expression) const {
    assign<Tu>(*this, expression);
    return *this;
  }

  /// The first element, in the place's memory.
  constexpr T* data() const { return data_; }
  /// The sizes of all axes.
  constexpr const Extents& extents() const { return extents_; }
  /// The size of one axis.
  constexpr std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  /// Number of elements.
  constexpr std::size_t size() const { return extents_.size(); }
  /// The device, for views that are made from this one.
  constexpr detail::device_of<Where> device() const { return device_; }
  /// The device's ordinal among those of its backend.
  constexpr int ordinal() const { return device_.ordinal(); }

  /// The same elements without the ordinal in the type: what layers and operations see.
  constexpr auto erased() const {
    return view<T, Extents, here<backend_type>>{data_, extents_, detail::device_of<here<backend_type>>{ordinal()}};
  }

  /// Element access; exists where the host reaches the memory. Indices are not checked.
  template <class... Index>
    requires(sizeof...(Index) == rank && host_accessible<Where>)
  constexpr T& operator()(Index... indices) const { return data_[offset(static_cast<std::size_t>(indices)...)]; }
  template <class FIX = COPY_IT_FIRST_WITH_to_on_cpu, class... Index>
    requires(sizeof...(Index) == rank && !host_accessible<Where>)
  void operator()(Index...) const = delete;

  /// Slice `index` of the first axis, one axis less. Throws argument_error past the end.
  constexpr auto operator[](std::size_t index) const requires(rank > 0) {
    if (index >= extent(0)) detail::throw_past_end(index, extent(0));
    const auto rest = tail();
    return view<T, std::remove_const_t<decltype(rest)>, Where>{data_ + index * rest.size(), rest, device_};
  }

  /// Elements `first` up to, not including, `last` of the first axis. Throws argument_error past the end.
  constexpr auto slice(std::size_t first, std::size_t last) const requires(rank > 0) {
    if (first > last || last > extent(0)) detail::throw_no_slice(first, last, extent(0));
    const auto rest = tail();
    using sliced = detail::prepend_t<dyn, std::remove_const_t<decltype(rest)>>;
    sliced result = with_first<sliced>(last - first);
    return view<T, sliced, Where>{data_ + first * rest.size(), result, device_};
  }

  /// The same elements in another shape of the same size. Throws shape_error when the sizes differ.
  template <class Other>
  constexpr auto reshape(const Other& shape) const {
    if (shape.size() != size()) detail::throw_reshape(detail::sizes_of(extents_), detail::sizes_of(shape));
    return view<T, Other, Where>{data_, shape, device_};
  }

 private:
  template <class... Index>
  constexpr std::size_t offset(Index... indices) const {
    std::size_t result = 0, axis = 0;
    ((result = result * extents_.extent(axis) + indices, ++axis), ...);
    return result;
  }

  constexpr auto tail() const {
    detail::drop_first_t<Extents> rest;
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      if constexpr (sizeof...(Axis) == 0)
        return rest;
      else
        return detail::drop_first_t<Extents>(extents_.extent(Axis + 1)...);
    }
    (std::make_index_sequence<rank - 1>{});
  }

  template <class Sliced>
  constexpr Sliced with_first(std::size_t count) const {
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return Sliced(count, extents_.extent(Axis + 1)...);
    }
    (std::make_index_sequence<rank - 1>{});
  }

  T* data_;
  [[no_unique_address]] Extents extents_;
  [[no_unique_address]] detail::device_of<Where> device_;
};

namespace detail {

template <class V>
inline constexpr bool is_view = false;
template <class T, class E, class W>
inline constexpr bool is_view<view<T, E, W>> = true;

}  // namespace detail
}  // namespace devplace
