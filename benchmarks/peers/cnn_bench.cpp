// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of training and prediction of the network of examples/cnn.cpp on the CPU.
//
// Answers questions on standard input, one per line, with seconds per call: `step <batch>` and `predict <batch>`;
// `threads <count>` comes first. benchmarks/peers/cnn.py asks this program and PyTorch in turn.

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/trainer.hpp>

#include "support/cnn.hpp"
#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using on_cpu = dp::on<dp::cpu>;

namespace {

double network(std::size_t rows, bool train) {
  dp::model<dp::bench::cnn, on_cpu> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, 1, 28, 28>{rows}, dp::seed{2}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels(dp::extents<dp::dyn>{rows});
  for (std::size_t i = 0; i < rows; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  if (train) return dp::bench::time_of([&] { static_cast<void>(step(x, labels)); });
  return dp::bench::time_of([&] { static_cast<void>(model.predict(x)); });
}

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& what, const std::string& rows) {
    return network(std::stoul(rows), what == "step");
  });
}
