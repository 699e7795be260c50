// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/up_to.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The type that `F` returns for the first candidate that is not skipped.
template <class F, class First, class... Rest> constexpr auto result_of_candidates(candidate_list<First, Rest...>) {
  if constexpr (skipped<First>)
    return result_of_candidates<F>(candidate_list<Rest...>{});
  else
    return std::type_identity<std::invoke_result_t<F&, First>>{};
}
template <class F, class List> using result_of_candidates_t = typename decltype(result_of_candidates<F>(List{}))::type;

template <class Result, class F, class Where>
concept returns = skipped<Where> || std::is_same_v<Result, std::invoke_result_t<F&, Where>>;
template <class F, class Where>
concept takes = skipped<Where> || std::is_invocable_v<F&, Where>;

/// Whether `first_available` and `select` can call `F` with a list of candidates. Fails to compile, with the reason, if
/// they cannot.
template <class F, class... Where> consteval bool check_candidates(candidate_list<Where...>) {
  constexpr bool named = sizeof...(Where) != 0;
  constexpr bool in_wrong_language = (wrong_language<Where> || ...);
  constexpr bool all_skipped = named && (skipped<Where> && ...);
  static_assert(named,
                "devplace: first_available, select: name the placements, as in first_available<cuda<0>, cpu>([](auto "
                "where) { ... }).");
  static_assert(!in_wrong_language,
                "devplace: first_available, select: a cuda placement is listed and devplace::cuda is linked, but this "
                "file is compiled as C++; compile it as CUDA: devplace_compile_as_cuda(target) in CMake, or a .cu "
                "file.");
  static_assert(!all_skipped,
                "devplace: first_available, select: none of the placements can be used in this build; list on<cpu>, or "
                "add devplace::cuda (or devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  if constexpr (named && !in_wrong_language && !all_skipped) {
    constexpr bool takes_placement = (takes<F, Where> && ...);
    static_assert(takes_placement,
                  "devplace: first_available, select: the function takes the chosen placement, whichever it is: "
                  "first_available<cuda<0>, cpu>([](auto where) { ... }).");
    if constexpr (takes_placement) {
      constexpr bool one_type = (returns<result_of_candidates_t<F, candidate_list<Where...>>, F, Where> && ...);
      static_assert(one_type,
                    "devplace: first_available, select: the function returns different types for different "
                    "placements; let it return one type for all of them, or nothing.");
      return one_type;
    }
  }
  return false;
}

/// Calls `f` with the first available candidate; `reasons` lists why the previous candidates are not available.
template <class Result, class Where, class... Rest>
Result attempt_candidates(candidate_list<Where, Rest...>, auto& f, std::string reasons) {
  std::string reason = why_unavailable<Where>();
  if constexpr (!skipped<Where>) {
    if (reason.empty()) return f(Where{});
  }
  reasons = joined({reasons, " ", devplace::placement_name<Where>(), ": ", reason, "."});
  if constexpr (sizeof...(Rest) > 0)
    return attempt_candidates<Result>(candidate_list<Rest...>{}, f, std::move(reasons));
  else
    throw placement_unavailable({"first_available: none of the placements can be used on this machine.", reasons});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Calls `f(where)` for the first usable placement and returns its result: `first_available<up_to<8>, on<cpu>>(f)` uses
/// as many GPUs as there are. Skips a cuda placement at compile time, without instantiating `f` for it, if no component
/// provides the placement. Skips it at run time if the machine lacks the device. Does not compile if devplace::cuda is
/// linked but the file is compiled as C++, because the next placement would be chosen silently. Throws
/// placement_unavailable, with the reason for each placement, if none is usable.
template <detail::placement_candidate... Candidate, class F> decltype(auto) first_available(F&& f) {
  using list = detail::expanded_t<Candidate...>;
  if constexpr (detail::check_candidates<F>(list{}))
    return detail::attempt_candidates<detail::result_of_candidates_t<F, list>>(list{}, f, {});
  else
    return detail::refusal{};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
