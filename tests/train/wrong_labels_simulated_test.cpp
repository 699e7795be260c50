// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A label that is no class acts alike on the CPU, on one device, on replicas and in processes: the update is skipped,
// reading the loss throws, and the training continues.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
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
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using log_net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>, nn::log_softmax>;
using three = dp::replicated<2, 0, 1>;
constexpr std::size_t rows = 12;

template <class Where> auto samples() { return dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)); }
template <class Where> auto labels(std::int64_t in_row_7) {
  auto y = dp::test::square_labels(rows, 3);
  y(7) = in_row_7;
  return dp::to_batch<Where>(y);
}

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const dp::argument_error& e) {
    return e.what();
  }
  return "";
}

/// Requires that a step with a wrong label changes nothing, and that later steps are those of a training without the
/// step. Returns what was wrong.
template <class Where, class Net, class P, class... Arguments> std::string difference(const Arguments&... arguments) {
  dp::model<Net, Where, P> model{dp::seed{4}}, undisturbed{dp::seed{4}};
  dp::trainer step{model, arguments...}, other{undisturbed, arguments...};
  step.clip(dp::optim::clip_norm{2});
  other.clip(dp::optim::clip_norm{2});
  const auto x = samples<Where>();
  const auto run = [&](auto& trainer, std::int64_t label) {
    constexpr bool accumulates = (std::is_same_v<Arguments, dp::accumulate<2>> || ...);
    if (accumulates) trainer(x, labels<Where>(0));
    return trainer(x, labels<Where>(label));
  };
  run(step, 0).item();
  run(other, 0).item();
  const auto before = step.state();
  const std::string expected = "a batch has a label that is neither a class of the network's output";
  for (const std::int64_t wrong : {3, -1, 1 << 20}) {
    if (message_of([&] { run(step, wrong).item(); }).find(expected) == std::string::npos) return "item() did not throw";
    if (message_of([&] { step.mean_loss(); }).find(expected) == std::string::npos) return "mean_loss() did not throw";
    step.reset_mean_loss();
  }
  const auto after = step.state();
  if (after.parameters != before.parameters || after.optimizer.arenas != before.optimizer.arenas)
    return "parameters or the optimizer's state changed";
  if constexpr (dp::scales_losses<P>)
    if (!(after.scaler == before.scaler)) return "the loss scale changed";
  step.restore(after);  // a training with a wrong label can be saved and restored
  for (int i = 0; i < 2; ++i) {
    if (run(step, 0).item() != run(other, 0).item()) return "later losses differ";
  }
  if (parameters_of(model) != parameters_of(undisturbed)) return "parameters differ";
  static_cast<void>(step.mean_loss());
  return "";
}

}  // namespace

TEST_CASE("a label that is no class skips the update on one place", "[train]") {
  const dp::optim::adam adam{.learning_rate = 0.01};
  CHECK(difference<dp::on<dp::cpu>, net, float>(nn::cross_entropy{}, adam) == "");
  CHECK(difference<dp::on<dp::cuda<0>>, log_net, dp::mixed<dp::half>>(nn::nll{.reduce = dp::reduction::sum}, adam) ==
        "");
}

TEST_CASE("a label that is no class in one replica's part skips the update on all places", "[train]") {
  const dp::optim::adam adam{.learning_rate = 0.01};
  CHECK(difference<three, net, float>(nn::cross_entropy{}, adam, collective::reduce_and_broadcast<collective::ring>{},
                                      dp::accumulate<2>{}) == "");
  CHECK(difference<three, net, dp::mixed<dp::half>>(nn::cross_entropy{}, adam, collective::sharded_all_reduce<>{}) ==
        "");
}

TEST_CASE("a label that is no class in one process's part skips the update in all processes", "[train]") {
  const auto train = [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    const std::string wrong = difference<dp::across<dp::on<dp::cpu>>, net, float>(
        nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}, collective::all_reduce<>{});
    if (wrong != "") throw std::logic_error("rank " + std::to_string(group.rank()) + ": " + wrong);
  };
  CHECK_NOTHROW(dp::test::in_processes(2, train));
}
