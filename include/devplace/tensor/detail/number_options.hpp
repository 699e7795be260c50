// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace::detail {

/// Finite numbers for which a function returns true: the range of a numeric option.
struct number_range {
  bool (*contains)(double);  ///< whether a finite number is in the range
  const char* text;          ///< follows "it must be" in the message

  /// Throws argument_error for a number outside of the range. If `value` equals a float, the message has the digits of
  /// the float.
  void require(double value, const char* owner, const char* name) const {
    if (!is_finite(value) || !contains(value)) fail(value, owner, name);
  }

 private:
  DEVPLACE_COMPILABLE([[noreturn, gnu::noinline]]) void fail(double value, const char* owner, const char* name) const {
    const auto of_float = static_cast<float>(value);
    const std::string number = of_float == value ? format_number(of_float) : format_number(value);
    throw argument_error({owner, ": ", name, " is ", number, "; it must be ", text, "."});
  }
};
DEVPLACE_COMPILED(void number_range::fail(double, const char*, const char*) const)

inline constexpr number_range proportion{[](double x) { return x >= 0 && x <= 1; }, "between 0 and 1"};

}  // namespace devplace::detail
