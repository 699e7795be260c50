// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/backend/cpu/detail/cpu_isa.hpp>
#include <devplace/backend/cpu/detail/gemm_buffer.hpp>
#include <devplace/backend/cpu/detail/gemm_split.hpp>
#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/backend/cpu/detail/mixed_kernels.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

template <class T> gemm_kernels<T> gemm_kernels_of(cpu_isa isa) {
  return with_instruction_set([](auto code) { return code.template gemm<T>(); }, isa);
}
DEVPLACE_COMPILED(struct gemm_kernels<float>)
DEVPLACE_COMPILED(struct gemm_kernels<double>)
DEVPLACE_COMPILED(gemm_kernels<float> gemm_kernels_of(cpu_isa))
DEVPLACE_COMPILED(gemm_kernels<double> gemm_kernels_of(cpu_isa))

/// devplace's own engine. The bits of a result depend on the arguments and the instruction set but not on the number of
/// threads: threads compute whole tiles of C, and k is never split.
struct gemm_builtin {
  static const char* name() {
    static const auto* const text = new std::string(std::string("built-in ") + name_of(mixed_product_isa()));
    return text->c_str();  // never destroyed, because destructors of static objects may ask
  }

  /// Returns whether members of a team may call the engine concurrently, each for its own product.
  static constexpr bool runs_on_members() { return true; }

  static void prepare() {
    static constexpr char tag = 0;
    const auto allocate = [](int) { gemm_buffer::of_this_thread(); };
    prepare_threads(&tag, function_view<int>(allocate));
  }

  template <class T, class Result>
  static void run(const gemm_arguments<T, Result>& g,
                  cpu_isa isa = half_precision_element<T> ? mixed_product_isa() : current_isa()) {
    if (g.m == 0 || g.n == 0) return;
    if (g.k == 0 || g.alpha == 0) return gemm_without_product(g);
    if constexpr (half_precision_element<T>) {
      const mixed_kernels<T, Result> kernels = mixed_kernels_of<T, Result>(isa);
      // With so few rows, packing costs more than it saves. The limit for bf16 is lower, because its packing is faster.
      constexpr std::size_t unpacked_rows = std::is_same_v<T, half> ? 4 : 1;
      const bool unpacked = !g.transpose_a && g.transpose_b && g.m <= unpacked_rows;
      const tiling tiles =
          unpacked ? tiling{4, 4, 0} : tiling{kernels.tile_rows, kernels.tile_columns, kernels.tile_columns / 4};
      divided(g, tiles, [&](const gemm_range& range) {
        if (unpacked)
          kernels.dot_range(g, range);
        else
          kernels.multiply_range(g, range, gemm_buffer::of_this_thread());
      });
    } else {
      const gemm_kernels<T> kernels = gemm_kernels_of<T>(isa);
      // Operands contiguous along k need no packing. Reading them directly is faster if each packed element would be
      // used only a few times.
      const bool unpacked = !g.transpose_a && g.transpose_b && (g.m <= 4 || g.n <= 12 || g.n < kernels.lanes);
      const bool transposed = !unpacked && kernels.prefers_transposed(g);
      const tiling tiles = unpacked     ? tiling{4, 4, 0}
                           : transposed ? tiling{2 * kernels.lanes, kernels.tile_rows, kernels.lanes / 2}
                                        : tiling{kernels.tile_rows, 2 * kernels.lanes, kernels.lanes / 2};
      divided(g, tiles, [&](const gemm_range& range) {
        if (unpacked)
          kernels.dot_range(g, range);
        else if (transposed)
          kernels.multiply_transposed(g, range, gemm_buffer::of_this_thread());
        else
          kernels.multiply_range(g, range, gemm_buffer::of_this_thread());
      });
    }
  }

 private:
  /// The size of a register tile, and the number of multiplications that take as long as packing one element.
  struct tiling {
    std::size_t rows, columns, vector_work;
  };

  /// Calls multiply(range) on each participating thread of the team; see split_product.
  template <class T, class Result>
  static void divided(const gemm_arguments<T, Result>& g, const tiling& tiles, const auto& multiply) {
    const gemm_split split =
        split_product(g.m, g.n, g.k, tiles.rows, tiles.columns, static_cast<std::size_t>(thread_count()),
                      tiles.vector_work, team_is_awake(), builtin_least_work<T>);
    for_each_part(g.m, g.n, tiles.rows, tiles.columns, split, multiply);
  }
};
DEVPLACE_COMPILED(void gemm_builtin::run(const gemm_arguments<float>&, cpu_isa))

}  // namespace devplace::detail
