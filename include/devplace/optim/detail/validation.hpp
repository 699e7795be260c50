// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <devplace/place/error.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::optim::detail {

inline void require_not_negative(double value, const char* optimizer, const char* name) {
  if (!devplace::detail::is_finite(value) || value < 0)
    throw argument_error(std::string(optimizer) + ": " + name + " is " + std::to_string(value) +
                         "; it must be a finite number that is not negative.");
}

inline void require_decay_rate(double value, const char* optimizer, const char* name) {
  if (!devplace::detail::is_finite(value) || value < 0 || value >= 1)
    throw argument_error(std::string(optimizer) + ": " + name + " is " + std::to_string(value) +
                         "; it must be at least 0 and less than 1.");
}

}  // namespace devplace::optim::detail
