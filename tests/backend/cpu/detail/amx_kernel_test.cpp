// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the AMX kernel with tiles in memory, for processors without AMX.

#include <devplace/backend/cpu/detail/mixed_kernels.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <devplace/backend/cpu/detail/gemm_buffer.hpp>

#include "support/catch.hpp"
#include "support/product_element.hpp"

namespace dp = devplace;

#if defined(__x86_64__)

namespace {

/// Emulates the instructions by their definition in Intel's manual, except the treatment of subnormal numbers. Counts
/// uses that would fault: tiles that are not configured or have other sizes.
struct emulated_tiles {
  static inline unsigned char tile[8][16][64];
  static inline bool configured = false;
  static inline int faults = 0, multiplications = 0;

  static void configure(const dp::detail::amx::tile_configuration& tiles) {
    faults += configured || tiles.palette != 1 || tiles.start_row != 0 || sizeof tiles != 64;
    for (int t = 0; t < 16; ++t) faults += tiles.row_bytes[t] != (t < 8 ? 64 : 0) || tiles.rows[t] != (t < 8 ? 16 : 0);
    configured = true;
    std::memset(tile, 0, sizeof tile);
  }
  static void release() {
    faults += !configured;
    configured = false;
  }
  template <int Tile> static void zero() {
    faults += !configured;
    std::memset(tile[Tile], 0, sizeof tile[Tile]);
  }
  template <int Tile> static void load(const void* rows, std::size_t stride) {
    faults += !configured;
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(tile[Tile][i], static_cast<const char*>(rows) + i * stride, 64);
  }
  template <int Tile> static void store(void* rows, std::size_t stride) {
    faults += !configured;
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(static_cast<char*>(rows) + i * stride, tile[Tile][i], 64);
  }
  template <int Sums, int A, int B> static void multiply() {
    faults += !configured;
    ++multiplications;
    for (std::size_t m = 0; m < 16; ++m)
      for (std::size_t k = 0; k < 16; ++k)
        for (std::size_t n = 0; n < 16; ++n) {
          float sum;
          dp::bf16 a[2], b[2];
          std::memcpy(&sum, tile[Sums][m] + 4 * n, 4);
          std::memcpy(a, tile[A][m] + 4 * k, 4);
          std::memcpy(b, tile[B][k] + 4 * n, 4);
          sum += a[0] * b[0];
          sum += a[1] * b[1];
          std::memcpy(tile[Sums][m] + 4 * n, &sum, 4);
        }
  }
};

template <class Result> std::size_t wrong_by_tiles(std::size_t m, std::size_t n, std::size_t k, int variant) {
  dp::detail::gemm_arguments<dp::bf16, Result> g;
  const std::size_t gap = 1 + (m + n + k) % 3;
  g.m = m, g.n = n, g.k = k;
  g.transpose_a = variant % 2 == 1, g.transpose_b = variant >= 2;
  g.lda = (g.transpose_a ? m : k) + gap, g.ldb = (g.transpose_b ? k : n) + gap, g.ldc = n + gap;
  const auto numbers = [](std::size_t count, std::size_t seed) {
    std::vector<dp::bf16> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = dp::bf16(static_cast<int>((i * i + 7 * i + seed) % 9) - 4);
    return values;
  };
  const auto a = numbers((g.transpose_a ? k : m) * g.lda, 1), b = numbers((g.transpose_b ? n : k) * g.ldb, 2),
             bias = numbers(n, 3);
  std::vector<Result> before(m * g.ldc, Result(3)), c = before;
  g.a = a.data(), g.b = b.data(), g.c = c.data(), g.bias = bias.data();
  g.beta = 2, g.epilogue = variant == 3 ? dp::detail::epilogue::relu : dp::detail::epilogue::none;
  dp::detail::mixed_product<dp::detail::amx::tile_kernel<emulated_tiles>, dp::bf16, Result>::run(
      g, {0, m, 0, n}, dp::detail::gemm_buffer::of_this_thread());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < g.ldc; ++j) {
      const double expected = j < n ? dp::test::product_element(g, before.data(), i, j).value : 3;
      wrong += static_cast<double>(c[i * g.ldc + j]) != static_cast<double>(Result(expected));
    }
  return wrong;
}

}  // namespace

TEST_CASE("products by AMX's tiles are exact for small integers, in all transpositions", "[cpu]") {
  if (dp::detail::supported_isa() < dp::detail::cpu_isa::avx512) DEVPLACE_SKIP("this processor has no AVX-512");
  struct shape {
    std::size_t m, n, k;
  };
  for (const auto [m, n, k] : {shape{1, 1, 1}, shape{16, 32, 32}, shape{17, 33, 31}, shape{40, 70, 97},
                               shape{70, 20, 1100}, shape{5, 260, 40}})
    for (int variant = 0; variant < 4; ++variant) {
      CAPTURE(m, n, k, variant);
      CHECK(wrong_by_tiles<dp::bf16>(m, n, k, variant) == 0);
      CHECK(wrong_by_tiles<float>(m, n, k, variant) == 0);
    }
  CHECK(emulated_tiles::faults == 0);
  CHECK(emulated_tiles::multiplications > 1000);
  CHECK(!emulated_tiles::configured);
}

#endif
