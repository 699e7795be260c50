// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/to_batch.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::values_of;

namespace {

using net = nn::sequential<nn::linear<6, 5>, nn::linear<5, 3>>;

/// Code as in a program that is generic in the placement.
template <dp::placement Where, class X> auto infer(const X& x) {
  dp::model<net, Where, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  return dp::to_host(model.predict(dp::to_batch<Where>(x)));
}

}  // namespace

TEST_CASE("to_batch and to_host copy a batch to every placement and its outputs back", "[parallel]") {
  for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 2, 7, 64}) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto expected = values_of(infer<dp::cpu>(x));
    CHECK(expected.size() == 3 * rows);
    CHECK(values_of(infer<dp::cuda<1>>(x)) == expected);
    CHECK(values_of(infer<dp::replicated<2, 0, 1>>(x)) == expected);
    CHECK(values_of(infer<dp::replicated<2>>(x)) == expected);
    CHECK(values_of(infer<dp::replicated_on<dp::cpu>>(x)) == expected);
    CHECK(values_of(infer<dp::replicated<0, 1>>(dp::to<dp::cuda<2>>(x))) == expected);
    CHECK(values_of(infer<dp::replicated<0, 1>>(x.view())) == expected);
    CHECK(values_of(dp::to_host(dp::broadcast<dp::replicated<1, 0>>(x))) == values_of(x));
    CHECK(values_of(dp::to_host(x)) == values_of(x));
  }
}

TEST_CASE("to_batch and to_host move a temporary that is already in place", "[parallel]") {
  auto x = dp::test::integer_samples<double, 6>(4);
  const double* const elements = x.data();
  auto there = dp::to_batch<dp::cpu>(std::move(x));
  CHECK(there.data() == elements);
  CHECK(dp::to_host(std::move(there)).data() == elements);
}
