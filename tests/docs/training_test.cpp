// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/training.md quotes, that docs/fork.md quotes on a training, and docs/cuda.md on precision.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/sorting.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/temporary_folder.hpp"
namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using net = nn::sequential<nn::linear<64, 32>, nn::relu, nn::linear<32, 10>>;
using where = dp::on<dp::cpu>;

const dp::labelled_images& digits() {
  static const std::string name = DEVPLACE_TEST_DATA_DIR "/digits-";
  static const dp::labelled_images data =
      dp::hold_out(dp::read_image_set(name + "images-idx3-ubyte", name + "labels-idx1-ubyte"), 360, dp::seed{3});
  return data;
}

}  // namespace

TEST_CASE("docs/training.md: one step, whole and in parts", "[docs]") {
  dp::model<net, where> same{dp::seed{1}};
  dp::model<net, where> model{dp::seed{1}};
  dp::optimizer optimizer{model, dp::optim::adam{.learning_rate = 1e-3}};

  dp::trainer step{same, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-3}};
  dp::loader<where> batches{digits().train, {.batch = 32}};
  auto epoch = batches.epoch(0);
  const auto& [images, labels] = *epoch.begin();

  auto [output, saved] = model.forward(images);
  auto [loss, gradient] = nn::cross_entropy{}(output, labels);
  auto gradients = model.backward(std::move(saved), gradient);
  optimizer.step(model, dp::synchronize(std::move(gradients)));

  CHECK(step(images, labels).item() == loss.item());
  CHECK(same.parameter<0>()(3, 5) == model.parameter<0>()(3, 5));
}

TEST_CASE("docs/training.md: a whole training", "[docs]") {
  const dp::labelled_images& data = digits();
  const int epochs = 8;
  const dp::loader_options options{.batch = 32, .shuffle = dp::seed{2}, .workers = 1, .scale = 1.0 / 16};

  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{.label_smoothing = 0.1}, dp::optim::adamw{.learning_rate = 4e-3}};
  step.clip({.max_norm = 5});
  dp::loader<where> batches{data.train, options};
  dp::progress progress{epochs, batches, {.stream = nullptr}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      step(images, labels);
      progress.update(epoch, images.extent(0), [&] { return step.mean_loss(); });
    }
    step.optimizer().rule().learning_rate *= 0.8;
  }
  const double right = dp::accuracy(model, data.test, options);
  const double among_five = dp::accuracy(model, data.test, options, {.top = 5});
  CHECK(right > 0.9);
  CHECK(among_five > right);

  // docs/fork.md
  const support::temporary_folder folder;
  const std::string file = folder.file("accuracy");
  const dp::loader_options whole{.batch = 360, .scale = 1.0 / 16};
  const ::pid_t child = ::fork();  // between two steps, in the thread that trains
  if (child == 0) {
    dp::set_thread_count(1);  // leaves the other processors to the parent
    std::ofstream(file) << std::setprecision(17) << dp::accuracy(model, data.test, whole);
    ::_exit(0);  // runs no destructors and writes no buffer of the parent a second time
  }
  for (const auto& [images, labels] : batches.epoch(epochs)) step(images, labels);  // the parent trains on
  int status = 0;
  ::waitpid(child, &status, 0);
  double of_child = 0;
  std::ifstream(file) >> of_child;
  CHECK(status == 0);
  CHECK(of_child == right);

  // A child trains on, and the parent takes the same steps later. ThreadSanitizer does not support threads in children.
  dp::loader<where> serial{data.train, {.batch = 32, .shuffle = dp::seed{2}, .scale = 1.0 / 16}};
  const auto loss = [&] {
    dp::set_thread_count(1);
    step.reset_mean_loss();
    for (const auto& [images, labels] : serial.epoch(epochs)) step(images, labels);
    return std::to_string(step.mean_loss());
  };
  const auto of_forked = support::in_forked_processes(1, [&](int) { return loss(); });
  CHECK(of_forked[0].end == "exit 0");
  CHECK(of_forked[0].text == loss());
}

TEST_CASE("docs/training.md: sorting on devices", "[docs]") {
  const auto output = dp::normal<float, where>(dp::extents<3, 10>{}, dp::seed{1});
  const auto counts = dp::full<std::int32_t, where>(dp::extents<4>{}, 2);
  const int epoch = 3;

  const auto [scores, classes] = dp::top_k(output, 5);                   // of each row, largest first
  const auto ranking = dp::argsort(output, dp::sort_order::descending);  // stable; NaN counts as largest
  const auto running = dp::cumsum(counts);                               // of one axis

  dp::tensor<std::int64_t, dp::extents<dp::dyn>, where> order{dp::extents<dp::dyn>{100}};
  dp::permutation_into(order, dp::seed{2}, dp::sampler::stream(epoch));  // a loader's order of samples in an epoch

  CHECK(classes(2, 4) == ranking(2, 4));
  CHECK(scores(1, 0) == output(1, static_cast<std::size_t>(dp::argmax(output, dp::axis<1>{})(1))));
  CHECK(running(3) == 8);
  dp::sampler visited(100, dp::seed{2});
  const std::span<const std::int64_t> expected = visited.order(epoch);
  CHECK(std::vector<std::int64_t>(order.data(), order.data() + 100) ==
        std::vector<std::int64_t>(expected.begin(), expected.end()));
}

using namespace dp::literals;
using trained = dp::model<net, dp::on<dp::cpu>>;
using memory = dp::memory_plan<trained, dp::batch<64>, dp::optim::adam>;
static_assert(memory::bytes < 1_MiB, "training must fit beside the solver");
using on_gpu = dp::memory_plan<dp::model<net, dp::on<dp::cuda<0>>>, dp::batch<64>, dp::optim::adam>;
static_assert(on_gpu::bytes + on_gpu::loader + on_gpu::clipping + on_gpu::gpu_workspace < 40_MiB);

TEST_CASE("docs/cuda.md: precision of products", "[docs]") {
  const auto a = dp::normal<float, where>(dp::extents<3, 4>{}, dp::seed{1});
  const auto b = dp::normal<float, where>(dp::extents<4, 5>{}, dp::seed{2});
  const auto strict = dp::matmul(a, b);                // float
  const auto rounded = dp::matmul<dp::tf32>(a, b);     // on a GPU by TF32's tensor cores
  dp::model<net, where, dp::tf32> model{dp::seed{1}};  // all products of its layers; a loader<where> feeds it
  CHECK(strict(2, 4) == rounded(2, 4));
  CHECK(model.parameter<0>()(0, 0) == dp::model<net, where>{dp::seed{1}}.parameter<0>()(0, 0));
}

TEST_CASE("docs/training.md: parameters in files", "[docs]") {
  const support::temporary_folder temporary;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(temporary.path());
  dp::model<net, where> model{dp::seed{1}};
  dp::model<net, where> same{dp::seed{2}};

  dp::save_parameters(model, "mnist.safetensors");
  dp::load_parameters(same, "mnist.safetensors");

  std::filesystem::current_path(before);
  CHECK(same.parameter<2>()(9, 31) == model.parameter<2>()(9, 31));
}
