// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loaders over processes, for which threads stand in, together give the batches of one process.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/data/transforms.hpp>

#include "data/epoch_on_host.hpp"
#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::in_processes;
using support::numbered_images;

namespace {

void require(bool fact, const std::string& what) {
  if (!fact) throw std::logic_error(what);
}

/// Compares the parts of process `group.rank()` with the rows of the whole batches of an epoch.
template <class Where, class Loader, class Expected>
void require_own_parts(const dp::process_group& group, Loader& batches, dp::split::rule rule, int epoch,
                       const Expected& whole) {
  std::size_t number = 0, first_of_batch = 0;
  constexpr std::size_t places = dp::local_place_count<Where>;
  const auto all = static_cast<std::size_t>(group.size()) * places,
             first = static_cast<std::size_t>(group.rank()) * places;
  require(batches.samples() == std::accumulate(whole.batch_sizes.begin(), whole.batch_sizes.end(), std::size_t{0}),
          "samples() is not that of all processes.");
  for (const auto& [images, labels] : batches.epoch(epoch)) {
    const std::size_t rows = whole.batch_sizes.at(number++);
    require(images.extent(0) == rows && labels.extent(0) == rows, "a batch has other extents.");
    require(images.participants() == dp::participants{first, all}, "the batch is divided among others.");
    for (std::size_t k = 0; k != places; ++k) {
      const auto samples = dp::to<dp::cpu>(images.local(k));
      const auto targets = dp::to<dp::cpu>(labels.local(k));
      const std::size_t begin = dp::detail::split_begin(rule, rows, all, first + k),
                        end = dp::detail::split_begin(rule, rows, all, first + k + 1);
      require(targets.extent(0) == end - begin, "a part has " + std::to_string(targets.extent(0)) + " rows.");
      const auto equal = [&](const auto& part, const auto& expected) {
        const std::size_t width = part.extents().stride(0);
        return std::equal(part.data(), part.data() + part.size(), expected.data() + (first_of_batch + begin) * width);
      };
      require(equal(targets, whole.labels), "a label differs.");
      require(equal(samples, whole.samples), "a sample differs.");
    }
    first_of_batch += rows;
  }
  require(number == whole.batch_sizes.size(), "there are other numbers of batches.");
}

}  // namespace

TEST_CASE("the processes' loaders divide the batches of one process without repetition or omission", "[data]") {
  const dp::image_set data = numbered_images(41);
  for (const int workers : {0, 2})
    for (const auto rule : {dp::split::even, dp::split::torch})
      for (const bool drop_last : {false, true}) {
        CAPTURE(workers, drop_last);
        const dp::loader_options how{
            .batch = 9, .shuffle = dp::seed{3}, .drop_last = drop_last, .workers = workers, .split = rule};
        dp::loader<dp::on<dp::cpu>> of_one{data, how};
        for (const int epoch : {0, 2}) {
          const auto whole = support::read_epoch(of_one, epoch);
          const auto compare = [&](int processes, auto where) {
            CHECK_NOTHROW(in_processes(processes, [&](const dp::process_group& group) {
              const dp::process_scope scope{group};
              dp::loader<decltype(where)> batches{data, how};
              require_own_parts<decltype(where)>(group, batches, how.split, epoch, whole);
            }));
          };
          compare(1, dp::across<dp::on<dp::cpu>>{});
          compare(4, dp::across<dp::on<dp::cpu>>{});
          compare(3, dp::across<dp::on<dp::cuda<1>>>{});
          compare(2, dp::across<dp::replicated<2, 0, 1>>{});
          compare(12, dp::across<dp::on<dp::cpu>>{});
        }
      }
}

TEST_CASE("a loader over processes makes only the samples of its own process", "[data]") {
  const dp::image_set data = numbered_images(40);
  std::vector<int> made(40);  // each element is written by one thread
  in_processes(4, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::loader<dp::across<dp::on<dp::cpu>>> batches{
        data, {.batch = 8, .shuffle = dp::seed{1}}, [&](std::span<float>, std::size_t index, int) { ++made[index]; }};
    for (const auto& batch : batches.epoch(0)) require(batch.labels.extent(0) == 8, "a batch is not of 8 samples.");
  });
  CHECK(made == std::vector<int>(40, 1));
}

TEST_CASE("mixup over processes equals mixup in one process", "[data]") {
  dp::tensor<float, dp::extents<20, 1, 2>, dp::on<dp::cpu>> features(dp::extents<20, 1, 2>{});
  dp::tensor<float, dp::extents<20>, dp::on<dp::cpu>> targets(dp::extents<20>{});
  for (std::size_t i = 0; i < 20; ++i) features(i, 0, 0) = targets(i) = static_cast<float>(i), features(i, 0, 1) = 1;
  const dp::transforms mixing{dp::extents<1, 2>{}, dp::seed{1}, dp::horizontal_flip{}, dp::mixup{.alpha = 1}};
  const dp::loader_options how{.batch = 8, .shuffle = dp::seed{3}};
  auto of_one = dp::make_loader<dp::on<dp::cpu>>(features, targets, how, mixing);
  const auto whole = support::read_epoch(of_one, 1);
  CHECK_NOTHROW(in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    auto batches = dp::make_loader<dp::across<dp::on<dp::cpu>>>(features, targets, how, mixing);
    std::size_t first = 0;
    for (const auto& [images, labels] : batches.epoch(1)) {
      const std::size_t rank = static_cast<std::size_t>(group.rank()), rows = labels.extent(0);
      const std::size_t begin = first + dp::detail::split_begin(how.split, rows, 3, rank);
      const auto part = labels.local(0);
      for (std::size_t i = 0; i != part.size(); ++i)
        require(part.data()[i] == whole.labels.at(begin + i) &&
                    images.local(0).data()[2 * i] == whole.samples.at(2 * (begin + i)),
                "a mixed sample differs.");
      first += rows;
    }
    require(first == 20, "samples are missing.");
  }));
}

TEST_CASE("images and masks are moved over processes as in one process", "[data]") {
  const support::segmented_images data(20);
  const dp::transforms augment{dp::extents<2, 5, 5>{}, dp::seed{3}, dp::random_rotation{.degrees = 90},
                               dp::with_targets{.fill = -100}};
  const dp::loader_options how{.batch = 8, .shuffle = dp::seed{3}};
  auto of_one = dp::make_loader<dp::on<dp::cpu>>(data.images, data.masks, how, augment);
  const auto whole = support::read_epoch(of_one, 1);
  const auto compare = [&](int processes, auto where) {
    CHECK_NOTHROW(in_processes(processes, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      auto batches = dp::make_loader<decltype(where)>(data.images, data.masks, how, augment);
      require_own_parts<decltype(where)>(group, batches, how.split, 1, whole);
    }));
  };
  compare(3, dp::across<dp::on<dp::cpu>>{});
  compare(3, dp::across<dp::on<dp::cuda<1>>>{});
  compare(2, dp::across<dp::replicated<2, 0, 1>>{});
}

TEST_CASE("a loader over processes needs a process_scope", "[data]") {
  const dp::image_set data = numbered_images(4);
  CHECK_THROWS_WITH(
      (dp::loader<dp::across<dp::on<dp::cpu>>>{data, {.batch = 2}}),
      ContainsSubstring("loader: its placement lies across processes, and this thread has no process_scope."));
}
