// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>

#include <devplace/parallel/share.hpp>

#include "support/catch.hpp"

using devplace::parallel::share_begin;

// 63 lines of 16 elements, the last one with 8, for 4 participants: 16, 16, 16 and 15.
static_assert(share_begin(1000, 4, 0) == 0 && share_begin(1000, 4, 1) == 256 && share_begin(1000, 4, 2) == 512);
static_assert(share_begin(1000, 4, 3) == 768 && share_begin(1000, 4, 4) == 1000);
// Two lines for three participants: the last has none.
static_assert(share_begin(32, 3, 1) == 16 && share_begin(32, 3, 2) == 32 && share_begin(32, 3, 3) == 32);
static_assert(share_begin(0, 3, 1) == 0 && share_begin(5, 1, 1) == 5);

TEST_CASE("shares are consecutive whole lines whose numbers differ by at most one", "[parallel]") {
  for (std::size_t participants = 1; participants <= 17; ++participants)
    for (std::size_t count = 0; count <= 600; count += 16) {
      INFO(count << " elements, " << participants << " participants");
      std::size_t least = count, most = 0;
      for (std::size_t rank = 0; rank < participants; ++rank) {
        const std::size_t begin = share_begin(count, participants, rank);
        const std::size_t size = share_begin(count, participants, rank + 1) - begin;
        CHECK((begin % 16 == 0 && size % 16 == 0));
        least = size < least ? size : least;
        most = size > most ? size : most;
      }
      CHECK(share_begin(count, participants, 0) == 0);
      CHECK(share_begin(count, participants, participants) == count);
      CHECK(most - least <= 16);
    }
}
