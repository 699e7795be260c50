// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/ops/detail/random_body.hpp>
#include <devplace/ops/detail/random_order.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/detail/number_options.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

// Random numbers are counter based (Philox4x32-10): element i is a function of (seed, stream, i). It depends neither on
// the number of threads nor on the place, and is bitwise equal on CPUs and GPUs, with and without FMA instructions.
// Streams of one seed are independent: use one for each parameter or purpose. Each distribution has streams of its own,
// so uniform and normal numbers and permutations of one seed and stream are independent too.

namespace devplace {

/// Determines, together with an element's position, whether a dropout keeps the element.
struct dropout_key {
  std::uint64_t seed = 0;                        ///< seed of the random numbers
  std::uint64_t layer = 0;                       ///< distinguishes the dropouts of a network
  std::uint64_t step = 0;                        ///< number of the training step
  const std::uint64_t* step_on_place = nullptr;  ///< this number on the place; if given, `step` is not read
};

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Constants that are combined with a stream's number ("uniform" and "normal" in ASCII); permutations use the stream's
/// number itself.
inline constexpr std::uint64_t uniform_streams = 0x756e'6966'6f72'6d00, normal_streams = 0x6e6f'726d'616c'0000;

template <tensor_like To> auto random_destination(To& destination) {
  const auto to = as_view(destination);
  using view_type = std::remove_const_t<decltype(to)>;
  static_assert(!std::is_const_v<typename view_type::element_type>,
                "devplace: random: the destination's elements are const; pass a tensor or view that may be changed.");
  static_assert(is_floating_or_half_precision<typename view_type::value_type>,
                "devplace: random: random numbers are float, double, bf16 or half; convert them with cast<T>(x), or "
                "take permutation(n, seed) for a random order.");
  return to;
}

template <class View, class Body> void fill_randomly(const View& to, const Body& body) {
  for_each_index<typename View::backend_type>(to.ordinal(), Body::indices(to.size()), Body::grain, body);
}

template <class Destination>
using computed_of_destination = computed_t<typename std::remove_cvref_t<Destination>::value_type>;

/// The smallest number of type T that is at least x.
template <class T> computed_t<T> rounded_up(computed_t<T> x) {
  const T nearest{x};
  if constexpr (storage_element<T>)
    if (nearest < x)  // bits + 1 is the next number away from 0, bits - 1 the next towards 0
      return T::from_bits(static_cast<decltype(nearest.bits())>(nearest.bits() + (x > 0 ? 1 : -1)));
  return nearest;
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Fills a tensor or view with uniformly distributed numbers in [low, high). Draws one of 2^24 equally spaced values
/// for float, bf16 and half, one of 2^53 for double, and rounds this value to the nearest number of the element type in
/// the interval. If low and high are equal, every element is low, rounded to the element type. Element i comes from
/// number i of the seed's stream. Throws argument_error unless low <= high, both are finite in the element type, their
/// difference is finite, and the interval holds a number of this type.
template <tensor_like To>
void uniform_into(To&& destination, seed start, std::uint64_t stream, detail::computed_of_destination<To> low,
                  detail::computed_of_destination<To> high) {
  const auto to = detail::random_destination(destination);
  using value_type = typename decltype(to)::value_type;
  const auto rounded = [](auto x) { return static_cast<detail::computed_t<value_type>>(static_cast<value_type>(x)); };
  auto first = rounded(low), last = first;
  const bool valid =
      detail::is_finite(high - low) && low <= high && detail::is_finite(first) && detail::is_finite(rounded(high));
  if (valid && low < high) {
    first = detail::rounded_up<value_type>(low);
    last = -detail::rounded_up<value_type>(-std::nextafter(high, low));
  }
  if (!valid || first > last)
    throw argument_error({"uniform: the bounds are ", detail::format_number(low), " and ", detail::format_number(high),
                          "; the bounds and their difference must be finite, and ", "[low, high) must contain a ",
                          dtype_name<value_type>(), " number."});
  detail::fill_randomly(
      to, detail::uniform_body<value_type>{
              detail::raw_data(to), {start.value, stream ^ detail::uniform_streams}, first, high - first, last});
}

/// Fills a tensor or view with normally distributed numbers by the Box-Muller transform. Elements 4i to 4i+3 come from
/// block i of the seed's stream, and are computed in float, 32 random bits each; for bf16 and half they are then
/// rounded. Doubles 2i and 2i+1 come from block i, 64 bits each. Floats lie within 6.8 standard deviations of the mean,
/// doubles within 9. Throws argument_error if the standard deviation is negative, or if a number 9 deviations from the
/// mean is infinite in the element type.
template <tensor_like To>
void normal_into(To&& destination, seed start, std::uint64_t stream, detail::computed_of_destination<To> mean,
                 detail::computed_of_destination<To> standard_deviation) {
  const auto to = detail::random_destination(destination);
  using value_type = typename decltype(to)::value_type;
  const double farthest = std::fabs(static_cast<double>(mean)) + 9 * static_cast<double>(standard_deviation);
  if (!detail::is_finite(static_cast<detail::computed_t<value_type>>(static_cast<value_type>(farthest))) ||
      standard_deviation < 0)
    throw argument_error({"normal: the mean is ", detail::format_number(mean), " and the standard deviation ",
                          detail::format_number(standard_deviation), "; the deviation must not be negative, and ",
                          "numbers 9 deviations from the mean must be finite as ", dtype_name<value_type>(), "."});
  detail::fill_randomly(
      to,
      detail::normal_body<value_type>{
          detail::raw_data(to), to.size(), {start.value, stream ^ detail::normal_streams}, mean, standard_deviation});
}

/// Sets elements of x to 0 with the given probability and multiplies the others by 1 / (1 - probability); the gradient
/// is the same function of dy with the same key. x and y have equal extents [samples, ...] and may be one array.
/// Whether an element is dropped depends on the key, its position within the sample and `first_sample` + the sample's
/// index, so pieces of a batch drop the same elements as the whole batch. A dropped NaN becomes 0. Throws
/// argument_error unless 0 <= probability <= 1, and shape_error for different extents.
template <tensor_like To, tensor_like From>
void dropout_into(To&& y, const From& x, double probability, dropout_key key, std::uint64_t first_sample = 0) {
  const auto to = detail::random_destination(y);
  const auto from = detail::as_view(x);
  using to_view = std::remove_const_t<decltype(to)>;
  using from_view = std::remove_const_t<decltype(from)>;
  using value_type = typename to_view::value_type;
  static_assert(std::is_same_v<value_type, typename from_view::value_type>,
                "devplace: dropout: the element types of y and x differ; convert x with cast<T>(x) first.");
  static_assert(std::is_same_v<typename to_view::placement_type, typename from_view::placement_type>,
                "devplace: dropout: y and x live on different places; move x with to<placement>(x) first.");
  static_assert(detail::compatible<typename to_view::extents_type, typename from_view::extents_type>,
                "devplace: dropout: the static extents of y and x differ; they must be equal.");
  static_assert(to_view::rank > 0, "devplace: dropout: x needs a first axis, that of the samples.");
  detail::proportion.require(probability, "dropout", "probability");
  detail::require_same_extents("dropout", "y", to, "x", from);
  detail::require_one_device("dropout", to, from);
  if (to.size() == 0) return;
  if (probability == 0)
    return detail::copy_within<typename to_view::backend_type>(to.ordinal(), detail::raw_data(to),
                                                               detail::raw_data(from), to.size() * sizeof(value_type));
  // Mixes layer and step into the key, because the counter holds sample and column.
  const detail::layer_key mixed = detail::make_layer_key(key.seed, key.layer, key.step, key.step_on_place);
  const double kept = 1 - probability;
  detail::for_each_index<typename to_view::backend_type>(
      to.ordinal(), to.size(), detail::random_grain,
      detail::dropout_body<value_type>{detail::raw_data(to), detail::raw_data(from), to.size() / to.extent(0),
                                       first_sample, mixed, static_cast<std::uint64_t>(probability * 0x1p32),
                                       static_cast<detail::computed_t<value_type>>(kept > 0 ? 1 / kept : 0)});
}

/// Writes a random permutation of 0 to n-1 to host memory: sorts the indices, with the i-th 64-bit number of the seed's
/// stream as the key of index i. All permutations are equally likely, within the limits of a 64-bit seed.
/// permutation.hpp computes this permutation on any place.
inline void permutation_into(std::int64_t* order, std::size_t n, seed start, std::uint64_t stream = 0) {
  const detail::memory_block workspace = detail::allocate<backend::cpu>(
      0, detail::random_order::workspace(n) * sizeof(std::uint64_t), memory_purpose::workspace);
  detail::random_order::run(order, n, {start.value, stream}, static_cast<std::uint64_t*>(workspace.data()));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(random)
