// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Queries of a model: its placement and its buffers.

#include <cstddef>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using support::values_of;

namespace {

using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<1>>;
using replicas = dp::replicated<2, 0, 1>;
using net =
    nn::sequential<nn::input<2>, nn::batch_norm<2>, nn::linear<2, 3>,
                   nn::residual<nn::linear<3, 3>, nn::named<"norm", nn::batch_norm<3>>>, nn::frozen<nn::batch_norm<3>>>;
using names = std::vector<std::string>;

template <class X> std::string printed(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

template <class Model> names buffer_names(const Model& model, std::size_t k = 0) {
  names result;
  model.for_each_buffer([&](const std::string& name, const auto&) { result.push_back(name); }, k);
  return result;
}

/// The values of the buffer `wanted` on place k.
template <class Model> std::vector<float> buffer(const Model& model, const std::string& wanted, std::size_t k = 0) {
  std::vector<float> result;
  model.for_each_buffer(
      [&](const std::string& name, const auto& view) {
        if (name == wanted) result = values_of(view);
      },
      k);
  return result;
}

}  // namespace

TEST_CASE("a model and a predictor know their placement", "[nn]") {
  const dp::model<net, host> model{dp::seed{1}};
  const auto on_device = dp::to<device>(model);
  const auto everywhere = dp::to<replicas>(model);
  const dp::predictor predictor{on_device, dp::batch<4>{}};
  STATIC_REQUIRE(std::is_same_v<decltype(model.placement()), host>);
  CHECK(printed(model.placement()) == "cpu");
  CHECK(printed(on_device.placement()) == "cuda:1");
  CHECK(printed(everywhere.placement()) == "replicated<cuda:2, cuda:0, cuda:1>");
  CHECK(printed(predictor.placement()) == "cuda:1");
  CHECK(predictor.placement() == on_device.placement());
  CHECK(model.placement() != on_device.placement());

  const auto x = dp::zeros<float, device>(dp::extents<2>{});
  CHECK(x.placement() == on_device.placement());
  STATIC_REQUIRE(dp::is_on<decltype(x), dp::cuda<1>>);
  STATIC_REQUIRE(dp::is_on<decltype(x.view()), dp::cuda<1>>);
  STATIC_REQUIRE_FALSE(dp::is_on<decltype(x + x), dp::cuda<0>>);
  STATIC_REQUIRE(dp::is_on<decltype(model), dp::cpu>);
  STATIC_REQUIRE_FALSE(dp::is_on<decltype(model), dp::cuda<0>>);
  STATIC_REQUIRE(dp::is_on<decltype(everywhere), dp::cuda<0>> && dp::is_on<decltype(everywhere), dp::cuda<2>>);
  STATIC_REQUIRE_FALSE(dp::is_on<decltype(everywhere), dp::cuda<3>>);
  STATIC_REQUIRE(dp::is_on<decltype(predictor), dp::cuda<1>>);
}

TEST_CASE("for_each_buffer visits all buffers by their names in PyTorch, on each place", "[nn]") {
  const dp::model<net, host> model{dp::seed{1}};
  const names expected{"1.running_mean",     "1.running_var",  "3.norm.running_mean",
                       "3.norm.running_var", "4.running_mean", "4.running_var"};
  CHECK(buffer_names(model) == expected);
  CHECK(buffer_names(dp::to<device>(model)) == expected);
  CHECK(buffer_names(dp::to<replicas>(model), 2) == expected);
  model.for_each_buffer([](const std::string& name, const auto& view) {
    STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(*view.data())>>);
    CHECK(values_of(view) == std::vector<float>(name.starts_with("1.") ? 2 : 3, name.ends_with("var") ? 1.0F : 0.0F));
  });
  const dp::model<nn::sequential<nn::linear<2, 3>>, host> without{dp::seed{1}};
  CHECK(buffer_names(without).empty());
  CHECK_THROWS_AS(buffer_names(model, 1), dp::argument_error);
}

TEMPLATE_TEST_CASE("buffers have the running statistics after a step", "[nn]", host, device, replicas) {
  dp::model<net, TestType> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125F}};
  // The first column's mean is 4, its unbiased variance 20 / 3. The first of three places has two samples, with mean 2
  // and variance 2. Buffers take over a tenth of these, and every place gets the first place's.
  const dp::tensor<float, dp::extents<dp::dyn, 2>, host> x{{1, 0}, {3, 0}, {5, 2}, {7, 2}};
  const auto y = dp::zeros<float, host>(dp::extents<dp::dyn, 3>{4});
  step(dp::test::distribute<TestType>(x), dp::test::distribute<TestType>(y));
  constexpr bool split = std::is_same_v<TestType, replicas>;
  for (std::size_t k = 0; k < dp::local_place_count<TestType>; ++k) {
    const auto mean = buffer(model, "1.running_mean", k), variance = buffer(model, "1.running_var", k);
    CHECK(mean[0] == Catch::Approx(split ? 0.2 : 0.4));
    CHECK(mean[1] == Catch::Approx(split ? 0 : 0.1));
    CHECK(variance[0] == Catch::Approx(split ? 1.1 : 0.9 + 0.1 * 20 / 3));
    CHECK(variance[1] == Catch::Approx(split ? 0.9 : 0.9 + 0.1 * 4 / 3));
  }
}

TEST_CASE("a program writes buffers on one place, and reads copies on several", "[nn]") {
  dp::model<net, device> model{dp::seed{1}};
  model.for_each_buffer(
      [](const std::string& name, auto view) { dp::fill(view, name.ends_with("var") ? 4.0F : 2.0F); });
  CHECK(buffer(model, "3.norm.running_var") == std::vector<float>{4, 4, 4});
  CHECK(buffer(dp::to<host>(model), "4.running_mean") == std::vector<float>{2, 2, 2});
  auto everywhere = dp::to<replicas>(model);
  everywhere.for_each_buffer([](const std::string&, auto view) {
    STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(*view.data())>>);
  });
  CHECK(buffer(everywhere, "1.running_mean", 1) == std::vector<float>{2, 2});
}
