// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/tensor.hpp>

#include "timing.hpp"

namespace devplace::bench {

/// Returns the bandwidth of memory in bytes per second on all threads, the larger of two: reading an array of n floats,
/// and adding one to another in place, which counts two reads and a write. Each is measured for `seconds`.
inline double bandwidth(std::size_t n, double seconds) {
  using array = tensor<float, extents<dyn>, on<cpu>>;
  const auto members = static_cast<std::size_t>(thread_count());
  array x(extents<dyn>{n}), y(extents<dyn>{n});
  x = 1.0F;
  y = 1.0F;
  const float* const from = x.data();
  float* const to = y.data();
  std::vector<std::uint64_t> bits(16 * members);  // a cache line or more for each thread
  const auto each = [&](const auto& part) {
    return time_of(
        [&] {
          detail::parallel_members(static_cast<int>(members), [&](int member) {
            const auto at = static_cast<std::size_t>(member);
            part(at, n * at / members / 2 * 2, n * (at + 1) / members / 2 * 2);
          });
        },
        seconds);
  };
  const double reading = each([&](std::size_t member, std::size_t begin, std::size_t end) {
    std::uint64_t all = 0;
    for (std::size_t i = begin; i < end; i += 2) {
      std::uint64_t word;
      std::memcpy(&word, from + i, sizeof word);
      all ^= word;
    }
    bits[16 * member] ^= all;
  });
  const double adding = each([&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
  });
  const double bytes = 4.0 * static_cast<double>(n);
  return std::max(bytes / reading, 3 * bytes / adding);
}

}  // namespace devplace::bench
