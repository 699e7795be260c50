// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun with 1 to 4 processes: the documentation's training over processes is bitwise equal to one process with
// as many simulated devices, also with gradients in 16 bits.

#include <cmath>
#include <cstddef>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/parallel/mpi_collectives.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/process/mpi.hpp>
#include <devplace/train/trainer.hpp>

#include "mpi/check.hpp"
#include "support/random_values.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;

template <class Where, class Policy = dp::collective::all_reduce<>> std::vector<float> train() {
  dp::model<net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01f}, Policy{}};
  step.clip({.max_norm = 0.5});
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 64, 2})
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
  return dp::test::parameters_of(model);
}

std::vector<float> train_in_one_process(int places) {
  if (places == 1) return train<dp::on<dp::cuda<0>>>();
  if (places == 2) return train<dp::replicated<0, 1>>();
  return places == 3 ? train<dp::replicated<0, 1, 2>>() : train<dp::replicated<0, 1, 2, 3>>();
}

/// Trains with MPI's own collectives; a sum of two is equal in every order.
void train_by_mpi(const dp::process_group& processes, const std::vector<float>& expected) {
  using where = dp::across<dp::on<dp::cpu>>;
  namespace collective = dp::collective;
  const auto whole = train<where, collective::all_reduce<collective::mpi>>();
  const auto shares = train<where, collective::sharded_all_reduce<collective::mpi>>();
  for (const auto& parameters : {whole, shares}) {
    EXPECT(parameters.size() == expected.size());
    for (std::size_t i = 0; i != expected.size(); ++i) {
      EXPECT(std::abs(parameters[i] - expected[i]) < 1e-4F);
      EXPECT(processes.broadcast(parameters[i]) == parameters[i]);
    }
  }
  if (processes.size() <= 2) EXPECT(whole == expected);
}

/// The statistics of batch_norm over all places are sums of integers, so MPI's own reductions also give the bits of one
/// process. Therefore the parameters with these gradients are bitwise equal, too.
template <class Where, class Policy> std::vector<float> train_normalized() {
  using joint = nn::batch_norm<3, nn::over_all_places>;
  dp::model<nn::sequential<nn::input<3, 5>, joint, nn::relu, joint>, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}, Policy{}};
  for (const unsigned rows : std::vector<unsigned>{7, 1, 64, 2}) {
    const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 3, 5>{rows}, rows);
    step(dp::to_batch<Where>(x), dp::to_batch<Where>(dp::test::random_values<float>(x.extents(), rows + 1)));
  }
  const auto& r = model.state().replicas[0];
  std::vector<float> bits(r.parameter_data(), r.parameter_data() + r.parameters.bytes() / sizeof(float));
  bits.insert(bits.end(), r.buffer_data(), r.buffer_data() + r.buffers.bytes() / sizeof(float));
  return bits;
}

/// A communicator like a solver's: all processes but the last, which might write files.
MPI_Comm solvers() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, size > 1 && rank + 1 == size ? MPI_UNDEFINED : 0, rank, &communicator);
  return communicator;
}

void train_beside_a_solver() {
  MPI_Comm solver_communicator = solvers();
  if (solver_communicator == MPI_COMM_NULL) return;
  {
    const dp::process_group solvers = dp::mpi_processes(solver_communicator);
    const dp::process_scope scope{solvers};
    EXPECT(train<dp::across<dp::on<dp::cpu>>>() == train_in_one_process(solvers.size()));
  }
  MPI_Comm_free(&solver_communicator);
}

int run(int argc, char** argv) {
  const dp::mpi_session session{argc, argv};
  const dp::process_scope scope{session.processes()};
  const std::vector<float> parameters = train<dp::across<dp::on<dp::cpu>>>();
  EXPECT(parameters == train_in_one_process(session.processes().size()));
  EXPECT(train<dp::across<dp::on<dp::cuda<0>>>>() == parameters);
  train_by_mpi(session.processes(), parameters);
  using by_mpi = dp::collective::all_reduce<dp::collective::mpi>;
  const auto normalized = train_normalized<dp::on<dp::cpu>, dp::collective::all_reduce<>>();
  EXPECT((train_normalized<dp::across<dp::on<dp::cpu>>, by_mpi>()) == normalized);
  using in_bf16 = dp::collective::all_reduce<dp::collective::wire<dp::bf16>>;
  if (session.processes().size() == 2)
    EXPECT((train<dp::across<dp::on<dp::cpu>>, in_bf16>()) == (train<dp::replicated<0, 1>, in_bf16>()));
  train_beside_a_solver();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  devplace::test::run_rank([&] { run(argc, argv); });
}
