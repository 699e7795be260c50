// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The snippets of "Several processes" in docs/data_parallel.md; threads stand in for the processes.

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/process/launch.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::in_processes;

namespace {

using net = nn::sequential<nn::linear<6, 16>, nn::relu, nn::linear<16, 10>>;

void require(bool fact, const char* what) {
  if (!fact) throw std::logic_error(what);
}

}  // namespace

TEST_CASE("docs: a program makes its process group and opens a scope", "[docs]") {
  const dp::process_group processes = dp::launched_processes();
  const dp::process_scope scope{processes};
  CHECK(processes.description() == "rank 0 of 1 process");
  CHECK(processes.is_main());
}

TEST_CASE("docs: monitoring of processes", "[docs]") {
  const auto processes =
      dp::launched_processes({.init_timeout = 20, .op_timeout = 60, .failure = dp::on_failure::throw_});
  CHECK(processes.size() == 1);
}

TEST_CASE("docs: training over processes", "[docs]") {
  const dp::image_set train_images = support::numbered_images(50), test_images = support::numbered_images(20);
  struct {
    const dp::image_set &train, &test;
  } const data{train_images, test_images};
  const support::temporary_folder folder;
  const std::string file = folder.file("model.safetensors");
  in_processes(2, [&](const dp::process_group& processes) {
    const dp::process_scope scope{processes};
    const int epochs = 2;
    const dp::loader_options options{.batch = 32, .shuffle = dp::seed{2}};

    using where = dp::across<dp::on<dp::cpu>>;
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
    dp::loader<where> batches{data.train, options};
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    const double loss = step.mean_loss();
    const double right = dp::accuracy(model, data.test);

    const double slowest = processes.all_reduce(0.5 + processes.rank(), dp::reduction::max);
    const auto seed = processes.broadcast(std::size_t{42});
    const std::vector<double> losses = processes.all_gather(loss);
    require(slowest == 1.5 && seed == 42 && losses == std::vector<double>(2, loss), "other results.");
    require(right >= 0 && processes.all_gather(right)[1] == right, "other accuracies.");

    if (processes.is_main()) dp::save_parameters(model, file);  // every process has the same parameters
    processes.barrier();                                        // the others go on when the file is there

    dp::model<net, where> same{dp::seed{2}};
    if (processes.is_main()) dp::load_parameters(same, file);
    dp::broadcast_parameters(same);  // every process gets the first one's
    require(dp::test::parameters_of(same) == dp::test::parameters_of(model), "other parameters were loaded.");
  });
}

TEST_CASE("docs: a group of some of the processes", "[docs]") {
  const dp::image_set images_of_all = support::numbered_images(32);
  in_processes(4, [&](const dp::process_group& processes) {
    using where = dp::across<dp::on<dp::cpu>>;
    dp::model<net, where> model{dp::seed{static_cast<std::uint64_t>(processes.rank() / 2)}};

    const dp::process_group pair = processes.split(processes.rank() / 2);
    const dp::process_scope scope{pair};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};

    // The pair trains one model, which starts from a different seed than the other pair's.
    dp::loader<where> batches{images_of_all, {.batch = 16, .shuffle = dp::seed{2}}};
    for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);
    std::vector<float> first_pair = dp::test::parameters_of(model), second_pair = first_pair;
    const std::vector<float> own = first_pair;
    processes.broadcast(std::span(first_pair), 0);
    processes.broadcast(std::span(second_pair), 3);
    require(own == (processes.rank() < 2 ? first_pair : second_pair), "the processes of a pair have different models.");
    require(first_pair != second_pair, "the pairs train one model.");
  });
}
