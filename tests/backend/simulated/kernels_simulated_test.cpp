// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// A user-defined operation: an implementation for the CPU suffices for simulated devices.
struct scale {};

struct nobody_implements_this {};

}  // namespace

template <> struct devplace::implementation<dp::backend::cpu, scale> {
  static void run(int, float* x, std::size_t n, float by) {
    if (by == 0) throw dp::argument_error("scale: by 0.");
    for (std::size_t i = 0; i < n; ++i) x[i] *= by;
  }
};

TEST_CASE("an operation with an implementation for the CPU runs on a simulated device", "[backend]") {
  dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<1>>> x{1, 2, 3};
  dp::detail::dispatch<scale, dp::backend::cuda>(1, x.data().get(), x.size(), 2.0f);
  dp::detail::dispatch<scale, dp::backend::cuda>(1, x.data().get(), x.size(), 5.0f);
  const auto y = dp::to<dp::on<dp::cpu>>(x);
  CHECK(y(0) == 10);
  CHECK(y(2) == 30);
}

TEST_CASE("an operation's exception on a simulated device is thrown by the next synchronising call", "[backend]") {
  dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{1, 2, 3};
  CHECK_NOTHROW(dp::detail::dispatch<scale, dp::backend::cuda>(0, x.data().get(), x.size(), 0.0f));
  CHECK_THROWS_AS(dp::to<dp::on<dp::cpu>>(x), dp::argument_error);
  CHECK_NOTHROW(dp::to<dp::on<dp::cpu>>(x));
}

TEST_CASE("an operation without a CPU implementation is not provided on simulated devices", "[backend]") {
  STATIC_REQUIRE(dp::detail::provided<dp::backend::cuda, scale>);
  STATIC_REQUIRE_FALSE(dp::detail::provided<dp::backend::cuda, nobody_implements_this>);
}
