// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// User-defined layers that use every part of the documented concept.

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/parameter.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// y = gain * x + shift for each element of a sample.
template <std::size_t N> struct affine {
  using input_extents = dp::extents<N>;
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::input;
  static constexpr std::array parameters{nn::parameter{"gain", {N}, nn::init::constant(1.5)},
                                         nn::parameter{"shift", {N}, nn::init::zeros()}};
  template <class In> static constexpr std::size_t scratch = N;

  static void forward(const auto& c) {
    const auto [gain, shift] = c.parameters();
    c.output = c.input * gain + shift;
  }
  static void backward(const auto& c) {
    c.scratch() = c.output_gradient * c.input;
    const auto [gain, shift] = c.parameter_gradients();
    dp::sum_into(gain, c.scratch(), {.accumulate = c.accumulate}, dp::axis<0>{});
    dp::sum_into(shift, c.output_gradient, {.accumulate = c.accumulate}, dp::axis<0>{});
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient * c.template parameter<0>();
  }
};

/// x squared; forward saves the derivative, and both passes use scratch memory.
struct square {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  template <class In> static constexpr std::size_t saved = In{}.size();
  template <class In> static constexpr std::size_t scratch = In{}.size();

  static void forward(const auto& c) {
    dp::copy(c.scratch(), c.input.reshape(c.scratch().extents()));
    c.saved() = c.scratch() + c.scratch();
    c.output = c.input * c.input;
  }
  static void backward(const auto& c) {
    c.input_gradient = c.output_gradient * c.saved().reshape(c.output_gradient.extents());
  }
};

/// Outputs the first element of a sample; declares to work in place.
struct shrinking {
  template <class In> using output = dp::extents<1>;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static constexpr bool in_place = true;

  static void forward(const auto& c) {
    for (std::size_t i = 0; i < c.batch(); ++i) c.output.data()[i] = c.input.data()[i * c.input.extent(1)];
  }
  static void backward(const auto& c) {
    using T = typename std::remove_cvref_t<decltype(c)>::value_type;
    for (std::size_t i = 0; i < c.batch(); ++i)
      for (std::size_t j = 0; j < c.input.extent(1); ++j)
        c.input_gradient.data()[i * c.input.extent(1) + j] = j == 0 ? c.output_gradient.data()[i] : T{0};
  }
};

/// An identity layer that counts the training passes in a buffer.
struct counting {
  using input_extents = dp::extents<6>;
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static constexpr std::array buffers{nn::parameter{"passes", {1}, nn::init::constant(10)}};

  static void forward(const auto& c) {
    c.output = 1.0 * c.input;
    if (c.mode == nn::mode::train) c.template buffer<0>() += 1.0;
  }
  static void backward(const auto& c) {
    using unkept = std::remove_cvref_t<decltype(c.output)>;  // keeps the properties of its type
    static_assert(unkept::rank == 2 && unkept::extents_type::rank == 2 &&
                  std::is_same_v<typename unkept::value_type, double>);
    c.input_gradient = 1.0 * c.output_gradient;
  }
};

}  // namespace

TEST_CASE("a user's layer with parameters trains like a built-in layer", "[nn]") {
  CHECK(nn::check_gradients<affine<4>>(dp::seed{1}).worst < 1e-7);
  using net = nn::sequential<nn::linear<3, 4>, affine<4>, nn::relu, affine<4>>;
  CHECK(nn::check_gradients<net>(dp::seed{2}).worst < 1e-7);
  CHECK(dp::model<net, dp::on<dp::cpu>>::parameter_names() ==
        std::vector<std::string>{"0.weight", "0.bias", "1.gain", "1.shift", "3.gain", "3.shift"});
}

TEST_CASE("a layer can save its own values for backward", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 5>, square, nn::linear<5, 2>, square>>(dp::seed{3}).worst <
        1e-7);
}

TEST_CASE("a layer that works in place but changes the size gets separate memory", "[nn]") {
  using last = nn::sequential<nn::linear<4, 4096>, shrinking>;
  using inside = nn::sequential<nn::linear<4, 40>, shrinking, nn::linear<1, 3>, nn::relu>;
  STATIC_REQUIRE(dp::runtime::network_plan<last>::saved_bytes(2, nn::mode::train, {4, 4, 4}) == 2 * 4096 * 4);
  CHECK(nn::check_gradients<inside>(dp::seed{4}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 40>, shrinking>>(dp::seed{5}).worst < 1e-7);
}

TEST_CASE("a layer's buffers change only in training", "[nn]") {
  using net = nn::sequential<counting, nn::linear<6, 2>>;
  dp::model<net, dp::on<dp::cpu>, double> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(3);
  const auto passes = [&] { return model.state().replicas[0].buffer_data()[0]; };
  CHECK(passes() == 10);
  static_cast<void>(model.predict(x));
  CHECK(passes() == 10);
  static_cast<void>(model.forward(x));
  static_cast<void>(model.forward(x));
  CHECK(passes() == 12);
  STATIC_REQUIRE(decltype(model)::parameter_count() == 14);
}
