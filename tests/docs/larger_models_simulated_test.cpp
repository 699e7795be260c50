// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code and the numbers of docs/larger_models.md; those of its table are printed by examples/large_model.

#include <cmath>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include <devplace/all.hpp>
#include <devplace/convolution.hpp>
#include <devplace/fully_sharded.hpp>
#include <devplace/in_parts.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/train/checkpoint.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;
using namespace dp::literals;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<64, 256>, nn::relu, nn::linear<256, 256>, nn::relu, nn::layer_norm<256>,
                           nn::linear<256, 10>>;
using small_units = dp::spread<dp::mesh<dp::shares<4, (64 << 10)>>, 0, 1, 2, 3>;
using copies = dp::replicated<0, 1, 2, 3>;

const dp::labelled_images& digits() {
  static const std::string name = DEVPLACE_TEST_DATA_DIR "/digits-";
  static const dp::labelled_images data =
      dp::hold_out(dp::read_image_set(name + "images-idx3-ubyte", name + "labels-idx1-ubyte"), 360, dp::seed{3});
  return data;
}

template <class Where> double train(const dp::labelled_images& data, const std::string& file) {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
  step.clip({.max_norm = 1});
  dp::loader<Where> batches{data.train, {.batch = 32, .shuffle = dp::seed{2}}};
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
  dp::save_parameters(model, file);
  return dp::accuracy(model, data.test);
}

}  // namespace

TEST_CASE("docs/larger_models.md: one alias changes, and the file of parameters stays", "[docs]") {
  const support::temporary_folder folder;
  const dp::labelled_images& data = digits();
  const std::string first = folder.file("copies"), second = folder.file("shares"), third = folder.file("small_units");

  const double right = train<dp::replicated<0, 1, 2, 3>>(data, first);     // DDP
  const double same = train<dp::fully_sharded<0, 1, 2, 3>>(data, second);  // FSDP: writes the same bytes

  CHECK(right > 0.8);
  CHECK(same == right);
  CHECK(train<small_units>(data, third) == right);
  using kept = dp::spread<dp::mesh<dp::shares<4, (64 << 10), dp::gathered::kept>>, 0, 1, 2, 3>;
  CHECK(train<kept>(data, folder.file("kept")) == right);
  CHECK(support::contents(second) == support::contents(first));
  CHECK(support::contents(third) == support::contents(first));
  CHECK(support::contents(folder.file("kept")) == support::contents(first));

  // Two copies of two shares sum in another order.
  const double close = train<dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>>(data, third);
  CHECK(close == Catch::Approx(right).margin(0.05));
}

TEST_CASE("docs/larger_models.md: memory and traffic are constants", "[docs]") {
  using where = small_units;
  std::ostringstream out;
  using model_t = dp::model<net, where>;
  using plan = dp::memory_plan<model_t, dp::batch<32>, dp::optim::adam>;
  static_assert(plan::bytes < 1400_KiB, "on each place");
  constexpr dp::step_traffic<model_t, collective::gather_units<>> moved;
  out << moved;
  CHECK(out.str() == "2052864 bytes between 4 participants in a step: 1026624 of gradients, 1026240 of parameters");

  // The last two of three units stay from forward to backward, which does not read the first one's: each is gathered
  // once.
  constexpr dp::step_traffic<dp::model<net, copies>, collective::all_reduce<>> of_copies;
  static_assert(moved.parameters == 3 * (66560 + 263168 + 12352));
  static_assert(2 * moved.bytes <= 3 * of_copies.bytes);

  using pairs = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>;
  constexpr dp::step_traffic<dp::model<net, pairs>, collective::gather_units<>> of_pairs;
  static_assert(of_pairs.between_replicas < of_copies.bytes / 2);
  CHECK(dp::describe_units<model_t>() ==
        "unit 0: 0.weight to 0.bias, 66560 bytes\nunit 1: 2.weight to 2.bias, 263168 bytes\n"
        "unit 2: 4.weight to 5.bias, 12352 bytes\n");
  // The last layer of GPT-2, in slices.
  using head = nn::sequential<nn::linear<768, 50257>>;
  const std::string slices = dp::describe_units<dp::model<head, dp::fully_sharded<0, 1, 2, 3>>>();
  CHECK(slices.rfind("unit 0: 0.weight to 0.bias, rows from 46080 on, 13032832 bytes\n"
                     "unit 1: 0.weight, rows 38400 to 46079, 23592960 bytes\n",
                     0) == 0);
}

TEST_CASE("docs/larger_models.md: checkpoints continue on other placements", "[docs]") {
  using where = small_units;
  const support::temporary_folder folder;
  const std::string file = folder.file("checkpoint");
  const auto x = dp::uniform<float, dp::on<dp::cpu>>(dp::extents<dp::dyn, 64>{32}, dp::seed{1}, 0.0F, 1.0F);
  dp::tensor<int, dp::extents<dp::dyn>, dp::on<dp::cpu>> y(dp::extents<dp::dyn>{32});
  for (std::size_t i = 0; i < 32; ++i) y(i) = static_cast<int>(i % 10);

  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step(dp::to_batch<where>(x), dp::to_batch<where>(y));
  dp::save_checkpoint(step, {1, 0}, file);

  dp::model<net, dp::replicated<0, 1, 2, 3>> replicas{dp::seed{9}};
  dp::trainer step_of_replicas{replicas, nn::cross_entropy{}, dp::optim::adam{}};
  const dp::training_position at = dp::load_checkpoint(step_of_replicas, file);  // the epoch and batch of the file

  CHECK(at == dp::training_position{1, 0});
  const double loss = step(dp::to_batch<where>(x), dp::to_batch<where>(y)).item();
  CHECK(step_of_replicas(dp::to_batch<copies>(x), dp::to_batch<copies>(y)).item() == loss);

  const auto whole = dp::to<dp::on<dp::cpu>>(model);  // for views of parameters and many small predictions
  dp::predictor predict{whole, dp::batch<256>{}};

  CHECK(parameters_of(whole) == parameters_of(replicas));
  CHECK(dp::to_host(predict(x))(0, 0) == Catch::Approx(dp::to_host(model.predict(dp::to_batch<where>(x)))(0, 0)));
}

TEST_CASE("docs/larger_models.md: mixed precision", "[docs]") {
  using where = small_units;
  using in_half_the_bytes = dp::model<net, where, dp::mixed<dp::bf16>>;
  constexpr dp::step_traffic<in_half_the_bytes, collective::gather_units<collective::wire<dp::bf16>>> moved;

  constexpr dp::step_traffic<dp::model<net, where>, collective::gather_units<>> in_float;
  // The layer_norm's weight and bias, 256 floats each, are gathered in float as well.
  static_assert(moved.parameters == in_float.parameters / 2 + 3 * 2 * 256 * sizeof(float));
  static_assert(moved.gradients < in_float.gradients / 2 + 256);
  in_half_the_bytes model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{},
                   collective::gather_units<collective::wire<dp::bf16>>{}};
}

TEST_CASE("docs/larger_models.md: several processes", "[docs]") {
  const support::temporary_folder folder;
  const dp::labelled_images& data = digits();
  const std::string file = folder.file("parameters"), of_replicas = folder.file("replicas");
  dp::test::in_processes(2, [&](const dp::process_group& processes) {
    using where = dp::across<dp::on<dp::cuda<0>>, dp::mesh<dp::shares<dp::dyn>>>;
    const dp::process_scope scope{processes};
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
    dp::loader<where> batches{data.train, {.batch = 64}};
    for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);
    const double right = dp::accuracy(model, data.test);  // all processes call it, for model.predict gathers units
    dp::save_parameters(model, file);                     // all call it, and the first one writes

    if (!(right > 0.5)) throw dp::error("the training failed");
  });
  using of_one = dp::model<net, dp::across<dp::on<dp::cuda<0>>, dp::mesh<dp::shares<dp::dyn>>>>;
  using of_eight =
      dp::memory_plan<of_one, dp::batch<64>, dp::optim::adam, collective::gather_units<>, dp::processes<8>>;
  static_assert(of_eight::parameters < of_one::parameter_count() * sizeof(float) / 7, "an eighth in each process");
  {
    using where = dp::across<dp::on<dp::cuda<0>>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<8>>>;
    using plan = dp::memory_plan<dp::model<net, where>, dp::batch<1024>, dp::optim::adam, collective::gather_units<>,
                                 dp::processes<32>>;  // four groups

    using shares =
        dp::memory_plan<of_one, dp::batch<256>, dp::optim::adam, collective::gather_units<>, dp::processes<8>>;
    static_assert(plan::bytes == shares::bytes);
  }

  dp::test::in_processes(2, [&](const dp::process_group& processes) {
    using pairs = dp::across<dp::fully_sharded<0, 1>>;  // a copy in each process
    const dp::process_scope scope{processes};
    if (!(train<pairs>(data, folder.file("pairs")) > 0.8)) throw dp::error("the training failed");
  });
  const auto in_groups = [&](const dp::process_group& processes) {
    using groups = dp::across<dp::on<dp::cuda<0>>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2>>>;
    const dp::process_scope scope{processes};
    if (!(train<groups>(data, folder.file("groups")) > 0.8)) throw dp::error("the training failed");
  };
  dp::test::in_processes(4, in_groups);
  CHECK(support::contents(folder.file("groups")) == support::contents(folder.file("pairs")));
  CHECK_THROWS_AS(dp::test::in_processes(3, in_groups), dp::argument_error);

  using pair = dp::replicated<0, 1>;
  dp::model<net, pair> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::loader<pair> batches{data.train, {.batch = 64}};
  for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);
  dp::save_parameters(model, of_replicas);
  CHECK(support::contents(file) == support::contents(of_replicas));
}

namespace {

template <std::size_t In, std::size_t Out>
using block = nn::sequential<nn::conv2d<In, Out, nn::kernel<3>, nn::padding<1>>, nn::group_norm<4, Out>, nn::silu>;
using below = nn::sequential<nn::max_pool2d<nn::kernel<2>>, block<16, 32>, nn::upsample<2>>;
using field_net = nn::sequential<nn::input<2, 64, 32>, block<2, 16>, nn::concat_of<nn::identity, below>,
                                 nn::conv2d<48, 1, nn::kernel<1>>>;

/// Fields with waves, and the sums of their two channels.
auto fields(std::size_t n) {
  dp::tensor<float, dp::extents<dp::dyn, 2, 64, 32>, dp::cpu> x(dp::extents<dp::dyn, 2, 64, 32>{n});
  dp::tensor<float, dp::extents<dp::dyn, 1, 64, 32>, dp::cpu> y(dp::extents<dp::dyn, 1, 64, 32>{n});
  for (std::size_t i = 0; i != n; ++i)
    for (std::size_t r = 0; r != 64; ++r)
      for (std::size_t c = 0; c != 32; ++c) {
        x(i, 0, r, c) = std::sin(static_cast<float>(r + i) / 5);
        x(i, 1, r, c) = std::cos(static_cast<float>(c * (i + 1)) / 7);
        y(i, 0, r, c) = x(i, 0, r, c) + x(i, 1, r, c);
      }
  return std::pair(std::move(x), std::move(y));
}

template <class Where> double train_on_fields(int steps) {
  const auto [samples, targets] = fields(4);
  dp::model<field_net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 2e-3}};
  const auto x = dp::to_batch<Where>(samples), y = dp::to_batch<Where>(targets);
  for (int i = 0; i != steps; ++i) step(x, y);
  return step(x, y).item();
}

}  // namespace

TEST_CASE("docs/larger_models.md: images split along their rows", "[docs]") {
  const double whole = train_on_fields<dp::cuda<0>>(10);
  const double same = train_on_fields<dp::in_parts<dp::axis<2>, 0, 1, 2, 3>>(10);  // rows on four devices

  CHECK(same > whole - 1e-3);
  CHECK(same < whole + 1e-3);
  CHECK(same < train_on_fields<dp::cuda<0>>(0) / 2);

  using model_t = dp::model<field_net, dp::in_parts<dp::axis<2>, 0, 1, 2, 3>>;
  using plan = dp::memory_plan<model_t, dp::batch<4>, dp::optim::adam>;
  static_assert(plan::activations < 2400_KiB, "on each of four devices; on one device 9377 KiB");
  constexpr dp::step_traffic<model_t, collective::all_reduce<>> moved;
  constexpr std::size_t bytes = moved.bytes_for(4);  // of a step with 4 samples

  using of_one = dp::memory_plan<dp::model<field_net, dp::cuda<0>>, dp::batch<4>, dp::optim::adam>;
  static_assert(of_one::activations == 9377_KiB);
  static_assert(bytes > moved.bytes && bytes == moved.bytes + 4 * (moved.rows_of_sample + moved.statistics_of_sample));
}
