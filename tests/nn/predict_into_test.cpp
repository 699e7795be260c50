// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/base/error_code.hpp>
#include <devplace/memory/report.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/tensor/wrap.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::values_of;

namespace {

using host = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
using matrix = dp::tensor<double, dp::extents<dp::dyn, 3>, host>;
constexpr std::size_t batches[] = {0, 1, 7, 8, 9, 64, 1024, 1025, 2500};

/// The elements of a view of any layout.
template <class View> std::vector<double> elements(const View& x) { return values_of(dp::to<host>(x)); }

/// The exact outputs of `net` with these integer parameters, by definition.
template <class Model> std::vector<double> outputs_by_definition(const Model& model, std::size_t rows) {
  const auto x = dp::test::integer_samples<double, 6>(rows);
  const auto w0 = model.template parameter<0>();
  const auto w1 = model.template parameter<2>();
  const auto b0 = model.template parameter<1>();
  const auto b1 = model.template parameter<3>();
  std::vector<double> result;
  for (std::size_t row = 0; row < rows; ++row) {
    double hidden[5];
    for (std::size_t j = 0; j < 5; ++j) {
      double sum = b0(j);
      for (std::size_t i = 0; i < 6; ++i) sum += w0(j, i) * x(row, i);
      hidden[j] = sum > 0 ? sum : 0;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = b1(k);
      for (std::size_t j = 0; j < 5; ++j) sum += w1(k, j) * hidden[j];
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("predict and predict_into work for any number of rows and any tile", "[nn]") {
  dp::model<net, host, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  for (const std::size_t rows : batches) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto expected = outputs_by_definition(model, rows);
    CHECK(values_of(model.predict(x)) == expected);
    matrix y(dp::extents<dp::dyn, 3>{rows});
    const auto check = [&](auto... tile) {
      y = y * 0.0 - 77.0;
      model.predict_into(y, x, tile...);
      CHECK(values_of(y) == expected);
    };
    check();
    check(dp::batch<1>{});
    check(dp::batch<8>{});
    check(dp::batch<4096>{});
  }
}

TEST_CASE("predict_into accepts views of any layout, and writes nothing else", "[nn]") {
  dp::model<net, host, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  constexpr std::size_t rows = 21, fields = 11;
  const auto x = dp::test::integer_samples<double, 6>(rows);
  const auto expected = outputs_by_definition(model, rows);
  std::vector<double> cells(rows * fields, -5.0);  // an array of structures: 6 inputs, one other, 3 outputs, one other
  const auto all = dp::wrap(cells, dp::extents<dp::dyn, fields>{rows});
  const auto inputs = all.slice(dp::axis<1>{}, 0, 6), outputs = all.slice(dp::axis<1>{}, 7, 10);
  dp::copy(inputs, x);
  model.predict_into(outputs, inputs, dp::batch<8>{});
  CHECK(elements(outputs) == expected);
  CHECK(elements(inputs) == values_of(x));
  CHECK(values_of(model.predict(inputs)) == expected);
  for (std::size_t row = 0; row < rows; ++row) {
    CHECK(all(row, 6) == -5.0);
    CHECK(all(row, 10) == -5.0);
  }
  std::vector<double> columns(6 * rows), results(3 * rows + 1);  // an unaligned structure of arrays
  const auto by_column = dp::wrap(columns.data(), dp::extents<dp::dyn, 6>{rows}, {1, rows});
  dp::copy(by_column, x);
  const auto unaligned = dp::wrap(results.data() + 1, dp::extents<dp::dyn, dp::dyn>{rows, 3});
  model.predict_into(unaligned, by_column, dp::batch<8>{});
  CHECK(values_of(unaligned) == expected);
  const auto results_by_column = dp::wrap(results.data(), dp::extents<dp::dyn, 3>{rows}, {1, rows});
  model.predict_into(results_by_column, x);
  CHECK(elements(results_by_column) == expected);
}

TEST_CASE("predict_into accepts samples with several axes", "[nn]") {
  using images = nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
  dp::model<images, host, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  const auto x = dp::test::integer_samples<double, 6>(9);
  const auto turned = dp::to<host>(
      x.view().reshape(dp::extents<dp::dyn, 2, 3>{9}).permute(dp::axis<2>{}, dp::axis<1>{}, dp::axis<0>{}));  // 3x2x9
  matrix y(dp::extents<dp::dyn, 3>{9});
  model.predict_into(y, turned.view().permute(dp::axis<2>{}, dp::axis<1>{}, dp::axis<0>{}), dp::batch<4>{});
  CHECK(values_of(y) == outputs_by_definition(model, 9));
}

TEST_CASE("predict_into copies for a network that only reshapes", "[nn]") {
  const dp::model<nn::sequential<nn::input<2, 3>, nn::flatten>, host> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<float, 6>(9);
  dp::tensor<float, dp::extents<dp::dyn, 6>, host> y(dp::extents<dp::dyn, 6>{9});
  model.predict_into(y, x.view().reshape(dp::extents<dp::dyn, 2, 3>{9}), dp::batch<4>{});
  CHECK(values_of(y) == values_of(x));
}

TEST_CASE("predict_into rejects results of other extents, or in the batch's memory", "[nn]") {
  const dp::model<nn::sequential<nn::linear<6, 6>, nn::tanh>, host, double> model{dp::seed{1}};
  auto x = dp::test::integer_samples<double, 6>(9);
  const dp::tensor<double, dp::dextents<2>, host> wide(dp::dextents<2>{9, 7});
  dp::tensor<double, dp::dextents<2>, host> y(dp::dextents<2>{8, 6});
  CHECK_THROWS_WITH(model.predict_into(y, x), Catch::Matchers::StartsWith("devplace: predict_into: the result is 8x6"));
  CHECK_THROWS_WITH(model.predict_into(x, x), Catch::Matchers::ContainsSubstring("shares memory with the batch"));
  CHECK_THROWS_AS(model.predict_into(y, wide.slice(0, 8)), dp::shape_error);
}

TEST_CASE("try_predict_into returns the error of predict_into as a code, with its text", "[nn]") {
  const auto x = dp::test::integer_samples<double, 6>(9);
  const auto check = [&](auto model, auto& predictor) {
    const auto predicts = [&](const auto& by, auto... tile) {
      matrix y(dp::extents<dp::dyn, 3>{9}), few(dp::extents<dp::dyn, 3>{8});
      CHECK_FALSE(by.try_predict_into(y, x, tile...));
      CHECK(values_of(y) == outputs_by_definition(model, 9));
      CHECK_FALSE(by.try_predict_into(few, x.slice(1, 9), tile...));
      CHECK(values_of(few) == elements(y.slice(1, 9)));
      CHECK(by.try_predict_into(few, x, tile...) == dp::errc::shape_error);
      const std::string text = dp::last_error_message();
      CHECK_THROWS_WITH(by.predict_into(few, x, tile...), text);
      CHECK(text.find("devplace: predict_into: the result is 8x3, and") == 0);
    };
    predicts(model);
    predicts(model, dp::batch<4>{});
    predicts(predictor);
    matrix y(dp::extents<dp::dyn, 3>{9});
    STATIC_REQUIRE(noexcept(model.try_predict_into(y, x)));
    STATIC_REQUIRE(noexcept(predictor.try_predict_into(y, x)));
    const auto moved = std::move(model);
    CHECK(model.try_predict_into(y, x) == dp::errc::error);
    CHECK(std::string(dp::last_error_message()).find("moved from") != std::string::npos);
  };
  dp::model<net, host, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  const dp::predictor predictor{model, dp::batch<4>{}};
  check(std::move(model), predictor);
  const dp::model<nn::sequential<nn::linear<6, 6>>, host, double> square{dp::seed{1}};
  auto same = x.clone();
  CHECK(square.try_predict_into(same, same) == std::errc::invalid_argument);
  CHECK(values_of(same) == values_of(x));
}

TEST_CASE("memory_plan of a model and a batch equals the memory of its predictions", "[nn]") {
  using model_type = dp::model<net, host>;
  using plan = dp::memory_plan<model_type, dp::batch<100>>;
  const auto x = dp::test::integer_samples<float, 6>(250);
  dp::tensor<float, dp::extents<dp::dyn, 3>, host> y(dp::extents<dp::dyn, 3>{250});
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  const model_type model{dp::seed{1}};
  for (int i = 0; i < 3; ++i) model.predict_into(y, x, dp::batch<100>{});
  CHECK(dp::memory_statistics<dp::cpu>().allocated - before == plan::bytes);
  STATIC_REQUIRE(plan::bytes == plan::parameters + plan::working_copy + plan::buffers + plan::activations + plan::sums);
}

TEST_CASE("a model that only predicts has no gradients, and gets them when it is trained", "[nn]") {
  const auto of_gradients = [] { return dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::gradients); };
  using model_type = dp::model<net, host, double>;
  constexpr std::size_t gradients = dp::memory_plan<model_type, dp::batch<4>, dp::optim::sgd>::gradients;
  const std::size_t before = of_gradients();
  model_type model{dp::seed{1}}, trained{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(4);
  CHECK(model.predict(x).extent(0) == 4);
  CHECK(of_gradients() == before);
  const dp::trainer step{trained, nn::cross_entropy{}, dp::optim::sgd{}};
  CHECK(of_gradients() == before + gradients);
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(output, dp::test::square_labels(4, 3));
  CHECK(of_gradients() == before + gradients);
  const auto lease = model.backward(std::move(saved), gradient);
  CHECK(of_gradients() == before + 2 * gradients);
}

TEST_CASE("threads predict with one model at the same time", "[nn][threads]") {
  dp::model<net, host, double> model{dp::seed{1}};
  dp::test::set_integer_parameters(model);
  const dp::model<net, host, double>& shared = model;
  const auto x = dp::test::integer_samples<double, 6>(40);
  const auto expected = outputs_by_definition(model, 40);
  std::vector<int> right(4, 0);
  std::vector<std::thread> threads;
  for (int& count : right)
    threads.emplace_back([&] {
      matrix y(dp::extents<dp::dyn, 3>{40});
      for (int i = 0; i < 50; ++i) {
        shared.predict_into(y, x, dp::batch<16>{});
        count += values_of(y) == expected ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 50));
}
