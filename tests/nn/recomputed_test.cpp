// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn::recomputed: every bit of a training is that of the network without it, the memory is smaller and as planned, and
// the second forward computes no more than backward reads.

#include "nn/recomputed_training.hpp"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using host = dp::on<dp::cpu>;

namespace {

/// Compares the trainings of a network without and with nn::recomputed. `Smaller`: whether the latter needs less
/// memory.
template <class Plain, class Recomputed, class P = float, bool Smaller = true> void compare() {
  const auto plain = dp::test::train<Plain, host, P>(), recomputed = dp::test::train<Recomputed, host, P>();
  CHECK(recomputed.same_bits(plain));
  CHECK(plain.moves());
  CHECK(plain.peak == plain.planned);
  CHECK(recomputed.peak == recomputed.planned);
  CHECK((recomputed.peak < plain.peak) == Smaller);
  CHECK(recomputed.allocations == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("recomputed linear layers have the same bits in less memory", "[nn]", float, double,
                   dp::mixed<dp::bf16>, dp::mixed<dp::half>) {
  compare<dp::test::mlp_of<nn::sequential>, dp::test::mlp_of<nn::recomputed>, TestType>();
}

TEMPLATE_TEST_CASE("recomputed convolutions have the same bits, and batch_norm changes its buffers once", "[nn]", float,
                   dp::mixed<dp::bf16>) {
  compare<dp::test::images_of<nn::sequential>, dp::test::images_of<nn::recomputed>, TestType>();
}

TEMPLATE_TEST_CASE("recomputed transformer blocks have the same bits, dropout of attention included", "[nn]", float,
                   dp::mixed<dp::half>) {
  compare<dp::test::text_of<nn::sequential>, dp::test::text_of<nn::recomputed>, TestType>();
}

TEST_CASE("recomputed layers have the same bits in branches, in each other, frozen, and with other rates", "[nn]") {
  compare<dp::test::branches_of<nn::sequential>, dp::test::branches_of<nn::recomputed>>();
}

namespace {

/// Multiplies by its buffer, which each training pass doubles afterwards: a second forward would see another number.
/// Counts its passes on the first element of the batch.
template <nn::keep Keeps, int Number> struct doubling {
  template <class In> using output = In;
  static constexpr nn::keep keeps = Keeps;
  static constexpr std::array buffers{nn::parameter{"factor", {1}, nn::init::ones()}};
  static inline int forwards = 0;
  static void forward(const auto& c) {
    ++forwards;
    auto& factor = *c.template buffer<0>().data();
    for (std::size_t i = 0; i < c.input.size(); ++i) c.output.data()[i] = factor * c.input.data()[i];
    if (c.mode == nn::mode::train) factor *= 1.125F;
  }
  static void backward(const auto& c) {
    if (!c.needs_input_gradient) return;
    auto& factor = *c.template buffer<0>().data();
    for (std::size_t i = 0; i < c.output_gradient.size(); ++i)
      c.input_gradient.data()[i] = factor * c.output_gradient.data()[i];
  }
};

/// A product with a counter of its passes.
template <int Number> struct counted : nn::linear<4, 4> {
  static inline int forwards = 0, backwards = 0;
  static void forward(const auto& c) {
    ++forwards;
    nn::linear<4, 4>::forward(c);
  }
  static void backward(const auto& c) {
    ++backwards;
    nn::linear<4, 4>::backward(c);
  }
};

template <class Net> void train_once() {
  dp::model<Net, host> model{dp::seed{1}};
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 4>{3}, 1);
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}};
  step(x, x);
}

template <int Number> void check_calls(int forwards) {
  CHECK(counted<Number>::forwards == forwards);
  CHECK(counted<Number>::backwards == 1);
}

}  // namespace

TEST_CASE("a layer that changes what its forward reads sees the old numbers in its second forward", "[nn]") {
  using other = doubling<nn::keep::nothing, 1>;
  using last = doubling<nn::keep::output, 2>;
  compare<nn::sequential<nn::linear<4, 4>, nn::sequential<other, nn::linear<4, 64>, nn::linear<64, 4>, last>>,
          nn::sequential<nn::linear<4, 4>, nn::recomputed<other, nn::linear<4, 64>, nn::linear<64, 4>, last>>, float,
          false>();
}

TEST_CASE("backward does not compute a group's last layers again if it does not read what they give", "[nn]") {
  train_once<nn::sequential<nn::recomputed<counted<0>, nn::tanh, counted<1>, nn::dropout<>>, counted<2>>>();
  check_calls<0>(2);
  check_calls<1>(1);
  check_calls<2>(1);
  // In residuals, in branches, and where the last layer needs its result.
  train_once<nn::sequential<
      nn::recomputed<nn::residual<counted<3>, counted<4>>, nn::residual<nn::sequential<counted<5>, counted<6>>>>,
      nn::recomputed<nn::sum_of<nn::sequential<counted<7>, counted<8>>, nn::sequential<counted<9>, nn::tanh>>>>>();
  check_calls<3>(2);
  check_calls<4>(2);
  check_calls<5>(2);
  check_calls<6>(1);
  check_calls<7>(2);
  check_calls<8>(1);
  check_calls<9>(2);
  // A group at the end of another one is not computed for the outer one.
  train_once<nn::recomputed<counted<10>, nn::recomputed<counted<11>, nn::gelu, counted<12>>>>();
  check_calls<10>(2);
  check_calls<11>(2);
  check_calls<12>(1);
}

TEST_CASE("the plan counts the multiplications that backward repeats", "[nn]") {
  constexpr auto cost_of = []<class Net>(std::type_identity<Net>) { return dp::runtime::network_plan<Net>::cost; };
  using plain = nn::sequential<nn::linear<4, 8>, nn::relu, nn::linear<8, 2>>;
  STATIC_REQUIRE(cost_of(std::type_identity<plain>{}).forward == 4 * 8 + 8 * 2);
  STATIC_REQUIRE(cost_of(std::type_identity<plain>{}).repeated == 0);
  STATIC_REQUIRE(cost_of(std::type_identity<nn::recomputed<plain>>{}).forward == 4 * 8 + 8 * 2);
  STATIC_REQUIRE(cost_of(std::type_identity<nn::recomputed<plain>>{}).repeated == 4 * 8);
  STATIC_REQUIRE(cost_of(std::type_identity<nn::recomputed<plain, nn::tanh>>{}).repeated == 4 * 8 + 8 * 2);
  using nested =
      nn::recomputed<nn::linear<4, 8>, nn::recomputed<nn::linear<8, 8>, nn::relu, nn::linear<8, 2>>, nn::relu>;
  STATIC_REQUIRE(cost_of(std::type_identity<nested>{}).repeated == 4 * 8 + 8 * 8 + 8 * 2 + 8 * 8);
}

namespace {

using block = nn::sequential<nn::residual<nn::layer_norm<64>, nn::multi_head_attention<64, 4, nn::causal>>,
                             nn::residual<nn::layer_norm<64>, nn::linear<64, 256>, nn::gelu, nn::linear<256, 64>>>;
using kept = nn::recomputed<block>;
template <class Block>
using six_of = nn::sequential<nn::input<32>, nn::embedding<100, 64>, Block, Block, Block, Block, Block, Block>;

template <class Net>
constexpr std::size_t activations_of =
    dp::memory_plan<dp::model<Net, host>, dp::batch<16>, dp::optim::adam>::activations;

}  // namespace

TEST_CASE("recomputed blocks of a transformer need the memory that docs/memory.md states", "[nn]") {
  CHECK(activations_of<six_of<block>> == 14'469'120);
  CHECK(activations_of<six_of<kept>> == 4'728'832);
}

TEST_CASE("recomputed changes neither names nor initial values, and predicts in the same memory", "[nn]") {
  using plain = nn::sequential<nn::linear<4, 8>, nn::sequential<nn::linear<8, 8>, nn::batch_norm<8>>,
                               nn::named<"last", nn::residual<nn::linear<8, 8>>>>;
  using recomputed =
      nn::sequential<nn::recomputed<nn::linear<4, 8>>, nn::recomputed<nn::linear<8, 8>, nn::batch_norm<8>>,
                     nn::recomputed<nn::named<"last", nn::residual<nn::linear<8, 8>>>>>;
  dp::model<plain, host> a{dp::seed{1}};
  dp::model<recomputed, host> b{dp::seed{1}};
  const auto all = [](const auto& model) {
    std::vector<std::pair<std::string, std::vector<float>>> list;
    const auto add = [&](const std::string& name, auto v) {
      list.emplace_back(name, std::vector<float>(v.data(), v.data() + v.size()));
    };
    model.for_each_parameter(add);
    model.for_each_buffer(add);
    return list;
  };
  CHECK(all(a) == all(b));
  CHECK(a.parameter_names() == b.parameter_names());
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 4>{3}, 1);
  const auto y = a.predict(x), z = b.predict(x);
  CHECK(std::vector<float>(y.data(), y.data() + y.size()) == std::vector<float>(z.data(), z.data() + z.size()));
  STATIC_REQUIRE(dp::memory_plan<dp::model<plain, host>, dp::batch<64>>::bytes ==
                 dp::memory_plan<dp::model<recomputed, host>, dp::batch<64>>::bytes);
}

TEST_CASE("gradients of recomputed layers agree with differences, the input's included", "[nn]") {
  using layers = nn::recomputed<nn::linear<4, 6>, nn::tanh, nn::recomputed<nn::linear<6, 4>, nn::sigmoid>>;
  CHECK(nn::check_gradients<layers>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::input<4>, nn::tanh, nn::residual<layers>>>(dp::seed{2}).worst < 1e-7);
}

TEST_CASE("passes by hand keep what a recomputed forward reads, though another forward runs in between", "[nn]") {
  const auto gradients = []<class Net>(std::type_identity<Net>) {
    dp::model<Net, host> model{dp::seed{1}};
    const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 4>{5}, 1),
               other = dp::test::random_values<float>(dp::extents<dp::dyn, 4>{5}, 2);
    auto [output, saved] = model.forward(x);
    auto [between, unused] = model.forward(other);
    const auto loss = nn::mse{}(output, other);
    const auto lease = model.backward(std::move(saved), loss.gradient);
    const auto& r = model.state().replicas[0];
    return std::vector<float>(r.gradient_data(), r.gradient_data() + r.gradients.bytes() / sizeof(float));
  };
  const auto plain = gradients(
      std::type_identity<nn::sequential<nn::linear<4, 4>, nn::batch_norm<4>, nn::dropout<>, nn::linear<4, 4>>>{});
  CHECK(
      gradients(
          std::type_identity<nn::recomputed<nn::linear<4, 4>, nn::batch_norm<4>, nn::dropout<>, nn::linear<4, 4>>>{}) ==
      plain);
}

TEST_CASE("traffic counts the reductions of both forwards", "[nn]") {
  using where = dp::replicated<0, 1>;
  using policy = dp::collective::all_reduce<>;
  using norm = nn::batch_norm<4, nn::over_all_places>;
  using plain = nn::sequential<nn::linear<4, 4>, norm>;
  constexpr dp::step_traffic<dp::model<plain, where>, policy> a;
  constexpr dp::step_traffic<dp::model<nn::recomputed<nn::linear<4, 4>, norm>, where>, policy> b;
  STATIC_REQUIRE(a.statistics == 2 * 2 * (2 * 8) * sizeof(std::int64_t));
  STATIC_REQUIRE(2 * b.statistics == 3 * a.statistics);
}
