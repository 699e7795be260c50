// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network inside a solver. Cells hold a temperature and a fuel, and a network trained beforehand computes their
// reaction: it reads and writes the solver's memory in every time step. See docs/beside_a_solver.md.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// The solver's memory, as in many codes: an array of structures with some fields that the network does not use.
struct cell {
  float temperature;
  float fuel;
  float reaction;  ///< written by the network
  float flux;
};
constexpr std::size_t fields = sizeof(cell) / sizeof(float);

/// The function that the network approximates.
float reaction_of(float temperature, float fuel) { return fuel * std::exp(-1 / (0.2F + temperature)); }

using surrogate = nn::sequential<nn::linear<2, 32>, nn::tanh, nn::linear<32, 32>, nn::tanh, nn::linear<32, 1>>;

/// Averages the ranks' gradients before the update; `sum_over_ranks(data, count)` is
/// `MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, communicator)`. Every rank must have as many samples.
template <class Gradients, class SumOverRanks, std::size_t... Index>
void average(Gradients& gradients, int ranks, const SumOverRanks& sum_over_ranks, std::index_sequence<Index...>) {
  const auto one = [&](auto gradient) {
    sum_over_ranks(gradient.data(), gradient.size());
    gradient = gradient / static_cast<float>(ranks);
  };
  (one(gradients.template local<Index>()), ...);
}

/// Trains the surrogate. Every rank draws different samples, and all have the same parameters after every step.
template <class SumOverRanks>
dp::model<surrogate, dp::cpu> train(int rank, int ranks, const SumOverRanks& sum_over_ranks) {
  constexpr std::size_t samples = 64;
  dp::model<surrogate, dp::cpu> model{dp::seed{1}};                        // the same seed on every rank
  dp::optimizer optimizer{model, dp::optim::adam{.learning_rate = 3e-3}};  // once, beside the model
  for (int step = 0; step < 2000; ++step) {
    const auto own = dp::seed{static_cast<std::uint64_t>(step * ranks + rank)};
    const auto x = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 2>{samples}, own, 0.0F, 1.0F);
    dp::tensor<float, dp::extents<dp::dyn, 1>, dp::cpu> y{dp::extents<dp::dyn, 1>{samples}};
    for (std::size_t i = 0; i < samples; ++i) y(i, 0) = reaction_of(x(i, 0), x(i, 1));
    auto [output, saved] = model.forward(x);
    auto [loss, gradient] = nn::mse{}(output, y);
    auto gradients = model.backward(std::move(saved), gradient);
    average(gradients, ranks, sum_over_ranks, std::make_index_sequence<6>{});  // 3 weights and 3 biases
    optimizer.step(model, std::move(gradients));
  }
  return model;
}

}  // namespace

int main() {
  const auto alone = [](float*, std::size_t) {};  // without MPI: one rank, already the sum
  auto model = train(0, 1, alone);

  std::vector<cell> cells(3000);
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = {0.9F - 0.8F * static_cast<float>(i) / static_cast<float>(cells.size()), 1.0F, 0.0F, 0.0F};

  // Views of the solver's memory: no copies, and other fields stay untouched.
  const std::size_t n = cells.size();
  const auto state = dp::wrap(&cells[0].temperature, dp::extents<dp::dyn, 2>{n}, {fields, 1});
  const auto reaction = dp::wrap(&cells[0].reaction, dp::extents<dp::dyn, 1>{n}, {fields, 1});

  // The memory of the model and its predictions is known before the program runs.
  using plan = dp::memory_plan<dp::model<surrogate, dp::cpu>, dp::batch<1024>>;
  static_assert(plan::bytes < 512 * 1024);

  double worst = 0;
  for (int step = 0; step < 50; ++step) {
    model.predict_into(reaction, state, dp::batch<1024>{});  // allocates in the first step only
    for (cell& each : cells) {
      worst = std::max(worst, std::abs(double{each.reaction} - double{reaction_of(each.temperature, each.fuel)}));
      const float burnt = 0.01F * each.reaction;
      each.temperature += 0.2F * burnt;
      each.fuel -= burnt;
    }
  }

  // Each thread of the solver computes its own cells; a serial team starts no threads.
  dp::serial_team alone_in_this_thread;
#if defined(_OPENMP)
  #pragma omp parallel for
#endif
  for (std::size_t first = 0; first < n; first += 1000) {
    const dp::thread_team_scope scope(alone_in_this_thread);
    model.predict_into(reaction.slice(first, first + 1000), state.slice(first, first + 1000));
  }

  // The derivative of the total reaction by each cell's temperature and fuel, e.g. for an implicit step or an adjoint.
  auto [outputs, saved] = model.forward(dp::to<dp::cpu>(state));
  outputs = outputs * 0.0F + 1.0F;  // the derivative of a sum by its summands
  const auto [gradients, slopes] = model.backward_to_input(std::move(saved), nn::output_gradient(std::move(outputs)));
  const float exact = std::exp(-1 / (0.2F + cells[1500].temperature));
  const double slope_error = std::abs(double{slopes(1500, 1)} - double{exact});

  std::printf("largest error of the reaction %.4f, of a slope %.4f\n", worst, slope_error);
  return worst < 0.05 && slope_error < 0.1 ? 0 : 1;
}
