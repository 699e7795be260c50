// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <devplace/config.hpp>
#include <devplace/nn/init.hpp>
#include <devplace/ops/detail/philox.hpp>
#include <devplace/ops/detail/random_body.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// FNV-1a, 64 bits, of a parameter's path such as `0.weight`.
constexpr std::uint64_t path_hash(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// Every element uses its own Philox block, selected by the seed, the parameter's path and the element's index, so the
/// values do not depend on device, number of threads or other parameters. Numbers are computed in double, so that a
/// float model starts from the rounded values of the double one, and with arithmetic that gives the same bits on every
/// place.
template <class T>
struct initial_values {
  T* data;
  initialization how;
  std::uint64_t seed;
  std::uint64_t path;

  DEVPLACE_HD void operator()(std::size_t i) const {
    double value = how.center;
    if (how.kind != initialization::distribution::constant) {
      const devplace::detail::philox_block random = devplace::detail::random_sequence(seed, path).block(i);
      const double first = unit_interval(random.word[0], random.word[1]);
      if (how.kind == initialization::distribution::uniform) {
        value = std::fma(how.spread, 2 * first - 1, how.center);
      } else {  // Box and Muller 1958
        const double second = unit_interval(random.word[2], random.word[3]);
        const double radius = std::sqrt(-2 * devplace::detail::portable_log(1 - first));
        value = std::fma(how.spread, radius * devplace::detail::portable_cosine_and_sine(second).cosine, how.center);
      }
    }
    data[i] = static_cast<T>(i - how.first_zero < how.zeros ? 0 : value);
  }

 private:
  /// A multiple of 2^-53 in [0, 1).
  DEVPLACE_HD static double unit_interval(std::uint32_t high, std::uint32_t low) {
    return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * (1.0 / 9007199254740992.0);
  }
};

/// Initialises `n` elements on a backend's device, in the order of its current stream. `path` is the path_hash of the
/// parameter's name within the whole model.
template <class Backend, class T>
void initialize_into(int ordinal, T* data, std::size_t n, const initialization& how, std::uint64_t seed,
                     std::uint64_t path) {
  constexpr std::size_t grain = 1024;
  devplace::detail::for_each_index<Backend>(ordinal, n, grain, initial_values<T>{data, how, seed, path});
}

}  // namespace devplace::nn::detail
