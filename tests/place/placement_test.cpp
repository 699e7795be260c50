// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <sstream>
#include <string>
#include <type_traits>

#include <devplace/place/placement.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

template <class Where> struct lies_on {
  using placement_type = Where;
};

template <class Where> std::string printed(Where where) {
  std::ostringstream out;
  out << where;
  return out.str();
}

}  // namespace

TEST_CASE("placements are empty types with a name", "[place]") {
  STATIC_REQUIRE(std::is_empty_v<dp::on<dp::cuda<7>>>);
  STATIC_REQUIRE(std::is_empty_v<dp::replicated<0, 1, 2>>);
  CHECK(printed(dp::on<dp::cpu>{}) == "cpu");
  CHECK(printed(dp::on<dp::cuda<3>>{}) == "cuda:3");
  CHECK(printed(dp::replicated<0, 2>{}) == "replicated<cuda:0, cuda:2>");
  CHECK(printed(dp::replicated_on<dp::cpu>{}) == "replicated<cpu>");
  CHECK(printed(dp::sharded<dp::axis<1>, 0, 1>{}) == "sharded<axis<1>, cuda:0, cuda:1>");
  CHECK(printed(dp::partial<dp::reduction::sum, 0, 1>{}) == "partial<sum; cuda:0, cuda:1>");
  CHECK(dp::placement_name<dp::partial<dp::reduction::max, 4>>() == "partial<max; cuda:4>");
  CHECK(dp::placement_name<dp::partial<dp::reduction::min, 4>>() == "partial<min; cuda:4>");
  CHECK(dp::placement_name<dp::partial<dp::reduction::mean, 4>>() == "partial<mean; cuda:4>");
}

TEST_CASE("a place converts to the placement on it", "[place]") {
  STATIC_REQUIRE(std::is_same_v<dp::on<dp::cpu>, dp::cpu>);
  STATIC_REQUIRE(dp::single_place<dp::cuda<1>>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_backend_t<dp::cuda<1>>, dp::backend::cuda>);
  STATIC_REQUIRE(std::is_same_v<dp::batch_placement_t<dp::cuda<1>>, dp::cuda<1>>);
  STATIC_REQUIRE(std::is_same_v<dp::primary_place_t<dp::replicated_on<dp::cpu>>, dp::cpu>);
  STATIC_REQUIRE(!dp::single_place<dp::replicated_on<dp::cpu>>);
  STATIC_REQUIRE(dp::host_accessible<dp::cpu> && !dp::host_accessible<dp::cuda<0>>);
  STATIC_REQUIRE(!dp::placement<int> && !dp::placement<dp::on<int>>);
  CHECK(printed(dp::cuda<3>{}) == "cuda:3");
  CHECK(dp::placement_name<dp::cpu>() == "cpu");
}

TEST_CASE("a placement is defined by its kind and its mesh", "[place]") {
  using traits = dp::placement_traits<dp::sharded<dp::axis<1>, 0, 1>>;
  STATIC_REQUIRE(std::is_same_v<traits::kind, dp::split_along<1>>);
  STATIC_REQUIRE(std::is_same_v<traits::mesh, dp::devices<dp::cuda<0>, dp::cuda<1>>>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_traits<dp::replicated<5>>::kind, dp::copies>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_traits<dp::on<dp::cpu>>::kind, dp::copies>);
  STATIC_REQUIRE(
      std::is_same_v<dp::placement_traits<dp::partial<dp::reduction::sum, 0>>::kind, dp::summands<dp::reduction::sum>>);
  STATIC_REQUIRE(dp::placement<dp::replicated<0, 1>>);
  STATIC_REQUIRE_FALSE(dp::placement<int>);
  STATIC_REQUIRE(dp::single_place<dp::on<dp::cuda<0>>>);
  STATIC_REQUIRE_FALSE(dp::single_place<dp::replicated<0>>);
}

TEST_CASE("the places of a placement", "[place]") {
  STATIC_REQUIRE(dp::local_place_count<dp::replicated<3, 1, 2>> == 3);
  STATIC_REQUIRE(std::is_same_v<dp::primary_place_t<dp::replicated<3, 1, 2>>, dp::cuda<3>>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_backend_t<dp::replicated<3, 1>>, dp::backend::cuda>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_backend_t<dp::on<dp::cpu>>, dp::backend::cpu>);
  STATIC_REQUIRE(dp::host_accessible<dp::on<dp::cpu>>);
  STATIC_REQUIRE_FALSE(dp::host_accessible<dp::on<dp::cuda<0>>>);
  STATIC_REQUIRE_FALSE(dp::host_accessible<dp::replicated<0>>);
}

TEST_CASE("a placement across processes has the local kind, and the local mesh times processes", "[place]") {
  using where = dp::across<dp::replicated<3, 1>>;
  using traits = dp::placement_traits<where>;
  STATIC_REQUIRE(std::is_empty_v<where>);
  STATIC_REQUIRE(dp::placement<where>);
  STATIC_REQUIRE_FALSE(dp::single_place<dp::across<dp::on<dp::cpu>>>);
  STATIC_REQUIRE(std::is_same_v<traits::kind, dp::copies>);
  STATIC_REQUIRE(std::is_same_v<traits::mesh, dp::processes_times<dp::devices<dp::cuda<3>, dp::cuda<1>>>>);
  STATIC_REQUIRE(std::is_same_v<dp::primary_place_t<where>, dp::cuda<3>>);
  STATIC_REQUIRE(std::is_same_v<dp::placement_backend_t<where>, dp::backend::cuda>);
  STATIC_REQUIRE_FALSE(dp::host_accessible<dp::across<dp::on<dp::cpu>>>);
  CHECK(printed(dp::across<dp::on<dp::cpu>>{}) == "across<cpu>");
  CHECK(printed(where{}) == "across<replicated<cuda:3, cuda:1>>");
}

TEST_CASE("placements compare by type", "[place]") {
  STATIC_REQUIRE(dp::cuda<0>{} == dp::on<dp::cuda<0>>{});
  STATIC_REQUIRE(dp::cuda<0>{} != dp::cuda<1>{});
  STATIC_REQUIRE(dp::cpu{} != dp::pinned{});
  STATIC_REQUIRE(dp::replicated<0, 1>{} == dp::replicated_on<dp::cuda<0>, dp::cuda<1>>{});
  STATIC_REQUIRE(dp::replicated<0, 1>{} != dp::replicated<1, 0>{});
  STATIC_REQUIRE(dp::replicated<0>{} != dp::cuda<0>{});
  STATIC_REQUIRE(dp::across<dp::cpu>{} != dp::cpu{});
}

TEST_CASE("is_on is true for each place of this process", "[place]") {
  STATIC_REQUIRE(dp::is_on<lies_on<dp::cpu>, dp::cpu>);
  STATIC_REQUIRE_FALSE(dp::is_on<lies_on<dp::cpu>, dp::cuda<0>>);
  STATIC_REQUIRE_FALSE(dp::is_on<lies_on<dp::cuda<1>>, dp::cuda<0>>);
  STATIC_REQUIRE(dp::is_on<const lies_on<dp::replicated<2, 0>>&, dp::cuda<0>>);
  STATIC_REQUIRE_FALSE(dp::is_on<lies_on<dp::replicated<2, 0>>, dp::cuda<1>>);
  STATIC_REQUIRE(dp::is_on<lies_on<dp::sharded<dp::axis<1>, 0, 1>>, dp::cuda<1>>);
  STATIC_REQUIRE(dp::is_on<lies_on<dp::partial<dp::reduction::sum, 0, 1>>&&, dp::cuda<1>>);
  STATIC_REQUIRE(dp::is_on<lies_on<dp::across<dp::replicated<0, 1>>>, dp::cuda<1>>);
  STATIC_REQUIRE_FALSE(dp::is_on<lies_on<dp::across<dp::cpu>>, dp::cuda<0>>);
}

TEST_CASE("participants are the places of all processes", "[place]") {
  STATIC_REQUIRE(dp::participant_count<dp::on<dp::cpu>>() == 1);
  STATIC_REQUIRE(dp::participant_count<dp::replicated<3, 1, 2>>() == 3);
  STATIC_REQUIRE(dp::local_place_count<dp::across<dp::replicated<3, 1, 2>>> == 3);
  STATIC_REQUIRE(dp::spans_processes<dp::across<dp::on<dp::cpu>>>);
  STATIC_REQUIRE_FALSE(dp::spans_processes<dp::replicated<3, 1, 2>>);
  for (const std::size_t processes : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    CHECK(dp::participant_count<dp::across<dp::on<dp::cpu>>>(processes) == processes);
    CHECK(dp::participant_count<dp::across<dp::replicated<3, 1, 2>>>(processes) == 3 * processes);
  }
}

TEST_CASE("batches and gradients of a model follow from its placement", "[place]") {
  STATIC_REQUIRE(std::is_same_v<dp::batch_placement_t<dp::on<dp::cuda<1>>>, dp::on<dp::cuda<1>>>);
  STATIC_REQUIRE(std::is_same_v<dp::batch_placement_t<dp::replicated<0, 1>>, dp::sharded<dp::axis<0>, 0, 1>>);
  STATIC_REQUIRE(std::is_same_v<dp::gradient_placement_t<dp::on<dp::cpu>>, dp::on<dp::cpu>>);
  STATIC_REQUIRE(std::is_same_v<dp::gradient_placement_t<dp::replicated<0, 1>>, dp::partial<dp::reduction::sum, 0, 1>>);
  using devices = dp::across<dp::replicated<0, 1>>;
  STATIC_REQUIRE(std::is_same_v<dp::batch_placement_t<devices>, dp::across<dp::sharded<dp::axis<0>, 0, 1>>>);
  STATIC_REQUIRE(std::is_same_v<dp::gradient_placement_t<devices>, dp::across<dp::partial<dp::reduction::sum, 0, 1>>>);
  using hosts = dp::across<dp::on<dp::cpu>>;
  STATIC_REQUIRE(std::is_same_v<dp::batch_placement_t<hosts>, dp::across<dp::sharded_on<dp::axis<0>, dp::cpu>>>);
  STATIC_REQUIRE(
      std::is_same_v<dp::gradient_placement_t<hosts>, dp::across<dp::partial_on<dp::reduction::sum, dp::cpu>>>);
  // Reduced gradients have the model's placement.
  STATIC_REQUIRE(std::is_same_v<dp::detail::with_kind_t<dp::gradient_placement_t<devices>, dp::copies>, devices>);
  STATIC_REQUIRE(std::is_same_v<dp::detail::with_kind_t<dp::gradient_placement_t<hosts>, dp::copies>, hosts>);
}
