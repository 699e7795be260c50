// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/place/first_available.hpp>

#include <cstdlib>
#include <string>

#include <devplace/place/availability.hpp>
#include <devplace/place/device_map.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

using one = dp::on<dp::cuda<0>>;
using two = dp::replicated<0, 1>;
using host = dp::on<dp::cpu>;

/// Calls the function behind first_available, which does not compile in C++ files such as this one.
template <class... Where> std::string chosen() {
  const auto name = [](auto where) { return dp::placement_name<decltype(where)>(); };
  return dp::detail::attempt_candidates<std::string>(dp::detail::candidate_list<Where...>{}, name, {});
}

/// Checks that all cuda placements are unavailable for the given reason and that the CPU is available.
void check_that_only_the_cpu_remains(const std::string& reason) {
  CHECK(chosen<two, one, host>() == "cpu");
  CHECK(chosen<host, one>() == "cpu");
  CHECK_FALSE(dp::available<one>());
  CHECK_FALSE(dp::available<two>());
  CHECK_FALSE(dp::available<dp::on<dp::pinned>>());
  CHECK_THROWS_AS((chosen<two, one>()), dp::placement_unavailable);
  CHECK_THROWS_WITH((chosen<two, one>()), ContainsSubstring("replicated<cuda:0, cuda:1>: " + reason) &&
                                              ContainsSubstring(" cuda:0: " + reason));
  CHECK_THROWS_WITH(dp::require_available<two>(),
                    ContainsSubstring("replicated<cuda:0, cuda:1> cannot be used: " + reason));
  CHECK(cudaGetLastError() == cudaSuccess);  // CUDA's recorded error was cleared
  CHECK(mock::calls() == std::vector<std::string>{"cudaGetDeviceCount device 0"});
}

}  // namespace

TEST_CASE("with enough devices the first placement is taken", "[backend]") {
  CHECK(chosen<two, one, host>() == "replicated<cuda:0, cuda:1>");
  CHECK(chosen<dp::replicated<0, 1, 2>, one, host>() == "cuda:0");
  CHECK(chosen<dp::replicated<0, 2>, dp::on<dp::cuda<2>>, host>() == "cpu");
}

TEST_CASE("without a driver, error 35, the next placement is taken", "[backend]") {
  STATIC_REQUIRE(cudaErrorInsufficientDriver == 35);
  mock::remove_driver();
  check_that_only_the_cpu_remains("cuda:0 needs an NVIDIA driver");
}

TEST_CASE("without a device, error 100, the next placement is taken", "[backend]") {
  STATIC_REQUIRE(cudaErrorNoDevice == 100);
  mock::find_none(cudaErrorNoDevice);
  check_that_only_the_cpu_remains("cuda:0 does not exist: CUDA finds no device for this process (cudaGetDeviceCount");
}

TEST_CASE("with a count of 0 and no error the next placement is taken", "[backend]") {
  unsetenv("CUDA_VISIBLE_DEVICES");
  mock::find_none(cudaSuccess);
  check_that_only_the_cpu_remains(
      "cuda:0 does not exist: CUDA finds no device for this process; see nvidia-smi (the environment variable "
      "CUDA_VISIBLE_DEVICES is not set)");
}

TEST_CASE("if every device is hidden, the reason shows the variable", "[backend]") {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  mock::find_none(cudaErrorNoDevice);
  CHECK(chosen<one, host>() == "cpu");
  CHECK_THROWS_WITH(chosen<one>(), ContainsSubstring("CUDA_VISIBLE_DEVICES, which is \"\", or run on cpu"));
}

TEST_CASE("if CUDA cannot be queried, the next placement is taken", "[backend]") {
  mock::fail("cudaGetDeviceCount", cudaErrorSystemDriverMismatch);
  CHECK(chosen<two, one, host>() == "cpu");
}

TEST_CASE("GPUs that wait for the fabric manager are not called missing", "[backend]") {
  mock::find_none(cudaErrorSystemNotReady);
  CHECK(chosen<one, host>() == "cpu");
  CHECK_THROWS_WITH(chosen<one>(),
                    ContainsSubstring("because the machine's GPUs are not ready (cudaGetDeviceCount: ") &&
                        ContainsSubstring(", 802)); GPUs connected by NVSwitch need the service "
                                          "nvidia-fabricmanager") &&
                        !ContainsSubstring("does not exist"));
}

TEST_CASE("a map that names a device which does not exist is a mistake, not a missing device", "[backend]") {
  dp::set_device_map({{0, 0}, {1, 5}});
  CHECK_THROWS_AS((chosen<two, host>()), dp::argument_error);
}
