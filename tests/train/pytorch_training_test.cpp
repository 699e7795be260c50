// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/io/npy.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

template <class T, std::size_t Index, class Model>
void set_parameter(Model& model, const std::vector<float>& values) {
  const auto to = model.template parameter<Index>();
  REQUIRE(to.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    to.data()[i] = static_cast<T>(values[i]);
}

/// 200 steps of batch 64 from PyTorch's initial parameters; the loss of every step within 1e-4 relative of PyTorch's.
template <class T, class Rule>
void follow_pytorch(const std::string& name, std::uint64_t run, const Rule& rule) {
  const dp::test::reference_training data{run};
  dp::model<net, dp::on<dp::cpu>, T> model{dp::seed{0}};
  set_parameter<T, 0>(model, data.weight0());
  set_parameter<T, 1>(model, data.bias0());
  set_parameter<T, 2>(model, data.weight1());
  set_parameter<T, 3>(model, data.bias1());
  dp::trainer step{model, nn::cross_entropy{}, rule};

  const std::string folder = "training/" + name + (sizeof(T) == 4 ? "/f32/" : "/f64/");
  const auto losses = dp::read_npy<T, dp::extents<200>>(dp::test::reference_path(folder + "losses.npy"));
  dp::tensor<T, dp::extents<dp::dyn, 784>, dp::on<dp::cpu>> images(dp::extents<dp::dyn, 784>{64});
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> labels(dp::extents<dp::dyn>{64});
  double worst = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto pixels = data.images(64 * i, 64);
    const auto classes = data.labels(64 * i, 64);
    std::copy(pixels.begin(), pixels.end(), images.data());
    std::copy(classes.begin(), classes.end(), labels.data());
    const double loss = static_cast<double>(step(images, labels).item());
    const double expected = static_cast<double>(losses(i));
    worst = std::max(worst, std::abs(loss - expected) / expected);
    INFO("step " << i << ": " << loss << ", PyTorch " << expected);
    REQUIRE(std::abs(loss - expected) <= 1e-4 * expected);
  }
  INFO("largest relative difference: " << worst);
  CHECK(worst < (sizeof(T) == 4 ? 1e-4 : 1e-10));
  const auto last = dp::read_npy<T, dp::extents<10>>(dp::test::reference_path(folder + "bias1_head.npy"));
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(model.template parameter<3>()(i) == Catch::Approx(last(i)).epsilon(1e-3));
}

}  // namespace

TEST_CASE("200 steps with Adam follow PyTorch's losses in float", "[train]") {
  follow_pytorch<float>("adam", dp::test::reference_run_adam, dp::optim::adam{.learning_rate = 1e-3});
}

TEST_CASE("200 steps with Adam follow PyTorch's losses in double", "[train]") {
  follow_pytorch<double>("adam", dp::test::reference_run_adam, dp::optim::adam{.learning_rate = 1e-3});
}

TEST_CASE("200 steps with SGD and momentum follow PyTorch's losses in float", "[train]") {
  follow_pytorch<float>("sgd", dp::test::reference_run_sgd, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
}

TEST_CASE("200 steps with SGD and momentum follow PyTorch's losses in double", "[train]") {
  follow_pytorch<double>("sgd", dp::test::reference_run_sgd, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
}
