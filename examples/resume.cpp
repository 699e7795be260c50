// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A training that is killed by kill -9 at random moments and resumed from its newest checkpoint each time is bitwise
// equal to an undisturbed one.
//
//   resume FOLDER [KILLS]      FOLDER for checkpoints must not exist; the default is 6 kills
//
// Both trainings run in processes that this program starts; the first is killed and restarted.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include <devplace/all.hpp>
#include <devplace/train/checkpoints.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<64, 128>, nn::relu, nn::dropout<std::ratio<1, 10>>, nn::linear<128, 10>>;

constexpr int epochs = 8;

/// Trains, or resumes a killed training, and then writes the parameters to `folder`.
template <dp::placement Where> void train(const std::string& folder) {
  const std::string digits = std::string(DEVPLACE_EXAMPLE_DATA) + "/digits-";
  const dp::image_set images = dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte");
  const dp::labelled_images data = dp::hold_out(images, 360, dp::seed{3});
  const dp::loader_options options{.batch = 32, .shuffle = dp::seed{2}, .scale = 1.0 / 16};

  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
  dp::loader<Where> batches{data.train, options};
  const dp::checkpoints saved{folder, {.keep = 3}};
  dp::training_position at = saved.resume(step);
  for (; at.epoch < epochs; at = {at.epoch + 1, 0}) {
    if (at.batch == 0) step.reset_mean_loss();
    for (const auto& [x, y] : batches.epoch(at.epoch, at.batch)) {
      step(x, y);
      if (++at.batch % 5 == 0) saved.save(step, at);
    }
    step.optimizer().rule().learning_rate *= 0.8;
  }
  std::printf("  loss %.9f, %.1f %% of the held-out images right\n", step.mean_loss(),
              100 * dp::accuracy(model, data.test, options));
  std::fflush(stdout);
  dp::save_parameters(model, folder + "/trained.safetensors");
}

/// Starts a process that trains.
pid_t start(const std::string& folder) {
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("no process can be started");
  if (process != 0) return process;
  try {
    train<dp::on<dp::cpu>>(folder);
    std::_Exit(0);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    std::_Exit(1);
  }
}

/// Waits for the process and returns whether it has ended by itself. Throws if it failed.
bool has_ended(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, 0) != process) throw std::runtime_error("the training cannot be waited for");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the training has failed");
  return true;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw std::runtime_error("usage: resume FOLDER [KILLS]");
  const std::string folder = argv[1], undisturbed = folder + "/undisturbed", killed = folder + "/killed";
  const int kills = argc == 3 ? std::atoi(argv[2]) : 6;
  if (std::filesystem::exists(folder)) throw std::runtime_error("the folder exists: " + folder);

  std::printf("undisturbed:\n");
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  has_ended(start(undisturbed));
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;

  std::random_device random;
  std::uniform_real_distribution<double> moment(0, 2 * whole.count() / (kills + 1));
  for (int i = 0; i < kills; ++i) {
    const double seconds = moment(random);
    const pid_t process = start(killed);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ::kill(process, SIGKILL);
    if (has_ended(process)) break;
    std::printf("killed after %.0f ms\n", 1000 * seconds);
    std::fflush(stdout);
  }
  has_ended(start(killed));

  const std::string expected = contents(undisturbed + "/trained.safetensors");
  const bool equal = !expected.empty() && contents(killed + "/trained.safetensors") == expected;
  std::printf("the parameters are %s\n", equal ? "the same, to the bit" : "DIFFERENT");
  return equal ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
