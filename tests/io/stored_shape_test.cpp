// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <vector>

#include <devplace/io/stored_shape.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("stored_bytes counts the bytes of an array up to the addressable size", "[io]") {
  constexpr std::size_t half = std::size_t{1} << 62;
  CHECK(dp::detail::stored_bytes(std::vector<std::size_t>{}, 4) == 4);
  CHECK(dp::detail::stored_bytes(std::vector<std::size_t>{2, 3}, 4) == 24);
  CHECK(dp::detail::stored_bytes(std::vector<std::size_t>{half}, 1) == half);
  CHECK_FALSE(dp::detail::stored_bytes(std::vector<std::size_t>{half}, 2));
  CHECK(dp::detail::stored_bytes(std::vector<std::size_t>{0, half}, 1) == 0);
  CHECK_FALSE(dp::detail::stored_bytes(std::vector<std::size_t>{0, half, 4}, 1));  // its strides would overflow
}

TEST_CASE("stored extents convert to an extents type with matching static extents", "[io]") {
  const std::vector<std::size_t> stored{5, 28, 28};
  using images = dp::extents<dp::dyn, 28, 28>;
  CHECK(dp::detail::checked_extents<images>(stored, {"read", "x"}) == images(5));
  CHECK_THROWS_WITH((dp::detail::checked_extents<dp::extents<dp::dyn, 28, 32>>(stored, {"read", "x"})),
                    ContainsSubstring("read: 'x' holds an array of shape 5x28x28, which does not fit "
                                      "extents<dyn, 28, 32>"));
  CHECK_THROWS_WITH((dp::detail::checked_extents<dp::extents<dp::dyn>>(stored, {"read", "x"})),
                    ContainsSubstring("does not fit extents<dyn>"));
}
