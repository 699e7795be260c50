// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose images are split along their rows train as on one place: with equal bits where all sums are exact, else
// within the rounding of sums in another order.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/in_parts.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

template <int... I> using in_rows = dp::in_parts<dp::axis<2>, I...>;
template <class T, class Sample> using images = dp::tensor<T, dp::detail::prepend_t<dp::dyn, Sample>, dp::on<dp::cpu>>;

/// Small integers in an irregular order.
template <class T, class Sample> images<T, Sample> integer_images(std::size_t n, std::size_t seed) {
  images<T, Sample> x(dp::detail::prepend_t<dp::dyn, Sample>{n});
  for (std::size_t i = 0; i != x.size(); ++i)
    x.data()[i] = static_cast<T>((i * i * 7 + i * 5 + seed * (i % 11)) % 7) - T{3};
  return x;
}

template <class Where, class Net, class T, class Policy = collective::all_reduce<>> struct training {
  using model_type = dp::model<Net, Where, T>;
  model_type model{dp::seed{1}};
  dp::trainer<model_type, nn::mse, dp::optim::sgd, Policy> step{model, nn::mse{},
                                                                dp::optim::sgd{.learning_rate = 0.125}};

  void operator()(std::size_t samples, std::size_t seed) {
    step(distribute<Where>(integer_images<T, typename model_type::input_extents>(samples, seed)),
         distribute<Where>(integer_images<T, typename model_type::output_extents>(samples, seed + 1)));
  }
};

/// Makes single steps from integers on one place and in parts; compares all bits of predictions, losses, parameters and
/// buffers.
template <class Where, class Net, class Policy = collective::all_reduce<>> void check_bits() {
  INFO(dp::placement_name<Where>());
  training<dp::cpu, Net, double> one;
  training<Where, Net, double, Policy> in_parts;
  CHECK(parameters_of(in_parts.model) == parameters_of(one.model));
  for (std::size_t i = 0; i != 3; ++i) {
    dp::test::set_integer_parameters(one.model);
    in_parts.model.assign(one.model);
    const auto start = parameters_of(one.model);
    const auto x = integer_images<double, typename decltype(one.model)::input_extents>(3, i);
    const auto y = one.model.predict(x), same = dp::to_host(in_parts.model.predict(distribute<Where>(x)));
    CHECK(std::equal(y.data(), y.data() + y.size(), same.data()));
    one(4, i);
    in_parts(4, i);
    CHECK(in_parts.step.mean_loss() == one.step.mean_loss());
    CHECK(parameters_of(one.model) != start);
    for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k)
      CHECK(parameters_of(in_parts.model, k) == parameters_of(one.model));
    dp::check_replicas(in_parts.model);
  }
}

template <class Net> void check_bits_on_meshes() {
  check_bits<in_rows<0, 1>, Net>();
  check_bits<in_rows<2, 0, 1, 3>, Net, collective::scatter_gather>();
  check_bits<dp::in_parts_on<dp::axis<2>, dp::cuda<1>, dp::cuda<0>>, Net, collective::sharded_all_reduce<>>();
}

}  // namespace

TEST_CASE("convolutions of split rows train with the bits of one place") {
  check_bits_on_meshes<nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 3, nn::kernel<3>, nn::padding<1>>, nn::relu,
                                      nn::conv2d<3, 2, nn::kernel<3>, nn::padding<1>>>>();
}

TEST_CASE("strides, dilation, groups and wide windows of split rows have the bits of one place") {
  check_bits_on_meshes<
      nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 4, nn::kernel<5, 3>, nn::padding<2, 1>, nn::no_bias>, nn::relu,
                     nn::conv2d<4, 4, nn::kernel<3>, nn::padding<2>, nn::dilation<2>, nn::groups<2>>, nn::relu,
                     nn::conv2d<4, 2, nn::kernel<4>, nn::stride<2>, nn::padding<1>>>>();
  check_bits_on_meshes<
      nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 4, nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::relu,
                     nn::frozen<nn::conv2d<4, 4, nn::kernel<2>, nn::stride<2>>>,
                     nn::named<"last", nn::conv2d<4, 2, nn::kernel<1>>>>>();
}

TEST_CASE("poolings, upsample and branches of split rows have the bits of one place") {
  using down = nn::sequential<nn::max_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::upsample<2>>;
  using block = nn::residual<nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>, nn::relu>;
  check_bits_on_meshes<
      nn::sequential<nn::input<2, 16, 8>, block, nn::concat_of<nn::identity, down>,
                     nn::recomputed<nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>, nn::relu>,
                     nn::avg_pool2d<nn::kernel<4>, nn::stride<2>, nn::padding<1>>, nn::max_pool2d<nn::kernel<2>>,
                     nn::sum_of<nn::conv2d<4, 2, nn::kernel<1>>, nn::conv2d<4, 2, nn::kernel<3>, nn::padding<1>>>>>();
  check_bits_on_meshes<
      nn::sequential<nn::input<2, 16, 8>, nn::max_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                     nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>, nn::avg_pool2d<nn::kernel<2>>>>();
}
