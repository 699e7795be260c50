// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using namespace devplace::literals;

namespace {

/// The memory that model, optimizer and trainer allocate for batches of `Samples` samples.
template <class Model, std::size_t Samples, class Rule> std::size_t counted() {
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  Model model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, Rule{}};
  step.prepare(Samples);
  return dp::memory_statistics<dp::cpu>().allocated - before;
}

}  // namespace

TEMPLATE_TEST_CASE("the plan is exact to the byte", "[train]", FLOATING_TYPES) {
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  using mlp = dp::model<nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>, dp::on<dp::cpu>, TestType>;
  CHECK(dp::memory_plan<mlp, dp::batch<64>, dp::optim::adam>::bytes == counted<mlp, 64, dp::optim::adam>());
  CHECK(dp::memory_plan<mlp, dp::batch<1>, dp::optim::sgd>::bytes == counted<mlp, 1, dp::optim::sgd>());
  CHECK(dp::memory_plan<mlp, dp::batch<64>, dp::optim::plain_sgd>::bytes == counted<mlp, 64, dp::optim::plain_sgd>());
  STATIC_REQUIRE(dp::memory_plan<mlp, dp::batch<64>, dp::optim::plain_sgd>::optimizer_state ==
                 dp::optim::step_memory_bytes);
  CHECK(dp::memory_plan<mlp, dp::batch<1000>, dp::optim::sgd>::bytes == counted<mlp, 1000, dp::optim::sgd>());
  using deep = dp::model<
      nn::sequential<nn::input<3, 5>, nn::flatten, nn::residual<nn::linear<15, 7>, nn::tanh, nn::linear<7, 15>>,
                     nn::tanh, nn::linear<15, 4>>,
      dp::on<dp::cpu>, TestType>;
  CHECK(dp::memory_plan<deep, dp::batch<33>, dp::optim::adam>::bytes == counted<deep, 33, dp::optim::adam>());
}

TEST_CASE("the plan can be asserted before anything runs", "[train]") {
  using mlp = dp::model<nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>, dp::on<dp::cuda<3>>>;
  using plan = dp::memory_plan<mlp, dp::batch<64>, dp::optim::adam>;
  STATIC_REQUIRE(plan::bytes < 4_MiB);
  STATIC_REQUIRE(plan::parameters == 203536 * sizeof(float));  // each tensor padded to 16 elements: 10 becomes 16
  STATIC_REQUIRE(plan::optimizer_state == 2 * plan::parameters + dp::optim::step_memory_bytes);
}

namespace {

template <class Where, class Processes>
using planned_mlp = dp::memory_plan<dp::model<nn::sequential<nn::linear<8, 4>>, Where>, dp::batch<64>, dp::optim::sgd,
                                    dp::collective::all_reduce<>, Processes>;

template <std::size_t Count>
constexpr std::size_t exchange_of = planned_mlp<dp::across<dp::on<dp::cpu>>, dp::processes<Count>>::exchange;

}  // namespace

TEST_CASE("the plan counts the memory through which processes of one host exchange gradients", "[train]") {
  STATIC_REQUIRE(planned_mlp<dp::on<dp::cpu>, void>::exchange == 0);
  STATIC_REQUIRE(exchange_of<1> == 0);
  // Four pages of small messages, four portions, and a share of the page on which processes synchronize.
  STATIC_REQUIRE(exchange_of<2> == 4 * (4_KiB + 1_MiB) + 4_KiB / 2);
  STATIC_REQUIRE(exchange_of<8> == 4 * (4_KiB + 1_MiB) + 4_KiB / 8);
  STATIC_REQUIRE(exchange_of<16> == 4 * (4_KiB + 512_KiB) + 4_KiB / 16);
  STATIC_REQUIRE(exchange_of<64> == 4 * (4_KiB + 128_KiB) + 8_KiB / 64);
  // The memory that all 64 processes map together.
  STATIC_REQUIRE(64 * exchange_of<64> < 36_MiB);
  STATIC_REQUIRE(128 * exchange_of<128> < 36_MiB);
}
