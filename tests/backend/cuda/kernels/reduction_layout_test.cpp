// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/reduction_layout.hpp>

#include <cstddef>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::detail::reduction_layout;
using dp::detail::reduction_layout_of;

TEST_CASE("layouts of reductions: few sums are split over blocks, short ones share a block", "[cuda]") {
  const reduction_layout all = reduction_layout_of(1, 10'000'000, 1, 4);
  CHECK(all.lanes == 256);
  CHECK(all.chunks > 900);
  CHECK(all.chunks <= dp::detail::most_partial_blocks);
  CHECK(all.chunk % (256 * 4) == 0);
  CHECK(all.chunk * all.chunks >= 10'000'000);
  CHECK(all.chunk * (all.chunks - 1) < 10'000'000);

  const reduction_layout bias = reduction_layout_of(1, 65536, 256, 1);
  CHECK(bias.columns == 32);
  CHECK(bias.lanes == 8);
  CHECK(bias.tiles == 8);
  CHECK(bias.blocks() == 1024);

  const reduction_layout classes = reduction_layout_of(64, 10, 1, 4);
  CHECK(classes.lanes == 4);
  CHECK(classes.groups_per_block() == 64);
  CHECK(classes.blocks() == 1);
  CHECK(reduction_layout_of(100, 300, 1, 4).lanes == 32);
  CHECK(reduction_layout_of(100, 5000, 1, 4).lanes == 256);
  CHECK(reduction_layout_of(100'000, 5000, 1, 4).chunks == 1);
  CHECK(reduction_layout_of(3, 0, 5, 1).blocks() >= 1);
}

TEST_CASE("no reduction layout exceeds the workspace, and each covers its elements once", "[cuda]") {
  for (const std::size_t outer : {1u, 2u, 7u, 300u, 512u, 100'000u})
    for (const std::size_t count : {1u, 3u, 1000u, 1025u, 70'000u, 50'000'000u})
      for (const std::size_t inner : {1u, 2u, 10u, 33u, 256u, 20'000u})
        for (const unsigned width : {1u, 2u, 4u}) {
          INFO(outer << " x " << count << " x " << inner << ", width " << width);
          const unsigned results = inner == 1 || inner % width != 0 ? 1 : width;
          const reduction_layout a = reduction_layout_of(outer, count, inner, inner == 1 ? width : results);
          REQUIRE(a.group_threads() <= 256);
          REQUIRE(256 % a.group_threads() == 0);
          REQUIRE(a.tiles * a.columns * results >= inner);
          REQUIRE(a.columns * results <= dp::detail::most_block_columns);
          REQUIRE(a.sets * a.groups_per_block() >= a.groups);
          REQUIRE(a.chunk * a.chunks >= count);
          REQUIRE((a.chunk * (a.chunks - 1) < count));
          if (a.chunks == 1) continue;
          REQUIRE(a.groups_per_block() == 1);
          REQUIRE(a.blocks() <= dp::detail::most_partial_blocks);
        }
}
