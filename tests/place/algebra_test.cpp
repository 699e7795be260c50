// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/algebra.hpp>

#include <type_traits>

#include "support/catch.hpp"

namespace dp = devplace;

using dp::detail::arithmetic;
using dp::detail::mismatch;
using dp::detail::reducing;

namespace {

using host = dp::on<dp::cpu>;
using one = dp::on<dp::cuda<0>>;
using other = dp::on<dp::cuda<1>>;
using whole = dp::replicated<0, 1>;
using whole_elsewhere = dp::replicated<0, 2>;
using rows = dp::sharded<dp::axis<0>, 0, 1>;
using rows_elsewhere = dp::sharded<dp::axis<0>, 1, 0>;
using columns = dp::sharded<dp::axis<1>, 0, 1>;
using planes = dp::sharded<dp::axis<2>, 0, 1>;
using sums = dp::partial<dp::reduction::sum, 0, 1>;
using means = dp::partial<dp::reduction::mean, 0, 1>;
using maxima = dp::partial<dp::reduction::max, 0, 1>;
using minima = dp::partial<dp::reduction::min, 0, 1>;
using number = void;

constexpr arithmetic every_operation[] = {arithmetic::pointwise, arithmetic::additive, arithmetic::product,
                                          arithmetic::quotient,  arithmetic::larger,   arithmetic::smaller};

template <class Rule, class Where>
constexpr bool gives = std::is_same_v<typename Rule::type, Where> && Rule::why == mismatch::none;
template <class Rule, mismatch Why> constexpr bool fails = std::is_void_v<typename Rule::type> && Rule::why == Why;

template <arithmetic Op, class... X> using elementwise = dp::detail::elementwise_result<Op, X...>;

/// Whether every binary operation on A and B, in either order, has a result on Where.
template <class A, class B, class Where, std::size_t... I> constexpr bool always_of(std::index_sequence<I...>) {
  return (
      (gives<elementwise<every_operation[I], A, B>, Where> && gives<elementwise<every_operation[I], B, A>, Where>) &&
      ...);
}
template <class A, class B, class Where> constexpr bool always = always_of<A, B, Where>(std::make_index_sequence<6>{});

template <class A, class B, mismatch Why, std::size_t... I> constexpr bool never_of(std::index_sequence<I...>) {
  return ((fails<elementwise<every_operation[I], A, B>, Why> && fails<elementwise<every_operation[I], B, A>, Why>) &&
          ...);
}
template <class A, class B, mismatch Why> constexpr bool never = never_of<A, B, Why>(std::make_index_sequence<6>{});

template <class A, class B> using matmul = dp::detail::matmul_result<A, B>;
template <class X> using transposed = typename dp::detail::transposed_placement<X>::type;
constexpr std::size_t all = static_cast<std::size_t>(-1);
template <reducing Op, std::size_t Axis, class X>
using reduced =
    std::conditional_t<Axis == all, dp::detail::reduction_result<Op, X>, dp::detail::reduction_result<Op, X, Axis>>;
template <class X, std::size_t... Axis> using summed = dp::detail::reduction_result<reducing::sum, X, Axis...>;
template <std::size_t Axis, class X> using row_function = dp::detail::row_function_result<Axis, X>;

}  // namespace

TEST_CASE("elementwise: replicated operands and equal splits keep their placement", "[place][algebra]") {
  STATIC_REQUIRE(always<one, one, one>);
  STATIC_REQUIRE(always<host, number, host>);
  STATIC_REQUIRE(always<whole, whole, whole>);
  STATIC_REQUIRE(always<whole, number, whole>);
  STATIC_REQUIRE(always<rows, rows, rows>);
  STATIC_REQUIRE(always<rows, whole, rows>);
  STATIC_REQUIRE(always<rows, number, rows>);
  STATIC_REQUIRE(always<columns, whole, columns>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::pointwise, rows>, rows>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::negation, whole>, whole>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::pointwise, one>, one>);
}

TEST_CASE("elementwise: operands on different places are rejected", "[place][algebra]") {
  STATIC_REQUIRE(never<one, other, mismatch::places>);
  STATIC_REQUIRE(never<one, host, mismatch::places>);
  STATIC_REQUIRE(never<one, whole, mismatch::places>);
  STATIC_REQUIRE(never<one, dp::replicated<0>, mismatch::places>);
  STATIC_REQUIRE(never<one, sums, mismatch::places>);
  STATIC_REQUIRE(never<whole, whole_elsewhere, mismatch::places>);
  STATIC_REQUIRE(never<rows, rows_elsewhere, mismatch::places>);
  STATIC_REQUIRE(never<rows, dp::here<dp::backend::cuda>, mismatch::places>);
  STATIC_REQUIRE(never<rows, columns, mismatch::split_axes>);
}

TEST_CASE("elementwise: operations linear in the summands give partial results", "[place][algebra]") {
  STATIC_REQUIRE(gives<elementwise<arithmetic::additive, sums, sums>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::additive, means, means>, means>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::product, sums, number>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::product, number, sums>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::product, means, whole>, means>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::product, whole, sums>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::quotient, sums, whole>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::quotient, sums, number>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::negation, sums>, sums>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::larger, maxima, maxima>, maxima>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::smaller, minima, minima>, minima>);
}

TEST_CASE("elementwise: all other operations on summands are rejected", "[place][algebra]") {
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::negation, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::product, sums, sums>, mismatch::partial_product>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::quotient, sums, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::quotient, whole, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::quotient, number, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::additive, sums, whole>, mismatch::counted_repeatedly>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::additive, number, sums>, mismatch::counted_repeatedly>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, sums, number>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, sums, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::additive, maxima, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::product, maxima, number>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::smaller, maxima, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::larger, sums, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(never<sums, rows, mismatch::partial_and_split>);
  STATIC_REQUIRE(never<sums, means, mismatch::reductions>);
}

TEST_CASE("elementwise: three operands combine pairwise from the left", "[place][algebra]") {
  STATIC_REQUIRE(gives<elementwise<arithmetic::pointwise, whole, number, rows>, rows>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::pointwise, whole, number, number>, whole>);
  STATIC_REQUIRE(gives<elementwise<arithmetic::pointwise, one, one, one, number>, one>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, whole, rows, one>, mismatch::places>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, one, whole, whole>, mismatch::places>);
  STATIC_REQUIRE(fails<elementwise<arithmetic::pointwise, whole, number, sums>, mismatch::nonlinear>);
}

TEST_CASE("matmul: every placement of two matrices", "[place][algebra]") {
  STATIC_REQUIRE(gives<matmul<one, one>, one>);
  STATIC_REQUIRE(gives<matmul<whole, whole>, whole>);
  STATIC_REQUIRE(gives<matmul<rows, whole>, rows>);
  STATIC_REQUIRE(gives<matmul<whole, columns>, columns>);
  STATIC_REQUIRE(gives<matmul<transposed<rows>, rows>, sums>);
  STATIC_REQUIRE(gives<matmul<columns, transposed<columns>>, sums>);
  STATIC_REQUIRE(gives<matmul<transposed<whole>, whole>, whole>);
  STATIC_REQUIRE(gives<matmul<sums, whole>, sums>);
  STATIC_REQUIRE(gives<matmul<whole, means>, means>);
  STATIC_REQUIRE(fails<matmul<one, other>, mismatch::places>);
  STATIC_REQUIRE(fails<matmul<one, rows>, mismatch::places>);
  STATIC_REQUIRE(fails<matmul<sums, sums>, mismatch::partial_product>);
  STATIC_REQUIRE(fails<matmul<sums, rows>, mismatch::partial_and_split>);
  STATIC_REQUIRE(fails<matmul<columns, sums>, mismatch::partial_and_split>);
  STATIC_REQUIRE(fails<matmul<maxima, whole>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<matmul<rows, rows>, mismatch::contraction>);
  STATIC_REQUIRE(fails<matmul<whole, rows>, mismatch::contraction>);
  STATIC_REQUIRE(fails<matmul<transposed<rows>, whole>, mismatch::contraction>);
  STATIC_REQUIRE(fails<matmul<rows, columns>, mismatch::split_axes>);
}

TEST_CASE("reductions: whole and partial values", "[place][algebra]") {
  STATIC_REQUIRE(gives<reduced<reducing::mean, 0, one>, one>);
  STATIC_REQUIRE(gives<reduced<reducing::position, all, whole>, whole>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, all, sums>, sums>);
  STATIC_REQUIRE(gives<reduced<reducing::mean, 1, sums>, sums>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 1, means>, means>);
  STATIC_REQUIRE(gives<reduced<reducing::max, all, maxima>, maxima>);
  STATIC_REQUIRE(gives<reduced<reducing::min, 0, minima>, minima>);
  STATIC_REQUIRE(fails<reduced<reducing::max, all, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::min, all, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::sum, all, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::position, 0, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(gives<reduced<reducing::function, all, whole>, whole>);
  STATIC_REQUIRE(gives<reduced<reducing::sum_of_function, 0, one>, one>);
  STATIC_REQUIRE(fails<reduced<reducing::sum_of_function, all, sums>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::max_of_function, 0, maxima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::min_of_function, 0, minima>, mismatch::nonlinear>);
  STATIC_REQUIRE(fails<reduced<reducing::function, 1, means>, mismatch::nonlinear>);
}

TEST_CASE("reductions: along the split axis and along other axes", "[place][algebra]") {
  STATIC_REQUIRE(gives<reduced<reducing::sum, all, rows>, sums>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 0, rows>, sums>);
  STATIC_REQUIRE(gives<reduced<reducing::max, 0, rows>, maxima>);
  STATIC_REQUIRE(gives<reduced<reducing::min, all, rows>, minima>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 1, rows>, rows>);
  STATIC_REQUIRE(gives<reduced<reducing::mean, 1, rows>, rows>);
  STATIC_REQUIRE(gives<reduced<reducing::position, 2, rows>, rows>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 0, columns>, rows>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 1, planes>, columns>);
  STATIC_REQUIRE(gives<reduced<reducing::sum, 1, columns>, sums>);
  STATIC_REQUIRE(gives<summed<planes, 0, 1>, rows>);
  STATIC_REQUIRE(gives<summed<planes, 0, 3>, columns>);
  STATIC_REQUIRE(gives<summed<columns, 2, 0>, rows>);
  STATIC_REQUIRE(gives<summed<columns, 0, 1>, sums>);
  STATIC_REQUIRE(gives<summed<whole, 0, 2>, whole>);
  STATIC_REQUIRE(fails<reduced<reducing::mean, 0, rows>, mismatch::mean_of_parts>);
  STATIC_REQUIRE(fails<reduced<reducing::mean, all, rows>, mismatch::mean_of_parts>);
  STATIC_REQUIRE(fails<reduced<reducing::position, 0, rows>, mismatch::position_in_parts>);
  STATIC_REQUIRE(gives<reduced<reducing::sum_of_function, all, rows>, sums>);
  STATIC_REQUIRE(gives<reduced<reducing::max_of_function, 0, rows>, maxima>);
  STATIC_REQUIRE(gives<reduced<reducing::min_of_function, 1, columns>, minima>);
  STATIC_REQUIRE(gives<reduced<reducing::min_of_function, 1, rows>, rows>);
  STATIC_REQUIRE(gives<reduced<reducing::function, 1, rows>, rows>);
  STATIC_REQUIRE(fails<reduced<reducing::function, 0, rows>, mismatch::parts_of_rows>);
  STATIC_REQUIRE(fails<reduced<reducing::function, all, columns>, mismatch::parts_of_rows>);
}

TEST_CASE("row-wise functions need whole rows", "[place][algebra]") {
  STATIC_REQUIRE(gives<row_function<1, one>, one>);
  STATIC_REQUIRE(gives<row_function<0, whole>, whole>);
  STATIC_REQUIRE(gives<row_function<1, rows>, rows>);
  STATIC_REQUIRE(fails<row_function<0, rows>, mismatch::parts_of_rows>);
  STATIC_REQUIRE(fails<row_function<1, sums>, mismatch::nonlinear>);
}
