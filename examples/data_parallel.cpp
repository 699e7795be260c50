// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One network and one function `train`, five trainings: on one place, and on three devices with both collective
// policies, with the other engine, and with accumulated gradients. Prints traffic and memory of each, checks that the
// losses agree with the single place's, and plots the losses.
//
//   data_parallel [picture [tolerance]]      defaults: data_parallel.svg and 0.05

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/data/transforms.hpp>
#include <devplace/io/chart.hpp>

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;

using net = nn::sequential<nn::linear<64, 256>, nn::relu, nn::linear<256, 128>, nn::relu, nn::linear<128, 10>>;
using adam = dp::optim::adam;

using one_place = dp::on<dp::cpu>;
using three_places = dp::replicated<0, 1, 2>;
/// Gradients are reduced by a ring, in buckets of at least 64 KiB.
using ring_in_buckets = collective::all_reduce<collective::ring, collective::buckets<(64 << 10), (64 << 10)>>;

constexpr int epochs = 10;
constexpr std::size_t samples_per_update = 48;  // on all places together

struct training {
  std::string name;
  std::vector<double> losses;  ///< one per update
};

/// Trains on `Where`. With `accumulate<k>` a batch has 1/k of the samples of an update.
template <dp::placement Where, class Policy, class Accumulate = dp::accumulate<1>>
training train(const char* name, const dp::labelled_images& data) {
  using model_type = dp::model<net, Where>;
  constexpr std::size_t batch = samples_per_update / Accumulate::batches;
  using memory = dp::memory_plan<model_type, dp::batch<batch>, adam, Policy>;
  std::cout << name << " on " << dp::placement_name<Where>() << '\n';
  if (!dp::single_place<Where>)
    std::cout << dp::describe_buckets<model_type, Policy>() << dp::step_traffic<model_type, Policy>{} << '\n';
  std::cout << memory::bytes << " bytes of memory on the fullest place\n";

  const dp::loader_options options{.batch = batch, .shuffle = dp::seed{2}, .scale = 1.0 / 16};  // pixels are 0 to 16
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, adam{.learning_rate = 1e-3}, Policy{}, Accumulate{}};
  // Turns each image anew in each epoch: the loader's devices do this, with the bits of the CPU.
  const dp::transforms turned{dp::extents<8, 8>{}, dp::seed{4}, dp::random_rotation{.degrees = 10}};
  dp::loader<Where> batches{data.train, options, turned};
  training result{name, {}};
  const auto update_done = [&] {
    result.losses.push_back(step.mean_loss());
    step.reset_mean_loss();
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::size_t calls = 0;
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      step(images, labels);
      if (++calls % Accumulate::batches == 0) update_done();
    }
    if (step.flush()) update_done();  // the last batches of the epoch, if k does not divide their number
  }
  dp::check_replicas(model);  // throws unless all replicas are bitwise equal
  std::cout << "last loss " << result.losses.back() << ", " << 100 * dp::accuracy(model, data.test, options)
            << " % of the held-out images right\n\n";
  return result;
}

/// For each update, the largest relative difference between the losses of two trainings so far.
std::vector<double> largest_differences(const training& t, const training& reference) {
  std::vector<double> result;
  double largest = 0;
  for (std::size_t i = 0; i < reference.losses.size(); ++i) {
    largest = std::max(largest, std::abs(t.losses.at(i) - reference.losses[i]) / reference.losses[i]);
    result.push_back(largest);
  }
  return result;
}

int main(int argc, char** argv) try {
  std::cout.precision(4);
  const std::string path = argc > 1 ? argv[1] : "data_parallel.svg";
  // Sums are rounded in a different order, a relative difference of about 1e-7. If this switches a relu on or off for a
  // sample, the trainings diverge slightly, and losses of single updates differ by up to a percent.
  const double tolerance = argc > 2 ? std::stod(argv[2]) : 0.05;
  const std::string digits = DEVPLACE_EXAMPLE_DATA "/digits-";  // the folder examples/data
  const dp::labelled_images data =
      dp::hold_out(dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte"), 360, dp::seed{3});

  std::vector<training> all{train<one_place, collective::all_reduce<>>("one place", data)};
  // Skipped if no component provides cuda places or there are fewer than three devices.
  dp::first_available<three_places, one_place>([&](auto where) {
    if constexpr (std::same_as<decltype(where), three_places>) {
      using Where = three_places;
      all.push_back(train<Where, collective::scatter_gather>("scatter_gather", data));
      all.push_back(train<Where, collective::all_reduce<>>("all_reduce", data));
      all.push_back(train<Where, ring_in_buckets>("all_reduce<ring>, in buckets", data));
      all.push_back(train<Where, collective::all_reduce<>, dp::accumulate<3>>("all_reduce, accumulate<3>", data));
    } else {
      std::cout << "There are no three devices; only one place was trained.\n";
    }
  });

  dp::chart_panel losses{"loss of an update: cross-entropy in nats, mean over 48 samples", {}};
  dp::chart_panel differences{"largest difference from one place up to here, as a share of the loss", {}};
  bool same = true;
  for (const training& t : all) {
    losses.curves.push_back({t.name, t.losses});
    differences.curves.push_back({t.name, largest_differences(t, all[0])});
    const double largest = differences.curves.back().y.back();
    same = same && largest <= tolerance;
    if (&t != &all[0])
      std::cout << t.name << ": losses differ from one place's by " << largest << " of their size at most\n";
  }
  dp::write_chart(path, "update", {losses, differences});
  std::cout << "curves in " << path << '\n';
  if (!same) std::cerr << "data_parallel: losses differ by more than " << tolerance << " of their size.\n";
  return same ? 0 : 1;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << '\n';
  return 2;
}
