// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

namespace devplace::parallel::detail {

/// The rank of a process, and its arguments of split().
struct split_request {
  int color, key, rank;
};

/// The ranks of the processes with this `color`, in the order of their new ranks.
inline std::vector<int> members_of_part(std::vector<split_request> requests, int color) {
  std::erase_if(requests, [&](const split_request& other) { return other.color != color; });
  std::sort(requests.begin(), requests.end(), [](const split_request& x, const split_request& y) {
    return x.key != y.key ? x.key < y.key : x.rank < y.rank;
  });
  std::vector<int> ranks;
  for (const split_request& one : requests) ranks.push_back(one.rank);
  return ranks;
}

}  // namespace devplace::parallel::detail
