// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/part_copy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/tensor.hpp>

// New tensors with given elements: `zeros<float, cpu>(extents<dyn, 3>{5})`. The place writes the elements, in the order
// of its current stream; only `permutation` and random numbers of split tensors are computed on the host and copied.

namespace devplace::detail {

/// The extents type for the arguments of a function that makes a tensor: extents, or a number for each axis.
template <class... Size> struct extents_of_sizes {
  static constexpr bool valid = sizeof...(Size) != 0 && (std::is_integral_v<Size> && ...);
  using type = dextents<sizeof...(Size)>;
};
template <extents_like Extents> struct extents_of_sizes<Extents> {
  static constexpr bool valid = true;
  using type = Extents;
};

template <class T> struct arange_body {
  T* destination;
  computed_t<T> start, step;

  DEVPLACE_HD void operator()(std::size_t i) const {
    if constexpr (std::is_integral_v<T>)
      destination[i] = static_cast<T>(static_cast<std::uint64_t>(start) + i * static_cast<std::uint64_t>(step));
    else
      destination[i] = T(std::fma(static_cast<computed_t<T>>(i), step, start));
  }
};

/// Number of elements start + i step that lie before stop.
template <class T> std::size_t arange_size(T start, T stop, T step) {
  if constexpr (std::is_floating_point_v<T>) {
    const double count = std::ceil((double{stop} - double{start}) / double{step});
    if (!is_finite(count) || step == 0 || count >= 0x1p62)
      throw argument_error({"arange: there is no end to the numbers from ", format_number(start), " to ",
                            format_number(stop), " in steps of ", format_number(step), "."});
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  } else {
    if (step == 0) throw argument_error("arange: the step is 0; there is no end to the numbers.");
    if (step > 0 ? stop <= start : stop >= start) return 0;
    // Unsigned, so that differences of int64 do not overflow.
    const auto wide = [](T x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    const std::uint64_t distance = step > 0 ? wide(stop) - wide(start) : wide(start) - wide(stop);
    const std::uint64_t stride = step > 0 ? wide(step) : 0 - wide(step);
    return static_cast<std::size_t>((distance - 1) / stride + 1);
  }
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Makes a tensor with the same elements on every place: calls `write(view)` for each place's local tensor.
template <class T, class Where, class Write, class... Size>
auto made_everywhere(const Write& write, const Size&... sizes) {
  const typename extents_of_sizes<Size...>::type extents(sizes...);
  tensor<T, std::remove_const_t<decltype(extents)>, Where> result(extents);
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) write(local_part(result, k));
  return result;
}

template <class T, class Where, class... Size> constexpr bool can_create() {
  constexpr bool of_elements = element<T>, placed = placement<Where>, sized = extents_of_sizes<Size...>::valid;
  static_assert(of_elements,
                "devplace: the first template argument must be an element type, as in zeros<float, cpu>(3, 4): float, "
                "double, std::int32_t, std::int64_t, std::uint8_t, bf16 or half.");
  static_assert(placed, "devplace: the second template argument must be a placement, as in zeros<float, cpu>(3, 4).");
  static_assert(sized,
                "devplace: a tensor's size must be given as extents, or as one integer for each axis, as in "
                "zeros<float, cpu>(3, 4) and full<float, cpu>(extents(3, 4), 7).");
  return of_elements && placed && sized;
}

/// Makes a tensor of random elements: for a split tensor, the host draws the whole and each place gets a part;
/// otherwise every place draws the same elements.
template <class T, class Where, class Write, class Extents> auto drawn(const Write& write, const Extents& extents) {
  constexpr bool shaped = extents_like<Extents>;
  static_assert(shaped,
                "devplace: random numbers take extents and a seed, as in uniform<float, cpu>(extents(3, 4), seed{1}).");
  if constexpr (shaped && can_create<T, Where, Extents>()) {
    using kind = kind_in_process<Where>;
    static_assert(is_floating_or_half_precision<T>,
                  "devplace: random: random numbers are float, double, bf16 or half; convert them with cast<T>(x).");
    static_assert(!kind::is_summands,
                  "devplace: random numbers as summands would add up to another distribution; make them on one place, "
                  "or replicated.");
    if constexpr (!is_floating_or_half_precision<T> || kind::is_summands) {
      return refusal{};
    } else if constexpr (kind::is_split) {
      tensor<T, Extents, on<cpu>> whole(extents);
      write(whole.view());
      tensor<T, Extents, Where> result(extents);
      copy_to_parts(result, whole.view());
      return result;
    } else {
      return made_everywhere<T, Where>(write, extents);
    }
  } else {
    return refusal{};
  }
}

/// Makes a tensor of `count` numbers start + i step.
template <class T, class Where> auto numbers_in_steps(std::size_t count, computed_t<T> start, computed_t<T> step) {
  tensor<T, extents<dyn>, Where> result(extents<dyn>{count});
  for_each_index<typename decltype(result)::backend_type>(result.view().ordinal(), count, elementwise_grain,
                                                          arange_body<T>{raw_data(result), start, step});
  return result;
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A tensor with all elements equal, on one or several places. Partial placements except max and min allow only 0.
template <class T, class Where, class Extents> auto full(const Extents& extents, detail::computed_t<T> value) {
  if constexpr (detail::can_create<T, Where, Extents>()) {
    constexpr bool one_value = detail::keeps_equal_summands<detail::kind_in_process<Where>>;
    static_assert(one_value,
                  "devplace: full: the value of a partial tensor is the reduction of its summands, and equal summands "
                  "reduce to another value; make zeros, or a replicated tensor.");
    return detail::made_everywhere<T, Where>([value = T(value)](const auto& part) { fill(part, value); }, extents);
  } else {
    return detail::refusal{};
  }
}

/// A tensor of zeros, on one or several places: copies, parts or summands. Takes extents, or a number for each axis:
/// `zeros<float, cpu>(3, 4)`.
template <class T, class Where, class... Size> auto zeros(const Size&... sizes) {
  if constexpr (detail::can_create<T, Where, Size...>())
    return detail::made_everywhere<T, Where>([](const auto& part) { fill(part, T{0}); }, sizes...);
  else
    return detail::refusal{};
}

/// A tensor of ones. Takes sizes as zeros does, and placements as full does.
template <class T, class Where, class... Size> auto ones(const Size&... sizes) {
  if constexpr (detail::can_create<T, Where, Size...>())
    return full<T, Where>(typename detail::extents_of_sizes<Size...>::type(sizes...), 1);
  else
    return detail::refusal{};
}

/// Zeros with the element type, extents, placement and split of a tensor or view.
template <tensor_like X> auto zeros_like(const X& x) {
  using T = typename X::value_type;
  if constexpr (detail::kind_of<typename X::placement_type>::is_split) {
    tensor<T, typename X::extents_type, typename X::placement_type> result(x.extents(), x.split_sizes());
    for (std::size_t k = 0; k < X::places; ++k) fill(result.only_on(k), T{0});
    return result;
  } else {
    return zeros<T, typename X::placement_type>(x.extents());
  }
}

/// start, start + step, start + 2 step, ... up to but not including stop, as numpy.arange. Element i is start + i *
/// step, rounded once.
template <class T, class Where = void>
auto arange(detail::computed_t<T> start, detail::computed_t<T> stop, detail::computed_t<T> step = 1) {
  constexpr bool of_elements = element<T>, on_one_place = single_place<Where>;
  static_assert(of_elements && on_one_place,
                "devplace: arange: the template arguments must be an element type and one place, as in "
                "arange<float, cpu>(10).");
  if constexpr (of_elements && on_one_place)
    return detail::numbers_in_steps<T, Where>(detail::arange_size(start, stop, step), start, step);
  else
    return detail::refusal{};
}

/// 0, 1, 2, ... up to but not including stop.
template <class T, class Where = void> auto arange(detail::computed_t<T> stop) { return arange<T, Where>(0, stop, 1); }

/// `count` numbers at equal distances from `first` to `last`, including both, as numpy.linspace: `linspace<float,
/// cpu>(0, 1, 11)`. The numbers are rounded once each; a single number is `first`.
template <class T, class Where = void>
auto linspace(detail::computed_t<T> first, detail::computed_t<T> last, std::size_t count) {
  constexpr bool of_numbers = floating_element<T> || detail::storage_element<T>, on_one_place = single_place<Where>;
  static_assert(of_numbers && on_one_place,
                "devplace: linspace: the template arguments must be a floating-point type and one place, as in "
                "linspace<float, cpu>(0, 1, 11).");
  if constexpr (of_numbers && on_one_place) {
    using computed = detail::computed_t<T>;
    const computed step = count < 2 ? computed{0} : (last - first) / static_cast<computed>(count - 1);
    auto result = detail::numbers_in_steps<T, Where>(count, first, step);
    if (count > 1) fill(result.view().slice(count - 1, count), T(last));
    return result;
  } else {
    return detail::refusal{};
  }
}

/// Uniformly distributed numbers in [low, high); see uniform_into. On several places, each gets a copy of the same
/// numbers or, if the tensor is split, its part of them. The host draws such parts and copies them to the places.
template <class T, class Where, class Extents>
auto uniform(const Extents& extents, seed start, detail::computed_t<T> low = 0, detail::computed_t<T> high = 1) {
  return detail::drawn<T, Where>([&](const auto& to) { uniform_into(to, start, 0, low, high); }, extents);
}

/// Normally distributed numbers; see normal_into and, for several places, uniform.
template <class T, class Where, class Extents>
auto normal(const Extents& extents, seed start, detail::computed_t<T> mean = 0,
            detail::computed_t<T> standard_deviation = 1) {
  return detail::drawn<T, Where>([&](const auto& to) { normal_into(to, start, 0, mean, standard_deviation); }, extents);
}

/// A random permutation of 0 to n-1; see permutation_into. Computed on the CPU and copied to `Where`; the version in
/// permutation.hpp is computed on the place itself.
template <class Where = on<cpu>> auto permutation(std::size_t n, seed start) {
  constexpr bool on_one_place = single_place<Where>;
  static_assert(on_one_place,
                "devplace: permutation: the template argument must be one place, as in permutation<cpu>(10, seed{1}); "
                "broadcast or scatter the result to several.");
  if constexpr (on_one_place) {
    tensor<std::int64_t, extents<dyn>, on<cpu>> order(extents<dyn>{n});
    permutation_into(order.data(), n, start);
    return to<Where>(std::move(order));
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
