// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/math.hpp>

#include <cstdint>

#include "ops/math_case.hpp"
#include "support/cuda_device.hpp"
namespace math_case = devplace::test::math_case;
using backend = devplace::backend::cuda;

TEST_CASE("functions of float and double elements are NumPy's, on a GPU", "[ops][math]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  math_case::check_floating<backend, float>();
  math_case::check_floating<backend, double>();
}

TEST_CASE("functions of integers are NumPy's at their limits, on a GPU", "[ops][math]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  math_case::check_integers<backend, std::int64_t>("i64/");
  math_case::check_integers<backend, std::int32_t>("i32/");
  math_case::check_integers<backend, std::uint8_t>("u8/");
}

TEST_CASE("functions of 16-bit elements round those of float once, on a GPU", "[ops][math]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  math_case::check_short_elements<backend, devplace::bf16>();
  math_case::check_short_elements<backend, devplace::half>();
}

TEST_CASE("functions are fused, also into strided views, on a GPU", "[ops][math]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  math_case::check_fused<backend>();
}
