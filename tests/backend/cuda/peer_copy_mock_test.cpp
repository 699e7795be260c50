// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using cuda = dp::backend::cuda;
using memory = dp::implementation<cuda, dp::op::memory>;

TEST_CASE("access to another GPU's pool is enabled before its memory is used", "[backend]") {
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(memory::why_apart(0, 1).empty());
  CHECK(std::count(mock::calls().begin(), mock::calls().end(), "cudaMemPoolSetAccess device 1 pool of 1 for 0") == 1);
  int current = -1;
  cudaGetDevice(&current);
  CHECK(current == 0);
}

TEST_CASE("places on one GPU can access each other's memory", "[backend]") {
  dp::set_device_map({{0, 1}, {1, 1}});
  CHECK(memory::why_apart(0, 1).empty());
  for (const std::string& call : mock::calls()) CHECK(call.find("SetAccess") == std::string::npos);
}

TEST_CASE("devices without peer access are named", "[backend]") {
  mock::separate_devices();
  CHECK(memory::why_apart(1, 0) == "cuda:1 cannot reach the memory of cuda:0");
}

TEST_CASE("a peer copy is enqueued on the destination's stream", "[backend]") {
  const auto from = dp::detail::allocate<cuda>(0, 8);
  const auto to = dp::detail::allocate<cuda>(1, 8);
  const double value = 3, none = 0;
  double result = 0;
  dp::detail::copy_in<cuda>(0, from.data(), &value, sizeof value);
  dp::detail::copy_in<cuda>(1, to.data(), &none, sizeof none);
  memory::copy_from_peer(1, to.data(), 0, from.data(), 8);  // enables the access to the pool
  mock::clear_calls();
  memory::copy_from_peer(1, to.data(), 0, from.data(), 8);
  CHECK(mock::calls() == std::vector<std::string>{"cudaMemcpyPeerAsync device 1 0 to 1"});
  dp::detail::copy_out<cuda>(1, &result, to.data(), sizeof result);
  CHECK(result == 3);
  CHECK(mock::violations() == std::vector<std::string>{});
}
