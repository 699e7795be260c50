// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tensors over two logical devices of one GPU: copies of rows and ranges between the devices, executed within the GPU,
// and collectives on the two streams.

#include <cstddef>
#include <vector>

#include <devplace/ops/assign.hpp>
#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/all_reduce.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/reduce_scatter.hpp>
#include <devplace/parallel/reduce_to_place.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/copy.hpp>

#include "parallel/summands.hpp"
#include "parallel/two_logical_devices.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using host = dp::on<dp::cpu>;
using first = dp::on<dp::cuda<0>>;
using second = dp::on<dp::cuda<1>>;
using support::counted;
using support::values_of;

namespace {

/// Checks that a tensor scattered from the host or a device and gathered on any of them equals the original.
template <std::size_t Axis, class X> void check_parts(const X& x) {
  using where = dp::sharded<dp::axis<Axis>, 0, 1>;
  INFO("axis " << Axis << " of " << dp::detail::to_string(x.extents()));
  const auto whole = values_of(x);
  const auto check = [&whole](const auto& parts) {
    CHECK(values_of(dp::gather<host>(parts)) == whole);
    CHECK(values_of(dp::gather<first>(parts)) == whole);
    CHECK(values_of(dp::gather<second>(parts)) == whole);
    const auto everywhere = dp::all_gather(parts);
    CHECK(values_of(everywhere.local(0)) == whole);
    CHECK(values_of(everywhere.local(1)) == whole);
  };
  check(dp::scatter<where>(x));
  check(dp::scatter<where>(dp::to<second>(x), dp::split::torch));
}

}  // namespace

TEST_CASE("tensors are copied from one logical device of a GPU to another and back", "[parallel]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const auto x = counted<float>(dp::extents<33, 10>{});
  const auto there = dp::to<second>(dp::to<first>(x));
  CHECK(values_of(there) == values_of(x));
  auto back = x.clone();
  dp::fill(back, 0);
  dp::copy(back, dp::to<first>(there));
  CHECK(values_of(back) == values_of(x));
  const auto everywhere = dp::broadcast<dp::replicated<0, 1>>(there);
  CHECK(values_of(everywhere.local(0)) == values_of(x));
  CHECK(values_of(everywhere.local(1)) == values_of(x));
}

TEST_CASE("scatter, gather and all_gather on two logical devices of a GPU, along every axis", "[parallel]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  check_parts<0>(counted<float>(dp::extents<dp::dyn, 3>{0}));
  check_parts<0>(counted<float>(dp::extents<1, 1>{}));
  check_parts<1>(counted<float>(dp::extents<10, 33>{}));
  check_parts<0>(counted<double>(dp::extents<7, 5, 3>{}));
  check_parts<1>(counted<double>(dp::extents<7, 5, 3>{}));
  check_parts<2>(counted<double>(dp::extents<7, 5, 3>{}));
  check_parts<1>(counted<float>(dp::extents<1003, 997>{}));
}

TEST_CASE("reductions between two logical devices of a GPU", "[parallel]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using summands = dp::partial<dp::reduction::sum, 0, 1>;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{100'003}}) {
    INFO(size << " elements");
    const auto x = support::random_summands<summands, float>(dp::extents<dp::dyn>(size), false);
    const auto everywhere = dp::all_reduce(x.summands);
    CHECK(values_of(everywhere.local(0)) == x.value);
    CHECK(values_of(everywhere.local(1)) == x.value);
    CHECK(values_of(dp::reduce<second>(x.summands)) == x.value);
    const auto parts = dp::reduce_scatter<dp::sharded<dp::axis<0>, 0, 1>>(x.summands);
    CHECK(values_of(dp::gather<host>(parts)) == x.value);
  }
}
