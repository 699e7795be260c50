// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only.
//
// Convolutions whose groups have few channels, mainly depthwise ones. Vectors hold consecutive pixels of one output
// channel. Each vector is a sum over taps: a weight times the vector that the tap reads from the padded image
// (depthwise_convolution).

/// Computes sums[i] = bias + sum over p of weights[p] image[offsets[p] + i] for `Vectors` vectors of elements, then
/// applies ReLU if `relu`.
template <class T, std::size_t Vectors>
[[gnu::always_inline]] DEVPLACE_TARGET inline void tap_sum_tile(T* __restrict sums, const T* __restrict image,
                                                                const std::size_t* __restrict offsets,
                                                                const T* __restrict weights, std::size_t depth, T bias,
                                                                bool relu) {
  const vector<T> zero{};
  vector<T> sum[Vectors];
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Vectors; ++i) sum[i] = bias - zero;
  for (std::size_t p = 0; p < depth; ++p) {
    const T* const from = image + offsets[p];
    const vector<T> weight = weights[p] - zero;
    DEVPLACE_UNROLL
    for (std::size_t i = 0; i < Vectors; ++i)
      sum[i] += *reinterpret_cast<const loaded<T>*>(from + i * lanes<T>) * weight;
  }
  DEVPLACE_UNROLL
  for (std::size_t i = 0; i < Vectors; ++i) {
    if (relu) sum[i] = sum[i] < zero ? zero : sum[i];
    *reinterpret_cast<loaded<T>*>(sums + i * lanes<T>) = sum[i];
  }
}

/// Computes n elements like tap_sum_tile, rounded up to whole vectors.
template <class T>
[[gnu::noinline]] DEVPLACE_TARGET inline void tap_sums(T* sums, const T* image, const std::size_t* offsets,
                                                       const T* weights, std::size_t depth, T bias, bool relu,
                                                       std::size_t n) {
  std::size_t i = 0;
  for (; i + 7 * lanes<T> < n; i += 8 * lanes<T>)
    tap_sum_tile<T, 8>(sums + i, image + i, offsets, weights, depth, bias, relu);
  for (; i + 2 * lanes<T> < n; i += 3 * lanes<T>)
    tap_sum_tile<T, 3>(sums + i, image + i, offsets, weights, depth, bias, relu);
  for (; i < n; i += lanes<T>) tap_sum_tile<T, 1>(sums + i, image + i, offsets, weights, depth, bias, relu);
}

/// Computes sums[j] += sum over i < n of gradient[i] image[offsets[j] + i] in whole vectors; each lane adds in
/// ascending order.
template <class T, std::size_t Taps>
[[gnu::noinline]] DEVPLACE_TARGET inline void tap_products(double* __restrict sums, const T* __restrict image,
                                                           const std::size_t* __restrict offsets,
                                                           const T* __restrict gradient, std::size_t n) {
  constexpr std::size_t whole = padded_to(Taps, 4);
  vector<T> sum[Taps] = {};
  const T* from[Taps];
  for (std::size_t j = 0; j < Taps; ++j) from[j] = image + offsets[j];
  for (std::size_t i = 0; i < n; i += lanes<T>) {
    const vector<T> some = *reinterpret_cast<const loaded<T>*>(gradient + i);
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < Taps; ++j) sum[j] += *reinterpret_cast<const loaded<T>*>(from[j] + i) * some;
  }
  DEVPLACE_UNROLL
  for (std::size_t j = 0; j < whole; j += 4) {
    vector<T> four[4] = {};
    DEVPLACE_UNROLL
    for (std::size_t l = 0; l < 4; ++l)
      if (j + l < Taps) four[l] = sum[j + l];
    T of_lanes[4];
    add_lanes<T, vector_bytes>(four, of_lanes);
    for (std::size_t l = 0; l < 4 && j + l < Taps; ++l) sums[j + l] += static_cast<double>(of_lanes[l]);
  }
}

template <class T> decltype(&tap_products<T, 3>) tap_products_of(std::size_t taps) {
  return taps == 9   ? tap_products<T, 9>
         : taps == 7 ? tap_products<T, 7>
         : taps == 5 ? tap_products<T, 5>
                     : tap_products<T, 3>;
}
