// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by instruction_sets.hpp only: transposition and horizontal sums for the matrix engine.

/// Transposes an L x L block: target[p * target_stride + i] = source[i * source_stride + p]. Each vector is loaded as
/// two parts of 16 bytes from different rows, so that all shuffles stay within 16 bytes, where they take one cycle.
template <class T, std::size_t L>
[[gnu::always_inline]] DEVPLACE_TARGET inline void transpose(T* target, std::size_t target_stride, const T* source,
                                                             std::size_t source_stride) {
  constexpr std::size_t unit = 16 / sizeof(T);
  if constexpr (L < 4) {
    for (std::size_t i = 0; i < L; ++i)
      for (std::size_t p = 0; p < L; ++p) target[p * target_stride + i] = source[i * source_stride + p];
  } else {
    using vector = typename vector_of<T, L * sizeof(T)>::type;
    using loaded = typename vector_of<T, 16>::unaligned;
    using stored = typename vector_of<T, L * sizeof(T)>::unaligned;
    DEVPLACE_UNROLL
    for (std::size_t p = 0; p < L; p += unit) {
      vector r[unit], columns[unit];
      DEVPLACE_UNROLL
      for (std::size_t i = 0; i < unit; ++i) {
        const T* const row = source + i * source_stride + p;
        const loaded& first = *reinterpret_cast<const loaded*>(row);
        const loaded& second = *reinterpret_cast<const loaded*>(row + (L - unit) * source_stride);
        if constexpr (L == unit)
          r[i] = first;
        else if constexpr (L == 8)
          r[i] = __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
        else
          r[i] = __builtin_shufflevector(first, second, 0, 1, 2, 3);
      }
      if constexpr (unit == 2) {
        columns[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
        columns[1] = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
      } else {
        vector pairs[unit];
        DEVPLACE_UNROLL
        for (std::size_t i = 0; i < unit; i += 2) {
          if constexpr (L == 4) {
            pairs[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 4, 1, 5);
            pairs[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 6, 3, 7);
          } else {
            pairs[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
            pairs[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
          }
        }
        DEVPLACE_UNROLL
        for (std::size_t k = 0; k < 2; ++k) {
          if constexpr (L == 4) {
            columns[2 * k] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 4, 5);
            columns[2 * k + 1] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 6, 7);
          } else {
            columns[2 * k] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            columns[2 * k + 1] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
          }
        }
      }
      DEVPLACE_UNROLL
      for (std::size_t k = 0; k < unit; ++k) *reinterpret_cast<stored*>(target + (p + k) * target_stride) = columns[k];
    }
  }
}

/// Computes out[j] = the sum of v[j]'s lanes, in an order that depends only on the vector's size.
template <class T, std::size_t Bytes>
DEVPLACE_TARGET inline void add_lanes(const typename vector_of<T, Bytes>::type (&v)[4], T (&out)[4]) {
  using vector = typename vector_of<T, Bytes>::type;
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (lanes == 2) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < 4; ++j) out[j] = v[j][0] + v[j][1];
  } else if constexpr (lanes == 4) {
    const vector low =
        __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5) + __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const vector high =
        __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5) + __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    const vector sum = __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < 4; ++j) out[j] = sum[j];
  } else if constexpr (Bytes == 64) {
    // Adds halves, then quarters of all four in one vector: takes half as many instructions.
    using four = typename vector_of<T, 4 * sizeof(T)>::type;
    vector pairs[2], sum;
    if constexpr (lanes == 8) {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < 2; ++j) {
        pairs[j] = __builtin_shufflevector(v[2 * j], v[2 * j + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
                   __builtin_shufflevector(v[2 * j], v[2 * j + 1], 4, 5, 6, 7, 12, 13, 14, 15);
      }
      sum = __builtin_shufflevector(pairs[0], pairs[1], 0, 1, 4, 5, 8, 9, 12, 13) +
            __builtin_shufflevector(pairs[0], pairs[1], 2, 3, 6, 7, 10, 11, 14, 15);
    } else {
      DEVPLACE_UNROLL
      for (std::size_t j = 0; j < 2; ++j) {
        pairs[j] =
            __builtin_shufflevector(v[2 * j], v[2 * j + 1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
            __builtin_shufflevector(v[2 * j], v[2 * j + 1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                    31);
      }
      sum = __builtin_shufflevector(pairs[0], pairs[1], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
            __builtin_shufflevector(pairs[0], pairs[1], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
      sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    }
    constexpr std::size_t part = lanes / 4;
    const four even = __builtin_shufflevector(sum, sum, 0, part, 2 * part, 3 * part),
               odd = __builtin_shufflevector(sum, sum, 1, part + 1, 2 * part + 1, 3 * part + 1);
    *reinterpret_cast<typename vector_of<T, 4 * sizeof(T)>::unaligned*>(&out) = even + odd;
  } else {
    typename vector_of<T, Bytes / 2>::type half[4];
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < 4; ++j) {
      half[j] = __builtin_shufflevector(v[j], v[j], 0, 1, 2, 3) + __builtin_shufflevector(v[j], v[j], 4, 5, 6, 7);
    }
    add_lanes<T, Bytes / 2>(half, out);
  }
}
