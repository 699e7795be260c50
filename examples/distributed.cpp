// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The readme's program over the processes of one host. Any of these commands starts the binary:
//
//   mpirun -n 4 distributed        srun -n 4 distributed        torchrun --nproc-per-node 4 --no-python distributed
//   distributed
//
// Batches are always divided among four devices: of one process, of two processes with two each, or of four processes.
// So all commands print bitwise equal losses. Without devices each process uses its processors instead.

#include <cstdio>
#include <exception>
#include <string>

#include <devplace/all.hpp>
#include <devplace/process/launch.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::linear<128, 10>>;

template <dp::placement Where> void train(const dp::labelled_images& data) {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-2}};
  dp::loader<Where> batches{data.train, {.batch = 32, .shuffle = dp::seed{2}}};
  for (int epoch = 0; epoch < 5; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    const double loss = step.mean_loss(), right = dp::accuracy(model, data.test);  // called by all processes
    if (dp::is_main_process())
      std::printf("epoch %d: loss %.17g, %.1f %% of the held-out images right\n", epoch, loss, 100 * right);
  }
}

/// Trains on this process's share of the four devices, or on its processors.
template <class Devices> void train_with(const dp::labelled_images& data) {
  dp::first_available<Devices, dp::cpu>([&](auto local) { train<dp::across<decltype(local)>>(data); });
}

int main() try {
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  const std::string digits = DEVPLACE_EXAMPLE_DATA "/digits-";  // the folder examples/data
  const auto images = dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte");
  const auto data = dp::hold_out(images, 360, dp::seed{3});
  if (processes.size() == 1)
    train_with<dp::replicated<0, 1, 2, 3>>(data);
  else if (processes.size() == 2)
    train_with<dp::replicated<0, 1>>(data);
  else
    train_with<dp::cuda<0>>(data);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
