// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined loss that models the concept works in the trainer and in a step made of its parts.

#include <cstddef>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sum_losses.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"

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
