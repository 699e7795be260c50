// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks with convolutions and poolings follow PyTorch step by step on each kind of place.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/conv1d.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/max_pool1d.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/nn/upsample.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using images_net =
    nn::sequential<nn::input<1, 10, 10>, nn::conv2d<1, 4, nn::kernel<3>, nn::padding<1>>, nn::relu,
                   nn::max_pool2d<nn::kernel<2>>,
                   nn::conv2d<4, 6, nn::kernel<3>, nn::padding<2>, nn::dilation<2>, nn::groups<2>>, nn::tanh,
                   nn::avg_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>,
                   nn::conv2d<6, 8, nn::kernel<2>, nn::stride<2>, nn::no_bias>,
                   nn::conv_transpose2d<8, 8, nn::kernel<3>, nn::stride<2>, nn::padding<1>, nn::groups<2>>, nn::relu,
                   nn::upsample<2>, nn::global_average_pool, nn::linear<8, 3>>;

using series_net = nn::sequential<nn::input<2, 20>, nn::conv1d<2, 6, nn::kernel<5>, nn::padding<2>>, nn::relu,
                                  nn::max_pool1d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                                  nn::conv1d<6, 4, nn::kernel<4>, nn::stride<2>, nn::padding<1>, nn::groups<2>>,
                                  nn::tanh, nn::avg_pool1d<nn::kernel<2>>, nn::flatten, nn::linear<20, 3>>;

// Labels pixels of images: an encoder, and a decoder with one channel per class.
using segmentation_net =
    nn::sequential<nn::input<1, 8, 8>, nn::conv2d<1, 4, nn::kernel<4>, nn::stride<2>, nn::padding<1>>, nn::tanh,
                   nn::flatten, nn::linear<64, 64>, nn::tanh, nn::reshape<4, 4, 4>,
                   nn::conv_transpose2d<4, 3, nn::kernel<4>, nn::stride<2>, nn::padding<1>>, nn::permute<1, 2, 0>>;

/// Returns the trained model.
template <class Net, class Images, class Labels, class Where, class T>
auto train_as_pytorch(const std::string& name, double tolerance) {
  constexpr std::size_t steps = 200, batch = 8;
  const std::string folder = "convolutions/" + name + (std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const auto images = dp::test::read_fixture<T, Images>(folder + "images");
  const auto labels = dp::test::read_fixture<std::int64_t, Labels>("convolutions/" + name + "/labels");
  const auto losses = dp::test::read_fixture<T, dp::extents<dp::dyn>>(folder + "losses");
  REQUIRE(losses.size() == steps);

  dp::model<Net, dp::on<dp::cpu>, T> start{dp::seed{1}};
  std::size_t index = 0;
  const auto read = [&](const char* kind, auto parameter) {
    using extents_type = typename decltype(parameter)::extents_type;
    return dp::test::read_fixture<T, extents_type>(folder + kind + std::to_string(index++));
  };
  start.for_each_parameter([&](const std::string&, auto parameter) { dp::copy(parameter, read("start", parameter)); });
  auto model = dp::to<Where>(start);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.9}};
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(images.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    INFO("step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses(i))).epsilon(tolerance).margin(tolerance));
  }
  const std::size_t parameters = std::exchange(index, 0);
  auto after = dp::to<dp::on<dp::cpu>>(model);
  std::as_const(after).for_each_parameter([&](const std::string&, auto found) {
    const auto expected = read("end", found);
    for (std::size_t i = 0; i < expected.size(); ++i)
      REQUIRE(static_cast<double>(found.data()[i]) ==
              Catch::Approx(static_cast<double>(expected.data()[i])).margin(10 * tolerance));
  });
  CHECK(index == parameters);
  return after;
}

template <class Where, class T> void train_on_images(double tolerance) {
  train_as_pytorch<images_net, dp::extents<dp::dyn, 1, 10, 10>, dp::extents<dp::dyn>, Where, T>("training", tolerance);
}

template <class Where, class T> void train_on_series(double tolerance) {
  train_as_pytorch<series_net, dp::extents<dp::dyn, 2, 20>, dp::extents<dp::dyn>, Where, T>("training_one_axis",
                                                                                            tolerance);
}

template <class Where, class T> auto train_on_pixels(double tolerance) {
  return train_as_pytorch<segmentation_net, dp::extents<dp::dyn, 1, 8, 8>, dp::extents<dp::dyn, 8, 8>, Where, T>(
      "training_segmentation", tolerance);
}

}  // namespace

TEST_CASE("200 steps of a network of two-dimensional convolutions agree with PyTorch", "[nn]") {
  // In float, rounding errors decide some maxima of pooling from about step 100 on.
  train_on_images<dp::on<dp::cpu>, double>(1e-9);
  train_on_images<dp::replicated<2, 0, 1>, double>(1e-9);
}

TEST_CASE("200 steps of a network of one-dimensional convolutions and poolings agree with PyTorch", "[nn]") {
  train_on_series<dp::on<dp::cpu>, float>(1e-4);
  train_on_series<dp::replicated<2, 0, 1>, double>(1e-9);
}

TEST_CASE("200 steps of a network that labels pixels agree with PyTorch", "[nn]") {
  train_on_pixels<dp::replicated<2, 0, 1>, double>(1e-9);

  const auto model = train_on_pixels<dp::on<dp::cpu>, float>(1e-4);
  const std::string folder = "convolutions/training_segmentation/";
  const auto scores =
      model.predict(dp::test::read_fixture<float, dp::extents<dp::dyn, 1, 8, 8>>(folder + "f32/images"));
  const auto labels = dp::test::read_fixture<std::int64_t, dp::extents<dp::dyn, 8, 8>>(folder + "labels");
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const float* const of = scores.data() + 3 * i;
    right += std::max_element(of, of + 3) - of == labels.data()[i] ? 1u : 0u;
  }
  CHECK(right > labels.size() * 9 / 10);  // three quarters of the pixels have one label
}
