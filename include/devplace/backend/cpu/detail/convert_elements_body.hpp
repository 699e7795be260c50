// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convert_elements.hpp only: conversions of bf16 and half by vectors of DEVPLACE_LANES floats.

/// Vectors of L 16-bit and L 32-bit numbers.
template <std::size_t L> struct mixed_vectors {
  typedef std::uint16_t bits16 __attribute__((vector_size(2 * L)));
  typedef std::uint16_t stored16 __attribute__((vector_size(2 * L), aligned(2), may_alias));
  typedef std::uint32_t bits32 __attribute__((vector_size(4 * L)));
  typedef std::int32_t signed32 __attribute__((vector_size(4 * L)));
  typedef float floats __attribute__((vector_size(4 * L)));
  typedef float stored32 __attribute__((vector_size(4 * L), aligned(4), may_alias));
};

/// Converts to[0..L) = from[0..L) to float; L is 4, 8 or 16, at most the lanes of a register.
template <std::size_t L, class T> DEVPLACE_TARGET inline void convert(float* to, const T* from) {
#if DEVPLACE_LANES > 4
  if constexpr (std::is_same_v<T, half>) {
    typename mixed_vectors<L>::floats x;
    __asm__("vcvtph2ps %1, %0" : "=x"(x) : "m"(*reinterpret_cast<const typename mixed_vectors<L>::stored16*>(from)));
    *reinterpret_cast<typename mixed_vectors<L>::stored32*>(to) = x;
    return;
  }
#endif
  if constexpr (std::is_same_v<T, bf16>) {
    const typename mixed_vectors<L>::bits16 bits = *reinterpret_cast<const typename mixed_vectors<L>::stored16*>(from);
    const auto wide = __builtin_convertvector(bits, typename mixed_vectors<L>::bits32) << 16;
    *reinterpret_cast<typename mixed_vectors<L>::stored32*>(to) =
        reinterpret_cast<typename mixed_vectors<L>::floats>(wide);
  } else {
    for (std::size_t i = 0; i < L; ++i) to[i] = from[i];
  }
}

/// Rounds from[0..L) to the nearest numbers of T.
template <std::size_t L, class T> DEVPLACE_TARGET inline void convert(T* to, const float* from) {
#if DEVPLACE_LANES > 4
  if constexpr (std::is_same_v<T, half>) {
    const typename mixed_vectors<L>::floats x = *reinterpret_cast<const typename mixed_vectors<L>::stored32*>(from);
    typename mixed_vectors<(L < 8 ? 8 : L)>::bits16 halves;  // a register, because writing to memory takes longer
    __asm__("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(x));
    __builtin_memcpy(static_cast<void*>(to), &halves, L * sizeof(T));
    return;
  }
#endif
  if constexpr (std::is_same_v<T, bf16>) {
    using bits32 = typename mixed_vectors<L>::bits32;
    const typename mixed_vectors<L>::floats x = *reinterpret_cast<const typename mixed_vectors<L>::stored32*>(from);
    const bits32 bits = reinterpret_cast<bits32>(x);
    const bits32 magnitude = bits & 0x7fffffff, rounded = bits + 0x7fff + (bits >> 16 & 1);
    // AVX2 compares signed integers alone.
    const bits32 result =
        reinterpret_cast<typename mixed_vectors<L>::signed32>(magnitude) > 0x7f800000 ? bits | 0x400000 : rounded;
    *reinterpret_cast<typename mixed_vectors<L>::stored16*>(to) =
        __builtin_convertvector(result >> 16, typename mixed_vectors<L>::bits16);
  } else {
    for (std::size_t i = 0; i < L; ++i) to[i] = T(from[i]);
  }
}

/// Converts an array's elements from a 16-bit type to float or back.
template <class To, class From> DEVPLACE_TARGET inline void convert_array(To* to, const From* from, std::size_t count) {
  constexpr std::size_t lanes = DEVPLACE_LANES, together = 4 * lanes;
  std::size_t i = 0;
  for (; i + together <= count; i += together) {
    DEVPLACE_UNROLL
    for (std::size_t k = i; k < i + together; k += lanes) convert<lanes>(to + k, from + k);
  }
  for (; i + lanes <= count; i += lanes) convert<lanes>(to + i, from + i);
  for (; i < count; ++i) to[i] = static_cast<To>(from[i]);
}
