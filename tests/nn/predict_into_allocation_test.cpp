// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <initializer_list>
#include <ratio>

#include <devplace/base/error.hpp>
#include <devplace/base/error_code.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/replaced_new.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net =
    nn::sequential<nn::linear<6, 40>, nn::relu, nn::dropout<std::ratio<1, 5>>,
                   nn::residual<nn::linear<40, 20>, nn::tanh, nn::linear<20, 40>>, nn::linear<40, 3>, nn::log_softmax>;

}  // namespace

TEST_CASE("a predictor on the CPU allocates nothing, even in the first prediction", "[nn]") {
  const dp::predictor<net, dp::on<dp::cpu>> p{dp::model<net, dp::on<dp::cpu>>{dp::seed{1}}, dp::batch<300>{}};
  const auto x = dp::test::integer_samples<float, 6>(5000);
  dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 3>{5000});
  const auto by_column = dp::wrap(x.data(), dp::extents<dp::dyn, 6>{5000}, {1, 5000});
  int failures = 0;
  const long before = support::allocations;
  const auto memory_before = dp::memory_statistics<dp::cpu>().allocations;
  for (const std::size_t rows : std::initializer_list<std::size_t>{7, 5000, 300, 301, 1, 0}) {
    p.predict_into(y.slice(0, rows), by_column.slice(0, rows));
    p.predict_into(y.slice(0, rows), x.slice(0, rows));
    failures += p.try_predict_into(y.slice(0, rows), by_column.slice(0, rows)) ? 1 : 0;
  }
  const long after = support::allocations;
  CHECK(failures == 0);
  CHECK(after - before == 0);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == memory_before);
}

TEST_CASE("the text of an error that try_predict_into returns is kept without an allocation", "[nn]") {
  const dp::predictor<net, dp::on<dp::cpu>> p{dp::model<net, dp::on<dp::cpu>>{dp::seed{1}}, dp::batch<300>{}};
  const auto x = dp::test::integer_samples<float, 6>(7);
  dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 3>{6});
  const auto allocations_of = [](const auto& call) {
    const long before = support::allocations;
    call();
    return support::allocations - before;
  };
  const auto thrown = [&] {
    try {
      p.predict_into(y, x);
    } catch (const dp::shape_error&) {
    }
  };
  bool failed = false;
  const auto returned = [&] { failed = p.try_predict_into(y, x) == dp::errc::shape_error; };
  CHECK(allocations_of(returned) == allocations_of(thrown));
  CHECK(failed);
}

TEST_CASE("predict_into on the CPU allocates nothing after the first call, for any number of rows", "[nn]") {
  const dp::model<net, dp::on<dp::cpu>> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<float, 6>(5000);
  dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 3>{5000});
  const auto by_column = dp::wrap(x.data(), dp::extents<dp::dyn, 6>{5000}, {1, 5000});
  int failures = 0;
  const auto predict = [&](std::size_t rows) {
    model.predict_into(y.slice(0, rows), x.slice(0, rows));
    model.predict_into(y.slice(0, rows), by_column.slice(0, rows));
    model.predict_into(y.slice(0, rows), x.slice(0, rows), dp::batch<300>{});
    failures += model.try_predict_into(y.slice(0, rows), x.slice(0, rows)) ? 1 : 0;
  };
  predict(1);  // plans a whole tile
  const long before = support::allocations;
  const auto memory_before = dp::memory_statistics<dp::cpu>().allocations;
  for (const std::size_t rows : std::initializer_list<std::size_t>{5000, 1024, 1025, 64, 7, 1, 0}) predict(rows);
  const long after = support::allocations;
  CHECK(failures == 0);
  CHECK(after - before == 0);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == memory_before);
}
