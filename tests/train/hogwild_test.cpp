// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/train/hogwild.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/data/idx.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/accuracy.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using shared = dp::on<dp::shared_memory>;
using cpu = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;

template <class Net, class Where, class P> std::vector<double> parameters_of(const dp::model<Net, Where, P>& m) {
  std::vector<double> all;
  m.for_each_parameter(
      [&](const std::string&, const auto& view) { all.insert(all.end(), view.data(), view.data() + view.size()); });
  return all;
}

/// Some steps with batches of several sizes; the parameters and the mean loss.
template <class P, class Rule, class... More> std::vector<double> trained_on_both(const Rule& rule, More... more) {
  const auto train = [&]<class Where>(Where) {
    dp::model<net, Where, P> m{dp::seed{1}};
    using T = typename decltype(m)::input_type;
    dp::trainer step{m, nn::mse{}, rule, more...};
    step.clip({.max_norm = 0.5});
    for (std::size_t i = 0; i < 7; ++i) {
      const std::size_t n = 3 + i % 3;
      const dp::tensor x = dp::cast<T>(dp::uniform<float, cpu>(dp::extents<dp::dyn, 6>(n), dp::seed{i}, -1, 1));
      step(x, dp::full<T, cpu>(dp::extents<dp::dyn, 3>(n), T(0.25)));
    }
    step.flush();
    auto result = parameters_of(m);
    result.push_back(step.mean_loss());
    return result;
  };
  const auto expected = train(cpu{});
  CHECK(train(shared{}) == expected);
  return expected;
}

}  // namespace

TEST_CASE("a single trainer of a model in shared memory is bitwise equal to training on the cpu") {
  const auto by_sgd = trained_on_both<float>(dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
  const auto by_adam = trained_on_both<double>(dp::optim::adam{.learning_rate = 0.1});
  CHECK(by_sgd != by_adam);
  const auto accumulated =
      trained_on_both<float>(dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, dp::accumulate<2>{});
  CHECK(accumulated != by_sgd);
}

TEST_CASE("a step keeps the changes that other trainers make between its read and its write") {
  using one = nn::sequential<nn::linear<1, 1>>;
  dp::model<one, shared> m{dp::seed{1}};
  dp::model<one, cpu> alone{dp::seed{1}};
  // With accumulation the second trainer reads before the first trainer's update, and updates after it.
  dp::trainer first{m, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}};
  dp::trainer second{m, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}, dp::accumulate<2>{}};
  m.parameter<0>()(0, 0) = 1;
  m.parameter<1>()(0) = 0;
  const auto x = dp::full<float, cpu>(dp::extents<1, 1>{}, 1.0f), y = dp::full<float, cpu>(dp::extents<1, 1>{}, 0.0f);
  second(x, y);  // gradient 2 w = 2: a change of -0.25 for weight and bias
  first(x, y);   // the same change
  CHECK(m.parameter<0>()(0, 0) == 0.75f);
  second(x, y);
  CHECK(m.parameter<0>()(0, 0) == 0.5f);
  CHECK(m.parameter<1>()(0) == -0.5f);
}

TEST_CASE("a step that throws changes no parameters, and training continues as on the cpu") {
  dp::model<net, shared> m{dp::seed{1}};
  dp::trainer step{m, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<2>{}};
  const auto x = dp::full<float, cpu>(dp::extents<dp::dyn, 6>(4), 1.0f);
  const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(4), 1.0f);
  const auto fewer = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(3), 1.0f);
  dp::model<net, cpu> own{dp::seed{1}};
  dp::trainer expected{own, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<2>{}};
  const auto before = parameters_of(m);
  for (int i = 0; i < 3; ++i) {
    step(x, y);
    expected(x, y);
    CHECK((parameters_of(m) == before) == (i == 0));
    CHECK_THROWS_AS(step(x, fewer), dp::shape_error);
    CHECK_THROWS_AS(expected(x, fewer), dp::shape_error);
    CHECK((parameters_of(m) == before) == (i == 0));
  }
  step.flush();
  expected.flush();
  CHECK(parameters_of(m) == parameters_of(own));
}

TEST_CASE("a training is restored with its shared parameters, also after these became NaN") {
  dp::model<net, shared> m{dp::seed{1}};
  dp::trainer step{m, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
  const auto x = dp::full<float, cpu>(dp::extents<dp::dyn, 6>(4), 1.0f);
  const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(4), 1.0f);
  step(x, y);
  m.parameter<1>()(0) = 2;
  const auto before = parameters_of(m);
  const auto state = step.state();
  step(x, y);
  const auto after = parameters_of(m);
  m.parameter<0>()(0, 0) = std::numeric_limits<float>::quiet_NaN();
  step(x, y);
  step.restore(state);
  CHECK(parameters_of(m) == before);
  step(x, y);
  CHECK(parameters_of(m) == after);
}

TEST_CASE("using a moved-from trainer of a model in shared memory is an error") {
  dp::model<net, shared> m{dp::seed{1}};
  dp::trainer step{m, nn::mse{}, dp::optim::sgd{}};
  auto other = std::move(step);
  const auto x = dp::full<float, cpu>(dp::extents<dp::dyn, 6>(4), 1.0f);
  const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(4), 1.0f);
  CHECK_THROWS_WITH(step(x, y), Catch::Matchers::ContainsSubstring("this trainer was moved from"));
  CHECK_THROWS_AS(step.state(), dp::error);
  CHECK_NOTHROW(other(x, y));
}

TEST_CASE("the plan of a shared model is exact to the byte") {
  dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  using model = dp::model<net, shared>;
  using plan = dp::memory_plan<model, dp::batch<33>, dp::optim::adam>;
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  model m{dp::seed{1}};
  dp::trainer step{m, nn::mse{}, dp::optim::adam{}};
  step.prepare(33);
  CHECK(dp::memory_statistics<dp::shared_memory>().allocated == plan::shared);
  CHECK(dp::memory_statistics<dp::cpu>().allocated - before == plan::bytes - plan::shared);
}

TEST_CASE("threads train one model without locks, while another one copies it") {
  dp::model<net, shared> m{dp::seed{1}};
  const auto x = dp::uniform<float, cpu>(dp::extents<dp::dyn, 6>(16), dp::seed{2}, -1, 1);
  const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(16), 0.25f);
  const auto loss_of = [&] { return nn::mse{}(dp::to<cpu>(m).predict(x), y).loss.item(); };
  const double before = loss_of();
  std::vector<std::thread> workers;
  for (int w = 0; w < 3; ++w)
    workers.emplace_back([&] {
      dp::trainer step{m, nn::mse{}, dp::optim::sgd{.learning_rate = 0.05}};
      for (int i = 0; i < 100; ++i) step(x, y);
    });
  for (int i = 0; i < 20; ++i) CHECK(dp::to<cpu>(m).predict(x).extent(0) == 16);
  for (auto& worker : workers) worker.join();
  CHECK(loss_of() < before / 4);
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // which does not support threads in children of fork()
TEST_CASE("processes train one model of the digits to 93 % of the held-out images") {
  using digits_net = nn::sequential<nn::linear<64, 64>, nn::relu, nn::linear<64, 10>>;
  const std::string digits = DEVPLACE_TEST_DATA_DIR "/digits-";
  const auto images = dp::read_image_set(digits + "images-idx3-ubyte", digits + "labels-idx1-ubyte");
  const auto data = dp::hold_out(images, 360, dp::seed{3});
  dp::model<digits_net, shared> m{dp::seed{1}};
  const auto trained = support::in_forked_processes(3, [&](int rank) {
    dp::trainer step{m, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-2}};
    dp::loader<shared> batches{data.train, {.batch = 16, .shuffle = dp::seed{10u + static_cast<unsigned>(rank)}}};
    for (int epoch = 0; epoch < 4; ++epoch)
      for (const auto& [x, labels] : batches.epoch(epoch)) step(x, labels);
  });
  CHECK(support::failures(trained).empty());
  CHECK(dp::accuracy(m, data.test) > 0.93);
}
#endif
