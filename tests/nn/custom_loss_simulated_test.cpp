// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined loss that models the concept works in the trainer and in a step made of its parts.

#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_losses.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::distribute;
using dp::test::parameters_of;
using dp::test::values_of;

namespace {

/// The absolute differences of one sample, and the gradient.
template <class T> struct absolute_sample {
  T* gradient;
  const T* output;
  const T* target;
  std::size_t n;

  DEVPLACE_HD double weight(std::size_t) const { return static_cast<double>(n); }
  DEVPLACE_HD T operator()(std::size_t sample) const {
    T sum = 0;
    for (std::size_t i = sample * n; i < (sample + 1) * n; ++i) {
      const T difference = output[i] - target[i];
      gradient[i] = difference > 0 ? T{1} : difference < 0 ? T{-1} : T{0};
      sum += gradient[i] * difference;
    }
    return sum;
  }
};

struct absolute_error {
  dp::reduction reduce = dp::reduction::mean;

  template <class T> struct bound {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto& target) const {
      nn::sum_losses(sums, rows,
                     absolute_sample<T>{gradient.data(), output.data(), target.data(), output.extents().stride(0)});
    }
  };
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

/// Twice the output's first element; all samples have equal weight.
struct twice_the_output {
  dp::reduction reduce = dp::reduction::mean;

  struct sample {
    double* gradient;
    const double* output;
    DEVPLACE_HD double operator()(std::size_t i) const {
      gradient[i] = 2;
      return 2 * output[i];
    }
  };
  template <class T> struct bound {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto&) const {
      nn::sum_losses(sums, rows, sample{gradient.data(), output.data()});
    }
  };
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

/// Half the squared differences of neighbouring outputs. An element of the gradient depends on three outputs, so it
/// must not overwrite one.
struct roughness {
  dp::reduction reduce = dp::reduction::sum;

  template <class T> struct sample {
    T* gradient;
    const T* output;
    std::size_t n;
    DEVPLACE_HD T operator()(std::size_t row) const {
      const T* const y = output + row * n;
      T sum = 0;
      for (std::size_t i = 0; i != n; ++i) {
        const T left = i == 0 ? T{0} : y[i] - y[i - 1], right = i + 1 == n ? T{0} : y[i] - y[i + 1];
        gradient[row * n + i] = left + right;
        sum += left * left / 2;
      }
      return sum;
    }
  };
  template <class T> struct bound {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& output, const auto&) const {
      nn::sum_losses(sums, rows, sample<T>{gradient.data(), output.data(), output.extents().stride(0)});
    }
  };
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

/// mse, whose outputs are not overwritten, because the type is another one.
struct other_mse : nn::mse {
  template <class T> struct bound : nn::mse::bound<T> {};
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

struct no_bind {
  dp::reduction reduce = dp::reduction::mean;
};

static_assert(nn::loss<absolute_error>);
static_assert(!nn::loss<no_bind> && !nn::loss<double> && !nn::loss<dp::optim::sgd>);

using where = dp::replicated<2, 0, 1>;

}  // namespace

TEMPLATE_TEST_CASE("a user's loss is evaluated in parts", "[nn]", dp::on<dp::cpu>, dp::on<dp::cuda<1>>) {
  const dp::tensor<double, dp::extents<3, 2>, dp::on<dp::cpu>> output{{1, 5}, {2, 2}, {-3, 0}};
  const dp::tensor<double, dp::extents<3, 2>, dp::on<dp::cpu>> target{{2, 1}, {2, 0}, {-1, -4}};
  const auto x = dp::to<TestType>(output), y = dp::to<TestType>(target);
  const auto [loss, gradient] = nn::evaluate_loss(absolute_error{}, x, y);
  CHECK(loss.item() == 13.0 / 6);
  CHECK(nn::evaluate_loss(absolute_error{}, x, y).item() == 13.0 / 6);
  CHECK(values_of(gradient.gradient) == std::vector<double>{-1, 1, 0, 1, -1, 1});
  CHECK(values_of(gradient.sums) == std::vector<double>{13, 6});
}

TEMPLATE_TEST_CASE("samples have equal weight in a user's loss without weights", "[nn]", dp::on<dp::cpu>,
                   dp::on<dp::cuda<1>>) {
  dp::tensor<double, dp::extents<dp::dyn, 1>, dp::on<dp::cpu>> output(dp::extents<dp::dyn, 1>{100});
  for (std::size_t i = 0; i < 100; ++i) output(i, 0) = static_cast<double>(i);
  const auto x = dp::to<TestType>(output);
  const auto [loss, gradient] = nn::evaluate_loss(twice_the_output{}, x, x);
  CHECK(loss.item() == 99);
  CHECK(values_of(gradient.gradient) == std::vector<double>(100, 2.0));
  CHECK(values_of(gradient.sums) == std::vector<double>{9900, 100});
  const auto none = dp::to<TestType>(dp::tensor<double, dp::extents<dp::dyn, 1>, dp::cpu>(dp::extents<dp::dyn, 1>{0}));
  CHECK(values_of(nn::evaluate_loss(twice_the_output{}, none, none).gradient.sums) == std::vector<double>{0, 0});
}

TEST_CASE("a trainer takes a user's loss, on one place and on several", "[nn]") {
  dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, 2>{4});
  dp::tensor<double, dp::extents<dp::dyn, 1>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 1>{4});
  for (std::size_t i = 0; i < 4; ++i) {
    x(i, 0) = static_cast<double>(i + 1);
    x(i, 1) = static_cast<double>(i % 2);
    y(i, 0) = i < 3 ? 100.0 : -100.0;  // far from any output: signs -1, -1, -1, 1
  }
  dp::model<nn::linear<2, 1>, dp::on<dp::cpu>, double> one{dp::seed{1}};
  for (auto* parameter : {one.parameter<0>().data(), one.parameter<1>().data()}) *parameter = 0;
  one.parameter<0>()(0, 1) = 0;
  auto several = dp::to<where>(one);
  dp::trainer step{one, absolute_error{}, dp::optim::sgd{.learning_rate = 0.5}};
  dp::trainer step_of_several{several, absolute_error{}, dp::optim::sgd{.learning_rate = 0.5}};
  CHECK(step(x, y).item() == 100);
  CHECK(step_of_several(distribute<where>(x), distribute<where>(y)).item() == 100);
  // The mean gradient is (-1 - 2 - 3 + 4) / 4 and (0 - 1 - 0 + 1) / 4 for the weights, and -2 / 4 for the bias.
  CHECK(parameters_of(one) == std::vector<double>{0.25, 0, 0.25});
  CHECK(parameters_of(several, 0) == parameters_of(one));
  CHECK(parameters_of(several, 1) == parameters_of(one));
}

namespace {

/// Parameters after three steps, and the bytes that the trainer allocated for activations.
template <class Net, class P, class Loss> std::pair<std::vector<double>, std::size_t> three_steps(const Loss& loss) {
  dp::model<Net, dp::on<dp::cpu>, P> model{dp::seed{1}};
  dp::trainer step{model, loss, dp::optim::sgd{.learning_rate = 0.125}};
  using number = typename dp::precision_traits<P>::accumulator;
  const auto x = dp::test::integer_samples<float, 6>(9);
  const auto y = dp::test::integer_samples<number, 4>(9);
  const dp::tensor samples = dp::cast<typename dp::model<Net, dp::on<dp::cpu>, P>::input_type>(x);
  const auto before = dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::activations);
  for (int i = 0; i != 3; ++i) step(samples, y);
  const auto bytes = dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::activations) - before;
  const auto parameters = parameters_of(model);
  return {{parameters.begin(), parameters.end()}, bytes};
}

template <class Net, class P>
using plan_of_nine = dp::memory_plan<dp::model<Net, dp::on<dp::cpu>, P>, dp::batch<9>, dp::optim::sgd>;

}  // namespace

TEMPLATE_TEST_CASE("the gradient of a loss overwrites outputs that backward does not read", "[nn]", float, double,
                   dp::mixed<dp::bf16>) {
  using net = nn::sequential<nn::linear<6, 5>, nn::tanh, nn::linear<5, 4>>;
  using kept = nn::sequential<nn::linear<6, 4>, nn::tanh>;  // backward of tanh reads its output
  using plan = plan_of_nine<net, TestType>;
  constexpr std::size_t element = sizeof(typename dp::precision_traits<TestType>::activation),
                        outputs = dp::runtime::padded_bytes(9 * 4 * element);
  STATIC_REQUIRE(plan::loss_gradient == (element == 2 ? 0 : outputs));
  STATIC_REQUIRE(plan_of_nine<kept, TestType>::loss_gradient == 0);
  const auto over = three_steps<net, TestType>(nn::mse{});
  const auto beside = three_steps<net, TestType>(other_mse{});
  CHECK(over.first == beside.first);
  CHECK(over.second == plan::activations);
  CHECK(beside.second == plan::activations + plan::loss_gradient);
  const auto with_kept = three_steps<kept, TestType>(nn::mse{});
  CHECK(with_kept.first == three_steps<kept, TestType>(other_mse{}).first);
  CHECK(with_kept.second == plan_of_nine<kept, TestType>::activations);
}

TEMPLATE_TEST_CASE("a user's loss may read all outputs of a sample while it writes the gradient", "[nn]",
                   dp::on<dp::cpu>, dp::on<dp::cuda<1>>, where) {
  dp::model<nn::linear<6, 4>, TestType> by_trainer{dp::seed{1}}, by_hand{dp::seed{1}};
  dp::trainer step{by_trainer, roughness{}, dp::optim::sgd{.learning_rate = 1.0 / 2048}};
  dp::optimizer rule{by_hand, dp::optim::sgd{.learning_rate = 1.0 / 2048}};
  const auto x = distribute<TestType>(dp::test::integer_samples<float, 6>(9));
  const auto y = distribute<TestType>(dp::test::integer_samples<float, 4>(9));
  std::vector<double> losses;
  for (int i = 0; i != 4; ++i) {
    losses.push_back(step(x, y).item());
    auto [output, saved] = by_hand.forward(x);
    const auto [loss, gradient] = nn::evaluate_loss(roughness{}, output, y);
    CHECK(losses.back() == Catch::Approx(loss.item()));
    rule.step(by_hand, dp::synchronize(by_hand.backward(std::move(saved), gradient)));
  }
  CHECK(parameters_of(by_trainer) == parameters_of(by_hand));
  CHECK(losses.back() < losses.front());
}
