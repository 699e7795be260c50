// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program that trains a network although only another source knows devplace: docs/compile_time.md.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "link/surrogate.hpp"

#ifdef DEVPLACE_VERSION_MAJOR
  #error "link/surrogate.hpp includes headers of devplace"
#endif

int main() {
  std::vector<float> inputs, outputs;
  for (int i = 0; i < 256; ++i) {
    const float x = static_cast<float>(i % 16) / 16, y = static_cast<float>(i / 16) / 16;
    inputs.insert(inputs.end(), {x, y});
    outputs.push_back(std::sin(3 * x) * y);
  }
  surrogate model{1};
  double loss = 0;
  for (int i = 0; i < 500; ++i) loss = model.train(inputs, outputs);
  std::vector<float> predicted(outputs.size());
  model.predict(inputs, predicted);
  float largest = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) largest = std::max(largest, std::abs(predicted[i] - outputs[i]));
  std::printf("loss %g, largest error %g\n", loss, static_cast<double>(largest));
  return loss < 1e-3 && largest < 0.2f ? 0 : 1;
}
