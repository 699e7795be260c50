// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convert_elements.hpp only: conversions of bf16 and half by vectors of DEVPLACE_LANES floats.

/// Converts to[0..L) = from[0..L) to float; L is 4, 8 or 16, at most the lanes of a register.
template <std::size_t L, class T> DEVPLACE_TARGET inline void convert(float* to, const T* from) {
  using floats = vector_of<float, 4 * L>;
  using bits16 = vector_of<std::uint16_t, 2 * L>;
#if DEVPLACE_LANES > 4
  if constexpr (std::is_same_v<T, half>) {
    typename floats::type x;
    __asm__("vcvtph2ps %1, %0" : "=x"(x) : "m"(*reinterpret_cast<const typename bits16::unaligned*>(from)));
    *reinterpret_cast<typename floats::unaligned*>(to) = x;
    return;
  }
#endif
  if constexpr (std::is_same_v<T, bf16>) {
    const typename bits16::type bits = *reinterpret_cast<const typename bits16::unaligned*>(from);
    const auto wide = __builtin_convertvector(bits, typename vector_of<std::uint32_t, 4 * L>::type) << 16;
    *reinterpret_cast<typename floats::unaligned*>(to) = reinterpret_cast<typename floats::type>(wide);
  } else {
    for (std::size_t i = 0; i < L; ++i) to[i] = from[i];
  }
}

/// Rounds from[0..L) to the nearest numbers of T.
template <std::size_t L, class T> DEVPLACE_TARGET inline void convert(T* to, const float* from) {
  using floats = vector_of<float, 4 * L>;
  using bits16 = vector_of<std::uint16_t, 2 * L>;
#if DEVPLACE_LANES > 4
  if constexpr (std::is_same_v<T, half>) {
    const typename floats::type x = *reinterpret_cast<const typename floats::unaligned*>(from);
    typename vector_of<std::uint16_t, (L < 8 ? 16 : 2 * L)>::type halves;  // a register: writing to memory takes longer
    __asm__("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(x));
    __builtin_memcpy(static_cast<void*>(to), &halves, L * sizeof(T));
    return;
  }
#endif
  if constexpr (std::is_same_v<T, bf16>) {
    using bits32 = typename vector_of<std::uint32_t, 4 * L>::type;
    const typename floats::type x = *reinterpret_cast<const typename floats::unaligned*>(from);
    const bits32 bits = reinterpret_cast<bits32>(x);
    const bits32 magnitude = bits & 0x7fffffff, rounded = bits + 0x7fff + (bits >> 16 & 1);
    // AVX2 compares signed integers alone.
    const bits32 result = reinterpret_cast<typename vector_of<std::int32_t, 4 * L>::type>(magnitude) > 0x7f800000
                              ? bits | 0x400000
                              : rounded;
    *reinterpret_cast<typename bits16::unaligned*>(to) = __builtin_convertvector(result >> 16, typename bits16::type);
  } else {
    for (std::size_t i = 0; i < L; ++i) to[i] = T(from[i]);
  }
}

/// Copies an array of floats, so that storing sums needs no distinction of types.
DEVPLACE_TARGET inline void convert_array(float* to, const float* from, std::size_t count) {
  __builtin_memcpy(to, from, count * sizeof(float));
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
