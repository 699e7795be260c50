// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"

#include <devplace/ops/detail/philox.hpp>

#include <algorithm>
#include <array>

using devplace::detail::philox_block;
using devplace::detail::random_sequence;

namespace {

using words = std::array<std::uint32_t, 4>;

constexpr words words_of(const philox_block& b) { return {b.word[0], b.word[1], b.word[2], b.word[3]}; }

}  // namespace

// The known answers of Random123 (kat_vectors, philox4x32, 10 rounds); counter and key start with the low word.
static_assert(words_of(random_sequence(0, 0).block(0)) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

TEST_CASE("philox gives Random123's known answers", "[ops]") {
  constexpr std::uint64_t ones = 0xffffffffffffffff;
  CHECK(words_of(random_sequence(ones, ones).block(ones)) == words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words_of(random_sequence(0x299f31d0a4093822, 0x0370734413198a2e).block(0x85a308d3243f6a88)) ==
        words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox makes the same blocks one by one and several at once", "[ops]") {
  const random_sequence sequence(3, 5);
  constexpr std::uint64_t first = 0xfffffffe;  // the counter's low word overflows within the range
  std::uint32_t word[4][7];
  sequence.blocks(first, word);
  for (std::size_t lane = 0; lane < 7; ++lane)
    CHECK(words_of(sequence.block(first + lane)) == words{word[0][lane], word[1][lane], word[2][lane], word[3][lane]});
}
