// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cblas.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <devplace/backend/cpu/detail/gemm_split.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

// OpenBLAS describes itself through these functions. They are weak because other libraries lack them.
extern "C" {
char* openblas_get_config(void) __attribute__((weak));
char* openblas_get_corename(void) __attribute__((weak));
int openblas_get_num_threads(void) __attribute__((weak));
}

namespace devplace::detail {

/// Matrix products by the CBLAS library, of any vendor, that the program links.
///
/// If the library reports a single thread (OPENBLAS_NUM_THREADS=1), all threads of the team call it, each for a part of
/// C. Otherwise one thread calls the library, which uses its own threads. The library's setting is not changed.
struct gemm_cblas {
  static const char* name() {
    static const std::string text = [] {
      std::string words = "cblas";
      if (openblas_get_config != nullptr) {  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
        const std::string_view config = openblas_get_config();
        const std::size_t name_end = config.find(' ');
        words += ' ';
        words += config.substr(0, name_end == std::string_view::npos ? name_end : config.find(' ', name_end + 1));
      }
      if (openblas_get_corename != nullptr) words += std::string(" ") + openblas_get_corename();
      return words;
    }();
    return text.c_str();
  }

  /// Returns whether members of a team may call the library concurrently: only if it uses no threads of its own.
  static bool runs_on_members() { return openblas_get_num_threads != nullptr && openblas_get_num_threads() == 1; }

  /// Computes a small product, which makes the library allocate its memory.
  static void prepare() {
    static constexpr char tag = 0;
    const auto multiply = [](int) {
      const float one = 1;
      float c = 0;
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1.0f, &one, 1, &one, 1, 0.0f, &c, 1);
    };
    prepare_threads(&tag, function_view<int>(multiply));
  }

  template <class T> static void run(const gemm_arguments<T>& g) {
    if (g.m == 0 || g.n == 0) return;
    if (g.k == 0 || g.alpha == T{0}) return gemm_without_product(g);
    if (std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) > INT_MAX)
      throw shape_error({"the CBLAS library counts in int, and a matrix product of ", g.m, " x ", g.k, " by ", g.k,
                         " x ", g.n,
                         " has an extent or a row stride above 2147483647. Build without component cblas to "
                         "use the built-in engine, or divide the product."});
    const auto members = static_cast<std::size_t>(runs_on_members() ? thread_count() : 1);
    const gemm_split split = split_product(g.m, g.n, g.k, tile, tile, members, tile / 2);
    for_each_part(g.m, g.n, tile, tile, split, [&](const gemm_range& range) { multiply(g, range); });
  }

 private:
  /// Granularity of the split, close to a multiple of every library's register tiles.
  static constexpr std::size_t tile = 16;

  template <class T> static void multiply(const gemm_arguments<T>& g, const gemm_range& range) {
    const T* const a = g.a + range.row_begin * (g.transpose_a ? 1 : g.lda);
    const T* const b = g.b + range.column_begin * (g.transpose_b ? g.ldb : 1);
    T* const c = g.c + range.row_begin * g.ldc + range.column_begin;
    const auto transpose_a = g.transpose_a ? CblasTrans : CblasNoTrans;
    const auto transpose_b = g.transpose_b ? CblasTrans : CblasNoTrans;
    const auto m = static_cast<int>(range.row_end - range.row_begin);
    const auto n = static_cast<int>(range.column_end - range.column_begin);
    const auto k = static_cast<int>(g.k);
    const auto lda = static_cast<int>(g.lda), ldb = static_cast<int>(g.ldb), ldc = static_cast<int>(g.ldc);
    if constexpr (std::is_same_v<T, float>) {
      cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, g.alpha, a, lda, b, ldb, g.beta, c, ldc);
    } else {
      cblas_dgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, g.alpha, a, lda, b, ldb, g.beta, c, ldc);
    }
    if (g.bias == nullptr && g.epilogue == epilogue::none) return;
    for (std::size_t i = range.row_begin; i < range.row_end; ++i) {
      T* const row = g.c + i * g.ldc;
      for (std::size_t j = range.column_begin; j < range.column_end; ++j) row[j] = gemm_finish(g, row[j], j);
    }
  }
};

}  // namespace devplace::detail
