// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

// Batch normalisation with statistics over the samples of several places. Each place computes integers from its
// samples, and these integers are reduced over the places. The first reduction finds the range of the elements, the
// second adds multiples of a unit that depends on the range (exact_scale). The bits therefore do not depend
// on how samples are divided among places. Compare Demmel and Nguyen, "Parallel reproducible summation", 2015, who need
// one reduction and several accumulators. X and F are the types of batch_norm.hpp.

namespace devplace::detail {

/// Maps numbers to integers of the same order, NaN to the largest, so that reductions of integers find the largest
/// number.
DEVPLACE_HD inline std::int64_t order_key(double x) {
  return x != x ? highest_number<std::int64_t> : rank_of(same_bits<std::int64_t>(x));
}
DEVPLACE_HD inline double number_of_key(std::int64_t key) { return same_bits<double>(rank_of(key)); }

/// Factor that converts normalised summands to 51-bit integers; the sum of `count` such integers fits into 64 bits.
constexpr double exact_unit(std::size_t count) {
  const int bits = 61 - static_cast<int>(std::bit_width(count));
  return static_cast<double>(std::uint64_t{1} << (bits < 50 ? bits : 50));
}

/// A power of two near the largest absolute value of all summands, and its inverse.
class exact_scale {
 public:
  /// `largest` is the largest absolute value; if it is infinite or NaN, summand() returns 0, and scaled() returns NaN.
  DEVPLACE_HD explicit exact_scale(double largest) : mask_(largest - largest == 0 ? -1 : 0) {
    int exponent = 0;
    if (mask_ != 0) std::frexp(largest, &exponent);
    if (exponent < -1000) exponent = -1000;  // so that the inverse is finite
    if (exponent > 1023) exponent = 1023;
    scale_ = mask_ != 0 ? std::ldexp(1.0, exponent) : largest - largest;
    inverse_ = std::ldexp(1.0, -exponent);
  }
  /// Divides by the power of two. The result is below 2 in absolute value, and at most 1 unless x is near the largest
  /// finite number.
  DEVPLACE_HD double normalized(double x) const { return x * inverse_; }
  /// The inverse of normalized().
  DEVPLACE_HD double scaled(double x) const { return x * scale_; }
  /// Converts a normalised number to an integer; `unit` is exact_unit().
  DEVPLACE_HD std::int64_t summand(double x, double unit) const {
    // The low bits of the sum are the integer: before AVX-512, vectors have no conversion to 64-bit integers.
    constexpr double shift = 0x1.8p52;
    const auto bits = __builtin_bit_cast(std::int64_t, x* unit + shift);
    return (bits - __builtin_bit_cast(std::int64_t, shift)) & mask_;
  }

 private:
  double scale_, inverse_;
  std::int64_t mask_;
};

/// Reduction of channel_sums: finds the largest numbers, or NaN, and stores the order_key of each.
struct largest_keys {
  using value_type = double;
  std::int64_t* result;  // two for each channel

  DEVPLACE_HD static constexpr double neutral() { return -infinity<double>; }
  DEVPLACE_HD static constexpr void combine(double& a, double b) { a = ((b > a) | (b != b)) ? b : a; }
  DEVPLACE_HD void store(std::size_t c, const pair_of<double>& largest) const {
    result[2 * c] = order_key(largest.first);
    result[2 * c + 1] = order_key(largest.second);
  }
};

/// Reduction of channel_sums: adds integers.
struct integer_sums {
  using value_type = std::int64_t;
  std::int64_t* result;

  DEVPLACE_HD static constexpr std::int64_t neutral() { return 0; }
  DEVPLACE_HD static constexpr void combine(std::int64_t& a, std::int64_t b) { a += b; }
  DEVPLACE_HD void store(std::size_t c, const pair_of<std::int64_t>& sums) const {
    result[2 * c] = sums.first;
    result[2 * c + 1] = sums.second;
  }
};

/// The keys of the largest x and the largest -x of a channel.
template <class X, class F> struct range_terms : largest_keys {
  const X* x;

  struct summand {
    const X* x;
    DEVPLACE_HD one_input<X> inputs() const { return {x}; }
    DEVPLACE_HD pair_of<double> from_inputs(X element) const {
      const auto value = static_cast<double>(static_cast<F>(element));
      return {value, -value};
    }
    DEVPLACE_HD pair_of<double> operator()(std::size_t i) const { return from_inputs(x[i]); }
  };
  DEVPLACE_HD summand of_channel(std::size_t) const { return {x}; }
};

/// The middle of a channel's range, and the scale of the differences from the middle; computed from the range's keys.
template <class F> struct channel_range {
  F shift;
  exact_scale scale;

  DEVPLACE_HD static channel_range from_keys(const std::int64_t* keys, std::size_t c) {
    const double high = number_of_key(keys[2 * c]), low = -number_of_key(keys[2 * c + 1]);
    const F middle = static_cast<F>(low / 2 + high / 2);
    const double above = high - static_cast<double>(middle), below = static_cast<double>(middle) - low;
    return {middle, exact_scale(above > below ? above : below)};
  }
};

/// The sums of d and of d^2 as integers, where d is (x - shift) / scale.
template <class X, class F> struct exact_moment_terms : integer_sums {
  const X* x;
  const std::int64_t* keys;
  double unit;

  struct summand {
    const X* x;
    double shift, unit;
    exact_scale scale;
    DEVPLACE_HD one_input<X> inputs() const { return {x}; }
    DEVPLACE_HD pair_of<std::int64_t> from_inputs(X value) const {
      const double difference = scale.normalized(static_cast<double>(static_cast<F>(value)) - shift);
      return {scale.summand(difference, unit), scale.summand(difference * difference, unit)};
    }
    DEVPLACE_HD pair_of<std::int64_t> operator()(std::size_t i) const { return from_inputs(x[i]); }
  };
  DEVPLACE_HD summand of_channel(std::size_t c) const {
    const auto range = channel_range<F>::from_keys(keys, c);
    return {x, static_cast<double>(range.shift), unit, range.scale};
  }
};

/// Stores the statistics, from the reduced keys and sums of groups of neighbouring channels.
template <class F> struct exact_statistics_functor {
  const std::int64_t* keys;
  const std::int64_t* sums;
  double unit, count;
  statistics_of_batch<F> result;
  std::size_t channels_of_group = 1;

  DEVPLACE_HD void operator()(std::size_t c) const {
    const std::size_t group = c / channels_of_group;
    const auto range = channel_range<F>::from_keys(keys, group);
    const double mean = static_cast<double>(sums[2 * group]) / unit / count;
    const double square = static_cast<double>(sums[2 * group + 1]) / unit / count;
    result.store(c, range.shift, range.scale.scaled(mean), range.scale.scaled(range.scale.scaled(square)), count);
  }
};

/// The keys of the largest |dy| and the largest |dy times normalised x| of a channel.
template <class X, class F> struct gradient_range_terms : largest_keys {
  const X* x;
  const X* dy;
  channel_scales<F> scales;

  struct summand {
    batch_norm_products<X, F> products;
    DEVPLACE_HD two_inputs<X, X> inputs() const { return products.inputs(); }
    DEVPLACE_HD pair_of<double> from_inputs(X value, X gradient) const {
      const auto p = products.from_inputs(value, gradient);
      return {p.first < 0 ? -p.first : p.first, p.second < 0 ? -p.second : p.second};
    }
    DEVPLACE_HD pair_of<double> operator()(std::size_t i) const { return from_inputs(products.x[i], products.dy[i]); }
  };
  DEVPLACE_HD summand of_channel(std::size_t c) const { return {{x, dy, scales, c}}; }
};

/// The sums of dy and of dy times normalised x as integers; each sum has a scale of its own.
template <class X, class F> struct exact_gradient_terms : integer_sums {
  const X* x;
  const X* dy;
  channel_scales<F> scales;
  const std::int64_t* keys;
  double unit;

  struct summand {
    batch_norm_products<X, F> products;
    exact_scale first, second;
    double unit;
    DEVPLACE_HD two_inputs<X, X> inputs() const { return products.inputs(); }
    DEVPLACE_HD pair_of<std::int64_t> from_inputs(X value, X gradient) const {
      const auto p = products.from_inputs(value, gradient);
      return {first.summand(first.normalized(p.first), unit), second.summand(second.normalized(p.second), unit)};
    }
    DEVPLACE_HD pair_of<std::int64_t> operator()(std::size_t i) const {
      return from_inputs(products.x[i], products.dy[i]);
    }
  };
  DEVPLACE_HD summand of_channel(std::size_t c) const {
    return {
        {x, dy, scales, c}, exact_scale(number_of_key(keys[2 * c])), exact_scale(number_of_key(keys[2 * c + 1])), unit};
  }
};

/// The sums of exact_gradient_terms, two for each channel, from the reduced keys and integers.
struct exact_gradient_sums {
  const std::int64_t* keys;
  const std::int64_t* sums;
  double unit;

  DEVPLACE_HD double operator()(std::size_t i) const {
    return exact_scale(number_of_key(keys[i])).scaled(static_cast<double>(sums[i]) / unit);
  }
};

template <class G, class F> struct exact_gradients_functor {
  exact_gradient_sums sum;
  double share;
  gradients_of_batch<G, F> result;

  DEVPLACE_HD void operator()(std::size_t c) const { result.store(c, {sum(2 * c), sum(2 * c + 1)}, share); }
};

}  // namespace devplace::detail
