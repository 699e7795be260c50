// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/tensor/item.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

using matrix = dp::tensor<float, extents<2, 3>, on<cpu>>;

static_assert(!std::copy_constructible<matrix> && !std::is_copy_assignable_v<matrix>);
static_assert(std::is_nothrow_move_constructible_v<matrix> && std::is_nothrow_move_assignable_v<matrix>);
static_assert(std::default_initializable<matrix>);
static_assert(sizeof(dp::tensor<float, extents<dyn, 3>, on<cpu>>) == sizeof(matrix) + sizeof(std::size_t));
static_assert(dp::tensor_like<matrix> && dp::tensor_like<const matrix&> && dp::tensor_like<matrix::view_type>);
static_assert(!dp::tensor_like<float>);

template <class X, class... Index>
concept indexable = requires(X& x, Index... index) { x(index...); };
static_assert(indexable<matrix, int, int> && indexable<const matrix, int, int>);
static_assert(std::same_as<decltype(std::declval<const matrix&>()(0, 0)), const float&>, "const is deep");

template <class X>
concept sliceable = requires(X&& x) {
  std::forward<X>(x)[0];
  std::forward<X>(x).slice(0, 1);
};
static_assert(sliceable<matrix&> && sliceable<const matrix&>);
static_assert(!sliceable<matrix> && !sliceable<const matrix>, "a view of a temporary would outlive its memory");

}  // namespace

TEST_CASE("a tensor is made from nested lists, row by row", "[tensor]") {
  matrix a{{1, 2, 3}, {4, 5, 6}};
  CHECK((a(0, 0) == 1 && a(0, 2) == 3 && a(1, 0) == 4 && a(1, 2) == 6));
  CHECK((a.extent(0) == 2 && a.extent(1) == 3 && a.size() == 6));
  for (std::size_t i = 0; i < 6; ++i) CHECK(a.data()[i] == static_cast<float>(i + 1));
  a(1, 2) = 7;
  CHECK(a.data()[5] == 7);

  const dp::tensor<double, extents<2, 1>, on<cpu>> column{{0.5}, {2}};
  CHECK((column(0, 0) == 0.5 && column(1, 0) == 2));
  const dp::tensor<std::int64_t, extents<1, 3>, on<cpu>> row{{-1, 2, 3}};
  CHECK(row(0, 2) == 3);
}

TEST_CASE("a vector is made from a list", "[tensor]") {
  const dp::tensor<float, extents<3>, on<cpu>> a{1, 2.5, 3.0f};
  CHECK((a(0) == 1 && a(1) == 2.5f && a(2) == 3));
  const dp::tensor<std::uint8_t, extents<2>, on<cpu>> bytes{0, 255};
  CHECK(bytes(1) == 255);
}

TEST_CASE("memory is aligned and counted", "[tensor]") {
  const std::size_t before = dp::memory_statistics<cpu>().allocated;
  {
    const dp::tensor<float, extents<dyn, 3>, on<cpu>> a(extents<dyn, 3>{5});
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
    CHECK(dp::memory_statistics<cpu>().allocated == before + 60);
  }
  CHECK(dp::memory_statistics<cpu>().allocated == before);
}

TEST_CASE("empty tensors and scalars", "[tensor]") {
  const dp::tensor<float, extents<0, 3>, on<cpu>> none(extents<0, 3>{});
  CHECK(none.size() == 0);
  CHECK(none.clone().size() == 0);
  dp::tensor<float, extents<>, on<cpu>> scalar(extents<>{});
  scalar() = 4;
  CHECK(scalar.size() == 1);
  CHECK(std::as_const(scalar)() == 4);
}

TEST_CASE("a move takes the memory, clone copies it", "[tensor]") {
  matrix a{{1, 2, 3}, {4, 5, 6}};
  const float* memory = a.data();
  matrix b = std::move(a);
  CHECK(b.data() == memory);
  matrix c = b.clone();
  CHECK(c.data() != memory);
  c(0, 0) = 10;
  CHECK((b(0, 0) == 1 && c(0, 1) == 2));
  b = std::move(c);
  CHECK(b(0, 0) == 10);
  const std::size_t before = dp::memory_statistics<cpu>().allocated;
  b = b.clone();
  CHECK(dp::memory_statistics<cpu>().allocated == before);
  matrix& self = b;
  b = std::move(self);
  CHECK(b.size() == 6);
  dp::tensor<float, extents<dyn>, on<cpu>> grows(extents<dyn>{2});
  grows = dp::tensor<float, extents<dyn>, on<cpu>>(extents<dyn>{7});
  CHECK(grows.size() == 7);
}

TEST_CASE("parts of a tensor are views of its memory", "[tensor]") {
  matrix a{{1, 2, 3}, {4, 5, 6}};
  CHECK(a[1](2) == 6);
  a[1](2) = 60;
  CHECK(a(1, 2) == 60);
  CHECK(a.slice(1, 2)(0, 0) == 4);
  CHECK(a.reshape(extents<3, 2>{})(2, 1) == 60);
  CHECK_THROWS_AS(a[2], dp::argument_error);
  CHECK_THROWS_AS(a.slice(1, 3), dp::argument_error);
  CHECK_THROWS_AS(a.reshape(extents<dyn>{5}), dp::shape_error);
  STATIC_REQUIRE(std::same_as<decltype(std::as_const(a)[0])::element_type, const float>);
  STATIC_REQUIRE(std::same_as<decltype(a[0])::extents_type, extents<3>>);
  STATIC_REQUIRE(std::same_as<decltype(a.slice(0, 1))::extents_type, extents<dyn, 3>>);
}

TEST_CASE("a temporary keeps its memory when it is reshaped", "[tensor]") {
  matrix a{{1, 2, 3}, {4, 5, 6}};
  const float* memory = a.data();
  const auto b = std::move(a).reshape(extents<dyn>{6});
  CHECK(b.data() == memory);
  CHECK(b(5) == 6);
  CHECK_THROWS_AS(b.clone().reshape(extents<dyn>{7}), dp::shape_error);
}

TEST_CASE("item reads the only element", "[tensor][item]") {
  const dp::tensor<std::int32_t, extents<1, 1>, on<cpu>> a{{5}};
  CHECK(dp::item(a) == 5);
  CHECK(dp::item(a[0]) == 5);
  dp::tensor<double, extents<>, on<cpu>> scalar(extents<>{});
  scalar() = 0.5;
  CHECK(dp::item(scalar) == 0.5);
  const dp::tensor<float, extents<dyn>, on<cpu>> two(extents<dyn>{2});
  CHECK_THROWS_AS(dp::item(two), dp::shape_error);
  CHECK_THROWS_AS(dp::item(two.slice(0, 0)), dp::shape_error);
}

TEST_CASE("a tensor without arguments has zeros, so that a vector of tensors can grow", "[tensor]") {
  std::vector<matrix> list(2);
  list.resize(3);
  list.push_back(list[0].clone());
  list[1] = 2;
  CHECK(list[0](1, 2) == 0);
  CHECK(list[1](1, 2) == 2);
  CHECK(list[3](0, 0) == 0);
  CHECK(dp::tensor<float, dp::extents<dp::dyn, 3>, dp::cpu>().extents() == dp::extents<0, 3>{});
}

TEST_CASE("numbers are assigned to all elements", "[tensor]") {
  dp::tensor<float, dp::extents<dp::dyn, dp::dyn>, dp::cpu> x{{1, 2}, {3, 4}, {5, 6}};
  REQUIRE(x.extents() == dp::extents<3, 2>{});
  CHECK(x(2, 0) == 5);
  x[1] = 0;
  CHECK((x(0, 1) == 2 && x(1, 0) == 0 && x(1, 1) == 0 && x(2, 0) == 5));
  x.select(dp::axis<1>{}, 1) = -1;
  CHECK((x(0, 0) == 1 && x(0, 1) == -1 && x(2, 1) == -1));
  x = 0.5;
  CHECK((x(0, 0) == 0.5f && x(2, 1) == 0.5f));
}

TEST_CASE("rows loops over the first axis of tensors and views", "[tensor]") {
  dp::tensor<float, dp::extents<2, 3>, dp::cpu> x{{1, 2, 3}, {4, 5, 6}};
  float weight = 1;
  for (auto row : dp::rows(x))
    for (float& element : row) element *= (weight *= 2);
  CHECK((x(0, 0) == 2 && x(0, 2) == 24 && x(1, 0) == 64 && x(1, 2) == 384));
  float sum = 0;
  for (const float element : dp::rows(std::as_const(x).select(dp::axis<1>{}, 0))) sum += element;
  CHECK(sum == 66);
}

namespace {

float first_of(const dp::view<const float, dp::extents<dp::dyn, dp::dyn>, dp::cpu>& x) { return x(0, 0); }
std::ptrdiff_t stride_of(const dp::view<float, dp::extents<dp::dyn, 3>, dp::cpu, dp::strided>& x) {
  return x.stride(0);
}

}  // namespace

TEST_CASE("a tensor converts to a view argument", "[tensor]") {
  dp::tensor<float, dp::extents<2, 3>, dp::cpu> x{{1, 2, 3}, {4, 5, 6}};
  CHECK(first_of(x) == 1);
  CHECK(first_of(std::as_const(x)) == 1);
  CHECK(stride_of(x) == 3);
  using view = dp::view<float, dp::extents<2, 3>, dp::cpu>;
  STATIC_REQUIRE_FALSE(std::is_convertible_v<const decltype(x)&, view>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype(x), view>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype(x), dp::view<const float, dp::extents<2, 3>, dp::cpu>>);
}

TEST_CASE("use of a moved-from tensor throws", "[tensor]") {
  dp::tensor<float, dp::extents<2, 3>, dp::cpu> x{{1, 2, 3}, {4, 5, 6}};
  auto y = std::move(x);
  const std::string message =
      "devplace: this tensor was moved from and has no elements; assign a new tensor to the variable before you use "
      "it.";
  CHECK_THROWS_WITH(x(0, 0), message);
  CHECK_THROWS_WITH(x.clone(), message);
  CHECK_THROWS_WITH(y = x + 1.0f, message);
  CHECK_THROWS_WITH(dp::copy(y, x), message);
  x = std::move(y);
  CHECK(x(1, 2) == 6);
  CHECK(x.to<dp::cpu>()(1, 2) == 6);
  const float* const memory = x.data();
  CHECK(std::move(x).to<dp::cpu>().data() == memory);
}
