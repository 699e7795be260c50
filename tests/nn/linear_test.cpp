// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "nn/noting_backend.hpp"
#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// relu as a different type, which linear does not fuse.
struct separate_relu : nn::relu {};

/// The gradient arena after two accumulated passes, followed by the gradient of the input.
template <class Net> std::vector<float> gradients_of(std::size_t batch) {
  using run = dp::runtime::engine<Net, float, dp::backend::cpu>;
  constexpr std::size_t outputs = typename run::output_extents{}.size();
  const int place[] = {0};
  const auto state = nn::detail::drawn_state<Net, float, dp::backend::cpu>(place, 3);
  dp::runtime::require_gradients<dp::backend::cpu>(*state);
  const auto& r = state->replicas.front();
  std::vector<float> x(batch * typename run::input_extents{}.size()), dy(batch * outputs), dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 23) / 8 - 1;
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i * 29 % 19) / 8 - 1;
  std::vector<float> workspace(run::workspace_bytes(batch, nn::mode::train) / sizeof(float));
  const auto p = run::make_pass(r, workspace.data(), batch, nn::mode::train, {});
  run::forward(p, x.data());
  run::backward(p, r, x.data(), dy.data(), false, dx.data());
  run::backward(p, r, x.data(), dy.data(), true, dx.data());
  std::vector<float> all(r.gradient_data(), r.gradient_data() + run::plan::parameter_elements);
  all.insert(all.end(), dx.begin(), dx.end());
  return all;
}

}  // namespace

TEST_CASE("a fused relu has bitwise the gradients of a separate relu", "[nn]") {
  using in_the_middle = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
  using in_two_layers = nn::sequential<nn::linear<6, 5>, separate_relu, nn::linear<5, 3>>;
  CHECK(gradients_of<in_the_middle>(70) == gradients_of<in_two_layers>(70));
  using at_the_end = nn::sequential<nn::linear<6, 5, false>, nn::relu, nn::linear<5, 5>, nn::relu>;
  using also_in_two = nn::sequential<nn::linear<6, 5, false>, separate_relu, nn::linear<5, 5>, separate_relu>;
  CHECK(gradients_of<at_the_end>(3) == gradients_of<also_in_two>(3));
  STATIC_REQUIRE(nn::linear<6, 5>::absorbs<nn::relu>);
  STATIC_REQUIRE(!nn::linear<6, 5>::absorbs<separate_relu>);
}

TEST_CASE("linear maps the last axis of samples with several axes", "[nn]") {
  using of_tokens = nn::sequential<nn::input<2, 7, 3>, nn::linear<3, 5>, nn::relu, nn::linear<5, 4, false>>;
  using of_vectors = nn::sequential<nn::input<3>, nn::linear<3, 5>, nn::relu, nn::linear<5, 4, false>>;
  STATIC_REQUIRE(std::is_same_v<nn::network_output_t<of_tokens>, dp::extents<2, 7, 4>>);
  CHECK(gradients_of<of_tokens>(5) == gradients_of<of_vectors>(70));
  dp::test::compare_with_pytorch_in_both<nn::sequential<nn::input<3, 4>, nn::linear<4, 5>>, dp::extents<2, 3, 4>,
                                         dp::extents<2, 3, 5>>("attention/linear_axes", {"weight", "bias"});
}

namespace {

template <class Precision> std::vector<dp::detail::product_math> products_of() {
  using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 5>>;
  using run = dp::runtime::engine<net, Precision, dp::test::noting>;
  using element = dp::element_of_t<Precision>;
  std::vector<element> memory(8000);
  const auto part = [&](std::size_t k) {
    return memory.data() + 1000 * k;
  };  // products reject results that overlap operands
  dp::runtime::pass<Precision> p;
  p.batch = 2, p.mode = nn::mode::train;
  p.parameters = p.buffers = part(0);
  p.master_parameters = p.parameters;
  p.saved = reinterpret_cast<std::byte*>(part(1));
  p.scratch = reinterpret_cast<std::byte*>(part(2));
  dp::test::noted.clear();
  run::forward(p, part(3));
  run::plan::template backward<dp::test::noting, element>(
      p, {part(3), part(4), part(5), nullptr, part(6), part(7), false, nullptr});
  return dp::test::noted;
}

}  // namespace

TEST_CASE("all products of a network use its precision, forward and backward", "[nn]") {
  using dp::detail::product_math;
  CHECK(products_of<dp::tf32>() == std::vector<product_math>(6, product_math::tf32));
  CHECK(products_of<float>() == std::vector<product_math>(6, product_math::strict));
  CHECK(products_of<double>() == std::vector<product_math>(6, product_math::strict));
}

TEST_CASE("linear agrees with PyTorch, with and without bias", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::linear<7, 4>, dp::extents<5, 7>, dp::extents<5, 4>>("linear_bias",
                                                                                                 {"weight", "bias"});
  dp::test::compare_with_pytorch_in_both<nn::linear<7, 4, false>, dp::extents<5, 7>, dp::extents<5, 4>>(
      "linear_no_bias", {"weight"});
}

TEST_CASE("linear's gradients agree with differences, also at edge sizes", "[nn]") {
  CHECK(nn::check_gradients<nn::linear<3, 4>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<1, 1>>(dp::seed{2}, 1).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<17, 1>>(dp::seed{3}, 2).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<1, 10, false>>(dp::seed{4}, 5).worst < 1e-7);
}

TEST_CASE("linear lists its parameters as PyTorch does", "[nn]") {
  using layer = nn::linear<784, 256>;
  STATIC_REQUIRE(layer::parameters.size() == 2);
  STATIC_REQUIRE(layer::parameters[0].shape.size() == 784 * 256);
  STATIC_REQUIRE(layer::parameters[1].shape.size() == 256);
  STATIC_REQUIRE(layer::parameters[0].init == nn::init::uniform(1.0 / 28));
  STATIC_REQUIRE(nn::linear<784, 256, false>::parameters.size() == 1);
  CHECK(std::string(layer::parameters[0].name) == "weight");
  CHECK(std::string(layer::parameters[1].name) == "bias");
}
