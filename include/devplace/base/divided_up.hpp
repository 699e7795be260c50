// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>

namespace devplace::detail {

/// Returns a / b, rounded up. Does not overflow.
DEVPLACE_HD constexpr std::size_t divided_up(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// a / b. Divides in 32 bits if both fit, which is several times faster on GPUs.
DEVPLACE_HD constexpr std::size_t quotient(std::size_t a, std::size_t b) {
  return ((a | b) >> 32) == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
}

/// Returns the begin of part `part` of `count` elements, divided into `parts` parts whose sizes differ by at most one.
constexpr std::size_t part_begin(std::size_t count, std::size_t parts, std::size_t part) noexcept {
  const std::size_t rest = count % parts;
  return part * (count / parts) + (part < rest ? part : rest);
}

/// Returns `a` rounded up to a multiple of `unit`.
DEVPLACE_HD constexpr std::size_t padded_to(std::size_t a, std::size_t unit) { return divided_up(a, unit) * unit; }

}  // namespace devplace::detail
