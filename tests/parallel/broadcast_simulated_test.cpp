// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/parallel/broadcast.hpp>
#include <devplace/tensor/copy.hpp>

#include "parallel/meshes.hpp"
#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::dyn;
using support::counted;
using support::values_of;

namespace {

template <class Where, class X> void check_copies(const X& x) {
  const auto copies = dp::broadcast<Where>(x);
  static_assert(std::is_same_v<typename decltype(copies)::placement_type, Where>);
  CHECK(copies.extents() == x.extents());
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) CHECK(values_of(copies.local(k)) == values_of(x));
}

}  // namespace

TEST_CASE("broadcast copies a tensor to every place, for up to nine places", "[parallel]") {
  support::for_up_to_9_devices([](auto mesh) {
    using where = typename decltype(mesh)::replicated;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{70}})
      check_copies<where>(counted<float>(dp::extents<dyn>(size)));
    check_copies<where>(dp::to<dp::on<dp::cuda<0>>>(counted<std::int64_t>(dp::extents<3, 2>{})));
    check_copies<where>(dp::to<dp::on<dp::cuda<8>>>(counted<double>(dp::extents<>{})));
  });
}

TEST_CASE("broadcast accepts views and any order of places", "[parallel]") {
  const auto x = counted<float>(dp::extents<6, 5>{});
  check_copies<dp::replicated<2, 0>>(x.slice(2, 4));
  const auto there = dp::to<dp::on<dp::cuda<1>>>(x);
  check_copies<dp::replicated<1, 2, 0>>(there[3]);
  const auto copies = dp::broadcast<dp::replicated<2, 0>>(x);
  CHECK(copies.local(0).ordinal() == 2);
  check_copies<dp::replicated<0, 1>>(copies.local(dp::cuda<2>{}));
}
