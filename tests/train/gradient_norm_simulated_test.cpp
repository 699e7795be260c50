// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The norm of the gradients has the same bits for every number of places and processes and for every policy. The
// gradients are integers, so that their own sums are exact.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

namespace {

using net = nn::sequential<nn::linear<6, 40>, nn::linear<40, 2>>;
using cpu = dp::on<dp::cpu>;
using each_parameter = collective::buckets<1, 1>;

/// Norms of the gradients of batches of several sizes, also with fewer samples than places.
template <class Where, class T, class Policy = collective::all_reduce<>> std::vector<double> norms() {
  dp::model<net, Where, T> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, Policy{}};
  step.measure_gradients();
  std::vector<double> result;
  for (const std::size_t rows : {7u, 1u, 33u, 12u}) {
    dp::test::set_integer_parameters(model);
    dp::tensor<T, dp::extents<dp::dyn, 2>, cpu> y(dp::extents<dp::dyn, 2>{rows});
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < 2; ++j) y(i, j) = static_cast<T>((i + 2 * j) % 5) - 2;
    step(dp::to_batch<Where>(dp::test::integer_samples<T, 6>(rows)), dp::to_batch<Where>(y));
    if (Policy::every_place_updates || !dp::spans_processes<Where> || dp::is_main_process())
      result.push_back(step.gradient_norms().item().last);
  }
  return result;
}

template <class T, class Where> void check_policies(const std::vector<double>& expected) {
  CHECK(norms<Where, T>() == expected);
  CHECK(norms<Where, T, collective::ring_all_reduce>() == expected);
  CHECK(norms<Where, T, collective::scatter_gather>() == expected);
  CHECK(norms<Where, T, collective::sharded_all_reduce<>>() == expected);
  CHECK(norms<Where, T, collective::sharded_all_reduce<collective::ring, each_parameter>>() == expected);
}
template <class T, class... Where> void check_places(const std::vector<double>& expected) {
  const auto check = [&](const std::vector<double>& found) { CHECK(found == expected); };
  (check(norms<Where, T>()), ...);
  (check(norms<Where, T, collective::sharded_all_reduce<>>()), ...);
}

template <class Where, class T, class Policy> void check_processes(int processes, const std::vector<double>& expected) {
  CHECK_NOTHROW(dp::test::in_processes(processes, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    const auto found = norms<Where, T, Policy>();
    if (!found.empty() && found != expected)
      throw std::logic_error("rank " + std::to_string(group.rank()) + " has another norm.");
  }));
}

}  // namespace

TEMPLATE_TEST_CASE("norms have the same bits for 1 to 5 places and every policy", "[train]", float, double) {
  const std::vector<double> one = norms<cpu, TestType>();
  for (const double norm : one) CHECK((std::isfinite(norm) && norm > 1));
  check_policies<TestType, dp::replicated<2, 0, 1>>(one);
  check_places<TestType, dp::replicated<0>, dp::replicated<1, 0>, dp::replicated<0, 1, 2, 3, 4>>(one);
  CHECK(norms<dp::replicated<0, 1, 2, 3>, TestType, collective::sharded_all_reduce<>>() == one);
}

TEMPLATE_TEST_CASE("norms have the same bits for every number of processes", "[train]", float, double) {
  const std::vector<double> one = norms<cpu, TestType>();
  using shares = collective::sharded_all_reduce<collective::direct, each_parameter>;
  check_processes<dp::across<cpu>, TestType, shares>(2, one);
  check_processes<dp::across<cpu>, TestType, collective::all_reduce<>>(3, one);
  check_processes<dp::across<dp::replicated<1, 0>>, TestType, shares>(2, one);
  check_processes<dp::across<dp::on<dp::cuda<0>>>, TestType, collective::scatter_gather>(2, one);
}
