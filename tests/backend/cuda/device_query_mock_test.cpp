// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/backend/cuda/device_query.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

using scalar = dp::tensor<float, dp::extents<>, dp::on<dp::cuda<0>>>;

}  // namespace

TEST_CASE("devices are described with their name, SMs and memory", "[backend]") {
  mock::set_devices(2, 5000);
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 3);
  CHECK(found[2].place == "cuda:1");
  CHECK(found[2].processor == "Mock GPU 1");
  CHECK(found[2].units == 7);
  CHECK(found[2].memory_total == 5000);
  CHECK_THAT(found[2].support, ContainsSubstring(", driver for up to 12.8, compute capability 9.0"));
  CHECK(found[2].capability_major == 9);
  CHECK(found[2].capability_minor == 0);
  CHECK(found[2].uuid == "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  CHECK(found[2].l2_cache == 4096);
  CHECK(found[1].peers == std::vector<std::string>{"cuda:1"});
  CHECK(found[2].peers == std::vector<std::string>{"cuda:0"});
  CHECK(found[0].peers.empty());
  REQUIRE(found[2].attributes.size() > 20);
  CHECK(std::string(found[2].attributes[0].name) == "WarpSize");
  CHECK(found[2].attributes[0].value == 32);
}

TEST_CASE("peers are the places on the same GPU and on GPUs that it can reach", "[backend]") {
  mock::set_devices(2);
  mock::separate_devices();
  dp::set_device_map({{0, 0}, {1, 1}, {2, 1}});
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 4);
  CHECK(found[1].peers.empty());
  CHECK(found[2].peers == std::vector<std::string>{"cuda:2"});
  CHECK(found[3].peers == std::vector<std::string>{"cuda:1"});
}

TEST_CASE("without a driver the reason names it and the remedy", "[backend]") {
  mock::remove_driver();
  CHECK(dp::list_devices().size() == 1);
  CHECK_THROWS_WITH(scalar{dp::extents<>{}},
                    ContainsSubstring("cuda:0 needs an NVIDIA driver") && ContainsSubstring("or run on cpu"));
}

TEST_CASE("without a device the reason names it", "[backend]") {
  mock::set_devices(0);
  CHECK_THROWS_WITH(scalar{dp::extents<>{}}, ContainsSubstring("CUDA finds no device for this process"));
  CHECK(mock::calls() == std::vector<std::string>{"cudaGetDeviceCount device 0"});
}

TEST_CASE("an ordinal beyond the last device is rejected before any CUDA call for it", "[backend]") {
  using third = dp::tensor<float, dp::extents<>, dp::on<dp::cuda<2>>>;
  CHECK_THROWS_WITH(third{dp::extents<>{}}, ContainsSubstring("this process sees 2 CUDA device(s)"));
  CHECK(mock::calls() == std::vector<std::string>{"cudaGetDeviceCount device 0"});
}

TEST_CASE("the variables that number CUDA's devices are shown", "[backend]") {
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("CUDA_DEVICE_ORDER");
  CHECK_THAT(dp::cuda_support_description(),
             ContainsSubstring("; devices are numbered by CUDA_DEVICE_ORDER=FASTEST_FIRST, CUDA's default, among all "
                               "(CUDA_VISIBLE_DEVICES is not set)"));
  for (const auto& device : dp::list_devices()) CHECK(device.device.empty());
}

TEST_CASE("if the environment renumbers devices, each is shown with its PCI address", "[backend]") {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  CHECK_THAT(dp::cuda_support_description(),
             ContainsSubstring("numbered by CUDA_DEVICE_ORDER=PCI_BUS_ID among those of "
                               "CUDA_VISIBLE_DEVICES=\"3,1\""));
  const auto found = dp::list_devices();
  REQUIRE(found.size() == 3);
  CHECK(found[2].device == "visible device 1, PCI address 0000:02:00.0");
  CHECK_THROWS_WITH((dp::tensor<float, dp::extents<>, dp::on<dp::cuda<2>>>{dp::extents<>{}}),
                    ContainsSubstring("CUDA_VISIBLE_DEVICES is \"3,1\""));
}

TEST_CASE("an unknown CUDA_DEVICE_ORDER is named", "[backend]") {
  setenv("CUDA_DEVICE_ORDER", "PCI", 1);
  CHECK_THAT(dp::cuda_support_description(),
             ContainsSubstring("CUDA_DEVICE_ORDER=\"PCI\", which is neither FASTEST_FIRST nor PCI_BUS_ID, among"));
}
