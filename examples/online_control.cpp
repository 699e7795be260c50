// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A controller that learns while the simulation runs: one prediction and one training step per time step.
//
// A pendulum with friction that the controller does not know follows a given motion. A weak proportional controller
// corrects errors. A network adds the torque that causes the wanted acceleration in this state (an inverse model). It
// is trained on states, accelerations and torques of past steps. The error of the last period must be less than a tenth
// of the first one's, and learning must not allocate.
#include <cmath>
#include <cstdio>
#include <numbers>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

// From sine and cosine of the angle, speed and acceleration to the torque.
using net = nn::sequential<nn::linear<4, 24>, nn::tanh, nn::linear<24, 1>>;
constexpr std::size_t batch = 16, groups = 32;
constexpr double dt = 0.01;

struct pendulum {
  double angle = 0, speed = 0;
  double acceleration(double torque) const {
    return 2 * torque - 6 * std::sin(angle) - 0.5 * speed - 1.5 * std::tanh(10 * speed);
  }
  void advance(double acceleration) {
    speed += dt * acceleration;
    angle += dt * speed;
  }
};

void set(auto row, double angle, double speed, double acceleration) {
  row(0) = static_cast<float>(std::sin(angle)), row(1) = static_cast<float>(std::cos(angle));
  row(2) = static_cast<float>(speed), row(3) = static_cast<float>(acceleration / 5);
}

}  // namespace

int main() {
  dp::model<net, dp::cpu> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 5e-3}};

  dp::tensor<float, dp::extents<groups * batch, 4>, dp::cpu> states{};
  dp::tensor<float, dp::extents<groups * batch, 1>, dp::cpu> torques{};
  dp::tensor<float, dp::extents<1, 4>, dp::cpu> wanted{};
  dp::tensor<float, dp::extents<1, 1>, dp::cpu> predicted{};

  pendulum body;
  constexpr int period = 400, periods = 10;
  double first = 0, last = 0;
  std::size_t allocations = 0;
  for (int t = 0; t < period * periods; ++t) {
    const double phase = 2 * std::numbers::pi * t / period, rate = 2 * std::numbers::pi / (period * dt);
    const double goal = std::sin(phase), goal_speed = rate * std::cos(phase), goal_push = -rate * rate * goal;
    const double error = goal - body.angle;
    if (t < period) first += error * error / period;
    if (t >= period * (periods - 1)) last += error * error / period;

    const double demand = goal_push + 4 * error + 2 * (goal_speed - body.speed);
    set(wanted[0], body.angle, body.speed, demand);
    model.predict_into(predicted, wanted);
    const double torque = std::fmin(std::fmax(static_cast<double>(predicted(0, 0)) + 2 * error, -8), 8);
    const double pushed = body.acceleration(torque);

    // Samples that are `groups` steps apart lie side by side: they are a batch without a copy.
    const std::size_t group = static_cast<std::size_t>(t) % groups;
    const std::size_t slot = group * batch + static_cast<std::size_t>(t) / groups % batch;
    set(states[slot], body.angle, body.speed, pushed);
    torques(slot, 0) = static_cast<float>(torque);
    body.advance(pushed);

    if (t + 1 >= static_cast<int>(groups * batch))
      step(states.slice(group * batch, (group + 1) * batch), torques.slice(group * batch, (group + 1) * batch));
    if (t == period * 2) allocations = dp::memory_statistics<dp::cpu>().allocations;
  }
  allocations = dp::memory_statistics<dp::cpu>().allocations - allocations;
  std::printf("error of the first period %.4f, of the last %.4f rad; %zu allocations while it learned\n",
              std::sqrt(first), std::sqrt(last), allocations);
  return std::sqrt(last) < 0.1 * std::sqrt(first) && allocations == 0 ? 0 : 1;
}
