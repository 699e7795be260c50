// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <vector>

#include <devplace/base/thread_team.hpp>

namespace devplace::bench {

/// Returns the numbers of threads given by the program's arguments from the second on; by default 1 and all processors.
inline std::vector<int> thread_counts(int argc, char** argv) {
  std::vector<int> counts;
  for (int i = 2; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {1, thread_count()};
  return counts;
}

}  // namespace devplace::bench
