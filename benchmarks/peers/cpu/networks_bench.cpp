// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of training steps and of predictions on the CPU.
//
// Answers questions on standard input, one per line: `<what> <network>/<batch>`; `threads <count>` comes first. What:
// `adam` and `sgd`, a training step; `profile`, `adam` for two seconds, for a profiler; `once`, the first step with
// Adam; `epoch`, only for `mlp`, one epoch over 60,000 images with Adam; `p50` and `p99`, quantiles of single
// predictions. Networks: `mlp` (784-256-10, relu), `tanh` (28, five hidden layers of 300 with tanh, 1) and `wide` (four
// layers of 1,024 with gelu between them). benchmarks/peers/cpu/compare.py asks this program and the peers in turn.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/base/thread_team.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using on_cpu = dp::on<dp::cpu>;

namespace {

using mlp = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
using tanhs =
    nn::sequential<nn::linear<28, 300>, nn::tanh, nn::linear<300, 300>, nn::tanh, nn::linear<300, 300>, nn::tanh,
                   nn::linear<300, 300>, nn::tanh, nn::linear<300, 300>, nn::tanh, nn::linear<300, 1>>;
using wide = nn::sequential<nn::linear<1024, 1024>, nn::gelu, nn::linear<1024, 1024>, nn::gelu, nn::linear<1024, 1024>,
                            nn::gelu, nn::linear<1024, 1024>>;

/// Makes the training targets: classes, or numbers from 0 to 1.
template <class Loss, std::size_t Out> auto targets(std::size_t batch) {
  if constexpr (std::is_same_v<Loss, nn::cross_entropy>) {
    dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels(dp::extents<dp::dyn>{batch});
    for (std::size_t i = 0; i < batch; ++i) labels(i) = static_cast<std::int64_t>(i % Out);
    return labels;
  } else {
    return dp::uniform<float, on_cpu>(dp::extents<dp::dyn, Out>{batch}, dp::seed{3}, 0.0F, 1.0F);
  }
}

template <class Net, class Loss> double measure(const std::string& what, std::size_t batch) {
  using model_type = dp::model<Net, on_cpu>;
  constexpr std::size_t in = model_type::input_extents::static_extent(0);
  constexpr std::size_t out = model_type::output_extents::static_extent(0);
  model_type model{dp::seed{1}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, in>{batch}, dp::seed{2}, 0.0F, 1.0F);
  if (what == "p50" || what == "p99") {
    dp::tensor<float, dp::extents<dp::dyn, out>, on_cpu> y(dp::extents<dp::dyn, out>{batch});
    const dp::team_region awake;
    return dp::bench::quantile_of(what == "p50" ? 0.5 : 0.99, [&] { model.predict_into(y, x); });
  }
  const auto t = targets<Loss, out>(batch);
  const auto train = [&](auto rule) {
    dp::trainer step{model, Loss{}, rule};
    const auto train_once = [&] { static_cast<void>(step(x, t)); };
    return what == "once" ? dp::bench::once(train_once) : dp::bench::time_of(train_once, what == "profile" ? 2 : 0.05);
  };
  if (what == "adam" || what == "once" || what == "profile") return train(dp::optim::adam{});
  if (what == "sgd") return train(dp::optim::sgd{.learning_rate = 1e-3, .momentum = 0.9});
  return dp::bench::not_done;
}

/// Makes data in memory of MNIST's size. The time does not depend on the values.
dp::image_set images_like_mnist() {
  constexpr std::size_t count = 60'000, side = 28, classes = 10;
  auto images = dp::zeros<std::uint8_t, on_cpu>(count, side, side);
  auto labels = dp::zeros<std::uint8_t, on_cpu>(count);
  for (std::size_t i = 0; i < images.size(); ++i)
    images.data()[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(i) * 2654435761U >> 24);
  for (std::size_t i = 0; i < count; ++i) labels(i) = static_cast<std::uint8_t>(i % classes);
  return {std::move(images), std::move(labels)};
}

double epoch(std::size_t batch) {
  static const dp::image_set data = images_like_mnist();
  dp::model<mlp, on_cpu> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::loader<on_cpu> batches{data, {.batch = batch, .shuffle = dp::seed{2}}};
  const auto train = [&](int number, std::size_t first) {
    for (const auto& [images, labels] : batches.epoch(number, first)) step(images, labels);
  };
  train(0, batches.size() - 20);  // warm-up
  return dp::bench::once([&] { train(1, 0); });
}

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& what, const std::string& of) {
    const std::size_t slash = of.find('/');
    const std::string network = of.substr(0, slash);
    const std::size_t batch = std::stoul(of.substr(slash + 1));
    if (what == "epoch") return network == "mlp" ? epoch(batch) : dp::bench::not_done;
    if (network == "mlp") return measure<mlp, nn::cross_entropy>(what, batch);
    if (network == "tanh") return measure<tanhs, nn::bce_with_logits>(what, batch);
    if (network == "wide") return measure<wide, nn::cross_entropy>(what, batch);
    return dp::bench::not_done;
  });
}
