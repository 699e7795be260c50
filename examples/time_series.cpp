// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A convolutional forecaster of a series, on two devices if the machine has them.
//
// Normalised windows of the series, training and validation parts, early stopping, and a checkpoint that another
// trainer reads. On the last part, which no step has seen, the squared error must be less than half of the seasonal
// forecast's.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <devplace/all.hpp>
#include <devplace/convolution.hpp>
#include <devplace/train/checkpoints.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

constexpr std::size_t window = 32, season = 24, length = 1000;
using net =
    nn::sequential<nn::input<1, window>, nn::conv1d<1, 8, nn::kernel<5>>, nn::relu, nn::max_pool1d<nn::kernel<2>>,
                   nn::conv1d<8, 16, nn::kernel<3>>, nn::relu, nn::flatten, nn::linear<16 * 12, 1>>;

// A season, a slow wave, and a disturbance that decays.
dp::tensor<float, dp::extents<length>, dp::cpu> make_series() {
  auto x = dp::normal<float, dp::cpu>(dp::extents<length>{}, dp::seed{1}, 0.0f, 0.2f);
  float disturbance = 0;
  for (std::size_t t = 0; t < length; ++t) {
    disturbance = 0.9f * disturbance + x(t);
    const float phase = 6.2831853f * static_cast<float>(t);
    x(t) = 20.0f + 3.0f * std::sin(phase / season) + 2.0f * std::sin(phase / 131) + disturbance;
  }
  return x;
}

template <class Where> bool run() {
  auto series = make_series();
  constexpr std::size_t samples = length - window, train = 600, validation = 800;  // ends of the parts

  // Mean and deviation of the training part alone.
  const float mean = dp::item(dp::mean(series.slice(0, train)));
  const float deviation = dp::item(dp::standard_deviation(series.slice(0, train)));
  const dp::tensor scaled = (series - mean) / deviation;
  auto x = dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, 1, window>{samples});
  auto y = dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, 1>{samples});
  for (std::size_t i = 0; i < samples; ++i) {
    dp::copy(x[i][0], scaled.slice(i, i + window));
    y(i, 0) = scaled(i + window);
  }

  dp::model<net, Where> model{dp::seed{2}};
  dp::trainer step{model, nn::smooth_l1{}, dp::optim::adam{.learning_rate = 3e-3}};
  auto batches = dp::make_loader<Where>(x.slice(0, train), y.slice(0, train), {.batch = 32, .shuffle = dp::seed{3}});
  const auto loss = [&](const auto& of, std::size_t first, std::size_t last) {
    const auto outputs = dp::to_host(of.predict(dp::to_batch<Where>(x.slice(first, last))));
    return nn::evaluate_loss(nn::mse{}, outputs, y.slice(first, last)).item();
  };

  const auto folder = std::filesystem::temp_directory_path() / ("devplace-time-series-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const dp::checkpoints saved{folder, {.keep = 2}};
  dp::early_stopping stopping{model, {.patience = 3}};
  dp::training_position at;
  for (; at.epoch < 40; at = {at.epoch + 1, 0}) {
    for (const auto& [windows, next] : batches.epoch(at.epoch)) step(windows, next);
    if (stopping(loss(model, train, validation), model)) break;
  }
  stopping.restore(model);
  saved.save(step, at);

  // Another trainer has the same parameters after it has read the file.
  dp::model<net, Where> again{dp::seed{9}};
  dp::trainer other{again, nn::smooth_l1{}, dp::optim::adam{}};
  const auto resumed = saved.resume(other);
  const double network = loss(model, validation, samples), loaded = loss(again, validation, samples);

  // The seasonal forecast: the value a season ago.
  const auto before = dp::to<dp::cpu>(x.select(dp::axis<2>{}, window - season).slice(validation, samples));
  const double seasonal = dp::item(dp::mean(dp::square(before - y.slice(validation, samples))));
  std::printf("%s: %d epochs, squared error %.4f, from the checkpoint %.4f, of the seasonal forecast %.4f\n",
              dp::placement_name<Where>().c_str(), at.epoch, network, loaded, seasonal);
  std::filesystem::remove_all(folder);
  return network < 0.5 * seasonal && network == loaded && resumed.epoch == at.epoch;
}

}  // namespace

int main() {
  const bool right =
      dp::first_available<dp::replicated<0, 1>, dp::on<dp::cpu>>([](auto where) { return run<decltype(where)>(); });
  return right ? 0 : 1;
}
