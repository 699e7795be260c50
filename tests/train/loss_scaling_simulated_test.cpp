// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loss scaling in mixed<half> with accumulation, clipping, buckets and processes, for which threads stand in.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::optim::loss_scaler_state;
using dp::test::in_processes;
using dp::test::parameters_of;

namespace {

using scaled_net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using scaled_cpu = dp::on<dp::cpu>;
using scaled_across = dp::across<scaled_cpu>;
template <class Where> using scaled_model = dp::model<scaled_net, Where, dp::mixed<dp::half>>;
using each_parameter_reduced = collective::all_reduce<collective::direct, collective::buckets<1, 1>>;

constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

/// Samples with an infinity in one row, which makes gradients infinite or NaN.
auto samples_with_infinity(std::size_t rows, std::size_t row) {
  auto x = dp::test::integer_samples<float, 6>(rows);
  if (row != no_row) x(row, 2) = std::numeric_limits<float>::infinity();
  return x;
}

template <class Where, class Trainer> void step_on(Trainer& step, std::size_t rows, std::size_t infinite_row = no_row) {
  step(dp::to_batch<Where>(samples_with_infinity(rows, infinite_row)),
       dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
}

/// Two sequences of four tokens, each token once, so that the table's gradient equals the output's.
constexpr std::size_t scaled_sequences = 2, scaled_tokens = 4, scaled_classes = 2;
using scaled_table =
    nn::sequential<nn::input<scaled_tokens>, nn::embedding<scaled_sequences * scaled_tokens, scaled_classes>>;

/// The gradient of the output, which is all zeros, in half and scaled by 65536.
template <class Loss, class Targets>
std::vector<float> scaled_output_gradient(const Loss& loss, const Targets& targets) {
  dp::model<scaled_table, scaled_cpu, dp::mixed<dp::half>> model{dp::seed{1}};
  model.for_each_parameter([](const std::string&, auto to) { dp::fill(to, 0.0f); });
  dp::tensor<std::int32_t, dp::extents<dp::dyn, scaled_tokens>, scaled_cpu> tokens(
      dp::extents<dp::dyn, scaled_tokens>{scaled_sequences});
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens.data()[i] = static_cast<std::int32_t>(i);
  dp::trainer step{model, loss, dp::optim::sgd{}};
  step(tokens, targets);
  CHECK(step.scaler() == loss_scaler_state{65536, 1, 0});
  const float* const gradient = model.state().replicas.front().gradient_data();
  return {gradient, gradient + tokens.size() * scaled_classes};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squares += static_cast<double>(a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
  return std::sqrt(squares);
}

/// The state of a training after each call: parameters, scale and skipped steps; and the norms of the gradients.
struct scaled_history {
  std::vector<std::vector<float>> parameters;
  std::vector<loss_scaler_state> scalers;
  std::vector<double> norms;  ///< missing where unknown
  friend bool operator==(const scaled_history&, const scaled_history&) = default;
};

/// Trains with an update after every two batches; the last update is incomplete. Rows are divided among three
/// participants; three batches have infinite samples on the last, the first or the second participant alone.
template <class Where, class Policy> scaled_history train_scaled(const Policy& policy) {
  scaled_model<Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1f, .momentum = 0.5}, policy,
                   dp::accumulate<2>{}};
  step.scale_losses({.initial_scale = 4096, .growth_interval = 3});
  step.measure_gradients();
  scaled_history after;
  const auto note = [&] {
    after.parameters.push_back(parameters_of(model, dp::local_place_count<Where> - 1));
    after.scalers.push_back(step.scaler());
  };
  struct batch {
    std::size_t rows, infinite_row;
  };
  const std::vector<batch> batches{{7, no_row},  {3, no_row}, {7, 6},      {6, no_row}, {9, no_row},
                                   {9, 0},       {6, no_row}, {5, no_row}, {9, no_row}, {2, no_row},
                                   {12, no_row}, {4, no_row}, {9, no_row}, {1, no_row}, {9, 4}};
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (i == 8) step.clip({.max_norm = 0.25});
    step_on<Where>(step, batches[i].rows, batches[i].infinite_row);
    note();
  }
  if (!step.flush()) throw std::logic_error("the last batch is not pending.");
  note();
  try {
    const dp::gradient_norms norms = step.gradient_norms().item();
    after.norms = {norms.mean, norms.largest, static_cast<double>(norms.updates),
                   static_cast<double>(norms.not_finite)};
  } catch (const dp::error& e) {
    if (std::string(e.what()).find("with this policy call gradient_norms() in the process with rank 0") ==
        std::string::npos)
      throw;
  }
  return after;
}

}  // namespace

TEST_CASE("an infinite gradient in any batch of an accumulation skips the update without a trace", "[train]") {
  // Training without the bad accumulation gives the same bits.
  const auto train = [](std::size_t bad_batch, std::size_t batches_of_bad) {
    scaled_model<scaled_cpu> model{dp::seed{3}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.5},
                     dp::accumulate<3>{}};
    step.scale_losses({.initial_scale = 1024});
    for (const std::size_t update : {0u, 1u, 2u}) {
      if (update == 1 && batches_of_bad != 0) {
        const auto before = parameters_of(model);
        for (std::size_t b = 0; b < batches_of_bad; ++b) step_on<scaled_cpu>(step, 5, b == bad_batch ? 1 : no_row);
        CHECK(step.flush() == (batches_of_bad != 3));
        CHECK(parameters_of(model) == before);
        CHECK(step.scaler() == loss_scaler_state{512, 0, 1});
        step.set_scaler({1024, 1, 1});
      }
      for (std::size_t b = 0; b < 3; ++b) step_on<scaled_cpu>(step, 4 + 2 * b + update);
      CHECK(step.scaler().growth_tracker == static_cast<std::int64_t>(update + 1));  // counts updates, not batches
    }
    CHECK(step.scaler().scale == 1024);
    return parameters_of(model);
  };
  const std::vector<float> expected = train(0, 0);
  for (const std::size_t bad : {0u, 1u, 2u}) CHECK(train(bad, 3) == expected);
  CHECK(train(1, 2) == expected);
  CHECK(train(0, 1) == expected);
}

TEST_CASE("flush() of an accumulation of one batch equals the step of that batch, with the same scale", "[train]") {
  scaled_model<scaled_cpu> one{dp::seed{3}}, several{dp::seed{3}};
  const dp::optim::sgd rule{.learning_rate = 0.1};
  dp::trainer step{one, nn::cross_entropy{}, rule};
  dp::trainer accumulating{several, nn::cross_entropy{}, rule, dp::accumulate<3>{}};
  for (const std::size_t row : {no_row, std::size_t{2}, no_row}) {
    step_on<scaled_cpu>(step, 6, row);
    step_on<scaled_cpu>(accumulating, 6, row);
    CHECK(accumulating.flush());
    CHECK(parameters_of(several) == parameters_of(one));
    CHECK(accumulating.scaler() == step.scaler());
  }
  CHECK(step.scaler() == loss_scaler_state{32768, 1, 1});
  const auto moved = std::move(step);
  CHECK_THROWS_WITH(step.scale_losses({}), Catch::Matchers::Contains("this trainer was moved from"));
}

TEST_CASE("the gradient of a mean is divided before it is scaled, as in PyTorch", "[train]") {
  // PyTorch 2.15 gives these numbers for (loss * 65536).backward() in float64.
  dp::tensor<std::int64_t, dp::extents<dp::dyn, scaled_tokens>, scaled_cpu> labels(
      dp::extents<dp::dyn, scaled_tokens>{scaled_sequences});
  dp::tensor<float, dp::extents<dp::dyn, scaled_tokens, scaled_classes>, scaled_cpu> values(
      dp::extents<dp::dyn, scaled_tokens, scaled_classes>{scaled_sequences});
  std::vector<float> of_labels, of_values;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels.data()[i] = i % 3 == 0 ? 1 : 0;
    for (const float sign : {1.0f, -1.0f}) of_labels.push_back(i % 3 == 0 ? 4096 * sign : -4096 * sign);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values.data()[i] = static_cast<float>(i) / 4 - 1;
    of_values.push_back(8192 - 2048 * static_cast<float>(i));
  }
  CHECK(scaled_output_gradient(nn::cross_entropy{}, labels) == of_labels);
  CHECK(scaled_output_gradient(nn::mse{}, values) == of_values);
  dp::fill(values, 0.5f);
  CHECK(scaled_output_gradient(nn::kl_div{}, values) == std::vector<float>(values.size(), -2048));
  CHECK(scaled_output_gradient(nn::kl_div{.batchmean = true}, values) == std::vector<float>(values.size(), -16384));
}

TEST_CASE("the scale of losses does not change between the batches of an accumulation", "[train]") {
  const auto train = [](bool tries) {
    scaled_model<scaled_cpu> model{dp::seed{3}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<3>{}};
    step_on<scaled_cpu>(step, 6);
    if (tries) {
      const auto message = Catch::Matchers::Contains("call flush() first");
      CHECK_THROWS_WITH(step.scale_losses({.initial_scale = 256}), message);
      CHECK_THROWS_WITH(step.set_scaler({256, 0, 0}), message);
    }
    step_on<scaled_cpu>(step, 5);
    step.flush();
    CHECK(step.scaler() == loss_scaler_state{65536, 1, 0});
    CHECK_NOTHROW(step.scale_losses({.initial_scale = 256}));
    CHECK_NOTHROW(step.set_scaler({512, 0, 0}));
    return parameters_of(model);
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("a loss scale does not fall to 0, and a step whose factor would be infinite is skipped", "[train]") {
  constexpr double smallest = std::numeric_limits<float>::min();
  scaled_model<scaled_cpu> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<3>{}};
  step.scale_losses({.initial_scale = 65536, .growth_interval = 2});
  const auto before = parameters_of(model);
  for (int i = 0; i < 170; ++i) {
    step_on<scaled_cpu>(step, 6, 1);
    step.flush();
  }
  CHECK(step.scaler() == loss_scaler_state{smallest, 0, 170});
  // 6 divided by the smallest scale exceeds the largest float. Finite gradients still let the scale grow.
  for (const auto& after : {loss_scaler_state{smallest, 1, 171}, loss_scaler_state{2 * smallest, 0, 172}}) {
    step_on<scaled_cpu>(step, 6);
    step.flush();
    CHECK(step.scaler() == after);
  }
  CHECK(parameters_of(model) == before);
  step.set_scaler({65536, 0, 0});
  step_on<scaled_cpu>(step, 6);
  step.flush();
  CHECK(step.scaler() == loss_scaler_state{65536, 1, 0});
  CHECK(parameters_of(model) != before);
  for (const double scale : {0.0, -1.0, 1e-40, 1e60})
    CHECK_THROWS_AS(step.set_scaler({scale, 0, 0}), dp::argument_error);
  CHECK_NOTHROW(step.set_scaler({smallest, 0, 0}));
}

TEST_CASE("an empty first batch of an accumulation does not change the scale of the other batches", "[train]") {
  const auto train = [](const std::vector<std::size_t>& sizes) {
    scaled_model<scaled_cpu> model{dp::seed{3}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<3>{}};
    for (const std::size_t rows : sizes) step_on<scaled_cpu>(step, rows);
    CHECK(step.scaler() == loss_scaler_state{65536, 1, 0});
    return parameters_of(model);
  };
  CHECK(train({0, 6, 6}) == train({6, 6, 0}));
  CHECK(train({0, 0, 0}) == parameters_of(scaled_model<scaled_cpu>{dp::seed{3}}));
}

TEST_CASE("clipping limits the norm of unscaled gradients", "[train]") {
  for (const double scale : {1.0, 4096.0}) {
    scaled_model<scaled_cpu> model{dp::seed{3}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 1}, dp::accumulate<3>{}};
    step.scale_losses({.initial_scale = scale});
    step.clip({.max_norm = 0.125});
    const auto before = parameters_of(model);
    for (int i = 0; i < 3; ++i) step_on<scaled_cpu>(step, 6);
    const auto after = parameters_of(model);
    CHECK(distance(after, before) == Catch::Approx(0.125).epsilon(1e-4));
    for (const std::size_t row : {no_row, no_row, std::size_t{5}}) step_on<scaled_cpu>(step, 6, row);
    CHECK(parameters_of(model) == after);
    CHECK(step.scaler() == loss_scaler_state{scale / 2, 0, 1});
  }
}

TEST_CASE("an infinite gradient in one process skips the update in all, with the same bits as in one process",
          "[parallel]") {
  const scaled_history expected = train_scaled<dp::replicated<2, 0, 1>>(each_parameter_reduced{});
  // The 2nd, 3rd and 8th updates are skipped, and the 4th to 6th make the scale grow.
  CHECK(expected.scalers[3] == loss_scaler_state{2048, 0, 1});
  CHECK(expected.scalers[5] == loss_scaler_state{1024, 0, 2});
  CHECK(expected.scalers[11] == loss_scaler_state{2048, 0, 2});
  CHECK(expected.scalers.back() == loss_scaler_state{1024, 0, 3});
  CHECK((expected.norms[2] == 8 && expected.norms[3] == 3));
  CHECK(expected.parameters[5] == expected.parameters[1]);
  CHECK(expected.parameters.back() == expected.parameters[13]);
  CHECK(expected.parameters[7] != expected.parameters[1]);
  for (const float parameter : expected.parameters.back()) REQUIRE(std::isfinite(parameter));
  const auto require_same = [&](const auto& policy, bool norms_everywhere) {
    in_processes(3, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      scaled_history found = train_scaled<scaled_across>(policy);
      if (found.norms.empty() && !norms_everywhere && group.rank() != 0) found.norms = expected.norms;
      if (found.scalers != expected.scalers)
        throw std::logic_error("rank " + std::to_string(group.rank()) + " has other scales.");
      if (found != expected) throw std::logic_error("rank " + std::to_string(group.rank()) + " has other bits.");
    });
  };
  CHECK_NOTHROW(require_same(each_parameter_reduced{}, true));
  CHECK_NOTHROW(require_same(collective::sharded_all_reduce<collective::direct, collective::buckets<1, 1>>{}, true));
  CHECK_NOTHROW(require_same(collective::scatter_gather{}, false));
}

TEST_CASE("different loss scales of processes are an error before the first step", "[parallel]") {
  const auto message = [](const auto& change) {
    std::string of_first = "no error";
    in_processes(3, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      scaled_model<scaled_across> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.momentum = 0.5}, each_parameter_reduced{},
                       dp::accumulate<2>{}};
      try {
        if (group.rank() == 1) change(step);
        step_on<scaled_across>(step, 6);
      } catch (const dp::communication_error& e) {
        if (group.is_main()) of_first = e.what();
      }
    });
    return of_first;
  };
  const std::string begin = "devplace: trainer, in step 1: rank 1 has ";
  const std::string end =
      " Start the same program with the same options in all processes, and make each change in all of them before the "
      "same step.";
  CHECK(message([](auto&) {}) == "no error");
  CHECK(message([](auto& step) { step.scale_losses({.growth_interval = 100}); }) ==
        begin + "\"growth_interval: 100\" where rank 0 has \"growth_interval: 2000\"." + end);
  CHECK_THAT(message([](auto& step) { step.set_scaler({512, 0, 0}); }),
             Catch::Matchers::StartsWith(begin + "\"loss scaler's scale: 512\" where rank 0 has"));
  CHECK_THAT(message([](auto& step) { step.set_scaler({65536, 7, 0}); }),
             Catch::Matchers::StartsWith(
                 begin + "\"loss scaler's growth_tracker: 7\" where rank 0 has \"loss scaler's growth_tracker: 0\""));
}
