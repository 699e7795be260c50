// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/philox.hpp>

// A random permutation is the order of random keys: the index with the smallest key comes first. Every place can
// compute the permutation, with the same result.
namespace devplace::detail {

/// The key of an index: half of a random block.
DEVPLACE_HD constexpr std::uint64_t random_key(const random_sequence& random, std::size_t i) {
  const philox_block block = random.block(i / 2);
  const std::uint32_t* const words = block.word + i % 2 * 2;
  return std::uint64_t{words[1]} << 32 | words[0];
}

/// Sorts 0 to n-1 on the CPU by random keys; equal keys, which are very rare, by index. Keys are uniform, so a first
/// pass distributes them by their leading bits to buckets of about four. Does not allocate.
class random_order {
 public:
  /// Number of 64-bit words of scratch memory that run() needs.
  static constexpr std::size_t workspace(std::size_t n) { return n + buckets(n) + 1; }

  DEVPLACE_COMPILABLE([[gnu::noinline]])
  static void run(std::int64_t* order, std::size_t n, const random_sequence& random, std::uint64_t* workspace) {
    if (n == 0) return;
    const std::size_t count = buckets(n);
    std::uint64_t* const keys = workspace;
    std::uint64_t* const ends = workspace + n;  // end of the previous bucket while keys are being distributed
    const auto bucket_of = [count](std::uint64_t key) {
      return count == 1 ? 0 : static_cast<std::size_t>(key >> (64 - std::countr_zero(count)));
    };
    std::fill_n(ends, count + 1, std::uint64_t{0});
    for_each_key(random, n, [&](std::size_t, std::uint64_t key) { ++ends[bucket_of(key) + 1]; });
    for (std::size_t b = 0; b < count; ++b) ends[b + 1] += ends[b];
    for_each_key(random, n, [&](std::size_t i, std::uint64_t key) {
      const std::uint64_t at = ends[bucket_of(key)]++;
      keys[at] = key;
      order[at] = static_cast<std::int64_t>(i);
    });
    for (std::size_t b = 0; b < count; ++b) sort_bucket(order, keys, b == 0 ? 0 : ends[b - 1], ends[b]);
  }

 private:
  static constexpr std::size_t buckets(std::size_t n) { return std::bit_ceil(n / 4); }

  template <class F> static void for_each_key(const random_sequence& random, std::size_t n, const F& f) {
    std::uint32_t word[4][philox_lanes];
    for (std::size_t first = 0; first < n; first += 2 * philox_lanes) {
      random.blocks(first / 2, word);
      for (std::size_t k = 0; k < 2 * philox_lanes && first + k < n; ++k)
        f(first + k, std::uint64_t{word[k % 2 * 2 + 1][k / 2]} << 32 | word[k % 2 * 2][k / 2]);
    }
  }

  /// Insertion sort, which is stable.
  static void sort_bucket(std::int64_t* order, std::uint64_t* keys, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin + 1; i < end; ++i) {
      const std::uint64_t key = keys[i];
      const std::int64_t index = order[i];
      std::uint64_t at = i;
      for (; at > begin && keys[at - 1] > key; --at) {
        keys[at] = keys[at - 1];
        order[at] = order[at - 1];
      }
      keys[at] = key;
      order[at] = index;
    }
  }
};
DEVPLACE_COMPILED(void random_order::run(std::int64_t*, std::size_t, const random_sequence&, std::uint64_t*))

}  // namespace devplace::detail
