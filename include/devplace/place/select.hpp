// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/place/first_available.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The normal form of a placement's name: no spaces, `cuda:0` for `cuda`, and plain ordinals inside `<>`.
DEVPLACE_COMPILABLE_PLAIN() std::string normal_name(std::string_view name) {
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
DEVPLACE_COMPILED_PLAIN(std::string normal_name(std::string_view))

template <class Result, class Where, class... Rest>
Result select_candidate(candidate_list<Where, Rest...>, const std::string& normal, std::string_view name, auto& f,
                        std::string offered) {
  if (normal == normal_name(devplace::placement_name<Where>())) {
    require_available<Where>();
    if constexpr (!skipped<Where>) return f(Where{});
  }
  offered.append(offered.empty() ? "" : ", ").append(devplace::placement_name<Where>());
  if constexpr (skipped<Where>) offered += " (not in this build)";
  if constexpr (sizeof...(Rest) > 0)
    return select_candidate<Result>(candidate_list<Rest...>{}, normal, name, f, std::move(offered));
  else
    throw argument_error({"select: \"", name, "\" is not a placement of this program; choose one of: ", offered, "."});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Calls `f(where)` for the placement with the given name, for example the value of an option `--device`, and returns
/// its result. `name` is convertible to std::string_view: `cpu`, `cuda:1`, `cuda` (device 0), `replicated<0, 1>` or the
/// full form `replicated<cuda:0, cuda:1>`. Instantiates `f` for the placements that this build can use. Throws
/// argument_error for a name that is not listed. Throws placement_unavailable, with the reason, for a placement that
/// this build or machine cannot use.
template <detail::placement_candidate... Candidate, class Name, class F>
decltype(auto) select(const Name& name, F&& f) {
  constexpr bool has_name = std::is_convertible_v<const Name&, std::string_view>;
  static_assert(has_name,
                "devplace: select: the first argument is the placement's name, a string: select<cuda<0>, "
                "cpu>(\"cpu\", [](auto where) { ... }).");
  using list = detail::expanded_t<Candidate...>;
  if constexpr (!has_name)
    return detail::refusal{};
  else if constexpr (detail::check_candidates<F>(list{}))
    return detail::select_candidate<detail::result_of_candidates_t<F, list>>(list{}, detail::normal_name(name), name, f,
                                                                             {});
  else
    return detail::refusal{};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
