// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/parallel/gather.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::copies_of;
using dp::test::distribute;
using dp::test::values_of;

namespace {

using net = nn::sequential<nn::linear<6, 5>, nn::tanh, nn::linear<5, 3>>;
using host = dp::on<dp::cpu>;
using where = dp::replicated<2, 0, 1>;
constexpr std::size_t batches[] = {0, 1, 2, 7, 64};

template <class Model, class X, class Y> auto input_gradient(Model& model, const X& x, const Y& y) {
  auto [output, saved] = model.forward(x);
  const auto [value, gradient] = nn::cross_entropy{.class_weights = {1, 3, 2}}(output, y);
  return std::move(model.backward_to_input(std::move(saved), gradient).input);
}

void check_equal(const std::vector<double>& values, const std::vector<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).margin(1e-14));
}

}  // namespace

TEST_CASE("the input's gradient on devices equals one place's, divided by the sum of all weights", "[nn]") {
  dp::model<net, host, double> one{dp::seed{1}};
  dp::model<net, dp::on<dp::cuda<1>>, double> on_device{dp::seed{1}};
  dp::model<net, where, double> several{dp::seed{1}};
  for (const std::size_t rows : batches) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto y = dp::test::square_labels(rows, 3);
    const auto expected = values_of(input_gradient(one, x, y));
    using device = dp::on<dp::cuda<1>>;
    check_equal(values_of(input_gradient(on_device, dp::to<device>(x), dp::to<device>(y))), expected);
    const auto parts =
        input_gradient(several, distribute<where>(x, dp::split::torch), distribute<where>(y, dp::split::torch));
    check_equal(values_of(dp::gather<host>(parts)), expected);
    const auto copies = input_gradient(several, copies_of<where>(x), copies_of<where>(y));
    for (std::size_t k = 0; k < 3; ++k) check_equal(values_of(copies.local(k)), expected);
  }
}
