// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/data/transforms.hpp>

#include "data/epoch_on_host.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using dp::dyn;
using support::numbered_images;
using support::read_on_host;

namespace {

const dp::loader_options options[] = {{.batch = 8, .shuffle = dp::seed{3}},
                                      {.batch = 8, .shuffle = dp::seed{3}, .workers = 2, .prefetch = 3}};

/// A step that changes nothing.
struct nothing {
  template <class T> void operator()(const dp::sample_image<T>&, dp::sample_random&) const {}
};

}  // namespace

TEST_CASE("batches for one or several devices equal batches for the CPU", "[data]") {
  const dp::image_set data = numbered_images(41);
  dp::loader<dp::on<dp::cpu>> of_cpu{data, options[0]};
  for (const int epoch : {0, 2}) {
    const auto expected = support::read_epoch(of_cpu, epoch);
    REQUIRE(expected.batch_sizes == std::vector<std::size_t>{8, 8, 8, 8, 8, 1});
    for (const auto& how : options) {
      CAPTURE(how.workers, epoch);
      CHECK(read_on_host<dp::on<dp::cuda<1>>>(data, how, epoch) == expected);
      CHECK(read_on_host<dp::replicated<0>>(data, how, epoch) == expected);
      CHECK(read_on_host<dp::replicated<0, 1, 2>>(data, how, epoch) == expected);
      CHECK(read_on_host<dp::replicated<2, 0>>(data, how, epoch) == expected);
    }
  }
}

TEST_CASE("each place has consecutive rows, their numbers differing by at most one", "[data]") {
  const dp::image_set data = numbered_images(9);
  dp::loader<dp::replicated<0, 1, 2>> batches{data, {.batch = 8}};
  std::vector<std::size_t> rows;
  for (const auto& [images, labels] : batches.epoch(0))
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(images.local(k).ordinal() == static_cast<int>(k));
      CHECK(images.local(k).extent(0) == labels.local(k).extent(0));
      rows.push_back(images.local(k).extent(0));
    }
  CHECK(rows == std::vector<std::size_t>{3, 3, 2, 1, 0, 0});
}

TEST_CASE("batches are split by the rule in the options, even small ones", "[data]") {
  const dp::image_set data = numbered_images(26);
  const auto sizes_of = [&](dp::split::rule rule, int workers) {
    dp::loader<dp::replicated<0, 3, 1, 2>> batches{data, {.batch = 9, .workers = workers, .split = rule}};
    std::vector<std::vector<std::size_t>> sizes;
    std::size_t next = 0;
    for (const auto& [images, labels] : batches.epoch(0)) {
      sizes.emplace_back();
      for (std::size_t k = 0; k < 4; ++k) {
        const auto part = labels.local(k);
        sizes.back().push_back(part.extent(0));
        CHECK(images.local(k).extent(0) == part.extent(0));
        CHECK(images.first_row(k) == labels.first_row(k));
        std::vector<std::uint8_t> classes(part.size());
        dp::detail::copy_out<dp::backend::cuda>(part.ordinal(), classes.data(), part.data(), classes.size());
        for (const std::uint8_t label : classes) CHECK(label == next++ % 10);
      }
    }
    CHECK(next == 26);
    return sizes;
  };
  for (const int workers : {0, 2}) {
    // torch.chunk of 9, 9 and 8 rows into 4
    CHECK(sizes_of(dp::split::torch, workers) ==
          std::vector<std::vector<std::size_t>>{{3, 3, 3, 0}, {3, 3, 3, 0}, {2, 2, 2, 2}});
    CHECK(sizes_of(dp::split::even, workers) ==
          std::vector<std::vector<std::size_t>>{{3, 2, 2, 2}, {3, 2, 2, 2}, {2, 2, 2, 2}});
  }
}

TEST_CASE("split::torch gives the same batches", "[data]") {
  const dp::image_set data = numbered_images(41);
  dp::loader<dp::on<dp::cpu>> of_cpu{data, options[0]};
  const auto expected = support::read_epoch(of_cpu, 1);
  auto how = options[1];
  how.split = dp::split::torch;
  CHECK(read_on_host<dp::replicated<0, 1, 2>>(data, how, 1) == expected);
  CHECK(read_on_host<dp::replicated<2, 0, 1, 3>>(data, how, 1) == expected);
  CHECK(read_on_host<dp::on<dp::cuda<0>>>(data, how, 1) == expected);
}

TEST_CASE("a batch does not change while work on it is pending on a device", "[data]") {
  const dp::image_set data = numbered_images(64);
  for (const auto& how : options) {
    dp::loader<dp::on<dp::cuda<0>>> batches{data, how};
    dp::tensor<std::uint8_t, dp::extents<dyn>, dp::on<dp::cuda<0>>> kept(dp::extents<dyn>(64));
    std::size_t first = 0;
    for (const auto& batch : batches.epoch(0)) {
      dp::copy(kept.slice(first, first + 8), batch.labels);  // runs later, on the device's thread
      first += 8;
    }
    const auto labels = dp::to<dp::on<dp::cpu>>(kept);
    dp::sampler expected(64, dp::seed{3});
    const auto order = expected.order(0);
    for (std::size_t i = 0; i < 64; ++i) CHECK(labels(i) == order[i] % 10);
  }
}

TEST_CASE("nothing is allocated for a batch on devices", "[data]") {
  const dp::image_set data = numbered_images(41);
  dp::loader<dp::replicated<0, 1>> batches{data, {.batch = 8, .shuffle = dp::seed{1}, .workers = 1}};
  const auto counted = [] {
    return dp::memory_statistics<dp::cpu>().allocations + dp::memory_statistics<dp::cuda<0>>().allocations +
           dp::memory_statistics<dp::cuda<1>>().allocations;
  };
  std::size_t samples = 0;
  const auto before = counted();
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const auto& batch : batches.epoch(epoch)) samples += batch.labels.extent(0);
  CHECK(counted() == before);
  CHECK(samples == 3 * 41);
}

TEST_CASE("features of every kind reach devices bitwise equal to the CPU's", "[data]") {
  const auto jitter = [](std::span<float> sample, std::size_t index, int epoch) {
    for (float& x : sample) x = std::sin(x + static_cast<float>(index) + 10 * static_cast<float>(epoch));
  };
  const dp::image_set data = numbered_images(41);
  dp::tensor<double, dp::extents<41, 1, 3>, dp::on<dp::cpu>> features(dp::extents<41, 1, 3>{});
  dp::tensor<double, dp::extents<dyn, 2>, dp::on<dp::cpu>> targets(dp::extents<dyn, 2>(41));
  for (std::size_t i = 0; i < features.size(); ++i) features.data()[i] = std::cos(static_cast<double>(i));
  for (std::size_t i = 0; i < targets.size(); ++i) targets.data()[i] = std::exp(-static_cast<double>(i));
  dp::tensor<std::int64_t, dp::extents<41, 5>, dp::on<dp::cpu>> tokens(dp::extents<41, 5>{});
  dp::tensor<std::uint8_t, dp::extents<dyn, 5>, dp::on<dp::cpu>> next(dp::extents<dyn, 5>(41));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens.data()[i] = static_cast<std::int64_t>(i) << 33;
    next.data()[i] = static_cast<std::uint8_t>(i);
  }
  for (const auto& plain : options) {
    CAPTURE(plain.workers);
    dp::loader_options how = plain;
    how.mean = 0.1307;
    how.standard_deviation = 0.3081;
    const auto compare = [&](auto make) {
      auto of_cpu = make(dp::on<dp::cpu>{});
      const auto expected = support::read_epoch(of_cpu, 1);
      auto of_one = make(dp::on<dp::cuda<2>>{});
      auto of_many = make(dp::replicated<0, 1, 2>{});
      CHECK(read_on_host(of_one, 1) == expected);
      CHECK(read_on_host(of_many, 1) == expected);
      CHECK(read_on_host(of_many, 1) == expected);
    };
    compare([&](auto where) { return dp::loader<decltype(where)>(data, how); });
    compare([&](auto where) { return dp::loader<decltype(where), double>(data, how); });
    compare([&](auto where) { return dp::loader<decltype(where)>(data, how, jitter); });
    compare([&](auto where) { return dp::make_loader<decltype(where)>(features, targets, how); });
    const dp::transforms mixing{dp::extents<1, 3>{}, dp::seed{1}, dp::random_crop{.padding = 1}, dp::mixup{}};
    compare([&](auto where) { return dp::make_loader<decltype(where)>(features, targets, how, mixing); });
    compare([&](auto where) { return dp::make_loader<decltype(where)>(data.images, data.labels, how); });
    compare([&](auto where) { return dp::make_loader<decltype(where)>(tokens, next, plain); });
  }
}

TEST_CASE("images and masks are moved on devices with the CPU's bits", "[data]") {
  const support::segmented_images data(41);
  const dp::transforms augment{
      dp::extents<2, 5, 5>{},        dp::seed{3},         dp::random_crop{.padding = 2, .fill = 7},
      dp::horizontal_flip{},         dp::quarter_turns{}, dp::random_rotation{.degrees = 30},
      dp::with_targets{.fill = -100}};
  // An empty step that changes values keeps the whole transform on the CPU.
  const dp::transforms on_host{dp::extents<2, 5, 5>{},
                               dp::seed{3},
                               dp::random_crop{.padding = 2, .fill = 7},
                               dp::horizontal_flip{},
                               dp::quarter_turns{},
                               dp::random_rotation{.degrees = 30},
                               dp::with_targets{.fill = -100},
                               nothing{}};
  dp::tensor<float, dp::extents<dyn, 2, 5, 5>, dp::on<dp::cpu>> floats(dp::extents<dyn, 2, 5, 5>(41));
  std::copy_n(data.images.data(), floats.size(), floats.data());
  for (const auto& how : options) {
    CAPTURE(how.workers);
    const auto compare = [&](const auto& features, const auto& steps) {
      const auto make = [&](auto where) { return dp::make_loader<decltype(where)>(features, data.masks, how, steps); };
      auto of_cpu = make(dp::on<dp::cpu>{});
      auto of_one = make(dp::on<dp::cuda<2>>{});
      auto of_three = make(dp::replicated<0, 1, 2>{});
      for (const int epoch : {1, 2}) {
        const auto expected = support::read_epoch(of_cpu, epoch);
        CHECK(read_on_host(of_one, epoch) == expected);
        CHECK(read_on_host(of_three, epoch) == expected);
      }
    };
    compare(data.images, augment);
    compare(data.images, on_host);
    compare(floats, augment);
    const dp::image_set numbered = numbered_images(41);
    const dp::transforms mirrored{dp::extents<2, 3>{}, dp::seed{1}, dp::vertical_flip{}};  // samples alone
    dp::loader<dp::on<dp::cpu>> of_cpu{numbered, how, mirrored};
    dp::loader<dp::replicated<1, 0>> of_two{numbered, how, mirrored};
    CHECK(read_on_host(of_two, 0) == support::read_epoch(of_cpu, 0));
    const auto before = dp::memory_statistics<dp::cuda<1>>().allocations;
    for (const auto& batch : of_two.epoch(1)) static_cast<void>(batch);
    CHECK(dp::memory_statistics<dp::cuda<1>>().allocations == before);
  }
}

TEST_CASE("the host makes and copies the next batch while the device is busy", "[data]") {
  const dp::image_set data = numbered_images(40);
  dp::loader<dp::on<dp::cuda<0>>> batches{data, {.batch = 8}};
  dp::tensor<std::uint8_t, dp::extents<16>, dp::on<dp::cuda<0>>> kept(dp::extents<16>{});
  std::atomic<bool> go{false};
  dp::detail::simulated_devices::at(0).submit([at = &go] {
    while (!at->load()) std::this_thread::yield();
  });
  auto epoch = batches.epoch(0);
  auto at = epoch.begin();
  dp::copy(kept.slice(0, 8), at->labels);
  ++at;
  dp::copy(kept.slice(8, 16), at->labels);
  go = true;  // not reached if the loader waits
  ++at;
  const auto labels = dp::to<dp::on<dp::cpu>>(kept);
  for (std::size_t i = 0; i < 16; ++i) CHECK(labels(i) == i % 10);
}

TEST_CASE("a loader may be destroyed during an epoch, after its copies and workers end", "[data]") {
  const dp::image_set data = numbered_images(60);
  for (const int workers : {0, 2})
    for (int stop = 0; stop < 12; ++stop) {
      dp::loader<dp::replicated<0, 1>> batches{data, {.batch = 5, .workers = workers}};
      int read = 0;
      for (const auto& batch : batches.epoch(stop)) {
        CHECK(batch.labels.extent(0) == 5);
        if (read++ == stop) break;
      }
    }
  CHECK(dp::memory_statistics<dp::pinned>().allocated == 0);
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == 0);
}

TEST_CASE("a failing sample is an error at its batch, also on devices", "[data]") {
  const dp::image_set data = numbered_images(20);
  const auto refuse = [](std::span<float>, std::size_t index, int) {
    if (index == 7) throw dp::argument_error("sample 7");
  };
  for (const int workers : {0, 2}) {
    dp::loader<dp::on<dp::cuda<1>>> batches{data, {.batch = 5, .workers = workers}, refuse};
    auto epoch = batches.epoch(0);
    auto at = epoch.begin();
    CHECK_THROWS_WITH(++at, "devplace: sample 7");
    ++at;
    CHECK(support::on_host(at->labels)(0) == 0);
    CHECK(support::on_host(at->images)(4, 1, 2) == static_cast<float>((7 * 14 + 5) % 256) / 255.0F);
  }
}

TEST_CASE("a loader for a device has pinned memory for bytes and two batches on the device", "[data]") {
  const dp::image_set data = numbered_images(100);
  const auto allocated = [] {
    return std::vector<std::size_t>{dp::memory_statistics<dp::pinned>().allocated,
                                    dp::memory_statistics<dp::cuda<0>>().allocated};
  };
  {
    dp::loader<dp::on<dp::cuda<0>>> batches{data, {.batch = 16, .workers = 2, .prefetch = 2}};
    CHECK(allocated() == std::vector<std::size_t>{5 * 16 * (6 + 1), 2 * 16 * (6 * sizeof(float) + 1) + 16 * 6});
  }
  CHECK(allocated() == std::vector<std::size_t>{0, 0});
  {
    dp::loader<dp::on<dp::cuda<0>>> batches{data, {.batch = 16}, [](std::span<float>, std::size_t, int) {}};
    CHECK(allocated() == std::vector<std::size_t>{2 * 16 * (6 * sizeof(float) + 1), 2 * 16 * (6 * sizeof(float) + 1)});
  }
}
