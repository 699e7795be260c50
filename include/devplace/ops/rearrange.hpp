// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/dynamic_axis.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/tensor.hpp>

// Functions that move, repeat or pad the elements along one axis, as NumPy's functions of these names. `x` is a tensor
// or view on one place, of any layout. The result is a new tensor on x's place. Enqueued on the place's current stream;
// a view that is not contiguous is copied to a workspace first.

namespace devplace {

/// The elements that pad() adds: a constant, copies of the first and last element, or the elements next to the border
/// in reversed order, without the border itself (`c b | a b c | b a`).
enum class padding_mode { constant, edge, reflect };

/// Options of pad(): `pad(x, axis<1>{}, {.before = 2, .after = 1})`.
template <element T> struct pad_options {
  std::size_t before = 0;                      ///< number of elements added before the first one
  std::size_t after = 0;                       ///< number of elements added after the last one
  padding_mode mode = padding_mode::constant;  ///< the elements that are added
  detail::computed_t<T> value = 0;             ///< the constant of padding_mode::constant
};

}  // namespace devplace

namespace devplace::detail {

// Maps: functors that return the index, along the axis, of the element of x for an index of the result, or no_index.

inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

struct reversed_index {
  std::size_t size;
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return size - 1 - i; }
};
struct rotated_index {
  std::size_t size, first;  // the element that becomes the first one
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return i < size - first ? i + first : i + first - size; }
};
struct repeated_index {
  std::size_t times;
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return i / times; }
};
struct tiled_index {
  std::size_t size;
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return i % size; }
};
struct padded_index {
  std::size_t size, before;
  padding_mode mode;
  DEVPLACE_HD std::size_t operator()(std::size_t i) const {
    if (i >= before && i - before < size) return i - before;
    if (mode == padding_mode::constant) return no_index;
    if (mode == padding_mode::edge) return i < before ? 0 : size - 1;
    return i < before ? before - i : 2 * size - 2 - (i - before);
  }
};

/// The sizes of an array [outer, size, inner] around an axis.
struct sizes_around_axis {
  std::size_t outer = 1, size = 1, inner = 1;
};
template <std::size_t N, class Extents> sizes_around_axis around_axis(const Extents& extents) {
  sizes_around_axis sizes;
  for (std::size_t k = 0; k < Extents::rank; ++k)
    (k == N ? sizes.size : k + 1 <= N ? sizes.outer : sizes.inner) *= extents.extent(k);
  return sizes;
}

/// Index functor: element (outer, i, inner) of the result is element (outer, map(i), inner) of x, or `otherwise`.
template <class T, class Map> struct mapped_elements {
  T* result;
  const T* x;
  std::size_t count, size, inner;  // `count` indices along the axis of the result, `size` of x
  Map map;
  T otherwise;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t row = i / inner, from = map(row % count);
    result[i] = from == no_index ? otherwise : x[(row / count * size + from) * inner + i % inner];
  }

  /// On the CPU, copies whole rows of `inner` elements.
  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin, n; i < end; i += n) {
      const std::size_t row = i / inner, column = i % inner, from = map(row % count);
      n = std::min(end - i, inner - column);
      if (from == no_index)
        std::fill_n(result + i, n, otherwise);
      else
        std::copy_n(x + (row / count * size + from) * inner + column, n, result + i);
    }
  }
};

/// Whether X is on one place and has axis N; if not, an assertion fails.
template <class X, std::size_t N> constexpr bool has_axis() {
  if constexpr (takes_on_one_place<X>()) {
    constexpr bool exists = N < operand_extents_t<X>::rank;
    static_assert(exists, "devplace: the operand has no such axis; axes are numbered from 0.");
    return exists;
  } else {
    return false;
  }
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the tensor of extents `extents` whose index i along axis N is index map(i) of x.
template <std::size_t N, class X, class Extents, class Map>
auto mapped_along(const X& x, const Extents& extents, const Map& map, computed_t<operand_element_t<X>> otherwise = {}) {
  using value = operand_element_t<X>;
  result_beside_t<X, value, Extents> result(extents);
  const auto from = packed(as_any_view(x));
  const sizes_around_axis sizes = around_axis<N>(from.view.extents());
  for_each_index<operand_backend_t<X>>(
      from.view.ordinal(), result.size(), elementwise_grain,
      mapped_elements<value, Map>{raw_data(result), raw_data(from.view), extents.extent(N), sizes.size, sizes.inner,
                                  map, static_cast<value>(otherwise)});
  return result;
}

[[noreturn]] inline void throw_no_element_to_pad(const char* mode, std::size_t least, std::size_t size) {
  throw argument_error({"pad: the mode ", mode, " needs ", least, " or more elements along the axis, and there are ",
                        size, "; add fewer elements or pad with a constant."});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// x with the elements along an axis in reversed order: `flip(x, axis<1>{})`, as numpy.flip.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
auto flip(const X& x, axis<N>) {
  if constexpr (detail::has_axis<X, N>())
    return detail::mapped_along<N>(x, x.extents(), detail::reversed_index{x.extents().extent(N)});
  else
    return detail::refusal{};
}

/// x with the elements moved along an axis by `shift` positions, to higher indices if `shift` is positive; elements
/// moved beyond an end enter at the other: `roll(x, axis<0>{}, 1)`, as numpy.roll.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
auto roll(const X& x, axis<N>, std::int64_t shift) {
  if constexpr (detail::has_axis<X, N>()) {
    const std::size_t size = x.extents().extent(N);
    const auto distance = static_cast<std::int64_t>(size == 0 ? 1 : size);
    const auto first = static_cast<std::size_t>((distance - shift % distance) % distance);
    return detail::mapped_along<N>(x, x.extents(), detail::rotated_index{size, first});
  } else {
    return detail::refusal{};
  }
}

/// x with each element along an axis repeated `times` times: `a b` becomes `a a b b`, as numpy.repeat.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
auto repeat(const X& x, axis<N>, std::size_t times) {
  if constexpr (detail::has_axis<X, N>()) {
    using result = detail::with_dynamic_axis<detail::operand_extents_t<X>, N>;
    return detail::mapped_along<N>(x, result::with(x.extents().extent(N) * times, x.extents()),
                                   detail::repeated_index{times});
  } else {
    return detail::refusal{};
  }
}

/// `times` copies of x one after the other along an axis: `a b` becomes `a b a b`, as numpy.tile.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
auto tile(const X& x, axis<N>, std::size_t times) {
  if constexpr (detail::has_axis<X, N>()) {
    using result = detail::with_dynamic_axis<detail::operand_extents_t<X>, N>;
    const std::size_t size = x.extents().extent(N);
    return detail::mapped_along<N>(x, result::with(size * times, x.extents()), detail::tiled_index{size});
  } else {
    return detail::refusal{};
  }
}

/// x with elements added before and after along an axis, as numpy.pad; see pad_options. Throws argument_error if an
/// axis without elements is padded with its edge, or an axis of n elements with n or more reflected ones.
template <class X, std::size_t N>
  requires detail::accepted_argument<const X&>
auto pad(const X& x, axis<N>, const pad_options<detail::operand_element_t<X>>& options) {
  if constexpr (detail::has_axis<X, N>()) {
    using result = detail::with_dynamic_axis<detail::operand_extents_t<X>, N>;
    const std::size_t size = x.extents().extent(N), before = options.before, after = options.after;
    if (options.mode == padding_mode::edge && size == 0 && before + after != 0)
      detail::throw_no_element_to_pad("edge", 1, size);
    if (options.mode == padding_mode::reflect && before + after != 0 && std::max(before, after) >= size)
      detail::throw_no_element_to_pad("reflect", std::max(before, after) + 1, size);
    return detail::mapped_along<N>(x, result::with(before + size + after, x.extents()),
                                   detail::padded_index{size, before, options.mode}, options.value);
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
