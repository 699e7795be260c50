// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <cub/device/device_radix_sort.cuh>

#include <devplace/backend/cuda/cub.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>

namespace devplace::detail {

/// Sorts `n` 64-bit values by the lowest `bits` bits of their keys with CUB: ascending, stable, on the current stream
/// of a place. `keys` has memory for 2 n keys; the first n are the input, and all 2 n are unspecified afterwards.
/// Temporary memory comes from the place's pool, in stream order.
template <class Key> void cuda_radix_sort(int ordinal, std::size_t n, Key* keys, std::int64_t* values, int bits) {
  const memory_block other = allocate<backend::cuda>(ordinal, n * sizeof(std::int64_t), memory_purpose::workspace);
  cub::DoubleBuffer<Key> both_keys(keys, keys + n);
  cub::DoubleBuffer<std::int64_t> both_values(values, static_cast<std::int64_t*>(other.data()));
  const cuda_scope device(ordinal);
  run_cub(device, ordinal, "cub::DeviceRadixSort::SortPairs", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, both_keys, both_values, static_cast<std::int64_t>(n), 0, bits,
                                           device.stream());
  });
  copy_within<backend::cuda>(ordinal, values, both_values.Current(), n * sizeof(std::int64_t));
}

}  // namespace devplace::detail
