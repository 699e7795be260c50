// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by mixed_kernels.hpp only, for x86-64: products of bf16 by AMX, in namespace amx.

#define DEVPLACE_TARGET \
  __attribute__((target("amx-tile,amx-bf16,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx2,fma,f16c")))

/// The operand of ldtilecfg: all 8 tiles have 16 rows of 64 bytes.
struct alignas(64) tile_configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// The processor's tiles. On processors without them, tests use a class that keeps tiles in memory.
struct processor_tiles {
  DEVPLACE_TARGET static void configure(const tile_configuration& tiles) {
    __asm__ volatile("ldtilecfg %0" : : "m"(tiles));
  }
  DEVPLACE_TARGET static void release() { __asm__ volatile("tilerelease"); }
  template <int Tile> DEVPLACE_TARGET static void zero() { __asm__ volatile("tilezero %%tmm%c0" : : "i"(Tile)); }
  /// Loads 16 rows of 64 bytes, `stride` bytes apart.
  template <int Tile> DEVPLACE_TARGET static void load(const void* rows, std::size_t stride) {
    __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(Tile), "r"(rows), "r"(stride) : "memory");
  }
  template <int Tile> DEVPLACE_TARGET static void store(void* rows, std::size_t stride) {
    __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(Tile), "r"(rows), "r"(stride) : "memory");
  }
  /// Computes Sums += A B. A and B are [16][16] pairs along k; Sums is [16][16] floats.
  template <int Sums, int A, int B> DEVPLACE_TARGET static void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
  }
};

/// Multiplies tiles, each 16 units (pairs of numbers) along k. Columns of B are packed as for AVX512_BF16, rows of A
/// into [units / 16][Rows][16]. Like vdpbf16ps, tdpbf16ps treats subnormal operands and results as zero.
template <class Tiles = processor_tiles> struct tile_kernel : avx512::mixed_storing<32> {
  static constexpr std::size_t rows = 32, few_rows = 16, pairs = 2, depth_step = 16;

  struct session {
    session() { Tiles::configure({}); }
    session& operator=(session&&) = delete;
    ~session() { Tiles::release(); }
  };

  template <std::size_t Rows>
  DEVPLACE_TARGET static void pack_rows(float* target, const bf16* source, std::size_t stride_i, std::size_t stride_p,
                                        std::size_t count, std::size_t depth) {
    for (std::size_t p = 0; p < depth; p += 32, target += Rows * 16, source += 32 * stride_p) {
      const std::size_t here = smaller(32, depth - p);
      if (here < 32 || count < Rows) std::memset(target, 0, Rows * 64);
      if (stride_p == 1) {
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(target + i * 16, source + i * stride_i, here * sizeof(bf16));
      } else {
        float units[16 * Rows] = {};  // [16][Rows]
        avx512_bf16::pack_pairs<Rows>(units, source, stride_i, stride_p, count, here);
        for (std::size_t i = 0; i < Rows; i += 8)
          for (std::size_t u = 0; u < 16; u += 8)
            avx512::transpose<float, 8>(target + i * 16 + u, 16, units + u * Rows + i, Rows);
      }
    }
  }
  template <std::size_t Columns>
  DEVPLACE_TARGET static void pack_columns(float* target, const bf16* source, std::size_t stride_j,
                                           std::size_t stride_p, std::size_t count, std::size_t depth) {
    avx512_bf16::pack_pairs<Columns>(target, source, stride_j, stride_p, count, depth);
    const std::size_t units = (depth + 1) / 2, padded = padded_to(units, 16);
    std::memset(target + units * Columns, 0, (padded - units) * Columns * sizeof(float));
  }
  template <std::size_t Rows>
  DEVPLACE_TARGET static void sums(std::size_t depth, const float* a, const float* b, float* to) {
    constexpr std::size_t unit_bytes = 16 * sizeof(float), row_bytes = columns * sizeof(float);
    Tiles::template zero<0>();
    Tiles::template zero<1>();
    if constexpr (Rows == 32) {
      Tiles::template zero<2>();
      Tiles::template zero<3>();
    }
    for (std::size_t p = 0; p < depth; p += 16, a += Rows * 16, b += 16 * columns) {
      Tiles::template load<4>(a, unit_bytes);
      Tiles::template load<6>(b, row_bytes);
      Tiles::template load<7>(b + 16, row_bytes);
      Tiles::template multiply<0, 4, 6>();
      Tiles::template multiply<1, 4, 7>();
      if constexpr (Rows == 32) {
        Tiles::template load<5>(a + 16 * 16, unit_bytes);
        Tiles::template multiply<2, 5, 6>();
        Tiles::template multiply<3, 5, 7>();
      }
    }
    Tiles::template store<0>(to, row_bytes);
    Tiles::template store<1>(to + 16, row_bytes);
    if constexpr (Rows == 32) {
      Tiles::template store<2>(to + 16 * columns, row_bytes);
      Tiles::template store<3>(to + 16 * columns + 16, row_bytes);
    }
  }
};

#undef DEVPLACE_TARGET
