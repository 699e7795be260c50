// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/reduce_in_rank_order.hpp>

namespace devplace::parallel::detail {

/// Collects the work that remains when MPI's started reductions have ended: finish() moves results and divides the sums
/// of means.
class mpi_unfinished {
 public:
  template <class T> void add(T* to, const T* from, std::size_t count, reduction op) {
    if (to == from && op != reduction::mean) return;
    with_reduction<T>(op, [&]<reduction Op>() { results_.push_back({to, from, count, &finish_one<T, Op>}); });
  }
  void finish(int participants) const {
    for (const result& one : results_) one.finish(one, participants);
  }
  void clear() noexcept { results_.clear(); }

 private:
  struct result {
    void* to;
    const void* from;
    std::size_t count;
    void (*finish)(const result&, int participants);
  };
  static constexpr std::size_t grain = 16384;

  template <class T, reduction Op> static void finish_one(const result& one, int participants) {
    std::memmove(one.to, one.from, one.count * sizeof(T));
    if constexpr (Op == reduction::mean)
      devplace::detail::for_each_index<backend::cpu>(0, one.count, grain,
                                                     finish_reduction<T, Op>{static_cast<T*>(one.to), participants});
  }

  std::vector<result> results_;
};

}  // namespace devplace::parallel::detail
