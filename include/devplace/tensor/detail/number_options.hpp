// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/base/error.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace::detail {

/// Throws argument_error unless a numeric option is `valid`; `range` describes the valid numbers. If a double equals a
/// float, prints the float's digits.
inline void require_option(bool valid, const char* owner, const char* name, double value, const char* range) {
  if (valid) return;
  const auto of_float = static_cast<float>(value);
  const std::string text = of_float == value ? format_number(of_float) : format_number(value);
  throw argument_error(std::string(owner) + ": " + name + " is " + text + "; it must be " + range + ".");
}
inline void require_share(double value, const char* owner, const char* name) {
  require_option(is_finite(value) && value >= 0 && value <= 1, owner, name, value, "between 0 and 1");
}

}  // namespace devplace::detail
