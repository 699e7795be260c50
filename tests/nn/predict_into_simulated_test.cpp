// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <devplace/base/error_code.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/math.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/read_predictor.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::copies_of;
using dp::test::distribute;
using dp::test::values_of;

namespace {

using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
using host = dp::on<dp::cpu>;
using result_extents = dp::extents<dp::dyn, 3>;
constexpr std::size_t batches[] = {0, 1, 2, 3, 10, 64, 301};

auto samples(std::size_t rows) { return dp::test::integer_samples<double, 6>(rows); }

/// A model on `Where` with integer parameters, whose outputs are exact.
template <class Where> auto integer_model() {
  dp::model<net, Where, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  return model;
}

std::uint64_t allocations_of_devices() {
  return dp::memory_statistics<dp::cuda<0>>().allocations + dp::memory_statistics<dp::cuda<1>>().allocations +
         dp::memory_statistics<dp::cuda<2>>().allocations;
}

struct half_up {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = dp::floor(c.input + 0.5); }
};

/// The largest of a sample's numbers.
struct largest {
  template <class In> using output = dp::extents<1>;
  static void forward(const auto& c) { dp::max_into(c.output.select(dp::axis<1>{}, 0), c.input, dp::axis<1>{}); }
};
using largest_rounded = nn::sequential<nn::linear<6, 3>, nn::residual<half_up>, nn::frozen<largest>>;

/// Predictions of layers without backward, by a model, a predictor and predict_into.
template <class Where> std::vector<double> predictions_without_backward(std::size_t rows) {
  const dp::model<largest_rounded, Where, double> model{dp::seed{1}};
  const auto x = distribute<Where>(samples(rows), dp::split::even);
  const auto on_host = [](const auto& y) {
    if constexpr (dp::single_place<Where>)
      return values_of(y);
    else
      return values_of(dp::gather<host>(y));
  };
  const auto y = on_host(model.predict(x));
  const dp::predictor p{model, dp::batch<4>{}};
  CHECK(on_host(p.predict(x)) == y);
  return y;
}

}  // namespace

TEST_CASE("networks with layers that have no backward predict", "[nn]") {
  constexpr std::size_t rows = 10;
  const dp::model<nn::sequential<nn::linear<6, 3>>, host, double> linear{dp::seed{1}};
  const auto of_linear = linear.predict(samples(rows));
  std::vector<double> expected;
  for (std::size_t i = 0; i != rows; ++i) {
    const auto result = [&](std::size_t k) { return of_linear(i, k) + std::floor(of_linear(i, k) + 0.5); };
    expected.push_back(std::max({result(0), result(1), result(2)}));
  }
  CHECK(predictions_without_backward<host>(rows) == expected);
  CHECK(predictions_without_backward<dp::on<dp::cuda<1>>>(rows) == expected);
  CHECK(predictions_without_backward<dp::replicated<2, 0, 1>>(rows) == expected);
}

TEST_CASE("predict_into on several places gives one place's outputs, split like the batch", "[nn]") {
  using where = dp::replicated<2, 0, 1>;
  const auto one = integer_model<host>();
  const auto several = integer_model<where>();
  for (const std::size_t rows : batches) {
    const auto expected = values_of(one.predict(samples(rows)));
    const auto check = [&](const auto& rule) {
      const auto x = distribute<where>(samples(rows), rule);
      dp::tensor<double, result_extents, dp::batch_placement_t<where>> y(result_extents{rows}, rule);
      several.predict_into(y, x, dp::batch<12>{});
      CHECK(values_of(dp::gather<host>(y)) == expected);
      CHECK(values_of(dp::gather<host>(several.predict(x))) == expected);
      CHECK(values_of(dp::gather<host>(several.predict(2.0 * x - x))) == expected);
    };
    check(dp::split::even);
    check(dp::split::torch);
    check(dp::split::sizes{std::size_t{0}, rows / 3, rows - rows / 3});
    const auto copies = copies_of<where>(samples(rows));
    auto outputs = copies_of<where>(dp::tensor<double, result_extents, host>(result_extents{rows}));
    several.predict_into(outputs, copies, dp::batch<12>{});
    for (std::size_t k = 0; k < 3; ++k) CHECK(values_of(outputs.local(k)) == expected);
  }
}

TEST_CASE("predict_into on devices allocates nothing after the first call", "[nn]") {
  using where = dp::replicated<2, 0, 1>;
  const auto model = integer_model<where>();
  const auto x = distribute<where>(samples(301)), few = distribute<where>(samples(2));
  dp::tensor<double, result_extents, dp::batch_placement_t<where>> y(result_extents{301}), of_few(result_extents{2});
  model.predict_into(of_few, few, dp::batch<64>{});
  model.predict_into(y, x, dp::batch<64>{});
  const std::uint64_t before = allocations_of_devices();
  for (int i = 0; i < 3; ++i) {
    model.predict_into(y, x, dp::batch<64>{});
    model.predict_into(of_few, few, dp::batch<64>{});
  }
  CHECK(allocations_of_devices() == before);
}

TEST_CASE("predict_into rejects a result with another split", "[nn]") {
  using where = dp::replicated<2, 0, 1>;
  const auto model = integer_model<where>();
  const auto x = distribute<where>(samples(9));
  dp::tensor<double, result_extents, dp::batch_placement_t<where>> y(result_extents{9}, dp::split::sizes{1, 4, 4});
  CHECK_THROWS_WITH(model.predict_into(y, x), Catch::Matchers::ContainsSubstring("split both in the same way"));
}

TEST_CASE("try_predict_into on devices returns codes, and a device that does not exist has one, too", "[nn]") {
  using where = dp::replicated<2, 0, 1>;
  const auto model = integer_model<where>();
  const auto expected = values_of(integer_model<host>().predict(samples(9)));
  const dp::predictor predictor{model, dp::batch<6>{}};
  const auto x = distribute<where>(samples(9));
  using outputs = dp::tensor<double, result_extents, dp::batch_placement_t<where>>;
  outputs other(result_extents{9}, dp::split::sizes{1, 4, 4}), few(result_extents{8});
  const auto check = [&](const auto& by) {
    outputs y(result_extents{9});
    CHECK_FALSE(by.try_predict_into(y, x));
    CHECK(values_of(dp::gather<host>(y)) == expected);
    CHECK(by.try_predict_into(other, x) == std::errc::invalid_argument);
    CHECK(std::string(dp::last_error_message()).find("split both in the same way") != std::string::npos);
    CHECK(by.try_predict_into(few, x) == dp::errc::shape_error);
  };
  check(model);
  check(predictor);
  CHECK(dp::error_code_of([] { dp::model<net, dp::cuda<99>>{dp::seed{1}}; }) == dp::errc::placement_unavailable);
  CHECK(std::string(dp::last_error_message()).find("cuda:99") != std::string::npos);
}

TEST_CASE("predictors on devices, from a model or a file, allocate exactly the planned memory", "[nn]") {
  using where = dp::replicated<2, 0, 1>;
  using predictor_type = dp::predictor<net, where, double>;
  using plan = dp::memory_plan<predictor_type, dp::batch<64>>;
  const auto one = integer_model<host>();
  const support::temporary_folder folder;
  const std::string path = folder.file("net.safetensors");
  dp::save_parameters(one, path);
  const auto allocated = [] { return dp::memory_statistics<dp::cuda<2>>().allocated; };
  const std::size_t before = allocated();
  const predictor_type copied(one, dp::batch<64>{});
  CHECK(allocated() - before == plan::bytes);
  const auto read = dp::read_predictor<net, where, double>(path, dp::batch<64>{});
  CHECK(allocated() - before == 2 * plan::bytes);
  CHECK_THROWS_WITH((dp::read_predictor<net, where, double>(path, dp::batch<64>{}, {.renames = {{"features.", ""}}})),
                    Catch::Matchers::ContainsSubstring("features."));
  const auto expected = values_of(one.predict(samples(301)));
  const auto x = distribute<where>(samples(301));
  dp::tensor<double, result_extents, dp::batch_placement_t<where>> y(result_extents{301});
  const std::uint64_t allocations = allocations_of_devices();
  for (const auto* p : {&copied, &read}) {
    p->predict_into(y, x);
    CHECK(allocations_of_devices() == allocations);
    CHECK(values_of(dp::gather<host>(y)) == expected);
  }
}
