// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions, softmax, losses and products on simulated devices give the CPU's bits and report errors.

#include "support/catch.hpp"
#include "support/random_values.hpp"

#include <cstdint>
#include <cstring>

#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/tensor/copy.hpp>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;
using on_device = dp::on<dp::cuda<1>>;

namespace {

template <class A, class B> void check_same(const A& on_the_cpu, const B& elsewhere) {
  static_assert(std::is_same_v<typename B::placement_type, on_device>);
  const auto here = dp::to<on_cpu>(elsewhere);
  REQUIRE(here.size() == on_the_cpu.size());
  CHECK(std::memcmp(here.data(), on_the_cpu.data(), here.size() * sizeof(typename A::value_type)) == 0);
}

}  // namespace

TEST_CASE("a simulated device computes the bits of the CPU", "[ops][simulated]") {
  const auto x = random_values<float>(dp::extents<50, 10>{}, 1, -3, 3);
  const auto y = dp::to<on_device>(x);
  check_same(dp::sum(x), dp::sum(y));
  check_same(dp::sum(x, dp::axis<0>{}), dp::sum(y, dp::axis<0>{}));
  check_same(dp::mean(x, dp::axis<1>{}), dp::mean(y, dp::axis<1>{}));
  check_same(dp::max(x), dp::max(y));
  check_same(dp::argmax(x, dp::axis<1>{}), dp::argmax(y, dp::axis<1>{}));
  check_same(dp::softmax(x), dp::softmax(y));
  check_same(dp::log_softmax(x), dp::log_softmax(y));
  check_same(dp::mse(x, dp::softmax(x)), dp::mse(y, dp::softmax(y)));
  check_same(dp::matmul(x, dp::transposed(x)), dp::matmul(y, dp::transposed(y)));
  const auto labels = random_values<std::uint8_t>(dp::extents<50>{}, 2, 0, 9);
  check_same(dp::cross_entropy(x, labels, {.label_smoothing = 0.1f}),
             dp::cross_entropy(y, dp::to<on_device>(labels), {.label_smoothing = 0.1f}));
}

TEST_CASE("views with run-time ordinals must be on the same device", "[ops][simulated]") {
  auto a = dp::to<dp::on<dp::cuda<0>>>(random_values<float>(dp::extents<3, 3>{}, 1));
  auto b = dp::to<dp::on<dp::cuda<1>>>(random_values<float>(dp::extents<3, 3>{}, 1));
  CHECK_THROWS_AS(dp::softmax_into(a.view().erased(), b.view().erased()), dp::argument_error);
  CHECK_THROWS_AS(dp::matmul_into(a.view().erased(), a.view().erased(), b.view().erased()), dp::argument_error);
}
