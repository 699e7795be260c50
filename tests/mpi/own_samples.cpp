// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun: the training of docs/beside_a_solver.md, in which each rank of a solver's communicator has its own
// samples, in other numbers than the other ranks and in other numbers in each step, or none. One place that has the
// samples of all ranks gets the same parameters.

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/mpi.hpp>
#include <devplace/tensor/wrap.hpp>
#include <devplace/train/trainer.hpp>

#include "mpi/check.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<2, 8>, nn::tanh, nn::linear<8, 1>>;
using all_ranks = dp::across<dp::cpu>;

/// A batch of which this rank has the samples `own`, in rows of `Columns` numbers.
template <std::size_t Columns> auto own_rows(const dp::process_group& ranks, const std::vector<float>& own) {
  using rows_of = dp::extents<dp::dyn, Columns>;
  const std::size_t rows = own.size() / Columns;
  const dp::participants all{static_cast<std::size_t>(ranks.rank()), static_cast<std::size_t>(ranks.size())};
  dp::tensor<float, rows_of, dp::batch_placement_t<all_ranks>> batch(rows_of{rows * all.count}, dp::split::even, all);
  dp::copy(batch.local(0), dp::wrap(own, rows_of{rows}));
  return batch;
}

/// Samples of a step: inputs and targets.
struct samples {
  std::vector<float> x, y;
};

constexpr int steps = 30;
constexpr dp::optim::adam rule{.learning_rate = 0.01};

/// Appends the samples that a rank has in a step: none, or up to 28.
void append_samples(samples& to, int step, int rank) {
  const int count = rank == step % 3 ? 0 : 3 + (5 * step + 11 * rank) % 26;
  for (int i = 0; i < count; ++i) {
    const auto one = [&](int k) { return static_cast<float>((7 * step + 13 * rank + k * i + k) % 17) / 17; };
    to.x.insert(to.x.end(), {one(3), one(5)});
    to.y.push_back(one(3) * (1 + one(5)) + static_cast<float>(rank));  // ranks differ, so that their weights matter
  }
}

std::vector<float> train_in_one_place(int ranks) {
  dp::model<net, dp::cpu> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, rule};
  for (int n = 0; n < steps; ++n) {
    samples all;
    for (int rank = 0; rank < ranks; ++rank) append_samples(all, n, rank);
    step(dp::wrap(all.x, dp::extents<dp::dyn, 2>{all.y.size()}),
         dp::wrap(all.y, dp::extents<dp::dyn, 1>{all.y.size()}));
  }
  return dp::test::parameters_of(model);
}

std::vector<float> train(MPI_Comm solver_communicator) {
  const dp::process_group ranks = dp::mpi_processes(solver_communicator);
  const dp::process_scope scope{ranks};  // in which the model and its trainer are made
  dp::model<net, all_ranks> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, rule};
  for (int n = 0; n < steps; ++n) {
    samples own;
    append_samples(own, n, ranks.rank());
    step(own_rows<2>(ranks, own.x), own_rows<1>(ranks, own.y));
  }
  return dp::test::parameters_of(model);
}

/// The ranks of MPI_COMM_WORLD in reverse order, as a solver's Cartesian communicator may order them.
MPI_Comm reversed_ranks() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  return reversed;
}

void run() {
  dp::set_thread_count(1);
  MPI_Comm communicator = reversed_ranks();
  int ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  const auto parameters = train(communicator);
  const auto expected = train_in_one_place(ranks);
  EXPECT(parameters.size() == expected.size());
  for (std::size_t i = 0; i != expected.size(); ++i) {
    EXPECT(std::abs(parameters[i] - expected[i]) < 1e-4F);
    float of_first = parameters[i];
    MPI_Bcast(&of_first, 1, MPI_FLOAT, 0, communicator);
    EXPECT(parameters[i] == of_first);
  }
  MPI_Comm_free(&communicator);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  devplace::test::run_rank([] {
    run();
    MPI_Finalize();
  });
}
