// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace detail {

template <class Kind>
inline constexpr bool is_split = false;
template <std::size_t Axis>
inline constexpr bool is_split<split_along<Axis>> = true;

/// Sizes that differ by at most one, larger ones first: the part of `place` when `size` is split over `places`.
constexpr std::size_t even_begin(std::size_t size, std::size_t places, std::size_t place) {
  const std::size_t each = size / places, rest = size % places;
  return place * each + (place < rest ? place : rest);
}

template <class Extents>
struct with_dynamic_first;
template <std::size_t First, std::size_t... Rest>
struct with_dynamic_first<extents<First, Rest...>> {
  using type = extents<dyn, Rest...>;
  static constexpr type with(std::size_t first, const extents<First, Rest...>& e) {
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return type(first, e.extent(Axis + 1)...);
    }
    (std::make_index_sequence<sizeof...(Rest)>{});
  }
};

}  // namespace detail

/// A tensor over several places. Split along axis 0, each place has consecutive rows, their numbers differing by at
/// most one; otherwise each place has the whole extents (a copy, or a summand). `local(k)` is place k's part.
template <element T, extents_like Extents, placement Where>
  requires(!single_place<Where>)
class tensor<T, Extents, Where> {
  using mesh = detail::mesh_traits<typename placement_traits<Where>::mesh>;
  static constexpr bool split = detail::is_split<typename placement_traits<Where>::kind>;
  static_assert(mesh::one_backend, "devplace: the places of one tensor must be of one kind, all cpu or all cuda.");
  static_assert(!split || std::is_same_v<typename placement_traits<Where>::kind, split_along<0>>,
                "devplace: tensors can be split along axis 0 only; move the axis to the front.");

 public:
  /// What the type says: element, extents of the whole, placement, and the family of code that works on it.
  ///@{
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;
  using backend_type = typename mesh::backend_type;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = Extents::rank;
  /// Number of places.
  static constexpr std::size_t places = place_count<Where>;
  /// Extents of one place's part.
  using local_extents =
      typename std::conditional_t<split, detail::with_dynamic_first<Extents>, std::type_identity<Extents>>::type;

  /// Uninitialised elements.
  template <class Tu = detail::this_tu>
  explicit tensor(const Extents& extents, Tu = {}) : extents_(extents) {
    for (std::size_t k = 0; k < places; ++k)
      blocks_[k] = detail::allocate<backend_type, Tu>(mesh::ordinals[k], part_extents(k).size() * sizeof(T));
  }

  /// Evaluates an expression (ops/elementwise.hpp), place by place: into a new tensor, or the elements of this one.
  ///@{
  template <class Expression, class Tu = detail::this_tu>
    requires(Expression::is_placed_expression)
  tensor(const Expression& expression, Tu = {}) : tensor(expression.template storage<tensor, Tu>()) {
    expression.template into<Tu>(*this);
  }
  template <class Expression, class Tu = detail::this_tu>
    requires(Expression::is_placed_expression)
  tensor& operator=(const Expression& expression) {
    expression.template into<Tu>(*this);
    return *this;
  }
  ///@}

  /// Hands the memory over; nothing is copied.
  ///@{
  tensor(tensor&&) noexcept = default;
  tensor& operator=(tensor&&) noexcept = default;
  ///@}

  /// Extents of the whole value.
  const Extents& extents() const { return extents_; }
  /// The size of one axis of the whole value.
  std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  /// Number of elements of the whole value.
  std::size_t size() const { return extents_.size(); }

  /// Place k's part, as operations see it.
  ///@{
  auto local(std::size_t k) { return part<T>(k); }
  auto local(std::size_t k) const { return part<const T>(k); }
  ///@}

  /// First row of place k's part in the whole.
  std::size_t first_row(std::size_t k) const {
    if constexpr (split)
      return detail::even_begin(extents_.extent(0), places, k);
    else
      return 0;
  }

 private:
  friend struct detail::leading_extent;

  local_extents part_extents(std::size_t k) const {
    if constexpr (split)
      return detail::with_dynamic_first<Extents>::with(first_row(k + 1) - first_row(k), extents_);
    else
      return extents_;
  }
  template <class Element>
  auto part(std::size_t k) const {
    using where = here<backend_type>;
    return devplace::view<Element, local_extents, where>{static_cast<T*>(blocks_[k].data()), part_extents(k),
                                                         detail::device_of<where>{mesh::ordinals[k]}};
  }

  std::array<detail::memory_block, places> blocks_;
  [[no_unique_address]] Extents extents_;
};

namespace detail {

/// Part `k` of a value over places, as an erased view; a value on one place has one part, itself.
template <class X>
auto local_part(X&& x, std::size_t k) {
  if constexpr (requires { x.local(k); }) {
    return x.local(k);
  } else {
    static_cast<void>(k);
    return as_view(x).erased();
  }
}

}  // namespace detail

/// Splits a tensor's first axis over the places of `Where` (`sharded<0, ...>`), one copy for each.
template <placement Where, class Tu = detail::this_tu, tensor_like From>
  requires detail::is_split<typename placement_traits<Where>::kind>
auto scatter(const From& source) {
  using from = std::remove_cvref_t<From>;
  tensor<typename from::value_type, typename from::extents_type, Where> result(source.extents(), Tu{});
  for (std::size_t k = 0; k < place_count<Where>; ++k) {
    const auto part = result.local(k);
    copy<Tu>(part, detail::as_view(source).slice(result.first_row(k), result.first_row(k) + part.extent(0)));
  }
  return result;
}

/// Collects the parts of a split tensor on one place.
template <single_place Where, class Tu = detail::this_tu, class T, class Extents, class From>
  requires detail::is_split<typename placement_traits<From>::kind>
auto gather(const tensor<T, Extents, From>& source) {
  tensor<T, Extents, Where> result(source.extents(), Tu{});
  for (std::size_t k = 0; k < place_count<From>; ++k) {
    const auto part = source.local(k);
    const std::size_t first = source.first_row(k);
    copy<Tu>(result.slice(first, first + part.extent(0)), part);
  }
  return result;
}

}  // namespace devplace
