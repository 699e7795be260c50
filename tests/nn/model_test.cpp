// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ratio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using cpu_model = dp::model<net, dp::on<dp::cpu>, double>;

/// Computes the network in double: linear, relu, linear.
double by_hand(const cpu_model& model, const double* x, std::size_t output) {
  const auto w0 = model.parameter<0>();
  const auto b0 = model.parameter<1>();
  const auto w1 = model.parameter<2>();
  const auto b1 = model.parameter<3>();
  double sum = b1(output);
  for (std::size_t h = 0; h < 8; ++h) {
    double hidden = b0(h);
    for (std::size_t i = 0; i < 6; ++i) hidden += w0(h, i) * x[i];
    sum += w1(output, h) * std::fmax(hidden, 0.0);
  }
  return sum;
}

template <class Model> void check_same_parameters(const Model& a, const Model& b, bool same) {
  bool equal = true;
  std::vector<double> first, second;
  a.for_each_parameter([&](const std::string&, auto v) { first.insert(first.end(), v.data(), v.data() + v.size()); });
  b.for_each_parameter([&](const std::string&, auto v) { second.insert(second.end(), v.data(), v.data() + v.size()); });
  equal = first == second;
  CHECK(equal == same);
}

}  // namespace

TEST_CASE("a model knows its parameters at compile time, by PyTorch's names", "[nn]") {
  STATIC_REQUIRE(cpu_model::parameter_count() == 6 * 8 + 8 + 8 * 3 + 3);
  CHECK(cpu_model::parameter_names() == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
  const cpu_model model{dp::seed{1}};
  STATIC_REQUIRE(std::is_same_v<decltype(model.parameter<2>())::extents_type, dp::extents<3, 8>>);
  std::vector<std::string> names;
  std::size_t scalars = 0;
  model.for_each_parameter([&](const std::string& name, auto view) {
    names.push_back(name);
    scalars += view.size();
    CHECK(reinterpret_cast<std::size_t>(view.data()) % 64 == 0);
  });
  CHECK(names == cpu_model::parameter_names());
  CHECK(scalars == cpu_model::parameter_count());
  cpu_model ones{dp::seed{1}};
  ones.for_each_parameter([](auto&, auto& view) { view = 1; });
  CHECK(std::ranges::count(ones.parameter<2>(), 1) == 24);
}

TEST_CASE("predict computes the network's formula, for any number of samples", "[nn]") {
  const cpu_model model{dp::seed{3}};
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto y = model.predict(x);
    REQUIRE(y.extent(0) == rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < 3; ++c) CHECK(y(i, c) == Catch::Approx(by_hand(model, &x(i, 0), c)).epsilon(1e-12));
  }
}

TEST_CASE("a call of a model is predict", "[nn]") {
  const cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto called = model(x);
  const auto predicted = model.predict(x);
  for (std::size_t i = 0; i < predicted.size(); ++i) CHECK(called.data()[i] == predicted.data()[i]);
}

TEST_CASE("predict accepts batches whose samples have other axes but the right size", "[nn]") {
  const cpu_model model{dp::seed{3}};
  const auto flat = dp::test::integer_samples<double, 6>(4);
  const auto images = flat.reshape(dp::extents<dp::dyn, 2, 3>{4});
  const auto a = model.predict(flat), b = model.predict(images);
  for (std::size_t i = 0; i < 4; ++i) CHECK(a(i, 0) == b(i, 0));
}

TEST_CASE("parameters start within PyTorch's bounds and depend only on seed and name", "[nn]") {
  const cpu_model a{dp::seed{1}}, b{dp::seed{1}}, c{dp::seed{2}};
  check_same_parameters(a, b, true);
  check_same_parameters(a, c, false);
  double largest = 0;
  for (std::size_t i = 0; i < a.parameter<0>().size(); ++i)
    largest = std::fmax(largest, std::abs(a.parameter<0>().data()[i]));
  CHECK(largest <= 1 / std::sqrt(6.0));
  CHECK(largest > 0.8 / std::sqrt(6.0));

  const int before = dp::thread_count();
  dp::set_thread_count(3);
  const cpu_model on_three_threads{dp::seed{1}};
  dp::set_thread_count(before);
  check_same_parameters(a, on_three_threads, true);
}

TEST_CASE("a float model starts from the rounded values of the double model", "[nn]") {
  const cpu_model wide{dp::seed{5}};
  const dp::model<net, dp::on<dp::cpu>> narrow{dp::seed{5}};
  for (std::size_t i = 0; i < 48; ++i)
    CHECK(narrow.parameter<0>().data()[i] == static_cast<float>(wide.parameter<0>().data()[i]));
}

TEST_CASE("gradients agree with differences of the loss", "[nn]") {
  cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto y = dp::test::square_labels(5, 3);
  const auto loss_of = [&] { return nn::cross_entropy{.reduce = dp::reduction::sum}(model.predict(x), y).loss.item(); };
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{.reduce = dp::reduction::sum}(output, y);
  CHECK(loss.item() == Catch::Approx(loss_of()).epsilon(1e-14));
  const auto lease = model.backward(std::move(saved), gradient);
  const auto compare = [&](auto parameter, auto of) {
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      const double before = parameter.data()[i], step = 1e-6;
      parameter.data()[i] = before + step;
      const double above = loss_of();
      parameter.data()[i] = before - step;
      const double below = loss_of();
      parameter.data()[i] = before;
      CHECK(of.data()[i] == Catch::Approx((above - below) / (2 * step)).margin(1e-7));
    }
  };
  compare(model.parameter<0>(), lease.local<0>());
  compare(model.parameter<1>(), lease.local<1>());
  compare(model.parameter<2>(), lease.local<2>());
  compare(model.parameter<3>(), lease.local<3>());
}

TEST_CASE("a second backward throws while gradients are leased, and accumulates if it gets the lease", "[nn]") {
  cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto y = dp::test::square_labels(5, 3);
  const nn::cross_entropy loss;
  auto first = model.forward(x);
  auto lease = model.backward(std::move(first.saved), loss(first.output, y).gradient);
  std::vector<double> once(lease.local<0>().data(), lease.local<0>().data() + 48);

  auto second = model.forward(x);
  const auto again = loss(second.output, y);
  CHECK_THROWS_WITH(model.backward(std::move(second.saved), again.gradient), ContainsSubstring("still in use"));

  const auto both = model.backward(std::move(second.saved), again.gradient, std::move(lease));
  for (std::size_t i = 0; i < 48; ++i) CHECK(both.local<0>().data()[i] == Catch::Approx(2 * once[i]).margin(1e-14));
}

TEST_CASE("saved activations can be used once, by their own model", "[nn]") {
  cpu_model model{dp::seed{4}}, other{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto y = dp::test::square_labels(5, 3);
  auto [output, saved] = model.forward(x);
  const auto result = nn::cross_entropy{}(output, y);
  CHECK_THROWS_WITH(other.backward(std::move(saved), result.gradient), ContainsSubstring("belong to another model"));

  {
    const auto lease = model.backward(std::move(saved), result.gradient);
  }
  CHECK_THROWS_WITH(model.backward(std::move(saved), result.gradient), ContainsSubstring("used by an earlier"));
}

TEST_CASE("a temporary batch lives as long as forward's saved values", "[nn]") {
  cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  const auto y = dp::test::square_labels(5, 3);
  auto kept = model.forward(x);
  auto [output, saved] = model.forward(x.clone());
  const auto result = nn::cross_entropy{}(output, y);
  std::vector<double> expected;
  {
    const auto lease = model.backward(std::move(kept.saved), nn::cross_entropy{}(kept.output, y).gradient);
    expected.assign(lease.local<0>().data(), lease.local<0>().data() + 48);
  }
  const auto lease = model.backward(std::move(saved), result.gradient);
  CHECK(std::vector<double>(lease.local<0>().data(), lease.local<0>().data() + 48) == expected);
}

TEST_CASE("a moved model and its lease keep working", "[nn]") {
  cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(2);
  auto [output, saved] = model.forward(x);
  cpu_model moved = std::move(model);
  const auto lease =
      moved.backward(std::move(saved), nn::cross_entropy{}(output, dp::test::square_labels(2, 3)).gradient);
  CHECK(moved.predict(x)(1, 2) == output(1, 2));
}

TEST_CASE("using a moved-from model is an error", "[nn]") {
  cpu_model model{dp::seed{4}};
  const cpu_model moved = std::move(model);
  const auto x = dp::test::integer_samples<double, 6>(2);
  CHECK_THROWS_WITH(model.predict(x), ContainsSubstring("moved from"));      // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_WITH(model.forward(x), ContainsSubstring("moved from"));      // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_WITH(model.parameter<0>(), ContainsSubstring("moved from"));  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("activations saved before an optimizer's step are rejected after it", "[nn]") {
  cpu_model model{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(2);
  const auto y = dp::test::square_labels(2, 3);
  auto early = model.forward(x);
  const auto of_early = nn::cross_entropy{}(early.output, y);
  auto late = model.forward(x);
  dp::optimizer optimizer{model, dp::optim::sgd{.learning_rate = 0.1}};
  optimizer.step(model, model.backward(std::move(late.saved), nn::cross_entropy{}(late.output, y).gradient));
  CHECK_THROWS_WITH(model.backward(std::move(early.saved), of_early.gradient),
                    ContainsSubstring("changed the parameters since forward"));
}

TEST_CASE("a rejected backward consumes nothing", "[nn]") {
  cpu_model model{dp::seed{4}}, other{dp::seed{4}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  auto [output, saved] = model.forward(x);
  const auto right = nn::cross_entropy{}(output, dp::test::square_labels(5, 3));
  const auto small = other.predict(dp::test::integer_samples<double, 6>(4));
  const auto wrong = nn::cross_entropy{}(small, dp::test::square_labels(4, 3));
  CHECK_THROWS_AS(other.backward(std::move(saved), right.gradient), dp::error);
  CHECK_THROWS_AS(model.backward(std::move(saved), wrong.gradient), dp::shape_error);
  CHECK_NOTHROW(static_cast<void>(model.backward(std::move(saved), right.gradient)));
}

TEST_CASE("dropout acts in training and not in prediction", "[nn]") {
  using dropping = nn::sequential<nn::linear<6, 400>, nn::dropout<std::ratio<1, 4>>>;
  dp::model<dropping, dp::on<dp::cpu>, double> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(8);
  const auto full = model.predict(x);
  const auto first = model.forward(x).output, second = model.forward(x).output;
  std::size_t dropped = 0, differs = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const double kept = full.data()[i] / 0.75;
    CHECK((first.data()[i] == 0 || first.data()[i] == Catch::Approx(kept).epsilon(1e-14)));
    dropped += first.data()[i] == 0 ? 1U : 0U;
    differs += first.data()[i] != second.data()[i] ? 1U : 0U;
  }
  CHECK(dropped == Catch::Approx(800).margin(120));  // 3200 draws with probability 1/4, +-5 standard deviations
  CHECK(differs > 800);
}

TEST_CASE("a wrong batch size is an error that names both", "[nn]") {
  const cpu_model model{dp::seed{1}};
  const dp::tensor<double, dp::extents<dp::dyn, dp::dyn>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, dp::dyn>{3, 5});
  CHECK_THROWS_AS(model.predict(x), dp::shape_error);
  CHECK_THROWS_WITH(model.predict(x), ContainsSubstring("3x5") && ContainsSubstring("give 6 elements"));
}

TEST_CASE("a class derived from a model works as a model", "[nn]") {
  struct counted : cpu_model {
    using cpu_model::cpu_model;
    int epoch = 0;
  };
  const counted from(dp::seed{5});
  cpu_model to(dp::seed{6});
  to.assign(from);
  CHECK(to.parameter<0>()(1, 2) == from.parameter<0>()(1, 2));
}
