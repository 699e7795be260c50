// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"

namespace dp = devplace;
using dp::dyn;
using here = dp::on<dp::cpu>;
using support::numbered_images;
using support::read_epoch;

namespace {

struct unreadable_sample : std::runtime_error {
  explicit unreadable_sample(std::size_t index) : std::runtime_error("sample " + std::to_string(index)) {}
};

/// Options that must not affect the contents of batches.
struct helpers {
  int workers, prefetch;
};
constexpr helpers all_helpers[] = {{0, 1}, {0, 5}, {1, 1}, {1, 2}, {2, 1}, {3, 4}};

}  // namespace

TEST_CASE("a loader yields images in order, scaled to 0..1, with a smaller last batch", "[data]") {
  const dp::image_set data = numbered_images(10);
  dp::loader<here> batches{data, {.batch = 4}};
  CHECK(batches.size() == 3);
  CHECK(batches.samples() == 10);
  CHECK(batches.batch_capacity() == 4);

  std::size_t sample = 0;
  std::vector<std::size_t> sizes;
  for (const auto& [images, labels] : batches.epoch(0)) {
    using images_type = std::remove_cvref_t<decltype(images)>;
    static_assert(std::is_same_v<images_type, dp::tensor<float, dp::extents<dyn, dyn, dyn>, here>>);
    using labels_type = std::remove_cvref_t<decltype(labels)>;
    static_assert(std::is_same_v<labels_type, dp::tensor<std::uint8_t, dp::extents<dyn>, here>>);
    REQUIRE(images.extents() == dp::extents<dyn, dyn, dyn>(labels.extent(0), 2, 3));
    sizes.push_back(images.extent(0));
    for (std::size_t row = 0; row < images.extent(0); ++row, ++sample) {
      CHECK(labels(row) == sample % 10);
      for (std::size_t p = 0; p < 6; ++p)
        CHECK(images(row, p / 3, p % 3) == static_cast<float>((7 * sample + p) % 256) / 255.0f);
    }
  }
  CHECK(sample == 10);
  CHECK(sizes == std::vector<std::size_t>{4, 4, 2});
}

TEST_CASE("drop_last leaves out the smaller last batch", "[data]") {
  const dp::image_set data = numbered_images(10);
  dp::loader<here> batches{data, {.batch = 4, .drop_last = true}};
  CHECK(batches.size() == 2);
  CHECK(batches.samples() == 8);
  CHECK(read_epoch(batches, 0).batch_sizes == std::vector<std::size_t>{4, 4});

  dp::loader<here> even{data, {.batch = 5, .drop_last = true}};
  CHECK(read_epoch(even, 0).batch_sizes == std::vector<std::size_t>{5, 5});

  dp::loader<here> nothing{data, {.batch = 11, .drop_last = true, .workers = 1}};
  CHECK(nothing.size() == 0);
  CHECK(nothing.samples() == 0);
  CHECK(read_epoch(nothing, 0).batch_sizes.empty());
}

TEST_CASE("one image, a batch larger than the data, and no data at all", "[data]") {
  for (const int workers : {0, 2}) {
    const dp::image_set one = numbered_images(1);
    dp::loader<here> single{one, {.batch = 1, .shuffle = dp::seed{1}, .workers = workers}};
    CHECK(read_epoch(single, 0).batch_sizes == std::vector<std::size_t>{1});
    dp::loader<here> large{one, {.batch = std::numeric_limits<std::size_t>::max(), .workers = workers}};
    CHECK(large.batch_capacity() == 1);
    CHECK(read_epoch(large, 3).batch_sizes == std::vector<std::size_t>{1});
    const dp::image_set none = numbered_images(0);
    dp::loader<here> empty{none, {.batch = 8, .shuffle = dp::seed{1}, .workers = workers}};
    CHECK(empty.size() == 0);
    CHECK(read_epoch(empty, 0).batch_sizes.empty());
  }
}

TEST_CASE("a loader's order may be chosen by an optional seed", "[data]") {
  dp::loader_options options{.batch = 2, .shuffle = std::nullopt};
  CHECK_FALSE(options.shuffle);
  options.shuffle = std::optional(dp::seed{3});
  CHECK(options.shuffle->value == 3);
  const dp::loader_options same = options;
  CHECK(same.shuffle == options.shuffle);
  CHECK(options.shuffle == std::optional(dp::seed{3}));
  options.shuffle = std::nullopt;
  CHECK_FALSE(options.shuffle);
  CHECK(same.shuffle != options.shuffle);
}

TEST_CASE("a loader's options may be given by position", "[data]") {
  const dp::loader_options options{64, dp::seed{2}, true, 3};
  CHECK(options.batch == 64);
  CHECK(options.shuffle == dp::seed{2});
  CHECK(options.drop_last);
  CHECK(options.workers == 3);
}

TEST_CASE("a shuffled epoch has the sampler's order, with matching labels", "[data]") {
  const dp::image_set data = numbered_images(30);
  dp::loader<here> batches{data, {.batch = 7, .shuffle = dp::seed{5}, .scale = 1.0}};
  dp::sampler expected(30, dp::seed{5});
  for (const int epoch : {0, 3, 1}) {
    const auto contents = read_epoch(batches, epoch);
    const auto order = expected.order(epoch);
    REQUIRE(contents.labels.size() == 30);
    for (std::size_t i = 0; i < 30; ++i) {
      CHECK(contents.labels[i] == order[i] % 10);
      CHECK(contents.samples[i * 6] == static_cast<float>(order[i] * 7 % 256));
    }
  }
  CHECK(read_epoch(batches, 0) == read_epoch(batches, 0));
  CHECK(read_epoch(batches, 0) != read_epoch(batches, 1));
}

TEST_CASE("workers and prefetch change neither order nor bits", "[data]") {
  const dp::image_set data = numbered_images(101);
  const auto jitter = [](std::span<float> sample, std::size_t index, int epoch) {
    for (float& x : sample) x = std::sin(x + static_cast<float>(index) + 10 * static_cast<float>(epoch));
  };
  const auto contents = [&](helpers h, int epoch) {
    dp::loader<here> batches{
        data, {.batch = 8, .shuffle = dp::seed{9}, .workers = h.workers, .prefetch = h.prefetch}, jitter};
    read_epoch(batches, epoch + 1);
    return read_epoch(batches, epoch);
  };
  for (const int epoch : {0, 6}) {
    const auto expected = contents({0, 1}, epoch);
    for (const helpers h : all_helpers) {
      CAPTURE(h.workers, h.prefetch, epoch);
      CHECK(contents(h, epoch) == expected);
    }
  }
}

TEST_CASE("features are (x * scale - mean) / standard_deviation", "[data]") {
  const dp::image_set data = numbered_images(8);
  dp::loader<here, double> digits{data, {.batch = 3, .scale = 1.0 / 16, .mean = 0.5, .standard_deviation = 0.25}};
  const auto contents = read_epoch(digits, 0);
  REQUIRE(contents.samples.size() == 48);
  for (std::size_t i = 0; i < 48; ++i) {
    const double pixel = static_cast<double>((i / 6 * 7 + i % 6) % 256);
    CHECK(contents.samples[i] == Catch::Approx((pixel / 16 - 0.5) / 0.25).margin(1e-14));
  }
}

TEST_CASE("every byte value in every position is x / 255, exactly rounded", "[data]") {
  dp::tensor<std::uint8_t, dp::extents<256, 19>, here> features(dp::extents<256, 19>{});
  dp::tensor<std::int32_t, dp::extents<256>, here> labels(dp::extents<256>{});
  for (std::size_t i = 0; i < 256; ++i) {
    labels(i) = static_cast<std::int32_t>(i);
    for (std::size_t p = 0; p < 19; ++p) features(i, p) = static_cast<std::uint8_t>(i + 31 * p);
  }
  auto batches = dp::make_loader<here>(features, labels, {.batch = 100});
  const auto contents = read_epoch(batches, 0);
  REQUIRE(contents.samples.size() == 256 * 19);
  for (std::size_t i = 0; i < contents.samples.size(); ++i)
    CHECK(contents.samples[i] == static_cast<float>((i / 19 + 31 * (i % 19)) % 256) / 255.0f);
}

TEST_CASE("floating-point features and integer labels are copied bitwise from plain tensors", "[data]") {
  dp::tensor<float, dp::extents<3, 2>, here> features{
      {-0.0f, 1.0f}, {std::numeric_limits<float>::infinity(), 1e-44f}, {std::nanf("5"), -3.0f}};
  dp::tensor<std::int64_t, dp::extents<3>, here> labels{7, -100, 1};
  auto batches = dp::make_loader<here>(features, labels, {.batch = 2});
  const auto contents = read_epoch(batches, 0);
  using batch = decltype(batches)::batch_type;
  static_assert(std::is_same_v<decltype(batch::images), dp::tensor<float, dp::extents<dyn, 2>, here>>);
  static_assert(std::is_same_v<decltype(batch::labels), dp::tensor<std::int64_t, dp::extents<dyn>, here>>);
  CHECK(contents.labels == std::vector<std::int64_t>{7, -100, 1});
  REQUIRE(contents.samples.size() == 6);
  CHECK(std::memcmp(contents.samples.data(), features.data(), 6 * sizeof(float)) == 0);
  CHECK(contents.batch_sizes == std::vector<std::size_t>{2, 1});
}

TEST_CASE("a loader owns tensors moved in and refers to variables", "[data]") {
  const auto made = [](std::size_t count) {
    dp::tensor<float, dp::extents<dyn, 2>, here> x{dp::extents<dyn, 2>{count}};
    dp::tensor<std::int32_t, dp::extents<dyn>, here> y{dp::extents<dyn>{count}};
    for (std::size_t i = 0; i < count; ++i) {
      x(i, 0) = static_cast<float>(i);
      x(i, 1) = -static_cast<float>(i);
      y(i) = static_cast<std::int32_t>(3 * i);
    }
    return std::pair(std::move(x), std::move(y));
  };
  const auto check = [](auto&& batches) {
    std::size_t sample = 0;
    for (const auto& [x, y] : batches.epoch(0))
      for (std::size_t row = 0; row < y.size(); ++row, ++sample) {
        CHECK(x(row, 0) == static_cast<float>(sample));
        CHECK(x(row, 1) == -static_cast<float>(sample));
        CHECK(y(row) == static_cast<std::int32_t>(3 * sample));
      }
    CHECK(sample == 1000);
  };
  for (const int workers : {0, 2}) {
    const auto local = [&] {
      auto [x, y] = made(1000);
      return dp::make_loader<here>(std::move(x), std::move(y), {.batch = 64, .workers = workers});
    };
    check(local());
    auto [x, y] = made(1000);
    const float* const address = x.data();
    check(dp::make_loader<here>(x, std::move(y), {.batch = 64, .workers = workers}));
    check(dp::make_loader<here>(made(1000).first, made(1000).second, {.batch = 64, .workers = workers}));
    auto [other, labels] = made(1000);
    auto batches = dp::make_loader<here>(x.view(), labels, {.batch = 64, .workers = workers});
    check(batches);
    CHECK(x.data() == address);
    x(0, 0) = 7;  // the loader has no copy
    for (const auto& [features, targets] : batches.epoch(1)) {
      CHECK(features(0, 0) == 7);
      CHECK(targets(0) == 0);
      break;
    }
    static_cast<void>(other);
  }
}

TEST_CASE("integer features and token labels keep their type and are not scaled", "[data]") {
  dp::tensor<std::int32_t, dp::extents<3, 2>, here> tokens{{70000, -1}, {2, 3}, {4, 5}};
  dp::tensor<std::int64_t, dp::extents<3, 2>, here> next{{1, 2}, {-100, 4}, {5, std::int64_t{1} << 40}};
  for (const int workers : {0, 2}) {
    auto batches = dp::make_loader<here>(tokens, next, {.batch = 2, .workers = workers});
    using batch = decltype(batches)::batch_type;
    static_assert(std::is_same_v<decltype(batch::images), dp::tensor<std::int32_t, dp::extents<dyn, 2>, here>>);
    static_assert(std::is_same_v<decltype(batch::labels), dp::tensor<std::int64_t, dp::extents<dyn, 2>, here>>);
    const auto contents = read_epoch(batches, 0);
    CHECK(contents.samples == std::vector<std::int32_t>{70000, -1, 2, 3, 4, 5});
    CHECK(contents.labels == std::vector<std::int64_t>{1, 2, -100, 4, 5, std::int64_t{1} << 40});
    CHECK(contents.batch_sizes == std::vector<std::size_t>{2, 1});
  }
  const dp::loader_options scaled[] = {
      {.batch = 2, .scale = 0.5}, {.batch = 2, .mean = 1}, {.batch = 2, .standard_deviation = 2}};
  for (const auto& how : scaled)
    CHECK_THROWS_WITH(dp::make_loader<here>(tokens, next, how),
                      Catch::Matchers::ContainsSubstring("the features are integers, which are not scaled"));
  CHECK(dp::make_loader<here>(tokens, next, {.batch = 2, .scale = 1.0}).size() == 2);
  auto masked =
      dp::make_loader<here>(tokens, next, {.batch = 3}, [](std::span<std::int32_t> sample, std::size_t index, int) {
        if (index == 1) sample[0] = 0;
      });
  CHECK(read_epoch(masked, 0).samples == std::vector<std::int32_t>{70000, -1, 0, 3, 4, 5});
}

TEST_CASE("regression targets may have axes and get the network's type", "[data]") {
  dp::tensor<double, dp::extents<dyn, 1>, here> features(dp::extents<dyn, 1>(5));
  dp::tensor<double, dp::extents<dyn, 2>, here> targets(dp::extents<dyn, 2>(5));
  for (std::size_t i = 0; i < 5; ++i) {
    features(i, 0u) = static_cast<double>(i) + 0.25;
    targets(i, 0u) = static_cast<double>(i);
    targets(i, 1u) = 0.5 * static_cast<double>(i);
  }
  auto batches = dp::make_loader<here>(std::as_const(features), targets.slice(0, 5),
                                       {.batch = 2, .shuffle = dp::seed{4}, .workers = 1});
  using batch = decltype(batches)::batch_type;
  static_assert(std::is_same_v<decltype(batch::labels), dp::tensor<float, dp::extents<dyn, 2>, here>>);
  const auto contents = read_epoch(batches, 2);
  REQUIRE(contents.labels.size() == 10);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(contents.samples[i] == contents.labels[2 * i] + 0.25f);
    CHECK(contents.labels[2 * i + 1] == 0.5f * contents.labels[2 * i]);
  }
}

TEST_CASE("a transform may own state and gets scaled samples, their index and the epoch", "[data]") {
  const dp::image_set data = numbered_images(6);
  const auto alive = std::make_shared<float>(100.0f);
  {
    dp::loader<here> batches{
        data,
        {.batch = 4, .scale = 1.0},
        [base = std::make_unique<float>(*alive), alive](std::span<float> sample, std::size_t index, int epoch) {
          sample[1] += *base;
          sample[0] = static_cast<float>(index) + 1000 * static_cast<float>(epoch);
        }};
    CHECK(alive.use_count() == 2);
    const auto contents = read_epoch(batches, 3);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(contents.samples[i * 6] == static_cast<float>(i) + 3000);
      CHECK(contents.samples[i * 6 + 1] == static_cast<float>(7 * i + 1) + 100);
    }
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("an exception reaches the caller at its batch, each time", "[data]") {
  const dp::image_set data = numbered_images(40);
  const auto refuse = [](std::span<float>, std::size_t index, int) {
    if (index == 13 || index == 14 || index == 22) throw unreadable_sample(index);
  };
  for (const helpers h : all_helpers) {
    CAPTURE(h.workers, h.prefetch);
    dp::loader<here> batches{data, {.batch = 5, .workers = h.workers, .prefetch = h.prefetch}, refuse};
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::size_t read = 0;
      try {
        for (const auto& batch : batches.epoch(epoch)) read += batch.images.extent(0);
        FAIL("the loop has to end with an exception");
      } catch (const unreadable_sample& problem) {
        CHECK(std::string(problem.what()) == "sample 13");
      }
      CHECK(read == 10);
    }
  }
}

TEST_CASE("after an exception the next batch can be read", "[data]") {
  const dp::image_set data = numbered_images(20);
  const auto refuse = [](std::span<float>, std::size_t index, int) {
    if (index == 7 || index == 10) throw unreadable_sample(index);
  };
  for (const helpers h : all_helpers) {
    CAPTURE(h.workers, h.prefetch);
    dp::loader<here> batches{data, {.batch = 5, .workers = h.workers, .prefetch = h.prefetch}, refuse};
    auto epoch = batches.epoch(0);
    auto at = epoch.begin();
    CHECK(at->labels(1) == 1);
    CHECK_THROWS_WITH(++at, "sample 7");
    CHECK_THROWS_WITH(++at, "sample 10");
    ++at;
    REQUIRE(at != epoch.end());
    CHECK((*at).labels(0) == 5);
    CHECK((*at).labels(4) == 9);
    ++at;
    CHECK(at == epoch.end());
  }
}

TEST_CASE("an exception in the first batch is thrown by every call of begin", "[data]") {
  const dp::image_set data = numbered_images(6);
  const auto refuse = [](std::span<float>, std::size_t index, int) { throw unreadable_sample(index); };
  for (const int workers : {0, 1}) {
    dp::loader<here> batches{data, {.batch = 5, .workers = workers}, refuse};
    auto epoch = batches.epoch(0);
    CHECK_THROWS_WITH(epoch.begin(), "sample 0");
    CHECK_THROWS_WITH(epoch.begin(), "sample 0");
  }
}

TEST_CASE("an epoch may be left early in any state of the workers", "[data]") {
  const dp::image_set data = numbered_images(200);
  for (const helpers h : all_helpers) {
    CAPTURE(h.workers, h.prefetch);
    dp::loader<here> batches{data, {.batch = 3, .workers = h.workers, .prefetch = h.prefetch}};
    const auto whole = read_epoch(batches, 0);
    for (int stop = 0; stop < 20; ++stop) {
      int read = 0;
      for (const auto& batch : batches.epoch(stop)) {
        CHECK(batch.labels(0) == 3 * read % 10);
        if (read++ == stop) break;
      }
    }
    CHECK(read_epoch(batches, 0) == whole);
  }
}

TEST_CASE("an unread loader, or a loader left during an epoch, joins its workers", "[data]") {
  const dp::image_set data = numbered_images(50);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const dp::loader<here> unread{data, {.batch = 3, .workers = 2}};
    try {
      dp::loader<here> batches{data, {.batch = 3, .workers = 2}};
      for (const auto& batch : batches.epoch(0)) {
        REQUIRE(batch.labels(0) == 0);
        throw std::runtime_error("the step failed");
      }
    } catch (const std::runtime_error&) {
    }
  }
}

TEST_CASE("an epoch is a range for standard algorithms and views", "[data]") {
  const auto data = numbered_images(10);
  for (const helpers with : all_helpers) {
    dp::loader<here> batches{data, {.batch = 3, .workers = with.workers, .prefetch = with.prefetch}};
    std::vector<std::size_t> sizes;
    std::vector<float> first;
    for (const auto& [images, labels] : batches.epoch(0) | std::views::drop(1) | std::views::take(2)) {
      sizes.push_back(labels.extent(0));
      first.push_back(images(0, 0, 0));
    }
    CHECK(sizes == std::vector<std::size_t>{3, 3});
    std::vector<float> all;
    for (const auto& [images, labels] : batches.epoch(1)) all.push_back(images(0, 0, 0));
    CHECK(first == std::vector<float>{all.at(1), all.at(2)});
  }
}

TEST_CASE("an epoch can begin at a later batch", "[data]") {
  const dp::image_set data = numbered_images(10);
  for (const helpers with : all_helpers) {
    dp::loader<here> batches{data,
                             {.batch = 3, .shuffle = dp::seed{5}, .workers = with.workers, .prefetch = with.prefetch}};
    const auto labels_from = [&](std::size_t first) {
      std::vector<std::vector<std::uint8_t>> result;
      for (const auto& [images, labels] : batches.epoch(2, first))
        result.emplace_back(labels.data(), labels.data() + labels.size());
      return result;
    };
    const auto all = labels_from(0);
    REQUIRE(all.size() == 4);
    for (std::size_t first = 0; first <= 4; ++first)
      CHECK(labels_from(first) == std::vector(all.begin() + static_cast<std::ptrdiff_t>(first), all.end()));
    CHECK_THROWS_WITH(batches.epoch(2, 5), Catch::Matchers::ContainsSubstring("4 batches cannot begin at batch 5"));
    CHECK(labels_from(0) == all);
  }
}

TEST_CASE("only one epoch can be read at a time", "[data]") {
  const dp::image_set data = numbered_images(9);
  dp::loader<here> batches{data, {.batch = 2, .workers = 1}};
  {
    const auto first = batches.epoch(0);
    CHECK(first.size() == 5);
    CHECK_THROWS_AS(batches.epoch(1), dp::error);
    CHECK_THROWS_WITH(batches.epoch(1), Catch::Matchers::ContainsSubstring("end that epoch first"));
  }
  CHECK_NOTHROW(batches.epoch(1));
  CHECK_THROWS_AS(batches.epoch(-1), dp::argument_error);
  CHECK(read_epoch(batches, 0).batch_sizes.size() == 5);
}

TEST_CASE("options out of range are errors", "[data]") {
  using Catch::Matchers::ContainsSubstring;
  const dp::image_set data = numbered_images(9);
  const auto make = [&](const dp::loader_options& options) { dp::loader<here> batches{data, options}; };
  CHECK_THROWS_AS(make({}), dp::argument_error);
  CHECK_THROWS_WITH(make({}), ContainsSubstring("option batch is 0") && ContainsSubstring("{.batch = 64}"));
  CHECK_THROWS_WITH(make({.batch = 1, .workers = -2}), ContainsSubstring("option workers is -2"));
  CHECK_THROWS_WITH(make({.batch = 1, .prefetch = 0}), ContainsSubstring("option prefetch is 0"));
  CHECK_THROWS_WITH(make({.batch = 1, .standard_deviation = 0}), ContainsSubstring("option standard_deviation is 0"));
  CHECK_THROWS_AS(make({.batch = 1, .standard_deviation = std::nan("")}), dp::argument_error);
  CHECK_THROWS_WITH(make({.batch = 1, .mean = std::nan("")}), ContainsSubstring("option mean is nan"));
  CHECK_THROWS_WITH(make({.batch = 1, .scale = HUGE_VAL}), ContainsSubstring("option scale is inf"));

  dp::image_set uneven = numbered_images(9);
  uneven.labels = numbered_images(8).labels;
  CHECK_THROWS_WITH((dp::loader<here>{uneven, {.batch = 2}}), ContainsSubstring("9 samples and 8 labels"));
}

TEST_CASE("a split over CPU places uses the same buffers as on devices", "[data]") {
  const dp::image_set data = numbered_images(41);
  const dp::loader_options how{.batch = 8, .shuffle = dp::seed{1}, .workers = 1};
  dp::loader<here> plain{data, how};
  dp::loader<dp::replicated_on<dp::cpu>> split{data, how};
  const auto expected = read_epoch(plain, 1);
  std::vector<float> samples;
  for (const auto& batch : split.epoch(1)) {
    const auto part = batch.images.local(0);
    samples.insert(samples.end(), part.data(), part.data() + part.size());
  }
  CHECK(samples == expected.samples);
}

namespace {

template <class Loader>
concept has_epoch_of_temporary = requires(Loader&& batches) { std::move(batches).epoch(0); };
template <class Loader>
concept has_epoch_without_number = requires(Loader& batches) { batches.epoch(); };
static_assert(!has_epoch_of_temporary<dp::loader<here>> && !has_epoch_without_number<dp::loader<here>>);
static_assert(std::is_constructible_v<dp::loader<here>, const dp::image_set&, dp::loader_options>);
static_assert(!std::is_copy_constructible_v<dp::loader<here>> && !std::is_move_constructible_v<dp::loader<here>>);
static_assert(std::is_nothrow_move_constructible_v<dp::loader<here>::batch_type> &&
              !std::is_copy_constructible_v<dp::loader<here>::batch_type>);

}  // namespace
