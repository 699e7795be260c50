// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/divided_up.hpp>

#include <cstddef>

#include "support/catch.hpp"

TEST_CASE("quotients and multiples are rounded up", "[base]") {
  using devplace::detail::divided_up;
  using devplace::detail::padded_to;
  for (std::size_t a = 0; a < 40; ++a)
    for (std::size_t b = 1; b < 12; ++b) {
      std::size_t quotient = 0;
      while (quotient * b < a) ++quotient;
      INFO(a << " by " << b);
      CHECK(divided_up(a, b) == quotient);
      CHECK(padded_to(a, b) == quotient * b);
    }
}
