// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The right columns of docs/coming_from.md.

#include <cmath>
#include <cstddef>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/fully_sharded.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/shared_memory.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::axis;

namespace {

using net = nn::sequential<nn::linear<6, 16>, nn::relu, nn::linear<16, 10>>;
using block = nn::recomputed<nn::linear<16, 16>, nn::relu>;
static_assert(std::is_same_v<nn::network_output_t<block>, dp::extents<16>>);
using cpu = dp::on<dp::cpu>;
using gpu = dp::on<dp::cuda<0>>;

}  // namespace

TEST_CASE("docs: tensors as in PyTorch and NumPy", "[docs]") {
  auto ones = dp::ones<float, gpu>(2, 3);
  dp::tensor<float, dp::extents<2, 3>, cpu> a{{1, 2, 3}, {4, 5, 6}};
  auto b = a.clone();
  auto on_gpu = dp::to<gpu>(a);
  auto back = dp::to<cpu>(on_gpu);
  CHECK(back(1, 2) == 6);
  CHECK(a.rank == 2);
  CHECK(a.extents() == dp::extents<2, 3>{});
  CHECK(a.extent(0) == 2);
  CHECK(a.size() == 6);
  dp::tensor c = dp::exp(a) + 2.0f * b;
  a = a * 2.0f;
  auto v = a.reshape(dp::extents<6>{});
  auto p = a.permute(axis<1>{}, axis<0>{});
  auto row = a[1];
  auto column = a.select(axis<1>{}, 0);
  auto some = a.slice(axis<1>{}, 0, 2);
  CHECK(v(5) == 12);
  CHECK(p(2, 1) == 12);
  CHECK(row(2) == 12);
  CHECK(column(1) == 8);
  CHECK(some(1, 1) == 10);
  dp::tensor centred = a - dp::mean(a, axis<0>{});
  CHECK((centred(0, 0) == -3 && centred(1, 2) == 3));
  const float number = dp::item(dp::sum(a));
  const float dot = dp::item(dp::sum(a * b));
  CHECK(number == 42);
  CHECK(dot == 182);
  dp::tensor halves = dp::cast<dp::bf16>(a);
  std::vector<float> memory(6);
  auto view = dp::wrap(memory, dp::extents<2, 3>{});
  dp::copy(view, a);
  CHECK(memory[5] == 12);
  std::ostringstream text;
  text << a;
  CHECK(text.str().starts_with("tensor<float, 2x3> on cpu"));
  CHECK(static_cast<float>(halves(1, 2)) == 12);
  CHECK(dp::to<cpu>(ones)(1, 2) == 1);
  CHECK(c(0, 2) == Catch::Approx(std::exp(3.0) + 6));
}

TEST_CASE("docs: devices as in PyTorch", "[docs]") {
  CHECK(dp::available<dp::cuda<0>>());
  const int devices = dp::device_count();
  CHECK(devices >= 1);
  std::ostringstream text;
  text << dp::memory_statistics<dp::cuda<0>>();
  dp::reset_peak_memory<dp::cuda<0>>();
  dp::trim_memory<dp::cuda<0>>();
  const dp::stream<dp::cuda<0>> side;
  {
    const dp::stream_scope on(side);
  }
  side.synchronize();
  dp::synchronize<dp::cuda<0>>();
  CHECK(!text.str().empty());
}

TEST_CASE("docs: training as in PyTorch", "[docs]") {
  const dp::image_set images_of_all = support::numbered_images(64);
  const support::temporary_folder folder;
  dp::model<net, gpu> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-3}};
  dp::loader<gpu> batches{images_of_all, {.batch = 32, .shuffle = dp::seed{2}, .workers = 1}};
  for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);
  const dp::step_launches how = step.last_launches();
  CHECK(how.graphs == 0);  // simulated devices have no graphs
  step.clip({.max_norm = 1});
  step.optimizer().rule().learning_rate *= 0.5;
  const double right = dp::accuracy(model, images_of_all);
  CHECK(step.mean_loss() < 3);  // log 10 = 2.3 for guesses
  CHECK(right == dp::accuracy(dp::to<cpu>(model), images_of_all));
  std::size_t elements = 0;
  std::cout << model.placement() << '\n';
  STATIC_REQUIRE(dp::is_on<decltype(model), gpu>);
  model.for_each_parameter([&](const std::string& name, auto x) { elements += name.empty() ? 0 : x.size(); });
  model.for_each_buffer([&](const std::string& name, auto x) { elements += name.empty() ? 0 : x.size(); });
  CHECK(elements == model.parameter_count());
  dp::save_parameters(model, folder.file("model.safetensors"));
  dp::load_parameters(model, folder.file("model.safetensors"));
  auto on_three = dp::to<dp::replicated<0, 1, 2>>(model);
  dp::trainer by_reduction{on_three, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1},
                           collective::all_reduce{}};
  auto in_shares = dp::to<dp::fully_sharded<0, 1, 2>>(model);
  dp::model<net, gpu, dp::mixed<dp::bf16>> short_model{dp::seed{1}};
  dp::model<net, dp::on<dp::shared_memory>> shared{dp::seed{1}};
  const dp::process_group processes = dp::launched_processes();
  CHECK(processes.size() == 1);
  CHECK(dp::accuracy(on_three, images_of_all) == right);
  CHECK(dp::accuracy(in_shares, images_of_all) == right);
}
