// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parameter groups with separate options, as in PyTorch.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/runtime/pass.hpp>
#include <devplace/tensor/bf16.hpp>

#include "optim/device_case.hpp"
#include "support/catch.hpp"
#include "support/fixture.hpp"

namespace dp = devplace;

namespace {

constexpr std::size_t parameters = 96;
constexpr dp::optim::option_factors factors[] = {{1, 1}, {1, 0}, {0.1, 1}, {0.1, 0}};
const std::vector<std::uint8_t> group_of{0, 1, 2, 1, 3, 0};  // one entry per 16 elements

/// The largest difference to PyTorch's parameters after 200 steps on a backend's device 0. Updates two parts, like an
/// optimizer of shares; the second part begins within a group.
template <class Backend, class T, class Rule> double groups_differ_by(const Rule& rule, const std::string& name) {
  // In float the update also writes a rounded copy; models in mixed precision have float parameters.
  constexpr bool in_float = sizeof(T) == sizeof(float);
  const std::string folder = "groups/" + name + (sizeof(T) == 4 ? "/f32/" : "/f64/");
  const auto read = [&](const char* file) {
    const auto values = dp::test::read_fixture<T, dp::extents<parameters>>(folder + file);
    return std::vector<T>(values.data(), values.data() + parameters);
  };
  const std::vector<T> target = read("target"), expected = read("end");
  dp::test::device_array<Backend, T> values(read("start"));
  dp::test::device_array<Backend, T> first{std::vector<T>(parameters)}, second{std::vector<T>(parameters)};
  dp::test::device_array<Backend, std::uint8_t> table(group_of);
  dp::test::device_array<Backend, dp::bf16> working{std::vector<dp::bf16>(parameters)};
  struct part {
    std::size_t begin, end;
    dp::test::device_array<Backend, std::uint64_t> steps{
        std::vector<std::uint64_t>(std::size(factors) * dp::optim::step_memory_bytes / 8)};
    std::vector<std::uint64_t> sent = std::vector<std::uint64_t>(std::size(factors) * dp::optim::step_memory_bytes / 8);
  };
  part parts[] = {{0, 24}, {24, parameters}};
  for (std::int64_t step = 1; step <= 200; ++step) {
    std::vector<T> gradients = values.values();
    for (std::size_t i = 0; i < parameters; ++i) gradients[i] -= target[i];
    dp::test::device_array<Backend, T> on_device(gradients);
    for (part& p : parts) {
      using grouped = dp::optim::grouped_step_arguments<T>;
      std::conditional_t<in_float, dp::optim::working_step_arguments<grouped, dp::bf16>, grouped> a;
      bool wrote_working = false;
      if constexpr (in_float) {
        a.working = working.data() + p.begin;
        a.wrote_working = &wrote_working;
      }
      a.n = p.end - p.begin;
      a.parameters = values.data() + p.begin;
      a.gradients = on_device.data() + p.begin;
      a.state[0] = first.data() + p.begin;
      a.state[1] = second.data() + p.begin;
      a.step = step;
      a.step_memory = p.steps.data();
      a.sent = p.sent.data();
      a.factors = factors;
      a.groups = std::size(factors);
      a.group_of = table.data();
      a.first = p.begin;
      rule.template step<Backend>(a);
      REQUIRE(wrote_working == in_float);
    }
    static_cast<void>(values.values());  // waits before the gradients are freed
  }
  const std::vector<T> found = values.values();
  const std::vector<dp::bf16> rounded = working.values();
  for (std::size_t i = 0; in_float && i < parameters; ++i)
    CHECK(static_cast<float>(rounded[i]) == static_cast<float>(static_cast<dp::bf16>(found[i])));
  return dp::test::largest_difference(found, expected);
}

template <class Backend, class T> void compare_groups(double tolerance) {
  CHECK(groups_differ_by<Backend, T>(dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1},
                                     "sgd") <= tolerance);
  CHECK(groups_differ_by<Backend, T>(dp::optim::adam{.learning_rate = 0.02, .weight_decay = 0.1}, "adam") <= tolerance);
  CHECK(groups_differ_by<Backend, T>(dp::optim::adamw{.learning_rate = 0.02, .weight_decay = 0.1}, "adamw") <=
        tolerance);
}

}  // namespace

TEST_CASE("parameter groups with separate options are updated as in PyTorch", "[optim]") {
  compare_groups<dp::backend::cpu, float>(1e-5);
  compare_groups<dp::backend::cpu, double>(1e-12);
  compare_groups<dp::backend::cuda, double>(1e-12);
}
