// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by mixed_kernels.hpp only, for x86-64: products of bf16 by AVX512_BF16, in namespace avx512_bf16.

#define DEVPLACE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx2,fma,f16c")))

/// Packs `count` rows (or columns) of a matrix into a panel [units][Width]. A unit holds the numbers p and p + 1 at
/// ascending addresses; see pack. If the depth is odd, zero fills the last unit.
template <std::size_t Width>
DEVPLACE_TARGET inline void pack_pairs(float* __restrict target, const bf16* __restrict source, std::size_t stride_i,
                                       std::size_t stride_p, std::size_t count, std::size_t depth) {
  const std::size_t units = (depth + 1) / 2, whole_units = depth / 2;
  const auto pack_unit = [&](std::size_t i, std::size_t u) __attribute__((always_inline)) {
    bf16 pair[2] = {bf16::from_bits(0), bf16::from_bits(0)};
    if (i < count) {
      pair[0] = source[i * stride_i + 2 * u * stride_p];
      if (u < whole_units) pair[1] = source[i * stride_i + (2 * u + 1) * stride_p];
    }
    std::memcpy(target + u * Width + i, pair, sizeof pair);
  };
  std::size_t begin = 0, from_unit = 0;  // the first row and unit after the vector loops
  if constexpr (Width >= 8) {
    if (stride_i == 1 && count == Width) {
      constexpr std::size_t lanes = Width >= 16 ? 16 : 8;
      using row = vector_of<std::uint16_t, 2 * lanes>;
      using pairs = typename vector_of<std::uint16_t, 4 * lanes>::unaligned;
      for (std::size_t u = 0; u < whole_units; ++u)
        for (std::size_t i = 0; i < Width; i += lanes) {
          const typename row::type first =
              *reinterpret_cast<const typename row::unaligned*>(source + 2 * u * stride_p + i);
          const typename row::type second =
              *reinterpret_cast<const typename row::unaligned*>(source + (2 * u + 1) * stride_p + i);
          pairs* const to = reinterpret_cast<pairs*>(target + u * Width + i);
          if constexpr (lanes == 8)
            *to = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
          else
            *to = __builtin_shufflevector(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24,
                                          9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
      from_unit = whole_units;
    } else if (stride_p == 1) {
      begin = count / 8 * 8;
      const std::size_t transposed_units = whole_units / 8 * 8;
      for (std::size_t i = 0; i < begin; i += 8) {
        for (std::size_t u = 0; u < transposed_units; u += 8) {
          float block[64];
          for (std::size_t l = 0; l < 8; ++l) std::memcpy(block + 8 * l, source + (i + l) * stride_i + 2 * u, 32);
          avx512::transpose<float, 8>(target + u * Width + i, Width, block, 8);
        }
        for (std::size_t u = transposed_units; u < units; ++u)
          for (std::size_t l = i; l < i + 8; ++l) pack_unit(l, u);
      }
    }
  }
  for (std::size_t u = from_unit; u < units; ++u)
    for (std::size_t i = begin; i < Width; ++i) pack_unit(i, u);
}

/// Multiplies pairs. Rounding differs from the float kernel's: vdpbf16ps treats subnormal operands and results as zero.
/// Written as inline assembly because the type of the intrinsic's operands differs between compilers.
struct dot_kernel : avx512::mixed_storing<32> {
  static constexpr std::size_t rows = 8, few_rows = 2, pairs = 2, depth_step = 1;

  template <std::size_t Rows> static constexpr auto* pack_rows = pack_pairs<Rows>;
  template <std::size_t Columns> static constexpr auto* pack_columns = pack_pairs<Columns>;

  template <std::size_t Rows>
  DEVPLACE_TARGET static void sums(std::size_t depth, const float* a, const float* b, float* to) {
    vector sum[Rows][2] = {};
    for (std::size_t p = 0; p < depth; ++p, a += Rows, b += columns) {
      const vector left = *reinterpret_cast<const loaded*>(b), right = *reinterpret_cast<const loaded*>(b + 16);
      DEVPLACE_UNROLL
      for (std::size_t i = 0; i < Rows; ++i) {
        vector both;  // copied as bytes, because an operation on floats would change bits
        __asm__("vbroadcastss %1, %0" : "=v"(both) : "m"(a[i]));
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum[i][0]) : "v"(left), "v"(both));
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum[i][1]) : "v"(right), "v"(both));
      }
    }
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) {
      *reinterpret_cast<loaded*>(to + i * columns) = sum[i][0];
      *reinterpret_cast<loaded*>(to + i * columns + 16) = sum[i][1];
    }
  }
};

#undef DEVPLACE_TARGET
