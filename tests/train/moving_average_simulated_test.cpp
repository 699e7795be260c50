// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using averaged_net = nn::sequential<nn::linear<6, 4>, nn::batch_norm<4>, nn::linear<4, 3>>;
using averaged_where = dp::replicated<0, 1>;
using averaged_model = dp::model<averaged_net, averaged_where, dp::mixed<dp::bf16>>;

/// A replica's parameters, or its buffers with their padding.
std::vector<float> parameters_in(const averaged_model& model, std::size_t k) {
  return dp::test::parameters_of(model, k);
}
std::vector<float> buffers_in(const averaged_model& model, std::size_t k) {
  const auto& r = model.state().replicas[k];
  std::vector<float> values(r.buffers.bytes() / sizeof(float));
  dp::detail::copy_out<dp::backend::cuda>(r.ordinal, values.data(), r.buffer_data(), r.buffers.bytes());
  return values;
}

/// A moving average in double.
struct slow_average {
  std::vector<double> values;
  void update(const std::vector<float>& with, double decay) {
    if (values.empty()) values.assign(with.begin(), with.end());
    for (std::size_t i = 0; i < with.size(); ++i)
      values[i] = decay * values[i] + (1 - decay) * static_cast<double>(with[i]);
  }
};
void check_close(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(static_cast<double>(found[i]) == Catch::Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

}  // namespace

TEST_CASE("docs/training.md: averages of parameters", "[train]") {
  averaged_model model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}, dp::accumulate<2>{}};
  const auto images = dp::test::distribute<averaged_where>(dp::test::integer_samples<float, 6>(9));
  const auto labels = dp::test::distribute<averaged_where>(dp::test::square_labels(9, 3));

  dp::moving_average average{model, {.decay = 0.75}};
  dp::moving_average of_all{model, {.decay = 0.25, .average_buffers = true}};  // the new value's weight exceeds 1/2
  slow_average parameters, parameters_of_all, buffers;
  for (int i = 0; i < 12; ++i) {
    step(images, labels);
    average.update(model);
    of_all.update(model);
    if (i % 2 == 0) continue;  // the first of two batches of an update
    parameters.update(parameters_in(model, 0), 0.75);
    parameters_of_all.update(parameters_in(model, 0), 0.25);
    buffers.update(buffers_in(model, 0), 0.25);
  }
  CHECK(average.updates() == 6);
  check_close(parameters_in(of_all.model(), 1), parameters_of_all.values);
  check_close(buffers_in(of_all.model(), 0), buffers.values);
  for (std::size_t k = 0; k < 2; ++k) {
    check_close(parameters_in(average.model(), k), parameters.values);
    CHECK(buffers_in(average.model(), k) == buffers_in(model, k));
  }

  // The working copies that layers read are updated as well.
  const auto outputs = [&](const averaged_model& of) {
    const auto all = of.predict(images);
    return dp::test::values_of(all.local(1));
  };
  averaged_model with_average{dp::seed{2}};
  with_average.assign(average.model());
  const auto before = outputs(average.model());
  CHECK(before == outputs(with_average));
  step(images, labels);
  step(images, labels);
  average.update(model);
  with_average.assign(average.model());
  const auto after = outputs(average.model());
  CHECK(after != before);
  CHECK(after == outputs(with_average));

  // Resumes a training.
  dp::moving_average resumed{model, {.decay = 0.75}};
  resumed.assign(average.model(), average.updates());
  for (int i = 0; i < 2; ++i) step(images, labels);
  average.update(model);
  resumed.update(model);
  CHECK(parameters_in(resumed.model(), 1) == parameters_in(average.model(), 1));
}

TEST_CASE("averaged buffers equal the model's again after a step with NaN", "[train]") {
  averaged_model model{dp::seed{1}};
  const auto good = dp::to<averaged_where>(model);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}, dp::accumulate<2>{}};
  const auto labels = dp::test::distribute<averaged_where>(dp::test::square_labels(9, 3));
  auto samples = dp::test::integer_samples<float, 6>(9);
  samples(0, 0) = std::numeric_limits<float>::quiet_NaN();
  const auto images = dp::test::distribute<averaged_where>(samples);
  dp::moving_average average{model};
  step(images, labels);
  step(images, labels);
  average.update(model);
  CHECK(buffers_in(average.model(), 0) != buffers_in(good, 0));
  model.assign(good);
  average.update(model);
  for (std::size_t k = 0; k < 2; ++k) CHECK(buffers_in(average.model(), k) == buffers_in(good, k));
}

TEST_CASE("a decay of 1 is rejected", "[train]") {
  averaged_model model{dp::seed{1}};
  CHECK_THROWS_WITH((dp::moving_average{model, {.decay = 1}}),
                    Catch::Matchers::ContainsSubstring("moving_average: decay is 1.0; it must be at least 0"));
}
