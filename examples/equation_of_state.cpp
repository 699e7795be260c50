// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network in place of a tabulated equation of state, in every time step of a 1-D solver of Euler's equations.
//
// The table has pressure and speed of sound over density and internal energy. A tube with two gases at rest is solved
// twice, by interpolation in the table and by the network. The two solutions must agree, mass must be conserved, and
// the loop over time must not allocate.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

struct cell {
  double density = 0, internal = 0;  // read by the equation of state
  double pressure = 0, sound = 0;    // written by it
  double momentum = 0, energy = 0;   // per volume
};
constexpr std::size_t fields = sizeof(cell) / sizeof(double);

// A gas whose molecules take up energy as it gets hotter.
struct table {
  static constexpr std::size_t size = 24;
  static constexpr double low[2] = {0.1, 1.0}, high[2] = {1.1, 3.5};
  std::vector<double> points, values;  // density and internal energy; pressure and speed of sound

  table() {
    for (std::size_t k = 0; k < size * size; ++k) {
      const double density = low[0] + (high[0] - low[0]) * static_cast<double>(k / size) / (size - 1);
      const double internal = low[1] + (high[1] - low[1]) * static_cast<double>(k % size) / (size - 1);
      const double gamma = 1.4 - 0.15 * std::tanh(internal - 2);
      points.insert(points.end(), {density, internal});
      values.insert(values.end(), {(gamma - 1) * density * internal, std::sqrt(gamma * (gamma - 1) * internal)});
    }
  }
  double interpolate(std::size_t field, double density, double internal) const {
    const double x = (density - low[0]) / (high[0] - low[0]) * (size - 1);
    const double y = (internal - low[1]) / (high[1] - low[1]) * (size - 1);
    const auto i = static_cast<std::size_t>(std::clamp(x, 0.0, size - 2.0));
    const auto j = static_cast<std::size_t>(std::clamp(y, 0.0, size - 2.0));
    const double s = x - static_cast<double>(i), t = y - static_cast<double>(j);
    const double *const v = &values[2 * (i * size + j) + field], *const w = v + 2 * size;
    return (1 - s) * ((1 - t) * v[0] + t * v[2]) + s * ((1 - t) * w[0] + t * w[2]);
  }
};

using net = nn::sequential<nn::linear<2, 16>, nn::tanh, nn::linear<16, 16>, nn::tanh, nn::linear<16, 2>>;
using tile = dp::batch<128>;
using predictor = dp::predictor<net, dp::cpu, double>;
static_assert(dp::memory_plan<predictor, tile>::bytes < 128 * 1024, "the equation of state must fit beside the solver");

predictor train(const table& data) {
  constexpr int epochs = 300;
  const dp::extents<dp::dyn, 2> rows{table::size * table::size};
  const auto points = dp::wrap(data.points, rows), values = dp::wrap(data.values, rows);
  auto batches = dp::make_loader<dp::cpu, double>(points, values, {.batch = 32, .shuffle = dp::seed{1}});
  dp::model<net, dp::cpu, double> model{dp::seed{2}};
  dp::trainer step{
      model, nn::mse{},
      dp::optim::scheduled{dp::optim::adam{.learning_rate = 3e-2}, dp::optim::cosine{.steps = epochs * 18}}};
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (const auto& [x, y] : batches.epoch(epoch)) step(x, y);
  const auto loss = nn::evaluate_loss(nn::mse{}, model.predict(points), values);
  std::printf("error of the network on the table: %.1e\n", std::sqrt(loss.item()));
  return predictor{std::move(model), tile{}};
}

// Rusanov's scheme, to time 0.2; returns the solution. `equation` writes pressure and speed of sound of all cells.
template <class Equation> std::vector<cell> solve(std::size_t n, const Equation& equation) {
  std::vector<cell> cells(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double density = 2 * i < n ? 1.0 : 0.25, internal = 2 * i < n ? 2.5 : 2.0;
    cells[i] = {.density = density, .internal = internal, .energy = density * internal};
  }
  std::vector<double> flux(3 * (n + 1));
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  const double width = 1.0 / static_cast<double>(n);
  for (double time = 0; time < 0.2;) {
    equation(cells);
    double fastest = 0;
    for (const cell& c : cells) fastest = std::max(fastest, std::abs(c.momentum / c.density) + c.sound);
    const double dt = std::min(0.4 * width / fastest, 0.2 - time + 1e-12);
    for (std::size_t i = 0; i <= n; ++i) {
      const cell &a = cells[i == 0 ? 0 : i - 1], &b = cells[std::min(i, n - 1)];
      const double u = a.momentum / a.density, v = b.momentum / b.density;
      flux[3 * i] = (a.momentum + b.momentum - fastest * (b.density - a.density)) / 2;
      flux[3 * i + 1] =
          (a.momentum * u + a.pressure + b.momentum * v + b.pressure - fastest * (b.momentum - a.momentum)) / 2;
      flux[3 * i + 2] =
          (u * (a.energy + a.pressure) + v * (b.energy + b.pressure) - fastest * (b.energy - a.energy)) / 2;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double* const f = &flux[3 * i];
      cell& c = cells[i];
      c.density += dt / width * (f[0] - f[3]);
      c.momentum += dt / width * (f[1] - f[4]);
      c.energy += dt / width * (f[2] - f[5]);
      c.internal = c.energy / c.density - c.momentum * c.momentum / (2 * c.density * c.density);
    }
    time += dt;
  }
  if (dp::memory_statistics<dp::cpu>().allocations != before) std::puts("the loop allocated"), std::exit(1);
  return cells;
}

}  // namespace

int main() {
  const table data;
  const predictor network = train(data);
  constexpr std::size_t n = 200;
  const auto by_table = solve(n, [&](std::vector<cell>& cells) {
    for (cell& c : cells) {
      c.pressure = data.interpolate(0, c.density, c.internal);
      c.sound = data.interpolate(1, c.density, c.internal);
    }
  });
  const auto by_network = solve(n, [&](std::vector<cell>& cells) {
    const auto state = dp::wrap(&cells[0].density, dp::extents<dp::dyn, 2>{n}, {fields, 1});
    network.predict_into(dp::wrap(&cells[0].pressure, dp::extents<dp::dyn, 2>{n}, {fields, 1}), state);
  });
  double difference = 0, mass = 0, moved = 0;
  for (std::size_t i = 0; i < n; ++i) {
    difference += std::abs(by_network[i].density - by_table[i].density) / n;
    moved += std::abs(by_table[i].density - (2 * i < n ? 1.0 : 0.25)) / n;
    mass += by_network[i].density / n;
  }
  std::printf("mean difference of densities %.1e, moved by the solver %.1e, mass %.15f\n", difference, moved, mass);
  return difference < 0.02 * moved && std::abs(mass - 0.625) < 1e-12 ? 0 : 1;
}
