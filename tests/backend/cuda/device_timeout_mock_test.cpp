// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/wait.hpp>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <devplace/backend/cuda/events.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/streams.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/in_child.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using device = dp::on<dp::cuda<0>>;

namespace {

void pretend_to_launch(int ordinal, const char* name) {
  const dp::detail::cuda_scope scope(ordinal);
  scope.after_launch(name);
}

/// Pretends that a kernel on cuda<0> never ends, with a timeout of one second.
void pretend_endless_kernel() {
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "1", 1);
  pretend_to_launch(0, "endless_kernel");
  mock::set_done(false);
}

const std::string gave_up =
    "the device has not finished endless_kernel within the 1 second of DEVPLACE_DEVICE_TIMEOUT and is lost to this "
    "process; its memory is not used again. Correct that work, or allow more time; to use the device again, restart "
    "the process.";

}  // namespace

TEST_CASE("a GPU that does not finish in time is lost, and the error names the kernel", "[backend][timeout]") {
  pretend_endless_kernel();
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), Equals("devplace: cuda:0: " + gave_up));
  mock::clear_calls();
  CHECK_THROWS_AS(dp::synchronize<dp::cuda<0>>(), dp::device_lost);
  CHECK(mock::calls().empty());
  mock::set_done(true);
  CHECK_NOTHROW(dp::synchronize<dp::cuda<1>>());
}

TEST_CASE("waits for events and streams end with the timeout too", "[backend][timeout]") {
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "1", 1);
  std::optional<dp::event<dp::cuda<0>>> done;
  std::optional<dp::stream<dp::cuda<1>>> side;
  done.emplace();
  side.emplace();
  done->record();
  pretend_endless_kernel();
  CHECK_THROWS_WITH(done->wait(), ContainsSubstring(gave_up));
  CHECK_THROWS_WITH(side->synchronize(), ContainsSubstring("cuda:1: the device has not finished its work within"));
  done.reset();
  side.reset();
}

TEST_CASE("a copy to the host first waits with the timeout", "[backend][timeout]") {
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "1", 1);
  const auto a = dp::to<device>(support::counted<float>(dp::extents<4>{}));
  CHECK(support::values_of(dp::to<dp::on<dp::cpu>>(a)) == std::vector<float>{0, 1, 2, 3});
  pretend_endless_kernel();
  mock::clear_calls();
  CHECK_THROWS_AS(dp::to<dp::on<dp::cpu>>(a), dp::device_lost);
  for (const std::string& call : mock::calls()) CHECK_THAT(call, ContainsSubstring("cudaStreamQuery"));
}

TEST_CASE("a timeout does not change how a failed kernel is reported", "[backend][timeout]") {
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "1", 1);
  pretend_to_launch(0, "scale_kernel");
  mock::break_device(0, cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(),
                    ContainsSubstring("cudaStreamQuery on cuda:0 failed: an illegal memory access") &&
                        ContainsSubstring("scale_kernel"));
}

TEST_CASE("without a timeout, waiting is CUDA's own call", "[backend][timeout]") {
  pretend_to_launch(0, "scale_kernel");
  mock::set_done(false);
  mock::clear_calls();
  dp::synchronize<dp::cuda<0>>();
  CHECK(mock::calls() == std::vector<std::string>{"cudaStreamSynchronize device 0"});
  mock::set_done(true);
}

TEST_CASE("the first use of a GPU reports an invalid timeout", "[backend][timeout]") {
  ::setenv("DEVPLACE_DEVICE_TIMEOUT", "soon", 1);
  CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), ContainsSubstring("DEVPLACE_DEVICE_TIMEOUT is \"soon\""));
}

TEST_CASE("an unread failure is written to stderr at exit", "[backend][timeout]") {
  const auto fails = [](bool reads) {
    pretend_to_launch(1, "scale_kernel");
    mock::break_device(1, cudaErrorIllegalAddress);
    try {
      if (reads) dp::synchronize<dp::cuda<1>>();
    } catch (const dp::device_lost&) {
    }
  };
  const std::string unread = support::in_child([&] { fails(false); });
  CHECK_THAT(unread, StartsWith("devplace: cuda:1 failed, and the program ended without reading a loss or waiting: ") &&
                         ContainsSubstring("an illegal memory access") && ContainsSubstring("scale_kernel") &&
                         !ContainsSubstring("status"));
  CHECK(unread.find('\n') == unread.size() - 1);
  CHECK(support::in_child([&] { fails(true); }).empty());
  CHECK(support::in_child([] { pretend_to_launch(1, "scale_kernel"); }).empty());
}

TEST_CASE("a GPU that never finishes does not keep the program from exiting", "[backend][timeout]") {
  CHECK(support::in_child([] {
          pretend_to_launch(0, "endless_kernel");
          mock::set_done(false);
        }).empty());
  CHECK_THAT(support::in_child(pretend_endless_kernel), StartsWith("devplace: cuda:0 failed, and the program ended") &&
                                                            ContainsSubstring(gave_up) && !ContainsSubstring("status"));
}
