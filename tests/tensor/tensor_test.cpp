// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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
static_assert(!std::default_initializable<matrix>);
static_assert(sizeof(dp::tensor<float, extents<dyn, 3>, on<cpu>>) == sizeof(matrix) + sizeof(std::size_t));
static_assert(dp::tensor_like<matrix> && dp::tensor_like<const matrix&> && dp::tensor_like<matrix::view_type>);
static_assert(!dp::tensor_like<float>);

template <class X, class... Index>
concept indexable = requires(X& x, Index... index) {
  x(index...);
};
static_assert(indexable<matrix, int, int> && indexable<const matrix, int, int> && !indexable<matrix, int>);
static_assert(!indexable<dp::tensor<float, extents<2, 3>, on<dp::cuda<0>>>, int, int>);
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
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(a.data()[i] == static_cast<float>(i + 1));
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

TEST_CASE("moving takes the memory, clone copies it", "[tensor]") {
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
