// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/assign.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/tensor/view.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;
using dp::dyn;
using on_cpu = dp::on<dp::cpu>;

namespace {

/// A backend with the CPU's memory whose assignments run as GPU kernels in the emulator.
struct emulated {};
bool was_wide = false;
unsigned width = 0;

}  // namespace

template <> struct devplace::implementation<emulated, devplace::op::for_each> {
  template <class Body> static void run(int, std::size_t n, std::size_t, const Body& body) {
    const auto kernel = make_kernel(n, body);
    was_wide = kernel.groups != 0;
    width = kernel.body.width;
    REQUIRE(kernel.groups * width <= n);
    simt::launch(2, kernel, 1);
  }
};

namespace {

template <class T, class Extents> using window = dp::view<T, Extents, on_cpu>;

/// Assigns like dp::assign on a CPU without overlap, but by the emulated kernel.
template <class T, class Extents, class Layout, class Expression>
void assign_by_kernel(const dp::view<T, Extents, on_cpu, Layout>& to, const Expression& expression) {
  constexpr std::size_t count = dp::detail::tensor_count<Expression>;
  constexpr bool strides = dp::detail::may_need_strides<Expression, Extents> || std::is_same_v<Layout, dp::strided>;
  const dp::detail::shape shape = dp::detail::shape_of(to.extents());
  dp::detail::evaluation<count> plan{shape, {}};
  dp::detail::layout_reader reader{shape, 0, plan.layouts};
  expression.visit(reader);
  plan.layouts[count] = dp::detail::layout_of(to, shape);
  if constexpr (strides) dp::detail::collapse(plan.axes, plan.layouts, count + 1);
  dp::detail::run<Layout, strides, Extents::rank, emulated>(0, to.data(), expression, plan);
}

/// Elements with `Extents`, aligned for wide accesses or `offset` elements after such an address.
template <class T, class Extents> struct room {
  alignas(16) std::array<T, 3000> elements{};
  Extents extents;
  std::size_t offset;

  room(const Extents& e, std::size_t first, std::uint32_t seed) : extents(e), offset(first) {
    const std::vector<float> values = simt::logits(e.size() + first, seed);
    for (std::size_t i = 0; i < values.size(); ++i)
      elements[i] = static_cast<T>(std::is_integral_v<T> ? 8 + values[i] : values[i]);
  }
  window<const T, Extents> in() const { return {elements.data() + offset, extents}; }
  window<T, Extents> out() { return {elements.data() + offset, extents}; }
};

/// Checks that the kernel computes the CPU's elements and writes nothing outside of them.
template <class T, class Extents, class Expression>
void check(const Extents& extents, std::size_t offset, bool wide, unsigned expected_width,
           const Expression& expression) {
  room<T, Extents> by_kernel(extents, offset, 9), expected(extents, offset, 9);
  dp::assign(expected.out(), dp::lazy(expression));
  assign_by_kernel(by_kernel.out(), expression);
  CHECK(by_kernel.elements == expected.elements);
  CHECK(was_wide == wide);
  CHECK(width == expected_width);
}

using line = dp::extents<dyn>;
using matrix = dp::extents<dyn, dyn>;

}  // namespace

TEST_CASE("assignments use 16-byte accesses if all operands are aligned, and single ones for the rest", "[cuda]") {
  for (const std::size_t n : {1u, 3u, 4u, 1000u, 2051u}) {
    INFO(n << " elements");
    const line extents{n};
    const room<float, line> a(extents, 0, 1), b(extents, 0, 2), c(extents, 1, 3);
    const room<float, dp::extents<1>> one(dp::extents<1>{}, 0, 4);
    const bool some = n >= 4;
    check<float>(extents, 0, some, 4, a.in() + b.in());
    check<float>(extents, 0, some, 4, dp::relu(a.in() * 2.0F - one.in()) / b.in());
    check<float>(extents, 1, false, 4, a.in() + b.in());  // the destination is not aligned
    check<float>(extents, 0, false, 4, a.in() + c.in());  // an operand is not aligned
    check<double>(extents, 0, some, 4, dp::cast<double>(a.in()));
    check<std::uint8_t>(extents, 0, n >= 8, 8, a.in() > b.in());
    check<float>(extents, 0, some, 4, dp::where(a.in() > b.in(), a.in(), 0.0F));
    const room<double, line> d(extents, 0, 5);
    check<float>(extents, 0, some, 4, dp::cast<float>(d.in() * 3.0));
    const room<std::uint8_t, line> bytes(extents, 0, 6);
    check<std::uint8_t>(extents, 0, n >= 16, 16, bytes.in() + bytes.in());
    check<float>(extents, 0, n >= 8, 8, dp::cast<float>(bytes.in()) / 255.0F);
  }
}

TEST_CASE("elements of 16 bits have accesses of 16 bytes beside float, for every length", "[cuda]") {
  for (std::size_t n = 1; n <= 40; ++n) {
    INFO(n << " elements");
    const line extents{n};
    for (const std::size_t offset : {0u, 1u, 4u, 8u}) {
      const room<float, line> x(extents, offset, 1);
      const room<dp::half, line> y(extents, offset, 2);
      const bool wide = n >= 8 && offset % 8 == 0;
      check<dp::bf16>(extents, offset, wide, 8, dp::cast<dp::bf16>(x.in()));
      check<dp::bf16>(extents, 0, n >= 8 && offset % 4 == 0, 8, dp::cast<dp::bf16>(x.in()));  // float has two accesses
      check<float>(extents, offset, wide, 8, dp::cast<float>(y.in()));
    }
  }
}

TEST_CASE("broadcasting keeps wide accesses if rows are a multiple of them", "[cuda]") {
  for (const std::size_t columns : {1u, 2u, 4u, 10u, 64u}) {
    INFO(columns << " columns");
    const matrix extents{30, columns};
    const room<float, matrix> x(extents, 0, 1), far(extents, 1, 2);
    const room<float, line> bias(line{columns}, 0, 3), far_bias(line{columns}, 2, 4);
    const room<float, dp::extents<dyn, 1>> scale(dp::extents<dyn, 1>{30}, 1, 5);
    const bool whole = columns % 4 == 0;
    const bool one_line = columns == 1;  // the bias is then a single number of any type
    if (!one_line) {
      check<float>(extents, 0, whole, 4, x.in() + bias.in());
      check<float>(extents, 0, whole, 4, dp::relu(x.in() + bias.in()) * scale.in());
      check<float>(extents, 0, false, 4, x.in() + far_bias.in());
      check<float>(extents, 0, false, 4, far.in() + bias.in());
      check<float>(extents, 1, false, 4, x.in() + bias.in());
    } else {
      check<float>(extents, 0, true, 4, x.in() + x.in());
    }
    check<double>(extents, 0, columns % 4 == 0, 4, dp::cast<double>(x.in()) + dp::cast<double>(scale.in()));
  }
  const dp::extents<3, 5, 8> cube;
  const room<float, dp::extents<3, 5, 8>> y(cube, 0, 6);
  const room<float, dp::extents<3, 1, 8>> planes(dp::extents<3, 1, 8>{}, 0, 7);
  const room<float, dp::extents<5, 1>> rows(dp::extents<5, 1>{}, 3, 8);
  check<float>(cube, 0, true, 4, y.in() - planes.in() * rows.in());
}

TEST_CASE("assignments with strides use wide accesses where rows consist of whole accesses", "[cuda]") {
  using dp::axis;
  for (const std::size_t pitch : {12u, 13u}) {
    for (const std::size_t columns : {1u, 4u, 6u, 8u}) {
      INFO(columns << " of " << pitch << " columns");
      const matrix whole{7, pitch};
      const room<float, matrix> x(whole, 0, 1), y(whole, 0, 2);
      const room<float, dp::extents<dyn, 1>> scale(dp::extents<dyn, 1>{7}, 1, 3);
      for (const std::size_t first : {0u, 1u, 4u}) {
        const auto part = [&](const auto& view) { return view.slice(axis<1>{}, first, first + columns); };
        const bool wide = pitch % 4 == 0 && columns % 4 == 0 && first % 4 == 0;
        const auto check_part = [&](bool is_wide, const auto& expression) {
          room<float, matrix> by_kernel(whole, 0, 9), expected(whole, 0, 9);
          dp::assign(part(expected.out()), dp::lazy(expression));
          assign_by_kernel(part(by_kernel.out()), expression);
          CHECK(by_kernel.elements == expected.elements);
          CHECK(was_wide == is_wide);
        };
        check_part(wide, part(x.in()) * 2.0F - part(y.in()));
        check_part(wide, part(x.in()) * scale.in());
        check_part(wide, dp::reversed(part(x.in()), axis<0>{}) * scale.in());
        check_part(false, dp::reversed(part(x.in()), axis<1>{}) * scale.in());
        const dp::extents<dyn, dyn> turned{columns, 7};
        const room<float, dp::extents<dyn, dyn>> t(turned, 0, 4);
        check_part(false, part(x.in()) + t.in().permute(axis<1>{}, axis<0>{}));
        check<float>(turned, 0, false, 4, part(x.in()).permute(axis<1>{}, axis<0>{}) + t.in());
      }
    }
  }
}

TEST_CASE("assignment in place and filling by the kernel", "[cuda]") {
  const line extents{1003};
  room<float, line> by_kernel(extents, 0, 1), expected(extents, 0, 1);
  assign_by_kernel(by_kernel.out(), by_kernel.in() * 3.0F + by_kernel.in());
  dp::assign(expected.out(), expected.in() * 3.0F + expected.in());
  CHECK(by_kernel.elements == expected.elements);
  const dp::detail::assign_linear<float, dp::detail::scalar_leaf<float>> body{by_kernel.out().data(), {2.5F}};
  dp::implementation<emulated, dp::op::for_each>::run(0, 1001, 1, body);
  CHECK(was_wide);
  for (std::size_t i = 0; i < 1001; ++i) REQUIRE(by_kernel.elements[i] == 2.5F);
  CHECK(by_kernel.elements[1001] == expected.elements[1001]);
}
