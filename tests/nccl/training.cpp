// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains with collective::nccl and compares with collective::direct: one process on one GPU, or several processes with
// one GPU each, started by a launcher or by scripts/gpu-check. Needs no MPI. Exits with 4 without a GPU.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/parallel/nccl.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/process/launch.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::linear<128, 10>>;
using where = dp::across<dp::on<dp::cuda<0>>>;

namespace {

void require(bool fact, const std::string& what) {
  if (!fact) throw std::runtime_error(what);
}

struct training {
  std::vector<double> losses;
  std::vector<float> parameters;  ///< of the last layer
};

template <class Policy> training train(const dp::labelled_images& data) {
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-2}, Policy{}};
  dp::loader<where> batches{data.train, {.batch = 32, .shuffle = dp::seed{2}}};
  training result;
  for (int epoch = 0; epoch < 3; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    result.losses.push_back(step.mean_loss());
  }
  const auto on_host = dp::to<dp::on<dp::cpu>>(model);
  const auto weights = on_host.template parameter<2>();
  result.parameters.assign(weights.data(), weights.data() + weights.size());
  return result;
}

/// Checks that training agrees except for the order of summation, and that all processes have the same bits.
template <class Policy>
void compare(const char* name, const training& expected, const dp::labelled_images& data,
             const dp::process_group& processes) {
  const training got = train<Policy>(data);
  for (std::size_t i = 0; i != got.losses.size(); ++i)
    require(std::abs(got.losses[i] - expected.losses[i]) < 1e-2 * expected.losses[i] + 1e-4,
            std::string(name) + ": another loss in epoch " + std::to_string(i));
  std::vector<float> first = got.parameters;
  processes.broadcast(std::span(first));
  require(first == got.parameters, std::string(name) + ": the processes have different parameters");
  if (processes.is_main()) std::printf("%s: losses agree, the last is %.6f\n", name, got.losses.back());
}

/// Checks sums of integers, which are exact in any order.
}  // namespace

int main() try {
  if (!dp::available<dp::cuda<0>>()) {
    std::puts("skipped: there is no CUDA device");
    return 4;
  }
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  const std::string digits = DEVPLACE_TEST_DATA_DIR "/digits-";
  const auto data =
      dp::hold_out(dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte"), 360, dp::seed{3});
  namespace collective = dp::collective;
  const training expected = train<collective::all_reduce<>>(data);
  compare<collective::all_reduce<collective::nccl>>("all_reduce", expected, data, processes);
  compare<collective::sharded_all_reduce<collective::nccl>>("sharded_all_reduce", expected, data, processes);
  compare<collective::reduce_and_broadcast<collective::nccl>>("reduce_and_broadcast", expected, data, processes);
  using in_bf16 = collective::all_reduce<collective::wire<dp::bf16, collective::nccl>>;
  compare<in_bf16>("all_reduce in bf16", train<collective::all_reduce<collective::wire<dp::bf16>>>(data), data,
                   processes);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
