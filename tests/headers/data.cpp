// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/data/distributed_sampler.hpp>

inline std::size_t samples(dp::distributed_sampler& sampler) {
  return sampler.order(1).size() + dp::distributed_sampler(100, 2, 0, {.drop_last = true}).size();
}

#include <devplace/data/idx.hpp>

inline auto read(const std::string& path) { return dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 28, 28>>(path); }

#include <devplace/data/labelled_batch.hpp>

constexpr dp::labelled_batch<int, int> batch{1, 2};

#include <devplace/data/labelled_images.hpp>

inline dp::labelled_images read(const std::string& folder) {
  return dp::hold_out(dp::read_mnist(folder).train, 0.1, dp::seed{1});
}

#include <devplace/data/loader.hpp>

inline float first_of_batches(const dp::tensor<float, dp::extents<8, 3>, dp::on<dp::cpu>>& x,
                              const dp::tensor<float, dp::extents<8, 1>, dp::on<dp::cpu>>& y) {
  auto batches = dp::make_loader<dp::on<dp::cpu>>(x, y, {.batch = 2});
  float sum = 0;
  for (const auto& [features, targets] : batches.epoch(0)) sum += features(0, 0) + targets(0, 0);
  return sum;
}

#include <devplace/data/loader_options.hpp>

const dp::loader_options options{.batch = 64, .shuffle = dp::seed{1}};

#include <devplace/data/sample_image.hpp>

inline double draw(dp::sample_random& random, const dp::sample_image<float>& image) {
  return random.unit() + image.row(0, 0)[0];
}

#include <devplace/data/sample_steps.hpp>

constexpr dp::random_crop crop{.padding = 2};

#include <devplace/data/sampler.hpp>

inline std::size_t samples() { return dp::sampler(8, dp::seed{1}).size(); }

#include <devplace/data/shuffle_seed.hpp>

const dp::shuffle_seed shuffle = dp::seed{1};

#include <devplace/data/transforms.hpp>

struct darken {
  void operator()(const dp::sample_image<float>& image, dp::sample_random&) const { image.row(0, 0)[0] = 0; }
};
const dp::transforms<dp::extents<1, 8, 8>, darken> steps{{}, dp::seed{1}, darken{}};
