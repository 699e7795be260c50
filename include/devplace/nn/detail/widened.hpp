// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/layer.hpp>
#include <devplace/runtime/round_elements.hpp>

// For layers whose operations compute in float and double only, with a member `static constexpr bool widens = true`: in
// mixed precision these work on copies in float of the activations and of the rounded parameters, which are made in
// each pass.
namespace devplace::nn::detail {

template <class Call>
inline constexpr bool has_short_activations =
    !std::is_same_v<typename Call::value_type, typename Call::accumulator_type>;

/// The elements of a view, or their copy in float at `copy`.
template <class Call, class View, class F>
const F* widened(const Call& c, const View& x, [[maybe_unused]] F* copy) {
  if constexpr (has_short_activations<Call>) {
    runtime::round_elements<typename Call::backend_type>(c.ordinal(), copy, x.data(), x.size());
    return copy;
  } else {
    return x.data();
  }
}

/// Where an operation writes the elements of a view: there or, in mixed precision, at `copy`, which round_into() rounds
/// afterwards.
///@{
template <class Call, class View, class F>
F* destination(const Call&, const View& x, [[maybe_unused]] F* copy) {
  if constexpr (has_short_activations<Call>)
    return copy;
  else
    return x.data();
}
template <class Call, class View, class F>
void round_into(const Call& c, const View& x, const F* copy) {
  if constexpr (has_short_activations<Call>)
    runtime::round_elements<typename Call::backend_type>(c.ordinal(), x.data(), copy, x.size());
}
///@}

/// The elements of parameter `Index`, or the copy in float of the rounded ones.
template <std::size_t Index, class Call>
const typename Call::accumulator_type* widened_parameter(const Call& c) {
  if constexpr (has_short_activations<Call>)
    return widened(c, c.template parameter<Index>(), c.template widened_parameter<Index>().data());
  else
    return c.template parameter<Index>().data();
}

}  // namespace devplace::nn::detail
