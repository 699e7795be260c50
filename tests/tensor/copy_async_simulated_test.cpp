// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/copy_async.hpp>

#include <atomic>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/ops/for_each.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/wait_for_host.hpp"

namespace dp = devplace;
using cuda = dp::backend::cuda;
using device = dp::on<dp::cuda<0>>;
using pinned = dp::on<dp::pinned>;
using list = dp::extents<4>;
using values = std::vector<float>;

namespace {

/// Blocks the work of cuda<0> until `go()` or destruction.
class held_up {
 public:
  held_up() { dp::detail::for_each_index<cuda>(0, 1, 1, dp::test::wait_for_host{&go_}); }
  held_up(const held_up&) = delete;
  held_up& operator=(const held_up&) = delete;
  ~held_up() {
    go();
    static_cast<void>(dp::detail::events_of<cuda>().drain(0));
  }
  void go() { go_ = true; }

 private:
  std::atomic<bool> go_{false};
};

struct refuse {
  void operator()(std::size_t) const { throw dp::argument_error("refused."); }
};

auto counted() { return dp::to<pinned>(support::counted<float>(list{})); }

}  // namespace

TEST_CASE("a tensor is copied to a device while the host continues", "[tensor][async]") {
  const dp::stream<dp::cuda<0>> copies;
  const auto source = counted();
  held_up device_0;
  auto copy = dp::to_async<device>(source, copies);
  STATIC_REQUIRE(std::is_same_v<decltype(copy), dp::pending<dp::tensor<float, list, device>, dp::cuda<0>>>);
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<decltype(copy)>);
  CHECK_FALSE(copy.ready());
  device_0.go();
  const auto result = std::move(copy).get();
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(result)>, dp::tensor<float, list, device>>);
  CHECK(support::values_of(result) == values{0, 1, 2, 3});
}

TEST_CASE("a copy from a device comes after the work that wrote the tensor", "[tensor][async]") {
  const dp::stream<dp::cuda<0>> copies;
  const auto source = dp::to<device>(counted());
  CHECK(support::values_of(dp::to_async<pinned>(source, copies).get()) == values{0, 1, 2, 3});
  auto part = dp::to_async<pinned>(source.slice(1, 3));
  part.after(copies);
  CHECK(part.get()(1) == 2);
}

TEST_CASE("a temporary source lives until its copy is done", "[tensor][async]") {
  const std::size_t before = dp::memory_statistics<dp::pinned>().allocated;
  held_up device_0;
  auto copy = dp::to_async<device>(counted());
  CHECK(dp::memory_statistics<dp::pinned>().allocated == before + 16);
  device_0.go();
  CHECK(support::values_of(copy.get()) == values{0, 1, 2, 3});
  CHECK(dp::memory_statistics<dp::pinned>().allocated == before);
}

TEST_CASE("another stream can wait for a copy without the host", "[tensor][async]") {
  const dp::stream<dp::cuda<0>> copies, compute;
  const auto source = counted();
  held_up device_0;
  auto copy = dp::to_async<device>(source, copies);
  auto& there = copy.after(compute);
  STATIC_REQUIRE(std::is_same_v<decltype(there), dp::tensor<float, list, device>&>);
  const auto twice = [&] {
    const dp::stream_scope on(compute);
    return there.clone();
  }();
  CHECK_FALSE(copy.ready());
  device_0.go();
  CHECK(support::values_of(twice) == values{0, 1, 2, 3});
}

TEST_CASE("a copy into an existing tensor can be waited for; its destructor waits", "[tensor][async]") {
  const dp::stream<dp::cuda<0>> copies;
  const auto source = counted();
  dp::tensor<float, list, device> to(list{});
  dp::tensor<float, list, pinned> back(list{});
  {
    auto there = dp::copy_async(to, source, copies);
    there.after();
    auto again = dp::copy_async(back, to);
    again.wait();
    CHECK(again.ready());
  }
  CHECK(support::values_of(back) == values{0, 1, 2, 3});
  {
    const auto forgotten = dp::copy_async(back.slice(0, 1), to.slice(3, 4), copies);
  }
  CHECK(back(0) == 3);
}

TEST_CASE("a device's failure is thrown when the copy is waited for", "[tensor][async]") {
  dp::detail::for_each_index<cuda>(0, 1, 1, refuse{});
  auto copy = dp::to_async<device>(counted());
  CHECK_THROWS_AS(copy.get(), dp::argument_error);
  CHECK_THROWS_AS(copy.get(), dp::argument_error);  // never returns a tensor that was not copied
  CHECK_NOTHROW(dp::to_async<device>(counted()));   // the destructor does not throw
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::argument_error);
}

TEST_CASE("pending copies can be moved, and assignment waits for the replaced copy", "[tensor][async]") {
  auto a = dp::to_async<device>(counted());
  auto b = std::move(a);
  a = dp::to_async<device>(dp::to<pinned>(dp::tensor<float, list, dp::on<dp::cpu>>{5, 6, 7, 8}));
  b = std::move(a);
  CHECK(support::values_of(std::move(b).get()) == values{5, 6, 7, 8});
}

TEST_CASE("extents of an asynchronous copy are checked", "[tensor][async]") {
  using row = dp::extents<dp::dyn>;
  const dp::tensor<float, row, pinned> source(row{3});
  dp::tensor<float, row, device> to(row{4});
  CHECK_THROWS_AS(dp::copy_async(to, source), dp::shape_error);
  const dp::tensor<float, row, pinned> none(row{0});
  CHECK(dp::to_async<device>(none).get().size() == 0);
}
