// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>

DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

/// Four random 32-bit words, or the counter from which they are computed.
struct philox_block {
  std::uint32_t word[4];
};

struct philox_key {
  std::uint32_t word[2];
};

/// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3; SC 2011) of `Lanes` counters at once:
/// replaces `word[w][lane]` by random words. The lanes allow vectorisation.
template <std::size_t Lanes> DEVPLACE_HD constexpr void philox(std::uint32_t (&word)[4][Lanes], philox_key key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;
  DEVPLACE_NO_UNROLL
  for (int round = 0; round < 10; ++round) {
    DEVPLACE_NO_UNROLL
    for (std::size_t lane = 0; lane < Lanes; ++lane) {
      const std::uint64_t product_0 = multiplier_0 * word[0][lane], product_1 = multiplier_1 * word[2][lane];
      word[0][lane] = static_cast<std::uint32_t>(product_1 >> 32) ^ word[1][lane] ^ key.word[0];
      word[1][lane] = static_cast<std::uint32_t>(product_1);
      word[2][lane] = static_cast<std::uint32_t>(product_0 >> 32) ^ word[3][lane] ^ key.word[1];
      word[3][lane] = static_cast<std::uint32_t>(product_0);
    }
    key.word[0] += weyl_0;
    key.word[1] += weyl_1;
  }
}

DEVPLACE_HD constexpr philox_block philox(const philox_block& counter, philox_key key) {
  std::uint32_t word[4][1] = {{counter.word[0]}, {counter.word[1]}, {counter.word[2]}, {counter.word[3]}};
  philox(word, key);
  return {{word[0][0], word[1][0], word[2][0], word[3][0]}};
}

DEVPLACE_HD constexpr std::uint32_t low_half(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
DEVPLACE_HD constexpr std::uint32_t high_half(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// The sequence of random blocks of a seed and a stream. Block i is a function of seed, stream and i, so any part of
/// the sequence can be computed independently.
struct random_sequence {
  philox_key key;
  std::uint64_t stream;

  DEVPLACE_HD constexpr random_sequence(std::uint64_t seed, std::uint64_t stream_of_seed)
      : key{{low_half(seed), high_half(seed)}}, stream(stream_of_seed) {}
  DEVPLACE_HD constexpr random_sequence(philox_key of, std::uint64_t stream_of_key) : key(of), stream(stream_of_key) {}

  DEVPLACE_HD constexpr philox_block block(std::uint64_t i) const {
    return philox({{low_half(i), high_half(i), low_half(stream), high_half(stream)}}, key);
  }

  /// Makes a key of the words of block i, for sequences that depend on seed, stream and i.
  DEVPLACE_HD constexpr philox_key key_in_block(std::uint64_t i) const {
    const philox_block mixed = block(i);
    return {{mixed.word[0], mixed.word[1]}};
  }

  /// Computes blocks first..first+Lanes-1; word w of block first + l is `word[w][l]`.
  template <std::size_t Lanes> constexpr void blocks(std::uint64_t first, std::uint32_t (&word)[4][Lanes]) const {
    DEVPLACE_NO_UNROLL
    for (std::size_t lane = 0; lane < Lanes; ++lane) {
      word[0][lane] = low_half(first + lane);
      word[1][lane] = high_half(first + lane);
      word[2][lane] = low_half(stream);
      word[3][lane] = high_half(stream);
    }
    philox(word, key);
  }
};

/// The key of a layer's random numbers in one pass.
struct layer_key {
  philox_key value{};                            ///< unless `step` is given
  const std::uint64_t* step_on_place = nullptr;  ///< the number of the step, so that all steps have equal arguments
  std::uint64_t seed = 0, layer = 0;

  /// Returns the key with its value, for a kernel's thread.
  DEVPLACE_HD constexpr layer_key resolved() const {
    if (step_on_place == nullptr) return *this;
    return {random_sequence(seed, *step_on_place).key_in_block(layer)};
  }
};

/// Returns the key of a layer in the step `step`, or in the step whose number lies on the place.
constexpr layer_key make_layer_key(std::uint64_t seed, std::uint64_t layer, std::uint64_t step,
                                   const std::uint64_t* step_on_place) {
  if (step_on_place != nullptr) return {{}, step_on_place, seed, layer};
  return {random_sequence(seed, step).key_in_block(layer)};
}

/// Copies the words from random_sequence::blocks in the order of the sequence.
template <std::size_t Lanes>
constexpr void put_in_order(const std::uint32_t (&word)[4][Lanes], std::uint32_t* in_order) {
  DEVPLACE_NO_UNROLL
  for (std::size_t lane = 0; lane < Lanes; ++lane) {
    DEVPLACE_UNROLL
    for (std::size_t w = 0; w < 4; ++w) in_order[4 * lane + w] = word[w][lane];
  }
}

/// Number of blocks that CPU loops compute at once: two AVX-512 vectors or four AVX2 vectors.
inline constexpr std::size_t philox_lanes = 16;

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END
