// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/memory/stream.hpp>

#include <atomic>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/wait_for_host.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;

namespace {

struct refuse {
  void operator()(std::size_t) const { throw dp::argument_error("refused."); }
};

}  // namespace

TEST_CASE("a stream is ready when its work is done, and can be waited for", "[memory][stream]") {
  dp::stream<dp::cuda<0>> copies;
  CHECK(copies.ready());
  std::atomic<bool> go{false};
  const dp::tensor<float, dp::extents<4>, dp::on<dp::cuda<0>>> b{dp::extents<4>{}};
  const auto c = [&] {
    const dp::stream_scope on(copies);
    dp::detail::for_each_index<cuda>(0, 1, 1, dp::test::wait_for_host{&go});
    return b.clone();
  }();
  CHECK_FALSE(copies.ready());
  go = true;
  copies.synchronize();
  CHECK(copies.ready());
  CHECK(c.size() == 4);
}

TEST_CASE("events order the work of a place and of its streams", "[memory][stream]") {
  using device = dp::on<dp::cuda<1>>;
  const auto a = dp::to<device>(support::counted<double>(dp::extents<3>{}));
  dp::stream<dp::cuda<1>> side;
  dp::event<dp::cuda<1>> ready, done;
  ready.record();
  side.wait(ready);
  const auto b = [&] {
    const dp::stream_scope on(side);
    return a.clone();
  }();
  a.record_stream(side);
  done.record(side);
  done.before<dp::cuda<1>>();
  done.before(dp::stream<dp::cuda<0>>{});
  CHECK(support::values_of(b) == std::vector<double>{0, 1, 2});
  CHECK(done.ready());
}

TEST_CASE("a failure on a stream is thrown by the wait for the stream", "[memory][stream]") {
  const dp::stream<dp::cuda<0>> side;
  {
    const dp::stream_scope on(side);
    dp::detail::for_each_index<cuda>(0, 1, 1, refuse{});
  }
  CHECK_THROWS_AS(side.synchronize(), dp::argument_error);
  CHECK_NOTHROW(side.synchronize());
}

TEST_CASE("streams are moved, not copied", "[memory][stream]") {
  using stream = dp::stream<dp::cuda<0>>;
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<stream>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<stream>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<stream>);
  stream a, b = std::move(a);
  a = std::move(b);
  CHECK_NOTHROW(a.synchronize());
  CHECK_NOTHROW(stream::own().synchronize());
  CHECK_NOTHROW(stream::current().synchronize());
}

TEST_CASE("a stream on a missing device is an error", "[memory][stream]") {
  CHECK_THROWS_AS(dp::stream<dp::cuda<63>>(), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::stream<dp::cuda<63>>::current(), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::stream<dp::cuda<64>>::current(), dp::placement_unavailable);
  CHECK_THROWS_AS(dp::stream<dp::cuda<100000>>::current(), dp::placement_unavailable);
}

TEST_CASE("the cpu's streams are empty", "[memory][stream]") {
  const dp::stream<dp::cpu> none;
  const dp::stream_scope on(none);
  CHECK(dp::stream<dp::cpu>::current().native_handle() == nullptr);
  dp::event<dp::cpu> e;
  e.record(none);
  none.wait(e);
  CHECK(none.ready());
  CHECK_NOTHROW(none.synchronize());
  CHECK(none.native_handle() == nullptr);
}

TEST_CASE("a class derived from a stream works as a stream", "[memory][stream]") {
  struct numbered : dp::stream<dp::cuda<0>> {
    int number = 3;
  };
  const numbered s;
  const dp::stream_scope on(s);
  CHECK(dp::stream<dp::cuda<0>>::current().native_handle() == s.native_handle());
}
