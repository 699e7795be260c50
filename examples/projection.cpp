// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Projects how far data-parallel training scales, with copies of a model and with shares: prints tables of efficiencies
// from a model of collectives over many GPUs. Nothing here is measured. Replace the networks, their times and the
// machine with your own.

#include <array>
#include <cstddef>
#include <cstdio>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>

#include "projection.hpp"

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

/// Nodes of 8 GPUs connected by NVLink, 370 GB/s in a node and by its network adapters.
constexpr projection::machine machine{};

// The first network, with its trainer's buckets; the times are assumptions.
using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
using model = dp::model<net, dp::on<dp::cpu>>;
constexpr projection::work<1> small{
    .forward = 20e-6, .buckets = projection::of_model<model>(40e-6), .optimizer = 10e-6};

constexpr std::size_t counts[] = {1, 8, 64, 512, 1024, 4096, 10000};

/// Parameters of other networks, divided by DistributedDataParallel's rule from the last layer to the first, with the
/// multiply-adds of one sample's forward pass.
struct layers {
  std::size_t bytes;
  double operations;
};
constexpr std::array<layers, 5> resnet_50{
    {{8196000, 2.0e6}, {31502336, 385.4e6}, {26255360, 321.1e6}, {26550272, 1297.4e6}, {9724160, 2083.3e6}}};
constexpr std::array<layers, 6> vgg_16{{{16388000, 4.1e6},
                                        {67125248, 16.8e6},
                                        {411058176, 102.8e6},
                                        {28317696, 1387.3e6},
                                        {28319744, 8323.6e6},
                                        {2221312, 5635.8e6}}};

/// A batch of 64 on each GPU at 50 TFLOP/s: 2 operations forward and 4 backward; 7 accesses per parameter at 3 TB/s in
/// the optimizer.
template <std::size_t Buckets> constexpr projection::work<Buckets> work_of(const std::array<layers, Buckets>& network) {
  projection::work<Buckets> w;
  for (std::size_t i = 0; i != Buckets; ++i) {
    w.buckets[i] = {network[i].bytes, 64 * 4 * network[i].operations / 50e12};
    w.forward += w.buckets[i].backward / 2;
    w.optimizer += 7 * static_cast<double>(network[i].bytes) / 3e12;
  }
  return w;
}

template <std::size_t Buckets> void print(const char* name, const projection::work<Buckets>& w) {
  std::printf("%s, gradients in %zu bucket%s, %.3g ms a step on one GPU (projected)\n", name, Buckets,
              Buckets == 1 ? "" : "s", 1e3 * w.alone());
  std::printf("%9s   GPUs          ring          tree        better   step\n", "");
  for (const std::size_t n : counts) {
    std::printf("projected %6zu", n);
    using enum projection::algorithm;
    for (const auto by : {ring, tree, better})
      std::printf("  %4.0f to %3.0f %%", 100 * project(machine, w, n, by, 3).efficiency,
                  100 * project(machine, w, n, by).efficiency);
    std::printf("  %.3g ms\n", 1e3 * project(machine, w, n).seconds);
  }
}

/// A transformer of 7 billion parameters, a unit for each of its 32 blocks of 202 million and for each of its tables of
/// 131 million. Each GPU has 4 sequences of 2,048 tokens at 300 TFLOP/s, and computes blocks again in backward.
/// Parameters are gathered, and gradients are reduced, in 16 bits.
constexpr std::array<projection::unit, 34> transformer = [] {
  std::array<projection::unit, 34> units{};
  for (std::size_t i = 0; i != units.size(); ++i) {
    const bool table = i == 0 || i == 33;
    const double parameters = table ? 131072000 : 202383360, forward = 2 * parameters * 4 * 2048 / 300e12;
    units[i] = {static_cast<std::size_t>(2 * parameters), i == 0 ? 0 : forward, i == 0 ? 0 : (table ? 2 : 3) * forward};
  }
  return units;
}();

void print_shares() {
  const auto efficiency = [](std::size_t n, std::size_t shares, double slower) {
    const double optimizer = 7 * 4 * 6738415616.0 / static_cast<double>(shares) / 3e12;
    double alone = optimizer;
    for (const projection::unit& u : transformer) alone += u.forward + u.backward;
    return 100 * alone / seconds_in_shares(machine, transformer, optimizer, n, shares, slower);
  };
  std::printf(
      "7 billion parameters, the part of a step that computes, with shares of all GPUs or of a node (projected)\n");
  std::printf("%9s   GPUs        of all     of a node\n", "");
  for (const std::size_t n : {8U, 64U, 512U, 1024U, 4096U, 10000U})
    std::printf("projected %6zu  %4.0f to %3.0f %%  %4.0f to %3.0f %%\n", n, efficiency(n, n, 3), efficiency(n, n, 1),
                efficiency(n, 8, 3), efficiency(n, 8, 1));
}

}  // namespace

int main() {
  std::printf(
      "Projected efficiency, a constant batch per GPU: from all-reduces 3 times as slow as the model says, to as it "
      "says\n");
  print("784-256-10", small);
  print("ResNet-50", work_of(resnet_50));
  print("VGG-16", work_of(vgg_16));
  print_shares();
}
