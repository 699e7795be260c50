// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/process/shared_layout.hpp>

#include <cstddef>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::parallel::shared_layout;
using dp::parallel::detail::shared_offsets;

TEST_CASE("the data of two consecutive calls does not overlap, and lies in the process's memory", "[process]") {
  for (const std::size_t portion : {std::size_t{1}, std::size_t{5000}, std::size_t{1} << 16}) {
    INFO("portion " << portion);
    shared_offsets offsets(portion);
    std::size_t before = 0, before_end = 0;
    for (std::size_t call = 0; call != 2000; ++call) {
      // Two of five calls are of messages, which take the memory of two portions.
      const std::size_t bytes = call % 5 < 2 ? 2 * portion : call * 7919 % portion + 1;
      const std::size_t at = offsets.take(bytes);
      REQUIRE(at % 128 == 0);
      REQUIRE(at + bytes <= shared_offsets::bytes_for(portion));
      REQUIRE((at >= before_end || at + bytes <= before));
      before = at;
      before_end = at + bytes;
    }
  }
}

TEST_CASE("data of whole portions passes through the memory before it starts again", "[process]") {
  constexpr std::size_t portion = 1 << 16;
  shared_offsets offsets(portion);
  const std::size_t first = offsets.take(portion);
  for (std::size_t call = 1; call != 4; ++call) CHECK(offsets.take(portion) == first + call * portion);
  CHECK(offsets.take(portion) == first);
}

TEST_CASE("the memories of processes follow their arrivals, in whole pages", "[process]") {
  for (const std::size_t processes : {2U, 3U, 64U}) {
    const shared_layout layout{processes, 100000};
    CHECK(layout.memory_at(0) >= processes * sizeof(dp::parallel::detail::shared_arrival));
    for (std::size_t rank = 0; rank != processes; ++rank) {
      CHECK(layout.memory_at(rank) % 4096 == 0);
      CHECK(layout.memory_at(rank + 1) - layout.memory_at(rank) >= shared_offsets::bytes_for(100000));
    }
    CHECK(layout.bytes() == layout.memory_at(processes));
  }
}

TEST_CASE("the usual portion shrinks from 1 MiB for 8 processes to 64 KiB", "[process]") {
  CHECK(shared_layout::usual_portion(1) == 1 << 20);
  CHECK(shared_layout::usual_portion(8) == 1 << 20);
  CHECK(shared_layout::usual_portion(32) == 1 << 18);
  CHECK(shared_layout::usual_portion(1000) == 1 << 16);
  CHECK(shared_layout::usual_bytes(1) == 0);
  CHECK(shared_layout::usual_bytes(2) == shared_layout{2, 1 << 20}.bytes() / 2);
}
