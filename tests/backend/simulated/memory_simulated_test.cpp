// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <devplace/backend/simulated/memory.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using gpu0 = dp::on<dp::cuda<0>>;
using gpu1 = dp::on<dp::cuda<1>>;
using host = dp::on<dp::cpu>;

namespace {

// Freed after the devices' threads have ended; sanitizers check that this is safe.
std::optional<dp::tensor<float, dp::extents<5>, gpu1>> outlives_main;

struct fill {
  std::uint8_t* data;
  std::size_t n;
  void operator()() const {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<std::uint8_t>(i);
  }
};

}  // namespace

TEST_CASE("a tensor goes to a simulated device, across devices and back", "[backend]") {
  const dp::tensor<float, dp::extents<2, 3>, host> a{{1, 2, 3}, {4, 5, 6}};
  const auto b = dp::to<gpu0>(a);
  const auto c = dp::to<gpu1>(b);
  const auto d = dp::to<host>(c.clone());
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(d(i, j) == a(i, j));
  outlives_main.emplace(1, 2, 3, 4, 5);
}

TEST_CASE("the source of a copy to a simulated device may be changed at once", "[backend]") {
  std::vector<std::int32_t> source(1000);
  std::iota(source.begin(), source.end(), 0);
  const std::size_t bytes = source.size() * sizeof(std::int32_t);
  const auto block = dp::detail::allocate<dp::backend::cuda>(0, bytes);
  dp::detail::copy_in<dp::backend::cuda>(0, block.data(), source.data(), bytes);
  source.assign(source.size(), -1);
  dp::detail::copy_out<dp::backend::cuda>(0, source.data(), block.data(), bytes);
  CHECK(source[0] == 0);
  CHECK(source[999] == 999);
}

TEST_CASE("a copy inside a simulated device may overlap and waits for the work before it", "[backend]") {
  const auto block = dp::detail::allocate<dp::backend::cuda>(1, 100);
  auto* bytes = static_cast<std::uint8_t*>(block.data());
  dp::detail::simulated_devices::at(1).submit(fill{bytes, 100});
  dp::detail::copy_within<dp::backend::cuda>(1, bytes + 10, bytes, 90);
  std::uint8_t result[100];
  dp::detail::copy_out<dp::backend::cuda>(1, result, bytes, 100);
  for (unsigned i = 0; i < 100; ++i) CHECK(unsigned{result[i]} == (i < 10 ? i : i - 10));
}

TEST_CASE("memory of a simulated device is freed after the work that uses it", "[backend]") {
  for (int round = 0; round < 200; ++round) {
    const auto block = dp::detail::allocate<dp::backend::cuda>(0, 64);
    dp::detail::simulated_devices::at(0).submit(fill{static_cast<std::uint8_t*>(block.data()), 64});
  }
  dp::synchronize<dp::cuda<0>>();
}

TEST_CASE("memory of simulated devices is counted for each device", "[backend]") {
  dp::synchronize<dp::cuda<2>>();
  const auto before = dp::memory_statistics<dp::cuda<2>>();
  const auto elsewhere = dp::memory_statistics<dp::cuda<3>>();
  const auto on_cpu = dp::memory_statistics<dp::cpu>();
  {
    const dp::tensor<double, dp::extents<10>, dp::on<dp::cuda<2>>> a{dp::extents<10>{}};
    const auto now = dp::memory_statistics<dp::cuda<2>>();
    CHECK(now.allocated == before.allocated + 80);
    CHECK(now.allocations == before.allocations + 1);
    CHECK(now.peak >= now.allocated);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data().get()) % 64 == 0);
  }
  CHECK(dp::memory_statistics<dp::cuda<2>>().allocated == before.allocated);
  CHECK(dp::memory_statistics<dp::cuda<3>>().allocations == elsewhere.allocations);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == on_cpu.allocations);
}

TEST_CASE("errors of a simulated device are thrown by its next synchronising call", "[backend]") {
  const auto block = dp::detail::allocate<dp::backend::cuda>(0, 8);
  const auto other = dp::detail::allocate<dp::backend::cuda>(1, 8);
  const auto fail = [] { dp::detail::simulated_devices::at(0).submit([] { throw dp::shape_error("late."); }); };
  std::uint64_t value = 1;
  fail();
  CHECK_THROWS_AS(dp::detail::copy_in<dp::backend::cuda>(0, block.data(), &value, 8), dp::shape_error);
  fail();
  CHECK_THROWS_AS(dp::detail::copy_out<dp::backend::cuda>(0, &value, block.data(), 8), dp::shape_error);
  fail();
  CHECK_THROWS_AS((dp::detail::copy_bytes<dp::backend::cuda, dp::backend::cuda>(1, other.data(), 0, block.data(), 8)),
                  dp::shape_error);
  fail();
  CHECK_NOTHROW(dp::synchronize<dp::cuda<1>>());
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::shape_error);
  CHECK_NOTHROW(dp::synchronize<dp::cuda<0>>());
}

TEST_CASE("an impossible allocation is an out_of_memory error that reports the memory in use", "[backend]") {
  if constexpr (!support::sanitized) {
    CHECK_THROWS_AS(dp::detail::allocate<dp::backend::cuda>(1, std::size_t{1} << 60), dp::out_of_memory);
    CHECK_THROWS_WITH(dp::detail::allocate<dp::backend::cuda>(1, std::size_t{1} << 60),
                      Catch::Matchers::ContainsSubstring("cuda:1 (simulated): 1152921504606846976 bytes") &&
                          Catch::Matchers::ContainsSubstring("in use by devplace"));
  }
}

TEST_CASE("a tensor on a device that is not simulated is refused", "[backend]") {
  using far = dp::on<dp::cuda<63>>;
  CHECK_THROWS_AS((dp::tensor<float, dp::extents<1>, far>{dp::extents<1>{}}), dp::placement_unavailable);
}
