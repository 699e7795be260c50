// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

struct row {};

/// How many elements of a row a kernel has in registers: its lanes, and elements per lane.
struct share {
  unsigned lanes, per_thread;
  friend bool operator==(const share&, const share&) = default;
};

/// Notes the kernels that are launched, and refuses to compile a launch of other kernels than `Kernels`.
template <class... Kernels> struct launches_of {
  std::vector<share>& launched;

  template <unsigned Lanes, unsigned PerThread>
  void operator()(std::size_t, const dp::detail::rows_kernel<row, Lanes, PerThread>&) const {
    static_assert((std::is_same_v<dp::detail::rows_kernel<row, Lanes, PerThread>, Kernels> || ...));
    launched.push_back({Lanes, PerThread});
  }
};

using up_to_16 = dp::detail::rows_kernel<row, 4, 4>;
using up_to_128 = dp::detail::rows_kernel<row, 16, 8>;
using up_to_1024 = dp::detail::rows_kernel<row, 32, 32>;
using longer = dp::detail::rows_kernel<row, 512, 0>;

/// Launches for a static length compile `Kernel` alone, which is the kernel for this length given at run time.
template <class Kernel, std::size_t Columns> void check_static() {
  INFO(Columns << " columns");
  std::vector<share> of_static, of_dynamic;
  dp::detail::with_kernel(3, dp::detail::row_functor<row, Columns>{{}, Columns}, launches_of<Kernel>{of_static});
  dp::detail::with_kernel(3, dp::detail::row_functor<row>{{}, Columns},
                          launches_of<up_to_16, up_to_128, up_to_1024, longer>{of_dynamic});
  CHECK(of_static.size() == 1);
  CHECK(of_static == of_dynamic);
}

}  // namespace

TEST_CASE("for rows of a static length, only the kernel for this length is compiled", "[cuda]") {
  check_static<up_to_16, 1>();
  check_static<up_to_16, 16>();
  check_static<up_to_128, 17>();
  check_static<up_to_128, 128>();
  check_static<up_to_1024, 129>();
  check_static<up_to_1024, 1024>();
  check_static<longer, 1025>();
}
