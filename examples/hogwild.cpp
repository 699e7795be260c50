// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Several processes train one model of MNIST in shared memory concurrently and without locks, like PyTorch's example
// mnist_hogwild. Each process reads all images in a different order.
//
//   hogwild DIR [processes] [epochs] [fraction of test images that must be classified correctly]
//
// starts the processes by fork. Processes started by a launcher (torchrun, mpirun, srun) open the model by name
// instead.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <devplace/all.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/shared_memory.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
using shared_model = dp::model<net, dp::on<dp::shared_memory>>;

/// The work of one process.
void train(shared_model& model, const dp::labelled_images& data, int rank, int epochs) {
  dp::set_thread_count(1);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.5}};
  dp::loader<dp::on<dp::shared_memory>> batches{data.train,
                                                {.batch = 64, .shuffle = dp::seed{100 + static_cast<unsigned>(rank)}}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    std::printf("process %d, epoch %d: loss %.4f\n", rank, epoch, step.mean_loss());
  }
}

/// Starts processes that inherit the model's memory.
void train_by_fork(shared_model& model, const dp::labelled_images& data, int processes, int epochs) {
  std::vector<::pid_t> children;
  for (int rank = 0; rank < processes; ++rank) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      try {
        train(model, data, rank, epochs);
        std::fflush(stdout);
        std::_Exit(0);
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "process %d: %s\n", rank, problem.what());
        std::_Exit(1);
      }
    }
    if (child > 0) children.push_back(child);
  }
  bool failed = children.size() != static_cast<std::size_t>(processes);
  for (const ::pid_t child : children) {
    int status = 0;
    failed = ::waitpid(child, &status, 0) != child || status != 0 || failed;
  }
  if (failed) throw dp::error("hogwild: a process has failed; its message is above.");
}

/// The model of a launcher's processes: the first process creates the model, the others open it.
shared_model common_model(const dp::process_group& processes) {
  const std::string name = "hogwild." + std::to_string(processes.broadcast(static_cast<int>(::getpid())));
  if (!processes.is_main()) {
    processes.barrier();
    return dp::open_shared<shared_model>(name);
  }
  auto model = dp::create_shared<shared_model>(name, dp::seed{1});
  processes.barrier();
  return model;
}

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: hogwild DIR [processes] [epochs] [share of test images that must be right]\n");
    return 2;
  }
  const int workers = argc > 2 ? std::atoi(argv[2]) : 2, epochs = argc > 3 ? std::atoi(argv[3]) : 10;
  const double required = argc > 4 ? std::atof(argv[4]) : 0;
  const dp::labelled_images data = dp::read_mnist(argv[1]);
  const dp::process_group processes = dp::launched_processes();
  if (processes.size() == 1) {
    shared_model model{dp::seed{1}};
    train_by_fork(model, data, workers, epochs);
    const double right = dp::accuracy(model, data.test);
    std::printf("%.2f %% of the test images right\n", 100 * right);
    return right >= required ? 0 : 1;
  }
  shared_model model = common_model(processes);
  train(model, data, processes.rank(), epochs);
  processes.barrier();
  if (!processes.is_main()) return 0;
  const double right = dp::accuracy(model, data.test);
  std::printf("%.2f %% of the test images right\n", 100 * right);
  return right >= required ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 3;
}
