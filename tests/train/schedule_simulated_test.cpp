// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scheduled learning rates, trainings with them, and averages of their parameters agree with PyTorch.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace optim = devplace::optim;

namespace {

constexpr double fixture_rate = 0.03;
constexpr std::int64_t fixture_steps = 200;
using fixture_net = nn::sequential<nn::linear<6, 8>, nn::tanh, nn::linear<8, 3>>;
using scheduled_cpu = dp::on<dp::cpu>;

const auto warm_up_cosine = optim::linear{.steps = 20, .from = 0.01}.then(optim::cosine{.steps = 180});
const optim::one_cycle straight_cycle{.steps = fixture_steps,
                                      .rise = 0.2513,
                                      .first_divisor = 10,
                                      .last_divisor = 100,
                                      .linear_annealing = true,
                                      .smallest_momentum = 0.7,
                                      .largest_momentum = 0.9};

/// A user's schedule with a mistake.
struct negative_momentum {
  double rate(double base, std::int64_t) const { return base; }
  double momentum(double, std::int64_t) const { return -1; }
};

/// Checks rates and momenta of 200 steps; PyTorch computes some of them from the previous step's.
template <class Schedule> void check_schedule(const std::string& name, const Schedule& schedule) {
  const auto expected = dp::test::read_fixture<double, dp::extents<2, dp::dyn>>(std::string("schedules/").append(name));
  const optim::scheduled rule{optim::sgd{.learning_rate = fixture_rate, .momentum = 0.8}, schedule};
  REQUIRE_NOTHROW(optim::validate(rule));
  for (std::int64_t step = 0; step < fixture_steps; ++step) {
    const optim::sgd now = rule.at(step);
    INFO(name << ", step " << step);
    REQUIRE(now.learning_rate ==
            Catch::Approx(expected(0, static_cast<std::size_t>(step))).epsilon(1e-11).margin(1e-17));
    REQUIRE(now.momentum == Catch::Approx(expected(1, static_cast<std::size_t>(step))).epsilon(1e-12));
  }
}

/// Trains from a fixture's initial parameters.
template <class Where, class T, class Policy, class Rule>
void train_as_pytorch(const std::string& name, const Rule& rule, double tolerance) {
  constexpr std::size_t batch = 8;
  const std::string folder =
      std::string("schedules/").append(name).append(std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const auto read = [&]<class Extents>(const std::string& file, Extents) {
    return dp::test::read_fixture<T, Extents>(folder + file);
  };
  const auto samples = read("samples", dp::extents<dp::dyn, 6>{});
  const auto losses = read("losses", dp::extents<dp::dyn>{}), start = read("start", dp::extents<dp::dyn>{}),
             end = read("end", dp::extents<dp::dyn>{}), averages = read("average", dp::extents<dp::dyn>{}),
             norms = read("norms", dp::extents<dp::dyn>{});
  const auto labels = dp::test::read_fixture<std::int64_t, dp::extents<dp::dyn>>("schedules/labels");

  dp::model<fixture_net, scheduled_cpu, T> initial{dp::seed{1}};
  const T* next = start.data();
  initial.for_each_parameter([&](const std::string&, auto values) {
    std::copy_n(next, values.size(), values.data());
    next += values.size();
  });
  auto model = dp::to<Where>(initial);
  dp::trainer step{model, nn::cross_entropy{}, rule, Policy{}};
  dp::moving_average average{model, {.decay = 0.95}};
  step.measure_gradients();
  double sum = 0, largest = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(samples.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    average.update(model);
    const auto measured = step.gradient_norms();
    INFO(name << ", step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses(i))).epsilon(tolerance).margin(tolerance));
    const dp::gradient_norms found = measured.item();
    const auto norm = static_cast<double>(norms(i));
    sum += norm;
    largest = std::max(largest, norm);
    REQUIRE(found.last == Catch::Approx(norm).epsilon(tolerance).margin(tolerance));
    REQUIRE(found.mean == Catch::Approx(sum / static_cast<double>(i + 1)).epsilon(tolerance));
    REQUIRE(found.largest == Catch::Approx(largest).epsilon(tolerance));
    REQUIRE((found.updates == static_cast<std::int64_t>(i) + 1 && found.not_finite == 0));
  }
  CHECK(step.optimizer().steps() == fixture_steps);
  CHECK(average.updates() == fixture_steps);
  const auto compare = [&](const auto& of, const auto& expected) {
    const auto found = dp::test::parameters_of(of, dp::local_place_count<Where> - 1);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(static_cast<double>(found[i]) ==
              Catch::Approx(static_cast<double>(expected.data()[i])).margin(10 * tolerance));
  };
  compare(model, end);
  compare(average.model(), averages);
}

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const dp::argument_error& e) {
    return e.what();
  }
  return "no argument_error";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("schedules give PyTorch's learning rates and momenta", "[train]") {
  check_schedule("constant", optim::constant{.factor = 0.25, .steps = 40});
  check_schedule("linear", optim::linear{.steps = 150, .from = 0.1, .to = 0.7});
  check_schedule("cosine", optim::cosine{.steps = 120, .minimum = 0.001});
  check_schedule("step_decay", optim::step_decay{.every = 30, .factor = 0.5});
  check_schedule("function", [](std::int64_t step) { return 1 / (1 + 0.05 * static_cast<double>(step)); });
  check_schedule("warm_up_cosine", warm_up_cosine);
  check_schedule("warm_up_step_decay", optim::linear{.steps = 5}.then(optim::step_decay{.every = 50}));
  check_schedule("one_cycle", optim::one_cycle{.steps = fixture_steps});
  check_schedule("one_cycle_straight", straight_cycle);
  check_schedule("one_cycle_three_phases",
                 optim::one_cycle{.steps = fixture_steps, .rise = 0.41, .three_phases = true});
}

TEST_CASE("200 steps with a schedule, the average of their parameters, and the gradients' norms agree with PyTorch",
          "[train]") {
  const optim::adamw adamw{.learning_rate = fixture_rate, .weight_decay = 0.1};
  train_as_pytorch<scheduled_cpu, float, dp::collective::all_reduce<>>("adamw_warm_up_cosine",
                                                                       optim::scheduled{adamw, warm_up_cosine}, 2e-4);
  train_as_pytorch<dp::replicated<2, 0, 1>, double, dp::collective::sharded_all_reduce<>>(
      "adamw_one_cycle", optim::scheduled{adamw, optim::one_cycle{.steps = fixture_steps}}, 1e-9);
  const optim::sgd sgd{.learning_rate = fixture_rate, .momentum = 0.8, .weight_decay = 0.01};
  train_as_pytorch<dp::replicated<2, 0, 1>, double, dp::collective::scatter_gather>(
      "sgd_one_cycle", optim::scheduled{sgd, straight_cycle}, 1e-9);
}

TEST_CASE("docs/training.md: learning rates that follow a schedule", "[train]") {
  dp::model<fixture_net, scheduled_cpu> model{dp::seed{1}};
  const auto samples = dp::test::integer_samples<float, 6>(5);
  const auto labels = dp::test::square_labels(5, 3);

  const auto rate =
      dp::optim::linear{.steps = 10}.then(dp::optim::cosine{.steps = 90});  // a warm-up, then half a cosine
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::scheduled{dp::optim::adamw{.learning_rate = 4e-3}, rate}};

  const float first = step(samples, labels).item();
  for (int i = 0; i < 50; ++i) step(samples, labels);
  CHECK(step(samples, labels).item() < first);
}

TEST_CASE("a training resumed from a checkpoint follows its schedule", "[train]") {
  const support::temporary_folder folder;
  const auto file = folder.path() + "/checkpoint.safetensors";
  const optim::adamw adamw{.learning_rate = 0.1};
  dp::model<fixture_net, scheduled_cpu> model{dp::seed{1}}, other{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, optim::scheduled{adamw, warm_up_cosine}};
  dp::trainer resumed{other, nn::cross_entropy{},
                      optim::scheduled{adamw, optim::linear{.steps = 1}.then(optim::cosine{.steps = 1})}};
  const auto samples = dp::test::integer_samples<float, 6>(5);
  const auto labels = dp::test::square_labels(5, 3);
  for (int i = 0; i < 15; ++i) step(samples, labels);
  dp::save_checkpoint(step, {}, file);
  dp::load_checkpoint(resumed, file);
  CHECK(resumed.optimizer().rule().schedule.second.steps == 180);
  for (int i = 0; i < 15; ++i) {
    step(samples, labels);
    resumed(samples, labels);
  }
  CHECK(dp::test::parameters_of(model) == dp::test::parameters_of(other));

  // Checkpoints store options by name.
  std::vector<std::string> names;
  const auto twice = optim::linear{.steps = 1}.then(optim::linear{.steps = 2}).then(3, optim::linear{.steps = 3});
  const optim::scheduled rule{adamw, twice};
  dp::detail::for_each_option(rule, [&](const char* name, const auto&) { names.emplace_back(name); });
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::count(names.begin(), names.end(), "first second linear's steps") == 1);
}

TEST_CASE("measuring gradients changes no bits, even where gradients are infinite", "[train]") {
  dp::model<fixture_net, scheduled_cpu> model{dp::seed{1}}, measured{dp::seed{1}};
  const optim::scheduled rule{optim::adamw{.learning_rate = 0.1}, warm_up_cosine};
  dp::trainer step{model, nn::cross_entropy{}, rule}, measuring{measured, nn::cross_entropy{}, rule};
  CHECK_THROWS_WITH(measuring.gradient_norms(),
                    Catch::Matchers::ContainsSubstring("gradients are not measured before measure_gradients()"));
  measuring.measure_gradients();
  auto samples = dp::test::integer_samples<float, 6>(5);
  const auto labels = dp::test::square_labels(5, 3);
  const auto train = [&] {
    step(samples, labels);
    measuring(samples, labels);
    const auto found = dp::test::parameters_of(measured), expected = dp::test::parameters_of(model);
    return std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0;
  };
  CHECK(train());
  const auto first = measuring.gradient_norms();
  const double norm = first.item().last;
  samples(2, 3) = std::numeric_limits<float>::infinity();
  CHECK(train());
  const dp::gradient_norms after = measuring.gradient_norms().item();
  CHECK_FALSE(std::isfinite(after.last));
  CHECK((after.mean == norm && after.largest == norm));
  CHECK((after.updates == 2 && after.not_finite == 1));
  CHECK_THROWS_WITH(first.item(), Catch::Matchers::ContainsSubstring("gradient norms were read after"));
  measuring.measure_gradients();
  const dp::gradient_norms none = measuring.gradient_norms().item();
  CHECK((std::isnan(none.last) && std::isnan(none.mean) && none.largest == 0 && none.updates == 0));
}

TEST_CASE("a scheduled rule models the same concepts as the rule that it wraps", "[train]") {
  using rule = optim::decay_of_matrices<optim::scheduled<optim::adamw, optim::cosine>>;
  STATIC_REQUIRE(optim::optimizer_rule<rule>);
  STATIC_REQUIRE((optim::takes_groups<rule> && rule::skips_steps && rule::decays_matrices_alone));
  STATIC_REQUIRE(optim::optimizer_rule<optim::scheduled<optim::decay_of_matrices<optim::adamw>, optim::cosine>>);
}

TEST_CASE("schedules continue past their last step, and sequences nest", "[train]") {
  CHECK(optim::cosine{.steps = 10}.rate(2, 20) == 2);  // as in PyTorch
  CHECK(optim::linear{.steps = 10}.rate(2, 1000) == 2);
  const optim::one_cycle cycle{.steps = 10};
  CHECK(cycle.rate(2, 9) == Catch::Approx(2 / 25.0 / 1e4));
  CHECK(cycle.rate(2, 1000) == cycle.rate(2, 9));
  CHECK(cycle.momentum(0.5, 1000) == 0.95);
  CHECK(optim::one_cycle{.steps = 10, .cycle_momentum = false}.momentum(0.5, 3) == 0.5);
  const auto restarted = optim::cosine{.steps = 10}.then(cycle.then(optim::constant{.factor = 0.5, .steps = 5}));
  CHECK(restarted.rate(2, 5) == optim::cosine{.steps = 10}.rate(2, 5));
  CHECK(restarted.rate(2, 12) == cycle.rate(2, 2));
  CHECK(restarted.rate(2, 20) == 1);
  CHECK(restarted.momentum(0.5, 20) == 0.5);
  const auto three = optim::constant{.factor = 0.5, .steps = 2}
                         .then([](std::int64_t step) { return static_cast<double>(step); })
                         .then(5, cycle);
  CHECK(three.rate(3, 1) == 1.5);
  CHECK(three.rate(3, 4) == 6);
  CHECK(three.rate(3, 5) == cycle.rate(3, 0));
  CHECK(three.momentum(0.5, 4) == 0.5);
  CHECK(three.momentum(0.5, 5) == 0.95);
  const auto warm_up = optim::linear{.steps = 3}.then(optim::cosine{.steps = 4});
  CHECK(warm_up.then(cycle).until == 7);
  CHECK(warm_up.then(cycle).rate(3, 8) == warm_up.then(7, cycle).rate(3, 8));
}

TEST_CASE("a step that mixed<half> skips advances the schedule", "[train]") {
  using half_model = dp::model<fixture_net, scheduled_cpu, dp::mixed<dp::half>>;
  half_model followed{dp::seed{3}}, by_hand{dp::seed{3}};
  const optim::scheduled rule{optim::sgd{.learning_rate = 0.5}, optim::step_decay{.every = 2, .factor = 0.25}};
  dp::trainer step{followed, nn::cross_entropy{}, rule, dp::accumulate<2>{}};
  dp::trainer step_by_hand{by_hand, nn::cross_entropy{}, optim::sgd{}, dp::accumulate<2>{}};
  auto infinite = dp::test::integer_samples<float, 6>(5);
  infinite(2, 3) = std::numeric_limits<float>::infinity();
  const auto finite = dp::test::integer_samples<float, 6>(5);
  const auto labels = dp::test::square_labels(5, 3);
  // Two batches per update. The second update is skipped; the rate falls after it.
  step.measure_gradients();
  const double rates[] = {0.5, 0.5, 0.125, 0.125, 0.03125};
  for (int i = 0; i < 10; ++i) {
    step_by_hand.optimizer().rule().learning_rate = rates[i / 2];
    const auto& samples = i == 2 ? infinite : finite;
    step(samples, labels);
    step_by_hand(samples, labels);
    REQUIRE(dp::test::parameters_of(followed) == dp::test::parameters_of(by_hand));
  }
  CHECK(step.scaler().skipped_steps == 1);
  const dp::gradient_norms norms = step.gradient_norms().item();
  CHECK((norms.updates == 5 && norms.not_finite == 1));
  CHECK((norms.mean > 0 && norms.largest < 10));  // unscaled; the scale exceeds 1,000
  CHECK(step.optimizer().steps() == 5);
  CHECK(step.optimizer().rule().at(step.optimizer().steps()).learning_rate == 0.03125);
}

TEST_CASE("an invalid learning rate is rejected before the step, and training continues", "[train]") {
  dp::model<fixture_net, scheduled_cpu> model{dp::seed{3}};
  const optim::sgd sgd{.learning_rate = 0.5, .momentum = 0.8};
  dp::trainer step{model, nn::cross_entropy{},
                   optim::scheduled{sgd, [](std::int64_t i) { return i == 1 ? -1.0 : 1.0; }}};
  const auto samples = dp::test::integer_samples<float, 6>(5);
  const auto labels = dp::test::square_labels(5, 3);
  step(samples, labels);
  const auto before = dp::test::parameters_of(model);
  const auto drawn = model.state().step;
  CHECK(contains(message_of([&] { step(samples, labels); }),
                 "the schedule gives the learning rate -0.5 in step 1, counted from 0"));
  CHECK(dp::test::parameters_of(model) == before);
  CHECK(model.state().step == drawn);  // thrown before the passes, which would also change buffers
  step.optimizer().rule().schedule = [](std::int64_t) { return 0.5; };
  step(samples, labels);
  CHECK(dp::test::parameters_of(model) != before);

  const auto refused = [&](const auto& schedule) {
    return message_of([&] { optim::validate(optim::scheduled{sgd, schedule}); });
  };
  CHECK(contains(message_of([&] { optim::scheduled{sgd, negative_momentum{}}.validate_step(1); }),
                 "sgd: momentum is -1.0"));
  const optim::scheduled inner{sgd, [](std::int64_t at) { return at == 0 ? 1.0 : std::nan(""); }};
  const optim::scheduled nested{inner, [](std::int64_t) { return 0.5; }};
  nested.validate_step(1);
  CHECK(contains(message_of([&] { nested.validate_step(2); }), "the schedule gives the learning rate nan in step 1"));
  CHECK(contains(refused(optim::cosine{}), "cosine: steps is 0; it is a number of steps, at least 1."));
  CHECK(contains(refused(optim::one_cycle{.steps = 9, .rise = 2}), "one_cycle: rise is 2.0"));
  CHECK(contains(refused(optim::linear{.steps = 5}.then(optim::step_decay{})), "step_decay: every is 0"));
}
