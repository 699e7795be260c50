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
template <class F, class First, class... Rest> constexpr auto result_of_candidates() {
  if constexpr (skipped<First>)
    return result_of_candidates<F, Rest...>();
  else
    return std::type_identity<std::invoke_result_t<F&, First>>{};
}
template <class F, class... Where>
using result_of_candidates_t = typename decltype(result_of_candidates<F, Where...>())::type;

template <class Result, class F, class Where>
concept returns = skipped<Where> || std::is_same_v<Result, std::invoke_result_t<F&, Where>>;

/// Whether `F` returns one type for all candidates that are not skipped, if it is callable with them.
template <class F, bool Callable, class... Where>
concept returns_one_type = !Callable || (returns<result_of_candidates_t<F, Where...>, F, Where> && ...);

template <class F, class Where>
concept takes = skipped<Where> || std::is_invocable_v<F&, Where>;
/// Whether `F` can be called with all candidates that are not skipped, if they are usable.
template <class F, bool Usable, class... Where>
concept takes_each = !Usable || (takes<F, Where> && ...);

/// Explains at compile time why a function cannot be called with a list of candidates; `valid` is true if it can.
template <class F, class List> struct candidate_call;
template <class F, class... Where> struct candidate_call<F, candidate_list<Where...>> : candidates<Where...> {
  using candidates<Where...>::usable;
  static constexpr bool takes_placement = takes_each<F, usable, Where...>;
  static_assert(takes_placement,
                "devplace: first_available, select: the function takes the chosen placement, whichever it is: "
                "first_available<cuda<0>, cpu>([](auto where) { ... }).");
  static constexpr bool callable = usable && takes_placement;
  static constexpr bool one_type = returns_one_type<F, callable, Where...>;
  static_assert(one_type,
                "devplace: first_available, select: the function returns different types for different placements; "
                "let it return one type for all of them, or nothing.");
  static constexpr bool valid = callable && one_type;
};

/// Calls `f` with the first available candidate; `reasons` lists why the previous candidates are not available.
template <class Result, class Where, class... Rest, class F> Result attempt_candidates(F& f, std::string reasons) {
  std::string reason = why_unavailable<Where>();
  if constexpr (!skipped<Where>) {
    if (reason.empty()) return f(Where{});
  }
  reasons.append(" ").append(devplace::placement_name<Where>()).append(": ").append(reason).append(".");
  if constexpr (sizeof...(Rest) > 0)
    return attempt_candidates<Result, Rest...>(f, std::move(reasons));
  else
    throw placement_unavailable("first_available: none of the placements can be used on this machine." + reasons);
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
  if constexpr (detail::candidate_call<F, list>::valid)
    return [&]<class... Where>(detail::candidate_list<Where...>) -> decltype(auto) {
      return detail::attempt_candidates<detail::result_of_candidates_t<F, Where...>, Where...>(f, {});
    }(list{});
  else
    return detail::refusal{};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
