// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/data/transforms.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/labelled_samples.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::dyn;
using here = dp::on<dp::cpu>;
using support::read_epoch;

namespace {

/// Applies the step to pixels 1, 2, 3, ...
template <class Extents, class Step>
std::vector<float> after(const Extents& extents, const Step& step, std::size_t index, int epoch = 0) {
  std::vector<float> sample(extents.size());
  std::iota(sample.begin(), sample.end(), 1.0f);
  dp::transforms(extents, dp::seed{5}, step)(std::span(sample), index, epoch);
  return sample;
}

/// A user's step.
struct darken {
  float by;
  template <class T> void operator()(const dp::sample_image<T>& image, dp::sample_random& random) const {
    image(0, 0, 0) -= static_cast<T>(by) * static_cast<T>(random.below(3));
  }
};

/// A user's step that moves pixels.
struct turn {
  double degrees;
  dp::sample_move operator()(dp::sample_random&) const { return dp::sample_move::rotation(degrees); }
};

struct zoom {
  double most;
  dp::sample_move operator()(dp::sample_random& random) const {
    const double factor = 1 - most * random.unit();
    return {.xx = factor, .yy = factor};
  }
};

}  // namespace

TEST_CASE("random crops are all shifts of the padded image", "[data]") {
  constexpr int height = 3, width = 4, padding = 2;
  std::set<std::vector<float>> expected, found;
  for (int down = -padding; down <= padding; ++down)
    for (int right = -padding; right <= padding; ++right) {
      std::vector<float> shifted;
      for (int c = 0; c < 2; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const int from_y = y - down, from_x = x - right;
            const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
            shifted.push_back(inside ? static_cast<float>(1 + (c * height + from_y) * width + from_x) : -1);
          }
      expected.insert(shifted);
    }
  const dp::random_crop crop{.padding = padding, .fill = -1};
  for (std::size_t index = 0; index < 400; ++index) found.insert(after(dp::extents<2, height, width>{}, crop, index));
  CHECK(found == expected);
  // A shift by the image's width leaves nothing of it.
  found.clear();
  for (std::size_t index = 0; index < 100; ++index)
    found.insert(after(dp::extents<1, 1>{}, dp::random_crop{.padding = 1, .fill = -1}, index));
  CHECK(found == std::set<std::vector<float>>{{-1}, {1}});
}

TEST_CASE("flips, cutouts and a user's step", "[data]") {
  std::size_t flipped = 0, untouched = 0;
  for (std::size_t index = 0; index < 400; ++index) {
    const auto image = after(dp::extents<2, 1, 3>{}, dp::horizontal_flip{.probability = 0.25}, index);
    const bool mirrored = image == std::vector<float>{3, 2, 1, 6, 5, 4};
    REQUIRE((mirrored || image == std::vector<float>{1, 2, 3, 4, 5, 6}));
    flipped += mirrored ? 1u : 0u;
  }
  CHECK((flipped > 70 && flipped < 130));  // 100 expected, less than four standard deviations of 8.7

  std::set<std::size_t> sizes;
  for (std::size_t index = 0; index < 200; ++index) {
    const auto image = after(dp::extents<2, 4, 4>{}, dp::cutout{.size = 3}, index);
    std::size_t zeros = 0;
    for (std::size_t p = 0; p < 16; ++p) {
      REQUIRE((image[p] == 0) == (image[16 + p] == 0));
      zeros += image[p] == 0 ? 1u : 0u;
    }
    sizes.insert(zeros);
  }
  CHECK(sizes == std::set<std::size_t>{4, 6, 9});
  CHECK(after(dp::extents<1, 2>{}, dp::cutout{.size = 4, .value = 7}, 0) == std::vector<float>{7, 7});

  for (std::size_t index = 0; index < 30; ++index)
    untouched += after(dp::extents<1, 1>{}, darken{.by = 1}, index)[0] == 1 ? 1u : 0u;
  CHECK((untouched > 2 && untouched < 20));
}

TEST_CASE("channels are normalized by torchvision's formula", "[data]") {
  const dp::normalize_channels<2> step{{0.5, 1}, {0.25, 3}};
  CHECK(after(dp::extents<2, 1, 2>{}, step, 0) ==
        std::vector<float>{(1 - 0.5f) / 0.25f, (2 - 0.5f) / 0.25f, (3 - 1.0f) / 3.0f, (4 - 1.0f) / 3.0f});
}

TEST_CASE("rotations agree with PyTorch", "[data]") {
  const auto read = [](const char* name) {
    return dp::test::read_fixture<double, dp::extents<2, 5, 7>>("transforms/rotations/" + std::string(name));
  };
  for (const auto& [name, degrees] : {std::pair{"turned25", 25.0}, std::pair{"turned_160", -160.0}}) {
    auto x = read("x");
    dp::transforms(dp::extents<2, 5, 7>{}, dp::seed{1}, turn{degrees})(std::span(x.data(), x.size()), 0, 0);
    const auto expected = read(name);
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x.data()[i] - expected.data()[i]));
    CHECK(largest < 1e-8);  // coefficients of moves are multiples of 2^-32
  }
  const auto turned = after(dp::extents<9, 9>{}, dp::random_rotation{.degrees = 20}, 3);
  CHECK(turned != after(dp::extents<9, 9>{}, dp::random_rotation{.degrees = 20}, 4));
  CHECK(std::abs(turned[40] - 41) < 1e-5f);  // the center stays
}

TEST_CASE("flips and turns give exactly the images that lists of pixels say", "[data]") {
  // 1 2 3     Counterclockwise, the last column comes to the top.
  // 4 5 6
  // 7 8 9
  const dp::extents<3, 3> size;
  CHECK(after(size, turn{90}, 0) == std::vector<float>{3, 6, 9, 2, 5, 8, 1, 4, 7});
  CHECK(after(size, turn{-450}, 0) == std::vector<float>{7, 4, 1, 8, 5, 2, 9, 6, 3});
  CHECK(after(size, turn{180}, 0) == std::vector<float>{9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(after(dp::extents<2, 2, 2>{}, turn{90}, 0) == std::vector<float>{2, 4, 1, 3, 6, 8, 5, 7});
  CHECK(after(dp::extents<3, 2>{}, dp::vertical_flip{.probability = 1}, 0) == std::vector<float>{5, 6, 3, 4, 1, 2});
  CHECK(after(dp::extents<3, 2>{}, dp::vertical_flip{.probability = 0}, 0) == std::vector<float>{1, 2, 3, 4, 5, 6});

  // The steps act in their order: first the turn, then the mirror, and in the other order.
  const auto both = [&](const auto&... steps) {
    std::vector<float> sample{1, 2, 3, 4};
    dp::transforms(dp::extents<2, 2>{}, dp::seed{5}, steps...)(std::span(sample), 0, 0);
    return sample;
  };
  const dp::horizontal_flip mirror{.probability = 1};
  CHECK(both(turn{90}, mirror) == std::vector<float>{4, 2, 3, 1});
  CHECK(both(mirror, turn{90}) == std::vector<float>{1, 3, 2, 4});

  std::set<std::vector<float>> found;
  for (std::size_t index = 0; index < 200; ++index) {
    std::vector<float> sample{1, 2, 3, 4};
    dp::transforms(dp::extents<2, 2>{}, dp::seed{5}, dp::quarter_turns{}, dp::vertical_flip{})(std::span(sample), index,
                                                                                               0);
    found.insert(sample);
  }
  CHECK(found == std::set<std::vector<float>>{{1, 2, 3, 4},
                                              {2, 4, 1, 3},
                                              {4, 3, 2, 1},
                                              {3, 1, 4, 2},
                                              {3, 4, 1, 2},
                                              {1, 3, 2, 4},
                                              {2, 1, 4, 3},
                                              {4, 2, 3, 1}});
}

TEST_CASE("masks are moved with their images", "[data]") {
  const support::segmented_images data(40);
  // The mask is 3 * pixel + 1 everywhere, also outside.
  const dp::transforms augment{
      dp::extents<2, 5, 5>{},      dp::seed{3},         dp::random_crop{.padding = 2, .fill = 7},
      dp::horizontal_flip{},       dp::vertical_flip{}, dp::quarter_turns{},
      dp::with_targets{.fill = 22}};
  const auto made = [&](int workers, std::size_t batch, int epoch) {
    auto batches =
        dp::make_loader<here>(data.images, data.masks, {.batch = batch, .workers = workers, .scale = 1}, augment);
    return read_epoch(batches, epoch);
  };
  const auto all = made(0, 40, 0);
  std::size_t changed = 0, outside = 0;
  for (std::size_t i = 0; i < 40 * 25; ++i) {
    const float pixel = all.samples[i / 25 * 50 + i % 25];
    REQUIRE(all.labels[i] == 3 * static_cast<std::int32_t>(pixel) + 1);
    REQUIRE(all.samples[i / 25 * 50 + 25 + i % 25] == (pixel == 7 ? 7 : 255 - pixel));  // the second channel
    changed += all.labels[i] == data.masks.data()[i] ? 0u : 1u;
    outside += pixel == 7 ? 1u : 0u;
  }
  CHECK(changed > 500);
  CHECK(outside > 100);
  CHECK(made(3, 7, 0).labels == all.labels);
  CHECK(made(1, 1, 0).samples == all.samples);
  CHECK(made(0, 40, 1).labels != all.labels);
  CHECK(made(3, 7, 1) == made(3, 7, 1));

  // Without with_targets, samples alone are moved. Masks may have channels and floating-point numbers.
  auto alone = dp::make_loader<here>(data.images, data.masks, {.batch = 40},
                                     dp::transforms{dp::extents<2, 5, 5>{}, dp::seed{3}, dp::quarter_turns{}});
  CHECK(read_epoch(alone, 0).labels == std::vector<std::int32_t>(data.masks.data(), data.masks.data() + 1000));
  dp::tensor<double, dp::extents<dyn, 2, 5, 5>, here> doubles(dp::extents<dyn, 2, 5, 5>{40});
  std::copy_n(data.images.data(), doubles.size(), doubles.data());
  auto same = dp::make_loader<here>(data.images, doubles, {.batch = 40, .scale = 1},
                                    dp::transforms{dp::extents<2, 5, 5>{}, dp::seed{3}, dp::random_crop{.padding = 1},
                                                   dp::quarter_turns{}, dp::with_targets{}, dp::mixup{}});
  const auto mixed = read_epoch(same, 0);
  CHECK(mixed.samples == mixed.labels);  // mixup mixes moved targets
  CHECK(mixed.samples != std::vector<float>(doubles.data(), doubles.data() + doubles.size()));
}

TEST_CASE("rotated bytes and masks agree with interpolation in double", "[data]") {
  const support::segmented_images data(60);
  const dp::transforms augment{dp::extents<2, 5, 5>{},
                               dp::seed{9},
                               dp::random_rotation{.degrees = 180},
                               zoom{0.5},
                               dp::random_crop{.padding = 2, .fill = 40},
                               dp::with_targets{.fill = -100}};
  auto batches = dp::make_loader<here>(data.images, data.masks, {.batch = 60, .scale = 1}, augment);
  const auto made = read_epoch(batches, 4);
  double largest = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const dp::sample_move move = augment.move(i, 4);
    for (int y = -2; y <= 2; ++y)
      for (int x = -2; x <= 2; ++x) {
        const double from_x = move.xx * x + move.xy * y + move.x + 2, from_y = move.yx * x + move.yy * y + move.y + 2;
        const std::size_t at = static_cast<std::size_t>(y + 2) * 5 + static_cast<std::size_t>(x + 2);
        const auto pixel = [&](double column, double row) -> std::ptrdiff_t {
          const bool inside = column >= 0 && column < 5 && row >= 0 && row < 5;
          return inside ? static_cast<std::ptrdiff_t>(row * 5 + column) : -1;
        };
        double expected = 0;
        for (int down = -3; down < 9; ++down)
          for (int right = -3; right < 9; ++right) {
            const double weight =
                std::max(0.0, 1 - std::abs(from_x - right)) * std::max(0.0, 1 - std::abs(from_y - down));
            const std::ptrdiff_t p = pixel(right, down);
            expected += weight * (p < 0 ? 40.0 : data.images.data()[i * 50 + static_cast<std::size_t>(p)]);
          }
        if (std::abs(from_x - 2) < 4 && std::abs(from_y - 2) < 4)  // all weights were summed
          largest = std::max(largest, std::abs(made.samples[i * 50 + at] - expected));
        const double column = std::round(from_x), row = std::round(from_y);
        if (std::abs(std::abs(from_x - column) - 0.5) < 1e-6 || std::abs(std::abs(from_y - row) - 0.5) < 1e-6) continue;
        const std::ptrdiff_t p = pixel(column, row);
        REQUIRE(made.labels[i * 25 + at] == (p < 0 ? -100 : data.masks.data()[i * 25 + static_cast<std::size_t>(p)]));
        ++compared;
      }
  }
  CHECK(largest < 0.57);  // half a byte, and two weights rounded to 2^-12
  CHECK(largest > 0.4);
  CHECK(compared > 1400);
}

TEST_CASE("a loader takes transforms as its third argument", "[data]") {
  const dp::image_set data = support::numbered_images(4);
  const dp::transforms augment{dp::extents<2, 3>{}, dp::seed{3}, dp::random_crop{.padding = 1}, dp::horizontal_flip{}};
  dp::loader<here> batches{data, {.batch = 64, .shuffle = dp::seed{2}, .workers = 2}, augment};
  CHECK(read_epoch(batches, 0).samples.size() == 24);
}

TEST_CASE("samples depend only on seed, epoch and index, not on the thread", "[data]") {
  const dp::image_set data = support::numbered_images(60);
  const auto made = [&](int workers, std::size_t batch, int epoch, std::uint64_t seed) {
    dp::transforms steps{dp::extents(2, 3),
                         dp::seed{seed},
                         dp::random_crop{.padding = 1},
                         dp::horizontal_flip{},
                         dp::random_rotation{.degrees = 30},
                         darken{0.5f}};
    dp::loader<here> batches{data, {.batch = batch, .workers = workers}, steps};
    return read_epoch(batches, epoch).samples;
  };
  const auto expected = made(0, 60, 3, 1);
  CHECK(made(3, 7, 3, 1) == expected);
  CHECK(made(1, 1, 3, 1) == expected);
  CHECK(made(0, 60, 4, 1) != expected);
  CHECK(made(0, 60, 3, 2) != expected);
  // A step draws the same numbers with another step after it.
  std::vector<float> one(6, 1.0f), two = one;
  dp::transforms(dp::extents<2, 3>{}, dp::seed{1}, dp::cutout{.size = 1})(std::span(one), 9, 0);
  dp::transforms(dp::extents<2, 3>{}, dp::seed{1}, dp::cutout{.size = 1}, darken{0})(std::span(two), 9, 0);
  CHECK(one == two);
}

TEST_CASE("mixup mixes samples and targets with the same weight", "[data]") {
  constexpr std::size_t samples = 200;
  dp::tensor<float, dp::extents<dyn, 1, 2>, here> x(dp::extents<dyn, 1, 2>{samples});
  dp::tensor<double, dp::extents<dyn, 1>, here> y(dp::extents<dyn, 1>{samples});
  for (std::size_t i = 0; i < samples; ++i) {
    x(i, 0, 0) = static_cast<float>(i);
    x(i, 0, 1) = static_cast<float>(i + 1000);
    y(i, 0) = static_cast<double>(i);
  }
  // A flip before mixup: a partner is transformed as in this epoch, even if its own sample is in another batch.
  const dp::transforms steps{dp::extents<1, 2>{}, dp::seed{4}, dp::horizontal_flip{}, dp::mixup{.alpha = 0.4}};
  const auto made = [&](int workers, std::size_t batch) {
    auto batches = dp::make_loader<here>(x, y, {.batch = batch, .workers = workers}, steps);
    return read_epoch(batches, 2);
  };
  const auto all = made(0, samples);
  const auto others = made(2, 9);
  CHECK(others.samples == all.samples);
  CHECK(others.labels == all.labels);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const auto [partner, weight] = steps.partner(i, 2, samples);
    std::array<float, 2> a{x(i, 0, 0), x(i, 0, 1)}, b{x(partner, 0, 0), x(partner, 0, 1)};
    steps(std::span<float>(a), i, 2);
    steps(std::span<float>(b), partner, 2);
    for (std::size_t k = 0; k < 2; ++k)
      REQUIRE(std::abs(all.samples[2 * i + k] - (weight * a[k] + (1 - weight) * b[k])) < 1e-3);
    REQUIRE(std::abs(all.labels[i] - (weight * static_cast<double>(i) + (1 - weight) * static_cast<double>(partner))) <
            1e-4);
  }
  // Beta(a, a) has the mean 1/2 and the variance 1 / (4 (2 a + 1)); the bounds are five standard errors.
  for (const double alpha : {0.01, 0.4, 3.0}) {
    sum = squares = 0;
    const dp::transforms mixing{dp::extents<1, 1>{}, dp::seed{8}, dp::mixup{.alpha = alpha}};
    constexpr std::size_t draws = 4000;
    for (std::size_t i = 0; i < draws; ++i) {
      const double weight = mixing.partner(i, 0, samples).weight;
      REQUIRE((weight >= 0 && weight <= 1));
      sum += weight;
      squares += (weight - 0.5) * (weight - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    CHECK(std::abs(sum / draws - 0.5) < 5 * std::sqrt(variance / draws));
    CHECK(std::abs(squares / draws - variance) < 5 * variance / std::sqrt(draws));
  }
}

namespace {

template <class T> void compare_ranges_with_pixels() {
  constexpr dp::detail::image_size size{2, 3, 5};
  std::vector<T> from(4 * size.channels * size.height * size.width), ranges(from.size()), single(from.size());
  std::iota(from.begin(), from.end(), T{10});
  dp::sample_random random(dp::seed{1}, 0, 0, 0);
  for (int round = 0; round < 300; ++round)
    for (const bool interpolates : {false, true}) {
      double moves[4 * dp::detail::move_numbers];
      for (std::size_t i = 0; i < 4; ++i) {
        dp::sample_move move = dp::horizontal_flip{}(random).then(dp::vertical_flip{}(random));
        const auto right = random.below(13), down = random.below(9);
        move = move.then({.x = static_cast<double>(right) - 6, .y = static_cast<double>(down) - 4});
        if (i == 1) move = move.then({.y = random.unit()});
        if (i == 2) move = move.then({.x = random.unit()});
        if (i == 3) move = move.then({.xx = 1 + random.unit(), .x = round % 2 == 0 ? 1e300 : 1, .yx = 0.5});
        dp::detail::store_move(move, size, moves + i * dp::detail::move_numbers);
      }
      const dp::detail::moved_pixels<T> body{single.data(), from.data(), moves, size.channels,
                                             size.height,   size.width,  T{99}, interpolates};
      for (std::size_t i = 0; i < from.size(); ++i) body(i);
      auto in_ranges = body;
      in_ranges.to = ranges.data();
      const std::size_t middle = random.below(from.size());
      in_ranges.range(0, middle);
      in_ranges.range(middle, from.size());
      REQUIRE(ranges == single);
    }
}

}  // namespace

TEST_CASE("the CPU moves ranges of pixels as devices move single pixels", "[data]") {
  compare_ranges_with_pixels<std::uint8_t>();
  compare_ranges_with_pixels<std::int64_t>();
  compare_ranges_with_pixels<float>();
}

TEST_CASE("options that do not fit the images are rejected", "[data]") {
  const dp::extents<1, 4, 5> size;
  const auto failure = [&](const auto& step) -> std::string {
    try {
      static_cast<void>(dp::transforms(size, dp::seed{1}, step));
    } catch (const dp::argument_error& refusal) {
      return refusal.what();
    }
    return "none";
  };
  CHECK_THAT(failure(dp::random_crop{}), ContainsSubstring("random_crop: the padding is 0"));
  CHECK_THAT(failure(dp::random_crop{.padding = 6}), ContainsSubstring("an image has 4 rows of 5"));
  CHECK_THAT(failure(dp::horizontal_flip{.probability = 1.5}), ContainsSubstring("from 0 to 1"));
  CHECK_THAT(failure(dp::random_rotation{.degrees = NAN}), ContainsSubstring("random_rotation"));
  CHECK_THAT(failure(dp::cutout{}), ContainsSubstring("at least 1 pixel"));
  CHECK_THAT(failure(dp::mixup{.alpha = 0}), ContainsSubstring("alpha is 0"));
  CHECK_THAT(failure(dp::normalize_channels<2>{{0, 0}, {1, 1}}), ContainsSubstring("the samples have 1"));
  CHECK_THAT(failure(dp::normalize_channels<1>{}), ContainsSubstring("finite numbers above 0"));
  CHECK_THAT(failure(dp::vertical_flip{.probability = -1}), ContainsSubstring("vertical_flip: the probability is -1"));
  CHECK_THAT(failure(dp::quarter_turns{}), ContainsSubstring("an image has 4 rows of 5; quarter turns keep"));
  std::vector<float> sample(21);
  CHECK_THROWS_WITH((dp::transforms(size, dp::seed{1}, dp::horizontal_flip{})(std::span(sample), 0, 0)),
                    ContainsSubstring("has 21 elements and the steps were made for 1x4x5"));

  const support::segmented_images data(3);
  const auto moved = [&](const auto& masks, const auto&... steps) {
    auto batches = dp::make_loader<here>(data.images, masks, {.batch = 3},
                                         dp::transforms{dp::extents<2, 5, 5>{}, dp::seed{1}, steps...});
  };
  CHECK_THROWS_WITH(moved(data.masks, dp::random_crop{.padding = 1, .fill = 0.5}),
                    ContainsSubstring("the fill of pixels from outside is 0.5 and the features are uint8"));
  CHECK_THROWS_WITH(moved(data.masks, dp::vertical_flip{}, dp::with_targets{.fill = 3e9}),
                    ContainsSubstring("outside is 3000000000.0 and the targets are int32"));
  CHECK_NOTHROW(moved(data.masks, dp::vertical_flip{}, dp::with_targets{.fill = -2147483648.0}));
  const dp::tensor<std::uint8_t, dp::extents<3, 5, 4>, here> narrow(dp::extents<3, 5, 4>{});
  CHECK_THROWS_WITH(moved(narrow, dp::vertical_flip{}, dp::with_targets{}),
                    ContainsSubstring("targets have 5 rows of 4 pixels and samples 5 rows of 5"));
  CHECK_THROWS_WITH(dp::make_loader<here>(data.images, data.masks, {.batch = 3},
                                          dp::transforms{dp::extents<5, 5>{}, dp::seed{1}, dp::vertical_flip{}}),
                    ContainsSubstring("a sample has 50 elements and the steps were made for 1x5x5"));
}
