// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/view.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::here;
using dp::on;

template <class T, class E, class Where = on<cpu>> using view = dp::view<T, E, Where>;

using window = view<float, extents<2, 3>>;
static_assert(std::is_trivially_copyable_v<window>, "kernels receive views as bytes");
static_assert(std::is_trivially_copyable_v<view<const double, extents<dyn, dyn>, here<dp::backend::cuda>>>);
static_assert(sizeof(window) == sizeof(float*));
static_assert(!std::is_copy_assignable_v<window> && !std::is_move_assignable_v<window>);
static_assert(std::convertible_to<window, view<const float, extents<2, 3>>>);
static_assert(!std::convertible_to<view<const float, extents<2, 3>>, window>);
static_assert(std::convertible_to<window, view<float, extents<dyn, 3>>>);
static_assert(!std::convertible_to<view<float, extents<dyn, 3>>, window>);
static_assert(!std::convertible_to<window, view<float, extents<2, 3>, on<dp::cuda<0>>>>);
static_assert(!std::convertible_to<window, view<double, extents<2, 3>>>);

static_assert(std::same_as<decltype(std::declval<const window&>()(0, std::size_t{})), float&>);

}  // namespace

TEST_CASE("a view addresses elements row by row", "[tensor][view]") {
  float data[24];
  for (int i = 0; i < 24; ++i) data[i] = static_cast<float>(i);
  const view<float, extents<2, dyn, 4>> v(data, extents<2, dyn, 4>{3});
  CHECK(v.size() == 24);
  CHECK(v(1, 2, 3) == 23);
  CHECK(v(1, 0, 2) == 14);
  v(1, 0, 2) = -1;
  CHECK(data[14] == -1);
  CHECK(&v(0, 1, 0) == data + 4);
}

TEST_CASE("an index removes an axis, a slice keeps it", "[tensor][view]") {
  float data[24];
  for (int i = 0; i < 24; ++i) data[i] = static_cast<float>(i);
  const view<float, extents<2, dyn, 4>> v(data, extents<2, dyn, 4>{3});
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(v[1])>, view<float, extents<dyn, 4>>>);
  CHECK(v[1](2, 3) == 23);
  CHECK(v[1][2](3) == 23);
  CHECK(v[1][2][3]() == 23);
  CHECK_THROWS_AS(v[2], dp::argument_error);
  CHECK_THROWS_WITH(v[1][3], Catch::Matchers::ContainsSubstring("3"));

  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(v.slice(0, 1))>, view<float, extents<dyn, dyn, 4>>>);
  CHECK(v.slice(1, 2).extents() == extents<1, 3, 4>{});
  CHECK(v.slice(1, 2)(0, 2, 3) == 23);
  CHECK(v[0].slice(1, 3)(1, 0) == 8);
  CHECK(v.slice(2, 2).size() == 0);
  CHECK_THROWS_AS(v.slice(1, 0), dp::argument_error);
  CHECK_THROWS_AS(v.slice(0, 3), dp::argument_error);
}

TEST_CASE("permute of a scalar takes no axes", "[tensor][view]") {
  float number = 7;
  const view<float, extents<>> v(&number, {});
  const auto same = v.permute();
  CHECK(same.data() == &number);
  number = 8;
  CHECK(same() == 8);
}

TEST_CASE("reshape keeps the elements", "[tensor][view]") {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const window v(data, {});
  CHECK(v.reshape(extents<3, 2>{})(2, 0) == 4);
  CHECK(v.reshape(extents<dyn>{6}).data() == data);
  CHECK_THROWS_AS(v.reshape(extents<dyn>{7}), dp::shape_error);
  CHECK_THROWS_WITH(v.reshape(extents<dyn>{5}), Catch::Matchers::ContainsSubstring("2x3"));
}

TEST_CASE("reshape rejects a shape whose element count overflows to the view's", "[tensor][view]") {
  float values[6] = {};
  const view<float, extents<dyn>> empty(values, extents<dyn>(0));
  constexpr std::size_t half = std::size_t{1} << 32;
  CHECK_THROWS_AS(empty.reshape(extents<dyn, dyn>(half, half)), dp::shape_error);
  CHECK_THROWS_AS((empty.reshape(extents<dyn, half>(half))), dp::shape_error);
}

TEST_CASE("a type-erased view stores the ordinal as a number", "[tensor][view]") {
  float data[6] = {};
  const view<float, extents<2, 3>, on<dp::cuda<3>>> v(data, {});
  CHECK(v.ordinal() == 3);
  const auto erased = v.erased();
  STATIC_REQUIRE(
      std::same_as<std::remove_const_t<decltype(erased)>, view<float, extents<2, 3>, here<dp::backend::cuda>>>);
  CHECK(erased.ordinal() == 3);
  CHECK(erased.data() == data);
  CHECK(erased[1].ordinal() == 3);
  CHECK(erased.slice(0, 1).ordinal() == 3);
  CHECK(erased.reshape(extents<6>{}).ordinal() == 3);
  CHECK(erased.erased().ordinal() == 3);
  const view<const float, extents<dyn, 3>, here<dp::backend::cuda>> converted = erased;
  CHECK(converted.ordinal() == 3);
  CHECK(converted.extents() == extents<2, 3>{});
}

TEST_CASE("element access and extent check their arguments unless checks are off", "[tensor]") {
  using Catch::Matchers::Message;
  dp::tensor<float, dp::extents<4, 6>, dp::on<dp::cpu>> a(dp::extents<4, 6>{});
  const auto& constant = a;
  std::size_t no_row = 4, no_column = 6, none = 2;  // not const: clang rejects constants
  const auto past_row = Message("devplace: index 6 is past the extent 6 of axis 1.");
  CHECK_THROWS_MATCHES(a.operator()<true>(0, no_column), dp::argument_error, past_row);
  CHECK_THROWS_MATCHES(constant.operator()<true>(0, no_column), dp::argument_error, past_row);
  CHECK_THROWS_MATCHES(a.view().operator()<true>(no_row, 0), dp::argument_error,
                       Message("devplace: index 4 is past the extent 4 of axis 0."));
  CHECK_THROWS_MATCHES(
      a.operator()<true>(no_row - 5, 0), dp::argument_error,
      Message("devplace: index -1 of axis 0 is negative; indices count from 0, and the axis has the extent 4."));
  const auto columns = a.slice(dp::axis<1>{}, 1, 3);
  CHECK_THROWS_MATCHES(columns.operator()<true>(0, none), dp::argument_error,
                       Message("devplace: index 2 is past the extent 2 of axis 1."));
  CHECK(&a.operator()<true>(3, 5) == a.data() + 23);
  CHECK(&columns.operator()<true>(3, 1) == a.data() + 20);
  CHECK(&a.operator()<false>(0, no_column) == &a(1, 0));
  const auto no_axis = Message("devplace: extent: there is no axis 2 among 2; axes count from 0.");
  CHECK_THROWS_MATCHES(a.extent<true>(none), dp::argument_error, no_axis);
  CHECK_THROWS_MATCHES(a.view().extent<true>(none), dp::argument_error, no_axis);
#if !defined(NDEBUG)
  CHECK_THROWS_AS(a(0, no_column), dp::argument_error);
  CHECK_THROWS_AS(a.view()(0, no_column), dp::argument_error);
  CHECK_THROWS_AS(a.extent(none), dp::argument_error);
#endif
}
