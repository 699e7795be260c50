// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/elementwise.hpp>

#include <cmath>

#include <devplace/nn/model.hpp>
#include <devplace/ops/creation.hpp>

#include "support/activation_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

struct softsign {
  template <class T> DEVPLACE_HD T operator()(T x) const { return x / (1 + std::abs(x)); }
  template <class T> DEVPLACE_HD T derivative(T x) const { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }
};
struct with_wrong_derivative : softsign {
  template <class T> DEVPLACE_HD T derivative(T) const { return 1; }
};

}  // namespace

TEST_CASE("a functor is applied to each element, in float and 16 bits", "[nn]") {
  const dp::tensor<float, dp::extents<1, 3>, dp::on<dp::cpu>> x{{-1, 0, 3}};
  dp::model<nn::sequential<nn::input<3>, nn::elementwise<softsign>>, dp::on<dp::cpu>> model{dp::seed{1}};
  const auto y = model.predict(x);
  CHECK((y(0, 0) == -0.5F && y(0, 1) == 0 && y(0, 2) == 0.75F));
  dp::model<nn::sequential<nn::input<3>, nn::elementwise<softsign>>, dp::on<dp::cpu>, dp::mixed<dp::bf16>> mixed{
      dp::seed{1}};
  CHECK(static_cast<float>(mixed.predict(x)(0, 2)) == 0.75F);
}

TEST_CASE("the derivative of a functor agrees with differences", "[nn]") {
  dp::test::compare_activation_with_differences<nn::elementwise<softsign>>();
  CHECK(nn::check_gradients<nn::sequential<nn::input<5>, nn::elementwise<with_wrong_derivative>>>(dp::seed{4}).worst >
        0.01);
}
