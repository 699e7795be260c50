// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/reduce.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/statistics.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;
using dp::detail::reduction_layout;
using dp::detail::reduction_layout_of;

namespace {

/// A place's memory for reductions: tickets, which are 0, and accumulators, which are uninitialised (here NaN).
struct scratch {
  std::vector<unsigned> tickets = std::vector<unsigned>(dp::detail::most_partial_blocks);
  std::vector<double> room = std::vector<double>(2 * dp::detail::most_partial_blocks * dp::detail::most_block_columns,
                                                 std::numeric_limits<double>::quiet_NaN());
};

/// Runs a reduction as a GPU would, in at most `most` blocks.
template <class Source, class Reducer>
void reduce_source(scratch& memory, std::size_t outer, std::size_t count, std::size_t inner, const Source& source,
                   const Reducer& reducer, std::uint32_t seed = 1, std::size_t most = 1000) {
  const dp::detail::reduction_plan<Source, Reducer> plan{outer, count, inner, source, reducer};
  const auto run = [&](auto kernel) {
    kernel.tickets = memory.tickets.data();
    kernel.partials = reinterpret_cast<typename Reducer::accumulator*>(memory.room.data());
    simt::launch(static_cast<unsigned>(std::min(most, kernel.layout.blocks())), kernel, seed);
  };
  if (inner == 1)
    dp::detail::with_reduce_kernel<true>(plan, run);
  else
    dp::detail::with_reduce_kernel<false>(plan, run);
}

/// Runs a reduction of elements in memory.
template <class T, class Reducer>
void reduce(scratch& memory, std::size_t outer, std::size_t count, std::size_t inner, const T* data,
            const Reducer& reducer, std::uint32_t seed = 1, std::size_t most = 1000) {
  reduce_source(memory, outer, count, inner, dp::detail::element_source<T>{data}, reducer, seed, most);
}

/// Returns small integers, whose sums are exact in any order.
std::vector<float> small_integers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>((k * 7919) % 23) - 11;
  return x;
}

/// Returns numbers whose rounded sum depends on the order of summation.
std::vector<float> fractions(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k)
    x[k] = 1.0F / static_cast<float>(k * 7919 % 1009 + 1) * (k % 3 == 0 ? -1e4F : 1.0F);
  return x;
}

using shape = std::array<std::size_t, 3>;

enum class fault { none, fences, tickets, barriers };

/// A thread that omits one synchronising operation.
template <fault Fault> class careless_thread {
 public:
  explicit careless_thread(simt::thread& t) : t_(t) {}
  unsigned thread_index() const { return t_.thread_index(); }
  unsigned block_index() const { return t_.block_index(); }
  unsigned grid_size() const { return t_.grid_size(); }
  void sync() {
    if (Fault != fault::barriers) t_.sync();
  }
  void fence() {
    if (Fault != fault::fences) t_.fence();
  }
  unsigned ticket(unsigned* counter, unsigned limit) {
    return t_.ticket(counter, Fault == fault::tickets ? limit + 1 : limit);
  }
  template <class T> T shuffle_xor(T value, unsigned mask) { return t_.shuffle_xor(value, mask); }
  template <class T, std::size_t N, int Tag = 0> auto shared() { return t_.shared<T, N, Tag>(); }
  template <class T, unsigned N> auto load(const T* from) const { return t_.load<T, N>(from); }
  template <class T> void publish(T* to, const T& value) { t_.publish(to, value); }
  template <class T> T observe(const T* from) { return t_.observe(from); }

 private:
  simt::thread& t_;
};

template <class Kernel, fault Fault> struct with_fault {
  static constexpr unsigned threads = Kernel::threads;
  Kernel kernel;
  void operator()(simt::thread& t) const {
    careless_thread<Fault> careless(t);
    kernel(careless);
  }
};

/// Returns the violation that the emulator reports for a sum over several blocks by such threads.
template <fault Fault> std::string reported_violation() {
  scratch memory;
  const std::vector<float> x = small_integers(20'000);
  float sum = 0;
  using reducer = dp::detail::sum_reducer<float>;
  auto kernel =
      dp::detail::make_reduce_kernel<true, 4>(dp::detail::reduction_plan<dp::detail::element_source<float>, reducer>{
          1, x.size(), 1, {x.data()}, reducer{&sum, 0}});
  kernel.tickets = memory.tickets.data();
  kernel.partials = memory.room.data();
  try {
    simt::launch(static_cast<unsigned>(kernel.layout.blocks()), with_fault<decltype(kernel), Fault>{kernel}, 1);
  } catch (const simt::violation& found) {
    return found.what();
  }
  return sum == 0 ? "no sum" : "";
}

}  // namespace

TEST_CASE("detected: a reduction kernel without fences, barriers or reset of its tickets", "[cuda]") {
  CHECK(reported_violation<fault::none>().empty());
  CHECK_THAT(reported_violation<fault::fences>(),
             Catch::Matchers::ContainsSubstring("no chain of barriers, fences and a ticket"));
  CHECK_THAT(reported_violation<fault::tickets>(), Catch::Matchers::ContainsSubstring("a ticket counter is left at"));
  CHECK_THAT(reported_violation<fault::barriers>(), Catch::Matchers::ContainsSubstring("without a barrier between") ||
                                                        Catch::Matchers::ContainsSubstring("was never written"));
}

TEST_CASE("layouts of reductions: few sums are split over blocks, short ones share a block", "[cuda]") {
  const reduction_layout all = reduction_layout_of(1, 10'000'000, 1, 4);
  CHECK(all.lanes == 256);
  CHECK(all.chunks > 900);
  CHECK(all.chunks <= dp::detail::most_partial_blocks);
  CHECK(all.chunk % (256 * 4) == 0);
  CHECK(all.chunk * all.chunks >= 10'000'000);
  CHECK(all.chunk * (all.chunks - 1) < 10'000'000);

  const reduction_layout bias = reduction_layout_of(1, 65536, 256, 1);
  CHECK(bias.columns == 32);
  CHECK(bias.lanes == 8);
  CHECK(bias.tiles == 8);
  CHECK(bias.blocks() == 1024);

  const reduction_layout classes = reduction_layout_of(64, 10, 1, 4);
  CHECK(classes.lanes == 4);
  CHECK(classes.groups_per_block() == 64);
  CHECK(classes.blocks() == 1);
  CHECK(reduction_layout_of(100, 300, 1, 4).lanes == 32);
  CHECK(reduction_layout_of(100, 5000, 1, 4).lanes == 256);
  CHECK(reduction_layout_of(100'000, 5000, 1, 4).chunks == 1);
  CHECK(reduction_layout_of(3, 0, 5, 1).blocks() >= 1);
}

TEST_CASE("no reduction layout exceeds the workspace, and each covers its elements once", "[cuda]") {
  for (const std::size_t outer : {1u, 2u, 7u, 300u, 512u, 100'000u})
    for (const std::size_t count : {1u, 3u, 1000u, 1025u, 70'000u, 50'000'000u})
      for (const std::size_t inner : {1u, 2u, 10u, 33u, 256u, 20'000u})
        for (const unsigned width : {1u, 2u, 4u}) {
          INFO(outer << " x " << count << " x " << inner << ", width " << width);
          const unsigned results = inner == 1 || inner % width != 0 ? 1 : width;
          const reduction_layout a = reduction_layout_of(outer, count, inner, inner == 1 ? width : results);
          REQUIRE(a.group_threads() <= 256);
          REQUIRE(256 % a.group_threads() == 0);
          REQUIRE(a.tiles * a.columns * results >= inner);
          REQUIRE(a.columns * results <= dp::detail::most_block_columns);
          REQUIRE(a.sets * a.groups_per_block() >= a.groups);
          REQUIRE(a.chunk * a.chunks >= count);
          REQUIRE((a.chunk * (a.chunks - 1) < count));
          if (a.chunks == 1) continue;
          REQUIRE(a.groups_per_block() == 1);
          REQUIRE(a.blocks() <= dp::detail::most_partial_blocks);
        }
}

TEST_CASE("the reduction kernel's sums equal a loop's, for any shape and number of blocks", "[cuda]") {
  scratch memory;
  for (const auto& [o, c, i] : {shape{1, 1, 1},
                                {3, 5, 1},
                                {1, 64, 2},
                                {2, 63, 3},
                                {1, 1000, 1},
                                {4, 0, 2},
                                {5, 129, 1},
                                {70, 10, 1},
                                {3, 1030, 1},
                                {1, 20'001, 1},
                                {2, 4100, 1},
                                {1, 900, 40},
                                {2, 300, 10},
                                {9, 2, 3}}) {
    INFO(o << " x " << c << " x " << i);
    const std::vector<float> x = small_integers(o * c * i);
    std::vector<float> expected(o * i, 1.0F);
    for (std::size_t k = 0; k < x.size(); ++k) expected[k / (c * i) * i + k % i] += x[k];
    for (const std::size_t blocks : {1u, 3u, 1000u}) {
      std::vector<float> sums(o * i, 1.0F);
      reduce(memory, o, c, i, x.data(), dp::detail::sum_reducer<float>{sums.data(), 1.0F},
             static_cast<std::uint32_t>(blocks), blocks);
      CHECK(sums == expected);
    }
    std::vector<float> sums(o * i, std::numeric_limits<float>::quiet_NaN());  // must not be read with beta 0
    reduce(memory, o, c, i, x.data(), dp::detail::sum_reducer<float>{sums.data(), 0.0F}, 5);
    for (float& sum : sums) sum += 1;
    CHECK(sums == expected);
    std::vector<float> spread(2 * o * i, 1.0F);  // columns after columns, with gaps; elements of an expression
    reduce_source(memory, o, c, i, dp::detail::tree_source<float, dp::detail::linear_leaf<float>>{{x.data()}},
                  dp::detail::strided_reducer<dp::detail::sum_reducer<float>, 2>{
                      {spread.data(), 1.0F}, {o, i}, {2, static_cast<std::ptrdiff_t>(2 * o)}});
    for (std::size_t k = 0; k < o * i; ++k) CHECK(spread[2 * (k % i * o + k / i)] == expected[k]);
    for (std::size_t k = 0; k < o * i; ++k) CHECK(spread[2 * k + 1] == 1);
  }
}

TEST_CASE("a sum has the same bits whatever the order of blocks, their number and the alignment", "[cuda]") {
  scratch memory;
  for (const auto& [o, c, i] : {shape{1, 30'000, 1}, {2, 9000, 1}, {1, 700, 37}}) {
    INFO(o << " x " << c << " x " << i);
    const std::vector<float> x = fractions(o * c * i);
    const auto sums = [&, o = o, c = c, i = i](const float* data, std::uint32_t seed, std::size_t most) {
      std::vector<float> result(o * i);
      reduce(memory, o, c, i, data, dp::detail::sum_reducer<float>{result.data(), 0.0F}, seed, most);
      return result;
    };
    alignas(16) static std::array<float, 30'001> room;
    std::copy(x.begin(), x.end(), room.begin());
    const std::vector<float> first = sums(room.data(), 1, 1000);
    for (std::uint32_t seed = 2; seed < 6; ++seed) CHECK(sums(room.data(), seed, 1000) == first);
    CHECK(sums(room.data(), 1, 2) == first);
    std::copy(x.begin(), x.end(), room.begin() + 1);
    CHECK(sums(room.data() + 1, 1, 1000) == first);
  }
}

TEST_CASE("the reduction kernel finds the first of equal extrema, and NaN", "[cuda]") {
  scratch memory;
  for (const std::size_t n : {200u, 1100u, 12'000u}) {
    std::vector<float> x = small_integers(n);
    const auto position = [&] {
      std::int64_t result = -1;
      reduce(memory, 1, n, 1, x.data(), dp::detail::extremum_position_reducer<float, true>{&result}, 3);
      return result;
    };
    x[150] = x[70] = x[131] = x[n - 2] = 99;
    CHECK(position() == 70);
    x[n - 1] = std::numeric_limits<float>::quiet_NaN();
    CHECK(position() == static_cast<std::int64_t>(n) - 1);
    float largest = 0;
    reduce(memory, 1, n, 1, x.data(), dp::detail::extremum_reducer<float, true>{&largest}, 3);
    CHECK(largest != largest);
  }
}

TEST_CASE("positions along columns, split over blocks, and bytes four at a time", "[cuda]") {
  scratch memory;
  std::vector<float> x = small_integers(600 * 40);
  for (std::size_t column = 0; column < 40; ++column) x[(column * 13 + 5) * 40 + column] = x[599 * 40 + column] = 50;
  std::vector<std::int64_t> positions(40);
  reduce(memory, 1, 600, 40, x.data(), dp::detail::extremum_position_reducer<float, true>{positions.data()}, 2);
  for (std::size_t column = 0; column < 40; ++column)
    CHECK(positions[column] == static_cast<std::int64_t>(column * 13 + 5));

  const std::vector<std::uint8_t> bytes(9001, 200);
  std::int64_t sum = 0;
  reduce(memory, 1, bytes.size(), 1, bytes.data(), dp::detail::sum_reducer<std::uint8_t>{&sum, 0});
  CHECK(sum == 200 * 9001);
}

TEST_CASE("products, counts and functions of a statistic of each result's elements", "[cuda]") {
  scratch memory;
  for (const auto& [o, c, i] : {shape{1, 1, 1}, {3, 5, 1}, {4, 0, 2}, {70, 10, 1}, {1, 20'001, 1}, {2, 300, 10}}) {
    INFO(o << " x " << c << " x " << i);
    const std::vector<float> x = small_integers(o * c * i);
    std::vector<double> signs(x.size()), means(o * i);
    for (std::size_t r = 0; r < means.size(); ++r) means[r] = static_cast<double>(r % 7) - 3;
    std::vector<float> products(o * i, 1.0F), deviations(o * i);
    std::vector<std::int64_t> counts(o * i);
    std::vector<std::uint8_t> all(o * i, 1);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t r = k / (c * i) * i + k % i;
      signs[k] = x[k] < 0 ? -1 : x[k] == 0 ? 1.5 : 1;
      if (k / i % c < 40 || signs[k] != 1.5)
        products[r] *= static_cast<float>(signs[k]);
      else
        signs[k] = 1;
      counts[r] += x[k] != 0 ? 1 : 0;
      all[r] = all[r] != 0 && x[k] != 0;
      const double deviation = static_cast<double>(x[k]) - means[r];
      deviations[r] += static_cast<float>(deviation * deviation);
    }
    std::vector<double> found_products(o * i);
    reduce(memory, o, c, i, signs.data(), dp::detail::product_reducer<double>{found_products.data()}, 2);
    for (std::size_t r = 0; r < products.size(); ++r) CHECK(found_products[r] == static_cast<double>(products[r]));
    std::vector<std::int64_t> found_counts(o * i);
    using dp::detail::nonzero;
    const auto elements = static_cast<std::int64_t>(c);
    reduce(memory, o, c, i, x.data(),
           dp::detail::nonzero_reducer<float, nonzero::number>{found_counts.data(), elements}, 3);
    CHECK(found_counts == counts);
    std::vector<std::uint8_t> found_all(o * i);
    reduce(memory, o, c, i, x.data(), dp::detail::nonzero_reducer<float, nonzero::all>{found_all.data(), elements}, 4);
    CHECK(found_all == all);
    std::vector<float> found(o * i);
    reduce_source(memory, o, c, i,
                  dp::detail::statistic_source<float, double, dp::detail::squared_deviation>{x.data(), means.data()},
                  dp::detail::variance_reducer<float, false>{found.data(), 1}, 5);
    CHECK(found == deviations);
  }
}
