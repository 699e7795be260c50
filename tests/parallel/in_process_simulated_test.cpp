// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using direct = dp::parallel::direct<cuda>;
using ring = dp::parallel::ring<cuda>;
static_assert(dp::parallel::communicator<direct> && dp::parallel::communicator<ring, std::int32_t>);

namespace {

using begins = std::vector<std::size_t>;

std::vector<int> first_ordinals(int n) {
  std::vector<int> ordinals(static_cast<std::size_t>(n));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

/// One buffer on each device, filled from the host and copied back.
template <class T> struct buffers {
  std::vector<int> ordinals;
  std::size_t count;
  std::vector<dp::detail::memory_block> blocks;
  std::vector<T*> pointers;

  buffers(const std::vector<int>& on, const std::vector<std::vector<T>>& values)
      : ordinals(on), count(values.front().size()) {
    for (std::size_t k = 0; k < on.size(); ++k) {
      blocks.push_back(dp::detail::allocate<cuda>(on[k], (count + 1) * sizeof(T)));
      pointers.push_back(static_cast<T*>(blocks.back().data()));
      dp::detail::copy_in<cuda>(on[k], pointers.back(), values[k].data(), count * sizeof(T));
    }
  }
  std::vector<T> read(std::size_t k) const {
    std::vector<T> values(count);
    dp::detail::copy_out<cuda>(ordinals[k], values.data(), pointers[k], count * sizeof(T));
    return values;
  }
  std::span<T* const> span() const { return pointers; }
};

/// Numbers whose rounded sum depends on the order of summation.
template <class T> std::vector<std::vector<T>> values_of(std::size_t ranks, std::size_t count) {
  std::vector<std::vector<T>> values(ranks, std::vector<T>(count));
  std::uint64_t state = 12345;
  for (auto& rank : values)
    for (T& value : rank) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      if constexpr (std::is_floating_point_v<T>)
        value = static_cast<T>(std::ldexp(static_cast<double>(state >> 40), -24) - 0.5) *
                static_cast<T>(1 << (state >> 34 & 7));
      else
        value = static_cast<T>(static_cast<std::int64_t>(state >> 50) - 8000);
    }
  return values;
}

template <class T> T combined(T a, T b, dp::reduction op) {
  switch (op) {
    case dp::reduction::max:
      return std::max(a, b);
    case dp::reduction::min:
      return std::min(a, b);
    default:
      return a + b;
  }
}

/// Reduces one element over the ranks, in cyclic order from rank `first`.
template <class T>
T reduced(const std::vector<std::vector<T>>& values, std::size_t i, std::size_t first, dp::reduction op) {
  const std::size_t n = values.size();
  T total = values[first % n][i];
  for (std::size_t step = 1; step < n; ++step) total = combined(total, values[(first + step) % n][i], op);
  return op == dp::reduction::mean ? total / static_cast<T>(n) : total;
}

/// The first rank in an engine's order of summation for the elements that one rank completes.
std::size_t first_rank(const direct&, std::size_t) { return 0; }
std::size_t first_rank(const ring&, std::size_t owner) { return owner + 1; }

begins even(std::size_t count, std::size_t n) {
  begins result{0};
  for (std::size_t k = 0; k < n; ++k) result.push_back(result.back() + count / n + (k < count % n ? 1 : 0));
  return result;
}

/// Where the ranks' shares begin: cache lines of 16 elements, distributed as evenly as possible.
begins lines(std::size_t count, std::size_t n) {
  begins result = even((count + 15) / 16, n);
  for (std::size_t& begin : result) begin = std::min(16 * begin, count);
  return result;
}

std::size_t chunk_of(const begins& chunks, std::size_t i) {
  std::size_t chunk = 0;
  while (chunks[chunk + 1] <= i) ++chunk;
  return chunk;
}

template <class Engine, class T> void check_all(int n, std::size_t count, dp::reduction op) {
  INFO("n " << n << ", count " << count << ", operation " << static_cast<int>(op));
  const auto ordinals = first_ordinals(n);
  const auto ranks = static_cast<std::size_t>(n);
  const auto values = values_of<T>(ranks, count);
  const begins shares = lines(count, ranks);
  Engine engine(ordinals);

  buffers<T> all(ordinals, values);
  engine.all_reduce(all.span(), count, op);
  std::vector<T> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = reduced(values, i, first_rank(engine, chunk_of(shares, i)), op);
  for (std::size_t k = 0; k < ranks; ++k) REQUIRE(all.read(k) == expected);

  const int root = n / 2;
  buffers<T> one(ordinals, values);
  engine.reduce(one.span(), count, op, root);
  REQUIRE(one.read(static_cast<std::size_t>(root)) == expected);

  for (const begins& chunks : {even(count, ranks), shares}) {
    buffers<T> parts(ordinals, values);
    engine.reduce_scatter(parts.span(), chunks, op);
    for (std::size_t k = 0; k < ranks; ++k) {
      const auto part = parts.read(k);
      for (std::size_t i = chunks[k]; i < chunks[k + 1]; ++i)
        REQUIRE(part[i] == reduced(values, i, first_rank(engine, k), op));
    }
  }

  // Together both calls are bitwise equal to all_reduce.
  buffers<T> both(ordinals, values);
  engine.reduce_scatter(both.span(), shares, op);
  engine.all_gather(both.span(), shares);
  for (std::size_t k = 0; k < ranks; ++k) REQUIRE(both.read(k) == expected);
}

template <class Engine> void check_copies(int n, std::size_t count) {
  INFO("n " << n << ", count " << count);
  const auto ordinals = first_ordinals(n);
  const auto ranks = static_cast<std::size_t>(n);
  const auto values = values_of<double>(ranks, count);
  Engine engine(ordinals);
  for (int root = 0; root < n; ++root) {
    buffers<double> all(ordinals, values);
    engine.broadcast(all.span(), count, root);
    for (std::size_t k = 0; k < ranks; ++k) REQUIRE(all.read(k) == values[static_cast<std::size_t>(root)]);
  }
  begins parts = even(count / 3, ranks);  // the last part is by far the longest
  parts.back() = count;
  buffers<double> all(ordinals, values);
  engine.all_gather(all.span(), parts);
  std::vector<double> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = values[chunk_of(parts, i)][i];
  for (std::size_t k = 0; k < ranks; ++k) REQUIRE(all.read(k) == expected);
}

}  // namespace

TEMPLATE_TEST_CASE("collectives between devices add in the order that the engine documents", "[parallel]", direct,
                   ring) {
  for (int n = 1; n <= 9; ++n) {
    if (support::sanitized && n > 4 && n < 9) continue;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, static_cast<std::size_t>(n - 1),
                                    static_cast<std::size_t>(n), std::size_t{97}, std::size_t{1024}}) {
      for (const auto op : {dp::reduction::sum, dp::reduction::mean, dp::reduction::max, dp::reduction::min}) {
        check_all<TestType, float>(n, count, op);
        if (op != dp::reduction::mean) check_all<TestType, std::int32_t>(n, count, op);
      }
      check_copies<TestType>(n, count);
    }
  }
}

TEMPLATE_TEST_CASE("collectives on more elements than fit into caches", "[parallel]", direct, ring) {
  const std::size_t count = support::sanitized ? 200003 : 1000003;
  check_all<TestType, float>(3, count, dp::reduction::sum);
  check_copies<TestType>(3, count);
}

TEMPLATE_TEST_CASE("consecutive collectives do not wait for the host", "[parallel]", direct, ring) {
  const auto ordinals = std::vector<int>{2, 0, 1, 3};
  const std::vector<std::vector<double>> values{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  TestType engine(ordinals);
  buffers<double> all(ordinals, values);
  for (int i = 0; i < 50; ++i) {
    engine.all_reduce(all.span(), 2, dp::reduction::sum);
    engine.all_reduce(all.span(), 2, dp::reduction::mean);
    engine.broadcast(all.span(), 2, i % 4);
    engine.all_reduce(all.span(), 2, dp::reduction::mean);
    engine.all_reduce(all.span(), 1, dp::reduction::max);
    if (i % 2 == 1) {
      for (std::size_t k = 0; k < 4; ++k)
        dp::detail::copy_in<cuda>(ordinals[k], all.pointers[k], values[k].data(), 2 * sizeof(double));
    }
  }
  engine.all_reduce(all.span(), 2, dp::reduction::sum);
  for (std::size_t k = 0; k < 4; ++k) CHECK(all.read(k) == std::vector<double>{16, 20});
}

TEMPLATE_TEST_CASE("a maximum over places propagates NaN", "[parallel]", direct, ring) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t where = 0; where < 3; ++where) {
    std::vector<std::vector<double>> values{{1}, {2}, {3}};
    values[where][0] = nan;
    buffers<double> all({0, 1, 2}, values);
    TestType engine(all.ordinals);
    engine.all_reduce(all.span(), 1, where == 1 ? dp::reduction::min : dp::reduction::max);
    for (std::size_t k = 0; k < 3; ++k) CHECK(std::isnan(all.read(k)[0]));
  }
}

TEMPLATE_TEST_CASE("a communicator rejects misuse by name", "[parallel]", direct, ring) {
  buffers<float> all({0, 1}, {{1, 2}, {3, 4}});
  TestType engine(all.ordinals);
  CHECK(engine.size() == 2);
  CHECK(engine.first_rank() == 0);
  CHECK(engine.local_count() == 2);
  CHECK_THROWS_WITH(engine.broadcast(all.span(), 2, 2),
                    Catch::Matchers::ContainsSubstring("the root is rank 2; give one from 0 to 1"));
  CHECK_THROWS_WITH(engine.reduce(all.span(), 2, dp::reduction::sum, -1),
                    Catch::Matchers::ContainsSubstring("the root is rank -1"));
  CHECK_THROWS_WITH(engine.all_reduce(all.span().first(1), 2, dp::reduction::sum),
                    Catch::Matchers::ContainsSubstring("1 buffers were given for 2 places"));
  CHECK_THROWS_WITH(engine.all_gather(all.span(), begins{0, 2, 1}),
                    Catch::Matchers::ContainsSubstring("must be ascending numbers"));
  CHECK_THROWS_WITH(engine.all_gather(all.span(), begins{0, 2}),
                    Catch::Matchers::ContainsSubstring("one more than there are participants"));
  buffers<std::int32_t> integers({0, 1}, {{1, 2}, {3, 4}});
  std::vector<std::uint64_t> calls;
  for (const int ordinal : all.ordinals) calls.push_back(dp::detail::simulated_devices::at(ordinal).now().calls);
  CHECK_THROWS_WITH(engine.all_reduce(integers.span(), 2, dp::reduction::mean),
                    Catch::Matchers::ContainsSubstring("a mean over places is defined for float and double"));
  for (const int ordinal : all.ordinals)  // enqueued work would read buffers that the program frees
    CHECK(dp::detail::simulated_devices::at(ordinal).now().calls == calls[static_cast<std::size_t>(ordinal)]);
  CHECK_THROWS_AS(TestType(std::vector<int>{}), dp::argument_error);
  CHECK_THROWS_AS(TestType(std::vector<int>{0, 77}), dp::placement_unavailable);
}

TEMPLATE_TEST_CASE("a failure on one device propagates to all devices of a collective", "[parallel]", direct, ring) {
  for (const int n : {2, 3, 5}) {
    const auto ordinals = first_ordinals(n);
    const auto values = values_of<double>(static_cast<std::size_t>(n), 10);
    buffers<double> all(ordinals, values);
    TestType engine(ordinals);
    dp::detail::simulated_devices::at(n - 1).submit([] { throw dp::argument_error("refused."); });
    engine.all_reduce(all.span(), 10, dp::reduction::sum);
    for (const int ordinal : ordinals) {
      const auto failure = dp::detail::events_of<cuda>().drain(ordinal);
      REQUIRE(failure);
      CHECK(failure.ordinal == n - 1);
    }
    engine.all_reduce(all.span(), 10, dp::reduction::max);
    for (const int ordinal : ordinals) CHECK_FALSE(dp::detail::events_of<cuda>().drain(ordinal));
  }
}
