// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the gradient of a loss with respect to the batch with central differences of the predictions' loss.
#include <cmath>
#include <cstddef>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::values_of;

namespace {

using host = dp::on<dp::cpu>;
constexpr std::size_t rows = 5;

/// The largest difference between backward_to_input and central differences.
template <class Model, class X, class Loss, class Targets>
double largest_difference(Model& model, X& x, const Loss& loss, const Targets& targets) {
  auto [output, saved] = model.forward(x);
  const auto [value, gradient] = loss(output, targets);
  const auto [gradients, dx] = model.backward_to_input(std::move(saved), gradient);
  CHECK(dx.extents() == x.extents());
  double* const elements = x.data();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    constexpr double step = 1e-5;
    const double before = elements[i];
    elements[i] = before + step;
    const double above = loss(model.predict(x), targets).loss.item();
    elements[i] = before - step;
    const double below = loss(model.predict(x), targets).loss.item();
    elements[i] = before;
    worst = std::max(worst, std::abs(dx.data()[i] - (above - below) / (2 * step)));
  }
  return worst;
}

template <class Net> double worst_of() {
  using model_type = dp::model<Net, host, double>;
  using in = dp::detail::prepend_t<dp::dyn, typename model_type::input_extents>;
  using out = dp::detail::prepend_t<dp::dyn, typename model_type::output_extents>;
  model_type model{dp::seed{1}};
  auto x = dp::uniform<double, host>(in{rows}, dp::seed{2}, -1.0, 1.0);
  const auto targets = dp::uniform<double, host>(out{rows}, dp::seed{3}, -1.0, 1.0);
  return std::max(largest_difference(model, x, nn::mse{}, targets),
                  largest_difference(model, x, nn::mse{.reduce = dp::reduction::sum}, targets));
}

template <class Model>
std::vector<double> parameter_gradients(Model& model, const auto& x, const auto& targets, bool with_input) {
  auto [output, saved] = model.forward(x);
  const auto [value, gradient] = nn::mse{}(output, targets);
  if (with_input) {
    const auto [gradients, dx] = model.backward_to_input(std::move(saved), gradient);
    return values_of(gradients.template local<0>());
  }
  const auto gradients = model.backward(std::move(saved), gradient);
  return values_of(gradients.template local<0>());
}

}  // namespace

// Each kind of first layer; check_gradients compares the input's gradient of every layer.
TEST_CASE("the input's gradient of a model agrees with finite differences", "[nn]") {
  CHECK(worst_of<nn::sequential<nn::linear<6, 4, false>>>() < 1e-8);
  CHECK(worst_of<nn::sequential<nn::input<6>, nn::relu>>() < 1e-8);
  CHECK(worst_of<nn::sequential<nn::input<6>, nn::softmax>>() < 1e-8);
  CHECK(worst_of<nn::sequential<nn::input<2, 3>, nn::flatten>>() < 1e-8);
  CHECK(worst_of<nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 4>>>() < 1e-8);
  CHECK(worst_of<nn::residual<nn::linear<6, 4>, nn::tanh, nn::linear<4, 6>>>() < 1e-8);
  CHECK(worst_of<nn::sequential<nn::linear<6, 8>, nn::relu, nn::residual<nn::linear<8, 8>, nn::tanh>, nn::linear<8, 3>,
                                nn::sigmoid>>() < 1e-8);
}

TEST_CASE("relu passes the gradient on at NaN behind linear layers without a bias and behind frozen ones", "[nn]") {
  const auto gradient_at_nan = []<class Net>(std::type_identity<Net>) {
    dp::model<Net, host> model{dp::seed{1}};
    const dp::tensor<float, dp::extents<dp::dyn, 1>, host> x{{std::numeric_limits<float>::quiet_NaN()}};
    dp::tensor<float, dp::extents<dp::dyn, 2>, host> dy{{1, 0}};
    auto [output, saved] = model.forward(x);
    return model.backward_to_input(std::move(saved), nn::output_gradient(std::move(dy))).input(0, 0);
  };
  // The gradient is a product of weights.
  const float without_bias = gradient_at_nan(std::type_identity<nn::sequential<nn::linear<1, 2, false>, nn::relu>>{});
  CHECK((std::isfinite(without_bias) && without_bias != 0));
  const float frozen =
      gradient_at_nan(std::type_identity<nn::sequential<nn::linear<1, 1>, nn::frozen<nn::linear<1, 2>>, nn::relu>>{});
  CHECK((std::isfinite(frozen) && frozen != 0));
}

TEST_CASE("the input's gradient through dropout is the mask", "[nn]") {
  dp::model<nn::sequential<nn::input<40>, nn::dropout<std::ratio<1, 2>>>, host, double> model{dp::seed{1}};
  dp::tensor<double, dp::extents<dp::dyn, 40>, host> x(dp::extents<dp::dyn, 40>{rows});
  x = x * 0.0 + 1.0;
  auto [output, saved] = model.forward(x);
  dp::tensor<double, dp::extents<dp::dyn, 40>, host> ones = x + 0.0;
  const auto [gradients, dx] = model.backward_to_input(std::move(saved), nn::output_gradient(std::move(ones)));
  CHECK(values_of(dx) == values_of(output));
}

TEST_CASE("the input's gradient in mixed precision has the short type", "[nn]") {
  using net = nn::sequential<nn::linear<6, 4>>;
  dp::model<net, host, dp::mixed<dp::bf16>> model{dp::seed{1}};
  dp::model<net, host> in_float{dp::seed{1}};
  const auto x = dp::uniform<float, host>(dp::extents<dp::dyn, 6>{rows}, dp::seed{2}, -1.0F, 1.0F);
  const auto labels = dp::test::square_labels(rows, 4);
  const auto gradient_of = [&](auto& of) {
    auto [output, saved] = of.forward(x);
    const auto [value, gradient] = nn::cross_entropy{}(output, labels);
    return std::move(of.backward_to_input(std::move(saved), gradient).input);
  };
  const auto dx = gradient_of(model);
  STATIC_REQUIRE(std::is_same_v<decltype(dx)::value_type, dp::bf16>);
  const auto expected = gradient_of(in_float);
  for (std::size_t i = 0; i < dx.size(); ++i)  // parameters, samples, outputs, both gradients are rounded
    CHECK(std::abs(static_cast<float>(dx.data()[i]) - expected.data()[i]) <
          0.02F * std::abs(expected.data()[i]) + 1e-3F);
}

TEST_CASE("the input's gradient of a weighted mean is divided by the weights", "[nn]") {
  dp::model<nn::sequential<nn::linear<6, 5>, nn::tanh, nn::linear<5, 3>>, host, double> model{dp::seed{1}};
  auto x = dp::uniform<double, host>(dp::extents<dp::dyn, 6>{rows}, dp::seed{2}, -1.0, 1.0);
  auto labels = dp::test::square_labels(rows, 3);
  CHECK(largest_difference(model, x, nn::cross_entropy{.class_weights = {1, 5, 2}}, labels) < 1e-8);
  labels(2) = nn::cross_entropy{}.ignore_index;
  CHECK(largest_difference(model, x, nn::cross_entropy{}, labels) < 1e-8);
  for (std::size_t i = 0; i < rows; ++i) labels(i) = nn::cross_entropy{}.ignore_index;
  auto [output, saved] = model.forward(x);
  const auto [value, gradient] = nn::cross_entropy{}(output, labels);
  CHECK(values_of(model.backward_to_input(std::move(saved), gradient).input) == std::vector<double>(6 * rows, 0.0));
}

TEST_CASE("the input's gradient is divided by weights that the program gives with its output gradient", "[nn]") {
  dp::model<nn::sequential<nn::input<1>, nn::relu>, host> model{dp::seed{1}};
  const dp::tensor<float, dp::extents<dp::dyn, 1>, host> x{{1}, {2}};
  dp::tensor<float, dp::extents<dp::dyn, 1>, host> dy{{8}, {6}};
  auto [output, saved] = model.forward(x);
  const nn::loss_gradient<float, dp::extents<dp::dyn, 1>, host> gradient{
      std::move(dy), dp::tensor<float, dp::extents<2>, host>{0, 4}, dp::reduction::mean};
  CHECK(values_of(model.backward_to_input(std::move(saved), gradient).input) == std::vector<float>{2, 1.5F});
}

TEST_CASE("backward accepts an output gradient computed by the program", "[nn]") {
  using net = nn::sequential<nn::linear<6, 5>, nn::tanh, nn::linear<5, 3>>;
  dp::model<net, host, double> model{dp::seed{1}};
  auto x = dp::uniform<double, host>(dp::extents<dp::dyn, 6>{rows}, dp::seed{2}, -1.0, 1.0);
  const auto function = [&] {  // sum of y^3 / 3 over the outputs
    double sum = 0;
    for (const double y : values_of(model.predict(x))) sum += y * y * y / 3;
    return sum;
  };
  auto [output, saved] = model.forward(x);
  dp::tensor<double, dp::extents<dp::dyn, 3>, host> dy = output * output;
  const auto [gradients, dx] = model.backward_to_input(std::move(saved), nn::output_gradient(std::move(dy)));
  CHECK(gradients.reduction() == dp::reduction::sum);
  const auto difference = [&](double& value) {
    const double before = value;
    value = before + 1e-5;
    const double above = function();
    value = before - 1e-5;
    const double below = function();
    value = before;
    return (above - below) / 2e-5;
  };
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(dx.data()[i] - difference(x.data()[i])) < 1e-8);
  const auto weight = model.parameter<0>();
  for (std::size_t i = 0; i < weight.size(); ++i)
    CHECK(std::abs(gradients.local<0>().data()[i] - difference(weight.data()[i])) < 1e-8);
}

TEST_CASE("backward_to_input gives the same parameter gradients and makes the same checks as backward", "[nn]") {
  using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
  dp::model<net, host, double> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(rows);
  const auto targets = dp::test::integer_samples<double, 3>(rows);
  CHECK(parameter_gradients(model, x, targets, true) == parameter_gradients(model, x, targets, false));
  auto [output, saved] = model.forward(x);
  auto [other_output, other_saved] = model.forward(x);
  const auto gradient = nn::mse{}(output, targets).gradient;
  const auto result = model.backward_to_input(std::move(saved), gradient);
  CHECK_THROWS_WITH(model.backward_to_input(std::move(other_saved), gradient),
                    Catch::Matchers::ContainsSubstring("still in use"));
  const auto none = dp::test::integer_samples<double, 6>(0);
  dp::model<net, host, double> other{dp::seed{1}};
  auto [no_output, nothing_saved] = other.forward(none);
  const auto of_nothing = nn::mse{}(no_output, dp::test::integer_samples<double, 3>(0));
  CHECK(other.backward_to_input(std::move(nothing_saved), of_nothing.gradient).input.size() == 0);
}
