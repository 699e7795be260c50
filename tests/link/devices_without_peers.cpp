// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Devices that cannot access each other's memory, like many desktop GPUs without NVLink: programs run unchanged with
// the default engine, and sums have the same bits.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <devplace/nn.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

float value(std::size_t rank, std::size_t i) { return 1.0F / static_cast<float>(3 + 7 * rank + i % 1009); }

/// Sums in rank order, in float.
std::vector<float> sums(std::size_t ranks, std::size_t count) {
  std::vector<float> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = value(0, i);
    for (std::size_t rank = 1; rank < ranks; ++rank) result[i] += value(rank, i);
  }
  return result;
}

/// One buffer per device, with the values of its rank.
struct buffers {
  std::vector<dp::detail::memory_block> blocks;
  std::vector<float*> addresses;

  buffers(std::size_t ranks, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < count; ++i) values[i] = value(rank, i);
      blocks.push_back(dp::detail::allocate<dp::backend::cuda>(static_cast<int>(rank), count * sizeof(float)));
      addresses.push_back(static_cast<float*>(blocks.back().data()));
      dp::detail::copy_in<dp::backend::cuda>(static_cast<int>(rank), addresses.back(), values.data(),
                                             count * sizeof(float));
    }
  }
  std::vector<float> values(std::size_t rank, std::size_t count) const {
    std::vector<float> result(count);
    dp::detail::copy_out<dp::backend::cuda>(static_cast<int>(rank), result.data(), addresses[rank],
                                            count * sizeof(float));
    return result;
  }
  std::span<float* const> span() const { return addresses; }
};

void collectives(std::size_t ranks, std::size_t count) {
  std::vector<int> ordinals;
  std::vector<std::size_t> begins{0};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    ordinals.push_back(static_cast<int>(rank));
    begins.push_back(rank + 1 == ranks ? count : begins.back() + count / (ranks + 1));
  }
  dp::parallel::direct<dp::backend::cuda> communicator{ordinals};
  const auto expected = sums(ranks, count);

  buffers all(ranks, count);
  communicator.all_reduce(all.span(), count, dp::reduction::sum);
  for (std::size_t rank = 0; rank < ranks; ++rank) check(all.values(rank, count) == expected, "all_reduce");

  buffers on_root(ranks, count);
  communicator.reduce(on_root.span(), count, dp::reduction::sum, static_cast<int>(ranks - 1));
  check(on_root.values(ranks - 1, count) == expected, "reduce");

  buffers scattered(ranks, count);
  communicator.reduce_scatter(scattered.span(), begins, dp::reduction::sum);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto values = scattered.values(rank, count);
    for (std::size_t i = begins[rank]; i < begins[rank + 1]; ++i) check(values[i] == expected[i], "reduce_scatter");
  }
  communicator.all_gather(scattered.span(), begins);
  for (std::size_t rank = 0; rank < ranks; ++rank) check(scattered.values(rank, count) == expected, "all_gather");
}

/// A parameter after some steps on `Where`.
template <class Where> float trained() {
  dp::model<nn::sequential<nn::linear<6, 40>, nn::tanh, nn::linear<40, 3>>, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 0.01}};
  step.prepare(10);
  const auto before = dp::memory_statistics<dp::cuda<0>>().allocations;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto x = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 6>{10}, dp::seed{i}, -1.0F, 1.0F);
    const auto y = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 3>{10}, dp::seed{i + 10}, -1.0F, 1.0F);
    step(dp::to_batch<Where>(x), dp::to_batch<Where>(y));
  }
  check(dp::memory_statistics<dp::cuda<0>>().allocations == before + 6,
        "a step allocates nothing but its batches here");
  dp::check_replicas(model);
  return dp::to<dp::cpu>(model.template parameter<0>())(0, 0);
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "4", 1);
  ::setenv("DEVPLACE_SIMULATED_PEERS", "0", 1);
  for (const auto& device : dp::list_devices()) check(device.peers.empty(), "no peers");
  for (const std::size_t ranks : std::vector<std::size_t>{1, 2, 3, 4})
    for (const std::size_t count : std::vector<std::size_t>{0, 1, 5, 1000, 1000000}) collectives(ranks, count);

  const float on_one = trained<dp::cuda<0>>();
  const float on_four = dp::first_available<dp::up_to<4>, dp::cpu>([](auto where) {
    check(dp::local_place_count<decltype(where)> == 4, "four devices are available");
    if constexpr (dp::local_place_count<decltype(where)> == 4)
      return trained<decltype(where)>();
    else
      return 0.0F;
  });
  check(on_four - on_one < 1e-5F && on_one - on_four < 1e-5F, "the training on four devices");
  return failures == 0 ? 0 : 1;
}
