// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/sanitizers.hpp"

// The trainings of tests/reference/mixed_precision.
namespace devplace::test {

using mixed_net =
    nn::sequential<nn::linear<12, 24>, nn::relu, nn::linear<24, 16>, nn::tanh, nn::layer_norm<16>, nn::linear<16, 5>>;
inline constexpr std::size_t in_batch = 32, batches_of_data = 4, steps_of_fixture = 200;

/// A fixture of one axis.
inline std::vector<double> row_of(const std::string& name) {
  const auto values = read_fixture<double, extents<dyn>>("mixed_precision/" + name);
  return {values.data(), values.data() + values.size()};
}

/// Loads PyTorch's initial parameters. `folder` is empty or ends in a slash.
template <class Model> void start_as_pytorch(Model& model, const std::string& folder) {
  std::size_t number = 0;
  model.for_each_parameter([&](const std::string&, auto to) {
    using extents = typename decltype(to)::extents_type;
    copy(to, read_fixture<float, extents>("mixed_precision/" + folder + "start" + std::to_string(number++)));
  });
}

/// The fixture's batches of samples.
template <class Samples, class T = float, class Labels = extents<dyn>> struct batches_of {
  std::string folder = {};
  tensor<T, Samples, on<cpu>> all = read_fixture<T, Samples>("mixed_precision/" + folder + "x");
  tensor<std::int64_t, Labels, on<cpu>> classes =
      read_fixture<std::int64_t, Labels>("mixed_precision/" + folder + "labels");

  /// With `bad`, the first feature of each sample is infinite.
  auto samples(std::size_t step, bool bad) const {
    const std::size_t first = step % batches_of_data * in_batch;
    const auto from = all.view().slice(first, first + in_batch);
    tensor<T, Samples, on<cpu>> x(from.extents());
    copy(x, from);
    if (bad) x.data()[0] = std::numeric_limits<T>::infinity();
    return x;
  }
  auto labels(std::size_t step) const {
    const std::size_t first = step % batches_of_data * in_batch;
    return classes.view().slice(first, first + in_batch);
  }
};
using batches_in_turn = batches_of<extents<dyn, 12>>;

inline bool is_bad_step(std::size_t step) { return step == 40 || step == 41 || step == 100; }

/// Repeats the fixture's PyTorch training under autocast. Checks that every loss is within `tolerance` (relative) of
/// PyTorch's, and that the loss scale equals PyTorch's after every step. Runs only 60 steps under sanitizers.
template <class Net, class Where, class P, class Data, class Rule>
void follow_autocast(const Data& data, const std::string& name, const Rule& rule, double tolerance,
                     bool with_bad_steps) {
  constexpr bool scales = scales_losses<P>;
  model<Net, on<cpu>, P> initial{seed{1}};
  start_as_pytorch(initial, data.folder);
  auto model = to<Where>(initial);
  trainer step{model, nn::cross_entropy{}, rule};
  const std::vector<double> expected = row_of(data.folder + name + (scales ? "half" : "bf16"));
  const std::vector<double> scale =
      with_bad_steps ? row_of(name + "scale") : std::vector<double>(steps_of_fixture, 65536.0);
  double worst = 0;
  std::int64_t skipped = 0;
  const std::size_t steps = support::sanitized ? 60 : steps_of_fixture;
  for (std::size_t i = 0; i < steps; ++i) {
    const bool bad = scales && with_bad_steps && is_bad_step(i);
    const double loss =
        static_cast<double>(step(to_batch<Where>(data.samples(i, bad)), to_batch<Where>(data.labels(i))).item());
    INFO("step " << i << ": " << loss << ", PyTorch " << expected[i]);
    if constexpr (scales) {
      skipped += bad ? 1 : 0;
      const optim::loss_scaler_state now = step.scaler();
      REQUIRE(now.scale == scale[i]);
      REQUIRE(now.skipped_steps == skipped);
    }
    REQUIRE(std::isfinite(loss) == !bad);
    if (!bad) worst = std::max(worst, std::abs(loss - expected[i]) / expected[i]);
  }
  CAPTURE(name, worst);
  CHECK(worst <= tolerance);
  CHECK(worst > 0);
}

}  // namespace devplace::test
