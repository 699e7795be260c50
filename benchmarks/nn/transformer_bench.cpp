// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training steps of the transformer of examples/transformer.cpp on the CPU, from given parameters and data.
//
// `bench_nn_transformer FOLDER THREADS` reads each parameter from FOLDER/<name>.npy, and from FOLDER/characters.npy the
// sequences of characters, with one more character per row than the network takes. Each line of standard input gives
// the first row and the number of rows of a batch, and a learning rate; the answer is the step's loss and its seconds.
// benchmarks/peers/transformer.py writes the files and takes equal steps in PyTorch.

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

#include <devplace/attention.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/train/trainer.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::now;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr std::size_t characters = 128, context = 64, width = 64;

using block = nn::sequential<
    nn::residual<nn::layer_norm<width>, nn::multi_head_attention<width, 4, nn::causal>>,
    nn::residual<nn::layer_norm<width>, nn::linear<width, 4 * width>, nn::gelu, nn::linear<4 * width, width>>>;
using net =
    nn::sequential<nn::input<context>, nn::embedding<characters, width>, nn::positional_embedding<context, width>,
                   block, block, block, nn::layer_norm<width>, nn::linear<width, characters>>;

template <class T> using sequences = dp::tensor<T, dp::extents<dp::dyn, context>, on_cpu>;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bench_nn_transformer FOLDER THREADS\n";
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  dp::builtin_thread_team team(std::stoi(argv[2]));
  const dp::thread_team_scope scope(team);
  dp::model<net, on_cpu> model{dp::seed{1}};
  model.for_each_parameter([&](const std::string& name, auto values) {
    using extents = typename decltype(values)::extents_type;
    dp::copy(values, dp::read_npy<float, extents>(folder + name + ".npy"));
  });
  const auto text = dp::read_npy<std::int64_t, dp::extents<dp::dyn, context + 1>>(folder + "characters.npy");
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adamw{.weight_decay = 0.01}};
  step.clip({.max_norm = 1});

  std::cout << std::setprecision(9);
  std::size_t first = 0, rows = 0;
  while (std::cin >> first >> rows >> step.optimizer().rule().learning_rate) {
    const dp::extents<dp::dyn, context> size{rows};
    sequences<std::int32_t> samples(size);
    sequences<std::uint8_t> next(size);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < context; ++k) {
        samples(i, k) = static_cast<std::int32_t>(text(first + i, k));
        next(i, k) = static_cast<std::uint8_t>(text(first + i, k + 1));
      }
    const double begin = now();
    const float loss = step(samples, next).item();
    std::cout << loss << ' ' << now() - begin << std::endl;
  }
}
