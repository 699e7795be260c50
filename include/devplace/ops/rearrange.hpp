// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>

// Functions that move, repeat or pad the elements along one axis, as NumPy's functions of these names. `x` is a tensor
// or a view of any layout on one place, or an expression. The result is a new tensor on x's place. Enqueued on the
// place's current stream; a view that is not contiguous is copied to a workspace first.

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

// Maps are functors that turn an index of the result, along the axis, into the index of the element of x, or no_index.
// `count()` is the extent of the result along the axis; maps without this member keep the extent of x.

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
  std::size_t size, times;
  // If the product overflows: no_index, which extents refuse.
  std::size_t count() const { return times != 0 && size > no_index / times ? no_index : size * times; }
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return i / times; }
};
struct tiled_index : repeated_index {
  DEVPLACE_HD std::size_t operator()(std::size_t i) const { return i % size; }
};
struct padded_index {
  std::size_t size, before, after;
  padding_mode mode;
  // Extents are at most 2^59, so that the sum of numbers below 2^62 does not overflow.
  std::size_t count() const { return (before | after) >> 62U != 0 ? no_index : before + size + after; }
  DEVPLACE_HD std::size_t operator()(std::size_t i) const {
    if (i >= before && i - before < size) return i - before;
    if (mode == padding_mode::constant) return no_index;
    if (mode == padding_mode::edge) return i < before ? 0 : size - 1;
    return i < before ? before - i : 2 * size - 2 - (i - before);
  }
};

/// The sizes outer x count x inner of an array around axis N.
template <std::size_t N, class Extents> reduction_extents around_axis(const Extents& extents) {
  return reduction_extents_of(sizes_of(extents), reduced_axes<Extents::rank>(axis<N>{}));
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
  constexpr bool taken = takes_on_one_place<X>(), exists = !taken || N < operand_rank<X>;
  static_assert(exists, "devplace: the operand has no such axis; axes are numbered from 0.");
  return taken && exists;
}

[[noreturn]] inline void throw_no_element_to_pad(const char* mode, std::size_t least, std::size_t size) {
  throw argument_error({"pad: the mode ", mode, " needs ", least, " or more elements along the axis, and there are ",
                        size, "; add fewer elements or pad with a constant."});
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns the tensor whose index i along axis N is index map(i) of the operand; `make_map` makes the map for the
/// operand's extent along the axis.
template <class Operand, std::size_t N, class MakeMap, class Value = char>
auto mapped_along(Operand&& operand, axis<N>, const MakeMap& make_map, Value otherwise = {}) {
  using X = evaluated_value_t<Operand>;
  if constexpr (check_unnamed<Operand>() && has_axis<X, N>()) {
    using value = operand_element_t<X>;
    const auto& x = evaluated(operand);
    const auto from = packed(as_any_view(x));
    const reduction_extents sizes = around_axis<N>(from.view.extents());
    const auto map = make_map(sizes.count);
    const auto extents = [&] {
      if constexpr (requires { map.count(); })
        return with_dynamic_axis<operand_extents_t<X>, N>::with(map.count(), x.extents());
      else
        return x.extents();
    }();
    result_beside_t<X, value, std::remove_const_t<decltype(extents)>> result(extents);
    for_each_index<operand_backend_t<X>>(from.view.ordinal(), result.size(), elementwise_grain,
                                         mapped_elements<value, std::remove_const_t<decltype(map)>>{
                                             raw_data(result), raw_data(from.view), extents.extent(N), sizes.count,
                                             sizes.inner, map, static_cast<value>(otherwise)});
    return result;
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// x with the elements along an axis in reversed order: `flip(x, axis<1>{})`, as numpy.flip.
template <detail::accepted_argument X, std::size_t N> auto flip(X&& x, axis<N> along) {
  return detail::mapped_along(std::forward<X>(x), along, [](std::size_t size) { return detail::reversed_index{size}; });
}

/// A view of x, a tensor or view, with the elements along an axis in reversed order: `reversed(x, axis<0>{})`, as
/// x[::-1] in NumPy. Copies nothing; the stride of the axis changes its sign.
template <detail::accepted_argument X, std::size_t N> constexpr auto reversed(X&& x, axis<N>) {
  constexpr bool kept = !detail::is_tensor<std::remove_const_t<X>>;
  static_assert(kept,
                "devplace: reversed: a temporary tensor would be gone before the view; give it a name first, or copy "
                "with flip.");
  if constexpr (kept && detail::has_axis<X, N>()) {
    const auto from = detail::as_any_view(x);
    using from_type = std::remove_const_t<decltype(from)>;
    auto strides = from.strides();
    auto* first = detail::raw_data(from);
    if (from.size() != 0) first += static_cast<std::ptrdiff_t>(from.extents().extent(N) - 1) * strides[N];
    strides[N] = -strides[N];
    return view<typename from_type::element_type, typename from_type::extents_type, typename from_type::placement_type,
                strided>(first, from.extents(), strides, from.device());
  } else {
    return detail::refusal{};
  }
}

/// x with the elements moved along an axis by `shift` positions, to higher indices if `shift` is positive; elements
/// moved beyond one end enter at the other end: `roll(x, axis<0>{}, 1)`, as numpy.roll.
template <detail::accepted_argument X, std::size_t N> auto roll(X&& x, axis<N> along, std::int64_t shift) {
  return detail::mapped_along(std::forward<X>(x), along, [=](std::size_t size) {
    const auto distance = static_cast<std::int64_t>(size == 0 ? 1 : size);
    return detail::rotated_index{size, static_cast<std::size_t>((distance - shift % distance) % distance)};
  });
}

/// x with each element along an axis repeated `times` times: `a b` becomes `a a b b`, as numpy.repeat.
template <detail::accepted_argument X, std::size_t N> auto repeat(X&& x, axis<N> along, std::size_t times) {
  return detail::mapped_along(std::forward<X>(x), along,
                              [=](std::size_t size) { return detail::repeated_index{size, times}; });
}

/// `times` copies of x one after the other along an axis: `a b` becomes `a b a b`, as numpy.tile.
template <detail::accepted_argument X, std::size_t N> auto tile(X&& x, axis<N> along, std::size_t times) {
  return detail::mapped_along(std::forward<X>(x), along,
                              [=](std::size_t size) { return detail::tiled_index{{size, times}}; });
}

/// x with elements added before and after along an axis, as numpy.pad; see pad_options. Throws argument_error if an
/// axis without elements is padded with its edge, or an axis of n elements with n or more reflected ones.
template <detail::accepted_argument X, std::size_t N>
auto pad(X&& x, axis<N> along, const pad_options<typename detail::evaluated_value_t<X>::value_type>& options) {
  const auto make_map = [&](std::size_t size) {
    const std::size_t most = std::max(options.before, options.after);
    if (options.mode == padding_mode::edge && size == 0 && most != 0) detail::throw_no_element_to_pad("edge", 1, size);
    if (options.mode == padding_mode::reflect && most != 0 && most >= size)
      detail::throw_no_element_to_pad("reflect", most + 1, size);
    return detail::padded_index{size, options.before, options.after, options.mode};
  };
  return detail::mapped_along(std::forward<X>(x), along, make_map, options.value);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
