// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

// Trainings of models in shares, and of replicas for comparison.
namespace devplace::test {

inline const nn::cross_entropy weighted{.ignore_index = 1, .label_smoothing = 0.1, .class_weights = {1, 2, 0.7}};
inline constexpr optim::adam adam_with_decay{.learning_rate = 0.01, .weight_decay = 0.01};

/// The policy with an engine of a model on `Where`.
template <class Where, class Engine>
using policy_for =
    std::conditional_t<stores_shares<Where>, collective::gather_units<Engine>, collective::all_reduce<Engine>>;

/// The results of a training, as numbers; NaN, the loss without samples, is -1.
struct training_results {
  std::vector<double> start, losses, end;

  void loss(double value) { losses.push_back(std::isnan(value) ? -1 : value); }
  friend bool operator==(const training_results&, const training_results&) = default;
};

/// The parameters, buffers and optimizer state.
template <class Trainer> std::vector<double> state_of(Trainer& step) {
  const auto state = step.state();
  std::vector<double> all(state.parameters.begin(), state.parameters.end());
  all.insert(all.end(), state.buffers.begin(), state.buffers.end());
  for (const auto& arena : state.optimizer.arenas) all.insert(all.end(), arena.begin(), arena.end());
  all.insert(all.end(), {static_cast<double>(state.optimizer.steps), static_cast<double>(state.passes),
                         static_cast<double>(state.scaler.skipped_steps), state.scaler.scale});
  return all;
}

/// Samples of a model on the CPU: of small integers, or if they are indices, of all of the first `Indices` numbers.
template <class Model, std::size_t Columns, std::size_t Indices> auto samples_for(std::size_t rows) {
  using input = typename Model::input_type;
  auto x = integer_samples<input, Columns>(rows);
  if constexpr (std::is_integral_v<input>)
    for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<input>((i * i * 37 + i * 5) % Indices);
  return x;
}

/// Steps on batches of several sizes, also with fewer samples than places and with none. The later ones clip. Samples
/// have `Columns` numbers, below `Indices` if they are indices.
template <class Net, class Where, class P, class Engine, std::size_t Batches = 1, std::size_t Columns = 6,
          std::size_t Indices = 0, class Rule>
training_results train_in_steps(const Rule& rule) {
  using model_type = model<Net, Where, P>;
  model_type model{seed{9}};
  trainer step{model, weighted, rule, policy_for<Where, Engine>{}, accumulate<Batches>{}};
  training_results result;
  result.start = state_of(step);
  for (const std::size_t rows : std::vector<std::size_t>{7, 33, 2, 0, 12, 5}) {
    if (rows == 2) step.measure_gradients();
    if (rows == 12) step.clip({.max_norm = 0.05});
    const auto x = distribute<Where>(samples_for<model_type, Columns, Indices>(rows));
    const auto loss = step(x, distribute<Where>(square_labels(rows, 3)));
    if constexpr (Batches == 1) result.loss(static_cast<double>(loss.item()));
  }
  step.flush();
  const gradient_norms norms = step.gradient_norms().item();
  for (const double value : {norms.last, norms.mean, norms.largest, step.mean_loss()}) result.loss(value);
  const auto x = distribute<Where>(samples_for<model_type, Columns, Indices>(10));
  for (const auto value : values_of(gather<cpu>(model.predict(x)))) result.loss(static_cast<double>(value));
  result.end = state_of(step);
  return result;
}

/// The parameters of a network of six inputs and two outputs after steps from integers on `batches` of these sizes. All
/// sums are exact, so that their order has no effect.
template <class Net, class Where, class Engine, std::size_t Batches>
std::vector<double> exact_steps(const std::vector<std::size_t>& batches) {
  model<Net, Where, double> model{seed{1}};
  trainer step{model, nn::mse{.reduce = reduction::sum}, optim::sgd{.learning_rate = 0.125},
               policy_for<Where, Engine>{}, accumulate<Batches>{}};
  std::vector<double> found;
  for (const std::size_t rows : batches) {
    set_integer_parameters(model);
    for (std::size_t i = 0; i != Batches; ++i) {
      tensor<double, extents<dyn, 2>, cpu> y(extents<dyn, 2>{rows});
      for (std::size_t j = 0; j != y.size(); ++j) y.data()[j] = static_cast<double>((j + i) % 5) - 2;
      step(distribute<Where>(integer_samples<double, 6>(rows)), distribute<Where>(y));
    }
    const auto state = step.state();
    found.insert(found.end(), state.parameters.begin(), state.parameters.end());
  }
  return found;
}

}  // namespace devplace::test
