// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/radix_sort.cuh>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/permutation.hpp>

namespace devplace {

namespace detail {

struct key_of_index {
  std::uint64_t* keys;
  std::int64_t* order;
  random_sequence random;

  DEVPLACE_HD void operator()(std::size_t i) const {
    keys[i] = random_key(random, i);
    order[i] = static_cast<std::int64_t>(i);
  }
};

}  // namespace detail

/// Sorts stably by random keys: equal keys keep the order of their indices.
template <> struct implementation<backend::cuda, op::permutation> {
  static void run(int ordinal, const detail::permutation_plan& plan) {
    detail::for_each_index<backend::cuda>(ordinal, plan.size, 1,
                                          detail::key_of_index{plan.workspace, plan.order, plan.random});
    detail::cuda_radix_sort(ordinal, plan.size, plan.workspace, plan.order, 64);
  }
};

}  // namespace devplace
