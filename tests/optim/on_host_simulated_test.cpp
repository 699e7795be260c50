// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optim::on_host with gradients by hand, with programs that change parameters between steps, and with failures.

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace optim = devplace::optim;
using Catch::Matchers::ContainsSubstring;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<0>>;
using three = dp::replicated<0, 1, 2>;
constexpr optim::adam adam{.learning_rate = 0.01, .weight_decay = 0.01};
constexpr optim::sgd sgd{.learning_rate = 0.0625, .momentum = 0.5};

/// Makes one step by hand. All sums are exact, so gradients do not depend on the placement.
template <class Model> void step_by_hand(Model& model, auto& optimizer) {
  using where = typename Model::placement_type;
  const auto x = distribute<where>(dp::test::integer_samples<double, 6>(9));
  const auto y = distribute<where>(dp::test::integer_samples<double, 3>(9));
  auto [output, saved] = model.forward(x);
  auto gradients = model.backward(std::move(saved), nn::mse{.reduce = dp::reduction::sum}(output, y).gradient);
  if constexpr (dp::single_place<where>)
    optimizer.step(model, std::move(gradients));
  else
    optimizer.step(model, dp::synchronize(std::move(gradients)));
}

/// The parameters and the optimizer's state after steps, between which the program writes parameters.
template <class Where, class Rule> std::vector<std::vector<double>> steps_with_writes(const Rule& rule) {
  using model_type = dp::model<nn::linear<6, 3>, Where, double>;
  model_type model{dp::seed{1}}, other{dp::seed{2}};
  dp::test::set_integer_parameters(model);
  dp::optimizer optimizer{model, rule};
  dp::optimizer second{model, optim::plain_sgd{.learning_rate = 0.25}};
  const auto write = [&](std::size_t k) {
    const auto view = model.template parameter_only_on<1>(k);
    support::set_values(view, std::vector<double>{1, -2, 3});
  };
  step_by_hand(model, optimizer);
  step_by_hand(model, optimizer);
  for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k) write(k);
  step_by_hand(model, optimizer);
  dp::test::set_integer_parameters(other);
  model.assign(other);
  step_by_hand(model, optimizer);
  step_by_hand(model, second);
  step_by_hand(model, optimizer);
  const auto state = optimizer.state();
  step_by_hand(model, optimizer);
  optimizer.restore(state);
  step_by_hand(model, optimizer);
  if constexpr (!dp::single_place<Where>) dp::check_replicas(model);
  std::vector<std::vector<double>> found = optimizer.state().arenas;
  found.push_back(parameters_of(model, dp::local_place_count<Where> - 1));
  return found;
}

template <class Exception = dp::error, class F> std::string thrown(const F& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

using failing_net = nn::sequential<nn::input<6>, dp::test::explosive, nn::linear<6, 3>>;

}  // namespace

TEST_CASE("an optimizer on the host has the bits of the CPU, also if the program writes parameters", "[optim]") {
  const auto expected = steps_with_writes<host>(sgd);
  CHECK((steps_with_writes<device>(optim::on_host{sgd}) == expected));
  CHECK((steps_with_writes<three>(optim::on_host{sgd}) == expected));
  CHECK((steps_with_writes<device>(optim::on_host{adam}) == steps_with_writes<host>(adam)));
}

TEST_CASE("on_host has the members of its rule", "[optim]") {
  using scheduled = optim::scheduled<optim::adam, optim::cosine>;
  constexpr optim::on_host<optim::adam> rule{{.learning_rate = 0.5}};
  STATIC_REQUIRE(rule.learning_rate == 0.5);
  STATIC_REQUIRE(rule.state_arenas == 2);
  STATIC_REQUIRE(rule.skips_steps);
  STATIC_REQUIRE(optim::takes_groups<optim::on_host<optim::adam>>);
  STATIC_REQUIRE_FALSE(optim::takes_groups<optim::on_host<dp::test::faulty_rule>>);
  STATIC_REQUIRE(std::is_same_v<optim::saved_rule_t<optim::on_host<scheduled>>, scheduled>);
  dp::model<nn::linear<6, 3>, device> model{dp::seed{1}};
  CHECK_THROWS_WITH((dp::optimizer{model, optim::on_host{optim::sgd{.nesterov = true}}}),
                    ContainsSubstring("sgd: nesterov needs a momentum above 0"));
  dp::optimizer optimizer{model, rule};
  optimizer.rule().beta1 = 2;
  CHECK_THROWS_WITH(optimizer.validate(), ContainsSubstring("adam: beta1 is 2"));
}

TEST_CASE("a label that is no class leaves parameters and state on the host unchanged", "[optim]") {
  dp::model<nn::linear<6, 3>, device> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, optim::on_host{adam}};
  const auto x = dp::to<device>(dp::test::integer_samples<float, 6>(9));
  auto labels = dp::test::square_labels(9, 3);
  step(x, dp::to<device>(labels));
  const auto before = step.state();
  labels(4) = 17;
  auto loss = step(x, dp::to<device>(labels));
  CHECK_THROWS_AS(loss.item(), dp::argument_error);
  const auto after = step.state();
  CHECK(after.parameters == before.parameters);
  CHECK(after.optimizer.arenas == before.optimizer.arenas);
  CHECK(after.optimizer.step_memory == before.optimizer.step_memory);
}

TEST_CASE("a failure of a device before the update leaves the state on the host unchanged", "[optim]") {
  dp::model<failing_net, three> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, optim::on_host{adam}};
  auto samples = dp::test::integer_samples<float, 6>(12);
  const auto y = distribute<three>(dp::test::square_labels(12, 3));
  step(distribute<three>(samples), y);
  const auto before = step.state().optimizer;
  samples(9, 3) = static_cast<float>(dp::test::dynamite);  // on the last place
  const auto x = distribute<three>(samples);
  CHECK_THAT(thrown<std::exception>([&] { step(x, y); }),
             ContainsSubstring("replica 2 of 3 (cuda:2): a functor threw."));
  const auto after = step.optimizer().state();
  CHECK(after.arenas == before.arenas);
  CHECK(after.step_memory == before.step_memory);
  CHECK_THAT(thrown([&] { step(x, y); }), ContainsSubstring("one of its devices failed"));
}

TEST_CASE("an exception of a rule on the host makes the model unusable", "[optim]") {
  dp::model<nn::linear<6, 3>, three> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, optim::on_host{dp::test::faulty_rule{{.step = 2, .on_host = true}}}};
  const auto x = distribute<three>(dp::test::integer_samples<float, 6>(12));
  const auto y = distribute<three>(dp::test::square_labels(12, 3));
  step(x, y).item();
  CHECK_THAT(thrown<std::exception>([&] { step(x, y); }), ContainsSubstring("the rule threw."));
  CHECK_THAT(thrown([&] { step(x, y); }), ContainsSubstring("an exception ended an update"));
}
