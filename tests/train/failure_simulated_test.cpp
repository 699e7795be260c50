// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A failure on one replica stops the step with one error that names it. After an exception on the host before the
// update the model is unchanged and training continues as if the step had not happened. After a failure on a device,
// and after an exception during an update, the model is unusable until it is assigned a new one.

#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using three = dp::replicated<0, 1, 2>;
using cpu = dp::on<dp::cpu>;
using net =
    nn::sequential<nn::input<6>, dp::test::refusing, dp::test::explosive, nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using model_type = dp::model<net, three>;
using all_reduce = collective::all_reduce<>;
using sharded = collective::sharded_all_reduce<>;
// The engine and the policy are independent here, so one policy has another engine than `direct`.
using by_ring_to_first = collective::reduce_and_broadcast<collective::ring>;
using three_batches = dp::accumulate<3>;

constexpr std::size_t rows = 12;  // four on each of three places
const dp::optim::adam adam{.learning_rate = 0.01};

using samples_type = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::batch_placement_t<three>>;
using labels_type = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::batch_placement_t<three>>;

samples_type samples() { return distribute<three>(dp::test::integer_samples<float, 6>(rows)); }
labels_type labels() { return distribute<three>(dp::test::square_labels(rows, 3)); }
/// Labels with one out of range, in the part of one replica.
labels_type labels_bad_in(std::size_t replica) {
  auto y = dp::test::square_labels(rows, 3);
  y(4 * replica + 2) = 17;
  return distribute<three>(y);
}
samples_type samples_exploding_in(std::size_t replica) {
  auto x = dp::test::integer_samples<float, 6>(rows);
  x(4 * replica + 1, 3) = static_cast<float>(dp::test::dynamite);
  return distribute<three>(x);
}

std::string name_of(std::size_t replica) {
  return "devplace: replica " + std::to_string(replica) + " of 3 (cuda:" + std::to_string(replica) + "): ";
}

std::vector<std::vector<float>> all_parameters_of(const model_type& model) {
  return {parameters_of(model, 0), parameters_of(model, 1), parameters_of(model, 2)};
}

/// The message of the exception that a call throws, or an empty string.
template <class Exception = dp::error, class F> std::string thrown(const F& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

/// Waits for all devices, which have failed, as another caller would.
void see_failures_elsewhere() {
  CHECK_THROWS(dp::synchronize<dp::cuda<0>>());
  CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
  CHECK_THROWS(dp::synchronize<dp::cuda<2>>());
}

/// A model with its trainer, and a second pair that never throws.
template <class Policy, class Accumulate = dp::accumulate<1>> struct pair_of_trainers {
  using trainer = dp::trainer<model_type, dp::test::throwing_cross_entropy, dp::optim::adam, Policy, Accumulate>;
  model_type never_failed{dp::seed{4}}, model{dp::seed{4}};
  trainer undisturbed{never_failed, dp::test::throwing_cross_entropy{}, adam};
  trainer step{model, dp::test::throwing_cross_entropy{}, adam};
  samples_type x = samples();
  labels_type y = labels();

  void both(int steps) {
    for (int i = 0; i < steps; ++i) {
      undisturbed(x, y);
      step(x, y);
    }
  }
  void check_equal() {
    CHECK(all_parameters_of(model) == all_parameters_of(never_failed));
    CHECK(step.optimizer().steps() == undisturbed.optimizer().steps());
    CHECK(step.mean_loss() == undisturbed.mean_loss());  // without the steps that threw
    dp::check_replicas(model);
  }
};

/// Checks that every use but destruction and assignment throws.
template <class Where, class Step> void check_unusable(dp::model<net, Where>& model, const Step& step) {
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(rows));
  const std::vector<std::string> texts{thrown([&] { static_cast<void>(model.predict(x)); }),
                                       thrown([&] { static_cast<void>(model.forward(x)); }),
                                       thrown([&] { static_cast<void>(model.template parameter<0>()); }),
                                       thrown([&] { static_cast<void>(parameters_of(model)); }),
                                       thrown([&] { step(); }),
                                       thrown([&] { dp::check_replicas(model); }),
                                       thrown([&] { static_cast<void>(dp::to<cpu>(model)); }),
                                       thrown([&] { dp::optimizer another{model, adam}; })};
  for (const auto& text : texts) {
    CHECK_THAT(text, ContainsSubstring("devplace: this model cannot be used any more: "));
    CHECK_THAT(text,
               ContainsSubstring("Make a new model or copy a saved one, and make new trainers and optimizers for it."));
  }
}

/// A model, its copy saved after two steps, and the result of three more steps of the copy with a new trainer.
template <class Policy, class Accumulate = dp::accumulate<1>> struct saved_training {
  using trainer = dp::trainer<model_type, dp::test::throwing_cross_entropy, dp::optim::adam, Policy, Accumulate>;
  model_type model{dp::seed{4}};
  std::optional<trainer> step;
  samples_type x = samples();
  labels_type y = labels();
  std::optional<dp::model<net, cpu>> saved;
  std::vector<std::vector<float>> expected;

  saved_training() {
    restart();
    run(2);
    saved.emplace(dp::to<cpu>(model));
    restart();
    run(3);
    expected = all_parameters_of(model);
    assign_anew();
    run(1);  // its result is lost with the failure
  }
  void restart() { step.emplace(model, dp::test::throwing_cross_entropy{}, adam); }
  void run(int steps) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(steps) * Accumulate::batches; ++i) (*step)(x, y);
  }
  void assign_anew() {
    model = dp::to<three>(*saved);
    restart();
  }
  /// Runs a step, which returns before anything has failed; then waits until all devices are idle.
  void fail_later(std::size_t bad) {
    const labels_type bad_labels = labels_bad_in(bad);
    dp::test::held_device held(static_cast<int>(bad));
    (*step)(x, bad_labels);
    held.release();
    dp::test::let_three_devices_finish();
  }
  /// Checks that the model is unusable until a new one is assigned, and then trains bitwise as expected.
  void check_recovery() {
    check_unusable(model, [&] { (*step)(x, y); });
    CHECK_THAT(thrown([&] { step->mean_loss(); }), ContainsSubstring("cannot be used any more"));
    CHECK_THAT(thrown([&] { step->flush(); }), ContainsSubstring("cannot be used any more"));
    assign_anew();
    run(3);
    CHECK(all_parameters_of(model) == expected);
    CHECK_NOTHROW(step->mean_loss());
    dp::check_replicas(model);
  }
};

/// Trains with a rule that fails in its third step, and returns the error's text.
template <class Where, class Policy> std::string fail_in_update(const dp::test::fault& where) {
  dp::model<net, Where> model{dp::seed{4}};
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(rows));
  const auto y = distribute<Where>(dp::test::square_labels(rows, 3));
  dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::test::faulty_rule{where}, Policy{}};
  step(x, y);
  step(x, y).item();
  dp::check_replicas(model);
  const std::string text = thrown<std::exception>([&] {
    step(x, y);
    step.mean_loss();
  });
  check_unusable(model, [&] { step(x, y); });
  // The devices are usable: another model trains on them.
  dp::model<net, Where> fresh{dp::seed{4}};
  dp::trainer step_of_fresh{fresh, dp::test::throwing_cross_entropy{}, dp::test::faulty_rule{.where = {.step = 99}},
                            Policy{}};
  CHECK_NOTHROW(step_of_fresh(x, y).item());
  dp::check_replicas(fresh);
  return text;
}

}  // namespace

TEMPLATE_TEST_CASE("a bad label in one replica's part is one error, and the model is unusable until reassigned",
                   "[train]", all_reduce, sharded, by_ring_to_first) {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    const std::string expected = name_of(bad) + "cross_entropy: row 2 has the label 17";
    const labels_type bad_labels = labels_bad_in(bad);
    SECTION("noticed by item(), in replica " + std::to_string(bad)) {
      saved_training<TestType> t;
      CHECK_THAT(thrown<dp::argument_error>([&] { (*t.step)(t.x, bad_labels).item(); }), ContainsSubstring(expected));
      t.check_recovery();
    }
    SECTION("noticed by mean_loss(), in replica " + std::to_string(bad)) {
      saved_training<TestType> t;
      const std::string text = thrown<dp::argument_error>([&] {
        (*t.step)(t.x, bad_labels);
        t.step->mean_loss();
      });
      CHECK_THAT(text, ContainsSubstring(expected));
      t.check_recovery();
    }
    SECTION("noticed by the next step, in replica " + std::to_string(bad)) {
      saved_training<TestType> t;
      t.fail_later(bad);
      CHECK_THAT(thrown<dp::argument_error>([&] { (*t.step)(t.x, t.y); }), ContainsSubstring(expected));
      t.check_recovery();
    }
    SECTION("noticed after further steps were enqueued, in replica " + std::to_string(bad)) {
      saved_training<TestType> t;
      const std::string text = thrown<dp::argument_error>([&] {
        (*t.step)(t.x, bad_labels);
        t.run(3);
        t.step->mean_loss();
      });
      CHECK_THAT(text, ContainsSubstring(expected));
      t.check_recovery();
    }
    SECTION("noticed elsewhere first, in replica " + std::to_string(bad)) {
      saved_training<TestType> t;
      t.fail_later(bad);
      const auto look = [&] {
        if (bad == 0) dp::synchronize<dp::cuda<0>>();
        if (bad == 1) dp::synchronize<dp::cuda<1>>();
        if (bad == 2) dp::synchronize<dp::cuda<2>>();
      };
      CHECK_THAT(thrown<dp::argument_error>(look), ContainsSubstring("cross_entropy: row 2 has the label 17"));
      CHECK_NOTHROW(look());
      // The failure propagates to the other devices, which wait for this one in the step, and still names its origin.
      CHECK_THAT(thrown<dp::argument_error>([&] { (*t.step)(t.x, t.y); }), ContainsSubstring(expected));
      t.check_recovery();
    }
  }
}

TEMPLATE_TEST_CASE("a failure thrown to other callers on every device still leaves the model unusable", "[train]",
                   all_reduce, by_ring_to_first) {
  saved_training<TestType> t;
  t.fail_later(1);
  see_failures_elsewhere();
  t.check_recovery();
}

TEST_CASE("the loss of a failed step cannot be read, even if another caller saw the failure", "[train]") {
  saved_training<all_reduce> t;
  const labels_type bad_labels = labels_bad_in(1);
  dp::test::held_device held(1);
  const auto loss = (*t.step)(t.x, bad_labels);
  held.release();
  dp::test::let_three_devices_finish();
  see_failures_elsewhere();
  CHECK_THAT(thrown([&] { loss.item(); }), ContainsSubstring("cannot be used any more"));
  CHECK_THAT(thrown([&] { loss.item(); }), ContainsSubstring("cannot be used any more"));
  t.check_recovery();
}

TEST_CASE("a failure makes every model on its device unusable, and no other", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(rows);
  const auto y = dp::test::square_labels(rows, 3);
  dp::model<net, dp::on<dp::cuda<1>>> at_rest{dp::seed{4}};
  dp::model<net, dp::on<dp::cuda<3>>> elsewhere{dp::seed{4}};
  dp::trainer step{elsewhere, dp::test::throwing_cross_entropy{}, adam};
  const auto outputs = dp::test::values_of(elsewhere.predict(distribute<dp::on<dp::cuda<3>>>(x)));
  model_type model{dp::seed{4}};
  CHECK_THAT(
      thrown([&] { dp::trainer{model, dp::test::throwing_cross_entropy{}, adam}(samples(), labels_bad_in(1)).item(); }),
      ContainsSubstring(name_of(1)));
  check_unusable(at_rest, [&] {
    dp::trainer{at_rest, dp::test::throwing_cross_entropy{}, dp::test::faulty_rule{}, collective::scatter_gather{}};
  });
  CHECK(dp::test::values_of(elsewhere.predict(distribute<dp::on<dp::cuda<3>>>(x))) == outputs);
  CHECK_NOTHROW(step(distribute<dp::on<dp::cuda<3>>>(x), distribute<dp::on<dp::cuda<3>>>(y)).item());
}

TEMPLATE_TEST_CASE("an exception from a user's layer is nested in an error naming the replica", "[train]", all_reduce,
                   by_ring_to_first) {
  pair_of_trainers<TestType> t;
  t.both(1);
  const auto before = all_parameters_of(t.model);
  const auto check_nested = [](const auto& f, const std::string& text) {
    try {
      f();
      FAIL("nothing was thrown");
    } catch (const dp::error& e) {
      CHECK(e.what() == text);
      CHECK_THROWS_AS(std::rethrow_if_nested(e), std::runtime_error);
    }
  };
  for (std::size_t bad = 0; bad < 3; ++bad) {
    dp::test::refusing::refused = 4 * bad;
    check_nested([&] { t.step(t.x, t.y); }, name_of(bad) + "a layer threw.");
    dp::test::refusing::refused = dp::test::refusing::nowhere;
    CHECK(all_parameters_of(t.model) == before);
  }
  t.both(2);
  t.check_equal();
  // An exception on a device, in a kernel.
  check_nested([&] { t.step(samples_exploding_in(1), t.y).item(); }, name_of(1) + "a functor threw.");
  check_unusable(t.model, [&] { t.step(t.x, t.y); });
}

TEMPLATE_TEST_CASE("an exception in the middle of an accumulation restarts it", "[train]", all_reduce, sharded,
                   by_ring_to_first) {
  pair_of_trainers<TestType, three_batches> t;
  t.both(3);
  const auto before = all_parameters_of(t.model);
  t.step(t.x, t.y);
  dp::test::refusing::refused = 4;
  CHECK_THROWS_AS(t.step(t.x, t.y), dp::error);
  dp::test::refusing::refused = dp::test::refusing::nowhere;
  t.both(2);
  CHECK(all_parameters_of(t.model) == before);
  t.both(4);
  t.check_equal();
  CHECK_FALSE(t.step.flush());
}

TEMPLATE_TEST_CASE("a failure on a device in the middle of an accumulation leaves an unusable model", "[train]",
                   all_reduce, by_ring_to_first) {
  saved_training<TestType, three_batches> t;
  (*t.step)(t.x, t.y);
  CHECK_THAT(thrown<dp::argument_error>([&] { (*t.step)(t.x, labels_bad_in(1)).item(); }),
             ContainsSubstring(name_of(1)));
  t.check_recovery();
}

TEMPLATE_TEST_CASE("another pass between the batches of an accumulation is an error", "[train]", all_reduce,
                   by_ring_to_first) {
  pair_of_trainers<TestType, three_batches> t;
  t.both(3);
  const auto before = all_parameters_of(t.model);
  t.step(t.x, t.y);
  {
    auto [output, saved] = t.model.forward(t.x);
    const auto lease = t.model.backward(std::move(saved), dp::test::throwing_cross_entropy{}(output, t.y).gradient);
    CHECK_THROWS_WITH(
        t.step(t.x, t.y),
        Equals("devplace: trainer: a lease of the model's gradients still exists; destroy it, or let an optimizer "
               "take it, before the next step."));
  }
  const std::string overwritten =
      "devplace: trainer: another pass of this model ran between the batches of one accumulation and overwrote their "
      "gradients, which are dropped; call flush() before the other pass, or train with one trainer at a time.";
  CHECK_THROWS_WITH(t.step(t.x, t.y), Equals(overwritten));
  CHECK(all_parameters_of(t.model) == before);
  t.both(3);
  t.check_equal();
  {
    auto [output, saved] = t.model.forward(t.x);
    t.step(t.x, t.y);
    static_cast<void>(t.model.backward(std::move(saved), dp::test::throwing_cross_entropy{}(output, t.y).gradient));
  }
  CHECK_THROWS_WITH(t.step.flush(), Equals(overwritten));
  CHECK_FALSE(t.step.flush());
  t.step(t.x, t.y);
  static_cast<void>(t.model.forward(t.x));  // writes no gradients
  CHECK(t.step.flush());
}

TEST_CASE("the next object made on a device throws an unreported failure, and the device then works again", "[train]") {
  saved_training<all_reduce> t;
  t.fail_later(1);
  CHECK_THAT(thrown([] { model_type{dp::seed{4}}; }), ContainsSubstring(name_of(1) + "cross_entropy"));
  CHECK_NOTHROW(model_type{dp::seed{4}});
  t.check_recovery();
  t.fail_later(2);
  CHECK_THAT(thrown([&] { t.step->reset_mean_loss(); }), ContainsSubstring(name_of(2) + "cross_entropy"));
  t.check_recovery();
}

TEST_CASE("an update that fails on one place is an error that names it and leaves an unusable model", "[train]") {
  const std::string named = name_of(1) + "the rule threw.";
  CHECK(fail_in_update<three, all_reduce>({.ordinal = 1, .step = 3}) == named);
  CHECK(fail_in_update<three, all_reduce>({.ordinal = 1, .step = 3, .on_host = true}) == named);
  for (const int ordinal : {0, 1, 2})
    CHECK(fail_in_update<three, sharded>({.ordinal = ordinal, .step = 3}) ==
          name_of(static_cast<std::size_t>(ordinal)) + "the rule threw.");
  CHECK(fail_in_update<three, sharded>({.ordinal = 2, .step = 3, .on_host = true}) == name_of(2) + "the rule threw.");
}

TEST_CASE("a model whose update failed is unusable, even if another caller saw the failure", "[train]") {
  const auto x = samples();
  const auto y = labels();
  SECTION("of a trainer") {
    model_type model{dp::seed{4}};
    dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::test::faulty_rule{{.ordinal = 1, .step = 2}}};
    step(x, y);
    step(x, y);
    CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
    check_unusable(model, [&] { step(x, y); });
  }
  SECTION("of an optimizer that accumulates gradients") {
    model_type model{dp::seed{4}};
    dp::optimizer optimizer{model, dp::test::faulty_rule{{.ordinal = 1}}};
    auto [output, saved] = model.forward(x);
    auto loss = dp::test::throwing_cross_entropy{}(output, y);
    auto first = dp::synchronize(model.backward(std::move(saved), loss.gradient));
    const auto gradient = nn::output_gradient(std::move(loss.gradient.gradient));  // another loss would wait
    dp::test::held_device held(1);
    optimizer.step(model, std::move(first));
    auto [more_output, more_saved] = model.forward(x);
    auto more = dp::synchronize(model.backward(std::move(more_saved), gradient));
    held.release();
    dp::test::let_three_devices_finish();
    see_failures_elsewhere();
    CHECK_THAT(thrown([&] { optimizer.step(model, std::move(more)); }), ContainsSubstring("cannot be used any more"));
  }
}

TEST_CASE("an exception in an update is thrown before a failure on a device", "[train]") {
  const auto x = samples();
  const auto y = labels();
  model_type model{dp::seed{4}};
  dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::test::faulty_rule{}};
  step.optimizer().rule().where.step = 99;
  step(x, y).item();
  const labels_type bad_labels = labels_bad_in(2);
  dp::test::held_device held(2);
  step.optimizer().rule().where = {.ordinal = 1, .step = 2, .on_host = true, .releases = &held};
  CHECK(thrown([&] { step(x, bad_labels); }) == name_of(1) + "the rule threw.");
  CHECK_THAT(thrown([&] { static_cast<void>(model.parameter<0>()); }), ContainsSubstring("cannot be used any more"));
  dp::test::let_three_devices_finish();
  CHECK_THAT(thrown([&] { model_type{dp::seed{4}}; }), ContainsSubstring(name_of(2) + "cross_entropy"));
  check_unusable(model, [&] { step(x, y); });
}

TEST_CASE("an exception from a layer on the host names the replica", "[train]") {
  const auto x = samples();
  model_type model{dp::seed{4}};
  dp::test::refusing::refused = 4;
  CHECK(thrown([&] { static_cast<void>(model.forward(x)); }) == name_of(1) + "a layer threw.");
  dp::test::refusing::refused = 0;  // parts of predictions have no key, so all begin at 0
  CHECK(thrown([&] { static_cast<void>(model.predict(x)); }) == name_of(0) + "a layer threw.");
  dp::test::refusing::refused = dp::test::refusing::nowhere;
  CHECK_NOTHROW(model.predict(x));
}

TEST_CASE("nothing uses the results of a failed pass, even if another caller saw the failure", "[train]") {
  const auto x = samples();
  const auto exploding = samples_exploding_in(1);
  model_type model{dp::seed{4}};
  dp::optimizer optimizer{model, dp::test::faulty_rule{{.step = 99}}};
  auto [output, saved] = model.forward(x);
  const auto loss = dp::test::throwing_cross_entropy{}(output, labels());
  auto [none, lost] = model.forward(exploding);
  CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
  CHECK_THAT(thrown([&] { static_cast<void>(model.backward(std::move(lost), loss.gradient)); }),
             ContainsSubstring("cannot be used any more"));
  model = model_type{dp::seed{4}};
  CHECK_THAT(thrown([&] { static_cast<void>(model.backward(std::move(saved), loss.gradient)); }),
             ContainsSubstring("belong to another model"));
  dp::optimizer another{model, dp::test::faulty_rule{{.step = 99}}};
  auto [more_output, more_saved] = model.forward(x);
  {
    const auto more_loss = dp::test::throwing_cross_entropy{}(more_output, labels());
    auto lease = dp::synchronize(model.backward(std::move(more_saved), more_loss.gradient));
    static_cast<void>(model.predict(exploding));
    CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
    CHECK_THAT(thrown([&] { another.step(model, std::move(lease)); }), ContainsSubstring("cannot be used any more"));
  }
}

TEST_CASE("a replica that does not exist is named", "[train]") {
  model_type model{dp::seed{4}};
  CHECK_THAT(thrown<dp::argument_error>([&] { static_cast<void>(model.parameter<0>(3)); }),
             Equals("devplace: there is no replica number 3, counted from 0: the model has 3."));
}

TEST_CASE("if only the first place updates, its failure affects all places", "[train]") {
  const std::string named = name_of(0) + "the rule threw.";
  CHECK(fail_in_update<three, by_ring_to_first>({.ordinal = 0, .step = 3}) == named);
  CHECK(fail_in_update<three, by_ring_to_first>({.ordinal = 0, .step = 3, .on_host = true}) == named);
}

TEST_CASE("an update that fails on all places names the first", "[train]") {
  CHECK(fail_in_update<three, all_reduce>({.ordinal = -1, .step = 3}) == name_of(0) + "the rule threw.");
}

TEST_CASE("on one place there is no replica to name", "[train]") {
  CHECK(fail_in_update<cpu, all_reduce>({.ordinal = -1, .step = 3}) == "the rule threw.");
  CHECK(fail_in_update<dp::on<dp::cuda<1>>, collective::scatter_gather>({.ordinal = 1, .step = 3}) ==
        "the rule threw.");
}
