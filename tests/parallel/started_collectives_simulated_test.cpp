// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives of one process that are started first and finished later.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>
#include <devplace/parallel/share.hpp>

#include "parallel/nine_devices.hpp"
#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using direct = dp::parallel::direct<cuda>;
using ring = dp::parallel::ring<cuda>;
static_assert(dp::parallel::overlapping_communicator<direct> && dp::parallel::overlapping_communicator<ring, double>);
static_assert(!dp::parallel::overlapping_communicator<dp::test::recording_communicator<cuda>>, "its members are few");

namespace {

/// One buffer per device, with numbers whose rounded sum depends on the order of summation.
struct buffers {
  std::size_t count;
  std::vector<dp::detail::memory_block> blocks;
  std::vector<float*> pointers;

  buffers(const std::vector<int>& ordinals, std::size_t n) : count(n) {
    std::uint32_t state = 7;
    for (const int ordinal : ordinals) {
      std::vector<float> values(n);
      for (float& value : values)
        value =
            static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 1e-7F * static_cast<float>(1 + ordinal);
      blocks.push_back(dp::detail::allocate<cuda>(ordinal, n * sizeof(float)));
      pointers.push_back(static_cast<float*>(blocks.back().data()));
      dp::detail::copy_in<cuda>(ordinal, pointers.back(), values.data(), n * sizeof(float));
    }
  }
  std::span<float* const> span() const { return pointers; }
  std::vector<std::vector<float>> read() const {
    std::vector<std::vector<float>> all;
    for (std::size_t k = 0; k != pointers.size(); ++k) {
      all.emplace_back(count);
      dp::detail::copy_out<cuda>(static_cast<int>(k), all.back().data(), pointers[k], count * sizeof(float));
    }
    return all;
  }
};

std::vector<int> first_ordinals(int n) {
  std::vector<int> ordinals(static_cast<std::size_t>(n));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

std::vector<std::size_t> shares(std::size_t count, std::size_t n) {
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k <= n; ++k) begins.push_back(dp::parallel::share_begin(count, n, k));
  return begins;
}

void mark_all(auto& communicator) {
  for (int k = 0; k != communicator.local_count(); ++k) communicator.mark_ready(static_cast<std::size_t>(k));
}

}  // namespace

TEMPLATE_TEST_CASE("started collectives give the results of plain collectives", "[parallel]", direct, ring) {
  const int n = GENERATE(1, 2, 3, 9);
  const auto ordinals = first_ordinals(n);
  const auto begins = shares(4000, ordinals.size());
  buffers expected_a(ordinals, 4000), expected_b(ordinals, 4000), expected_c(ordinals, 4000);
  TestType plain(ordinals);
  plain.all_reduce(expected_a.span(), 4000, dp::reduction::sum);
  plain.reduce(expected_b.span(), 4000, dp::reduction::max, n - 1);
  plain.reduce_scatter(expected_c.span(), begins, dp::reduction::sum);

  buffers a(ordinals, 4000), b(ordinals, 4000), c(ordinals, 4000);
  TestType starting(ordinals);
  starting.prepare(4000, sizeof(float));
  for (int step = 0; step != 2; ++step) {
    if (step == 1) a = buffers(ordinals, 4000), b = buffers(ordinals, 4000), c = buffers(ordinals, 4000);
    // Each start uses one mark of each device; further marks may follow before it.
    mark_all(starting);
    mark_all(starting);
    starting.start_all_reduce(a.span(), 4000, dp::reduction::sum);
    starting.progress();
    starting.start_reduce(b.span(), 4000, dp::reduction::max, n - 1);
    mark_all(starting);
    starting.start_reduce_scatter(c.span(), begins, dp::reduction::sum);
    starting.finish();
    CHECK(a.read() == expected_a.read());
    CHECK(b.read().back() == expected_b.read().back());
    const auto scattered = c.read(), expected = expected_c.read();
    for (std::size_t k = 0; k != ordinals.size(); ++k)
      CHECK(std::equal(scattered[k].data() + begins[k], scattered[k].data() + begins[k + 1],
                       expected[k].data() + begins[k]));
  }
}

TEMPLATE_TEST_CASE("starting a collective without marks or workspace throws, and the next start works", "[parallel]",
                   direct, ring) {
  const auto ordinals = first_ordinals(2);
  buffers a(ordinals, 100), expected(ordinals, 100);
  TestType communicator(ordinals);
  communicator.prepare(100, sizeof(float));
  const auto start = [&] { communicator.start_all_reduce(a.span(), 100, dp::reduction::sum); };
  CHECK_THROWS_WITH(start(), Catch::Contains("mark_ready"));
  communicator.mark_ready(0);
  CHECK_THROWS_WITH(start(), Catch::Contains("every participant"));
  communicator.abandon();
  communicator.mark_ready(1);  // the mark of device 0 is missing
  CHECK_THROWS_WITH(start(), Catch::Contains("every participant"));
  communicator.finish();
  CHECK_THROWS(communicator.mark_ready(2));
  mark_all(communicator);
  start();
  communicator.finish();
  communicator.all_reduce(expected.span(), 100, dp::reduction::sum);
  CHECK(a.read() == expected.read());
}

TEST_CASE("a collective is not started with too small a workspace", "[parallel]") {
  const auto ordinals = first_ordinals(2);
  buffers a(ordinals, 1000);
  ring communicator(ordinals);
  communicator.prepare(100, sizeof(float));
  mark_all(communicator);
  CHECK_THROWS_WITH(communicator.start_all_reduce(a.span(), 1000, dp::reduction::sum), Catch::Contains("prepare"));
  communicator.abandon();
  CHECK_NOTHROW(communicator.all_reduce(a.span(), 1000, dp::reduction::sum));
}

TEST_CASE("a failed device fails the others through a started collective", "[parallel]") {
  const auto ordinals = first_ordinals(2);
  buffers a(ordinals, 100);
  direct communicator(ordinals);
  communicator.prepare(100, sizeof(float));
  dp::detail::simulated_devices::at(1).submit([] { throw dp::error("the second device failed."); });
  mark_all(communicator);
  communicator.start_all_reduce(a.span(), 100, dp::reduction::sum);
  communicator.finish();
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), Catch::Contains("the second device failed."));
  CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
}
