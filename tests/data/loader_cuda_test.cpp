// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <span>

#include <devplace/data/transforms.hpp>
#include <devplace/place/availability.hpp>

#include "data/epoch_on_host.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;
using support::read_on_host;

TEST_CASE("batches for a GPU equal batches for the CPU", "[data]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const dp::image_set data = support::numbered_images(1001);
  for (const int workers : {0, 3}) {
    const dp::loader_options how{.batch = 64, .shuffle = dp::seed{3}, .workers = workers, .mean = 0.1307};
    dp::loader<dp::on<dp::cpu>> of_cpu{data, how};
    dp::loader<device> bytes{data, how};
    dp::loader<device> changed{data, how, [](std::span<float>, std::size_t, int) {}};
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto expected = support::read_on_host(of_cpu, epoch);
      CHECK(read_on_host(bytes, epoch) == expected);
      CHECK(read_on_host(changed, epoch) == expected);
      CHECK(read_on_host<dp::replicated<0>>(data, how, epoch) == expected);
    }
  }
}

TEST_CASE("a GPU moves images and masks with the CPU's bits", "[data]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const support::segmented_images data(201);
  const dp::transforms augment{
      dp::extents<2, 5, 5>{},        dp::seed{3},         dp::random_crop{.padding = 2, .fill = 7},
      dp::horizontal_flip{},         dp::quarter_turns{}, dp::random_rotation{.degrees = 30},
      dp::with_targets{.fill = -100}};
  const dp::loader_options how{.batch = 64, .shuffle = dp::seed{3}, .workers = 2};
  auto of_cpu = dp::make_loader<dp::on<dp::cpu>>(data.images, data.masks, how, augment);
  auto of_gpu = dp::make_loader<device>(data.images, data.masks, how, augment);
  for (const int epoch : {0, 1}) CHECK(read_on_host(of_gpu, epoch) == read_on_host(of_cpu, epoch));
}

TEST_CASE("tokens and their labels reach a GPU unchanged", "[data]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  dp::tensor<std::int32_t, dp::extents<41, 5>, dp::on<dp::cpu>> tokens(dp::extents<41, 5>{});
  dp::tensor<std::uint8_t, dp::extents<41, 5>, dp::on<dp::cpu>> next(dp::extents<41, 5>{});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens.data()[i] = static_cast<std::int32_t>(i) << 20;
    next.data()[i] = static_cast<std::uint8_t>(i);
  }
  const dp::loader_options how{.batch = 8, .shuffle = dp::seed{3}, .workers = 2};
  auto of_cpu = dp::make_loader<dp::on<dp::cpu>>(tokens, next, how);
  auto of_gpu = dp::make_loader<device>(tokens, next, how);
  CHECK(read_on_host(of_gpu, 1) == read_on_host(of_cpu, 1));
}

TEST_CASE("a GPU's batch does not change while work on it is pending", "[data]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  const dp::image_set data = support::numbered_images(64 * 200);
  dp::loader<device> batches{data, {.batch = 64, .workers = 2}};
  dp::tensor<std::uint8_t, dp::extents<dp::dyn>, device> kept(dp::extents<dp::dyn>(64 * 200));
  std::size_t first = 0;
  for (const auto& batch : batches.epoch(0)) {
    dp::copy(kept.slice(first, first + 64), batch.labels);
    first += 64;
  }
  const auto labels = dp::to<dp::on<dp::cpu>>(kept);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += labels(i) == i % 10 ? 0 : 1;
  CHECK(wrong == 0);
}
