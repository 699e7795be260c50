// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/check.hpp>

#include <cstddef>
#include <optional>
#include <string>

#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using device = dp::on<dp::cuda<0>>;

namespace {

struct write_to_unmapped_memory {
  volatile float* nowhere;
  DEVPLACE_HD void operator()(std::size_t i) const { nowhere[i] = 1; }
};

}  // namespace

// Afterwards the process cannot use the GPU. The tag excludes this test when compute-sanitizer runs all cases in one
// process.
TEST_CASE("a failing kernel makes the GPU unusable, and the process continues without it", "[backend][api-error]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  auto a = std::optional(dp::to<device>(dp::tensor<float, dp::extents<2>, dp::on<dp::cpu>>{1, 2}));
  auto e = std::make_optional<dp::event<dp::cuda<0>>>();
  const dp::stream<dp::cuda<0>> side;
  dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, write_to_unmapped_memory{nullptr});
  std::string first;
  try {
    dp::synchronize<dp::cuda<0>>();
  } catch (const dp::device_lost& problem) {
    first = problem.what();
  }
  CHECK_THAT(first,
             ContainsSubstring("the device is lost to this process since cudaStreamSynchronize on cuda:0 failed") &&
                 ContainsSubstring("cudaErrorIllegalAddress, 700") && ContainsSubstring("write_to_unmapped_memory"));
  CHECK_THROWS_WITH(a->clone(), Catch::Matchers::Equals(first));
  CHECK_THROWS_WITH(e->record(), Catch::Matchers::Equals(first));
  CHECK(side.ready());
  CHECK_FALSE(dp::available<device>());
  CHECK(dp::list_devices().size() == static_cast<std::size_t>(dp::detail::cuda_devices().count));  // cpu, other GPUs
  a.reset();
  e.reset();
  if (dp::available<dp::on<dp::cuda<1>>>()) CHECK_NOTHROW(dp::synchronize<dp::cuda<1>>());
}
