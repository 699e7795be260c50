// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <cmath>
#include <cstdint>

#include <devplace/optim/adam.hpp>

#include "optim/optimizer_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::optim::adam;
using dp::test::optimizer_case;
using dp::test::validation_error;

static_assert(dp::optim::optimizer_rule<adam> && adam::state_arenas == 2);

TEMPLATE_TEST_CASE("adam makes the steps of torch.optim.Adam", "[optim]", FLOATING_TYPES) {
  const double tolerance = dp::test::pytorch_tolerance<TestType>;
  const auto difference = [](const adam& rule, const char* name) {
    return dp::test::difference_to_pytorch<TestType>(rule, name);
  };
  CHECK(difference({.learning_rate = 0.01}, "adam") < tolerance);
  CHECK(difference({.learning_rate = 0.01, .weight_decay = 0.01}, "adam_weight_decay") < tolerance);
  CHECK(difference({.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6}, "adam_betas_epsilon") <
        tolerance);
}

TEMPLATE_TEST_CASE("the first step of adam has the length of the learning rate", "[optim]", FLOATING_TYPES) {
  optimizer_case<TestType> stepped(1000), before(1000);
  stepped.run(adam{.learning_rate = 0.125}, 1);
  for (std::size_t i = 0; i < 1000; ++i) {
    const double sign = before.gradients[i] > 0 ? 1 : -1;
    REQUIRE(static_cast<double>(before.parameters[i] - stepped.parameters[i]) ==
            Catch::Approx(sign * 0.125).epsilon(1e-4));
  }
}

TEMPLATE_TEST_CASE("adam: exact properties", "[optim]", FLOATING_TYPES) {
  const adam rule{.learning_rate = 0.01, .weight_decay = 0.1};
  CHECK(dp::test::thread_count_changes_nothing<TestType>(rule));
  CHECK(dp::test::divisor_of_zero_means_no_gradient<TestType>(rule));
  CHECK(dp::test::factors_scale_the_gradient<TestType>(rule));

  optimizer_case<TestType> stepped(1000), untouched(1000);
  stepped.run(adam{.learning_rate = 0}, 2);
  CHECK(dp::test::same_bits(stepped.parameters, untouched.parameters));

  // An element with only zero gradients does not change: 0 / (0 + epsilon).
  optimizer_case<TestType> resting(33), unmoved(33);
  resting.gradients.assign(33, 0);
  adam{}.step<dp::backend::cpu>(resting.arguments(1));
  CHECK(dp::test::same_bits(resting.parameters, unmoved.parameters));
}

TEST_CASE("adam's bias corrections agree with those by the power function, for any number of steps", "[optim]") {
  for (const double beta : {0.0, 0.5, 0.9, 0.999, 1 - 1e-9})
    for (const std::int64_t t : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{6}, std::int64_t{1000},
                                 std::int64_t{1234567}, std::int64_t{1} << 40}) {
      INFO("step " << t << ", beta " << beta);
      dp::optim::detail::adam_factors<double> factors{};
      dp::optim::detail::adam_formula{1, beta, beta, 0, 0, 0}.set(factors, t);
      const long double rest = 1 - std::pow(static_cast<long double>(beta), static_cast<long double>(t));
      const double error = 4e-16 / (1 - beta);  // t roundings of beta^t, which is at most rest / (1 - beta) / t
      CHECK(std::abs(static_cast<double>(factors.step_size * rest - 1)) < error);
      CHECK(std::abs(static_cast<double>(factors.root_scale * std::sqrt(rest) - 1)) < error);
    }
}

TEST_CASE("adam checks its hyperparameters", "[optim]") {
  CHECK(validation_error(adam{}).empty());
  CHECK(validation_error(adam{.learning_rate = 1e-3f}).empty());
  CHECK_THAT(validation_error(adam{.learning_rate = -1}), ContainsSubstring("devplace: adam: learning_rate is -1"));
  CHECK_THAT(validation_error(adam{.beta1 = 1}), ContainsSubstring("beta1 is 1"));
  CHECK_THAT(validation_error(adam{.beta2 = -0.1}), ContainsSubstring("beta2"));
  CHECK_THAT(validation_error(adam{.epsilon = -1}), ContainsSubstring("epsilon"));
  CHECK_THAT(validation_error(adam{.weight_decay = -1}), ContainsSubstring("weight_decay"));
}

namespace {

/// Compares one step by the scalar formula, which GPUs use, with one instruction set's vector loops.
template <class T, class Loop> double difference_of_forms(const Loop& loop) {
  constexpr std::size_t n = 103;
  optimizer_case<T> a(n), b(n);
  using record_type = dp::runtime::step_record<dp::optim::detail::adam_formula, T>;
  record_type record{};
  record.next = {.beta1 = T(0.9),
                 .rest1 = T(0.1),
                 .beta2 = T(0.99),
                 .rest2 = T(0.01),
                 .kept = T(0.999),
                 .l2 = T(0.01),
                 .step_size = T(0.02),
                 .root_scale = T(3),
                 .epsilon = T(1e-6)};
  const auto update = [&record](optimizer_case<T>& c) {
    return dp::runtime::update<dp::optim::detail::adam_formula, T, 3>{
        {c.gradients.data(), nullptr, nullptr},
        {c.parameters.data(), c.first_state.data(), c.second_state.data()},
        &record};
  };
  for (std::size_t i = 0; i < n; ++i) update(a).element(record.next, T{1}, i);
  loop(update(b), std::size_t{0}, std::size_t{50});
  loop(update(b), std::size_t{50}, n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a.parameters[i] - b.parameters[i])));
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("the loops of every instruction set agree with the scalar form", "[optim]", FLOATING_TYPES) {
  const double tolerance = sizeof(TestType) == sizeof(float) ? 3e-7 : 3e-16;
  CHECK(difference_of_forms<TestType>(
            [](const auto& u, auto b, auto e) { dp::detail::generic::code::update(u, b, e); }) <= tolerance);
#if defined(__x86_64__)
  if (dp::detail::supported_isa() >= dp::detail::cpu_isa::avx2)
    CHECK(difference_of_forms<TestType>(
              [](const auto& u, auto b, auto e) { dp::detail::avx2::code::update(u, b, e); }) <= tolerance);
  if (dp::detail::supported_isa() >= dp::detail::cpu_isa::avx512)
    CHECK(difference_of_forms<TestType>(
              [](const auto& u, auto b, auto e) { dp::detail::avx512::code::update(u, b, e); }) <= tolerance);
#endif
}
