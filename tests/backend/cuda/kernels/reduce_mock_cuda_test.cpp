// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/reduce.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/ops/detail/reduce_on_place.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

/// Runs a reduction of elements in memory.
template <class T, class Reducer>
void reduce(std::size_t outer, std::size_t count, std::size_t inner, const T* data, const Reducer& reducer,
            unsigned seed = 1, std::size_t most = 1000) {
  using source = dp::detail::element_source<T>;
  mock::run_reduction(dp::detail::reduction_plan<source, Reducer>{outer, count, inner, {data}, reducer}, seed, most);
}

/// Returns small integers, whose sums are exact in any order.
mock::device_vector<float> small_integers(std::size_t n) {
  mock::device_vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>((k * 7919) % 23) - 11;
  return x;
}

/// Returns numbers whose rounded sum depends on the order of summation.
mock::device_vector<float> fractions(std::size_t n) {
  mock::device_vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k)
    x[k] = 1.0F / static_cast<float>(k * 7919 % 1009 + 1) * (k % 3 == 0 ? -1e4F : 1.0F);
  return x;
}

using shape = std::array<std::size_t, 3>;

enum class fault { none, fences, tickets, barriers };

/// A thread that omits one synchronising operation.
template <fault Fault> struct careless_thread : dp::detail::simt_thread {
  __device__ void sync() const {
    if (Fault != fault::barriers) simt_thread::sync();
  }
  __device__ void fence() const {
    if (Fault != fault::fences) simt_thread::fence();
  }
  __device__ unsigned ticket(unsigned* counter, unsigned limit) const {
    return simt_thread::ticket(counter, Fault == fault::tickets ? limit + 1 : limit);
  }
};

template <class Kernel, fault Fault> struct with_fault {
  static constexpr unsigned threads = Kernel::threads;
  Kernel kernel;
  template <class Thread> __device__ void operator()(Thread&) const {
    careless_thread<Fault> careless;
    kernel(careless);
  }
};

/// Returns what is found in a sum over several blocks of such threads.
template <fault Fault> std::string found_fault() {
  const auto x = small_integers(20'000);
  mock::device_vector<float> sum(1);
  using source = dp::detail::element_source<float>;
  using reducer = dp::detail::sum_reducer<float>;
  auto kernel = dp::detail::make_reduce_kernel<true, 4>(
      dp::detail::reduction_plan<source, reducer>{1, x.size(), 1, {x.data()}, reducer{sum.data(), 0}});
  mock::device_vector<unsigned> tickets(1);
  mock::device_vector<double> partials(kernel.layout.blocks());
  kernel.tickets = tickets.data();
  kernel.partials = partials.data();
  try {
    mock::run_kernel(kernel.layout.blocks(), with_fault<decltype(kernel), Fault>{kernel});
  } catch (const std::runtime_error& found) {
    return found.what();
  }
  return tickets[0] != 0 ? "a ticket that is not reset" : sum[0] == 0 ? "no sum" : "";
}

}  // namespace

TEST_CASE("the reduction kernel's sums equal a loop's, for any shape and number of blocks", "[cuda]") {
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
    const mock::device_vector<float> x = small_integers(o * c * i);
    mock::device_vector<float> expected(o * i, 1.0F);
    for (std::size_t k = 0; k < x.size(); ++k) expected[k / (c * i) * i + k % i] += x[k];
    for (const std::size_t blocks : {1u, 3u, 1000u}) {
      mock::device_vector<float> sums(o * i, 1.0F);
      reduce(o, c, i, x.data(), dp::detail::sum_reducer<float>{sums.data(), 1.0F}, static_cast<unsigned>(blocks),
             blocks);
      CHECK(sums == expected);
    }
    mock::device_vector<float> sums(o * i, std::numeric_limits<float>::quiet_NaN());  // must not be read with beta 0
    reduce(o, c, i, x.data(), dp::detail::sum_reducer<float>{sums.data(), 0.0F}, 5);
    for (float& sum : sums) sum += 1;
    CHECK(sums == expected);
    mock::device_vector<float> spread(2 * o * i, 1.0F);  // columns after columns, with gaps; elements of an expression
    using source = dp::detail::tree_source<float, dp::detail::linear_leaf<float>>;
    using reducer = dp::detail::strided_reducer<dp::detail::sum_reducer<float>, 2>;
    mock::run_reduction(dp::detail::reduction_plan<source, reducer>{
        o, c, i, {{x.data()}}, {{spread.data(), 1.0F}, {o, i}, {2, static_cast<std::ptrdiff_t>(2 * o)}}});
    for (std::size_t k = 0; k < o * i; ++k) CHECK(spread[2 * (k % i * o + k / i)] == expected[k]);
    for (std::size_t k = 0; k < o * i; ++k) CHECK(spread[2 * k + 1] == 1);
  }
}

TEST_CASE("a sum has the same bits whatever the order of blocks, their number and the alignment", "[cuda]") {
  for (const auto& [o, c, i] : {shape{1, 30'000, 1}, {2, 9000, 1}, {1, 700, 37}}) {
    INFO(o << " x " << c << " x " << i);
    const mock::device_vector<float> x = fractions(o * c * i);
    const auto sums = [&, o = o, c = c, i = i](const float* data, unsigned seed, std::size_t most) {
      mock::device_vector<float> result(o * i);
      reduce(o, c, i, data, dp::detail::sum_reducer<float>{result.data(), 0.0F}, seed, most);
      return result;
    };
    mock::device_vector<float> room(x.size() + 1);
    std::copy(x.begin(), x.end(), room.begin());
    const mock::device_vector<float> first = sums(room.data(), 1, 1000);
    for (unsigned seed = 2; seed < 6; ++seed) CHECK(sums(room.data(), seed, 1000) == first);
    CHECK(sums(room.data(), 1, 2) == first);
    std::copy(x.begin(), x.end(), room.begin() + 1);
    CHECK(sums(room.data() + 1, 1, 1000) == first);
  }
}

TEST_CASE("the reduction kernel finds the first of equal extrema, and NaN", "[cuda]") {
  for (const std::size_t n : {200u, 1100u, 12'000u}) {
    mock::device_vector<float> x = small_integers(n);
    const auto position = [&] {
      mock::device_vector<std::int64_t> result{-1};
      reduce(1, n, 1, x.data(), dp::detail::extremum_position_reducer<float, true>{result.data()}, 3);
      return result[0];
    };
    x[150] = x[70] = x[131] = x[n - 2] = 99;
    CHECK(position() == 70);
    x[n - 1] = std::numeric_limits<float>::quiet_NaN();
    CHECK(position() == static_cast<std::int64_t>(n) - 1);
    mock::device_vector<float> largest(1);
    reduce(1, n, 1, x.data(), dp::detail::extremum_reducer<float, true>{largest.data()}, 3);
    CHECK(largest[0] != largest[0]);
  }
}

TEST_CASE("positions along columns, split over blocks, and bytes four at a time", "[cuda]") {
  mock::device_vector<float> x = small_integers(600 * 40);
  for (std::size_t column = 0; column < 40; ++column) x[(column * 13 + 5) * 40 + column] = x[599 * 40 + column] = 50;
  mock::device_vector<std::int64_t> positions(40);
  reduce(1, 600, 40, x.data(), dp::detail::extremum_position_reducer<float, true>{positions.data()}, 2);
  for (std::size_t column = 0; column < 40; ++column)
    CHECK(positions[column] == static_cast<std::int64_t>(column * 13 + 5));

  const mock::device_vector<std::uint8_t> bytes(9001, 200);
  mock::device_vector<std::int64_t> sum(1);
  reduce(1, bytes.size(), 1, bytes.data(), dp::detail::sum_reducer<std::uint8_t>{sum.data(), 0});
  CHECK(sum[0] == 200 * 9001);
}

TEST_CASE("detected: a reduction kernel without fences, barriers or reset of its tickets", "[cuda]") {
  CHECK(found_fault<fault::none>() == "");
  CHECK_THAT(found_fault<fault::fences>(), Catch::Matchers::ContainsSubstring("a read that races with the write"));
  CHECK(found_fault<fault::tickets>() == "a ticket that is not reset");
  CHECK_THAT(found_fault<fault::barriers>(), Catch::Matchers::ContainsSubstring("races with the write") ||
                                                 Catch::Matchers::ContainsSubstring("nothing was written to"));
  CHECK_FALSE(mock::violations().empty());
}
