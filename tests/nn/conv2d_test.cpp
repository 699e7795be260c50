// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

namespace {

template <class Input, class Layer> using behind = nn::sequential<Input, Layer>;

/// relu as a different type, which convolutions do not fuse.
struct separate_relu : nn::relu {};

}  // namespace

TEST_CASE("conv2d agrees with PyTorch for each of its options", "[nn]") {
  using nn::conv2d, nn::dilation, nn::groups, nn::input, nn::kernel, nn::no_bias, nn::padding, nn::stride;
  compare_with_pytorch_in_both<behind<input<2, 6, 5>, conv2d<2, 4, kernel<3>>>, dp::extents<3, 2, 6, 5>,
                               dp::extents<3, 4, 4, 3>>("convolutions/plain", {"weight", "bias"});
  compare_with_pytorch<behind<input<3, 7, 7>, conv2d<3, 5, padding<1>, kernel<3>>>, double, dp::extents<2, 3, 7, 7>,
                       dp::extents<2, 5, 7, 7>>("convolutions/padded", {"weight", "bias"});
  compare_with_pytorch<behind<input<3, 8, 7>, conv2d<3, 4, kernel<3>, stride<2>, padding<1>>>, double,
                       dp::extents<2, 3, 8, 7>, dp::extents<2, 4, 4, 4>>("convolutions/strided", {"weight", "bias"});
  compare_with_pytorch<behind<input<2, 9, 8>, conv2d<2, 3, kernel<3>, dilation<2>, padding<2>>>, double,
                       dp::extents<2, 2, 9, 8>, dp::extents<2, 3, 9, 8>>("convolutions/dilated", {"weight", "bias"});
  compare_with_pytorch<behind<input<4, 6, 6>, conv2d<4, 6, groups<2>, kernel<3>, padding<1>>>, double,
                       dp::extents<2, 4, 6, 6>, dp::extents<2, 6, 6, 6>>("convolutions/grouped", {"weight", "bias"});
  compare_with_pytorch<behind<input<3, 6, 6>, conv2d<3, 3, kernel<3>, groups<3>, stride<2>>>, double,
                       dp::extents<2, 3, 6, 6>, dp::extents<2, 3, 2, 2>>("convolutions/depthwise", {"weight", "bias"});
  compare_with_pytorch_in_both<behind<input<5, 4, 3>, conv2d<5, 6, kernel<1>, no_bias>>, dp::extents<2, 5, 4, 3>,
                               dp::extents<2, 6, 4, 3>>("convolutions/pointwise", {"weight"});
  compare_with_pytorch_in_both<behind<input<4, 9, 11>, conv2d<4, 2, dilation<2, 1>, no_bias, padding<1, 4>,
                                                              stride<3, 2>, groups<2>, kernel<2, 5>>>,
                               dp::extents<2, 4, 9, 11>, dp::extents<2, 2, 3, 8>>("convolutions/everything",
                                                                                  {"weight"});
}

TEST_CASE("conv2d's gradients agree with differences, with and without a relu after it", "[nn]") {
  using first = nn::conv2d<2, 3, nn::kernel<3, 2>, nn::stride<2, 1>, nn::padding<1>>;
  CHECK(nn::check_gradients<nn::sequential<nn::input<2, 5, 6>, first>>(dp::seed{1}).worst < 1e-7);
  using second = nn::conv2d<3, 4, nn::kernel<2>, nn::padding<1>>;
  const auto both = nn::check_gradients<nn::sequential<nn::input<2, 5, 6>, first, nn::relu, second>>(dp::seed{2});
  INFO(both.where);
  CHECK(both.worst < 1e-7);
}

TEST_CASE("a relu fused into a convolution is bitwise equal to a separate relu", "[nn]") {
  using layer = nn::conv2d<2, 5, nn::kernel<3>>;
  using next = nn::conv2d<5, 2, nn::kernel<3>>;
  STATIC_REQUIRE(layer::absorbs<nn::relu>);
  STATIC_REQUIRE(!layer::absorbs<separate_relu>);
  const auto results = [](auto net) {
    using run = dp::runtime::engine<decltype(net), float, dp::backend::cpu>;
    const int place[] = {0};
    const auto state = nn::detail::drawn_state<decltype(net), float, dp::backend::cpu>(place, 3);
    dp::runtime::require_gradients<dp::backend::cpu>(*state);
    const auto& r = state->replicas.front();
    std::vector<float> x(3 * 2 * 7 * 8), dx(x.size()), dy(3 * 2 * 3 * 4, 0.5F);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 23) / 8 - 1;
    std::vector<float> workspace(run::workspace_bytes(3, nn::mode::train) / sizeof(float));
    const auto p = run::make_pass(r, workspace.data(), 3, nn::mode::train, {});
    run::forward(p, x.data());
    run::backward(p, r, x.data(), dy.data(), false, dx.data());
    run::backward(p, r, x.data(), dy.data(), true, dx.data());
    std::vector<float> all(run::output_of(p), run::output_of(p) + dy.size());
    all.insert(all.end(), r.gradient_data(), r.gradient_data() + run::plan::parameter_elements);
    all.insert(all.end(), dx.begin(), dx.end());
    return all;
  };
  CHECK(results(nn::sequential<nn::input<2, 7, 8>, layer, nn::relu, next>{}) ==
        results(nn::sequential<nn::input<2, 7, 8>, layer, separate_relu, next>{}));
}

TEST_CASE("conv2d lists its parameters as PyTorch does", "[nn]") {
  using layer = nn::conv2d<6, 8, nn::kernel<3, 5>, nn::groups<2>>;
  STATIC_REQUIRE(layer::parameters.size() == 2);
  STATIC_REQUIRE(layer::parameters[0].shape.rank == 4);
  STATIC_REQUIRE(layer::parameters[0].shape.size() == 8 * 3 * 3 * 5);
  STATIC_REQUIRE(layer::parameters[1].shape.size() == 8);
  STATIC_REQUIRE(layer::parameters[0].init == nn::init::fan_in_uniform(3 * 3 * 5));
  STATIC_REQUIRE(layer::parameters[1].init == nn::init::fan_in_uniform(3 * 3 * 5));
  STATIC_REQUIRE(nn::conv2d<6, 8, nn::no_bias, nn::kernel<3>>::parameters.size() == 1);
  CHECK(std::string(layer::parameters[0].name) == "weight");
  CHECK(std::string(layer::parameters[1].name) == "bias");
}

TEST_CASE("conv2d's output extents agree with PyTorch", "[nn]") {
  using in = dp::extents<3, 32, 31>;
  STATIC_REQUIRE(std::is_same_v<nn::conv2d<3, 8, nn::kernel<3>>::output<in>, dp::extents<8, 30, 29>>);
  STATIC_REQUIRE(std::is_same_v<nn::conv2d<3, 8, nn::kernel<3>, nn::stride<2>>::output<in>, dp::extents<8, 15, 15>>);
  STATIC_REQUIRE(std::is_same_v<nn::conv2d<3, 8, nn::kernel<7, 3>, nn::stride<2>, nn::padding<3, 1>>::output<in>,
                                dp::extents<8, 16, 16>>);
  STATIC_REQUIRE(std::is_same_v<nn::conv2d<3, 8, nn::kernel<32, 31>>::output<in>, dp::extents<8, 1, 1>>);
}
