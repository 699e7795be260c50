// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/host_values.hpp"
#include "support/reference.hpp"
#include "support/sanitizers.hpp"

namespace devplace::test {

using reference_net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

template <std::size_t Index, class Model> void set_parameter(Model& model, const std::vector<float>& values) {
  const auto to = model.template parameter<Index>();
  REQUIRE(to.size() == values.size());
  std::copy(values.begin(), values.end(), to.data());
}

/// Runs 200 steps of batch 64 from PyTorch's initial parameters. Checks that the loss of every step is within 1e-4
/// (float) or `worst_in_double` (double), relative, of PyTorch's. Runs only 40 steps under sanitizers, and 5 on the
/// GPU in software.
template <class Where, class T, class Rule>
void follow_pytorch(const std::string& name, std::uint64_t run, const Rule& rule, double worst_in_double) {
  const reference_training data{run};
  model<reference_net, on<cpu>, T> initial{seed{0}};
  set_parameter<0>(initial, data.weight0());
  set_parameter<1>(initial, data.bias0());
  set_parameter<2>(initial, data.weight1());
  set_parameter<3>(initial, data.bias1());
  auto model = to<Where>(initial);
  trainer step{model, nn::cross_entropy{}, rule};

  const std::string folder = "training/" + name + (sizeof(T) == 4 ? "/f32/" : "/f64/");
  const auto losses = read_fixture<T, extents<200>>(folder + "losses");
  tensor<T, extents<dyn, 784>, on<cpu>> images(extents<dyn, 784>{64});
  tensor<std::int64_t, extents<dyn>, on<cpu>> labels(extents<dyn>{64});
  double worst = 0;
  const std::size_t steps = support::on_software_gpu ? 5 : support::sanitized ? 40 : 200;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto pixels = data.images(64 * i, 64);
    const auto classes = data.labels(64 * i, 64);
    std::copy(pixels.begin(), pixels.end(), images.data());
    std::copy(classes.begin(), classes.end(), labels.data());
    const double loss = static_cast<double>(step(to_batch<Where>(images), to_batch<Where>(labels)).item());
    const double expected = static_cast<double>(losses(i));
    worst = std::max(worst, std::abs(loss - expected) / expected);
    INFO("step " << i << ": " << loss << ", PyTorch " << expected);
    REQUIRE(std::abs(loss - expected) <= 1e-4 * expected);
  }
  INFO("largest relative difference: " << worst);
  CHECK(worst < (sizeof(T) == 4 ? 1e-4 : worst_in_double));
  if (steps < 200) return;
  const auto last = read_fixture<T, extents<10>>(folder + "bias1_head");
  const auto whole = to<on<cpu>>(model);
  const auto bias = support::values_of(whole.template parameter<3>());
  for (std::size_t i = 0; i < 10; ++i) CHECK(bias[i] == Catch::Approx(last(i)).epsilon(1e-3));
}

}  // namespace devplace::test
