// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::parallel::detail {

template <class T> struct bits_source {
  const T* data;
  DEVPLACE_HD std::uint64_t operator()(std::size_t i) const {
    return devplace::detail::same_bits<devplace::detail::bits_of<T>>(data[i]);
  }
};

/// A sum modulo 2^64 with an odd weight for each position, so that a change of any single value changes the sum.
struct checksum_reducer {
  using accumulator = std::uint64_t;
  static constexpr bool reduces_all = true;
  std::uint64_t* result;

  DEVPLACE_HD static constexpr accumulator identity() { return 0; }
  DEVPLACE_HD static constexpr void add(accumulator& a, std::uint64_t x, std::size_t i) { a += x * (2 * i + 1); }
  DEVPLACE_HD static constexpr void merge(accumulator& a, accumulator b) { a += b; }
  DEVPLACE_HD void store(std::size_t, accumulator a) const { *result = a; }
};

}  // namespace devplace::parallel::detail

namespace devplace::parallel {

/// Stores the checksum of the parameters [`first`, `first + count`) of a replica at `result` on its place.
template <class Backend, class S>
void sum_parameters(const runtime::replica<S>& r, std::size_t first, std::size_t count, std::uint64_t* result) {
  using parameter = typename runtime::replica<S>::parameter;
  devplace::detail::reduce<Backend>(
      r.ordinal, devplace::detail::reduction_plan<detail::bits_source<parameter>, detail::checksum_reducer>{
                     1, count, 1, {r.parameter_data() + first}, {result}});
}

/// Compares checksums of the replicas' parameters, stored at `checksums` on each place. Waits for the places. Throws
/// like check_replicas() if the replicas differ.
template <class Net, class Backend, class S, std::size_t Places>
void require_equal_replicas(const runtime::model_state<S>& state, const std::array<std::uint64_t*, Places>& checksums) {
  constexpr std::size_t count = runtime::network_plan<Net>::arena_elements;
  runtime::for_each_replica<Backend>(
      state, Places, [&](std::size_t k) { sum_parameters<Backend>(state.replicas[k], 0, count, checksums[k]); });
  std::array<std::uint64_t, Places> sums{};
  runtime::for_each_replica<Backend>(state, Places, [&](std::size_t k) {
    devplace::detail::copy_out<Backend>(state.replicas[k].ordinal, &sums[k], checksums[k], sizeof sums[k]);
  });
  for (const std::uint64_t sum : sums)
    if (sum != sums[0]) return detail::check_replicas<Net, Backend>(state);
}

}  // namespace devplace::parallel
