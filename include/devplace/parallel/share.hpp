// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/divided_up.hpp>

namespace devplace::parallel {

/// The begin of participant `rank`'s share of `count` elements. The share ends where the share of `rank + 1` begins.
/// Shares are whole cache lines of float, to avoid false sharing. They are also whole vectors of every width, so
/// elementwise results have the same bits for any number of participants. Shares differ by at most one line and may be
/// empty.
constexpr std::size_t share_begin(std::size_t count, std::size_t participants, std::size_t rank) {
  constexpr std::size_t line = 16;
  const std::size_t begin =
      devplace::detail::part_begin(devplace::detail::divided_up(count, line), participants, rank) * line;
  return begin < count ? begin : count;
}

}  // namespace devplace::parallel
