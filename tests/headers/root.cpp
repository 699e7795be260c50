// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/all.hpp>

using net = dp::nn::sequential<dp::nn::linear<2, 4>, dp::nn::relu, dp::nn::linear<4, 1>>;
inline double train(const dp::tensor<float, dp::extents<4, 2>, dp::on<dp::cpu>>& x,
                    const dp::tensor<float, dp::extents<4, 1>, dp::on<dp::cpu>>& y) {
  dp::model<net, dp::on<dp::cpu>> model{dp::seed{1}};
  dp::trainer step{model, dp::nn::mse{}, dp::optim::adam{}};
  return step(x, y).item();
}

#include <devplace/attention.hpp>

static_assert(dp::nn::layer_for<dp::nn::multi_head_attention<8, 2>, dp::extents<4, 8>>);

#include <devplace/config.hpp>

static_assert(DEVPLACE_CHECK_BOUNDS == 0 || DEVPLACE_CHECK_BOUNDS == 1);

#include <devplace/convolution.hpp>

static_assert(dp::nn::layer_for<dp::nn::max_pool2d<dp::nn::kernel<2>>, dp::extents<4, 8, 8>>);

#include <devplace/core.hpp>

inline float sum(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  const auto y = dp::to<dp::on<dp::cpu>>(x);
  return dp::item(dp::sum(dp::exp(y)));
}

#include <devplace/fields.hpp>

inline auto periodic(dp::field<float, dp::dextents<2>, dp::cpu, dp::halo<1, 1>>& x) {
  return dp::exchange(x, dp::edge::periodic);
}

#include <devplace/fully_sharded.hpp>

template <class Net> using in_shares = dp::model<Net, dp::fully_sharded_on<dp::cpu>>;

#include <devplace/in_parts.hpp>

template <class Net> using in_parts = dp::model<Net, dp::in_parts<dp::axis<2>, 0, 1>>;

#include <devplace/nn.hpp>

using net = dp::nn::sequential<dp::nn::linear<2, 4>, dp::nn::relu, dp::nn::linear<4, 1>>;
inline float predict(const dp::tensor<float, dp::extents<1, 2>, dp::on<dp::cpu>>& x) {
  return dp::model<net, dp::on<dp::cpu>>{dp::seed{1}}.predict(x)(0, 0);
}

#include <devplace/parallel.hpp>

inline auto parts(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  return dp::scatter<dp::sharded_on<dp::axis<0>, dp::cpu>>(x);
}

#include <devplace/shared_memory.hpp>

using shared = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::shared_memory>>;
inline float share() {
  auto x = dp::create_shared<shared>("x");
  x = 1.0f;
  return x(0, 0);
}

#include <devplace/sorting.hpp>

inline float smallest(const dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>& x) { return dp::sort(x)(0); }

#include <devplace/version.hpp>

const char* const version = dp::version;
