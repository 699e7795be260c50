// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/evaluated_case.hpp"

#include "ops/distributed_tensors.hpp"

namespace dp = devplace;

TEST_CASE("operations on stored elements take expressions, on a device", "[ops][evaluated]") {
  evaluated_case::check_operations_on_expressions<dp::cuda<0>>();
}

namespace {

template <class Where> void check_operations_on_distributed_expressions() {
  using matrix = dp::extents<6, 3>;
  using weights = dp::replicated_on<dp::cuda<0>, dp::cuda<1>, dp::cuda<2>>;
  const auto x = dp::test::distributed_numbers<Where>(matrix{}, 1);
  const auto y = dp::test::distributed_numbers<Where>(matrix{}, 2);
  const auto w = dp::test::distributed_numbers<weights>(dp::extents<3, 2>{}, 3);
  const dp::tensor sum = x + y;
  const auto equal = [](const auto& a, const auto& b) {
    for (std::size_t k = 0; k != a.places; ++k)
      if (dp::test::values_of(a.only_on(k)) != dp::test::values_of(b.only_on(k))) return false;
    return std::is_same_v<decltype(a), decltype(b)>;
  };
  CHECK(equal(dp::softmax(x + y), dp::softmax(sum)));
  CHECK(equal(dp::matmul(x + y, w), dp::matmul(sum, w)));
  CHECK(equal(dp::sum(x + y, dp::axis<1>{}), dp::sum(sum, dp::axis<1>{})));
  CHECK(equal(dp::evaluated(x + y), sum));
  CHECK(&dp::evaluated(x) == &x);
  CHECK(dp::nn::mse{}(x + y, x - y).item() == dp::nn::mse{}(sum, dp::tensor(x - y)).item());
}

}  // namespace

TEST_CASE("operations on stored elements take expressions over several places", "[ops][evaluated][algebra]") {
  check_operations_on_distributed_expressions<dp::sharded<dp::axis<0>, 0, 1, 2>>();
  check_operations_on_distributed_expressions<dp::replicated<0, 1, 2>>();
}
