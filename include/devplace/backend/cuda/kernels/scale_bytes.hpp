// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/pack.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/byte_scale.hpp>

namespace devplace::detail {

/// Converts n bytes to T: `groups` of 16 with one wide read each, the others one by one. Each byte's value is looked up
/// in a table in shared memory.
template <class T>
struct scale_bytes_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned group = 16;  // bytes
  static constexpr unsigned width = widest_access<T>;

  std::size_t n;
  std::size_t groups;
  T* to;
  const std::uint8_t* from;
  byte_scale<T> scale;

  /// Number of rounds, each of which is the work of one thread.
  std::size_t rounds() const { return groups + (n - groups * group); }

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const auto table = t.template shared<T, 256>();
    table.store(t.thread_index(), scale.of[t.thread_index()]);
    t.sync();
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride) {
      const pack<std::uint8_t, group> bytes = t.template load<std::uint8_t, group>(from + i * group);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < group; k += width) {
        pack<T, width> numbers;
        DEVPLACE_DEVICE_UNROLL
        for (unsigned j = 0; j < width; ++j)
          numbers.value[j] = table.load(bytes.value[k + j]);
        t.store(to + i * group + k, numbers);
      }
    }
    for (std::size_t i = groups * group + first; i < n; i += stride)
      to[i] = table.load(from[i]);
  }
};

template <class T>
scale_bytes_kernel<T> make_scale_bytes_kernel(std::size_t n, T* to, const std::uint8_t* from,
                                              const byte_scale<T>& scale) {
  using kernel = scale_bytes_kernel<T>;
  static_assert(sizeof(kernel) <= 4096, "a kernel's arguments are 4 KiB at most");
  const bool wide = (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % 16 == 0;
  return {n, wide ? n / kernel::group : 0, to, from, scale};
}

}  // namespace devplace::detail
