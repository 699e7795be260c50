// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cuda/product.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/replaced_new.hpp"

namespace dp = devplace;
namespace lt = devplace::test::mock_cublaslt;

TEST_CASE("a product's plan is found again without an allocation", "[backend]") {
  float matrix[64], bias[8];
  dp::detail::gemm_arguments<float> g;
  g.m = 6, g.n = 8, g.k = 5, g.a = matrix, g.b = matrix, g.c = matrix, g.lda = 5, g.ldb = g.ldc = 8, g.bias = bias;
  const auto key =
      dp::detail::make_product_key(dp::detail::gemm_batch<float>{g}, dp::detail::library_epilogue::bias, g.bias);
  dp::detail::product_cache& cache = dp::detail::product_cache_of(0);
  cache.plan_of(key, g.bias, 0);
  const long before = support::allocations;
  cache.plan_of(key, g.bias, 0);
  CHECK(support::allocations == before);
  CHECK(cache.plans.size() == 1);
}

TEST_CASE("the cache of product plans evicts the least recently used one", "[backend]") {
  dp::detail::product_cache& cache = dp::detail::product_cache_of(0);
  float a[4], b[4], c[4];  // plans do not depend on the addresses
  dp::detail::gemm_arguments<float> g;
  g.m = g.k = 2, g.n = 2, g.a = a, g.b = b, g.c = c, g.lda = g.ldb = 2;
  for (std::size_t i = 0; i < cache.capacity + 3; ++i) {
    g.ldc = 2 + i;
    cache.plan_of(dp::detail::make_product_key<float>(dp::detail::gemm_batch<float>{g},
                                                      dp::detail::library_epilogue::none, nullptr),
                  nullptr, 0);
    g.ldc = 2;  // the first plan remains recently used
    cache.plan_of(dp::detail::make_product_key<float>(dp::detail::gemm_batch<float>{g},
                                                      dp::detail::library_epilogue::none, nullptr),
                  nullptr, 0);
  }
  CHECK(cache.plans.size() == cache.capacity);
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic") ==
        static_cast<std::ptrdiff_t>(cache.capacity + 3));
  CHECK(lt::live_descriptors() == 4 * cache.capacity);
}
