// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cuda/random.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <devplace/ops/random.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

constexpr std::size_t room = 6000;

/// The results of a kernel and of the CPU's loops, and the elements behind them.
template <class T> struct twice {
  mock::device_vector<T> by_kernel = mock::device_vector<T>(room, T(-7)), by_cpu = by_kernel;

  bool same_bits() const { return std::memcmp(by_kernel.data(), by_cpu.data(), room * sizeof(T)) == 0; }
};

template <class T> void check_fills(std::size_t n, std::size_t offset) {
  INFO(n << " elements of " << sizeof(T) << " bytes, offset " << offset);
  const dp::detail::random_sequence random(5, 6);
  const auto check = [&](const auto& body_for) {
    twice<T> result;
    const auto body = body_for(result.by_cpu.data() + offset);
    const std::size_t indices = body.indices(n);
    dp::detail::for_each_index<dp::backend::cpu>(0, indices, body.grain, body);
    const auto kernel = make_kernel(indices, body_for(result.by_kernel.data() + offset));
    CHECK(kernel.wide == (offset == 0));
    mock::run_kernel(2, kernel, 1);
    CHECK(result.same_bits());
    CHECK(result.by_kernel[offset] != T(-7));
  };
  check([&](T* to) { return dp::detail::uniform_body<T>{to, random, -2, 5, 2.875F}; });
  check([&](T* to) { return dp::detail::normal_body<T>{to, n, random, 0.25, 3.0}; });
}

template <class T> void check_dropout(std::size_t rows, std::size_t columns, std::size_t offset) {
  INFO(rows << " times " << columns << " elements of " << sizeof(T) << " bytes, offset " << offset);
  const std::size_t n = rows * columns;
  mock::device_vector<T> x(room);
  for (std::size_t i = 0; i < room; ++i) x[i] = static_cast<T>(static_cast<double>(i) - 0.5);
  twice<T> result;
  const auto body_for = [&](mock::device_vector<T>& y, const T* from) {
    return dp::detail::dropout_body<T>{y.data() + offset, from, columns, 1000, {{3, 4}}, 1ULL << 30, 1.25F};
  };
  dp::detail::for_each_index<dp::backend::cpu>(0, n, 100, body_for(result.by_cpu, x.data() + offset));
  const auto kernel = make_kernel(n, body_for(result.by_kernel, x.data() + offset));
  CHECK(kernel.wide == (offset == 0 && columns % kernel.group == 0));
  mock::run_kernel(2, kernel, 1);
  CHECK(result.same_bits());
  CHECK(std::count(result.by_cpu.begin(), result.by_cpu.end(), T{0}) > 0);
  // The gradient is the same function, here in place.
  std::copy_n(x.data() + offset, n, result.by_kernel.data() + offset);
  mock::run_kernel(3, make_kernel(n, body_for(result.by_kernel, result.by_kernel.data() + offset)), 2);
  CHECK(result.same_bits());
}

}  // namespace

TEMPLATE_TEST_CASE("random kernels give the CPU's bits", "[cuda]", float, double, dp::bf16) {
  for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 1024u, 4999u})
    for (const std::size_t offset : {0u, 1u}) check_fills<TestType>(n, offset);
}

TEMPLATE_TEST_CASE("the kernel of dropout gives the CPU's bits", "[cuda]", float, double, dp::bf16) {
  for (const std::size_t columns : {1u, 3u, 4u, 8u, 10u, 12u, 37u, 256u})
    for (const std::size_t offset : {0u, 1u}) check_dropout<TestType>(std::size_t{4000} / columns, columns, offset);
}
