// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;
using dp::axis;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

template <class T, class E> using strided_view = dp::view<T, E, on<cpu>, dp::strided>;
template <class T, class E> using plain_view = dp::view<T, E, on<cpu>>;

using matrix = plain_view<float, extents<2, 3>>;
static_assert(std::is_trivially_copyable_v<strided_view<float, extents<2, 3>>>);
static_assert(std::convertible_to<matrix, strided_view<const float, extents<dyn, 3>>>);
static_assert(!std::convertible_to<strided_view<float, extents<2, 3>>, matrix>, "a strided view may have gaps");
static_assert(!std::is_copy_assignable_v<strided_view<float, extents<2, 3>>>);

/// The numbers 0, 1, 2, ... as 2 x 3 x 4 elements: element (i, j, k) is 12 i + 4 j + k.
struct numbers {
  std::array<std::int32_t, 24> data{};
  numbers() { std::iota(data.begin(), data.end(), 0); }
  auto cube() { return dp::wrap(data, extents<2, dyn, 4>{3}); }
};

}  // namespace

TEST_CASE("select removes any axis", "[tensor][view]") {
  numbers of;
  const auto x = of.cube();
  const auto middle = x.select(axis<1>{}, 2);
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(middle)>, strided_view<std::int32_t, extents<2, 4>>>);
  STATIC_REQUIRE(
      std::same_as<std::remove_const_t<decltype(x.select(axis<0>{}, 1))>, plain_view<std::int32_t, extents<dyn, 4>>>);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) CHECK(middle(i, k) == 12 * i + 8 + k);
  CHECK(middle[1](3) == 23);
  CHECK(x.select(axis<2>{}, 1).select(axis<1>{}, 0)(1) == 13);
  CHECK(&x.select(axis<2>{}, 3)(1, 2) == of.data.data() + 23);
  CHECK_THROWS_AS(x.select(axis<1>{}, 3), dp::argument_error);
  CHECK_THROWS_WITH(x.select(axis<2>{}, 4), Catch::Matchers::ContainsSubstring("axis 2"));
}

TEST_CASE("slices along any axis, with a step", "[tensor][view]") {
  numbers of;
  const auto x = of.cube();
  const auto columns = x.slice(axis<2>{}, 1, 3);
  STATIC_REQUIRE(
      std::same_as<std::remove_const_t<decltype(columns)>, strided_view<std::int32_t, extents<2, dyn, dyn>>>);
  STATIC_REQUIRE(decltype(x.slice(axis<0>{}, 0, 1))::is_row_major);
  STATIC_REQUIRE(!decltype(x.slice(axis<0>{}, 0, 1, 1))::is_row_major);
  CHECK(columns.extents() == extents<2, 3, 2>{});
  CHECK(columns(1, 2, 0) == 12 + 8 + 1);
  CHECK_FALSE(columns.is_contiguous());
  const auto every_second = x.slice(axis<1>{}, 0, 3, 2);
  CHECK(every_second.extents() == extents<2, 2, 4>{});
  CHECK(every_second(1, 1, 2) == 12 + 8 + 2);
  CHECK(x.slice(axis<1>{}, 0, 2, 2).extent(1) == 1);
  CHECK(x.slice(axis<1>{}, 2, 2).size() == 0);
  CHECK(x.slice(axis<1>{}, 0, 3, 7).extent(1) == 1);
  CHECK(columns.slice(axis<2>{}, 1, 2).slice(axis<1>{}, 1, 3)(0, 1, 0) == 8 + 2);
  CHECK_THROWS_AS(x.slice(axis<2>{}, 1, 5), dp::argument_error);
  CHECK_THROWS_AS(x.slice(axis<2>{}, 3, 2), dp::argument_error);
  CHECK_THROWS_AS(x.slice(axis<2>{}, 0, 2, 0), dp::argument_error);
  CHECK(x.slice(axis<1>{}, 0, 3, PTRDIFF_MAX).extent(1) == 1);
  const auto negative = static_cast<std::size_t>(-1);  // like x[0:2:-1] in NumPy
  CHECK_THROWS_WITH(x.slice(axis<2>{}, 0, 2, negative), Catch::Matchers::ContainsSubstring("slice 0 to 2 by -1 "));
  CHECK_THROWS_WITH(x.slice(axis<2>{}, negative, 2), Catch::Matchers::ContainsSubstring("slice -1 to 2 by 1 "));
  columns(0, 0, 1) = -1;
  CHECK(of.data[2] == -1);
}

TEST_CASE("permute reorders the axes", "[tensor][view]") {
  numbers of;
  const auto x = of.cube();
  const auto p = x.permute(axis<2>{}, axis<0>{}, axis<1>{});
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(p)>, strided_view<std::int32_t, extents<4, 2, dyn>>>);
  CHECK(p.extents() == extents<4, 2, 3>{});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) CHECK(p(k, i, j) == 12 * i + 4 * j + k);
  const auto back = p.permute(axis<1>{}, axis<2>{}, axis<0>{});
  CHECK(back.is_contiguous());
  CHECK(back.strides() == x.strides());
}

TEST_CASE("transposed exchanges the last two axes", "[tensor][view]") {
  numbers of;
  const auto x = of.cube();
  const auto t = dp::transposed(x);
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(t)>,
                              dp::view<std::int32_t, extents<2, 4, dyn>, on<cpu>, dp::column_major>>);
  STATIC_REQUIRE(sizeof(t) == sizeof(x));
  CHECK(t.extents() == extents<2, 4, 3>{});
  CHECK(t.strides() == std::array<std::ptrdiff_t, 3>{12, 1, 4});
  CHECK(t(1, 3, 2) == 23);
  CHECK(t[1](3, 2) == 23);
  CHECK(t.slice(axis<1>{}, 2, 4)(1, 1, 2) == 23);
  CHECK(t.reshape(extents<2, 2, 2, 3>{})(1, 1, 1, 2) == 23);
  CHECK_THROWS_AS(t.reshape(extents<8, 3>{}), dp::shape_error);
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(dp::transposed(t))>, std::remove_const_t<decltype(x)>>);
  STATIC_REQUIRE(decltype(dp::transposed(x.slice(axis<2>{}, 0, 2)))::is_strided);
  const strided_view<const std::int32_t, extents<dyn, 4, dyn>> converted = t;
  CHECK(converted.strides() == t.strides());
  STATIC_REQUIRE(!std::convertible_to<decltype(t), dp::view<std::int32_t, extents<2, 4, dyn>, on<cpu>>>);
}

TEST_CASE("broadcast_to repeats elements with stride 0", "[tensor][view]") {
  float row[3] = {1, 2, 3};
  const auto x = dp::wrap(row, extents<1, 3>{});
  const auto repeated = x.broadcast_to(extents<4, 2, 3>{});
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(repeated)>, strided_view<const float, extents<4, 2, 3>>>);
  CHECK(repeated.strides() == std::array<std::ptrdiff_t, 3>{0, 0, 1});
  CHECK(repeated(3, 1, 2) == 3);
  CHECK(dp::wrap(row, extents<>{}).broadcast_to(extents<2, dyn>{5})(1, 4) == 1);
  CHECK_THROWS_AS(x.broadcast_to(extents<dyn, dyn>{2, 4}), dp::shape_error);
  CHECK_THROWS_WITH(x.broadcast_to(extents<2, dyn>{4}),
                    Catch::Matchers::ContainsSubstring("1x3 cannot be broadcast to 2x4"));
}

TEST_CASE("reshape keeps strides where possible", "[tensor][view]") {
  numbers of;
  const auto x = of.cube();
  const auto rows = x.select(axis<1>{}, 1);  // 2 x 4, rows 12 apart
  const auto halves = rows.reshape(extents<2, 2, 2>{});
  CHECK(halves.strides() == std::array<std::ptrdiff_t, 3>{12, 2, 1});
  CHECK(halves(1, 1, 0) == 12 + 4 + 2);
  CHECK(rows.reshape(extents<2, 1, 4, 1>{})(1, 0, 3, 0) == 19);
  CHECK_THROWS_AS(rows.reshape(extents<8>{}), dp::shape_error);
  CHECK_THROWS_WITH(x.permute(axis<2>{}, axis<1>{}, axis<0>{}).reshape(extents<24>{}),
                    Catch::Matchers::ContainsSubstring("make a row-major copy first, with to<on<...>>(x)"));
  CHECK_THROWS_WITH(rows.reshape(extents<dyn>{9}), Catch::Matchers::ContainsSubstring("from 8 to 9"));
  CHECK(rows.slice(axis<1>{}, 0, 0).reshape(extents<0, 5>{}).size() == 0);
}

TEST_CASE("strides span memory on both sides of the first element", "[tensor][view]") {
  const auto spanned = [](std::vector<std::size_t> sizes, std::vector<std::ptrdiff_t> strides) {
    const auto [count, before] = dp::detail::spanned(sizes, strides);
    return std::pair(count, before);
  };
  using result = std::pair<std::size_t, std::size_t>;
  CHECK(spanned({}, {}) == result{1, 0});
  CHECK(spanned({2, 3}, {3, 1}) == result{6, 0});
  CHECK(spanned({2, 3}, {-3, 1}) == result{6, 3});
  CHECK(spanned({2, 3}, {-3, -1}) == result{6, 5});
  CHECK(spanned({2, 3}, {4, -1}) == result{7, 2});
  CHECK(spanned({2, 0}, {-3, -1}) == result{0, 0});
  CHECK(spanned({1, 3}, {PTRDIFF_MIN, 0}) == result{1, 0});
  CHECK(spanned({2, 2}, {PTRDIFF_MAX, 0}).first == std::size_t{PTRDIFF_MAX} + 1);
  CHECK(spanned({2, 2}, {PTRDIFF_MAX, -1}).first == SIZE_MAX);
  CHECK(spanned({2}, {PTRDIFF_MIN}).first == SIZE_MAX);
  CHECK(spanned({3}, {-PTRDIFF_MAX}).first == SIZE_MAX);
}

TEST_CASE("wrap takes negative strides from a pointer, and refuses them for containers", "[tensor][view]") {
  numbers of;
  const auto x = dp::wrap(of.data.data() + 23, extents<2, 3, 4>{}, std::array<std::ptrdiff_t, 3>{-12, -4, -1});
  CHECK(x(0, 0, 0) == 23);
  CHECK(x(1, 2, 2) == 1);
  CHECK(x.strides() == dp::wrap(&x(0, 0, 0), x.extents(), x.strides()).strides());
  CHECK(x.reshape(extents<24>{})(20) == 3);
  CHECK_THROWS_WITH(dp::wrap(of.data, extents<2>{}, std::array{-1}),
                    Catch::Matchers::ContainsSubstring("none is negative"));
}

TEST_CASE("reshape finds strides exactly where they exist", "[tensor][view]") {
  std::mt19937 random(20261122);
  const auto below = [&](std::size_t n) { return std::size_t{random() % n}; };
  int possible = 0, impossible = 0;
  for (int round = 0; round < 4000; ++round) {
    // A permuted slice, of which some axes are reversed, of an array of rank 3, reshaped to rank 1 to 4 with the same
    // number of elements.
    std::array<std::size_t, 3> whole{}, sizes{};
    std::array<std::ptrdiff_t, 3> strides{};
    std::array<std::size_t, 3> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (auto& size : whole) size = 1 + below(4);
    const bool reversed = below(4) == 0;
    const std::size_t own[] = {whole[1] * whole[2], whole[2], 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sizes[axis] = below(3) != 0 ? whole[order[axis]] : 1 + below(whole[order[axis]]);
      strides[axis] = static_cast<std::ptrdiff_t>(own[order[axis]]);
      if (reversed || below(6) == 0) strides[axis] = -strides[axis];
    }
    std::vector<std::ptrdiff_t> places;  // offsets of the elements in row-major order
    for (std::size_t i = 0; i < sizes[0]; ++i)
      for (std::size_t j = 0; j < sizes[1]; ++j)
        for (std::size_t k = 0; k < sizes[2]; ++k)
          places.push_back(static_cast<std::ptrdiff_t>(i) * strides[0] + static_cast<std::ptrdiff_t>(j) * strides[1] +
                           static_cast<std::ptrdiff_t>(k) * strides[2]);
    std::vector<std::size_t> shape;
    std::size_t left = places.size();
    while (shape.size() < 3 && below(3) != 0) {
      std::vector<std::size_t> divisors;
      for (std::size_t d = 1; d <= left; ++d)
        if (left % d == 0) divisors.push_back(d);
      shape.push_back(divisors[below(divisors.size())]);
      left /= shape.back();
    }
    shape.push_back(left);

    // Strides exist if the steps along single new axes predict every element's offset.
    std::vector<std::ptrdiff_t> wanted(shape.size(), 0);
    std::size_t inner = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] > 1) wanted[axis] = places[inner] - places[0];
      inner *= shape[axis];
    }
    bool exist = true;
    for (std::size_t n = 0; n < places.size(); ++n) {
      std::size_t rest = n;
      std::ptrdiff_t offset = 0;
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
        offset += static_cast<std::ptrdiff_t>(rest % shape[axis]) * wanted[axis];
      exist = exist && offset == places[n];
    }
    std::vector<std::ptrdiff_t> found(shape.size());
    REQUIRE(dp::detail::reshape_strides(sizes, strides, shape, found) == exist);
    for (std::size_t axis = 0; exist && axis < shape.size(); ++axis)
      if (shape[axis] > 1) REQUIRE(found[axis] == wanted[axis]);
    ++(exist ? possible : impossible);
  }
  CHECK(possible > 500);
  CHECK(impossible > 500);
}

TEST_CASE("a strided view keeps its device when type-erased or converted", "[tensor][view]") {
  float data[6] = {};
  const dp::view<float, extents<2, 3>, on<dp::cuda<3>>> v(data, {});
  const auto column = v.select(axis<1>{}, 1);
  CHECK(column.erased().ordinal() == 3);
  CHECK(column.erased().stride(0) == 3);
  CHECK(column.erased().slice(0, 1).ordinal() == 3);
  CHECK(v.permute(axis<1>{}, axis<0>{}).erased().stride(1) == 3);
  const dp::view<const float, extents<dyn>, dp::here<dp::backend::cuda>, dp::strided> converted = column.erased();
  CHECK(converted.ordinal() == 3);
  CHECK(converted.stride(0) == 3);
  const dp::view<float, extents<dyn, 3>, on<dp::cuda<3>>, dp::strided> of_rows = v;
  CHECK(of_rows.strides() == std::array<std::ptrdiff_t, 2>{3, 1});
}

TEST_CASE("a tensor gives strided views of itself", "[tensor][view]") {
  dp::tensor<float, extents<2, 3>, on<cpu>> x{{1, 2, 3}, {4, 5, 6}};
  const auto& constant = x;
  CHECK(x.select(axis<1>{}, 2)(1) == 6);
  CHECK(x.slice(axis<1>{}, 1, 3)(1, 0) == 5);
  CHECK(x.permute(axis<1>{}, axis<0>{})(2, 0) == 3);
  CHECK(x.broadcast_to(extents<2, 2, 3>{})(1, 0, 1) == 2);
  int begin = 1;  // any integer type
  CHECK(x.slice(axis<1>{}, begin, 3, 2).size() == 2);
  STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(constant.select(axis<1>{}, 2)(1))>>);
  x.select(axis<1>{}, 0)(1) = 40;
  CHECK(constant(1, 0) == 40);
}

TEST_CASE("wrap makes views of the user's memory", "[tensor][wrap]") {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto x = dp::wrap(values, extents<dyn, 3>{2});
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(x)>, plain_view<float, extents<dyn, 3>>>);
  CHECK(x(1, 0) == 4);
  x(1, 0) = -4;
  CHECK(values[3] == -4);
  const std::vector<float>& constant = values;
  STATIC_REQUIRE(std::same_as<decltype(dp::wrap(constant, extents<6>{})), plain_view<const float, extents<6>>>);
  CHECK(dp::wrap(std::span<const float>(values).first(2), extents<2>{})(1) == 2);
  CHECK(dp::wrap(x.reshape(extents<6>{}), extents<3, 2>{})(1, 1) == -4);  // a temporary view
  const auto columns = dp::wrap(values.data(), extents<2, 3>{}, {1, 2});  // stored column by column
  STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(columns)>, strided_view<float, extents<2, 3>>>);
  CHECK(columns(1, 2) == 6);
  CHECK(dp::wrap(values, extents<2, 2>{}, {3, 2})(1, 1) == 6);
  CHECK(dp::wrap(values, extents<2, 0>{}, {30, 2}).size() == 0);
  CHECK_THROWS_AS(dp::wrap(values, extents<2, 2>{}, {4, 2}), dp::shape_error);
  const std::array<std::size_t, 2> backward{static_cast<std::size_t>(-2), 1};  // computed from a negative number
  CHECK_THROWS_WITH(dp::wrap(values, extents<2, 2>{}, backward),
                    Catch::Matchers::ContainsSubstring("none is negative"));
  CHECK_THROWS_WITH(dp::wrap(values, extents<dyn>{7}), Catch::Matchers::ContainsSubstring("takes 7"));
  CHECK_THROWS_AS(dp::wrap(values, extents<5>{}), dp::shape_error);
  STATIC_REQUIRE(std::same_as<decltype(dp::wrap<dp::on<dp::cuda<1>>>(values.data(), extents<6>{})),
                              dp::view<float, extents<6>, dp::on<dp::cuda<1>>>>);
}
