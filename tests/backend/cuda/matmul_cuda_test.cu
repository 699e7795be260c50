// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <devplace/ops/linear_gradients.hpp>
#include <devplace/ops/matmul.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;

namespace {

template <class T> T element(std::size_t i) { return static_cast<T>(i * 37 % 17) / 8 - 1; }

template <class T> struct device_array {
  std::vector<T> host;
  dp::detail::memory_block block;

  explicit device_array(std::size_t n) : host(n), block(dp::detail::allocate<dp::backend::cuda>(0, n * sizeof(T))) {
    for (std::size_t i = 0; i < n; ++i) host[i] = element<T>(i);
    dp::detail::copy_in<dp::backend::cuda>(0, block.data(), host.data(), n * sizeof(T));
  }
  T* data() const { return static_cast<T*>(block.data()); }
  std::vector<T> now() const {
    std::vector<T> values(host.size());
    dp::detail::copy_out<dp::backend::cuda>(0, values.data(), block.data(), host.size() * sizeof(T));
    return values;
  }
};

}  // namespace

namespace {

struct shape {
  std::size_t m, n, k;
};

/// Returns the largest difference between the product and its definition in double; checks that memory outside C does
/// not change.
template <class T>
double largest_error(dp::detail::gemm_arguments<T> g, const device_array<T>& a, const device_array<T>& b,
                     const device_array<T>& c, const device_array<T>* bias) {
  g.a = a.data(), g.b = b.data(), g.c = c.data(), g.bias = bias == nullptr ? nullptr : bias->data();
  const std::vector<T> before = c.now();
  dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, g);
  const std::vector<T> after = c.now();
  double largest = 0;
  for (std::size_t at = 0; at < before.size(); ++at) {
    const std::size_t i = at / g.ldc, j = at % g.ldc;
    double expected = before[at];
    if (i < g.m && j < g.n) {
      double sum = 0;
      for (std::size_t p = 0; p < g.k; ++p)
        sum += static_cast<double>(a.host[g.transpose_a ? p * g.lda + i : i * g.lda + p]) *
               b.host[g.transpose_b ? j * g.ldb + p : p * g.ldb + j];
      expected = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * expected) + (bias == nullptr ? T{0} : bias->host[j]);
      if (g.epilogue == dp::detail::epilogue::relu && expected < 0) expected = 0;
    }
    const double error = std::abs(after[at] - expected);
    largest = error <= largest ? largest : error;
  }
  return largest;
}

template <class T> dp::detail::gemm_arguments<T> arguments_of(const shape& s, unsigned bits) {
  dp::detail::gemm_arguments<T> g;
  g.m = s.m, g.n = s.n, g.k = s.k;
  g.transpose_a = (bits & 1) != 0, g.transpose_b = (bits & 2) != 0;
  g.lda = g.transpose_a ? s.m : s.k, g.ldb = g.transpose_b ? s.k : s.n, g.ldc = s.n;
  g.epilogue = (bits & 4) != 0 ? dp::detail::epilogue::relu : dp::detail::epilogue::none;
  return g;
}

/// Returns the cached plans of products of one shape; other tests in the process may have cached plans of other shapes.
std::vector<const dp::detail::product_plan*> plans_of(const shape& s, dp::detail::product_math math) {
  std::vector<const dp::detail::product_plan*> found;
  for (const auto& [key, plan] : dp::detail::product_cache_of(0).plans)
    if (key.m == s.m && key.n == s.n && key.k == s.k && key.math == math) found.push_back(&plan);
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("products on a GPU are right for every combination of arguments", "[backend]", float, double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  const device_array<T> a(14 * 14), b(14 * 14), bias(8);
  const T scales[][2] = {{1, 0}, {1, 1}, {-2, 3}, {0, 2}};
  for (const shape s : {shape{5, 7, 11}, shape{8, 8, 2}, shape{1, 7, 11}, shape{1, 8, 12}, shape{5, 1, 11},
                        shape{1, 1, 11}, shape{5, 7, 1}, shape{1, 7, 1}, shape{5, 1, 1}, shape{5, 7, 0}})
    for (const auto& scale : scales)
      for (unsigned bits = 0; bits < 16; ++bits) {
        CAPTURE(s.m, s.n, s.k, bits, scale[0], scale[1]);
        const device_array<T> c(s.m * 12);
        auto g = arguments_of<T>(s, bits);
        g.lda = 13, g.ldb = 12, g.ldc = 12, g.alpha = scale[0], g.beta = scale[1];
        CHECK(largest_error(g, a, b, c, (bits & 8) != 0 ? &bias : nullptr) <= (sizeof(T) == 4 ? 2e-5 : 1e-13));
      }
}

TEST_CASE("products of training on a GPU are right, of the sizes of a classifier and larger", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const std::size_t by = support::on_software_gpu ? 8 : 1;
  for (const shape s : {shape{64, 256 / by, 784 / by}, shape{64, 10, 256}, shape{256 / by, 784 / by, 64},
                        shape{10, 256, 64}, shape{64, 256, 10}, shape{300 / by, 1, 5000}, shape{1, 300 / by, 5000},
                        shape{1, 1, 10000}, shape{257 / by, 129, 65}})
    for (unsigned bits = 0; bits < 8; ++bits) {
      CAPTURE(s.m, s.n, s.k, bits);
      const device_array<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n), bias(s.n);
      const auto g = arguments_of<float>(s, bits);
      CHECK(largest_error(g, a, b, c, &bias) <= 1e-5 * static_cast<double>(s.k));
      const std::vector<float> once = c.now();
      dp::detail::copy_in<dp::backend::cuda>(0, c.block.data(), c.host.data(), c.host.size() * sizeof(float));
      CHECK(largest_error(g, a, b, c, &bias) <= 1e-5 * static_cast<double>(s.k));
      CHECK(c.now() == once);  // bitwise
    }
}

TEST_CASE("cuBLASLt computes the products of training, in float, and TF32 only where it is asked for", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const shape s{64, 256, 784};
  device_array<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n);
  for (float& x : a.host) x += 1.0f / 16384;  // below TF32's precision
  for (float& x : b.host) x += 1;
  dp::detail::copy_in<dp::backend::cuda>(0, a.block.data(), a.host.data(), a.host.size() * sizeof(float));
  dp::detail::copy_in<dp::backend::cuda>(0, b.block.data(), b.host.data(), b.host.size() * sizeof(float));
  auto g = arguments_of<float>(s, 2);
  CHECK(largest_error<float>(g, a, b, c, nullptr) < 5e-3);
  g.math = dp::detail::product_math::tf32;
  const double error = largest_error<float>(g, a, b, c, nullptr);
  CHECK(error > 1e-2);
  CHECK(error < 1);
  CHECK(plans_of(s, dp::detail::product_math::strict).front()->status == CUBLAS_STATUS_SUCCESS);
  REQUIRE(plans_of(s, dp::detail::product_math::tf32).size() == 1);
  CHECK(plans_of(s, dp::detail::product_math::tf32).front()->status == CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("relu after a product on a GPU keeps NaN", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  device_array<float> a(4 * 8), b(8 * 8), c(4 * 8), bias(8);
  a.host[3] = std::numeric_limits<float>::quiet_NaN();
  dp::detail::copy_in<dp::backend::cuda>(0, a.block.data(), a.host.data(), a.host.size() * sizeof(float));
  auto g = arguments_of<float>({4, 8, 8}, 4);
  g.a = a.data(), g.b = b.data(), g.c = c.data(), g.bias = bias.data();
  dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, g);
  const std::vector<float> y = c.now();
  for (std::size_t j = 0; j < 8; ++j) {
    CHECK(std::isnan(y[j]));
    CHECK(y[8 + j] >= 0);
  }
}

TEST_CASE("gradients of a linear layer and of the relu after it are correct on a GPU", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const shape s : {shape{256, 784, 64}, shape{10, 256, 64}, shape{1, 9, 70}, shape{9, 1, 70}, shape{10, 8, 1}})
    for (const float beta : {0.0f, 1.0f}) {
      CAPTURE(s.m, s.n, s.k, beta);
      const device_array<float> dy(s.k * s.m), y(s.k * s.m), x(s.k * s.n), weight(s.m * s.n), bias(s.m), sums(s.m);
      dp::detail::gemm_arguments<float> g;
      g.m = s.m, g.n = s.n, g.k = s.k, g.transpose_a = true, g.a = dy.data(), g.lda = s.m, g.b = x.data(), g.ldb = s.n;
      g.c = weight.data(), g.ldc = s.n, g.beta = beta;
      dp::detail::dispatch<dp::op::linear_gradients, dp::backend::cuda>(0, g, bias.data());
      dp::detail::dispatch<dp::op::relu_gradient, dp::backend::cuda>(
          0, dp::detail::relu_gradient_arguments<float>{s.k, s.m, dy.data(), dy.data(), y.data(), sums.data(), beta});
      const std::vector<float> dz = dy.now(), db = bias.now(), masked = sums.now(), dw = weight.now();
      double largest = 0;
      for (std::size_t i = 0; i < s.m; ++i) {
        double sum = beta * bias.host[i], sum_masked = beta * sums.host[i];
        for (std::size_t r = 0; r < s.k; ++r) {
          const std::size_t at = r * s.m + i;
          const float expected = y.host[at] > 0 ? dy.host[at] : 0;
          REQUIRE(dz[at] == expected);
          sum += dy.host[at];
          sum_masked += expected;
        }
        largest = std::max({largest, std::abs(db[i] - sum), std::abs(masked[i] - sum_masked)});
        for (std::size_t j = 0; j < s.n; ++j) {
          double product = beta * weight.host[i * s.n + j];
          for (std::size_t r = 0; r < s.k; ++r)
            product += static_cast<double>(dy.host[r * s.m + i]) * x.host[r * s.n + j];
          largest = std::max(largest, std::abs(dw[i * s.n + j] - product));
        }
      }
      CHECK(largest < 1e-3);
    }
}

TEST_CASE("a product's type says whether it is in TF32", "[backend]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const shape s{16, 16, 32};
  dp::tensor<float, dp::extents<16, 32>, dp::on<dp::cuda<0>>> x(dp::extents<16, 32>{});
  static_cast<void>(dp::matmul(x, dp::transposed(x)));
  CHECK(plans_of(s, dp::detail::product_math::strict).size() == 1);
  CHECK(plans_of(s, dp::detail::product_math::tf32).empty());
  static_cast<void>(dp::matmul<dp::tf32>(x, dp::transposed(x)));
  CHECK(plans_of(s, dp::detail::product_math::strict).size() == 1);
  CHECK(plans_of(s, dp::detail::product_math::tf32).size() == 1);
}

TEST_CASE("cuBLASLt takes the descriptors of every kind of product, which needs no device", "[backend]") {
  using dp::detail::library_epilogue;
  using dp::detail::product_math;
  const float vector = 0;
  for (const bool doubles : {false, true})
    for (const auto epilogue : {library_epilogue::none, library_epilogue::bias, library_epilogue::row_sums})
      for (const auto math : {product_math::strict, product_math::tf32}) {
        dp::detail::product_key key;
        key.m = 64, key.n = 256, key.k = 784, key.lda = 784, key.ldb = 784, key.ldc = 256, key.transpose_b = true;
        key.operand = key.result = doubles ? dp::detail::dtype_of<double> : dp::detail::dtype_of<float>,
        key.epilogue = epilogue, key.math = math;
        key.align_a = key.align_b = key.align_c = key.align_vector = 256;
        // Without a handle only the last call can fail.
        CHECK_THROWS_WITH(dp::detail::make_product_plan(nullptr, key, &vector, 0),
                          Catch::Matchers::ContainsSubstring("cublasLtMatmulAlgoGetHeuristic on cuda:0 failed"));
      }
}
