// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <devplace/base/hash.hpp>
#include <devplace/config.hpp>
#include <devplace/nn/init.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/ops/detail/random_body.hpp>
#include <devplace/ops/detail/square_roots.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// Functor of initial values. Every element uses its own Philox block, selected by the seed, the parameter's path and
/// the element's index, so that values do not depend on device, number of threads or other parameters. Computes in
/// double, so that a float model has the rounded values of a double model. The arithmetic gives the same bits on every
/// place.
template <class T> struct initial_values {
  T* data;
  initialization rule;
  std::uint64_t seed;
  std::uint64_t path;     ///< hash of the parameter's path
  std::size_t first = 0;  ///< index of element 0 of `data` in the parameter

  static constexpr bool allows_fma = true;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const devplace::detail::philox_block random = sequence().block(first + i);
    const auto& word = random.word;
    if (rule.kind == distribution::constant)
      store(i, rule.center);
    else if (rule.kind == distribution::uniform)
      store(i, uniform(word[0], word[1]));
    else
      store(i, normal(std::sqrt(squared_radius(word[0], word[1])), word[2], word[3]));
  }

  void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t lanes = devplace::detail::philox_lanes;
    std::uint32_t word[4][lanes];
    double value[lanes];
    for (std::size_t k = 0; k < lanes; ++k) value[k] = rule.center;
    for (std::size_t i = begin; i < end; i += lanes) {
      if (rule.kind != distribution::constant) sequence().blocks(first + i, word);
      if (rule.kind == distribution::uniform) {
        for (std::size_t k = 0; k < lanes; ++k) value[k] = uniform(word[0][k], word[1][k]);
      } else if (rule.kind == distribution::normal) {
        for (std::size_t k = 0; k < lanes; ++k) value[k] = squared_radius(word[0][k], word[1][k]);
        devplace::detail::take_square_roots(value, lanes);
        for (std::size_t k = 0; k < lanes; ++k) value[k] = normal(value[k], word[2][k], word[3][k]);
      }
      const std::size_t count = end - i < lanes ? end - i : lanes;
      for (std::size_t k = 0; k < count; ++k) store(i + k, value[k]);
    }
  }

 private:
  using distribution = initialization::distribution;

  DEVPLACE_HD devplace::detail::random_sequence sequence() const { return {seed, path}; }

  DEVPLACE_HD void store(std::size_t i, double value) const {
    data[i] = static_cast<T>(first + i - rule.first_zero < rule.zeros ? 0 : value);
  }

  DEVPLACE_HD double uniform(std::uint32_t high, std::uint32_t low) const {
    return std::fma(rule.spread, 2 * devplace::detail::unit_interval(low, high) - 1, rule.center);
  }

  // Box and Muller 1958.
  DEVPLACE_HD static double squared_radius(std::uint32_t high, std::uint32_t low) {
    return -2 * devplace::detail::portable_log(1 - devplace::detail::unit_interval(low, high));
  }
  DEVPLACE_HD double normal(double radius, std::uint32_t high, std::uint32_t low) const {
    const double second = devplace::detail::unit_interval(low, high);
    return std::fma(rule.spread, radius * devplace::detail::portable_cosine_and_sine(second).cosine, rule.center);
  }
};

}  // namespace devplace::nn::detail

namespace devplace::nn {

/// Draws the initial values of `count` elements of a parameter, from element `first` on, on a device's current stream.
/// The bits are those of a model with this seed whose parameter at `path`, such as `0.weight`, has this rule.
template <class Backend, class T>
void draw_elements(int ordinal, T* data, std::size_t count, const initialization& rule, std::uint64_t seed,
                   std::string_view path, std::size_t first = 0) {
  constexpr std::size_t grain = 1024;
  const detail::initial_values<T> values{data, rule, seed, devplace::detail::fnv1a(path), first};
  devplace::detail::for_each_index<Backend>(ordinal, count, grain, values);
}

}  // namespace devplace::nn
