// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace::nn::detail {

template <class R>
inline constexpr bool is_ratio = requires {
  R::num;
  R::den;
};

/// The value of a std::ratio; 1 for another type, so that no further error follows the rejection.
template <class R> inline constexpr double number_of = 1;
template <class R>
  requires is_ratio<R>
inline constexpr double number_of<R> = static_cast<double>(R::num) / static_cast<double>(R::den);

/// Whether a template argument is a std::ratio of at least 0 and below 1.
template <class R> inline constexpr bool is_probability = is_ratio<R> && number_of<R> >= 0 && number_of<R> < 1;

}  // namespace devplace::nn::detail
