// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <thread>

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

TEST_CASE("a product that launches calls of another place locks the places in their order", "[backend]") {
  const auto on_0 = dp::detail::allocate<dp::backend::cuda>(0, 8);
  const auto on_1 = dp::detail::allocate<dp::backend::cuda>(1, 48);
  auto* const numbers = static_cast<float*>(on_1.data());
  dp::detail::gemm_arguments<float> g;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 2, g.a = numbers, g.b = numbers + 4, g.c = numbers + 8;
  dp::detail::cuda_workspace<dp::detail::cuda_product_workspace>(1, dp::detail::cuda_scope(1));
  dp::detail::launch_memory memory;
  dp::detail::cuda_repeated_launches::scope step(memory, true);
  dp::detail::copy_within<dp::backend::cuda>(0, on_0.data(), static_cast<char*>(on_0.data()) + 4, 4);
  std::promise<void> locked;
  bool locks_second = false;
  std::thread other([&] {  // launches calls of both places
    const std::lock_guard first(dp::detail::sequence_mutex_of(0));
    locked.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the product waits
    const std::unique_lock second(dp::detail::sequence_mutex_of(1), std::try_to_lock);
    locks_second = second.owns_lock();
  });
  locked.get_future().wait();
  CHECK(dp::detail::multiply_by_library(1, dp::detail::gemm_batch<float>{g}, dp::detail::library_epilogue::none,
                                        nullptr));
  other.join();
  CHECK(locks_second);
}
