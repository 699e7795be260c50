// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/leading_extent.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/print.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using support::counted;
using support::values_of;

namespace {

using sizes = std::vector<std::size_t>;

/// The parts' extents along the split axis.
template <class Tensor> sizes part_sizes(const Tensor& x, std::size_t axis = 0) {
  sizes result;
  for (std::size_t k = 0; k < Tensor::places; ++k) result.push_back(x.local(k).extent(axis));
  return result;
}

}  // namespace

TEST_CASE("each place has a part along the axis that the placement splits", "[tensor]") {
  const dp::tensor<float, dp::extents<5, 7, 3>, dp::sharded<dp::axis<1>, 2, 0, 1>> x(dp::extents<5, 7, 3>{});
  static_assert(std::is_same_v<decltype(x)::local_extents, dp::extents<5, dyn, 3>>);
  CHECK(x.size() == 105);
  CHECK(x.local(0).ordinal() == 2);
  CHECK(part_sizes(x, 1) == sizes{3, 2, 2});
  CHECK(x.local(1).size() == 30);
  CHECK(x.part_begin(0) == 0);
  CHECK(x.part_begin(2) == 5);
  CHECK(x.part_begin(3) == 7);
  CHECK(x.first_row(2) == 0);  // every place has all rows
  const dp::tensor<float, dp::extents<dyn>, dp::sharded<dp::axis<0>, 0, 1>> rows(dp::extents<dyn>{5});
  CHECK(rows.first_row(1) == 3);
}

TEST_CASE("a tensor stores its split", "[tensor]") {
  using where = dp::sharded<dp::axis<0>, 0, 1, 2, 3>;
  const dp::tensor<float, dp::extents<10, 2>, where> torch(dp::extents<10, 2>{}, dp::split::torch);
  CHECK(part_sizes(torch) == sizes{3, 3, 3, 1});
  const dp::tensor<float, dp::extents<10, 2>, where> given(dp::extents<10, 2>{}, dp::split::sizes{0, 1, 9, 0});
  CHECK(part_sizes(given) == sizes{0, 1, 9, 0});
  CHECK(given.first_row(3) == 10);
  CHECK(given.split_sizes().values == dp::split::sizes{0, 1, 9, 0}.values);
  const auto copied = given.clone();
  CHECK(part_sizes(copied) == part_sizes(given));
  dp::tensor<float, dp::extents<dyn>, where> fewer(dp::extents<dyn>{2});
  CHECK(part_sizes(fewer) == sizes{1, 1, 0, 0});
  const auto moved = std::move(fewer);
  CHECK(part_sizes(moved) == sizes{1, 1, 0, 0});
  CHECK_THROWS_AS((dp::tensor<float, dp::extents<10>, where>(dp::extents<10>{}, dp::split::sizes{1, 2, 3, 3})),
                  dp::argument_error);
}

TEST_CASE("replicated and partial tensors have the whole extents on every place", "[tensor]") {
  const dp::tensor<int, dp::extents<2, dyn>, dp::replicated<1, 0>> copies(dp::extents<2, dyn>{4});
  const dp::tensor<int, dp::extents<>, dp::partial<dp::reduction::max, 0, 3>> summands(dp::extents<>{});
  CHECK(copies.local(1).extents() == dp::extents<2, 4>{});
  CHECK(copies.local(1).ordinal() == 0);
  CHECK(summands.local(1).size() == 1);
  CHECK(summands.only_on(1).ordinal() == 3);
}

TEST_CASE("local reads a copy and only_on writes to one; a summand can be read and printed", "[tensor]") {
  using one = dp::extents<3>;
  dp::tensor<float, one, dp::replicated<2, 1>> copies;
  static_assert(std::is_same_v<decltype(copies.local(dp::cuda<1>{})), dp::view<const float, one, dp::cuda<1>>>);
  static_assert(std::is_same_v<decltype(copies.only_on<dp::cuda<1>>()), dp::view<float, one, dp::cuda<1>>>);
  static_assert(
      std::is_same_v<decltype(std::as_const(copies).only_on(dp::cuda<1>{})), dp::view<const float, one, dp::cuda<1>>>);
  dp::copy(copies.only_on(1), dp::tensor<float, one, dp::cpu>{1, 2, 3});
  CHECK(values_of(copies.local(1)) == std::vector<float>{1, 2, 3});
  CHECK(values_of(copies.local(0)) == std::vector<float>{0, 0, 0});

  dp::tensor<float, one, dp::partial_on<dp::reduction::sum, dp::cpu>> summands;
  summands.only_on(dp::cpu{})(2) = 4;
  const auto summand = std::as_const(summands).local(dp::cpu{});
  CHECK(summand(2) == 4);
  CHECK(summand.extents() == one{});
  CHECK(summand.extent(0) == 3);
  CHECK(summand.size() == 3);
  std::ostringstream text;
  text << summand;
  CHECK(text.str() == "summand<float, 3> on cpu\n[0. 0. 4.]");
}

TEST_CASE("the part of a place is a view on that place", "[tensor]") {
  dp::tensor<float, dp::extents<6, 2>, dp::sharded<dp::axis<0>, 3, 1>> x(dp::extents<6, 2>{}, dp::split::sizes{4, 2});
  const auto& constant = x;
  static_assert(
      std::is_same_v<decltype(x.local(dp::cuda<1>{})), dp::view<float, dp::extents<dyn, 2>, dp::on<dp::cuda<1>>>>);
  static_assert(std::is_same_v<decltype(constant.local<dp::cuda<3>>()),
                               dp::view<const float, dp::extents<dyn, 2>, dp::on<dp::cuda<3>>>>);
  CHECK(x.local(dp::cuda<1>{}).data().get() == x.local(1).data());
  CHECK(x.local<dp::cuda<1>>().extent(0) == 2);
  CHECK(constant.local(dp::cuda<3>{}).data().get() == x.local(0).data());
  const auto values = counted<float>(dp::extents<4, 2>{});
  dp::copy(x.local(dp::cuda<3>{}), values);
  CHECK(values_of(dp::to<dp::on<dp::cpu>>(x.local(dp::cuda<3>{}))) == values_of(values));
}

TEST_CASE("a clone has the same elements in separate memory", "[tensor]") {
  dp::tensor<float, dp::extents<dyn>, dp::sharded<dp::axis<0>, 0, 1>> x(dp::extents<dyn>{3});
  dp::copy(x.local(0), counted<float>(dp::extents<dyn>{2}));
  dp::copy(x.local(1), counted<float>(dp::extents<dyn>{1}));
  auto copied = x.clone();
  CHECK(copied.local(0).data() != x.local(0).data());
  dp::copy(x.local(0), dp::tensor<float, dp::extents<2>, dp::on<dp::cpu>>{8, 9});
  CHECK(values_of(copied.local(0)) == std::vector<float>{0, 1});
  CHECK(values_of(copied.local(1)) == std::vector<float>{0});
  copied = std::move(x);
  CHECK(values_of(copied.local(0)) == std::vector<float>{8, 9});
  static_assert(!std::is_copy_constructible_v<decltype(copied)> && !std::is_copy_assignable_v<decltype(copied)>);
}

TEST_CASE("the number of rows changes within the allocated memory, with the tensor's split rule", "[tensor]") {
  using dp::detail::leading_extent;
  dp::tensor<float, dp::extents<dyn, 2>, dp::sharded<dp::axis<0>, 0, 1, 2, 3>> torch(dp::extents<dyn, 2>(12),
                                                                                     dp::split::torch);
  leading_extent::set(torch, 9);
  CHECK(part_sizes(torch) == sizes{3, 3, 3, 0});
  leading_extent::set(torch, 8);
  CHECK(part_sizes(torch) == sizes{2, 2, 2, 2});
  CHECK(torch.first_row(3) == 6);
  leading_extent::set(torch, 12);
  CHECK(part_sizes(torch) == sizes{3, 3, 3, 3});
  CHECK_THROWS_AS(leading_extent::set(torch, 13), dp::shape_error);
  CHECK(part_sizes(torch) == sizes{3, 3, 3, 3});
  CHECK(torch.extent(0) == 12);

  dp::tensor<float, dp::extents<dyn>, dp::sharded<dp::axis<0>, 0, 1>> given(dp::extents<dyn>(6),
                                                                            dp::split::sizes{2, 4});
  CHECK_THROWS_AS(leading_extent::set(given, 5), dp::shape_error);  // an even split needs 3 rows on the first place
  CHECK(part_sizes(given) == sizes{2, 4});
  leading_extent::set(given, 4);
  CHECK(part_sizes(given) == sizes{2, 2});

  dp::tensor<float, dp::extents<dyn, 5>, dp::sharded<dp::axis<1>, 0, 1>> columns(dp::extents<dyn, 5>(4),
                                                                                 dp::split::sizes{1, 4});
  leading_extent::set(columns, 3);
  CHECK(part_sizes(columns, 0) == sizes{3, 3});
  CHECK(part_sizes(columns, 1) == sizes{1, 4});
  CHECK_THROWS_AS(leading_extent::set(columns, 5), dp::shape_error);
  CHECK(columns.extent(0) == 3);
}

TEST_CASE("a number is assigned on every place, and a moved-from tensor throws", "[tensor]") {
  dp::tensor<float, dp::extents<3, 2>, dp::sharded<dp::axis<0>, 0, 1>> x;
  x = 3;
  CHECK(dp::item(dp::sum(dp::to<dp::cpu>(x.local(dp::cuda<1>{})))) == 6);
  std::ostringstream placement;
  placement << x.placement();
  CHECK(placement.str() == "sharded<axis<0>, cuda:0, cuda:1>");
  const auto y = std::move(x);
  CHECK_THROWS_WITH(x.local(0), Catch::Matchers::ContainsSubstring("this tensor was moved from"));
  CHECK_THROWS_WITH(x.clone(), Catch::Matchers::ContainsSubstring("this tensor was moved from"));
  CHECK(y.size() == 6);
}
