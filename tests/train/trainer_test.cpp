// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/sanitizers.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
template <class T> using cpu_model = dp::model<net, dp::on<dp::cpu>, T>;

template <class Model> std::vector<double> all_parameters(const Model& model) {
  std::vector<double> values;
  model.for_each_parameter([&](const std::string&, auto view) {
    for (std::size_t i = 0; i < view.size(); ++i) values.push_back(static_cast<double>(view.data()[i]));
  });
  return values;
}

/// A user's loss that passes its arguments on and then doubles the sums.
struct doubled_cross_entropy : nn::cross_entropy {
  template <class T> struct bound : nn::cross_entropy::bound<T> {
    void into(const auto& sums, const auto&... others) const {
      nn::cross_entropy::bound<T>::into(sums, others...);
      sums.data()[0] *= 2;
    }
  };
  template <class T, class Backend> bound<T> bind(int ordinal) const {
    return {nn::cross_entropy::bind<T, Backend>(ordinal)};
  }
  auto operator()(const auto& logits, const auto& labels) const { return nn::evaluate_loss(*this, logits, labels); }
};

}  // namespace

TEMPLATE_TEST_CASE("a trainer's step is bitwise equal to its single steps", "[train]", FLOATING_TYPES) {
  const auto x = dp::test::integer_samples<TestType, 6>(13);
  const auto y = dp::test::square_labels(13, 3);
  cpu_model<TestType> planned{dp::seed{7}}, by_hand{dp::seed{7}};
  const nn::cross_entropy loss{.label_smoothing = 0.1, .class_weights = {1, 2, 0.5}};
  dp::trainer step{planned, loss, dp::optim::adam{.learning_rate = 0.01}};
  dp::optimizer optimizer{by_hand, dp::optim::adam{.learning_rate = 0.01}};
  for (int i = 0; i < 5; ++i) {
    const auto planned_loss = step(x, y).item();
    auto [output, saved] = by_hand.forward(x);
    auto [value, gradient] = loss(output, y);
    auto gradients = by_hand.backward(std::move(saved), gradient);
    optimizer.step(by_hand, dp::synchronize(std::move(gradients)));
    CHECK(planned_loss == value.item());
    CHECK(all_parameters(planned) == all_parameters(by_hand));
  }
}

TEST_CASE("a trainer allocates nothing after the largest batch, for any smaller one", "[train]") {
  cpu_model<float> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step.clip({1.0});
  const auto large = dp::test::integer_samples<float, 6>(64);
  const auto small = dp::test::integer_samples<float, 6>(5);
  const auto none = dp::test::integer_samples<float, 6>(0);
  const auto large_labels = dp::test::square_labels(64, 3);
  const auto small_labels = dp::test::square_labels(5, 3);
  const auto no_labels = dp::test::square_labels(0, 3);
  step(large, large_labels);
  const auto before = dp::memory_statistics<dp::cpu>();
  for (int i = 0; i < 3; ++i) {
    step(large, large_labels);
    step(small, small_labels);
    step(none, no_labels);
  }
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before.allocations);
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated);
}

TEST_CASE("a batch without samples changes nothing under SGD, and its mean loss is NaN", "[train]") {
  cpu_model<float> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto before = all_parameters(model);
  const auto loss = step(dp::test::integer_samples<float, 6>(0), dp::test::square_labels(0, 3));
  CHECK(std::isnan(loss.item()));
  CHECK(all_parameters(model) == before);
}

TEST_CASE("a batch whose labels are all ignored changes nothing under SGD", "[train]") {
  cpu_model<double> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto x = dp::test::integer_samples<double, 6>(4);
  auto y = dp::test::square_labels(4, 3);
  for (std::size_t i = 0; i < 4; ++i) y(i) = 1;
  const auto before = all_parameters(model);
  CHECK(std::isnan(step(x, y).item()));
  CHECK(all_parameters(model) == before);
}

TEST_CASE("the mean loss weights all samples equally, for any batch sizes", "[train]") {
  cpu_model<double> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0}};
  const auto x = dp::test::integer_samples<double, 6>(10);
  const auto y = dp::test::square_labels(10, 3);
  const double whole = step(x, y).item();
  CHECK(step.mean_loss() == Catch::Approx(whole).epsilon(1e-14));
  step.reset_mean_loss();
  step(x.slice(0, 7), y.slice(0, 7));
  step(x.slice(7, 10), y.slice(7, 10));
  CHECK(step.mean_loss() == Catch::Approx(whole).epsilon(1e-14));
}

TEST_CASE("clipping by norm bounds the step", "[train]") {
  cpu_model<double> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{.reduce = dp::reduction::sum}, dp::optim::sgd{.learning_rate = 1}};
  step.clip(dp::optim::clip_norm{.max_norm = 0.01});
  const auto before = all_parameters(model);
  step(dp::test::integer_samples<double, 6>(32), dp::test::square_labels(32, 3));
  const auto after = all_parameters(model);
  double squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) squares += (after[i] - before[i]) * (after[i] - before[i]);
  CHECK(std::sqrt(squares) == Catch::Approx(0.01).epsilon(1e-3));
}

TEST_CASE("a batch too large for memory leaves the trainer usable", "[train]") {
  cpu_model<float> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  step(x, y);
  CHECK_THROWS_AS(step.prepare(std::size_t{1} << 62), dp::argument_error);
  if (!support::sanitized) CHECK_THROWS_AS(step.prepare(std::size_t{1} << 52), dp::out_of_memory);
  CHECK_NOTHROW(step(x, y).item());
}

TEST_CASE("a step's loss cannot be read after the next step", "[train]") {
  cpu_model<float> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  const auto first = step(x, y);
  CHECK_NOTHROW(first.item());
  step(x, y);
  CHECK_THROWS_WITH(first.item(), Catch::Matchers::ContainsSubstring("mean_loss()"));
}

TEST_CASE("a step's loss and gradient norms can be read after they were moved from", "[train]") {
  cpu_model<float> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  step.measure_gradients();
  auto loss = step(dp::test::integer_samples<float, 6>(4), dp::test::square_labels(4, 3));
  auto norms = step.gradient_norms();
  const auto other_loss = std::move(loss);
  const auto other_norms = std::move(norms);
  CHECK(loss.item() == other_loss.item());
  CHECK(norms.item().last == other_norms.item().last);
}

TEST_CASE("a label out of range is an error that leaves the parameters unchanged", "[train]") {
  cpu_model<float> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto x = dp::test::integer_samples<float, 6>(4);
  auto y = dp::test::square_labels(4, 3);
  y(2) = 3;
  const auto before = all_parameters(model);
  CHECK_THROWS_AS(step(x, y).item(), dp::argument_error);
  CHECK(all_parameters(model) == before);
  y(2) = 1;
  CHECK_NOTHROW(step(x, y).item());
  CHECK(all_parameters(model) != before);
}

TEST_CASE("a trainer can be replaced by a new one of its type", "[train]") {
  cpu_model<double> model{dp::seed{3}}, other{dp::seed{3}};
  const auto x = dp::test::integer_samples<double, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}};
  step(x, y);
  step = dp::trainer{other, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto before = all_parameters(model);
  step(x, y);
  CHECK(all_parameters(model) == before);
  cpu_model<double> alike{dp::seed{3}};
  dp::trainer fresh{alike, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  fresh(x, y);
  CHECK(all_parameters(other) == all_parameters(alike));
}

TEST_CASE("a trainer continues with a moved model", "[train]") {
  cpu_model<double> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto moved = std::move(model);
  const auto before = all_parameters(moved);
  step(dp::test::integer_samples<double, 6>(4), dp::test::square_labels(4, 3));
  CHECK(all_parameters(moved) != before);
}

TEST_CASE("the same training gives the same bits, with dropout too", "[train]") {
  using dropping = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<2, 5>>, nn::linear<8, 3>>;
  const auto x = dp::test::integer_samples<float, 6>(20);
  const auto y = dp::test::square_labels(20, 3);
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < 2; ++run) {
    dp::model<dropping, dp::on<dp::cpu>> model{dp::seed{5}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
    for (int i = 0; i < 10; ++i) step(x, y);
    runs.push_back(all_parameters(model));
  }
  CHECK(runs[0] == runs[1]);
}

TEST_CASE("a regression with mse learns a linear function exactly", "[train]") {
  using line = nn::linear<6, 2>;
  const auto x = dp::test::integer_samples<double, 6>(40);
  dp::tensor<double, dp::extents<dp::dyn, 2>, dp::on<dp::cpu>> y(dp::extents<dp::dyn, 2>{40});
  for (std::size_t i = 0; i < 40; ++i) {
    y(i, 0) = 1 + 2 * x(i, 0) - x(i, 3);
    y(i, 1) = -0.5 + x(i, 1) + 3 * x(i, 5);
  }
  dp::model<line, dp::on<dp::cpu>, double> model{dp::seed{2}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.9}};
  for (int i = 0; i < 2000; ++i) step(x, y);
  CHECK(step(x, y).item() < 1e-8);
}

TEST_CASE("misuse of a trainer is an error that names the fix", "[train]") {
  using Catch::Matchers::ContainsSubstring;
  cpu_model<float> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const auto x = dp::test::integer_samples<float, 6>(4);
  CHECK_THROWS_WITH(step(x, dp::test::square_labels(3, 3)), ContainsSubstring("one target for each sample"));
  dp::tensor<float, dp::extents<dp::dyn, dp::dyn>, dp::on<dp::cpu>> narrow(dp::extents<dp::dyn, dp::dyn>{4, 5});
  CHECK_THROWS_WITH(step(narrow, dp::test::square_labels(4, 3)), ContainsSubstring("give 6 elements for each sample"));
  {
    auto [output, saved] = model.forward(x);
    auto [loss, gradient] = nn::cross_entropy{}(output, dp::test::square_labels(4, 3));
    const auto lease = model.backward(std::move(saved), gradient);
    CHECK_THROWS_WITH(step(x, dp::test::square_labels(4, 3)),
                      ContainsSubstring("a lease of the model's gradients still exists; destroy it"));
  }
  CHECK_NOTHROW(step(x, dp::test::square_labels(4, 3)));
  const auto moved = std::move(step);
  CHECK(moved.mean_loss() > 0);
  const auto text = ContainsSubstring("this trainer was moved from; use the variable that it was moved to.");
  CHECK_THROWS_WITH(step(x, dp::test::square_labels(4, 3)), text);
  CHECK_THROWS_WITH(step.flush(), text);
  CHECK_THROWS_WITH(step.mean_loss(), text);
  CHECK_THROWS_WITH(step.reset_mean_loss(), text);
  CHECK_THROWS_WITH(step.prepare(4), text);
  CHECK_THROWS_WITH(step.clip({.max_norm = 1}), text);
}

TEST_CASE("a trainer throws after its model was assigned another model", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  cpu_model<float> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<2>{}};
  step(x, y);
  const auto best = dp::to<dp::on<dp::cpu>>(model);
  model = dp::to<dp::on<dp::cpu>>(best);
  using Catch::Matchers::ContainsSubstring;
  const auto text = ContainsSubstring(
      "trainer: another model was assigned to the trainer's model after the trainer was made; make a new trainer, or "
      "copy "
      "parameters "
      "into the model with model.assign(other)");
  CHECK_THROWS_WITH(step(x, y), text);
  CHECK_THROWS_WITH(step.flush(), text);
  dp::trainer again{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  again(x, y);
  CHECK(all_parameters(model) != all_parameters(best));
}

TEST_CASE("a trainer still works after its model was moved or swapped", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  cpu_model<float> a{dp::seed{1}}, b{dp::seed{2}};
  dp::trainer step{a, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  std::swap(a, b);
  const auto before = all_parameters(b), untouched = all_parameters(a);
  step(x, y);
  CHECK(all_parameters(b) != before);
  CHECK(all_parameters(a) == untouched);
}

TEST_CASE("a trainer uses parameters assigned to its model in place", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  cpu_model<float> model{dp::seed{1}}, other{dp::seed{1}};
  const dp::optim::sgd rule{.learning_rate = 0.1, .momentum = 0.5};
  dp::trainer step{model, nn::cross_entropy{}, rule}, reference{other, nn::cross_entropy{}, rule};
  step(x, y);
  reference(x, y);
  const auto best = dp::to<dp::on<dp::cpu>>(model);
  const auto* const arena = model.parameter<0>().data();
  for (auto* const p : {&model, &other}) {
    auto view = p->parameter<0>();
    view = view * 2.0f;
  }
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(output, y);
  const auto doubled = dp::to<dp::on<dp::cpu>>(model);
  model.assign(best);
  CHECK(all_parameters(model) == all_parameters(best));
  CHECK(model.parameter<0>().data() == arena);
  CHECK_THROWS_WITH(model.backward(std::move(saved), gradient),
                    Catch::Matchers::ContainsSubstring("changed the parameters"));
  model.assign(doubled);
  model.assign(model);
  step(x, y);
  reference(x, y);
  CHECK(all_parameters(model) == all_parameters(other));
}

TEST_CASE("a trainer stores the sums that a loss derived from another has changed", "[train]") {
  const auto x = dp::test::integer_samples<float, 6>(4);
  const auto y = dp::test::square_labels(4, 3);
  cpu_model<float> model{dp::seed{1}}, other{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  dp::trainer doubled{other, doubled_cross_entropy{}, dp::optim::sgd{}};
  CHECK(doubled(x, y).item() == 2 * step(x, y).item());
  CHECK(doubled.mean_loss() == 2 * step.mean_loss());
}
