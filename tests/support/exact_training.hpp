// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "support/training_data.hpp"

namespace devplace::test {

/// The policy with an engine of a model on `Where`.
template <class Where, class Engine>
using policy_for =
    std::conditional_t<stores_shares<Where>, collective::gather_units<Engine>, collective::all_reduce<Engine>>;

/// The parameters after one step on each of several batches. All sums are exact: numbers are small multiples of 2^-19.
/// So every placement and every engine must give the same bits.
template <class Where, class Engine = collective::direct> std::vector<double> train_exactly() {
  model<nn::sequential<nn::linear<6, 24>, nn::linear<24, 3>>, cpu, double> start{seed{1}};
  std::size_t next = 0;
  start.for_each_parameter([&](const std::string&, auto view) {
    for (std::size_t i = 0; i != view.size(); ++i) view.data()[i] = static_cast<double>(next++ * 5 % 7) / 8 - 0.375;
  });
  std::vector<double> result;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 16}) {
    auto trained = to<Where>(start);
    trainer step{trained, nn::mse{.reduce = reduction::sum}, optim::plain_sgd{.learning_rate = 1.0 / 1024},
                 policy_for<Where, Engine>{}};
    tensor<double, extents<dyn, 3>, cpu> targets{extents<dyn, 3>{rows}};
    for (std::size_t i = 0; i != targets.size(); ++i) targets.data()[i] = static_cast<double>(i % 3);
    step(to_batch<Where>(integer_samples<double, 6>(rows)), to_batch<Where>(targets));
    const auto parameters = step.state().parameters;
    result.insert(result.end(), parameters.begin(), parameters.end());
  }
  return result;
}

}  // namespace devplace::test
