// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fails on one replica stops the step with one error that names it. Before the update the model is untouched and
// training goes on as if the step had never been; after it the model says that it cannot be used.

#include <cstddef>
#include <exception>
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
using scatter_gather = collective::scatter_gather;
using by_ring = collective::ring_all_reduce;
using by_ring_to_first = collective::reduce_and_broadcast<collective::ring>;

constexpr std::size_t rows = 12;  // four on each of three places
const dp::optim::adam adam{.learning_rate = 0.01};

using samples_type = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::batch_placement_t<three>>;
using labels_type = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::batch_placement_t<three>>;

samples_type samples() {
  return distribute<three>(dp::test::integer_samples<float, 6>(rows));
}
labels_type labels() {
  return distribute<three>(dp::test::square_labels(rows, 3));
}
/// A label that no class has, in the part of one replica.
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

/// What a call throws, as text; empty: nothing.
template <class Exception = dp::error, class F>
std::string thrown(const F& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

/// Somebody else waits for the devices, all of which have failed.
void see_failures_elsewhere() {
  CHECK_THROWS(dp::synchronize<dp::cuda<0>>());
  CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
  CHECK_THROWS(dp::synchronize<dp::cuda<2>>());
}

/// A model and its trainer, beside another pair that never sees a failure.
template <class Policy, class Accumulate = dp::accumulate<1>>
struct pair_of_trainers {
  using trainer = dp::trainer<model_type, nn::cross_entropy, dp::optim::adam, Policy, Accumulate>;
  model_type never_failed{dp::seed{4}}, model{dp::seed{4}};
  trainer undisturbed{never_failed, nn::cross_entropy{}, adam};
  trainer step{model, nn::cross_entropy{}, adam};
  samples_type x = samples();
  labels_type y = labels();

  void both(int steps) {
    for (int i = 0; i < steps; ++i) {
      undisturbed(x, y);
      step(x, y);
    }
  }
  /// The step returns before anything has failed; then all devices come to rest.
  void fail_later(std::size_t bad, const labels_type& bad_labels) {
    dp::test::held_device held(static_cast<int>(bad));
    step(x, bad_labels);
    held.release();
    dp::test::let_three_devices_finish();
  }
  void check_equal() {
    CHECK(all_parameters_of(model) == all_parameters_of(never_failed));
    CHECK(step.optimizer().steps() == undisturbed.optimizer().steps());
    CHECK(step.mean_loss() == undisturbed.mean_loss());  // steps that were lost do not count
    dp::check_replicas(model);
  }
};

/// Checks that nothing works any more but destruction.
template <class Where, class Step>
void check_unusable(dp::model<net, Where>& model, const Step& step) {
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(rows));
  const std::vector<std::string> texts{thrown([&] { static_cast<void>(model.predict(x)); }),
                                       thrown([&] { static_cast<void>(model.forward(x)); }),
                                       thrown([&] { static_cast<void>(model.template parameter<0>()); }),
                                       thrown([&] { static_cast<void>(parameters_of(model)); }),
                                       thrown([&] { step(); }),
                                       thrown([&] { dp::check_replicas(model); }),
                                       thrown([&] { static_cast<void>(dp::to<cpu>(model)); }),
                                       thrown([&] {
                                         dp::optimizer another{model, adam};
                                       })};
  for (const auto& text : texts) {
    CHECK_THAT(text, ContainsSubstring("devplace: this model cannot be used any more: "));
    CHECK_THAT(text, ContainsSubstring("make the model anew, or copy one that was saved before."));
  }
}

/// Trains with a rule that fails in its third step, and returns the error's text.
template <class Where, class Policy>
std::string fail_in_update(const dp::test::fault& where) {
  dp::model<net, Where> model{dp::seed{4}};
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(rows));
  const auto y = distribute<Where>(dp::test::square_labels(rows, 3));
  dp::trainer step{model, nn::cross_entropy{}, dp::test::faulty_rule{where}, Policy{}};
  step(x, y);
  step(x, y).item();
  dp::check_replicas(model);
  const std::string text = thrown<std::exception>([&] {
    step(x, y);
    step.mean_loss();
  });
  check_unusable(model, [&] { step(x, y); });
  // The devices themselves are well: another model trains there.
  dp::model<net, Where> fresh{dp::seed{4}};
  dp::trainer step_of_fresh{fresh, nn::cross_entropy{}, dp::test::faulty_rule{.where = {.step = 99}}, Policy{}};
  CHECK_NOTHROW(step_of_fresh(x, y).item());
  dp::check_replicas(fresh);
  return text;
}

}  // namespace

TEMPLATE_TEST_CASE("a bad label in one replica's part is one error, and the step has never been", "[train]", all_reduce,
                   scatter_gather, by_ring, by_ring_to_first) {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    const std::string expected = name_of(bad) + "cross_entropy: row 2 has the label 17";
    const labels_type bad_labels = labels_bad_in(bad);
    SECTION("noticed by item(), in replica " + std::to_string(bad)) {
      pair_of_trainers<TestType> t;
      t.both(2);
      const auto before = all_parameters_of(t.model);
      CHECK_THAT(thrown<dp::argument_error>([&] { t.step(t.x, bad_labels).item(); }), ContainsSubstring(expected));
      CHECK(all_parameters_of(t.model) == before);
      t.both(3);
      t.check_equal();
    }
    SECTION("noticed by mean_loss(), in replica " + std::to_string(bad)) {
      pair_of_trainers<TestType> t;
      t.both(2);
      const auto before = all_parameters_of(t.model);
      const std::string text = thrown<dp::argument_error>([&] {
        t.step(t.x, bad_labels);
        t.step.mean_loss();
      });
      CHECK_THAT(text, ContainsSubstring(expected));
      CHECK(all_parameters_of(t.model) == before);
      CHECK_NOTHROW(t.step.mean_loss());
      t.both(3);
      t.check_equal();
    }
    SECTION("noticed by the next step, in replica " + std::to_string(bad)) {
      pair_of_trainers<TestType> t;
      t.both(2);
      const auto before = all_parameters_of(t.model);
      t.fail_later(bad, bad_labels);
      CHECK_THAT(thrown<dp::argument_error>([&] { t.step(t.x, t.y); }), ContainsSubstring(expected));
      CHECK(all_parameters_of(t.model) == before);
      t.both(3);
      t.check_equal();
    }
    SECTION("behind it other steps were asked for, in replica " + std::to_string(bad)) {
      pair_of_trainers<TestType> t;
      t.both(2);
      const std::string text = thrown<dp::argument_error>([&] {
        t.step(t.x, bad_labels);
        for (int i = 0; i < 3; ++i)
          t.step(t.x, t.y);
        t.step.mean_loss();
      });
      CHECK_THAT(text, ContainsSubstring(expected));
      CHECK(all_parameters_of(t.model) == all_parameters_of(t.never_failed));
      t.both(2);
      t.check_equal();
    }
    SECTION("noticed elsewhere first, in replica " + std::to_string(bad)) {
      pair_of_trainers<TestType> t;
      t.both(2);
      const auto before = all_parameters_of(t.model);
      t.fail_later(bad, bad_labels);
      const auto look = [&] {
        if (bad == 0) dp::synchronize<dp::cuda<0>>();
        if (bad == 1) dp::synchronize<dp::cuda<1>>();
        if (bad == 2) dp::synchronize<dp::cuda<2>>();
      };
      CHECK_THAT(thrown<dp::argument_error>(look), ContainsSubstring("cross_entropy: row 2 has the label 17"));
      CHECK_NOTHROW(look());
      // The others have not done their work either, and say whose fault it was.
      CHECK_THAT(thrown<dp::argument_error>([&] { t.step(t.x, t.y); }), ContainsSubstring(expected));
      CHECK(all_parameters_of(t.model) == before);
      t.both(3);
      t.check_equal();
    }
  }
}

TEMPLATE_TEST_CASE("failures that others have seen on all devices are no reason to stop", "[train]", all_reduce,
                   by_ring_to_first) {
  pair_of_trainers<TestType> t;
  t.both(2);
  t.fail_later(1, labels_bad_in(1));
  see_failures_elsewhere();
  t.both(3);
  t.check_equal();
}

TEST_CASE("a learning rate that was sent behind a failure, and lost there, is sent again", "[train]") {
  pair_of_trainers<all_reduce> t;
  t.both(2);
  t.undisturbed.optimizer().rule().learning_rate = 0.25;
  t.step.optimizer().rule().learning_rate = 0.25;
  t.fail_later(1, labels_bad_in(1));
  see_failures_elsewhere();
  t.both(3);
  t.check_equal();
}

TEST_CASE("the loss of a step that failed is no number, whoever saw the failure", "[train]") {
  pair_of_trainers<all_reduce> t;
  t.both(1);
  const auto whole = t.step(t.x, t.y);
  CHECK(whole.item() == t.undisturbed(t.x, t.y).item());
  const labels_type bad_labels = labels_bad_in(1);
  dp::test::held_device held(1);
  const auto loss = t.step(t.x, bad_labels);
  held.release();
  dp::test::let_three_devices_finish();
  see_failures_elsewhere();
  const auto lost = ContainsSubstring("the loss of this step was not computed or is not known to be");
  CHECK_THAT(thrown([&] { loss.item(); }), lost);
  CHECK_THAT(thrown([&] { loss.item(); }), lost);
  t.both(1);
  t.check_equal();
}

TEMPLATE_TEST_CASE("an exception of a user's layer is nested in an error that names the replica", "[train]", all_reduce,
                   scatter_gather) {
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
    const samples_type exploding = samples_exploding_in(bad);
    check_nested([&] { t.step(exploding, t.y).item(); }, name_of(bad) + "a functor threw.");
    CHECK(all_parameters_of(t.model) == before);
    dp::test::refusing::refused = 4 * bad;
    check_nested([&] { t.step(t.x, t.y); }, name_of(bad) + "a layer threw.");
    dp::test::refusing::refused = dp::test::refusing::nowhere;
    CHECK(all_parameters_of(t.model) == before);
  }
  t.both(2);
  t.check_equal();
}

TEMPLATE_TEST_CASE("a failure in the middle of an accumulation lets it begin anew", "[train]", all_reduce,
                   scatter_gather, by_ring) {
  pair_of_trainers<TestType, dp::accumulate<3>> t;
  t.both(3);
  const auto before = all_parameters_of(t.model);
  t.step(t.x, t.y);
  CHECK_THAT(thrown<dp::argument_error>([&] { t.step(t.x, labels_bad_in(1)).item(); }), ContainsSubstring(name_of(1)));
  t.both(2);
  CHECK(all_parameters_of(t.model) == before);
  t.both(4);
  t.check_equal();
  // On the host, while a step is asked for.
  t.step(t.x, t.y);
  dp::test::refusing::refused = 4;
  CHECK_THROWS_AS(t.step(t.x, t.y), dp::error);
  dp::test::refusing::refused = dp::test::refusing::nowhere;
  t.both(3);
  t.check_equal();
  CHECK_FALSE(t.step.flush());
}

TEMPLATE_TEST_CASE("another pass between the batches of an accumulation is an error that says so", "[train]",
                   all_reduce, scatter_gather) {
  pair_of_trainers<TestType, dp::accumulate<2>> t;
  t.both(2);
  const auto before = all_parameters_of(t.model);
  t.step(t.x, t.y);
  {
    auto [output, saved] = t.model.forward(t.x);
    const auto lease = t.model.backward(std::move(saved), nn::cross_entropy{}(output, t.y).gradient);
    CHECK_THROWS_WITH(t.step(t.x, t.y),
                      Equals("devplace: trainer: a lease of the model's gradients is still in use; let it go "
                             "before the next step."));
  }
  const std::string overwritten =
      "devplace: trainer: another pass of this model ran between the batches of one accumulation and overwrote their "
      "gradients, which are dropped; call flush() before it, or train with one trainer at a time.";
  CHECK_THROWS_WITH(t.step(t.x, t.y), Equals(overwritten));
  CHECK(all_parameters_of(t.model) == before);
  t.both(2);
  t.check_equal();
  {
    auto [output, saved] = t.model.forward(t.x);
    t.step(t.x, t.y);
    static_cast<void>(t.model.backward(std::move(saved), nn::cross_entropy{}(output, t.y).gradient));
  }
  CHECK_THROWS_WITH(t.step.flush(), Equals(overwritten));
  CHECK_FALSE(t.step.flush());
  t.step(t.x, t.y);
  static_cast<void>(t.model.forward(t.x));  // writes no gradients
  CHECK(t.step.flush());
}

TEST_CASE("nothing is made behind a failure that nobody has seen: its zeros would be skipped", "[train]") {
  pair_of_trainers<all_reduce> t;
  t.fail_later(1, labels_bad_in(1));
  CHECK_THAT(thrown([] { model_type{dp::seed{4}}; }), ContainsSubstring(name_of(1) + "cross_entropy"));
  CHECK_NOTHROW(model_type{dp::seed{4}});
  t.both(1);
  t.fail_later(1, labels_bad_in(1));
  const auto make = [&] { dp::trainer{t.never_failed, nn::cross_entropy{}, adam}; };
  CHECK_THAT(thrown(make), ContainsSubstring(name_of(1) + "cross_entropy"));
  CHECK_NOTHROW(make());
  t.both(1);
  t.fail_later(2, labels_bad_in(2));
  CHECK_THAT(thrown([&] { t.undisturbed.reset_mean_loss(); }), ContainsSubstring(name_of(2) + "cross_entropy"));
  t.both(1);
  t.check_equal();
}

TEST_CASE("an update that fails on one place is an error that names it and leaves an unusable model", "[train]") {
  const std::string named = name_of(1) + "the rule threw.";
  CHECK(fail_in_update<three, all_reduce>({.ordinal = 1, .step = 3}) == named);
  CHECK(fail_in_update<three, all_reduce>({.ordinal = 1, .step = 3, .on_host = true}) == named);
  CHECK(fail_in_update<three, by_ring>({.ordinal = 2, .step = 3}) == name_of(2) + "the rule threw.");
}

TEST_CASE("a model whose update failed is unusable, whoever saw the failure", "[train]") {
  const auto x = samples();
  const auto y = labels();
  SECTION("of a trainer") {
    model_type model{dp::seed{4}};
    dp::trainer step{model, nn::cross_entropy{}, dp::test::faulty_rule{{.ordinal = 1, .step = 2}}};
    step(x, y);
    step(x, y);
    CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
    check_unusable(model, [&] { step(x, y); });
  }
  SECTION("of an optimizer that has more gradients") {
    model_type model{dp::seed{4}};
    dp::optimizer optimizer{model, dp::test::faulty_rule{{.ordinal = 1}}};
    auto [output, saved] = model.forward(x);
    const auto loss = nn::cross_entropy{}(output, y);
    auto first = dp::synchronize(model.backward(std::move(saved), loss.gradient));
    dp::test::held_device held(1);
    optimizer.step(model, std::move(first));
    auto [more_output, more_saved] = model.forward(x);
    auto more = dp::synchronize(model.backward(std::move(more_saved), loss.gradient));
    held.release();
    dp::test::let_three_devices_finish();
    see_failures_elsewhere();
    CHECK_THAT(thrown([&] { optimizer.step(model, std::move(more)); }), ContainsSubstring("cannot be used any more"));
  }
}

TEST_CASE("an update that throws on the host after a failure elsewhere was never begun", "[train]") {
  const auto x = samples();
  const auto y = labels();
  model_type model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::test::faulty_rule{}};
  step.optimizer().rule().where.step = 99;
  step(x, y).item();
  const auto before = all_parameters_of(model);
  const labels_type bad_labels = labels_bad_in(2);
  dp::test::held_device held(2);
  step.optimizer().rule().where = {.ordinal = 1, .step = 2, .on_host = true, .releases = &held};
  CHECK(thrown([&] { step(x, bad_labels); }) == name_of(1) + "the rule threw.");
  CHECK(all_parameters_of(model) == before);
  step.optimizer().rule().where.step = 99;
  CHECK_NOTHROW(step(x, y).item());
  dp::check_replicas(model);
}

TEST_CASE("what a layer throws while the parts of a step are asked for names the replica too", "[train]") {
  const auto x = samples();
  model_type model{dp::seed{4}};
  dp::test::refusing::refused = 4;
  CHECK(thrown([&] { static_cast<void>(model.forward(x)); }) == name_of(1) + "a layer threw.");
  dp::test::refusing::refused = 0;  // of predictions, which have no key, all parts begin there
  CHECK(thrown([&] { static_cast<void>(model.predict(x)); }) == name_of(0) + "a layer threw.");
  dp::test::refusing::refused = dp::test::refusing::nowhere;
  CHECK_NOTHROW(model.predict(x));
}

TEST_CASE("nothing goes on with the results of a failed pass, whoever saw the failure", "[train]") {
  const auto x = samples();
  const auto exploding = samples_exploding_in(1);
  model_type model{dp::seed{4}};
  dp::optimizer optimizer{model, dp::test::faulty_rule{{.step = 99}}};
  auto [output, saved] = model.forward(x);
  const auto loss = nn::cross_entropy{}(output, labels());
  const auto before = all_parameters_of(model);
  auto [none, lost] = model.forward(exploding);
  CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
  CHECK_THAT(thrown([&] { static_cast<void>(model.backward(std::move(lost), loss.gradient)); }),
             ContainsSubstring("devices failed after forward had been asked for"));
  auto [more_output, more_saved] = model.forward(x);
  {
    auto lease = dp::synchronize(model.backward(std::move(more_saved), loss.gradient));
    static_cast<void>(model.predict(exploding));
    CHECK_THROWS(dp::synchronize<dp::cuda<1>>());
    CHECK_THAT(thrown([&] { optimizer.step(model, std::move(lease)); }),
               ContainsSubstring("devices failed after these gradients had been asked for"));
  }
  CHECK(all_parameters_of(model) == before);
  CHECK_THAT(thrown<dp::argument_error>([&] { static_cast<void>(model.parameter<0>(3)); }),
             Equals("devplace: there is no replica number 3 among 3, counted from 0."));
}

TEST_CASE("where the first place updates alone, its failure is all places'", "[train]") {
  const std::string named = name_of(0) + "the rule threw.";
  CHECK(fail_in_update<three, scatter_gather>({.ordinal = 0, .step = 3}) == named);
  CHECK(fail_in_update<three, scatter_gather>({.ordinal = 0, .step = 3, .on_host = true}) == named);
  CHECK(fail_in_update<three, by_ring_to_first>({.ordinal = 0, .step = 3}) == named);
}

TEST_CASE("an update that fails on all places names the first", "[train]") {
  CHECK(fail_in_update<three, all_reduce>({.ordinal = -1, .step = 3}) == name_of(0) + "the rule threw.");
}

TEST_CASE("on one place there is no replica to name", "[train]") {
  CHECK(fail_in_update<cpu, all_reduce>({.ordinal = -1, .step = 3}) == "the rule threw.");
  CHECK(fail_in_update<dp::on<dp::cuda<1>>, scatter_gather>({.ordinal = 1, .step = 3}) == "the rule threw.");
}
