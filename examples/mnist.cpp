// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains 784-256-10 on MNIST, or on another data set with the same file names and image size, on the placement chosen
// by --device. The program is the same for all placements: `train` is compiled once per placement.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;

constexpr const char* usage =
    "usage: mnist --data DIR [option VALUE]...\n"
    "  --data DIR      folder with train-images-idx3-ubyte and its three companions, plain or .gz\n"
    "  --device NAME   cpu (default), cuda:0, cuda:1, replicated<0,1> or replicated<0,1,2,3>\n"
    "  --epochs N      passes over the training images (default 5)\n"
    "  --batch N       images in one step, over all places (default 64)\n"
    "  --lr X          learning rate of Adam (default 1e-3)\n"
    "  --seed N        start of the random numbers (default 1)\n"
    "  --require X     exit with status 1 when less than this share of the test images is right (default 0)\n";

struct options {
  std::string data;
  std::string device = "cpu";
  int epochs = 5;
  std::size_t batch = 64;
  double learning_rate = 1e-3;
  std::uint64_t seed = 1;
  double require = 0;
};

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses all of `text` as a number of at least `least`.
template <class T> T number(std::string_view option, std::string_view text, T least) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !(value >= least))
    throw usage_error(std::string(option) + " " + std::string(text) + ": not a number that this option can have");
  return value;
}

options parse(int argc, char** argv) {
  options result;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc) throw usage_error(std::string(option) + ": its value is missing, or it is not an option");
    const std::string_view value = argv[i + 1];
    if (option == "--data")
      result.data = value;
    else if (option == "--device")
      result.device = value;
    else if (option == "--epochs")
      result.epochs = number<int>(option, value, 0);
    else if (option == "--batch")
      result.batch = number<std::size_t>(option, value, 1);
    else if (option == "--lr")
      result.learning_rate = number<double>(option, value, 0);
    else if (option == "--seed")
      result.seed = number<std::uint64_t>(option, value, 0);
    else if (option == "--require")
      result.require = number<double>(option, value, 0);
    else
      throw usage_error(std::string(option) + ": not an option");
  }
  if (result.data.empty()) throw usage_error("--data is missing");
  return result;
}

/// Trains on `Where` and returns the accuracy on the test images.
template <dp::placement Where> double train(const dp::labelled_images& data, const options& given) {
  dp::model<net, Where> model{dp::seed{given.seed}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = given.learning_rate}};
  dp::loader<Where> batches{data.train, {.batch = given.batch, .shuffle = dp::seed{given.seed + 1}, .workers = 1}};
  dp::progress progress{given.epochs, batches};
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) {
      step(images, labels);
      progress.update(epoch, images.extent(0), [&] { return step.mean_loss(); });
    }
  }
  return dp::accuracy(model, data.test);
}

int main(int argc, char** argv) try {
  const options given = parse(argc, argv);
  const auto on_device = [&](auto f) {
    return dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>, dp::on<dp::cuda<1>>, dp::replicated<0, 1>,
                      dp::replicated<0, 1, 2, 3>>(given.device, f);
  };
  on_device([](auto where) { std::printf("placement %s\n", dp::placement_name<decltype(where)>().c_str()); });

  const dp::labelled_images data = dp::read_mnist(given.data);
  std::printf("%zu images to train with, %zu to test with\n", data.train.size(), data.test.size());
  const auto start = std::chrono::steady_clock::now();
  const double accuracy = on_device([&](auto where) { return train<decltype(where)>(data, given); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%.2f %% of the test images right, %.1f s\n", 100 * accuracy, seconds.count());
  return accuracy >= given.require ? 0 : 1;
} catch (const usage_error& problem) {
  std::fprintf(stderr, "mnist: %s.\n%s", problem.what(), usage);
  return 2;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 3;
}
