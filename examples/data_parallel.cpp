// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One network, one function `train`, five trainings: on one place, and on three devices under each collective policy,
// by another engine, and with accumulated gradients. Prints what each moves and keeps, checks that all losses are those
// of the one place, and draws them.
//
//   data_parallel [file.svg [tolerance]]     data_parallel.svg and 1e-4 unless given

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <devplace/all.hpp>

#include "loss_chart.hpp"

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;

using net = nn::sequential<nn::linear<64, 256>, nn::relu, nn::linear<256, 128>, nn::relu, nn::linear<128, 10>>;
using adam = dp::optim::adam;

using one_place = dp::on<dp::cpu>;
using three_places = dp::replicated<0, 1, 2>;
/// Gradients go round a ring, in buckets of 64 KiB and more.
using ring_in_buckets = collective::all_reduce<collective::ring, collective::buckets<(64 << 10), (64 << 10)>>;

constexpr int epochs = 10;
constexpr std::size_t samples_per_update = 48;  // over all places

struct training {
  std::string name;
  std::vector<double> losses;  ///< of the samples of each update
};

template <class... P>
void reset_peaks(dp::devices<P...>) {
  ((dp::trim_memory<P>(), dp::reset_peak_memory<P>()), ...);
}

/// Trains on `Where` and prints what that takes. With `accumulate<k>` a batch has a k-th of the samples of an update.
template <dp::placement Where, class Policy, class Accumulate = dp::accumulate<1>>
training train(const char* name, const dp::labelled_images& data) {
  using model_type = dp::model<net, Where>;
  using traffic = dp::step_traffic<model_type, Policy>;
  constexpr std::size_t batch = samples_per_update / Accumulate::batches;
  using memory = dp::memory_plan<model_type, dp::batch<batch>, adam, Policy>;
  reset_peaks(typename dp::placement_traits<Where>::mesh{});

  const dp::loader_options options{.batch = batch, .shuffle = dp::seed{2}, .scale = 1.0 / 16};  // pixels are 0 to 16
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, adam{.learning_rate = 1e-3}, Policy{}, Accumulate{}};
  dp::loader<Where> batches{data.train, options};
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
    if (step.flush()) update_done();  // what k did not divide
  }
  dp::check_replicas(model);  // throws unless all copies are equal to the bit
  const double right = dp::accuracy(model, data.test, options);

  std::printf("%s\n  placement  %s\n", name, dp::placement_name<Where>().c_str());
  if constexpr (!dp::single_place<Where>) {
    std::string buckets = dp::describe_buckets<model_type, Policy>();
    for (std::size_t end = buckets.find('\n'); end + 1 < buckets.size(); end = buckets.find('\n', end + 1))
      buckets.insert(end + 1, "             ");
    std::printf("  reduced    %s  per update %zu bytes between places: %zu of gradients, %zu of parameters\n",
                buckets.c_str(), traffic::bytes, traffic::gradients, traffic::parameters);
  }
  std::printf("  memory     %zu bytes planned on the fullest place; with batches and what the other places hold:\n%s",
              memory::bytes, dp::memory_table().c_str());
  std::printf("  result     last loss %.5f, %.1f %% of the held-out images right\n", result.losses.back(), 100 * right);
  return result;
}

/// By which share the losses of two trainings have differed at most, up to each update.
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
  const std::string path = argc > 1 ? argv[1] : "data_parallel.svg";
  const double tolerance = argc > 2 ? std::stod(argv[2]) : 1e-4;
  const std::string digits = DEVPLACE_EXAMPLE_DATA "/digits-";  // the folder examples/data
  const dp::labelled_images data =
      dp::hold_out(dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte"), 360, dp::seed{3});

  std::vector<training> all{train<one_place, collective::ring_all_reduce>("one place", data)};
  // Passed over at compile time where no component gives cuda places, and at run time where there are fewer than three.
  dp::first_available<three_places, one_place>([&](auto where) {
    using Where = decltype(where);
    if constexpr (std::same_as<Where, three_places>) {
      all.push_back(train<Where, collective::scatter_gather>("scatter_gather", data));
      all.push_back(train<Where, collective::ring_all_reduce>("ring_all_reduce", data));
      all.push_back(train<Where, ring_in_buckets>("all_reduce<ring>, in buckets", data));
      all.push_back(
          train<Where, collective::ring_all_reduce, dp::accumulate<3>>("ring_all_reduce, accumulate<3>", data));
    }
  });

  bool same = true;
  std::vector<loss_chart::panel> panels{{"loss of each update", {}}};
  for (const training& t : all)
    panels[0].curves.push_back({t.name, t.losses});
  if (all.size() > 1) {
    panels.push_back({"largest difference from one place so far, as a share of the loss", {}});
    std::printf("largest difference from one place, as a share of the loss (%g is allowed)\n", tolerance);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::vector<double> share = largest_differences(all[i], all[0]);
      std::printf("  %-31s %.1e\n", all[i].name.c_str(), share.back());
      same = same && share.back() <= tolerance;
      panels[1].curves.push_back({all[i].name, share});
    }
  } else {
    try {
      dp::require_available<three_places>();
    } catch (const dp::placement_unavailable& reason) {
      std::printf("Only one place was trained. %s\n", reason.what());
    }
  }
  loss_chart::write_file(path, loss_chart::svg("Training on digits by one place and by three", "update", panels));
  std::printf("curves in %s\n", path.c_str());
  if (!same)
    std::fprintf(stderr, "data_parallel: a training differs from the one on one place by more than %g.\n", tolerance);
  return same ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
