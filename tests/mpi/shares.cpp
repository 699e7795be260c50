// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun with 1 to 4 processes: models in the shares of all processes, and of groups of them, are bitwise equal
// to models on as many simulated devices of one process. With collective::mpi, whose order of summation is MPI's, they
// are equal to one place where sums are exact. With an argument, one process is killed.

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/parallel/mpi_collectives.hpp>
#include <devplace/process/mpi.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/trainer.hpp>

#include "mpi/check.hpp"
#include "support/exact_training.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

using dp::test::train_exactly;

namespace {

using net = nn::sequential<nn::linear<6, 33>, nn::batch_norm<33, nn::over_all_places>, nn::relu,
                           nn::frozen<nn::linear<33, 20>>, nn::linear<20, 3>>;

constexpr std::size_t unit_bytes = 500;
template <class Place> using shares = dp::across<Place, dp::mesh<dp::shares<dp::dyn, unit_bytes>>>;
template <class Place> using pairs = dp::across<Place, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2, unit_bytes>>>;
template <class Place> using two_groups = dp::across<Place, dp::mesh<dp::replicas<2>, dp::shares<dp::dyn, unit_bytes>>>;
using two_by_two = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2, unit_bytes>>, 0, 1, 2, 3>;

/// The mean loss and all state of a training. With a name of a file, the training continues there after its checkpoint
/// was loaded into another model.
template <class Where, class Engine = collective::direct> std::vector<double> train(const std::string& file = "") {
  using model_type = dp::model<net, Where>;
  using policy = dp::test::policy_for<Where, Engine>;
  struct training {
    explicit training(std::uint64_t seed) : model(dp::seed{seed}), step(model, {}, {.learning_rate = 0.01}, policy{}) {
      step.clip({.max_norm = 0.5});
    }
    model_type model;
    dp::trainer<model_type, nn::cross_entropy, dp::optim::adam, policy> step;
  };
  training first(9), second(8);
  training* now = &first;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 64, 2, 3, 13}) {
    if (rows == 2 && !file.empty()) {
      dp::save_checkpoint(first.step, {0, 3}, file);
      dp::parallel::current_processes("the test").barrier();  // the first process writes the file
      EXPECT((dp::load_checkpoint(second.step, file) == dp::training_position{0, 3}));
      now = &second;
    }
    now->step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
              dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
  }
  const auto state = now->step.state();
  std::vector<double> result{now->step.mean_loss()};
  result.insert(result.end(), state.parameters.begin(), state.parameters.end());
  result.insert(result.end(), state.buffers.begin(), state.buffers.end());
  for (const auto& arena : state.optimizer.arenas) result.insert(result.end(), arena.begin(), arena.end());
  return result;
}

std::vector<double> train_replicas(int places) {
  if (places == 1) return train<dp::replicated<0>>();
  if (places == 2) return train<dp::replicated<0, 1>>();
  return places == 3 ? train<dp::replicated<0, 1, 2>>() : train<dp::replicated<0, 1, 2, 3>>();
}

/// A folder of the first process, which all processes use.
std::string shared_folder(const dp::process_group& processes, const support::temporary_folder& own) {
  std::array<char, 256> path{};
  own.path().copy(path.data(), path.size() - 1);
  processes.broadcast(std::span(path));
  return path.data();
}

void train_in_shares(const dp::process_group& processes, const std::string& folder) {
  const std::vector<double> expected = train_replicas(processes.size());
  EXPECT(train<shares<dp::cpu>>() == expected);
  EXPECT(train<shares<dp::cuda<0>>>(folder + "/shares") == expected);
  if (processes.size() <= 2) EXPECT((train<shares<dp::cpu>, collective::mpi>()) == expected);
  EXPECT((train_exactly<shares<dp::cpu>, collective::mpi>()) == train_exactly<dp::cpu>());
  EXPECT((train_exactly<shares<dp::cpu>, collective::ring>()) == train_exactly<dp::cpu>());
}

void train_in_groups(const dp::process_group& processes, const std::string& folder) {
  if (processes.size() % 2 != 0) {
    EXPECT_THROWS(dp::argument_error, "needs a multiple of 2 processes, and there are", train<pairs<dp::cpu>>());
    EXPECT_THROWS(dp::argument_error, "mesh<replicas<2>, shares<dyn>>> needs a multiple of 2 processes",
                  train<two_groups<dp::cpu>>());
    return;
  }
  const std::vector<double> expected = processes.size() == 2 ? train_replicas(2) : train<two_by_two>();
  EXPECT(train<pairs<dp::cpu>>() == expected);
  EXPECT(train<pairs<dp::cuda<0>>>(folder + "/pairs") == expected);
  EXPECT(train<two_groups<dp::cpu>>() == expected);
  EXPECT((train_exactly<pairs<dp::cpu>, collective::mpi>()) == train_exactly<dp::cpu>());
  EXPECT((train_exactly<two_groups<dp::cuda<0>>, collective::mpi>()) == train_exactly<dp::cpu>());
}

/// Trains in pairs until a process ends, which the others must notice in whatever group they wait.
void train_until_killed(const dp::process_group& processes) {
  using where = pairs<dp::cpu>;
  dp::model<net, where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = dp::to_batch<where>(dp::test::integer_samples<float, 6>(8));
  const auto y = dp::to_batch<where>(dp::test::square_labels(8, 3));
  for (int i = 0;; ++i) {
    if (i == 20 && processes.rank() == 2) ::raise(SIGKILL);
    step(x, y);
  }
}

void run(int argc, char** argv) {
  const dp::mpi_session session{argc, argv};
  const dp::process_group& processes = session.processes();
  const dp::process_scope scope{processes};
  if (argc > 1) return train_until_killed(processes);
  const support::temporary_folder own;
  const std::string folder = shared_folder(processes, own);
  train_in_shares(processes, folder);
  train_in_groups(processes, folder);
  processes.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  devplace::test::run_rank([&] { run(argc, argv); });
}
