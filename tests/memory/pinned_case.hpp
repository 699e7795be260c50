// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Pinned memory on every backend: included by a test with simulated devices and by a test with the mock runtime.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/report.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;

TEST_CASE("pinned memory larger than the address space is an error", "[memory][pinned]") {
  using none = dp::tensor<std::uint8_t, dp::extents<dp::dyn>, dp::on<dp::pinned>>;
  CHECK_THROWS_AS(none(dp::extents<dp::dyn>(-1)), dp::shape_error);
  for (const std::size_t bytes : {std::size_t{PTRDIFF_MAX}, SIZE_MAX - 63, SIZE_MAX})
    CHECK_THROWS_AS(dp::detail::allocate<dp::backend::pinned>(0, bytes), dp::out_of_memory);
}

TEST_CASE("elements of a pinned tensor are accessible on the host", "[memory][pinned]") {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::pinned>> a{{1, 2, 3}, {4, 5, 6}};
  a(1, 2) = 7;
  CHECK(std::as_const(a)(1, 2) == 7);
  CHECK(a[1](0) == 4);
  CHECK(a.clone()(1, 2) == 7);
  CHECK(dp::item(a.slice(0, 1).reshape(dp::extents<3>{}).slice(2, 3)) == 3);
  std::ostringstream out;
  out << a;
  CHECK(out.str() == "tensor<float, 2x3> on pinned\n[[1. 2. 3.]\n [4. 5. 7.]]");
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % dp::detail::alignment == 0);
  const std::vector<double> values{1, 2, 3};
  CHECK(dp::to<dp::on<dp::pinned>>(dp::wrap(values, dp::extents<3>{}))(2) == 3);
}

TEST_CASE("pinned tensors are copied to every place and back", "[memory][pinned]") {
  using pinned = dp::on<dp::pinned>;
  using device = dp::on<dp::cuda<1>>;
  using host = dp::on<dp::cpu>;
  const auto a = support::counted<double>(dp::extents<4, 5>{});
  const auto b = dp::to<pinned>(a);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(b)>, dp::tensor<double, dp::extents<4, 5>, pinned>>);
  const auto c = dp::to<device>(b);
  CHECK(support::values_of(c) == support::values_of(a));
  auto d = dp::to<pinned>(c);
  CHECK(support::values_of(dp::to<host>(d)) == support::values_of(a));
  dp::copy(d.slice(0, 3), d.slice(1, 4));  // the ranges overlap
  CHECK(d(0, 0) == 5);
  CHECK(d(2, 4) == 19);
  dp::copy(d[0], c[2]);
  CHECK(d(0, 1) == 11);
  const double* const memory = d.data();
  CHECK(dp::to<pinned>(std::move(d)).data() == memory);
}

TEST_CASE("columns of matrices are copied between pinned memory and other places", "[memory][pinned]") {
  using wide = dp::extents<3, 4>;
  using narrow = dp::extents<3, 2>;
  constexpr dp::axis<1> column;
  const auto source = dp::to<dp::on<dp::pinned>>(support::counted<float>(wide{}));
  dp::tensor<float, narrow, dp::on<dp::cuda<0>>> device{narrow{}};
  dp::tensor<float, wide, dp::on<dp::pinned>> back{wide{}};
  dp::tensor<float, narrow, dp::on<dp::cpu>> host{narrow{}};
  dp::copy(device, source.slice(column, 1, 3));
  dp::copy(back.slice(column, 2, 4), device);
  CHECK((back(0, 2) == 1 && back(0, 3) == 2 && back(1, 2) == 5 && back(2, 3) == 10));
  dp::copy(host, source.slice(column, 2, 4));
  CHECK(support::values_of(host) == std::vector<float>{2, 3, 6, 7, 10, 11});
  dp::copy(back.slice(column, 0, 2), host);
  CHECK((back(0, 1) == 3 && back(1, 0) == 6 && back(2, 1) == 11));
}

TEST_CASE("pinned memory is counted separately", "[memory][pinned]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(dp::memory_table(), !ContainsSubstring("pinned"));
  const std::size_t of_cpu = dp::memory_statistics<dp::cpu>().allocated;
  {
    const dp::tensor<float, dp::extents<256>, dp::on<dp::pinned>> a{dp::extents<256>{}};
    CHECK(dp::memory_statistics<dp::pinned>().allocated == 1024);
    CHECK(dp::memory_statistics<dp::pinned>().of(dp::memory_purpose::tensors) == 1024);
    CHECK(dp::memory_statistics<dp::cpu>().allocated == of_cpu);
    CHECK_THAT(dp::memory_table(), ContainsSubstring("pinned    1.0 KiB   1.0 KiB  1.0 KiB"));
  }
  CHECK(dp::memory_statistics<dp::pinned>().allocated == 0);
  CHECK(dp::memory_statistics<dp::pinned>().peak == 1024);
  dp::reset_peak_memory<dp::pinned>();
  CHECK(dp::memory_statistics<dp::pinned>().peak == 0);
  CHECK(dp::trim_memory<dp::pinned>() == 0);
  CHECK_NOTHROW(dp::synchronize<dp::pinned>());
}

TEST_CASE("pinned memory is available if a device is", "[memory][pinned]") {
  CHECK(dp::available<dp::on<dp::pinned>>());
}
