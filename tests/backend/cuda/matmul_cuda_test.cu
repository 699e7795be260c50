// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <vector>

#include <devplace/ops/matmul.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;

namespace {

template <class T>
T element(std::size_t i) {
  return static_cast<T>(i * 37 % 17) / 8 - 1;
}

template <class T>
struct device_array {
  std::vector<T> host;
  dp::detail::memory_block block;

  explicit device_array(std::size_t n) : host(n), block(dp::detail::allocate<dp::backend::cuda>(0, n * sizeof(T))) {
    for (std::size_t i = 0; i < n; ++i)
      host[i] = element<T>(i);
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

TEMPLATE_TEST_CASE("cuBLAS multiplies row-major matrices with every combination of arguments", "[backend]", float,
                   double) {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using T = TestType;
  const std::size_t m = 5, n = 7, lda = 13, ldb = 14, ldc = 9;
  const device_array<T> a(13 * 14), b(14 * 14), bias(n);
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{11}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const T alpha : {T{1}, T{0}, T{-2}})
          for (const T beta : {T{0}, T{1}, T{3}})
            for (const bool with_bias : {false, true})
              for (const bool with_relu : {false, true}) {
                const device_array<T> c(m * ldc);
                dp::detail::gemm_arguments<T> g;
                g.m = m, g.n = n, g.k = k, g.transpose_a = transpose_a, g.transpose_b = transpose_b;
                g.alpha = alpha, g.a = a.data(), g.lda = lda, g.b = b.data(), g.ldb = ldb;
                g.beta = beta, g.c = c.data(), g.ldc = ldc, g.bias = with_bias ? bias.data() : nullptr;
                g.then = with_relu ? dp::detail::epilogue::relu : dp::detail::epilogue::none;
                dp::detail::dispatch<dp::op::matmul, dp::backend::cuda>(0, g);
                const std::vector<T> result = c.now();
                for (std::size_t i = 0; i < m; ++i)
                  for (std::size_t j = 0; j < ldc; ++j) {
                    double expected = c.host[i * ldc + j];
                    if (j < n) {
                      double sum = 0;
                      for (std::size_t p = 0; p < k; ++p)
                        sum += static_cast<double>(a.host[transpose_a ? p * lda + i : i * lda + p]) *
                               b.host[transpose_b ? j * ldb + p : p * ldb + j];
                      expected = alpha * sum + beta * expected + (with_bias ? bias.host[j] : T{0});
                      if (with_relu && expected < 0) expected = 0;
                    }
                    REQUIRE(result[i * ldc + j] == Catch::Approx(expected).margin(1e-5));
                  }
              }
}
