// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/assign.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/view.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::dyn;

namespace {

using host = dp::on<dp::cpu>;
using gpu = dp::on<dp::cuda<0>>;

/// Elements that a kernel and the CPU can read and write, aligned for wide accesses or `offset` elements after such an
/// address.
template <class T, class Extents> struct room {
  mock::device_vector<T> elements;
  Extents extents;
  std::size_t offset;

  room(const Extents& e, std::size_t first, std::uint32_t seed)
      : elements(e.size() + first), extents(e), offset(first) {
    const auto values = mock::logits(elements.size(), seed);
    for (std::size_t i = 0; i < values.size(); ++i)
      elements[i] = static_cast<T>(std::is_integral_v<T> ? 8 + values[i] : values[i]);
  }
  template <class Where> dp::view<const T, Extents, Where> in(Where) const {
    return {elements.data() + offset, extents};
  }
  template <class Where> dp::view<T, Extents, Where> out(Where) { return {elements.data() + offset, extents}; }
};

/// Assigns on the GPU, and checks that the kernel writes all elements once, `at_once` of them by one access of up to 16
/// bytes or by several accesses of 16 bytes, and elements behind the last whole access one by one.
template <class To, class Expression>
void assign_on_gpu(const To& to, std::size_t at_once, const Expression& expression) {
  constexpr std::size_t bytes = sizeof(typename To::value_type);
  const mock::random_order in_order(static_cast<unsigned>(to.size()));
  dp::assign(to, dp::lazy(expression));
  dp::synchronize<dp::cuda<0>>();
  const auto& counts = mock::gpu_of_kernels().last_launch();
  CHECK(counts.global_write_bytes == to.size() * bytes);
  CHECK(counts.global_writes ==
        to.size() / at_once * std::max<std::size_t>(at_once * bytes / 16, 1) + to.size() % at_once);
}

/// Checks that the kernel computes the CPU's elements, writes nothing outside of them, and takes `at_once` of them.
template <class T, class Extents, class Formula, class... Operand>
void check(const Extents& extents, std::size_t offset, std::size_t at_once, const Formula& formula,
           const Operand&... operands) {
  room<T, Extents> by_kernel(extents, offset, 9), expected(extents, offset, 9);
  dp::assign(expected.out(host{}), dp::lazy(formula(operands.in(host{})...)));
  assign_on_gpu(by_kernel.out(gpu{}), at_once, formula(operands.in(gpu{})...));
  CHECK(by_kernel.elements == expected.elements);
}

using line = dp::extents<dyn>;
using matrix = dp::extents<dyn, dyn>;

constexpr auto add = [](const auto& a, const auto& b) { return a + b; };

}  // namespace

TEST_CASE("assignments use 16-byte accesses if all operands are aligned, and single ones for the rest", "[cuda]") {
  for (const std::size_t n : {1u, 3u, 4u, 1000u, 2051u}) {
    INFO(n << " elements");
    const line extents{n};
    const room<float, line> a(extents, 0, 1), b(extents, 0, 2), c(extents, 1, 3);
    const room<float, dp::extents<1>> one(dp::extents<1>{}, 0, 4);
    check<float>(extents, 0, 4, add, a, b);
    check<float>(extents, 1, 1, add, a, b);  // the destination is not aligned
    check<float>(extents, 0, 1, add, a, c);  // an operand is not aligned
    check<float>(
        extents, 0, 4, [](const auto& x, const auto& y, const auto& z) { return dp::relu(x * 2.0F - z) / y; }, a, b,
        one);
    check<std::uint8_t>(extents, 0, 8, [](const auto& x, const auto& y) { return x > y; }, a, b);
    const room<std::uint8_t, line> bytes(extents, 0, 6);
    check<std::uint8_t>(extents, 0, 16, add, bytes, bytes);
    check<float>(extents, 0, 8, [](const auto& x) { return dp::cast<float>(x) / 255.0F; }, bytes);
  }
}

TEST_CASE("elements of 16 bits have accesses of 16 bytes beside float, for every length", "[cuda]") {
  for (std::size_t n = 1; n <= 40; ++n) {
    INFO(n << " elements");
    const line extents{n};
    for (const std::size_t offset : {0u, 1u, 4u, 8u}) {
      const room<float, line> x(extents, offset, 1);
      const auto rounded = [](const auto& of) { return dp::cast<dp::bf16>(of); };
      check<dp::bf16>(extents, offset, offset % 8 == 0 ? 8 : 1, rounded, x);
      check<dp::bf16>(extents, 0, offset % 4 == 0 ? 8 : 1, rounded, x);  // float has two accesses
    }
  }
}

TEST_CASE("broadcasting keeps wide accesses if rows are a multiple of them", "[cuda]") {
  for (const std::size_t columns : {2u, 4u, 10u, 64u}) {
    INFO(columns << " columns");
    const matrix extents{30, columns};
    const room<float, matrix> x(extents, 0, 1), far(extents, 1, 2);
    const room<float, line> bias(line{columns}, 0, 3), far_bias(line{columns}, 2, 4);
    const room<float, dp::extents<dyn, 1>> scale(dp::extents<dyn, 1>{30}, 1, 5);
    const std::size_t whole = columns % 4 == 0 ? 4 : 1;
    check<float>(extents, 0, whole, add, x, bias);
    check<float>(extents, 0, whole, [](const auto& a, const auto& b) { return dp::relu(a) * b; }, x, scale);
    check<float>(extents, 0, 1, add, x, far_bias);
    check<float>(extents, 0, 1, add, far, bias);
    check<float>(extents, 1, 1, add, x, bias);
  }
  const dp::extents<3, 5, 8> cube;
  const room<float, dp::extents<3, 5, 8>> y(cube, 0, 6);
  const room<float, dp::extents<3, 1, 8>> planes(dp::extents<3, 1, 8>{}, 0, 7);
  const room<float, dp::extents<5, 1>> rows(dp::extents<5, 1>{}, 3, 8);
  check<float>(cube, 0, 4, [](const auto& a, const auto& b, const auto& c) { return a - b * c; }, y, planes, rows);
}

TEST_CASE("assignments with strides use wide accesses where rows consist of whole accesses", "[cuda]") {
  using dp::axis;
  for (const std::size_t pitch : {12u, 13u}) {
    for (const std::size_t columns : {1u, 4u, 6u, 8u}) {
      INFO(columns << " of " << pitch << " columns");
      const matrix whole{7, pitch};
      const room<float, matrix> x(whole, 0, 1);
      const room<float, dp::extents<dyn, 1>> scale(dp::extents<dyn, 1>{7}, 1, 3);
      const dp::extents<dyn, dyn> turned{columns, 7};
      const room<float, dp::extents<dyn, dyn>> t(turned, 0, 4);
      for (const std::size_t first : {0u, 1u, 4u}) {
        const auto part = [&](const auto& view) { return view.slice(axis<1>{}, first, first + columns); };
        const auto check_part = [&](std::size_t at_once, const auto& formula) {
          room<float, matrix> by_kernel(whole, 0, 9), expected(whole, 0, 9);
          dp::assign(part(expected.out(host{})), dp::lazy(formula(host{})));
          assign_on_gpu(part(by_kernel.out(gpu{})), at_once, formula(gpu{}));
          CHECK(by_kernel.elements == expected.elements);
        };
        const std::size_t at_once = pitch % 4 == 0 && columns % 4 == 0 && first % 4 == 0 ? 4 : 1;
        check_part(at_once, [&](auto on) { return dp::reversed(part(x.in(on)), axis<0>{}) * scale.in(on); });
        check_part(1, [&](auto on) { return dp::reversed(part(x.in(on)), axis<1>{}) * scale.in(on); });
        check_part(1, [&](auto on) { return part(x.in(on)) + t.in(on).permute(axis<1>{}, axis<0>{}); });
      }
    }
  }
}

TEST_CASE("assignment in place and filling by the kernel", "[cuda]") {
  const line extents{1003};
  room<float, line> by_kernel(extents, 0, 1), expected(extents, 0, 1);
  assign_on_gpu(by_kernel.out(gpu{}), 4, by_kernel.in(gpu{}) * 3.0F + by_kernel.in(gpu{}));
  dp::assign(expected.out(host{}), expected.in(host{}) * 3.0F + expected.in(host{}));
  CHECK(by_kernel.elements == expected.elements);
  const dp::detail::assign_linear<float, dp::detail::scalar_leaf<float>> body{by_kernel.elements.data(), {2.5F}};
  const auto kernel = make_kernel(1001, body);
  CHECK(kernel.groups == 250);
  mock::run_kernel(2, kernel);
  for (std::size_t i = 0; i < 1001; ++i) REQUIRE(by_kernel.elements[i] == 2.5F);
  CHECK(by_kernel.elements[1001] == expected.elements[1001]);
}
