// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A U-Net in mixed precision labels the pixels of generated images: background, disk or cross. Transforms turn
// images and labels in each epoch. Intersection over union on images that it has not seen must be above 0.6 for each
// class.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <devplace/all.hpp>
#include <devplace/convolution.hpp>
#include <devplace/data/transforms.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

constexpr std::size_t size = 16, classes = 3;

template <std::size_t In, std::size_t Out>
using convolution =
    nn::sequential<nn::conv2d<In, Out, nn::kernel<3>, nn::padding<1>, nn::no_bias>, nn::batch_norm<Out>, nn::relu>;

// Half the resolution, a network there, and back; the skip connection keeps the fine pixels.
template <std::size_t Channels, class... Inner>
using level =
    nn::concat_of<nn::identity, nn::sequential<nn::max_pool2d<nn::kernel<2>>, convolution<Channels, 2 * Channels>,
                                               Inner..., nn::upsample<2>>>;

using bottom = level<16>;  // 16 channels in, 16 + 32 out
using u_net = nn::sequential<nn::input<1, size, size>, convolution<1, 8>,
                             level<8, bottom, convolution<48, 16>>,  // 8 channels in, 8 + 16 out
                             convolution<24, 8>, nn::conv2d<8, classes, nn::kernel<1>>, nn::permute<1, 2, 0>>;

struct shapes {
  dp::tensor<float, dp::extents<dp::dyn, 1, size, size>, dp::cpu> images;
  dp::tensor<std::uint8_t, dp::extents<dp::dyn, size, size>, dp::cpu> labels;
};

shapes draw(std::size_t n, dp::seed seed) {
  shapes result{dp::normal<float, dp::cpu>(dp::extents<dp::dyn, 1, size, size>{n}, seed, 0.0f, 0.3f),
                dp::zeros<std::uint8_t, dp::cpu>(dp::extents<dp::dyn, size, size>{n})};
  const auto random = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 3>{n}, seed);
  for (std::size_t i = 0; i < n; ++i) {
    const bool disk = i % 2 == 0;
    const float radius = 3.0f + 2.0f * random(i, 0);
    const float row = radius + (size - 2 * radius) * random(i, 1), column = radius + (size - 2 * radius) * random(i, 2);
    for (std::size_t y = 0; y < size; ++y)
      for (std::size_t x = 0; x < size; ++x) {
        const float dy = std::fabs(static_cast<float>(y) - row), dx = std::fabs(static_cast<float>(x) - column);
        if (disk ? std::hypot(dx, dy) > radius : std::fmax(dx, dy) > radius || std::fmin(dx, dy) > 1) continue;
        result.images(i, 0, y, x) += 1;
        result.labels(i, y, x) = disk ? 1 : 2;
      }
  }
  return result;
}

// A step that changes values; labels stay.
struct contrast {
  template <class T> void operator()(const dp::sample_image<T>& image, dp::sample_random& random) const {
    const double factor = 0.8 + 0.4 * random.unit(), offset = 0.2 * random.unit() - 0.1;
    for (std::size_t y = 0; y < image.height; ++y)
      for (std::size_t x = 0; x < image.width; ++x) image(0, y, x) = static_cast<T>(factor * image(0, y, x) + offset);
  }
};

}  // namespace

int main() {
  const shapes train = draw(64, dp::seed{1}), test = draw(64, dp::seed{2});
  const dp::transforms augment{dp::extents<1, size, size>{}, dp::seed{3},        dp::horizontal_flip{},
                               dp::quarter_turns{},          dp::with_targets{}, contrast{}};
  auto batches =
      dp::make_loader<dp::cpu>(train.images, train.labels, {.batch = 8, .shuffle = dp::seed{4}, .workers = 1}, augment);
  dp::model<u_net, dp::cpu, dp::mixed<dp::bf16>> model{dp::seed{5}};
  // The rate falls to 0, so that the running statistics of batch_norm are those of the last parameters.
  constexpr int epochs = 6;
  const dp::optim::cosine to_zero{.steps = epochs * 8};
  dp::trainer step{model, nn::cross_entropy{.class_weights = {0.5, 1, 1}},
                   dp::optim::scheduled{dp::optim::adam{.learning_rate = 3e-2}, to_zero}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    std::printf("epoch %d: loss %.3f\n", epoch, step.mean_loss());
  }

  // Intersection over union of each class.
  const auto found = dp::argmax(model.predict(test.images), -1);
  double worst = 1;
  for (std::uint8_t label = 0; label < classes; ++label) {
    const dp::tensor predicted = found == label;
    const dp::tensor real = test.labels == label;
    const auto both = dp::item(dp::count_nonzero(dp::logical_and(predicted, real)));
    const auto either = dp::item(dp::count_nonzero(dp::logical_or(predicted, real)));
    const double ratio = static_cast<double>(both) / static_cast<double>(either);
    std::printf("class %d: intersection over union %.3f\n", label, ratio);
    worst = std::fmin(worst, ratio);
  }
  return worst > 0.6 ? 0 : 1;
}
