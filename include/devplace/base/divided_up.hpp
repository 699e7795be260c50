// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

/// Returns a / b, rounded up. Does not overflow.
DEVPLACE_HD constexpr std::size_t divided_up(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Returns `a` rounded up to a multiple of `unit`.
DEVPLACE_HD constexpr std::size_t padded_to(std::size_t a, std::size_t unit) { return divided_up(a, unit) * unit; }

}  // namespace devplace::detail
