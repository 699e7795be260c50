// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/box_muller.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/ops/detail/square_roots.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

// Functors that turn random words into numbers. The CPU calls range() and GPU threads call several(), which give the
// same bits. box_muller.hpp explains how.
namespace devplace::detail {

/// Number of random elements that justify a thread.
inline constexpr std::size_t random_grain = 4096;

/// Number of 32-bit random words per element of type T.
template <class T> inline constexpr std::size_t words_of = sizeof(T) / sizeof(std::uint32_t);

/// A uniform distribution in [low, high). `low` and `last`, the last number before high, are numbers of type T.
template <class T> struct uniform_body {
  using value = computed_t<T>;

  T* destination;
  random_sequence random;
  value low, width, last;

  static constexpr std::size_t per_block = 4 / words_of<value>;
  static constexpr unsigned at_once = 16 / sizeof(T);
  static constexpr std::size_t grain = random_grain;
  static constexpr std::size_t indices(std::size_t elements) { return elements; }
  static constexpr bool allows_fma = true;

  DEVPLACE_HD T element(const std::uint32_t* words) const {
    value x{};
    if constexpr (words_of<value> == 1) {  // the product of two 24-bit numbers is exact in double
      const double unit = static_cast<double>(unit_interval(words[0]));
      x = static_cast<value>(static_cast<double>(low) + unit * static_cast<double>(width));
    } else {
      x = std::fma(unit_interval(words[0], words[1]), width, low);
    }
    return static_cast<T>(x < last ? x : last);
  }

  /// Computes elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; k += per_block) {
      const philox_block block = random.block((first + k) / per_block);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned j = 0; j < per_block; ++j) values[k + j] = element(block.word + j * words_of<value>);
    }
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = philox_lanes * per_block;
    std::uint32_t word[4][philox_lanes], in_order[4 * philox_lanes];
    T values[chunk];
    for (std::size_t i = begin / chunk * chunk; i < end; i += chunk) {
      random.blocks(i / per_block, word);
      put_in_order(word, in_order);
      for (std::size_t k = 0; k < chunk; ++k) values[k] = element(in_order + k * words_of<value>);
      const std::size_t from = i < begin ? begin - i : 0, to = end - i < chunk ? end - i : chunk;
      for (std::size_t k = from; k < to; ++k) destination[i + k] = values[k];
    }
  }
};

/// A normal distribution. Index i generates the elements of block i: four floats, or two doubles.
template <class T> struct normal_body {
  using value = computed_t<T>;

  T* destination;
  std::size_t size;
  random_sequence random;
  value mean, deviation;

  static constexpr unsigned at_once = 16 / sizeof(T);
  static constexpr unsigned per_block = 4 / words_of<value>, pairs = per_block / 2;
  static constexpr std::size_t grain = random_grain / (2 * per_block);
  static constexpr std::size_t indices(std::size_t elements) { return divided_up(elements, std::size_t{per_block}); }
  static constexpr bool allows_fma = true, computes_much = true;

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t lanes = philox_lanes, chunk = lanes * per_block;
    std::uint32_t word[4][lanes];
    value radius[pairs * lanes];
    T values[chunk];
    for (std::size_t i = begin; i < end; i += lanes) {
      random.blocks(i, word);
      for (std::size_t p = 0; p < pairs; ++p)
        for (std::size_t k = 0; k < lanes; ++k) radius[p * lanes + k] = radius_of(word[2 * p][k], word[2 * p + 1][k]);
      take_square_roots(radius, pairs * lanes);
      for (std::size_t k = 0; k < lanes; ++k) {
        const std::uint32_t words[] = {word[0][k], word[1][k], word[2][k], word[3][k]};
        for (std::size_t p = 0; p < pairs; ++p) pair(radius[p * lanes + k], words, p, values + per_block * k + 2 * p);
      }
      const std::size_t first = per_block * i, last = size < per_block * end ? size : per_block * end;
      const std::size_t count = last - first < chunk ? last - first : chunk;
      for (std::size_t k = 0; k < count; ++k) destination[first + k] = values[k];
    }
  }

  /// Computes elements first to first + at_once - 1; `first` must be a multiple of at_once.
  DEVPLACE_DEVICE void several(std::size_t first, T* values) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < at_once; k += per_block) {
      const philox_block block = random.block((first + k) / per_block);
      DEVPLACE_DEVICE_UNROLL
      for (unsigned p = 0; p < pairs; ++p) {
        pair(std::sqrt(radius_of(block.word[2 * p], block.word[2 * p + 1])), block.word, p, values + k + 2 * p);
      }
    }
  }

 private:
  /// The squared radius of a pair: of floats from the first of its two words, of doubles from both.
  DEVPLACE_HD static value radius_of(std::uint32_t first, [[maybe_unused]] std::uint32_t second) {
    if constexpr (words_of<value> == 1)
      return squared_radius(first);
    else
      return squared_radius(first, second);
  }

  DEVPLACE_HD void pair(value radius, const std::uint32_t* words, std::size_t p, T* values) const {
    cosine_and_sine<value> direction;
    if constexpr (words_of<value> == 1)
      direction = portable_direction(words[2 * p + 1]);
    else
      direction = portable_cosine_and_sine(unit_interval(words[2], words[3]));
    values[0] = static_cast<T>(std::fma(deviation, radius * direction.cosine, mean));
    values[1] = static_cast<T>(std::fma(deviation, radius * direction.sine, mean));
  }
};

/// Dropout of samples with `columns` elements each; four neighbouring elements share a block.
template <class T> struct dropout_body {
  T* destination;
  const T* source;
  std::size_t columns;
  std::uint64_t first_sample;
  layer_key key;
  std::uint64_t threshold;  // a random 32-bit word below the threshold drops an element
  computed_t<T> scale;

  static constexpr bool computes_much = true;

  DEVPLACE_HD constexpr T element(T x, std::uint32_t word) const {
    using value = computed_t<T>;
    return static_cast<T>(word < threshold ? value{0} : static_cast<value>(x) * scale);
  }

  /// The words for columns 4 * group to 4 * group + 3.
  DEVPLACE_HD constexpr philox_block words(std::size_t row, std::size_t group) const {
    return of_sample(row).block(group);
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t chunk = 4 * philox_lanes;
    std::uint32_t word[4][philox_lanes], in_order[chunk];
    const std::uint32_t low = low_half(threshold);
    const bool keeps_any = high_half(threshold) == 0;
    while (begin < end) {
      const std::size_t row = begin / columns, start = row * columns;
      const std::size_t row_end = end - start < columns ? end - start : columns;
      const random_sequence random = of_sample(row);
      for (std::size_t column = begin - start; column < row_end;) {
        const std::size_t aligned = column / chunk * chunk;
        random.blocks(aligned / 4, word);
        put_in_order(word, in_order);
        const std::size_t stop = row_end < aligned + chunk ? row_end : aligned + chunk;
        independent_loop(column, stop, [&](std::size_t c) __attribute__((always_inline)) {
          // element() without 64-bit comparisons and branches, which processors could not predict.
          const bool keeps = static_cast<bool>((in_order[c - aligned] >= low) & keeps_any);
          const auto scaled = static_cast<computed_t<T>>(source[start + c]) * scale;
          destination[start + c] = static_cast<T>(chosen(keeps, scaled, computed_t<T>{0}));
        });
        column = stop;
      }
      begin = start + row_end;
    }
  }

 private:
  DEVPLACE_HD constexpr random_sequence of_sample(std::size_t row) const { return {key.value, first_sample + row}; }
};

}  // namespace devplace::detail
