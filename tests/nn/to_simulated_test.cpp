// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <limits>
#include <ratio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::copies_of;
using dp::test::parameters_of;

namespace {

/// An identity layer that counts the training passes in a buffer.
struct counting {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static constexpr std::array buffers{nn::parameter{"passes", {1}, nn::init::constant(10)}};

  static void forward(const auto& c) {
    c.output = c.input + 0.0F;
    if (c.mode == nn::mode::train) c.template buffer<0>() += 1.0F;
  }
  static void backward(const auto& c) {
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient + 0.0F;
  }
};

using net = nn::sequential<nn::linear<6, 8>, counting, nn::relu, nn::dropout<std::ratio<3, 10>>, nn::linear<8, 3>>;
using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<1>>;
using replicas = dp::replicated<2, 0, 1>;

/// One step of gradient descent; several places each have the whole batch.
template <class Where> void step(dp::model<net, Where>& model, std::size_t rows) {
  dp::optimizer optimizer{model, dp::optim::sgd{.learning_rate = 0.1}};
  const auto x = copies_of<Where>(dp::test::integer_samples<float, 6>(rows));
  const auto y = copies_of<Where>(dp::test::square_labels(rows, 3));
  auto [output, saved] = model.forward(x);
  optimizer.step(model, model.backward(std::move(saved), nn::cross_entropy{}(output, y).gradient));
}

/// The count in place k's buffer.
template <class Model> float passes(const Model& model, std::size_t k = 0) {
  const auto& r = model.state().replicas[k];
  float value = 0;
  dp::detail::copy_out<dp::placement_backend_t<typename Model::placement_type>>(r.ordinal, &value, r.buffer_data(),
                                                                                sizeof value);
  return value;
}

/// Trains, moves the model and continues; compares with a model that stays.
template <class From, class To> void check_move() {
  dp::model<net, From> stays{dp::seed{4}}, moves{dp::seed{4}};
  step(stays, 9);
  step(moves, 9);
  auto moved = dp::to<To>(moves);
  for (std::size_t k = 0; k < dp::local_place_count<To>; ++k) {
    CHECK(parameters_of(moved, k) == parameters_of(stays));
    CHECK(passes(moved, k) == 11);
  }
  const auto before = parameters_of(moves);
  step(stays, 8);
  step(moved, 8);
  const auto back = dp::to<From>(moved);
  for (std::size_t k = 0; k < dp::local_place_count<From>; ++k) {
    CHECK(parameters_of(back, k) == parameters_of(stays));
    CHECK(passes(back, k) == 12);
  }
  CHECK(back.state().step == stays.state().step);
  CHECK(back.state().seed == stays.state().seed);
  CHECK(parameters_of(moves) == before);  // a copy, not the same memory
  CHECK(before != parameters_of(stays));
}

/// Copies a model with special numbers from one placement and precision to others.
template <class From, class Where, class P, class To> void check_precision() {
  using to_type = typename dp::precision_traits<To>::parameter;
  dp::model<net, host, P> model{dp::seed{4}};
  using from_type = typename decltype(model)::value_type;
  // In float the second and third are ties, which round to even; the others are too large or subnormal.
  constexpr std::array<double, 6> special{0.1, 1 + 0x1p-24, 1 + 0x3p-24, -1e300, 3e38, 0x3p-150};
  const auto first = model.template parameter<0>();
  for (std::size_t i = 0; i < special.size(); ++i) first.data()[i] = static_cast<from_type>(special[i]);
  auto& state = model.state();
  state.replicas[0].buffer_data()[0] = static_cast<from_type>(0.1);
  state.step = 7;
  const auto source = dp::to<From>(model);
  const auto copy = dp::to<Where, To>(source);
  STATIC_REQUIRE(std::is_same_v<typename decltype(copy)::precision_type, To>);
  for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k) {
    const auto values = parameters_of(copy, k);
    const auto expected = parameters_of(model);
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == static_cast<to_type>(expected[i]));
    if (std::is_same_v<from_type, double> && std::is_same_v<to_type, float>) {
      CHECK(values[1] == 1);
      CHECK(values[2] == 1 + 0x1p-22F);
      CHECK(values[3] == -std::numeric_limits<float>::infinity());
      CHECK(values[5] == 0x1p-148F);
    }
    to_type buffer = 0;
    const auto& r = copy.state().replicas[k];
    dp::detail::copy_out<dp::placement_backend_t<Where>>(r.ordinal, &buffer, r.buffer_data(), sizeof buffer);
    CHECK(buffer == static_cast<to_type>(static_cast<from_type>(0.1)));
  }
  CHECK((copy.state().seed == state.seed && copy.state().step == 7));
}

}  // namespace

TEST_CASE("a model moves to another placement and back, and trains there as if it had stayed", "[nn]") {
  check_move<host, device>();
  check_move<host, replicas>();
  check_move<device, host>();
  check_move<device, dp::on<dp::cuda<0>>>();
  check_move<device, replicas>();
  check_move<replicas, host>();
  check_move<host, host>();
  check_move<replicas, replicas>();
}

TEST_CASE("a copy in another precision has the nearest representable numbers, on every placement", "[nn]") {
  check_precision<host, host, double, float>();
  check_precision<device, replicas, double, float>();
  check_precision<replicas, host, double, dp::tf32>();
  check_precision<host, host, double, dp::mixed<dp::bf16>>();
  check_precision<device, host, float, double>();
  check_precision<host, replicas, dp::mixed<dp::half>, double>();
  check_precision<replicas, device, dp::mixed<dp::bf16>, float>();
  check_precision<device, device, float, dp::mixed<dp::half>>();
}

TEST_CASE("a predictor in another precision predicts like a model with rounded parameters", "[nn]") {
  const dp::model<net, host, double> exact{dp::seed{4}};
  dp::model<net, host> rounded{dp::seed{5}};
  std::vector<double> values = parameters_of(exact);
  rounded.for_each_parameter([&, at = values.data()](const std::string&, auto to) mutable {
    for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = static_cast<float>(*at++);
  });
  const auto x = dp::test::integer_samples<float, 6>(9);
  const auto expected = dp::test::values_of(rounded.predict(x));
  const dp::predictor<net, host> p{exact, dp::batch<9>{}};
  CHECK(dp::test::values_of(p.predict(x)) == expected);
  const dp::predictor<net, replicas, float> on_devices{exact, dp::batch<9>{}};
  const auto outputs = on_devices.predict(copies_of<replicas>(x));
  CHECK(dp::test::values_of(outputs.local(dp::cuda<0>{})) == expected);
  const dp::predictor<net, host, dp::mixed<dp::bf16>> short_one{exact, dp::batch<9>{}};
  CHECK(parameters_of(short_one.as_model()) == parameters_of(rounded));
  dp::predictor assigned{dp::model<net, host>{dp::seed{6}}, dp::batch<9>{}};
  assigned.assign(dp::to<host, float>(exact));
  CHECK(dp::test::values_of(assigned.predict(x)) == expected);
}

TEST_CASE("a copy of a replicated model takes the first place's replica", "[nn]") {
  dp::model<nn::linear<6, 3>, replicas> model{dp::seed{4}};
  const auto first = parameters_of(model, 0);
  dp::copy(model.parameter_only_on<1>(1), dp::tensor<float, dp::extents<3>, host>{1, 2, 3});
  CHECK(parameters_of(model, 1) != first);
  const auto again = dp::to<replicas>(dp::to<host>(model));
  CHECK(parameters_of(again, 0) == first);
  CHECK(parameters_of(again, 1) == first);
}

TEST_CASE("a temporary already on the placement is moved; otherwise the model is copied", "[nn]") {
  dp::model<nn::linear<6, 3>, device> model{dp::seed{4}};
  const auto* const arena = model.state().replicas[0].parameter_data();
  const auto allocations = dp::memory_statistics<dp::cuda<1>>().allocations;
  auto same = dp::to<device>(std::move(model));
  CHECK(same.state().replicas[0].parameter_data() == arena);
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocations == allocations);
  const auto elsewhere = dp::to<host>(std::move(same));
  CHECK(parameters_of(elsewhere) == parameters_of(dp::to<device>(elsewhere)));
}

TEST_CASE("assign copies parameters and buffers in place between any placements", "[nn]") {
  const auto check = [](auto to, auto from) {
    step(from, 9);
    const auto* const arena = to.state().replicas[0].parameter_data();
    const auto seed = to.state().seed;
    to.assign(from);
    CHECK(to.state().replicas[0].parameter_data() == arena);
    CHECK(to.state().seed == seed);
    for (std::size_t k = 0; k < to.state().replicas.size(); ++k) {
      CHECK(parameters_of(to, k) == parameters_of(from));
      CHECK(passes(to, k) == passes(from));
    }
  };
  check(dp::model<net, device>{dp::seed{1}}, dp::model<net, host>{dp::seed{2}});
  check(dp::model<net, host>{dp::seed{1}}, dp::model<net, device>{dp::seed{2}});
  check(dp::model<net, replicas>{dp::seed{1}}, dp::model<net, device>{dp::seed{2}});
  check(dp::model<net, device>{dp::seed{1}}, dp::model<net, replicas>{dp::seed{2}});
}

TEST_CASE("a moved-from or unusable model cannot be copied", "[nn]") {
  dp::model<nn::linear<6, 3>, device> model{dp::seed{4}};
  const auto moved = std::move(model);
  CHECK_THROWS_AS(dp::to<host>(model), dp::error);
  dp::model<nn::linear<6, 3>, device> broken{dp::seed{4}};
  broken.state().unusable = "a test broke it.";
  CHECK_THROWS_AS(dp::to<host>(broken), dp::error);
}

TEST_CASE("a place converts to the placement on it in tensors, models, loaders and trainers", "[nn]") {
  using dense = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
  dp::model<dense, dp::cuda<1>> model{dp::seed{1}};
  STATIC_REQUIRE(std::is_same_v<decltype(model), dp::model<dense, dp::on<dp::cuda<1>>>>);
  const dp::tensor<float, dp::extents<dp::dyn, 6>, dp::cpu> x = dp::test::integer_samples<float, 6>(10);
  const auto y = dp::test::square_labels(10, 3);
  auto batches = dp::make_loader<dp::cuda<1>>(x, y, {.batch = 5});
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  for (const auto& [samples, labels] : batches.epoch(0)) step(samples, labels);
  const auto there = dp::to<dp::cpu>(model.predict(dp::to<dp::cuda<1>>(x)));
  const auto here = dp::to<dp::cpu>(model).predict(x);
  CHECK(dp::test::values_of(there) == dp::test::values_of(here));
}
