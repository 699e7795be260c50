// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/reference.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace test = devplace::test;

namespace {

constexpr test::reference_training training{test::reference_run_adam};
constexpr std::uint64_t samples = test::reference_training::steps * test::reference_training::batch;

// Returns the sum of (i + 1) * value_i modulo 2^64 over the floats' bits, like generator.checksum in
// tests/reference/generator.py.
std::uint64_t checksum(const std::vector<float>& values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += (i + 1) * std::uint64_t{std::bit_cast<std::uint32_t>(values[i])};
  return sum;
}

std::uint64_t checksum(const std::vector<std::int64_t>& values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (i + 1) * static_cast<std::uint64_t>(values[i]);
  return sum;
}

}  // namespace

TEST_CASE("splitmix64 gives the published sequence for seed 0", "[support]") {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
  CHECK(test::splitmix64(0) == 0xE220A8397B1DCDAFU);
  CHECK(test::splitmix64(golden) == 0x6E789E6AA1B965F4U);
  CHECK(test::splitmix64(2 * golden) == 0x06C45D188009454FU);
}

// The expected numbers below are printed by tests/reference/make_fixtures.py.

TEST_CASE("the reference uniforms equal Python's", "[support]") {
  constexpr std::uint64_t seed = test::reference_seed(test::reference_run_adam, test::reference_stream::weight0);
  CHECK(test::reference_uniform(seed, 0) == 6483820 * 0x1p-24F);
  CHECK(test::reference_uniform(seed, 1) == 6877510 * 0x1p-24F);
  CHECK(test::reference_uniform(seed, 2) == 317945 * 0x1p-24F);
  CHECK(test::reference_uniform(seed, 3) == 10022607 * 0x1p-24F);
}

TEST_CASE("the reference labels equal Python's", "[support]") {
  const std::vector<std::int64_t> labels = training.labels(0, samples);
  CHECK(std::vector<std::int64_t>(labels.begin(), labels.begin() + 12) ==
        std::vector<std::int64_t>{1, 5, 1, 3, 3, 4, 0, 7, 5, 1, 6, 3});
  CHECK(checksum(labels) == 0x000000001602baafU);
  int changed = 0;
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    changed += training.label(sample) != static_cast<std::int64_t>(training.sample_class(sample)) ? 1 : 0;
  CHECK(changed == 1179);
}

TEST_CASE("the reference images equal Python's", "[support]") {
  constexpr std::size_t batch = test::reference_training::batch;
  const std::vector<float> first = training.images(0, batch);
  CHECK(first[0] == 76.0F / 1024.0F);
  CHECK(first[1] == -226.0F / 1024.0F);
  CHECK(first[2] == 206.0F / 1024.0F);
  CHECK(first[3] == -176.0F / 1024.0F);
  CHECK(checksum(first) == 0x247c2ae126f40000U);
  CHECK(checksum(training.images(samples - batch, batch)) == 0x2480ee6167f10000U);
}

TEST_CASE("the reference parameters equal Python's", "[support]") {
  CHECK(checksum(training.weight0()) == 0x471da6180d7f6760U);
  CHECK(checksum(training.bias0()) == 0x00003f72e8c505c3U);
  CHECK(checksum(training.weight1()) == 0x0018ac86da4f3484U);
  CHECK(checksum(training.bias1()) == 0x000000121faf4672U);
}

TEST_CASE("a reference path lies under the fixtures", "[support]") {
  CHECK(test::reference_path("layers.npz") == DEVPLACE_TEST_REFERENCE_DIR "/layers.npz");
}
