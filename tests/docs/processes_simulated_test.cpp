// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code and the messages that docs/processes.md and docs/memory.md quote; threads stand in for most processes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/process/launch.hpp>

#include "support/catch.hpp"
#include "support/forked_group.hpp"
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

void require(bool fact, const std::string& what) {
  if (!fact) throw std::logic_error(what);
}

/// A message of the docs in one line.
std::string one_line(std::string lines) {
  std::replace(lines.begin(), lines.end(), '\n', ' ');
  return lines.substr(1, lines.size() - 2);
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

TEST_CASE("docs/processes.md: what the processes compare, and what they do not", "[docs]") {
  using where = dp::across<dp::on<dp::cpu>>;
  // Trains with the seed, the learning rate, the number of samples and the first element of this rank.
  const auto message = [](std::uint64_t seed, double rate, std::size_t rows, float first) {
    std::string text;
    in_processes(2, [&](const dp::process_group& processes) {
      const dp::process_scope scope{processes};
      const bool is_main = processes.is_main();
      dp::model<net, where> model{dp::seed{is_main ? 1 : seed}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = is_main ? 1e-3 : rate}};
      dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, 6>{is_main ? 8 : rows});
      dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> y(dp::extents<dp::dyn>{is_main ? 8 : rows});
      std::fill_n(x.data(), x.size(), is_main ? 1.0f : first);
      std::fill_n(y.data(), y.size(), 1);
      try {
        for (int i = 0; i < 3; ++i) step(dp::to_batch<where>(x), dp::to_batch<where>(y));
      } catch (const dp::communication_error& different) {
        if (is_main) text = different.what();
      }
    });
    return text;
  };
  CHECK(message(1, 1e-3, 8, 1) == "");
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(message(2, 1e-3, 8, 1), ContainsSubstring("trainer, in step 1: rank 1 has \"checksum of parameter 0."));
  CHECK(message(1, 0.01, 8, 1) == one_line(R"(
devplace: trainer, in step 1: rank 1 has "optimizer's learning_rate: 0.01" where rank 0 has
"optimizer's learning_rate: 0.001". Start the same program with the same options in all processes, and make each
change in all of them before the same step.
)"));
  CHECK(message(1, 1e-3, 4, 1) == "");  // other numbers of samples
  CHECK(message(1, 1e-3, 8, 2) == "");  // other samples
}

TEST_CASE("docs/fork.md: messages in a child", "[docs]") {
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cuda<0>>> used{1};
  CHECK(support::in_forked_processes(1, [&](int) { static_cast<void>(used.clone()); })[0].text ==
        "caught: " + one_line(R"(
devplace: cuda places cannot be used in this process: it was forked from one that had used them.
Fork before the first use of a cuda place, or start the child by exec.
)") + "\n");
  const auto ended = support::in_forked_group(2, [] {
    const dp::process_group group = dp::parallel::current_processes("a test");
    const auto child = support::in_forked_processes(1, [&](int) { group.barrier(); });
    require(!group.is_main() || child[0].text == "caught: " + one_line(R"(
devplace: barrier: this process was made by fork() in rank 0 of 2 processes, and only the parent may
communicate. Call it in the parent, before fork() if the child needs the result.
)") + "\n",
            child[0].text);
    group.barrier();
    return std::vector<float>{};
  });
  CHECK(support::failures(ended) == "");
}

TEST_CASE("docs/memory.md: what one of two processes allocates", "[docs]") {
  using pixels = dp::extents<dp::dyn, dp::dyn, dp::dyn>;
  dp::image_set data{dp::tensor<std::uint8_t, pixels, dp::on<dp::cpu>>(pixels{512, 28, 28}),
                     dp::tensor<std::uint8_t, dp::extents<dp::dyn>, dp::on<dp::cpu>>(dp::extents<dp::dyn>{512})};
  std::fill_n(data.images.data(), data.images.size(), std::uint8_t{1});
  std::fill_n(data.labels.data(), data.labels.size(), std::uint8_t{1});
  const auto ended = support::in_forked_group(2, [&] {
    dp::set_thread_count(1);     // ThreadSanitizer does not support threads in children of fork()
    dp::detail::gemm_prepare();  // packing buffers, which are not part of the plan
    const dp::memory_usage before = dp::memory_statistics<dp::cpu>();

    // clang-format off
    using network = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
    using model_t = dp::model<network, dp::across<dp::cpu>>;
    using policy = collective::sharded_all_reduce<>;
    using plan = dp::memory_plan<model_t, dp::batch<256>, dp::optim::adam, policy, dp::processes<2>>;

    model_t model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
    dp::loader<dp::across<dp::cpu>> batches{data, {.batch = 256}};
    for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);

    const dp::memory_usage now = dp::memory_statistics<dp::cpu>();
    // clang-format on
    const auto row = [&](std::size_t planned, dp::memory_purpose purpose) {
      std::ostringstream text;
      text << std::left << std::setw(17) << dp::memory_purpose_name(purpose) << std::right << std::setw(9) << planned
           << std::setw(11) << now.of(purpose) - before.of(purpose) << '\n';
      return text.str();
    };
    if (dp::is_main_process())
      require("\nprocess 0 of 2        plan   measured\n" + row(plan::parameters, dp::memory_purpose::parameters) +
                      row(plan::gradients, dp::memory_purpose::gradients) +
                      row(plan::optimizer_state, dp::memory_purpose::optimizer_state) +
                      row(plan::activations, dp::memory_purpose::activations) +
                      row(plan::sums + plan::reduction_buffer, dp::memory_purpose::workspace) ==
                  R"(
process 0 of 2        plan   measured
parameters          814144     814144
gradients           814208     814208
optimizer state     814400     814400
activations         398848     398848
workspace              192        192
)",
              "docs/memory.md has other numbers");
    require(now.of(dp::memory_purpose::optimizer_state) - before.of(dp::memory_purpose::optimizer_state) <=
                plan::optimizer_state,
            "a process has more than the plan says");
    require(plan::bytes == 2'841'792 && plan::exchange == 4'212'736, "docs/memory.md has other sums");
    using all_reduce =
        dp::memory_plan<model_t, dp::batch<256>, dp::optim::adam, collective::all_reduce<>, dp::processes<2>>;
    require(all_reduce::optimizer_state == 1'628'480, "docs/memory.md has another state");
    const std::size_t rows = 128, pixels_of_one = 784;
    const std::size_t of_loader =
        2 * rows * (4 * pixels_of_one + 8) + rows * pixels_of_one + 2 * rows * (pixels_of_one + 8);
    const std::size_t tensors = now.of(dp::memory_purpose::tensors) - before.of(dp::memory_purpose::tensors);
    require(of_loader <= tensors && tensors <= of_loader + 4096, "the loader has other memory");
    require(of_loader == 1'107'968, "docs/memory.md has another loader");
    return std::vector<float>{};
  });
  CHECK(support::failures(ended) == "");
  CHECK(dp::detail::gemm_buffer_bytes == 2'462'720);
  CHECK(dp::parallel::shared_layout::usual_portion(8) == 1 << 20);
}
