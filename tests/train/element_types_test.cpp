// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using on_cpu = dp::on<dp::cpu>;
using values = std::vector<double>;

// Layers in plain loops, as a user writes them on the CPU. --------------------------------------------------------

/// An embedding: maps indices [batch, length] to rows of a table, [batch, length * Width].
template <std::size_t Rows, std::size_t Width> struct embedding {
  using input_element = std::int32_t;
  template <class In> using output = dp::extents<In{}.size() * Width>;
  static constexpr nn::keep keeps = nn::keep::input;
  static constexpr std::array parameters{nn::parameter{"weight", {Rows, Width}, nn::init::uniform(1)}};

  static void forward(const auto& c) {
    for (std::size_t i = 0; i < c.input.size(); ++i)
      for (std::size_t j = 0; j < Width; ++j)
        c.output.data()[i * Width + j] = static_cast<typename std::remove_cvref_t<decltype(c)>::value_type>(
            c.template parameter<0>().data()[row(c, i) * Width + j]);
  }
  static void backward(const auto& c) {
    const auto gradient = c.template parameter_gradient<0>();
    if (!c.accumulate) std::fill(gradient.data(), gradient.data() + gradient.size(), 0);
    for (std::size_t i = 0; i < c.input.size(); ++i)
      for (std::size_t j = 0; j < Width; ++j)
        gradient.data()[row(c, i) * Width + j] += c.output_gradient.data()[i * Width + j];
  }

 private:
  static std::size_t row(const auto& c, std::size_t i) { return static_cast<std::size_t>(c.input.data()[i]); }
};

/// tanh(W x); saves only its output.
template <std::size_t In, std::size_t Out> struct dense_tanh {
  using input_extents = dp::extents<In>;
  template <class> using output = dp::extents<Out>;
  static constexpr std::array parameters{nn::parameter{"weight", {Out, In}, nn::init::uniform(1)}};

  static void forward(const auto& c) {
    using value = typename std::remove_cvref_t<decltype(c)>::value_type;
    const auto weight = c.template parameter<0>();
    for (std::size_t b = 0; b < c.batch(); ++b)
      for (std::size_t i = 0; i < Out; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < In; ++j)
          sum += static_cast<double>(weight.data()[i * In + j]) * c.input.data()[b * In + j];
        c.output.data()[b * Out + i] = static_cast<value>(std::tanh(sum));
      }
  }
  static void backward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    const auto weight = c.template parameter<0>();
    const auto gradient = c.template parameter_gradient<0>();
    if (!c.accumulate) std::fill(gradient.data(), gradient.data() + gradient.size(), 0);
    for (std::size_t b = 0; b < c.batch(); ++b) {
      std::array<double, In> below{};
      for (std::size_t i = 0; i < Out; ++i) {
        const double y = c.output.data()[b * Out + i];
        const double g = c.output_gradient.data()[b * Out + i] * (1 - y * y);
        for (std::size_t j = 0; j < In; ++j) {
          gradient.data()[i * In + j] += static_cast<typename call::gradient_type>(g * c.input.data()[b * In + j]);
          below[j] += g * weight.data()[i * In + j];
        }
      }
      for (std::size_t j = 0; c.needs_input_gradient && j < In; ++j)
        c.input_gradient.data()[b * In + j] = static_cast<typename call::value_type>(below[j]);
    }
  }
};

/// Half the sum of squared outputs; the targets are ignored.
struct half_square {
  dp::reduction reduce = dp::reduction::sum;

  template <class T> struct bound {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto&) const {
      double total = 0;
      for (std::size_t i = 0; i < output.size(); ++i) {
        gradient.data()[i] = output.data()[i];
        total += 0.5 * output.data()[i] * output.data()[i];
      }
      sums.data()[0] = static_cast<std::remove_cvref_t<decltype(sums.data()[0])>>(total);
      sums.data()[1] = static_cast<std::remove_cvref_t<decltype(sums.data()[1])>>(rows.size());
    }
  };
  template <class T, class> bound<T> bind(int) const { return {}; }
};

// -----------------------------------------------------------------------------------------------------------------

template <class Model> std::vector<values> parameters_of(const Model& model) {
  std::vector<values> all;
  model.for_each_parameter(
      [&](const std::string&, auto view) { all.emplace_back(view.data(), view.data() + view.size()); });
  return all;
}

/// The memory that model, optimizer and trainer allocate for batches of `Samples`.
template <class Model, std::size_t Samples, class Rule> std::size_t counted() {
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  Model model{dp::seed{1}};
  dp::trainer step{model, half_square{}, Rule{}};
  step.prepare(Samples);
  return dp::memory_statistics<dp::cpu>().allocated - before;
}

template <class Element, std::size_t Columns> auto batch_of(std::size_t rows, double scale, int modulus) {
  dp::tensor<Element, dp::extents<dp::dyn, Columns>, on_cpu> x(dp::extents<dp::dyn, Columns>{rows});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] =
        static_cast<Element>(scale * static_cast<double>((3 * i + i * i / 5) % static_cast<std::size_t>(modulus)));
  return x;
}

/// A step of gradient descent on half the squared output of tanh(W2 tanh(W1 x)), in double; W's rows are outputs.
/// `rounded` is applied to every value that the precision stores. Returns the gradients of W1 and W2.
template <class Rounded>
std::array<values, 2> reference_gradients(const std::vector<values>& weights, const values& x, std::size_t in,
                                          std::size_t hidden, std::size_t out, const Rounded& rounded) {
  std::array<values, 2> gradients{values(weights[0].size()), values(weights[1].size())};
  for (std::size_t b = 0; b < x.size() / in; ++b) {
    values h(hidden), y(out), dh(hidden);
    for (std::size_t i = 0; i < hidden; ++i) {
      for (std::size_t j = 0; j < in; ++j) h[i] += rounded(weights[0][i * in + j]) * x[b * in + j];
      h[i] = rounded(std::tanh(h[i]));
    }
    for (std::size_t i = 0; i < out; ++i) {
      for (std::size_t j = 0; j < hidden; ++j) y[i] += rounded(weights[1][i * hidden + j]) * h[j];
      y[i] = rounded(std::tanh(y[i]));
      const double g = y[i] * (1 - y[i] * y[i]);
      for (std::size_t j = 0; j < hidden; ++j) {
        gradients[1][i * hidden + j] += g * h[j];
        dh[j] += g * rounded(weights[1][i * hidden + j]);
      }
    }
    for (std::size_t i = 0; i < hidden; ++i)
      for (std::size_t j = 0; j < in; ++j)
        gradients[0][i * in + j] += rounded(dh[i]) * (1 - h[i] * h[i]) * x[b * in + j];
  }
  return gradients;
}

double largest_difference(const values& a, const values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

constexpr std::size_t rows = 9, length = 3, width = 4, hidden = 5, outputs = 2;
using lookup = nn::sequential<nn::input<length, 1>, nn::flatten, embedding<rows, width>,
                              nn::linear<length * width, outputs, false>>;

}  // namespace

TEMPLATE_TEST_CASE("a network whose first layer takes integers trains like plain loops", "[train]", FLOATING_TYPES) {
  using model_type = dp::model<lookup, on_cpu, TestType>;
  STATIC_REQUIRE(std::is_same_v<typename model_type::input_type, std::int32_t>);
  STATIC_REQUIRE(std::is_same_v<typename model_type::output_type, TestType>);
  constexpr std::size_t samples = 6;
  model_type model{dp::seed{1}};
  const auto numbers = batch_of<std::int32_t, length>(samples, 1, rows);
  const auto targets = batch_of<TestType, outputs>(samples, 0.25, 5);
  dp::trainer step{model, nn::mse{.reduce = dp::reduction::sum}, dp::optim::sgd{.learning_rate = 0.01}};
  std::vector<values> expected = parameters_of(model);
  for (int round = 0; round < 4; ++round) {
    std::array<values, 2> gradients{values(expected[0].size()), values(expected[1].size())};
    double loss = 0;
    for (std::size_t b = 0; b < samples; ++b)
      for (std::size_t o = 0; o < outputs; ++o) {
        const auto number = [&](std::size_t j) {
          return static_cast<std::size_t>(numbers(b, j / width)) * width + j % width;
        };
        double y = 0;
        for (std::size_t j = 0; j < length * width; ++j)
          y += expected[1][o * length * width + j] * expected[0][number(j)];
        const double difference = y - static_cast<double>(targets(b, o));
        loss += difference * difference;
        for (std::size_t j = 0; j < length * width; ++j) {
          gradients[1][o * length * width + j] += 2 * difference * expected[0][number(j)];
          gradients[0][number(j)] += 2 * difference * expected[1][o * length * width + j];
        }
      }
    const double measured = step(numbers, targets).item();
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t i = 0; i < expected[p].size(); ++i) expected[p][i] -= 0.01 * gradients[p][i];
    const double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
    CHECK(std::abs(measured - loss) <= tolerance * loss);
    const std::vector<values> now = parameters_of(model);
    CHECK(largest_difference(now[0], expected[0]) <= tolerance);
    CHECK(largest_difference(now[1], expected[1]) <= tolerance);
  }
}

TEST_CASE("forward and backward of a network that takes integers equal its trainer's step", "[train]") {
  using model_type = dp::model<lookup, on_cpu>;
  model_type planned{dp::seed{1}}, by_hand{dp::seed{1}};
  const auto numbers = batch_of<std::int32_t, length>(6, 1, rows);
  const auto targets = batch_of<float, outputs>(6, 0.25, 5);
  dp::trainer step{planned, nn::mse{}, dp::optim::adam{}};
  dp::optimizer optimizer{by_hand, dp::optim::adam{}};
  for (int round = 0; round < 3; ++round) {
    step(numbers, targets);
    auto [output, saved] = by_hand.forward(numbers);
    CHECK(by_hand.predict(numbers)(2, 1) == output(2, 1));
    auto [loss, gradient] = nn::mse{}(output, targets);
    optimizer.step(by_hand, dp::synchronize(by_hand.backward(std::move(saved), gradient)));
    CHECK(parameters_of(planned) == parameters_of(by_hand));
  }
}

TEST_CASE("a model in mixed<bf16> computes in bf16 and keeps its parameters in float", "[train]") {
  constexpr std::size_t in = length;
  using net = nn::sequential<dense_tanh<in, hidden>, dense_tanh<hidden, outputs>>;
  using model_type = dp::model<net, on_cpu, dp::mixed<dp::bf16>>;
  STATIC_REQUIRE(std::is_same_v<typename model_type::value_type, float>);
  STATIC_REQUIRE(std::is_same_v<typename model_type::input_type, float>);
  STATIC_REQUIRE(std::is_same_v<typename model_type::output_type, dp::bf16>);
  constexpr std::size_t samples = 7;
  const auto x = batch_of<float, in>(samples, 0.125, 13);
  const values exact_x(x.data(), x.data() + x.size());
  const auto in_bf16 = [](double value) { return static_cast<double>(static_cast<float>(dp::bf16(value))); };
  const auto in_double = [](double value) { return value; };
  model_type model{dp::seed{1}};
  CHECK(parameters_of(model) == parameters_of(dp::model<net, on_cpu, float>{dp::seed{1}}));

  dp::trainer step{model, half_square{}, dp::optim::sgd{.learning_rate = 0.0625}};
  for (int round = 0; round < 5; ++round) {
    const std::vector<values> before = parameters_of(model);
    const auto rounded = reference_gradients(before, exact_x, in, hidden, outputs, in_bf16);
    const auto exact = reference_gradients(before, exact_x, in, hidden, outputs, in_double);
    step(x, x);
    const std::vector<values> after = parameters_of(model);
    for (std::size_t p = 0; p < 2; ++p) {
      values moved(after[p].size());
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = (before[p][i] - after[p][i]) / 0.0625;
      const double size = *std::max_element(exact[p].begin(), exact[p].end());
      INFO("round " << round << ", parameter " << p);
      CHECK(largest_difference(moved, rounded[p]) <= 2e-5 * std::max(1.0, size));  // float updates
      CHECK(largest_difference(moved, exact[p]) <= 0.05 * std::max(1.0, size));
      CHECK(largest_difference(moved, exact[p]) > 1e-4);  // layers read bf16
    }
  }
}

TEST_CASE("updates too small for bf16 add up in the float parameters until layers see them", "[train]") {
  using net = nn::sequential<dense_tanh<1, 1>>;
  dp::model<net, on_cpu, dp::mixed<dp::bf16>> model{dp::seed{1}};
  model.parameter<0>()(0, 0) = 0.5f;
  const auto x = batch_of<float, 1>(1, 1, 4);
  dp::tensor<float, dp::extents<dp::dyn, 1>, on_cpu> one(dp::extents<dp::dyn, 1>{1});
  one(0, 0) = 1;
  const auto output = [&] { return static_cast<float>(model.predict(one)(0, 0)); };
  const float at_half = static_cast<float>(dp::bf16(std::tanh(0.5)));
  CHECK(output() == at_half);
  dp::trainer step{model, half_square{}, dp::optim::sgd{.learning_rate = 1e-4}};
  float last = 0.5f;
  int steps = 0;
  for (; output() == at_half && steps < 1000; ++steps) {
    step(one, one);
    CHECK(std::as_const(model).parameter<0>()(0, 0) < last);
    last = std::as_const(model).parameter<0>()(0, 0);
  }
  CHECK(steps > 5);
  CHECK(steps < 1000);
  model.parameter<0>()(0, 0) = 0.5f;  // takes effect in the next pass
  CHECK(output() == at_half);
  CHECK(static_cast<float>(dp::to<on_cpu>(model).predict(one)(0, 0)) == at_half);
}

TEST_CASE("threads predict with one model whose parameters the first thread rounds", "[train]") {
  using net = nn::sequential<dense_tanh<1, 1>>;
  dp::model<net, on_cpu, dp::mixed<dp::bf16>> model{dp::seed{1}};
  dp::tensor<float, dp::extents<dp::dyn, 1>, on_cpu> one(dp::extents<dp::dyn, 1>{1});
  one(0, 0) = 1;
  for (const float weight : {0.25f, 0.5f, 1.0f}) {
    model.parameter<0>()(0, 0) = weight;
    std::vector<float> predictions(4);
    std::vector<std::thread> threads;
    for (float& prediction : predictions)
      threads.emplace_back([&] { prediction = static_cast<float>(std::as_const(model).predict(one)(0, 0)); });
    for (std::thread& thread : threads) thread.join();
    CHECK(predictions == std::vector<float>(4, static_cast<float>(dp::bf16(std::tanh(weight)))));
  }
}

TEST_CASE("the memory plan counts each role in its own type", "[train]") {
  using net = nn::sequential<dense_tanh<length, hidden>, dense_tanh<hidden, outputs>>;
  using in_float = dp::model<net, on_cpu>;
  using mixed = dp::model<net, on_cpu, dp::mixed<dp::bf16>>;
  using plan = dp::memory_plan<mixed, dp::batch<100>, dp::optim::adam>;
  using float_plan = dp::memory_plan<in_float, dp::batch<100>, dp::optim::adam>;
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  CHECK(plan::bytes == counted<mixed, 100, dp::optim::adam>());
  CHECK(float_plan::bytes == counted<in_float, 100, dp::optim::adam>());
  CHECK(dp::memory_plan<mixed, dp::batch<1>, dp::optim::sgd>::bytes == counted<mixed, 1, dp::optim::sgd>());
  STATIC_REQUIRE(plan::parameters == float_plan::parameters);
  STATIC_REQUIRE(plan::gradients == float_plan::gradients);
  STATIC_REQUIRE(plan::optimizer_state == float_plan::optimizer_state);
  STATIC_REQUIRE(2 * plan::working_copy == plan::parameters);
  STATIC_REQUIRE(float_plan::working_copy == 0);
  // In bf16: [100, 5] saved, [100, 2] for the output and its gradient, two slots of [100, 5] for gradients, [100, 3]
  // rounded samples. In float: the output for the loss, and the losses.
  STATIC_REQUIRE(plan::activations == 1024 + 2 * 448 + 2 * 1024 + 640 + 832 + 448);
  STATIC_REQUIRE(float_plan::activations == 2048 + 2 * 832 + 2 * 2048 + 448);

  using integers = dp::model<lookup, on_cpu>;
  using integers_plan = dp::memory_plan<integers, dp::batch<33>, dp::optim::adam>;
  CHECK(integers_plan::bytes + integers_plan::loss_gradient == counted<integers, 33, dp::optim::adam>());
}
