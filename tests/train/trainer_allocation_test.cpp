// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replaced_new.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEMPLATE_TEST_CASE("a training step on the CPU never calls operator new, for any prepared size", "[train]",
                   dp::on<dp::cpu>, dp::across<dp::on<dp::cpu>>) {
  const dp::process_group alone;
  const dp::process_scope scope{alone};
  using net = nn::sequential<nn::linear<6, 40>, nn::relu, nn::dropout<std::ratio<1, 5>>,
                             nn::residual<nn::linear<40, 20>, nn::tanh, nn::linear<20, 40>>, nn::linear<40, 3>,
                             nn::log_softmax>;
  dp::model<net, TestType> model{dp::seed{1}};
  const auto schedule =
      dp::optim::linear{.steps = 8}.then([](std::int64_t i) { return 1 / (1 + 0.1 * static_cast<double>(i)); });
  dp::trainer step{model, nn::cross_entropy{.label_smoothing = 0.1, .class_weights = {1, 2, 3}},
                   dp::optim::scheduled{dp::optim::adamw{}, schedule}};
  step.clip(dp::optim::clip_norm{.max_norm = 1});
  using place = dp::batch_placement_t<TestType>;
  std::vector<std::pair<dp::tensor<float, dp::extents<dp::dyn, 6>, place>,
                        dp::tensor<std::int64_t, dp::extents<dp::dyn>, place>>>
      batches;
  for (const std::size_t rows : std::vector<std::size_t>{300, 64, 7, 1, 0})
    batches.emplace_back(dp::to_batch<TestType>(dp::test::integer_samples<float, 6>(rows)),
                         dp::to_batch<TestType>(dp::test::square_labels(rows, 3)));
  step.prepare(300);
  step(batches[0].first, batches[0].second);
  const long before = support::allocations;
  for (int i = 0; i < 3; ++i)
    for (const auto& [samples, labels] : batches) step(samples, labels);
  const long after = support::allocations;
  CHECK(after - before == 0);
}
