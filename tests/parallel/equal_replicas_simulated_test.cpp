// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/parallel/equal_replicas.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using where = dp::replicated<0, 2, 1>;

/// The message of a trainer's first step after `change` of one element of a replica's second weight.
template <class Policy>
std::string first_step(std::size_t replica, std::size_t element, float change, const Policy& policy) {
  dp::model<net, where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}, policy};
  const auto x = dp::scatter<dp::batch_placement_t<where>>(dp::test::integer_samples<float, 6>(7));
  const auto y = dp::scatter<dp::batch_placement_t<where>>(dp::test::square_labels(7, 3));
  const auto view = model.template parameter_only_on<2>(replica);
  auto values = dp::test::values_of(view);
  values[element] += change;
  support::set_values(view, values);
  try {
    step(x, y);
  } catch (const dp::error& e) {
    CHECK_THROWS_AS(step(x, y), dp::error);  // throws again
    model.assign(dp::to<dp::on<dp::cpu>>(model));
    CHECK_NOTHROW(step(x, y));
    CHECK(dp::test::parameters_of(model, 0) == dp::test::parameters_of(model, 1));
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the first step throws if the program changed one replica", "[parallel]") {
  const auto all = dp::collective::all_reduce<>{};
  CHECK(first_step(1, 0, 0, all).empty());
  for (std::size_t replica = 0; replica != 3; ++replica)
    for (const std::size_t element : {0U, 11U, 23U})
      CHECK(first_step(replica, element, 0.5F, all).find("parameter '2.weight'") != std::string::npos);
  CHECK(first_step(2, 7, -0.25F, dp::collective::scatter_gather{}).find("cuda:1") != std::string::npos);
}
