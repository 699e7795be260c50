// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/ops/creation.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::reduction;
using support::part_of;
using support::values_of;

namespace {

constexpr dp::extents<5, 3> shape;

/// Checks that copies equal `whole` and that parts equal the corresponding parts of `whole`.
template <class X, class T> void check_values(const X& x, const std::vector<T>& whole) {
  for (std::size_t k = 0; k < X::places; ++k) {
    if constexpr (requires { x.part_begin(k); }) {
      constexpr std::size_t axis = dp::detail::kind_of<typename X::placement_type>::axis;
      CHECK(values_of(x.local(k)) == part_of(whole, shape, axis, x.part_begin(k), x.part_begin(k + 1)));
    } else {
      CHECK(values_of(x.only_on(k)) == whole);
    }
  }
}

template <class Where> void check_fill() {
  check_values(dp::full<float, Where>(shape, 3), std::vector<float>(15, 3));
  check_values(dp::ones<std::int32_t, Where>(shape), std::vector<std::int32_t>(15, 1));
  check_values(dp::zeros<double, Where>(shape), std::vector<double>(15, 0));
  check_values(dp::zeros_like(dp::ones<float, Where>(shape)), std::vector<float>(15, 0));
}

template <class Where> void check_random() {
  using host = dp::on<dp::cpu>;
  check_values(dp::uniform<float, Where>(shape, dp::seed{7}, -2, 2),
               values_of(dp::uniform<float, host>(shape, dp::seed{7}, -2, 2)));
  check_values(dp::normal<double, Where>(shape, dp::seed{8}, 1, 2),
               values_of(dp::normal<double, host>(shape, dp::seed{8}, 1, 2)));
  check_values(dp::uniform<dp::bf16, Where>(shape, dp::seed{7}, 1, 1.03F),
               values_of(dp::uniform<dp::bf16, host>(shape, dp::seed{7}, 1, 1.03F)));
  check_values(dp::normal<dp::half, Where>(shape, dp::seed{8}, 1, 2),
               values_of(dp::normal<dp::half, host>(shape, dp::seed{8}, 1, 2)));
}

}  // namespace

TEST_CASE("equal elements on several places", "[ops]") {
  check_fill<dp::replicated<1, 0>>();
  check_fill<dp::sharded<dp::axis<0>, 2, 0, 1>>();
  check_fill<dp::sharded<dp::axis<1>, 0, 1>>();
  check_fill<dp::partial<reduction::max, 0, 1>>();
  check_fill<dp::partial<reduction::min, 3, 1>>();
  check_values(dp::zeros<float, dp::partial<reduction::sum, 0, 1, 2>>(shape), std::vector<float>(15, 0));
  check_values(dp::zeros<float, dp::partial<reduction::mean, 0, 1>>(shape), std::vector<float>(15, 0));
}

TEST_CASE("random numbers on several places equal one place's", "[ops]") {
  check_random<dp::replicated<1, 0, 2>>();
  check_random<dp::sharded<dp::axis<0>, 2, 0, 1>>();
  check_random<dp::sharded<dp::axis<1>, 0, 1>>();
}

TEST_CASE("zeros_like of a split tensor has its split", "[ops]") {
  const dp::tensor<float, dp::extents<5, 3>, dp::sharded<dp::axis<0>, 0, 1>> x(shape, dp::split::sizes{1, 4});
  const auto zeros = dp::zeros_like(x);
  CHECK(zeros.split_sizes().values == x.split_sizes().values);
  check_values(zeros, std::vector<float>(15, 0));
}
