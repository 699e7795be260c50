// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cpu/detail/reduced_block.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <devplace/backend/cpu/detail/float_reductions.hpp>
#include <devplace/backend/cpu/detail/vector_loops.hpp>
#include <devplace/backend/cpu/reduce.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/statistics.hpp>

#include "support/catch.hpp"

namespace {

namespace detail = devplace::detail;

using floats = detail::element_source<float>;

constexpr std::size_t most = 200;

std::vector<float> numbers(std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i != count; ++i) x[i] = static_cast<float>(std::sin(static_cast<double>(i * i + 1)));
  return x;
}

/// Reduces x with `make_reducer(address of the result)` as operations do, and by the loops for the target of the
/// command line unless float_reductions.hpp has other loops; returns the result.
template <class Result, class MakeReducer>
Result reduced(const std::vector<float>& x, const MakeReducer& make_reducer) {
  const auto by = [&](const auto& run) {
    Result result{};
    const auto reducer = make_reducer(&result);
    const detail::reduction_plan<floats, std::remove_const_t<decltype(reducer)>> plan{
        1, x.size(), 1, {x.data()}, reducer};
    run(plan, detail::reduced_groups{1, 1});
    return result;
  };
  const Result result = by([&]<class Reducer>(const detail::reduction_plan<floats, Reducer>& plan, const auto& groups) {
    detail::reduction_functions_of<floats, Reducer>.reduce(&plan, groups, 0, x.size(), nullptr, 0, 1);
  });
  by([&]<class Reducer>(const detail::reduction_plan<floats, Reducer>& plan, const auto& groups) {
    if (detail::reduces_floats<floats, Reducer> && x.size() >= 64) return;
    const Result before = result;
    detail::range_for_target(detail::reduced_block<floats, Reducer>{plan, groups, 0, x.size(), nullptr}, 0, 1);
    CHECK(std::memcmp(plan.reducer.result, &before, sizeof(Result)) == 0);
  });
  return result;
}

/// Returns the sum of at least 64 floats as documented for the CPU: 32 sums in double, each of every 32nd element,
/// which are then added by halves.
double sum_by_lanes(const std::vector<float>& x) {
  double lanes[32] = {};
  for (std::size_t i = 0; i != x.size(); ++i) lanes[i % 32] += static_cast<double>(x[i]);
  for (std::size_t half = 16; half != 0; half /= 2)
    for (std::size_t lane = 0; lane != half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

constexpr std::size_t unit = 4096, chunk = 4 * unit;

/// Returns the sum of elements [begin, end) as documented for the CPU: of blocks, combined by halves.
double sum_by_halves(const std::vector<float>& x, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t i) { return x.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t blocks = (end - begin + unit - 1) / unit;
  if (blocks == 1) return sum_by_lanes({at(begin), at(end)});
  const std::size_t middle = begin + blocks / 2 * unit;
  return sum_by_halves(x, begin, middle) + sum_by_halves(x, middle, end);
}

}  // namespace

TEST_CASE("sums of several blocks have the bits of the blocks' sums, combined by halves", "[backend]") {
  for (const std::size_t count : {unit, 2 * unit, 3 * unit, 5 * unit, 5 * unit + 100, 8 * chunk + 3 * unit}) {
    std::vector<float> x = numbers(count);
    for (std::size_t i = 0; i != count; ++i) x[i] = std::ldexp(x[i], static_cast<int>(i * 37 % 61));
    double sum = 0;
    detail::reduce<devplace::backend::cpu>(
        0, detail::reduction_plan{1, count, 1, floats{x.data()}, detail::sum_reducer<float, double>{&sum, 0}});
    std::vector<double> expected;  // threads sum chunks of a long array, which are then combined pairwise
    for (std::size_t begin = 0, step = count < 4 * chunk ? count : chunk; begin < count; begin += step)
      expected.push_back(sum_by_halves(x, begin, std::min(begin + step, count)));
    for (std::size_t step = 1; step < expected.size(); step *= 2)
      for (std::size_t i = 0; i + step < expected.size(); i += 2 * step) expected[i] += expected[i + step];
    CHECK(sum == expected[0]);
  }
  // 16 groups are not divided into chunks; 64 blocks are summed by one call, more by several.
  for (const std::size_t blocks : {std::size_t{64}, std::size_t{65}, std::size_t{130}}) {
    const std::size_t groups = 16, count = blocks * unit;
    std::vector<float> x = numbers(groups * count);
    for (std::size_t i = 0; i != x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i * 37 % 61));
    std::vector<double> sums(groups), expected(groups);
    detail::reduce<devplace::backend::cpu>(
        0,
        detail::reduction_plan{groups, count, 1, floats{x.data()}, detail::sum_reducer<float, double>{sums.data(), 0}});
    for (std::size_t row = 0; row != groups; ++row) expected[row] = sum_by_halves(x, row * count, (row + 1) * count);
    CHECK(sums == expected);
  }
}

TEST_CASE("sums of a block have the same bits by every instruction set, for every length", "[backend]") {
  for (std::size_t count = 0; count <= most; ++count) {
    std::vector<float> x = numbers(count);
    for (std::size_t i = 0; i != count; ++i)  // different magnitudes, so that the order of the additions is visible
      x[i] = std::ldexp(x[i], static_cast<int>(i * 37 % 61));
    double expected = 0;
    for (const float value : x) expected += static_cast<double>(value);
    const auto sum = reduced<double>(x, [](double* to) { return detail::sum_reducer<float, double>{to, 0}; });
    if (count >= 64) CHECK(sum == sum_by_lanes(x));
    CHECK(sum == Catch::Approx(expected).epsilon(1e-7).margin(1e-12));
    reduced<float>(x, [](float* to) { return detail::product_reducer<float>{to}; });
    reduced<float>(x, [](float* to) { return detail::norm_reducer<float, 2>{to}; });
  }
}

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("reductions of floats prefetch, but not on AMD's family 25", "[backend]") {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool family =
      text.find("AuthenticAMD") != std::string::npos && text.find("cpu family\t: 25\n") != std::string::npos;
  CHECK(detail::prefetched_ahead() == (family ? 0U : 4096U));
}
#endif

TEST_CASE("sums of rows and of columns of floats have the same bits by every instruction set", "[backend]") {
  std::vector<float> x = numbers(3 * most);
  for (std::size_t i = 0; i != x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i * 37 % 61));
  const detail::cpu_isa isa = detail::supported_isa();
  for (std::size_t n = 64; n <= most; ++n) {
    std::vector<double> expected(3), sums(3), for_avx2(3), for_avx512(3);
    for (std::size_t row = 0; row != 3; ++row)
      expected[row] = sum_by_lanes(
          {x.begin() + static_cast<std::ptrdiff_t>(row * n), x.begin() + static_cast<std::ptrdiff_t>((row + 1) * n)});
    detail::sums_in_lanes(sums.data(), x.data(), n, 3);
    CHECK(sums == expected);
#if defined(__x86_64__)
    if (isa >= detail::cpu_isa::avx2) {
      detail::sums_for_avx2(for_avx2.data(), x.data(), n, 3);
      CHECK(for_avx2 == expected);
    }
    if (isa >= detail::cpu_isa::avx512) {
      detail::sums_for_avx512(for_avx512.data(), x.data(), n, 3);
      CHECK(for_avx512 == expected);
    }
#endif
  }
#if defined(__x86_64__)
  if (isa >= detail::cpu_isa::avx512) {
    std::vector<double> sums(64), expected(64);
    for (std::size_t row = 0; row != 5; ++row)
      for (std::size_t column = 0; column != 64; ++column)
        expected[column] += static_cast<double>(x[row * 70 + column]);
    detail::columns_for_avx512(sums.data(), x.data(), 70, 5);
    CHECK(sums == expected);
  }
#endif
}

TEST_CASE("functions of a block's elements and a statistic have the same bits by every instruction set", "[backend]") {
  for (std::size_t count = 1; count <= most; ++count) {
    const std::vector<float> x = numbers(2 * count);
    const std::vector<float> shifts{0.5F, 0.25F};
    using source = detail::statistic_source<float, float, detail::shifted_exponential>;
    using reducer = detail::logsumexp_reducer<float>;
    const auto by = [&](std::size_t outer, std::size_t inner, const auto& run) {
      std::vector<float> result(2);
      const detail::reduction_plan<source, reducer> plan{
          outer, count, inner, {x.data(), shifts.data()}, {result.data(), shifts.data()}};
      const detail::reduced_groups groups{outer, inner};
      run(detail::reduced_block<source, reducer>{plan, groups, 0, count, nullptr}, groups.count());
      return result;
    };
    for (const bool along : {false, true}) {
      const std::size_t outer = along ? 2 : 1, inner = along ? 1 : 2;
      const auto best = by(outer, inner, [](const auto& block, std::size_t n) { detail::run_range(block, 0, n); });
      CHECK(best == by(outer, inner, [](const auto& block, std::size_t n) { detail::range_for_target(block, 0, n); }));
      for (std::size_t r = 0; r != 2; ++r) {
        double sum = 0;
        for (std::size_t k = 0; k != count; ++k)
          sum += std::exp(static_cast<double>(x[along ? r * count + k : k * 2 + r]));
        CHECK(static_cast<double>(best[r]) == Catch::Approx(std::log(sum)).epsilon(1e-6).margin(1e-6));
      }
    }
  }
}

TEST_CASE("the largest element of a block and its position are found at every position, NaN too", "[backend]") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{64}, std::size_t{135}}) {
    for (const float special : {2.0F, std::numeric_limits<float>::quiet_NaN()}) {
      bool found = true;
      for (std::size_t at = 0; at != count; ++at) {
        std::vector<float> x = numbers(count);
        x[at] = special;
        const auto largest = reduced<float>(x, [](float* to) { return detail::extremum_reducer<float, true>{to}; });
        const auto position = reduced<std::int64_t>(
            x, [](std::int64_t* to) { return detail::extremum_position_reducer<float, true>{to}; });
        found = found && std::memcmp(&largest, &special, sizeof(float)) == 0;
        found = found && position == static_cast<std::int64_t>(at);
      }
      CHECK(found);
    }
  }
}
