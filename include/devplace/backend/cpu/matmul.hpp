// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/gemm.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/matmul.hpp>

namespace devplace {

template <> struct implementation<backend::cpu, op::matmul> {
  template <class T, class Result, class Engine = detail::default_engine>
  static void run(int, const detail::gemm_arguments<T, Result>& arguments) {
    detail::gemm(arguments);
  }
  /// Distributes many products over the members of the team; few products are each computed by the whole team.
  template <class T, class Result, class Engine = detail::default_engine>
  static void run(int, const detail::gemm_batch<T, Result>& batch) {
    const auto products = [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k != end; ++k) detail::gemm(batch[k]);
    };
    if ((half_precision_element<T> || Engine::runs_on_members()) &&
        batch.count >= 2 * static_cast<std::size_t>(thread_count()))
      detail::parallel_ranges(batch.count, 1, products);
    else
      products(0, batch.count);
  }
};

}  // namespace devplace
