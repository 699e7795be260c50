// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/loss.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/host_values.hpp"
#include "support/layer_fixture.hpp"
#include "support/sanitizers.hpp"

namespace devplace::test {

/// Compares a loss on `Where`, and its gradient divided as by the optimizer, with PyTorch's in losses/<name>.
template <class T, class Where, class Loss> void compare_loss(const Loss& loss, const std::string& name) {
  const std::string folder = "losses/" + name + "/", typed = folder + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto predictions = read_fixture<T, dextents<2>>(typed + "prediction");
  const auto targets = [&] {
    if constexpr (requires { requires Loss::takes_class_numbers; })
      return read_fixture<std::int64_t, dextents<1>>(folder + "labels");
    else
      return read_fixture<T, dextents<2>>(typed + "target");
  }();
  const auto expected = read_fixture<T, extents<1>>(typed + "loss");
  const auto derivatives = read_fixture<T, dextents<2>>(typed + "dprediction");
  const auto [value, gradient] = loss(to<Where>(predictions), to<Where>(targets));
  INFO(name << ": " << value.item() << ", PyTorch " << expected(0));
  CHECK(agrees(value.item(), expected(0)));
  const T sum_of_weights = support::values_of(gradient.sums)[1];
  const T weights = loss.reduce == reduction::mean ? sum_of_weights : T{1};
  const std::vector<T> undivided = support::values_of(gradient.gradient);
  REQUIRE(undivided.size() == derivatives.size());
  for (std::size_t i = 0; i < undivided.size(); ++i)
    CHECK(agrees(weights == 0 ? T{0} : undivided[i] / weights, derivatives.data()[i]));
}

/// Calls compare_loss for mean and sum, in float and double; the fixtures' names end in the reduction. Under sanitizers
/// only in double, in which worst_difference instantiates the losses, too.
template <class Where = on<cpu>, class Loss> void compare_loss_in_all(Loss loss, const std::string& name) {
  for (const bool mean : {true, false}) {
    loss.reduce = mean ? reduction::mean : reduction::sum;
    if constexpr (!support::sanitized) compare_loss<float, Where>(loss, name + (mean ? "_mean" : "_sum"));
    compare_loss<double, Where>(loss, name + (mean ? "_mean" : "_sum"));
  }
}

/// Returns the largest difference between a loss's gradient and central differences of its sum, in double, relative to
/// max(1, |derivative|). About 1e-9 for a correct gradient where the loss is smooth.
template <class Loss, class Targets>
double worst_difference(Loss loss, tensor<double, dextents<2>, on<cpu>> x, const Targets& targets) {
  loss.reduce = reduction::sum;
  const auto gradient = support::values_of(loss(x, targets).gradient.gradient);
  constexpr double step = 1e-5;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double middle = x.data()[i];
    x.data()[i] = middle + step;
    const double above = loss(x, targets).loss.item();
    x.data()[i] = middle - step;
    const double below = loss(x, targets).loss.item();
    x.data()[i] = middle;
    const double difference = (above - below) / (2 * step);
    const double error = std::abs(difference - gradient[i]) / std::max(1.0, std::abs(difference));
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

/// Makes predictions for worst_difference.
inline tensor<double, dextents<2>, on<cpu>> some_predictions() {
  return read_fixture<double, dextents<2>>("losses/l1_mean/f64/prediction");
}

}  // namespace devplace::test
