// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/availability.hpp>

#include "ops/sorting_device_case.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

TEST_CASE("a GPU sorts, scans and shuffles as the CPU does", "[ops][sort]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  dp::test::check_all_sorts<device>();
  dp::test::check_sorts<device, float>(support::on_software_gpu ? 50 : 2000, 1000);
  dp::test::check_all_sorts_along_axes<device>();
  dp::test::check_all_sums<device>();
  dp::test::check_all_integer_rows<device>();
  constexpr std::size_t many = support::on_software_gpu ? 50000 : 1000000;
  dp::test::check_sums<device, float>(many);
  dp::test::check_sums<device, std::uint8_t>(many);
  dp::test::check_permutations<device>();
}

TEST_CASE("cumsum of a long array continues from piece to piece", "[ops][scan]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const std::size_t n = 5000;
  std::vector<std::int32_t> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(i % 17) - 5;
  dp::tensor<std::int32_t, dp::dextents<1>, device> x(dp::dextents<1>{n});
  support::set_values(x.view(), values);
  dp::tensor<std::int64_t, dp::dextents<1>, device> y(dp::dextents<1>{n});
  const dp::detail::scan_plan<std::int32_t> plan{x.data().get(), y.data().get(), n};
  dp::implementation<dp::backend::cuda, dp::op::scan>::run(0, plan, 999);
  const auto sums = support::values_of(y);
  std::int64_t sum = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += values[i];
    wrong += sums[i] == sum ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("scans of long arrays continue from piece to piece within rows", "[ops][scan]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const std::size_t n = 5000;
  const auto values = dp::test::large_integers<std::int32_t>(n);
  dp::tensor<std::int32_t, dp::dextents<1>, device> x(dp::dextents<1>{n});
  support::set_values(x.view(), values);
  dp::tensor<std::int64_t, dp::dextents<1>, device> y(dp::dextents<1>{n});
  using scan = dp::implementation<dp::backend::cuda, dp::op::scan>;
  for (const std::size_t columns : {5u, 125u, 1000u, 2500u}) {
    CAPTURE(columns);
    const auto from = x.data().get();
    const auto to = y.data().get();
    scan::run(0, dp::detail::scan_plan<std::int32_t, false, true>{from, to, n, columns}, 500);
    CHECK(support::values_of(y) == dp::test::scanned_rows(values, columns, false));
    scan::run(0, dp::detail::scan_plan<std::int32_t, true, true>{from, to, n, columns}, 999);
    CHECK(support::values_of(y) == dp::test::scanned_rows(values, columns, true));
  }
}

TEST_CASE("sorts, sums and permutations work after an error that the program did not clear", "[ops][sort]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const dp::tensor<float, dp::extents<4>, device> x{3, 1, 4, 2};
  const dp::tensor<std::int32_t, dp::extents<4>, device> counts{3, 1, 4, 2};
  const auto leave_error = [] { REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice); };
  leave_error();
  CHECK(support::values_of(dp::sort(x)) == std::vector<float>{1, 2, 3, 4});
  leave_error();
  CHECK(support::values_of(dp::argsort(x)) == std::vector<std::int64_t>{1, 3, 0, 2});
  leave_error();
  CHECK(support::values_of(dp::cumsum(counts)) == std::vector<std::int64_t>{3, 4, 8, 10});
  dp::tensor<std::int64_t, dp::dextents<1>, device> order(dp::dextents<1>{8});
  leave_error();
  dp::permutation_into(order, dp::seed{1});
  CHECK(support::values_of(order) == dp::test::order_by_keys(8, dp::seed{1}, 0));
}
