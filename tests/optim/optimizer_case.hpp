// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/fixture.hpp"
#include "support/reference.hpp"

#include <devplace/base/thread_team.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/option_range.hpp>

namespace devplace::test {

/// Parameters, gradients and state of one replica on the CPU.
template <class T> struct optimizer_case {
  std::vector<T> parameters, gradients, first_state, second_state;
  T divisor = 1;
  T gradient_factor = 1;
  alignas(devplace::detail::alignment) std::array<std::byte, optim::step_memory_bytes> step_memory{};
  alignas(devplace::detail::alignment) std::array<std::byte, optim::step_memory_bytes> sent{};

  /// Pseudo-random numbers: parameters in [-1, 1), gradients in [-3, 3).
  explicit optimizer_case(std::size_t n) : parameters(n), gradients(n), first_state(n), second_state(n) {
    for (std::size_t i = 0; i < n; ++i) {
      parameters[i] = T{2} * static_cast<T>(reference_uniform(1, i)) - T{1};
      gradients[i] = T{6} * static_cast<T>(reference_uniform(std::uint64_t{1} << 40, i)) - T{3};
    }
  }

  optim::step_arguments<T> arguments(std::int64_t step) {
    optim::step_arguments<T> a;
    a.n = parameters.size();
    a.parameters = parameters.data();
    a.gradients = gradients.data();
    a.state[0] = first_state.data();
    a.state[1] = second_state.data();
    a.divisor = &divisor;
    a.gradient_factor = &gradient_factor;
    a.step = step;
    a.step_memory = step_memory.data();
    a.sent = sent.data();
    return a;
  }

  /// Runs `count` steps with different gradients. Only the first sets `resend`.
  template <class Rule> void run(const Rule& rule, std::int64_t count) {
    for (std::int64_t step = 1; step <= count; ++step) {
      optim::step_arguments<T> a = arguments(step);
      rule.template step<backend::cpu>(a);
      for (T& g : gradients) g = T{0.5} - g * T{0.75};
    }
  }
};

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Largest difference to the fixture's parameters over ten steps, relative to max(1, |value|). Passes gradients
/// multiplied by 4 with a divisor of 4, which changes no bits.
template <class T, class Rule> double difference_to_pytorch(const Rule& rule, const std::string& name) {
  const auto read = [&name]<class Extents>(const char* file, Extents) {
    const std::string type = sizeof(T) == sizeof(float) ? "/f32/" : "/f64/";
    return read_fixture<T, Extents>("optimizers/" + name + type + file);
  };
  const auto start = read("start", extents<33>{});
  const auto gradients = read("gradients", extents<10, 33>{});
  const auto expected = read("parameters", extents<10, 33>{});
  optimizer_case<T> c(start.size());
  c.divisor = 4;
  for (std::size_t i = 0; i < start.size(); ++i) c.parameters[i] = start(i);
  double difference = 0;
  for (std::size_t step = 0; step < 10; ++step) {
    for (std::size_t i = 0; i < start.size(); ++i) c.gradients[i] = 4 * gradients(step, i);
    rule.template step<backend::cpu>(c.arguments(static_cast<std::int64_t>(step) + 1));
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double wanted = static_cast<double>(expected(step, i));
      const double found = static_cast<double>(c.parameters[i]);
      const double error = std::abs(found - wanted) / std::max(1.0, std::abs(wanted));
      difference = error <= difference ? difference : error;  // propagates NaN
    }
  }
  return difference;
}

template <class T> inline constexpr double pytorch_tolerance = sizeof(T) == sizeof(float) ? 1e-6 : 1e-14;

/// Whether three steps give the same bits with teams of 1, 2, 3 and 7 threads.
template <class T, class Rule> bool thread_count_changes_nothing(const Rule& rule) {
  constexpr std::size_t n = 100003;
  optimizer_case<T> serial(n);
  {
    const thread_team_scope scope(devplace::detail::serial_team_instance);
    serial.run(rule, 3);
  }
  bool same = true;
  for (const int members : {2, 3, 7}) {
    builtin_thread_team team(members);
    const thread_team_scope scope(team);
    optimizer_case<T> parallel(n);
    parallel.run(rule, 3);
    same = same && same_bits(parallel.parameters, serial.parameters) &&
           same_bits(parallel.first_state, serial.first_state) && same_bits(parallel.second_state, serial.second_state);
  }
  return same;
}

/// Whether a step with divisor 0 (all samples ignored) equals a step with zero gradients.
template <class T, class Rule> bool divisor_of_zero_means_no_gradient(const Rule& rule) {
  optimizer_case<T> ignored(100), zero(100);
  ignored.divisor = 0;
  std::fill(zero.gradients.begin(), zero.gradients.end(), T{0});
  for (optimizer_case<T>* c : {&ignored, &zero}) rule.template step<backend::cpu>(c->arguments(1));
  return same_bits(ignored.parameters, zero.parameters);
}

/// Whether `gradient_factor` and `divisor` are equivalent to multiplying the gradients (by powers of two, so exactly).
template <class T, class Rule> bool factors_scale_the_gradient(const Rule& rule) {
  optimizer_case<T> scaled(100), plain(100);
  scaled.divisor = 16;
  scaled.gradient_factor = T{0.5};
  for (T& g : plain.gradients) g /= 32;
  for (optimizer_case<T>* c : {&scaled, &plain}) rule.template step<backend::cpu>(c->arguments(1));
  auto without = optimizer_case<T>(100);
  without.gradients = plain.gradients;
  auto arguments = without.arguments(1);
  arguments.divisor = nullptr;
  arguments.gradient_factor = nullptr;
  rule.template step<backend::cpu>(arguments);
  return same_bits(scaled.parameters, plain.parameters) && same_bits(without.parameters, plain.parameters);
}

/// The message of validate; empty if it does not throw.
template <class Rule> std::string validation_error(const Rule& rule) {
  try {
    optim::validate(rule);
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace devplace::test
