// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recurrent cell of docs/layers.md: loops of the user's in a layer.

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/nn/gradient_check.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// The address of a view's elements, for functors.
constexpr auto* address(const auto& x) { return std::to_address(x.data()); }

template <class T> DEVPLACE_HD T logistic(T x) { return 1 / (1 + std::exp(-x)); }

/// Computes unit j of the cell for a sample, and keeps r, z, n and W_hn h + b_hn for backward.
template <std::size_t In, std::size_t Hidden, class T> struct gru_unit {
  const T *input, *weight_ih, *weight_hh, *bias_ih, *bias_hh;
  T *gates, *output;

  DEVPLACE_HD void operator()(std::size_t sample, std::size_t j) const {
    const T* const x = input + sample * (In + Hidden);
    const T* const h = x + In;
    T from_x[3], from_h[3];
    for (std::size_t gate = 0; gate < 3; ++gate) {
      const std::size_t row = gate * Hidden + j;
      from_x[gate] = bias_ih[row], from_h[gate] = bias_hh[row];
      for (std::size_t i = 0; i < In; ++i) from_x[gate] += weight_ih[row * In + i] * x[i];
      for (std::size_t i = 0; i < Hidden; ++i) from_h[gate] += weight_hh[row * Hidden + i] * h[i];
    }
    const T r = logistic(from_x[0] + from_h[0]), z = logistic(from_x[1] + from_h[1]);
    const T n = std::tanh(from_x[2] + r * from_h[2]);
    T* const kept = gates + sample * 4 * Hidden + j;
    kept[0] = r, kept[Hidden] = z, kept[2 * Hidden] = n, kept[3 * Hidden] = from_h[2];
    output[sample * Hidden + j] = (1 - z) * n + z * h[j];
  }
};

/// Computes the gradients of unit j's sums: of r, z, n, and of W_hn h + b_hn.
template <std::size_t In, std::size_t Hidden, class T> struct gru_unit_gradient {
  const T *input, *gates, *output_gradient;
  T* gradients;

  DEVPLACE_HD void operator()(std::size_t sample, std::size_t j) const {
    const T* const kept = gates + sample * 4 * Hidden + j;
    const T r = kept[0], z = kept[Hidden], n = kept[2 * Hidden], from_h = kept[3 * Hidden];
    const T h = input[sample * (In + Hidden) + In + j], dy = output_gradient[sample * Hidden + j];
    const T dn = dy * (1 - z) * (1 - n * n);
    T* const to = gradients + sample * 4 * Hidden + j;
    to[0] = dn * from_h * r * (1 - r), to[Hidden] = dy * (h - n) * z * (1 - z);
    to[2 * Hidden] = dn, to[3 * Hidden] = dn * r;
  }
};

/// Computes the gradient of element i of a sample's input: x, then h.
template <std::size_t In, std::size_t Hidden, class T> struct gru_input_gradient {
  const T *gradients, *gates, *output_gradient, *weight_ih, *weight_hh;
  T* to;

  DEVPLACE_HD void operator()(std::size_t sample, std::size_t i) const {
    const T* const g = gradients + sample * 4 * Hidden;
    T sum = 0;
    if (i < In) {
      for (std::size_t row = 0; row < 3 * Hidden; ++row) sum += g[row] * weight_ih[row * In + i];
    } else {
      const std::size_t j = i - In;
      for (std::size_t row = 0; row < 3 * Hidden; ++row)
        sum += g[row < 2 * Hidden ? row : row + Hidden] * weight_hh[row * Hidden + j];
      sum += output_gradient[sample * Hidden + j] * gates[sample * 4 * Hidden + Hidden + j];
    }
    to[sample * (In + Hidden) + i] = sum;
  }
};

/// Sums the gradient of a weight or bias over the samples. `first` is the first element of the input that the weight
/// multiplies; a bias multiplies 1.
template <std::size_t In, std::size_t Hidden, class T> struct gru_parameter_gradient {
  const T *gradients, *input;  // input: null for a bias
  T* to;
  std::size_t samples, columns, first;
  bool of_hidden, accumulate;

  DEVPLACE_HD void operator()(std::size_t row, std::size_t column) const {
    const std::size_t from = of_hidden && row >= 2 * Hidden ? row + Hidden : row;
    T sum = 0;
    for (std::size_t sample = 0; sample < samples; ++sample)
      sum += gradients[sample * 4 * Hidden + from] *
             (input == nullptr ? T{1} : input[sample * (In + Hidden) + first + column]);
    T& result = to[row * columns + column];
    result = accumulate ? result + sum : sum;
  }
};

/// h' = (1 - z) n + z h, PyTorch's GRUCell. A sample is x followed by h.
template <std::size_t In, std::size_t Hidden> struct gru_cell {
  using input_extents = dp::extents<In + Hidden>;
  template <class Input> using output = dp::extents<Hidden>;
  static constexpr std::array parameters{
      nn::parameter{"weight_ih", {3 * Hidden, In}, nn::init::kaiming_uniform(In)},
      nn::parameter{"weight_hh", {3 * Hidden, Hidden}, nn::init::kaiming_uniform(Hidden)},
      nn::parameter{"bias_ih", {3 * Hidden}, nn::init::zeros()},
      nn::parameter{"bias_hh", {3 * Hidden}, nn::init::zeros()}};
  static constexpr nn::keep keeps = nn::keep::input;
  template <class Input> static constexpr std::size_t saved = 4 * Hidden;
  template <class Input> static constexpr std::size_t scratch = 4 * Hidden;

  static void forward(const auto& c) {
    const auto [weight_ih, weight_hh, bias_ih, bias_hh] = c.parameters();
    using T = std::remove_pointer_t<decltype(address(c.output))>;
    const gru_unit<In, Hidden, T> unit{address(c.input), address(weight_ih), address(weight_hh), address(bias_ih),
                                       address(bias_hh), address(c.saved()), address(c.output)};
    dp::parallel_for(c.input, dp::dextents<2>{c.batch(), Hidden}, unit);
  }

  static void backward(const auto& c) {
    const std::size_t samples = c.batch();
    const auto [weight_ih, weight_hh, bias_ih, bias_hh] = c.parameters();
    const auto gradients = address(c.scratch());
    using T = std::remove_pointer_t<decltype(gradients)>;
    dp::parallel_for(
        c.input, dp::dextents<2>{samples, Hidden},
        gru_unit_gradient<In, Hidden, T>{address(c.input), address(c.saved()), address(c.output_gradient), gradients});
    const auto sum = [&](const auto& to, const auto* input, std::size_t columns, std::size_t first, bool of_hidden) {
      dp::parallel_for(c.input, dp::dextents<2>{3 * Hidden, columns},
                       gru_parameter_gradient<In, Hidden, T>{gradients, input, address(to), samples, columns, first,
                                                             of_hidden, c.accumulate});
    };
    const auto* const input = address(c.input);
    const decltype(input) no_input = nullptr;
    sum(c.template parameter_gradient<0>(), input, In, 0, false);
    sum(c.template parameter_gradient<1>(), input, Hidden, In, true);
    sum(c.template parameter_gradient<2>(), no_input, 1, 0, false);
    sum(c.template parameter_gradient<3>(), no_input, 1, 0, true);
    if (c.needs_input_gradient)
      dp::parallel_for(
          c.input, dp::dextents<2>{samples, In + Hidden},
          gru_input_gradient<In, Hidden, T>{gradients, address(c.saved()), address(c.output_gradient),
                                            address(weight_ih), address(weight_hh), address(c.input_gradient)});
  }
};

using net = nn::sequential<gru_cell<3, 4>, nn::linear<4, 2>>;

/// Trains a cell on fixed samples; returns the losses of all steps.
template <class Where> std::vector<float> losses_of_training() {
  const auto x = dp::to_batch<Where>(dp::normal<float, dp::on<dp::cpu>>(dp::extents<12, 7>{}, dp::seed{1}));
  const auto y = dp::to_batch<Where>(dp::normal<float, dp::on<dp::cpu>>(dp::extents<12, 2>{}, dp::seed{2}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 1e-2}};
  std::vector<float> losses;
  for (int i = 0; i < 50; ++i) losses.push_back(static_cast<float>(step(x, y).item()));
  return losses;
}

}  // namespace

TEST_CASE("docs/layers.md: a recurrent cell by loops of the user's", "[docs]") {
  CHECK(nn::check_gradients<net>(dp::seed{1}).worst < 1e-7);
  const std::vector<float> on_cpu = losses_of_training<dp::on<dp::cpu>>();
  CHECK(on_cpu.back() < on_cpu.front() / 2);
  CHECK(losses_of_training<dp::on<dp::cuda<0>>>() == on_cpu);
  const std::vector<float> replicated = losses_of_training<dp::replicated<0, 1, 2>>();
  CHECK(replicated.back() == Catch::Approx(on_cpu.back()).epsilon(1e-4));
}

TEST_CASE("docs/layers.md: the recurrent cell computes the formulas of PyTorch's GRUCell", "[docs]") {
  // A cell of one input and one unit with weights 1 and biases 0.
  const double x = 0.5, h = 0.25;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double r = sigmoid(x + h), z = sigmoid(x + h), n = std::tanh(x + r * h);
  dp::model<nn::sequential<gru_cell<1, 1>>, dp::on<dp::cpu>, double> model{dp::seed{1}};
  for (std::size_t i = 0; i < 3; ++i) {
    model.template parameter<0>()(i, 0) = 1;
    model.template parameter<1>()(i, 0) = 1;
  }
  const dp::tensor<double, dp::extents<1, 2>, dp::on<dp::cpu>> input{{x, h}};
  CHECK(support::values_of(model.predict(input))[0] == Catch::Approx((1 - z) * n + z * h).epsilon(1e-12));
}
