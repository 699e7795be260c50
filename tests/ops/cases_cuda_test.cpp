// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cases that tests/ops shares between places (*_case.hpp), on a GPU.

#include <cstdint>

#include <devplace/ops/math.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "ops/elementwise_device_case.hpp"
#include "ops/evaluated_case.hpp"
#include "ops/math_case.hpp"
#include "ops/rearrange_case.hpp"
#include "ops/reduce_device_case.hpp"
#include "ops/special_values_case.hpp"
#include "ops/statistics_device_case.hpp"
#include "ops/strided_case.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
namespace math_case = devplace::test::math_case;
namespace special_values = devplace::test::special_values;
using device = dp::on<dp::cuda<0>>;
using backend = devplace::backend::cuda;
using host = dp::on<dp::cpu>;

TEST_CASE("a GPU computes expressions like the CPU", "[ops][elementwise]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::exact_formulas_differ_by<device>() == 0);
  CHECK(dp::test::approximate_formulas_differ_by<device>() < 1e-6);
  CHECK(dp::test::assignments_differ_by<device>() < 1e-6);  // products and differences may be contracted to FMA
}

TEST_CASE("a GPU draws the CPU's random numbers and scales bytes alike, to the bit", "[ops][random]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::random_numbers_differ_by<device>() == 0);
  CHECK(dp::test::scaled_bytes_differ_by<device>() == 0);
}

TEST_CASE("printing copies from a GPU", "[tensor][print]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  CHECK(dp::test::printed<device>() == "tensor<float, 2x2> on cuda:0\n[[ 1.   2.5]\n [-3.   4. ]]");
}

TEST_CASE("operations on stored elements take expressions, on a GPU", "[ops][evaluated]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  evaluated_case::check_operations_on_expressions<devplace::cuda<0>>();
}

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

TEST_CASE("a GPU moves, joins and chooses elements as the CPU does", "[ops]") {
  if (!dp::available<device>()) DEVPLACE_SKIP("no CUDA device");
  dp::test::test_rearrangements<float, device>();
  dp::test::test_parts_of_matrices<double, device>();
  dp::test::test_reversed_views<float, device>();
}

TEST_CASE("reductions on a GPU equal the CPU's", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_reductions<dp::cuda<0>>();
}

TEST_CASE("sums on a GPU have the same bits in every run", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_bits_of_sums<dp::cuda<0>>();
}

TEST_CASE("NaN, infinities and -0 in functions of elements, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_functions<backend>();
}

TEST_CASE("NaN and infinities in activations and their gradients, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_activations<backend>();
}

TEST_CASE("NaN, infinities and -0 in operators, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_operators<backend>();
}

TEST_CASE("NaN, infinities and -0 in reductions, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_reductions<backend>();
}

TEST_CASE("NaN and infinities in softmax and log_softmax, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_softmax<backend>();
}

TEST_CASE("NaN and infinities in cross_entropy, on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  special_values::check_cross_entropy<backend>();
}

TEST_CASE("statistics on a GPU equal the CPU's", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_statistics<dp::cuda<0>, float, double, std::int32_t>();
  dp::test::check_statistics_of<dp::cuda<0>, std::int64_t>(70, 33);
  dp::test::check_statistics_of<dp::cuda<0>, std::uint8_t>(70, 33);
}

TEST_CASE("statistics of 16-bit elements on a GPU", "[ops]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::test::check_short_statistics<dp::cuda<0>, dp::bf16>();
  dp::test::check_short_statistics<dp::cuda<0>, dp::half>();
}

TEST_CASE("a GPU computes with strided views as the CPU does", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_elementwise<device>();
  strided_case::check_details<device>();
  strided_case::check_overlap<device>();
}

TEST_CASE("copies take strided views to and from a GPU", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_copies<device, device>();
  strided_case::check_copies<device, host>();
  strided_case::check_copies<host, device>();
}

TEST_CASE("a GPU multiplies arrays of matrices with strides", "[ops][strided]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  strided_case::check_products<device, float>();
  strided_case::check_products<device, double>();
  strided_case::check_leading_axes<device>();
}
