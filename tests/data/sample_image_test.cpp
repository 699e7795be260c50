// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/data/sample_image.hpp>

#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("the pixels of an image are stored row by row and channel by channel", "[data]") {
  std::vector<float> pixels(2 * 3 * 4);
  std::iota(pixels.begin(), pixels.end(), 0.0F);
  const dp::sample_image<float> image{pixels.data(), 2, 3, 4};
  float next = 0;
  for (std::size_t channel = 0; channel != 2; ++channel)
    for (std::size_t y = 0; y != 3; ++y) {
      CHECK(image.row(channel, y) == pixels.data() + static_cast<std::size_t>(next));
      for (std::size_t x = 0; x != 4; ++x) CHECK(image(channel, y, x) == next++);
    }
}

TEST_CASE("the random numbers of a step differ between seeds, epochs, samples and steps, and repeat otherwise",
          "[data]") {
  const auto first_of = [](dp::sample_random random) { return random.unit(); };
  const std::size_t far = std::size_t{1} << 32;  // the index has more than 32 bits
  const double first = first_of({dp::seed{7}, 3, 11, 2});
  CHECK(first_of({dp::seed{7}, 3, 11, 2}) == first);
  const std::set<double> all{first,
                             first_of({dp::seed{8}, 3, 11, 2}),
                             first_of({dp::seed{7}, 4, 11, 2}),
                             first_of({dp::seed{7}, 3, 12, 2}),
                             first_of({dp::seed{7}, 3, 11 + far, 2}),
                             first_of({dp::seed{7}, 3, 11, 3})};
  CHECK(all.size() == 6);
}

TEST_CASE("a sample's random numbers are uniform, and all of them differ", "[data]") {
  dp::sample_random random(dp::seed{1}, 0, 0, 0), again(dp::seed{1}, 0, 0, 0);
  constexpr std::size_t count = 7, draws = 70000;
  std::vector<std::size_t> found(count);
  std::set<double> numbers;
  for (std::size_t draw = 0; draw != draws; ++draw) {
    const double number = again.unit();
    REQUIRE(number >= 0);
    REQUIRE(number < 1);
    numbers.insert(number);
    const std::size_t k = random.below(count);
    REQUIRE(k < count);
    ++found[k];
  }
  CHECK(numbers.size() == draws);
  // A frequency has mean 10000 and standard deviation 93; the seed is fixed.
  for (const std::size_t frequency : found) {
    CHECK(frequency > 9500);
    CHECK(frequency < 10500);
  }
}

TEST_CASE("below(1) is 0", "[data]") {
  dp::sample_random random(dp::seed{1}, 0, 0, 0);
  for (int draw = 0; draw != 100; ++draw) CHECK(random.below(1) == 0);
}
