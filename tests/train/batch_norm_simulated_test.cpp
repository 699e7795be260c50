// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// batch_norm over several places: with statistics over the samples of all places, whose bits do not depend on how the
// samples are divided, and with statistics of each place.

#include <cmath>
#include <cstddef>
#include <limits>
#include <ratio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/forked_group.hpp"
#include "support/random_values.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;

namespace {

using host = dp::on<dp::cpu>;
using three = dp::replicated<2, 0, 1>;
/// The gradients of all parameters are sums of integers, so no bit depends on the order of places. batch_norm occurs in
/// sequence, in a residual, and with and without positions.
using joint_net = nn::sequential<nn::input<3, 5>, nn::batch_norm<3, nn::over_all_places>, nn::tanh,
                                 nn::residual<nn::batch_norm<3, nn::over_all_places>, nn::tanh>, nn::flatten,
                                 nn::batch_norm<15, nn::over_all_places, std::ratio<1, 4>>>;

/// Numbers whose rounded sums depend on the order.
template <class Extents> auto fractions(const Extents& e, unsigned seed) {
  auto x = dp::test::random_values<float>(e, seed);
  for (std::size_t i = 0; i < x.size(); i += 5) x.data()[i] *= 1e3F;
  return x;
}

/// Parameters and running statistics of a training with two batches for each update; `place(x)` divides a batch.
template <class Where, class Policy, class Place>
std::vector<float> train_joint(const Policy& policy, const Place& place) {
  dp::model<joint_net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F, .momentum = 0.5F}, policy,
                   dp::accumulate<2>{}};
  for (unsigned i = 0; i < 5; ++i) {
    const std::size_t rows = i == 3 ? 2 : 13;
    step(place(fractions(dp::extents<dp::dyn, 3, 5>{rows}, 2 * i)),
         place(fractions(dp::extents<dp::dyn, 15>{rows}, 2 * i + 1)));
  }
  step.flush();
  dp::check_replicas(model);
  const auto here = dp::to<host>(model);
  const auto& r = here.state().replicas[0];
  std::vector<float> bits(r.parameter_data(), r.parameter_data() + r.parameters.bytes() / sizeof(float));
  bits.insert(bits.end(), r.buffer_data(), r.buffer_data() + r.buffers.bytes() / sizeof(float));
  return bits;
}

/// The same result on the CPU, in one process or in the processes of a scope.
template <class Where> std::vector<float> train_joint_on_host() {
  return train_joint<Where>(collective::all_reduce<>{}, [](const auto& x) { return dp::to_batch<Where>(x); });
}

}  // namespace

TEST_CASE("batch_norm over all places has the same bits for every division of the samples", "[train]") {
  const auto on_host = train_joint_on_host<host>();
  const auto splits = [](const auto& rule) {
    return train_joint<three>(collective::ring_all_reduce{}, [&](const auto& x) {
      return dp::scatter<dp::batch_placement_t<three>>(x, rule(x.extent(0)));
    });
  };
  CHECK(splits([](std::size_t n) { return dp::split::sizes{n - 2, 1UL, 1UL}; }) == on_host);
  CHECK(splits([](std::size_t n) { return dp::split::sizes{0UL, 1UL, n - 1}; }) == on_host);
  CHECK(splits([](std::size_t n) { return dp::split::sizes{n, 0UL, 0UL}; }) == on_host);
  CHECK_NOTHROW(dp::test::in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    if (train_joint_on_host<dp::across<host>>() != on_host) throw std::logic_error("other bits");
  }));
  for (const float x : on_host) REQUIRE(std::isfinite(x));
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("batch_norm over processes with shared memory has the same bits as in one process", "[train]") {
  const auto two = support::in_forked_group(2, train_joint_on_host<dp::across<host>>);
  const auto three = support::in_forked_group(3, train_joint_on_host<dp::across<host>>);
  const auto expected = train_joint_on_host<host>();
  CHECK(support::differences(two, expected) == "");
  CHECK(support::differences(three, expected) == "");
}
#endif

TEST_CASE("batch_norm of each place normalises that place's samples, and keeps the first place's statistics",
          "[train]") {
  using two = dp::replicated<0, 1>;
  dp::model<nn::sequential<nn::input<2>, nn::batch_norm<2>>, two> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.5F}};
  const dp::tensor<float, dp::extents<dp::dyn, 2>, host> x{{1, 5}, {3, 9}, {100, 200}, {300, 0}, {500, 100}};
  const dp::tensor<float, dp::extents<dp::dyn, 2>, host> y{{-1, -1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}};
  const auto place = [](const auto& values, std::size_t first) {
    return dp::scatter<dp::batch_placement_t<two>>(values, dp::split::sizes{first, values.extent(0) - first});
  };
  const auto running = [&] {
    dp::check_replicas(model);
    const auto here = dp::to<host>(model);
    const float* const values = here.state().replicas[0].buffer_data();
    return std::vector<float>{values[0], values[1], values[16], values[17]};
  };
  // Outputs of the first place are -1 and 1; outputs of the second place have mean 0 and mean square 1.
  CHECK(step(place(x, 2), place(y, 2)).item() == Catch::Approx(0.6).epsilon(1e-4));
  const std::vector<float> of_first{0.2F, 0.7F, 0.9F + 0.1F * 2, 0.9F + 0.1F * 8};
  for (std::size_t i = 0; i < 4; ++i) CHECK(running()[i] == Catch::Approx(of_first[i]).epsilon(1e-5));
  // A place without samples does nothing.
  CHECK(std::isfinite(step(place(x, 5), place(y, 5)).item()));
  const auto before = running();
  CHECK(std::isfinite(step(place(x, 0), place(y, 0)).item()));
  CHECK(running() == before);
}

TEST_CASE("a step without samples on the first place keeps the running statistics, also if the passes stop",
          "[train]") {
  using net = nn::sequential<nn::linear<3, 3>, nn::batch_norm<3>>;
  using without_others = nn::sequential<nn::input<3>, nn::batch_norm<3>>;
  using with_stops = nn::sequential<nn::linear<3, 3>, nn::batch_norm<3>, nn::batch_norm<3, nn::over_all_places>>;
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 3>{7}, 1);
  const auto y = dp::test::random_values<float>(dp::extents<dp::dyn, 3>{7}, 2);
  const auto check = [&]<class Net, class Where>(dp::model<Net, Where> model) {
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
    const auto place = [](const auto& values, std::size_t first, std::size_t second) {
      return dp::scatter<dp::batch_placement_t<Where>>(values.slice(0, first + second),
                                                       dp::split::sizes{first, second});
    };
    const auto running = [&] {
      const auto here = dp::to<host>(model);
      const float* const values = here.state().replicas[0].buffer_data();
      return std::vector<float>{values[0], values[1], values[2], values[16], values[17], values[18]};
    };
    step(place(x, 4, 3), place(y, 4, 3));
    const auto before = running();
    for (const float value : before) REQUIRE(std::isfinite(value));
    step(place(x, 0, 5), place(y, 0, 5));
    CHECK(running() == before);
    step(place(x, 0, 0), place(y, 0, 0));
    CHECK(running() == before);
  };
  check(dp::model<net, dp::replicated<0, 1>>{dp::seed{1}});
  check(dp::model<net, dp::fully_sharded<0, 1>>{dp::seed{1}});
  check(dp::model<without_others, dp::fully_sharded<0, 1>>{dp::seed{1}});
  check(dp::model<with_stops, dp::replicated<0, 1>>{dp::seed{1}});
}

TEST_CASE("batch_norm normalises the only sample of a place by the running statistics", "[train]") {
  using two = dp::replicated<0, 1>;
  using net = nn::sequential<nn::input<1>, nn::batch_norm<1>>;
  dp::model<net, two> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.5F}};
  const auto place = [](const std::vector<float>& values) {
    return dp::scatter<dp::batch_placement_t<two>>(
        dp::wrap(values, dp::extents<dp::dyn>(values.size())).reshape(dp::extents<dp::dyn, 1>(values.size())),
        dp::split::sizes{1UL, values.size() - 1});
  };
  // The running mean is 0 and the variance 1. The outputs are 3 on the first place, and -1 and 1 on the second one.
  CHECK(step(place({3, 7, 9}), place({3, -1, 1})).item() == Catch::Approx(0).margin(1e-8));
  // The outputs are 2, -1 and 1. Only the first of the loss's gradients 2 (output - target) / 3 is not 0: 8 / 3 for the
  // bias, and 16 / 3 for the weight. On the first place neither depends on statistics.
  CHECK(step(place({2, 5, 7}), place({-2, -1, 1})).item() == Catch::Approx(16.0 / 3).epsilon(1e-4));
  dp::check_replicas(model);
  const auto here = dp::to<host>(model);
  CHECK(here.parameter<0>()(0) == Catch::Approx(1 - 0.5 * 16 / 3).epsilon(1e-4));
  CHECK(here.parameter<1>()(0) == Catch::Approx(0 - 0.5 * 8 / 3).epsilon(1e-4));
  const float* const running = here.state().replicas[0].buffer_data();  // the first place's running statistics
  CHECK((running[0] == 0 && running[16] == 1));
}

TEST_CASE("batch_norm over all places normalises a batch of one sample by the running statistics", "[train]") {
  const auto train = []<class Where>(Where, const auto& place) {
    dp::model<joint_net, Where> model{dp::seed{1}};
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
    for (unsigned i = 0; i < 4; ++i) {
      const std::size_t rows = i % 2 == 0 ? 7 : 1;
      step(place(fractions(dp::extents<dp::dyn, 3, 5>{rows}, 2 * i)),
           place(fractions(dp::extents<dp::dyn, 15>{rows}, 2 * i + 1)));
    }
    dp::check_replicas(model);
    const auto here = dp::to<host>(model);
    const auto& r = here.state().replicas[0];
    return std::vector<float>(r.parameter_data(), r.parameter_data() + r.parameters.bytes() / sizeof(float));
  };
  const auto on_host = train(host{}, [](const auto& x) { return dp::to_batch<host>(x); });
  CHECK(train(three{}, [](const auto& x) {
          return dp::scatter<dp::batch_placement_t<three>>(x, dp::split::sizes{0UL, 1UL, x.extent(0) - 1});
        }) == on_host);
  for (const float x : on_host) REQUIRE(std::isfinite(x));
}

TEST_CASE("an epoch whose last batch has one sample trains batch_norm on every placement", "[train]") {
  using net = nn::sequential<nn::linear<4, 5>, nn::batch_norm<5>, nn::linear<5, 3>>;
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, 4>{9}, 1);
  const auto y = dp::test::random_values<float>(dp::extents<dp::dyn, 3>{9}, 2);
  const auto parameters = []<class Where>(const dp::model<net, Where>& model) {
    return dp::test::parameters_of(dp::to<host>(model));
  };
  const auto train = [&]<class Where>(Where) {
    dp::model<net, Where> model{dp::seed{1}};
    const auto before = parameters(model);
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
    auto batches = dp::make_loader<Where>(x, y, {.batch = 4});
    for (const auto& [samples, targets] : batches.epoch(0)) step(samples, targets);
    if constexpr (!std::is_same_v<Where, host>) dp::check_replicas(model);
    const auto after = parameters(model);
    CHECK(after != before);
    for (const float value : after) REQUIRE(std::isfinite(value));
    return std::pair{after, step.mean_loss()};
  };
  dp::model<net, host> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F}};
  double sum = 0;
  for (const std::size_t begin : {0u, 4u}) sum += 4 * step(x.slice(begin, begin + 4), y.slice(begin, begin + 4)).item();
  const double by_running_statistics = nn::mse{}(model.predict(x.slice(8, 9)), y.slice(8, 9)).item();
  const double last = step(x.slice(8, 9), y.slice(8, 9)).item();
  CHECK(last == Catch::Approx(by_running_statistics).epsilon(1e-5));
  const auto on_host = train(host{});
  CHECK(on_host.first == parameters(model));
  CHECK(on_host.second == Catch::Approx((sum + last) / 9).epsilon(1e-6));
  CHECK(std::isfinite(train(three{}).second));  // 2, 1 and 1; 2, 1 and 1; 1, none and none
}

TEST_CASE("memory and traffic of batch_norm over all places match the plan, and steps do not allocate", "[train]") {
  using model_type = dp::model<joint_net, three>;
  using plan = dp::memory_plan<model_type, dp::batch<12>, dp::optim::sgd, collective::ring_all_reduce>;
  const auto first = dp::memory_statistics<dp::cuda<2>>().allocated;
  dp::reset_peak_memory<dp::cuda<2>>();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1F, .momentum = 0.5F},
                   collective::ring_all_reduce{}, dp::accumulate<2>{}};
  step.prepare(12);
  const auto allocations = dp::memory_statistics<dp::cuda<2>>().allocations;
  const auto x = dp::to_batch<three>(fractions(dp::extents<dp::dyn, 3, 5>{12}, 1));
  const auto y = dp::to_batch<three>(fractions(dp::extents<dp::dyn, 15>{12}, 2));
  const auto of_batch = dp::memory_statistics<dp::cuda<2>>().allocations - allocations;
  for (int i = 0; i < 4; ++i) step(x, y);
  CHECK(dp::memory_statistics<dp::cuda<2>>().allocations == allocations + of_batch);
  const std::size_t batch_bytes = 2 * 4 * 15 * sizeof(float);
  CHECK(dp::memory_statistics<dp::cuda<2>>().peak - first == plan::bytes + batch_bytes);

  // Forward and backward each reduce 2 x 2 integers of 8 bytes for each of 3 + 3 + 15 channels.
  constexpr dp::step_traffic<model_type, collective::ring_all_reduce> traffic;
  CHECK(traffic.statistics == 2 * (2 * 2 * 8 * 21) * 2 * (3 - 1));
}
