// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network learns the field of a partial differential equation in double and predicts it in a time loop. A beam moves
// over a radiating plate with cold edges: -laplace(T) + 5 T^4 = heat of the beam. In each step the solver needs the
// temperature of all cells, by iterations or by the network, which reads and writes the solver's memory and allocates
// nothing: surrogate [picture.svg [positions of the beam to learn [epochs]]]. See docs/inference.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/io/chart.hpp>
#include <devplace/train/training_log.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

constexpr std::size_t side = 42, cells = side * side;  // including the edges

/// The solver's memory: an array of structures. The network reads the first five fields and writes the sixth.
struct cell {
  double x, y, from_beam_x, from_beam_y, heat;
  double temperature;
  double damage;  ///< grows faster where the plate is hotter
};
constexpr std::size_t fields = sizeof(cell) / sizeof(double);

using net = nn::sequential<nn::linear<5, 32>, nn::tanh, nn::linear<32, 32>, nn::tanh, nn::linear<32, 1>>;
using model_type = dp::model<net, dp::cpu, double>;
using predictor_type = dp::predictor<net, dp::cpu, double>;
using inputs = dp::extents<dp::dyn, 5>;
using outputs = dp::extents<dp::dyn, 1>;
using tile = dp::batch<512>;

// All memory of the network is known before the program runs.
static_assert(dp::memory_plan<predictor_type, tile>::bytes < 512 * 1024, "the network must fit beside the solver");

class plate {
 public:
  plate() : cells_(cells) {
    for (std::size_t i = 0; i < cells; ++i) {
      cells_[i].x = static_cast<double>(i % side) * width;
      cells_[i].y = static_cast<double>(i / side) * width;
    }
  }

  const cell& operator[](std::size_t i) const { return cells_[i]; }
  void move_beam(double x, double y) {
    for (cell& c : cells_) {
      c.from_beam_x = c.x - x;
      c.from_beam_y = c.y - y;
      c.heat = std::exp(-30 * (c.from_beam_x * c.from_beam_x + c.from_beam_y * c.from_beam_y));
    }
  }
  /// Over-relaxation with a Newton step in each cell, starting from the previous step's field.
  void solve() {
    for (double change = 1; change > 1e-5;) {
      change = 0;
      for (std::size_t row = 1; row + 1 < side; ++row)
        for (std::size_t i = row * side + 1; i + 1 < (row + 1) * side; ++i) {
          cell& c = cells_[i];
          const double around = cells_[i - 1].temperature + cells_[i + 1].temperature + cells_[i - side].temperature +
                                cells_[i + side].temperature;
          const double t = c.temperature, t3 = t * t * t;
          const double residual = around - 4 * t + width * width * (40 * c.heat - 5 * t3 * t);
          c.temperature += 1.8 * residual / (4 + width * width * 20 * t3);
          change = std::max(change, std::abs(residual));
        }
    }
  }
  void add_damage(double dt) {
    for (cell& c : cells_) c.damage += dt * std::exp(4 * c.temperature);
  }

  /// Views of the fields: no copies, and other fields stay untouched.
  ///@{
  auto state() const { return dp::wrap(&cells_[0].x, inputs{cells}, {fields, 1}); }
  auto temperature() { return dp::wrap(&cells_[0].temperature, outputs{cells}, {fields, 1}); }
  ///@}

 private:
  static constexpr double width = 1.0 / (side - 1);
  std::vector<cell> cells_;
};

/// Trains on the fields for random positions of the beam, and logs the epochs.
model_type train(std::size_t positions, int epochs, const std::string& log_path) {
  dp::tensor<double, inputs, dp::cpu> x{inputs{positions * cells}};
  dp::tensor<double, outputs, dp::cpu> y{outputs{positions * cells}};
  const auto beams = dp::uniform<double, dp::cpu>(dp::extents<dp::dyn, 2>{positions}, dp::seed{1}, 0.2, 0.8);
  plate solver;
  for (std::size_t i = 0; i < positions; ++i) {
    solver.move_beam(beams(i, 0), beams(i, 1));
    solver.solve();
    dp::copy(x.slice(i * cells, (i + 1) * cells), solver.state());
    dp::copy(y.slice(i * cells, (i + 1) * cells), solver.temperature());
  }
  model_type model{dp::seed{2}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 2e-2}};
  auto batches = dp::make_loader<dp::cpu, double>(x, y, {.batch = 128, .shuffle = dp::seed{3}});
  dp::training_log log{log_path, {"epoch", "loss", "rate"}};
  log.rewind(0);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const auto& [some, targets] : batches.epoch(epoch)) step(some, targets);
    double& rate = step.optimizer().rule().learning_rate;
    log.append({{"epoch", epoch}, {"loss", step.mean_loss()}, {"rate", rate}});
    step.reset_mean_loss();
    rate *= 0.75;
  }
  return model;
}

/// Calls f and adds the time it takes to `seconds`.
template <class F> void timed(double& seconds, const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The relative root mean square difference of two fields.
double relative_error(const plate& a, const plate& b, double cell::* field) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    difference += (a[i].*field - b[i].*field) * (a[i].*field - b[i].*field);
    size += b[i].*field * b[i].*field;
  }
  return std::sqrt(difference / size);
}

int run(const std::string& picture, std::size_t positions, int epochs) {
  const std::string log = picture + ".csv";
  const predictor_type network{train(positions, epochs, log), tile{}};

  constexpr int steps = 100;
  plate solved, learned;
  double solver_seconds = 0, network_seconds = 0;
  std::vector<double> of_temperature, of_damage;
  of_temperature.reserve(steps), of_damage.reserve(steps);
  const auto state = learned.state();
  const auto temperature = learned.temperature();
  const auto allocations = dp::memory_statistics<dp::cpu>().allocations;
  for (int step = 0; step < steps; ++step) {
    const double angle = 0.05 * step;
    for (plate* each : {&solved, &learned}) each->move_beam(0.5 + 0.25 * std::cos(angle), 0.5 + 0.25 * std::sin(angle));
    timed(solver_seconds, [&] { solved.solve(); });
    timed(network_seconds, [&] { network.predict_into(temperature, state); });
    for (plate* each : {&solved, &learned}) each->add_damage(0.01);
    of_temperature.push_back(relative_error(learned, solved, &cell::temperature));
    of_damage.push_back(relative_error(learned, solved, &cell::damage));
  }
  const bool allocated = dp::memory_statistics<dp::cpu>().allocations != allocations;

  double mean = 0;
  for (const double error : of_temperature) mean += error / steps;
  std::printf("relative error: %.4f of the temperature in the mean, %.4f of the damage at the end; %s\n", mean,
              of_damage.back(), allocated ? "the loop allocated" : "no allocation in the loop");
  std::printf("a field of %zu cells: network %.0f us, solver %.0f us\n", cells, 1e6 * network_seconds / steps,
              1e6 * solver_seconds / steps);
  dp::write_chart(picture, "step of time",
                  {{"Error of the network's field, root mean square, relative",
                    {{"temperature", of_temperature}, {"damage", of_damage}}}});
  dp::write_training_chart(log, picture + ".training.svg", {"loss", "rate"});
  return mean < 0.1 && of_damage.back() < 0.1 && !allocated ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 ? argv[1] : "surrogate.svg", argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 80,
             argc > 3 ? std::atoi(argv[3]) : 15);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
