// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/base/options.hpp>
#include <devplace/tensor/detail/number_options.hpp>

namespace devplace::optim {

// Ranges of hyperparameters; `for_each_option` passes the range after the value. Your own ranges need the member
// `require(value, owner, name)`, which throws argument_error for a value outside of the range.

/// Finite numbers for which a function returns true: `number_range{contains, text}`; `text` follows "it must be" in the
/// message.
using devplace::detail::number_range;

/// Integers from `least` on.
struct at_least {
  std::int64_t least;  ///< the smallest valid number
  const char* unit;    ///< the counted unit, such as "a number of steps"

  /// Throws argument_error for a smaller number.
  void require(std::int64_t value, const char* owner, const char* name) const {
    if (value < least)
      throw argument_error({owner, ": ", name, " is ", value, "; it is ", unit, ", at least ", least, "."});
  }
};

/// The ranges of the library's own hyperparameters.
///@{
inline constexpr number_range positive{[](double x) { return x > 0; }, "a finite number above 0"};
inline constexpr number_range not_negative{[](double x) { return x >= 0; }, "a finite number that is not negative"};
inline constexpr number_range decay_rate{[](double x) { return x >= 0 && x < 1; }, "at least 0 and less than 1"};
using devplace::detail::proportion;
///@}

/// Throws argument_error for an option outside of its range, then calls the object's own `validate()`. Takes rules,
/// schedules, and options of training such as clip_norm and loss_scaling.
template <class Options> void validate(const Options& options) {
  if constexpr (devplace::detail::has_options<const Options> && requires { Options::name; })
    Options::for_each_option(options, []([[maybe_unused]] const char* name, const auto& value, const auto&... range) {
      (range.require(value, Options::name, name), ...);
    });
  // Checks the form of for_each_option at compile time. An object without a name has no ranges, so nothing is called.
  [[maybe_unused]] constexpr auto checked_list =
      &devplace::detail::for_each_option<const Options, devplace::detail::ignored_option>;
  if constexpr (requires { options.validate(); }) options.validate();
}

}  // namespace devplace::optim
