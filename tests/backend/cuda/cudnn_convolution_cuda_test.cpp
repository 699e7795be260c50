// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/convolution.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/cudnn_convolution.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/convolution_loops.hpp"
#include "support/cuda_device.hpp"
#include "support/cudnn_h100.hpp"

namespace dp = devplace;
using dp::detail::convolution_pass;
using dp::detail::product_math;

static_assert(dp::detail::configuration::convolution == dp::detail::convolution_library::cudnn);

namespace {

using here = dp::on<dp::cpu>;
using gpu = dp::on<dp::cuda<0>>;

/// Returns small integers, whose products and sums are exact in float. 16-bit sums are rounded, once or more.
template <class T> dp::tensor<T, dp::extents<dp::dyn>, here> small_integers(std::size_t n, std::size_t seed) {
  dp::tensor<T, dp::extents<dp::dyn>, here> result(dp::extents<dp::dyn>{n});
  for (std::size_t i = 0; i < n; ++i) result.data()[i] = T(static_cast<float>((i * 37 + seed * 11 + i / 7) % 9) - 4);
  return result;
}

template <class T, class Sum>
void compare(const dp::tensor<T, dp::extents<dp::dyn>, gpu>& found, const std::vector<Sum>& expected, bool rounded) {
  const auto copy = dp::to<here>(found);
  for (std::size_t i = 0; i < expected.size(); ++i)
    REQUIRE(std::abs(static_cast<Sum>(copy.data()[i]) - expected[i]) <=
            (rounded ? std::abs(expected[i]) / 64 + 1 : Sum{0}));
}

template <class T> void compare_with_loops(const dp::detail::convolution_shape& s) {
  using sum = dp::detail::computed_t<T>;
  const std::size_t outputs = s.groups * s.outputs;
  const auto x = small_integers<T>(s.samples * s.groups * s.channels * s.plane(), 1);
  const auto weight = small_integers<T>(s.weights(), 2), bias = small_integers<T>(outputs, 3);
  const auto dy = small_integers<T>(s.samples * outputs * s.pixels(), 4);
  const auto on_gpu = [](const auto& values) { return dp::to<gpu>(values); };
  auto x_there = on_gpu(x), weight_there = on_gpu(weight), bias_there = on_gpu(bias), dy_there = on_gpu(dy);
  auto y = on_gpu(dy), dx = on_gpu(x);
  auto dw = on_gpu(small_integers<sum>(s.weights(), 2));
  std::vector<sum> expected_y(dy.size()), expected_dx(x.size());
  std::vector<sum> expected_dw(weight.data(), weight.data() + weight.size());
  for (std::size_t i = 0; i < dy.size(); ++i) expected_y[i] = sum(bias.data()[i / s.pixels() % outputs]);
  dp::test::for_each_product(s, [&](std::size_t to, std::size_t from, std::size_t by) {
    expected_y[to] += sum(x.data()[from]) * sum(weight.data()[by]);
    expected_dx[from] += sum(dy.data()[to]) * sum(weight.data()[by]);
    expected_dw[by] += sum(dy.data()[to]) * sum(x.data()[from]);
  });
  for (sum& value : expected_y) value = value < 0 ? 0 : value;
  using dp::backend::cuda;
  dp::detail::dispatch<dp::op::convolution, cuda>(
      0, dp::detail::convolution_arguments<T>{s, x_there.data().get(), weight_there.data().get(),
                                              bias_there.data().get(), y.data().get(), dp::detail::epilogue::relu});
  dp::detail::dispatch<dp::op::convolution_input_gradient, cuda>(
      0, dp::detail::convolution_input_gradient_arguments<T>{s, dy_there.data().get(), weight_there.data().get(),
                                                             nullptr, dx.data().get()});
  dp::detail::dispatch<dp::op::convolution_weight_gradient, cuda>(
      0, dp::detail::convolution_weight_gradient_arguments<T>{s, dy_there.data().get(), x_there.data().get(),
                                                              dw.data().get(), 1, nullptr});
  constexpr bool rounded = dp::half_precision_element<T>;
  compare(y, expected_y, rounded);
  compare(dx, expected_dx, rounded);
  compare(dw, expected_dw, rounded);
}

}  // namespace

TEST_CASE("cuDNN accepts the description of every convolution, without a device", "[backend][cudnn]") {
  for (const auto& shape : dp::test::convolution_shapes())
    for (const auto pass :
         {convolution_pass::output, convolution_pass::input_gradient, convolution_pass::weight_gradient})
      for (const auto element : {dp::detail::dtype_of<float>, dp::detail::dtype_of<double>,
                                 dp::detail::dtype_of<dp::bf16>, dp::detail::dtype_of<dp::half>}) {
        const double beta = pass == convolution_pass::weight_gradient ? 1 : 0;
        const dp::detail::convolution_key key{shape, pass, element, product_math::strict, beta, {256, 16, 8}};
        INFO(to_string(key));
        std::vector<dp::detail::cudnn_descriptor> parts;
        CHECK(describe_convolution(parts, key, dp::detail::cudnn_caller(0, key)));
      }
}

#if CUDNN_VERSION >= 91900
namespace {

bool has_engine_on_h100(const dp::detail::convolution_key& key) {
  const dp::detail::cudnn_caller caller(0, key);
  std::vector<dp::detail::cudnn_descriptor> parts;
  REQUIRE(describe_convolution(parts, key, caller));
  const auto workspaces = dp::test::h100_workspaces(std::array{parts.back().get()}, may_use_tensor_cores(key), caller);
  return std::any_of(workspaces.begin(), workspaces.end(), [before = rounded_gradient_bytes(key)](std::size_t bytes) {
    return before + bytes <= dp::detail::cuda_cudnn_workspace::bytes;
  });
}

}  // namespace

TEST_CASE("cuDNN has a usable engine for every convolution on an H100, tested without a GPU", "[backend][cudnn]") {
  using dp::detail::dtype_of;
  for (const auto& shape : dp::test::convolution_shapes())
    for (const auto pass :
         {convolution_pass::output, convolution_pass::input_gradient, convolution_pass::weight_gradient})
      for (const auto& [element, math] :
           {std::pair{dtype_of<float>, product_math::strict}, std::pair{dtype_of<float>, product_math::tf32},
            std::pair{dtype_of<double>, product_math::strict}, std::pair{dtype_of<dp::bf16>, product_math::strict},
            std::pair{dtype_of<dp::half>, product_math::strict}}) {
        const double beta = pass == convolution_pass::weight_gradient ? 1 : 0;
        const dp::detail::convolution_key key{shape, pass, element, math, beta, {256, 256, 256}};
        INFO(to_string(key));
        CHECK(has_engine_on_h100(key));
      }
}
#endif

TEST_CASE("convolutions by cuDNN are right for every shape", "[backend][cudnn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const auto& shape : dp::test::convolution_shapes()) {
    INFO(shape.samples << " samples, " << shape.groups << " groups of " << shape.channels << " to " << shape.outputs
                       << ", " << shape.rows.in << "x" << shape.columns.in);
    compare_with_loops<float>(shape);
    compare_with_loops<double>(shape);
    compare_with_loops<dp::bf16>(shape);
    compare_with_loops<dp::half>(shape);
  }
}

TEST_CASE("cuDNN has engines for usual layers that give the same bits in every run", "[backend][cudnn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  cudnnHandle_t handle = nullptr;
  const dp::detail::cuda_scope device(0);
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  const dp::detail::convolution_shape shape{32, 1, 64, 64, {28, 28, 3, 1, 1, 1}, {28, 28, 3, 1, 1, 1}};
  for (const auto pass :
       {convolution_pass::output, convolution_pass::input_gradient, convolution_pass::weight_gradient})
    for (const auto math : {product_math::strict, product_math::tf32}) {
      const dp::detail::convolution_key key{shape, pass, dp::detail::dtype_of<float>, math, 0, {256, 256, 256}};
      INFO(to_string(key));
      CHECK(make_cudnn_plan(handle, key, dp::detail::cuda_cudnn_workspace::bytes, 0).plan);
    }
  CHECK(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
}
