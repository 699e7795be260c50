// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>

namespace devplace::parallel::detail {

using devplace::detail::joined;

/// Looks up environment variables: by std::getenv, or in a test's table.
class launch_variables {
 public:
  /// `lookup(name)` is a C string, null if the variable is not set.
  explicit launch_variables(std::function<const char*(const char*)> lookup =
                                [](const char* name) { return std::getenv(name); })
      : lookup_(std::move(lookup)) {}

  const char* operator()(const char* name) const { return lookup_(name); }
  bool has(const char* name) const { return (*this)(name) != nullptr; }

  /// The value, empty if the variable is not set.
  std::string text(const char* name) const {
    const char* const value = (*this)(name);
    return value == nullptr ? "" : value;
  }

  /// The value as a whole number, or nothing if the variable is not set. Throws for any other value; `fix` ends the
  /// message.
  std::optional<int> number(const char* name, const std::string& fix, int lowest = 0,
                            int highest = std::numeric_limits<int>::max()) const {
    const char* const value = (*this)(name);
    if (value == nullptr) return std::nullopt;
    const int number = devplace::detail::whole_number(value);
    if (number < lowest || number > highest)
      throw argument_error({"launch_environment: ", name, "=\"", value, "\" is not a whole number from ", lowest,
                            " to ", highest, ". ", fix});
    return number;
  }

 private:
  std::function<const char*(const char*)> lookup_;
};

/// A rank and a size, such as RANK and WORLD_SIZE, and the variables that they come from.
struct position {
  const char* rank_variable;
  const char* size_variable;
  int rank = 0;
  int size = 1;

  std::string names() const { return joined({rank_variable, ", ", size_variable}); }
  std::string text() const { return joined({rank_variable, "=", rank, " and ", size_variable, "=", size}); }
};

/// The position that two variables give; nothing if neither is set. Throws if only one is set or the rank is not below
/// the size; `fix` ends the message.
inline std::optional<position> read_position(const launch_variables& variables, const char* rank_variable,
                                             const char* size_variable, const std::string& fix) {
  const auto rank = variables.number(rank_variable, fix);
  const auto size = variables.number(size_variable, fix, 1);
  if (!rank && !size) return std::nullopt;
  if (!rank || !size) {
    const char* const variable = rank ? rank_variable : size_variable;
    throw argument_error({"launch_environment: ", variable, "=", variables.text(variable), " is set, but ",
                          rank ? size_variable : rank_variable, " is not. ", fix});
  }
  const position found{rank_variable, size_variable, *rank, *size};
  if (*rank >= *size)
    throw argument_error(
        {"launch_environment: ", found.text(), " contradict each other: ranks are 0 to ", *size - 1, ". ", fix});
  return found;
}

}  // namespace devplace::parallel::detail
