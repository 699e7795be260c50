// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the order between streams: the mock must find a missing wait and must not report ordered work.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using strings = std::vector<std::string>;
using place = dp::cuda<0>;
using device = dp::on<place>;
using pinned = dp::on<dp::pinned>;
using list = dp::extents<3>;

namespace {

auto counted() { return dp::to<pinned>(support::counted<float>(list{})); }

/// Orders the second stream after the first one.
void order(const dp::stream<place>& first, const dp::stream<place>& second) {
  dp::event<place> reached;
  reached.record(first);
  second.wait(reached);
}

/// The violations since construction; needed because the sections of a test case share a process.
class found {
 public:
  bool operator==(const strings& expected) const {
    return strings(mock::violations().begin() + start_, mock::violations().end()) == expected;
  }

 private:
  std::ptrdiff_t start_ = static_cast<std::ptrdiff_t>(mock::violations().size());
};

}  // namespace

TEST_CASE("a copy on another stream must wait for its tensor's stream, and other streams for the copy",
          "[backend][order]") {
  const found problems;
  const dp::stream<place> copies;
  const auto own = dp::stream<place>::own();
  const auto source = counted();
  dp::tensor<float, list, device> x{list{}};
  SECTION("in order") {
    order(own, copies);
    auto filled = dp::copy_async(x, source, copies);
    filled.after();
    const auto y = x.clone();
    CHECK(support::values_of(y) == std::vector<float>{0, 1, 2});
    CHECK(problems == strings{});
  }
  SECTION("without the wait before") {
    auto filled = dp::copy_async(x, source, copies);
    CHECK(problems == strings{"cudaMemcpyAsync: writes what another stream may still be writing"});
  }
  SECTION("without the wait behind") {
    order(own, copies);
    auto filled = dp::copy_async(x, source, copies);
    const auto y = x.clone();
    CHECK(problems == strings{"cudaMemcpyAsync: reads what another stream may still be writing"});
  }
  SECTION("without a wait for the reader") {
    order(own, copies);
    {
      auto filled = dp::copy_async(x, source, copies);
    }  // the host waits in the destructor
    const auto y = x.clone();
    auto again = dp::copy_async(x, source, copies);
    CHECK(problems == strings{"cudaMemcpyAsync: writes what another stream may still be reading"});
  }
  SECTION("with an event that was recorded too early") {
    order(copies, own);
    order(own, copies);
    auto filled = dp::copy_async(x, source, copies);
    const auto y = x.clone();
    CHECK(problems == strings{"cudaMemcpyAsync: reads what another stream may still be writing"});
  }
}

TEST_CASE("memory must exist until the last stream that uses it has finished", "[backend][order]") {
  const found problems;
  const dp::stream<place> copies;
  auto x = std::optional(dp::to<device>(support::counted<float>(list{})));
  dp::tensor<float, list, pinned> back{list{}};
  SECTION("by record_stream") {
    auto copy = dp::copy_async(back, *x, copies);
    x->record_stream(copies);
    x.reset();
    CHECK(problems == strings{});
  }
  SECTION("by to_async") {
    auto copy = dp::to_async<pinned>(*x, copies);
    x.reset();
    CHECK(problems == strings{});
  }
  SECTION("by nothing") {
    auto copy = dp::copy_async(back, *x, copies);
    x.reset();
    CHECK(problems == strings{"cudaFreeAsync: memory that another stream may still be using"});
  }
}

TEST_CASE("however a pending copy ends, no access is too early", "[backend][order]") {
  const found problems;
  const dp::stream<place> copies, compute;
  SECTION("it is forgotten") { static_cast<void>(dp::to_async<device>(counted(), copies)); }
  SECTION("it is replaced") {
    auto copy = dp::to_async<device>(counted(), copies);
    copy = dp::to_async<device>(counted(), compute);
  }
  SECTION("the host takes it") {
    const auto x = dp::to_async<device>(counted(), copies).get();
    const auto y = x.clone();
  }
  SECTION("a stream takes it") {
    auto copy = dp::to_async<device>(counted(), copies);
    auto& x = copy.after(compute);
    const dp::stream_scope on(compute);
    const auto y = x.clone();
  }
  SECTION("two streams take it") {
    auto copy = dp::to_async<device>(counted(), copies);
    auto& x = copy.after(compute);
    const auto y = copy.after().clone();
    const dp::stream_scope on(compute);
    const auto z = x.clone();
  }
  SECTION("a stream and then the host take it") {
    auto copy = dp::to_async<device>(counted(), copies);
    copy.after(compute);
    const auto x = std::move(copy).get();
    const dp::stream_scope on(compute);
    const auto y = x.clone();
  }
  SECTION("it goes there and back") {
    auto there = dp::to_async<device>(counted(), copies);
    auto back = dp::to_async<pinned>(there.after(), copies);
    CHECK(std::move(back).get()(2) == 2);
  }
  CHECK(problems == strings{});
}

TEST_CASE("copies between places are ordered with the work of both", "[backend][order]") {
  const found problems;
  const dp::stream<place> side;
  {
    const dp::stream_scope on(side);
    const auto x = dp::to<device>(support::counted<float>(list{}));
    const auto y = dp::to<dp::on<dp::cuda<1>>>(x.clone());
    CHECK(support::values_of(dp::to<device>(y)) == std::vector<float>{0, 1, 2});
  }
  CHECK(problems == strings{});
}
