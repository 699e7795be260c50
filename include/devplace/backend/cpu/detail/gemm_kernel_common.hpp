// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

namespace devplace::detail {

// Vectors use the compilers' vector_size extension instead of intrinsics: g++, clang and nvcc's front end all accept it
// in functions with a target attribute, and it also covers NEON.

/// A vector of T with `Bytes` bytes, and its type for unaligned loads and stores.
template <class T, std::size_t Bytes> struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
  typedef T unaligned __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
};

/// Keeps a vector or a pointer in a register. g++ would make the vector a memory operand of each of its few uses, and
/// loads would take longer than multiply-adds; g++ would store adjacent pointers as a vector, and processors take long
/// to read parts of a vector just stored.
template <class T> [[gnu::always_inline]] inline void keep_in_register([[maybe_unused]] T& x) {
#if defined(__x86_64__) && !defined(__clang__)
  if constexpr (std::is_pointer_v<T>)
    __asm__("" : "+r"(x));
  else
    __asm__("" : "+v"(x));
#endif
}

/// Sizes of a thread's packed blocks: gemm_block_rows x gemm_block_depth of A, and gemm_block_depth x
/// gemm_block_columns of B. The block of A (256 KiB) and a few panels of B (at most 64 KiB each) stay in the
/// second-level cache while all rows of the block use a panel. Deep blocks read and write C less often. For large
/// square matrices, deep blocks gain more than panels that fit the first-level cache. The last block of A also has the
/// rows of a tile that are left.
inline constexpr std::size_t gemm_block_depth = 512;
template <class T> inline constexpr std::size_t gemm_block_rows = 512 / sizeof(T);
template <class T> inline constexpr std::size_t gemm_packed_rows = gemm_block_rows<T> + 16;
template <class T> inline constexpr std::size_t gemm_block_columns = 4096 / sizeof(T);
/// Panels that are packed together begin so many rows further apart than their depth: the elements of panels at
/// multiples of 4 KiB would share a set of the first-level cache.
inline constexpr std::size_t gemm_panel_gap = 8;
inline constexpr std::size_t gemm_buffer_bytes =
    (gemm_packed_rows<double> * sizeof(double) + 4096) * (gemm_block_depth + gemm_panel_gap);

constexpr std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

}  // namespace devplace::detail
