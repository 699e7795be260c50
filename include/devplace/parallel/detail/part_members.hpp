// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

namespace devplace::parallel::detail {

/// What a process gives to split().
struct split_wish {
  int color, key, rank;
};

/// The ranks of the processes that give `color`, in the order of their ranks in the part.
inline std::vector<int> members_of_part(std::vector<split_wish> wishes, int color) {
  std::erase_if(wishes, [&](const split_wish& other) { return other.color != color; });
  std::sort(wishes.begin(), wishes.end(),
            [](const split_wish& x, const split_wish& y) { return x.key != y.key ? x.key < y.key : x.rank < y.rank; });
  std::vector<int> ranks;
  for (const split_wish& one : wishes)
    ranks.push_back(one.rank);
  return ranks;
}

}  // namespace devplace::parallel::detail
