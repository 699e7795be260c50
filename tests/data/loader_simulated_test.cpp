// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/parallel/gather.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"

namespace dp = devplace;
using dp::dyn;
using support::numbered_images;

namespace {

const dp::loader_options options[] = {{.batch = 8, .shuffle = dp::seed{3}},
                                      {.batch = 8, .shuffle = dp::seed{3}, .workers = 2, .prefetch = 3}};

/// A value on one place or split over several, brought back.
template <class T, class Extents, class P>
auto on_host(const dp::tensor<T, Extents, dp::on<P>>& x) {
  return dp::to<dp::on<dp::cpu>>(x);
}
template <class T, class Extents, class... P>
auto on_host(const dp::tensor<T, Extents, dp::sharded_on<0, P...>>& x) {
  return dp::gather<dp::on<dp::cpu>>(x);
}

template <class Where>
auto read_placed(const dp::image_set& data, const dp::loader_options& how, int epoch) {
  dp::loader<Where> batches{data, how};
  support::epoch_contents<float, std::uint8_t> result;
  for (const auto& [images, labels] : batches.epoch(epoch)) {
    using images_type = std::remove_cvref_t<decltype(images)>;
    static_assert(std::is_same_v<typename images_type::placement_type, dp::batch_placement_t<Where>>);
    const auto samples = on_host(images);
    const auto classes = on_host(labels);
    result.samples.insert(result.samples.end(), samples.data(), samples.data() + samples.size());
    result.labels.insert(result.labels.end(), classes.data(), classes.data() + classes.size());
    result.batch_sizes.push_back(labels.extent(0));
  }
  return result;
}

}  // namespace

TEST_CASE("batches for a device, or split over devices, are those for the CPU", "[data]") {
  const dp::image_set data = numbered_images(41);
  dp::loader<dp::on<dp::cpu>> of_cpu{data, options[0]};
  for (const int epoch : {0, 2}) {
    const auto expected = support::read_epoch(of_cpu, epoch);
    REQUIRE(expected.batch_sizes == std::vector<std::size_t>{8, 8, 8, 8, 8, 1});
    for (const auto& how : options) {
      CAPTURE(how.workers, epoch);
      CHECK(read_placed<dp::on<dp::cuda<1>>>(data, how, epoch) == expected);
      CHECK(read_placed<dp::replicated<0>>(data, how, epoch) == expected);
      CHECK(read_placed<dp::replicated<0, 1, 2>>(data, how, epoch) == expected);
      CHECK(read_placed<dp::replicated<2, 0>>(data, how, epoch) == expected);
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

TEST_CASE("batches are split by the rule that the options name, small ones too", "[data]") {
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
        for (const std::uint8_t label : classes)
          CHECK(label == next++ % 10);
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

TEST_CASE("torch's split brings the same batches", "[data]") {
  const dp::image_set data = numbered_images(41);
  dp::loader<dp::on<dp::cpu>> of_cpu{data, options[0]};
  const auto expected = support::read_epoch(of_cpu, 1);
  auto how = options[1];
  how.split = dp::split::torch;
  CHECK(read_placed<dp::replicated<0, 1, 2>>(data, how, 1) == expected);
  CHECK(read_placed<dp::replicated<2, 0, 1, 3>>(data, how, 1) == expected);
  CHECK(read_placed<dp::on<dp::cuda<0>>>(data, how, 1) == expected);
}

TEST_CASE("a batch stays as it is for work that a device has not done yet", "[data]") {
  const dp::image_set data = numbered_images(64);
  for (const auto& how : options) {
    dp::loader<dp::on<dp::cuda<0>>> batches{data, how};
    dp::tensor<std::uint8_t, dp::extents<dyn>, dp::on<dp::cuda<0>>> kept(dp::extents<dyn>(64));
    std::size_t first = 0;
    for (const auto& batch : batches.epoch(0)) {
      dp::copy(kept.slice(first, first + 8), batch.labels);  // done later, on the device's thread
      first += 8;
    }
    const auto labels = dp::to<dp::on<dp::cpu>>(kept);
    dp::sampler expected(64, dp::seed{3});
    const auto order = expected.order(0);
    for (std::size_t i = 0; i < 64; ++i)
      CHECK(labels(i) == order[i] % 10);
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
    for (const auto& batch : batches.epoch(epoch))
      samples += batch.labels.extent(0);
  CHECK(counted() == before);
  CHECK(samples == 3 * 41);
}
