// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/place/kind.hpp>

#include <type_traits>

#include <devplace/place/placement.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

using dp::detail::keeps_equal_summands;
using dp::detail::kind_of;
using dp::detail::on_one_place;

namespace {

template <class Kind> constexpr int number_of_forms = Kind::is_copies + Kind::is_split + Kind::is_summands;

}  // namespace

TEST_CASE("kind_of gives the kind of placements, of views without an ordinal, and of numbers", "[place]") {
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::on<dp::cpu>>, on_one_place>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::here<dp::backend::cpu>>, on_one_place>);
  STATIC_REQUIRE(std::is_same_v<kind_of<void>, on_one_place>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::replicated<0, 1>>, dp::copies>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::replicated<0>>, dp::copies>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::sharded<dp::axis<2>, 0, 1>>, dp::split_along<2>>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::partial<dp::reduction::max, 0, 1>>, dp::summands<dp::reduction::max>>);
  STATIC_REQUIRE(std::is_same_v<kind_of<dp::across<dp::on<dp::cpu>>>, dp::copies>);
}

TEST_CASE("A kind has one form, and whole values are on one place or copies", "[place]") {
  STATIC_REQUIRE(number_of_forms<on_one_place> == 0);
  STATIC_REQUIRE((!on_one_place::is_distributed && on_one_place::is_whole));
  STATIC_REQUIRE((number_of_forms<dp::copies> == 1 && dp::copies::is_distributed && dp::copies::is_whole));
  using split = dp::split_along<1>;
  STATIC_REQUIRE((number_of_forms<split> == 1 && split::is_distributed && !split::is_whole && split::axis == 1));
  using sums = dp::summands<dp::reduction::sum>;
  STATIC_REQUIRE((number_of_forms<sums> == 1 && sums::is_distributed && !sums::is_whole));
}

TEST_CASE("Sums and means are linear; the maximum and minimum of equal summands are these summands", "[place]") {
  STATIC_REQUIRE((dp::summands<dp::reduction::sum>::is_linear && dp::summands<dp::reduction::mean>::is_linear));
  STATIC_REQUIRE((!dp::summands<dp::reduction::max>::is_linear && !dp::summands<dp::reduction::min>::is_linear));
  STATIC_REQUIRE((keeps_equal_summands<dp::copies> && keeps_equal_summands<dp::split_along<0>>));
  STATIC_REQUIRE((keeps_equal_summands<dp::summands<dp::reduction::max>> &&
                  keeps_equal_summands<dp::summands<dp::reduction::min>>));
  STATIC_REQUIRE((!keeps_equal_summands<dp::summands<dp::reduction::sum>> &&
                  !keeps_equal_summands<dp::summands<dp::reduction::mean>>));
}
