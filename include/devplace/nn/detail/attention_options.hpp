// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/number.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

/// An option of attention: a position attends to itself and to earlier positions.
struct causal {};

/// An option of attention: in training each probability is set to 0 with probability P, a std::ratio, and otherwise
/// multiplied by 1 / (1 - P).
template <class P> struct attention_dropout {
  static_assert(detail::is_probability<P>,
                "devplace: attention_dropout takes its probability as a ratio, at least 0 and below 1: "
                "attention_dropout<std::ratio<1, 10>> for 10 %.");
};

/// Sequences of any length whose positions have `Width` elements, in error messages.
template <std::size_t Width> struct sequences_of;

namespace detail {

template <class Option> inline constexpr bool is_attention_dropout = false;
template <class P> inline constexpr bool is_attention_dropout<attention_dropout<P>> = true;

template <class Option> inline constexpr double dropout_probability = 0;
template <class P> inline constexpr double dropout_probability<attention_dropout<P>> = number_of<P>;

template <class... Options> struct attention_options {
  static constexpr std::size_t causals = (std::size_t{std::is_same_v<Options, causal>} + ... + 0);
  static constexpr std::size_t dropouts = (std::size_t{is_attention_dropout<Options>} + ... + 0);
  static constexpr bool known = causals <= 1 && dropouts <= 1 && causals + dropouts == sizeof...(Options);
  static constexpr bool is_causal = causals != 0;
  static constexpr double probability = (dropout_probability<Options> + ... + 0.0);
};

/// The input extents of attention: `X` if they fit, else a stand-in.
template <class X, std::size_t Width> struct sequence_fit {
  static constexpr std::size_t length = 1;
  using type = extents<1, Width>;
  using expected = sequences_of<Width>;
};
template <std::size_t Length, std::size_t Width> struct sequence_fit<extents<Length, Width>, Width> {
  static constexpr std::size_t length = Length;
  using type = extents<Length, Width>;
  using expected = type;
};

}  // namespace detail
}  // namespace devplace::nn
