// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <devplace/place/first_available.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The normal form of a placement's name: no spaces, `cuda:0` for `cuda`, and plain ordinals inside `<>`.
inline std::string normal_name(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != ' ') result += c;
  if (result == "cuda") return "cuda:0";
  const std::string_view prefix = "cuda:";
  for (std::size_t at = result.find('<'); at != std::string::npos; at = result.find(prefix, at))
    if (result.compare(at, prefix.size(), prefix) == 0)
      result.erase(at, prefix.size());
    else
      ++at;
  return result;
}

template <class Result, class Where, class... Rest, class F>
Result select_candidate(const std::string& wanted, std::string_view given, F& f, std::string offered) {
  if (wanted == normal_name(devplace::placement_name<Where>())) {
    require_available<Where>();
    if constexpr (!skipped<Where>) return f(Where{});
  }
  offered.append(offered.empty() ? "" : ", ").append(devplace::placement_name<Where>());
  if constexpr (skipped<Where>) offered += " (not in this build)";
  if constexpr (sizeof...(Rest) > 0)
    return select_candidate<Result, Rest...>(wanted, given, f, std::move(offered));
  else
    throw argument_error("select: \"" + std::string(given) +
                         "\" is not a placement of this program; choose one of: " + offered + ".");
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Calls `f(where)` for the placement with the given name, for example the value of an option `--device`, and returns
/// its result: `cpu`, `cuda:1`, `cuda` (device 0), `replicated<0, 1>` or the full form `replicated<cuda:0, cuda:1>`.
/// `f` is instantiated for the placements that this build can use. Throws argument_error for a name that is not among
/// them, and placement_unavailable, with the reason, for one that this build or machine cannot use.
template <detail::placement_candidate... Candidate, class F>
  requires(sizeof...(Candidate) != 0 && !detail::forgets_placement<std::remove_cvref_t<F>>)
decltype(auto) select(std::string_view name, F&& f) {
  using list = detail::expanded_t<Candidate...>;
  constexpr bool returns_one_type = detail::returns_one_type<F>(list{});
  static_assert(returns_one_type,
                "devplace: select: the function returns different types for different placements; let it return one "
                "type for all of them, or nothing.");
  if constexpr (returns_one_type)
    return [&]<class... Where>(detail::candidate_list<Where...>) -> decltype(auto) {
      if constexpr (detail::candidates<Where...>::usable)
        return detail::select_candidate<detail::result_of_candidates_t<F, Where...>, Where...>(
            detail::normal_name(name), name, f, {});
    }(list{});
  else
    return detail::refusal{};
}
/// Appears in the compiler's message for other arguments.
struct NAME_THE_PLACEMENTS_AND_GIVE_A_STRING_AND_A_FUNCTION;
template <class... Candidate, class Name, class F, class FIX = NAME_THE_PLACEMENTS_AND_GIVE_A_STRING_AND_A_FUNCTION>
  requires(sizeof...(Candidate) == 0 || detail::forgets_placement<std::remove_cvref_t<F>> ||
           !std::is_convertible_v<const Name&, std::string_view>)
detail::refusal select(const Name&, const F&)
DEVPLACE_REFUSED(
    "select: name the placements, and give a name and then a function that takes a placement, as in select<cuda<0>, "
    "cpu>(\"cpu\", [](auto where) { ... }).");

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
