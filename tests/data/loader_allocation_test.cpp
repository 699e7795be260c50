// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>

#include <devplace/data/loader.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/replaced_new.hpp"

namespace dp = devplace;

TEST_CASE("batches do not allocate, including the smaller last batch and a new order", "[data]") {
  const dp::image_set data = support::numbered_images(100);
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    dp::loader<dp::on<dp::cpu>> batches{data, {.batch = 16, .shuffle = dp::seed{2}, .workers = workers}};
    std::size_t sum = 0;
    const auto read = [&](int epoch) {
      for (const auto& [images, labels] : batches.epoch(epoch)) sum += images.size() + labels.size();
    };
    read(0);
    const std::uint64_t counted = dp::memory_statistics<dp::cpu>().allocations;
    const long all = support::allocations;
    for (int epoch = 1; epoch < 5; ++epoch) read(epoch);
    const long after = support::allocations;
    CHECK(after - all == 0);
    CHECK(dp::memory_statistics<dp::cpu>().allocations - counted == 0);
    CHECK(sum == 5 * 700);
  }
}

TEST_CASE("a loader frees all its memory", "[data]") {
  const dp::image_set data = support::numbered_images(100);
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  {
    dp::loader<dp::on<dp::cpu>> batches{data, {.batch = 16, .workers = 2, .prefetch = 2}};
    // Five slots of 16 images and labels, and one list of the order.
    CHECK(dp::memory_statistics<dp::cpu>().allocated - before == 5 * 16 * (6 * sizeof(float) + 1) + 100 * 8);
  }
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before);
}
