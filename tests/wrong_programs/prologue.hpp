// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What every program of this folder begins with; see scripts/measure_wrong_programs, which precompiles it. A case
// defines `program`, which main calls as careful users do: an exception ends it with its message.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/sorting.hpp>

namespace dp = devplace;
namespace nn = dp::nn;
namespace optim = dp::optim;
namespace collective = dp::collective;

using host = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, host>;
using row = dp::tensor<float, dp::extents<3>, host>;
using net = nn::sequential<nn::linear<4, 8>, nn::relu, nn::linear<8, 3>>;

inline matrix some_matrix() { return {{1, 2, 3}, {4, 5, 6}}; }

/// Images of 2x2 pixels with labels 0 to 2.
inline dp::image_set some_images(std::size_t count = 12) {
  dp::image_set set{dp::zeros<std::uint8_t, host>(dp::extents<dp::dyn, dp::dyn, dp::dyn>(count, 2, 2)),
                    dp::zeros<std::uint8_t, host>(dp::extents<dp::dyn>(count))};
  for (std::size_t i = 0; i < count; ++i) {
    set.labels(i) = static_cast<std::uint8_t>(i % 3);
    set.images(i, i % 2, 0) = static_cast<std::uint8_t>(80 * (i % 3) + 20);
  }
  return set;
}
inline dp::labelled_images some_data() { return {some_images(), some_images(6)}; }
inline auto some_samples(std::size_t count = 6) {
  return dp::uniform<float, host>(dp::extents<dp::dyn, 4>(count), dp::seed{5});
}
inline auto some_labels(std::size_t count = 6) {
  dp::tensor<std::int32_t, dp::extents<dp::dyn>, host> labels(dp::extents<dp::dyn>{count});
  for (std::size_t i = 0; i < count; ++i) labels(i) = static_cast<std::int32_t>(i % 3);
  return labels;
}

void program();

int main() try {
  program();
  std::cout << std::flush;
  return 0;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << '\n';
  return 3;
}
