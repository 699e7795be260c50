// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/scale_bytes.hpp>

namespace devplace::detail {

/// Converts n bytes to T: `groups` groups of 16 bytes with one wide read each, the rest one by one. Looks up each
/// byte's value in a table in shared memory.
template <class T> struct scale_bytes_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned group = 16;  // bytes
  static constexpr unsigned width = widest_access<T>;

  std::size_t n;
  std::size_t groups;
  byte_scaler<T> body;

  std::size_t blocks() const { return divided_up(groups + (n - groups * group), threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const auto table = t.template shared<T, 256>();
    table.store(t.thread_index(), body.scale.values[t.thread_index()]);
    t.sync();
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride) {
      const pack<std::uint8_t, group> bytes = t.template load<std::uint8_t, group>(body.from + i * group);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < group; k += width) {
        t.store(body.to + i * group + k, pack_of<T, width>([&](unsigned j) { return table.load(bytes.value[k + j]); }));
      }
    }
    for (std::size_t i = groups * group + first; i < n; i += stride) body.to[i] = table.load(body.from[i]);
  }
};

template <class T> scale_bytes_kernel<T> make_kernel(std::size_t n, const byte_scaler<T>& body) {
  using kernel = scale_bytes_kernel<T>;
  static_assert(sizeof(kernel) <= 4096, "a kernel's arguments are 4 KiB at most");
  const bool wide = is_aligned<kernel::width>(body.to) && is_aligned<kernel::group>(body.from);
  return {n, wide ? n / kernel::group : 0, body};
}

}  // namespace devplace::detail
