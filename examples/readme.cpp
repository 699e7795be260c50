// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The program in README.md, word for word from the first #include on.

#include <cstdio>
#include <string>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::linear<128, 10>>;

template <dp::placement Where> double train(const dp::labelled_images& data) {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-2}};
  dp::loader<Where> batches{data.train, {.batch = 32, .shuffle = dp::seed{2}}};
  for (int epoch = 0; epoch < 10; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
  return dp::accuracy(model, data.test);
}

int main(int argc, char** argv) {
  const std::string digits = std::string(argc > 1 ? argv[1] : "examples/data") + "/digits-";
  const auto images = dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte");
  const auto data = dp::hold_out(images, 360, dp::seed{3});
  const double right = dp::first_available<dp::replicated<0, 1, 2>, dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(
      [&](auto where) { return train<decltype(where)>(data); });
  std::printf("%.1f %% of the held-out images right\n", 100 * right);
}
