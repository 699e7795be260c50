// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/place/placement.hpp>

namespace devplace {

/// As many GPUs as there are, at most N; a candidate of first_available and select. Stands for `replicated<0, ..., N -
/// 1>`, `replicated<0, ..., N - 2>` and so on to `on<cuda<0>>`. The function is compiled for each of these placements.
template <int N> struct up_to {};

}  // namespace devplace

namespace devplace::detail {

template <class... Where> struct candidate_list {};

template <class... A, class... B>
constexpr candidate_list<A..., B...> operator+(candidate_list<A...>, candidate_list<B...>) {
  return {};
}

template <int... I> constexpr auto first_gpus(std::integer_sequence<int, I...>) {
  return std::conditional_t<sizeof...(I) == 1, on<cuda<0>>, replicated<I...>>{};
}

/// The placements that a candidate stands for.
template <class Candidate> struct expansion : std::type_identity<candidate_list<Candidate>> {};
template <int N> struct expansion<up_to<N>> {
  static_assert(N > 0, "devplace: up_to<N> stands for N GPUs or fewer; N is at least 1.");

  template <int... Fewer>
  static auto all_counts(std::integer_sequence<int, Fewer...>)
      -> candidate_list<decltype(first_gpus(std::make_integer_sequence<int, N - Fewer>{}))...>;
  using type = decltype(all_counts(std::make_integer_sequence<int, N>{}));
};

template <class Candidate> inline constexpr bool is_up_to = false;
template <int N> inline constexpr bool is_up_to<up_to<N>> = true;

template <class... Candidate>
using expanded_t = decltype((candidate_list<>{} + ... + typename expansion<Candidate>::type{}));

/// A candidate of first_available and select: a placement or `up_to<N>`.
template <class X>
concept placement_candidate = placement<X> || is_up_to<X>;

}  // namespace devplace::detail
