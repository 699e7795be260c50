// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/bucket_plan.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::parallel::bucket;

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
/// Elements behind the last parameter: the sums of weights and losses, padded.
constexpr std::size_t tail = 16;

template <class Net, class T = float> using model_of = dp::model<Net, dp::replicated<0, 1>, T>;
template <class Net, class Policy = collective::all_reduce<>, class T = float>
using plan_of = dp::bucket_plan<model_of<Net, T>, Policy>;

constexpr bool is(const bucket& b, std::size_t first, std::size_t count) {
  return b.first == first && b.count == count;
}

// 784-256-10 has 203,530 parameters, 0.8 MB: one bucket, including padding and sums.
using mnist = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
constexpr std::size_t mnist_elements = 784 * 256 + 256 + 2560 + 16 + tail;
static_assert(plan_of<mnist>::size == 1 && is(plan_of<mnist>::at(0), 0, mnist_elements));
static_assert(plan_of<mnist>::largest == mnist_elements);
// 1.6 MB in double: parameters are never split, so the large weight completes the first and only bucket.
static_assert(plan_of<mnist, collective::all_reduce<>, double>::size == 1);
// Independent of placement and policy.
static_assert(dp::bucket_plan<dp::model<mnist, dp::on<dp::cpu>>, collective::scatter_gather>::size == 1);

// Layers of 4 MiB: the first bucket ends with the parameter that reaches 1 MiB, later buckets end at 25 MiB.
using square = nn::linear<1024, 1024>;
using ten_squares = nn::sequential<square, square, square, square, square, square, square, square, square, square>;
constexpr std::size_t square_elements = 1024 * 1024 + 1024;
using ten = plan_of<ten_squares>;
static_assert(ten::size == 3);
static_assert(is(ten::at(0), 9 * square_elements, square_elements + tail));
// Six weights of 4 MiB are 24 MiB, so a seventh is included.
static_assert(is(ten::at(1), 2 * square_elements, 7 * square_elements));
static_assert(is(ten::at(2), 0, 2 * square_elements));
static_assert(ten::largest == 7 * square_elements);

// Other bucket sizes.
template <std::size_t First, std::size_t Others>
using with = collective::all_reduce<collective::direct, collective::buckets<First, Others>>;
using ones = plan_of<ten_squares, with<1, 1>>;
static_assert(ones::size == 20 && is(ones::at(0), 9 * square_elements + 1024 * 1024, 1024 + tail));
static_assert(is(ones::at(1), 9 * square_elements, 1024 * 1024) && is(ones::at(19), 0, 1024 * 1024));
static_assert(plan_of<ten_squares, with<400 * mib, 1>>::size == 1);
static_assert(plan_of<ten_squares, with<4 * mib, 8 * mib>>::size == 6);
using into_the_first = collective::reduce_and_broadcast<collective::ring, collective::buckets<4 * mib, 8 * mib>>;
static_assert(plan_of<ten_squares, into_the_first>::size == 6);

// Without parameters only the sums remain.
using nothing = nn::sequential<nn::input<4, 4>, nn::flatten>;
static_assert(plan_of<nothing>::size == 1 && is(plan_of<nothing>::at(0), 0, tail));

/// Properties of any plan, checked against a plain loop over parameters.
template <std::size_t Parameters>
void check(const std::array<std::size_t, Parameters>& sizes, std::size_t element_bytes, std::size_t first_bytes,
           std::size_t other_bytes) {
  std::array<std::size_t, Parameters> offsets{};
  std::size_t elements = 0;
  for (std::size_t p = 0; p < Parameters; ++p) {
    offsets[p] = elements;
    elements += sizes[p];
  }
  const dp::parallel::detail::bucket_list<Parameters> list(offsets, elements + tail, element_bytes, first_bytes,
                                                           other_bytes);
  REQUIRE(list.count >= 1);
  // Buckets run from the end to the start without gaps, so that every element is reduced exactly once.
  std::size_t end = elements + tail;
  std::vector<bool> is_border(elements + tail + 1, false);
  for (std::size_t i = 0; i < list.count; ++i) {
    REQUIRE(list.buckets[i].count > 0);
    REQUIRE(list.buckets[i].first + list.buckets[i].count == end);
    end = list.buckets[i].first;
    is_border[end] = true;
  }
  REQUIRE(end == 0);
  // Each bucket takes whole parameters until it is large enough; the last bucket takes the rest.
  std::size_t number = 0, bytes = tail * element_bytes;
  for (std::size_t p = Parameters; p-- > 0;) {
    bytes += sizes[p] * element_bytes;
    const bool full = bytes >= (number == 0 ? first_bytes : other_bytes);
    REQUIRE(is_border[offsets[p]] == (full || p == 0));
    if (full) bytes = 0, ++number;
  }
}

template <std::size_t Parameters> void check_random(std::mt19937& random) {
  for (int round = 0; round < 300; ++round) {
    std::array<std::size_t, Parameters> sizes{};
    for (std::size_t& size : sizes) size = 16 * (1 + random() % 40);
    const std::size_t first_bytes = 1 + random() % 6000;
    const std::size_t other_bytes = 1 + random() % 12000;
    check(sizes, round % 2 == 0 ? 4 : 8, first_bytes, other_bytes);
  }
}

}  // namespace

TEST_CASE("buckets cover the arena from end to start, in whole parameters", "[parallel]") {
  std::mt19937 random(3);
  check_random<1>(random);
  check_random<2>(random);
  check_random<5>(random);
  check_random<12>(random);
  check<2>({16, 16}, 4, 128, 1);  // exactly full
  check<2>({16, 16}, 4, 129, 1);  // one byte short
}

TEST_CASE("a bucket's description lists its parameters", "[parallel]") {
  CHECK(dp::describe_buckets<model_of<mnist>, collective::all_reduce<>>() ==
        "bucket 0: 0.weight to 2.bias, 814208 bytes\n");
  CHECK(dp::describe_buckets<model_of<mnist>, with<1, mib>>() ==
        "bucket 0: 2.bias, 128 bytes\n"
        "bucket 1: 0.weight to 2.weight, 814080 bytes\n");
  CHECK(dp::describe_buckets<model_of<nothing>, collective::scatter_gather>() == "bucket 0: no parameter, 64 bytes\n");
}
