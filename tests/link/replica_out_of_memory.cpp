// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An allocation fails on one of three replicas: the error names the replica, the model is unchanged, and a smaller
// batch trains.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using three = dp::replicated<0, 1, 2>;
using net = nn::sequential<nn::linear<64, 64>, nn::relu, nn::linear<64, 10>>;

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

template <class Where> auto images(std::size_t rows) {
  dp::tensor<float, dp::extents<dp::dyn, 64>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, 64>{rows});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 11) / 8;
  return dp::scatter<dp::batch_placement_t<Where>>(x);
}
template <class Where> auto labels(std::size_t rows) {
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> y(dp::extents<dp::dyn>{rows});
  for (std::size_t i = 0; i < rows; ++i) y(i) = static_cast<std::int64_t>(i % 10);
  return dp::scatter<dp::batch_placement_t<Where>>(y);
}

template <class Model> std::vector<float> parameters_of(const Model& model) {
  std::vector<float> values;
  for (std::size_t k = 0; k < 3; ++k)
    model.for_each_parameter(
        [&](const std::string&, auto view) {
          std::vector<float> read(view.size());
          dp::detail::copy_out<dp::backend::cuda>(view.ordinal(), read.data(), view.data(),
                                                  read.size() * sizeof(float));
          values.insert(values.end(), read.begin(), read.end());
        },
        k);
  return values;
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_MEMORY", "1MiB", 1);
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "3", 1);
  dp::model<net, three> model{dp::seed{1}}, undisturbed{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::trainer step_undisturbed{undisturbed, nn::cross_entropy{}, dp::optim::adam{}};
  const auto small = images<three>(60);
  const auto small_labels = labels<three>(60);
  step(small, small_labels);
  step_undisturbed(small, small_labels);
  const auto before = parameters_of(model);
  const auto large = images<three>(900);
  const auto large_labels = labels<three>(900);
  {
    // The second device has the least memory; the larger batch does not fit there.
    const std::size_t room = 100 * 1024;
    const std::size_t used = dp::memory_statistics<dp::cuda<1>>().reserved;
    const auto taken = dp::zeros<float, dp::on<dp::cuda<1>>>(
        dp::extents<dp::dyn>{((std::size_t{1} << 20) - used - room) / sizeof(float)});
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::size_t allocated = dp::memory_statistics<dp::cuda<1>>().allocated;
      try {
        if (attempt == 0)
          step.prepare(900);
        else
          step(large, large_labels);
        check(false, "a batch that does not fit");
      } catch (const dp::out_of_memory& full) {
        const std::string text = full.what();
        if (attempt == 0) std::puts(text.c_str());
        for (const char* part : {"devplace: replica 1 of 3 (cuda:1): cuda:1 (simulated", "smaller batch"})
          check(text.find(part) != std::string::npos, part);
        check(text.find("devplace: ", 1) == std::string::npos, "the prefix comes once");
      }
      check(dp::memory_statistics<dp::cuda<1>>().allocated <= allocated, "nothing leaks");
      check(parameters_of(model) == before, "the model is untouched");
    }
    // A smaller batch trains immediately.
    step(small, small_labels);
    step_undisturbed(small, small_labels);
    check(parameters_of(model) == parameters_of(undisturbed), "it goes on as if nothing had been");
  }
  // The larger batch trains once there is enough memory.
  check(step(large, large_labels).item() > 0, "the larger batch");
  dp::check_replicas(model);
  return failures == 0 ? 0 : 1;
}
