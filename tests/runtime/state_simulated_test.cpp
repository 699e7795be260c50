// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/runtime/model_state.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include <devplace/runtime/working_copy.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace runtime = devplace::runtime;
using Catch::Matchers::ContainsSubstring;

namespace {

using device = dp::backend::cuda;
constexpr std::array<int, 2> two{0, 1};
constexpr std::array<int, 1> host{0};

template <class Backend, class T> std::vector<T> numbers(int ordinal, const T* data, std::size_t n) {
  std::vector<T> all(n);
  dp::detail::copy_out<Backend>(ordinal, all.data(), data, n * sizeof(T));
  return all;
}
template <class Backend, class T> void set(int ordinal, T* data, const std::vector<T>& values) {
  dp::detail::copy_in<Backend>(ordinal, data, values.data(), values.size() * sizeof(T));
}

}  // namespace

TEST_CASE("replicas start as zeros, and gradients are allocated for training", "[runtime]") {
  const auto state = runtime::empty_state<float, device>(two, {16, 32, 16});
  REQUIRE(state->replicas.size() == 2);
  for (const auto& r : state->replicas) {
    CHECK(r.parameters.bytes() == 32 * sizeof(float));
    CHECK(numbers<device>(r.ordinal, r.parameter_data(), 32) == std::vector<float>(32, 0));
    CHECK(numbers<device>(r.ordinal, r.buffer_data(), 32) == std::vector<float>(32, 0));
    CHECK(r.gradients.data() == nullptr);
  }
  for (const auto& r : state->replicas) CHECK(r.trained == 16);
  runtime::require_gradients<device>(*state);
  const void* const first = state->replicas[1].gradient_data();
  CHECK(state->replicas[1].gradients.bytes() == (16 + runtime::gradient_tail) * sizeof(float));
  runtime::require_gradients<device>(*state);
  CHECK(state->replicas[1].gradient_data() == first);
  CHECK_THROWS_WITH(runtime::replica_at(*state, 2),
                    ContainsSubstring("there is no replica number 2, counted from 0: the model has 2"));
}

TEST_CASE("a state and its counters are copied to every replica of another placement", "[runtime]") {
  const auto from = runtime::empty_state<float, dp::backend::cpu>(host, {16, 16, 0});
  std::vector<float> values(16);
  for (std::size_t i = 0; i != 16; ++i) values[i] = 1.0F + static_cast<float>(i) / 3;
  set<dp::backend::cpu>(0, from->replicas[0].parameter_data(), values);
  from->seed = 7;
  from->step = 9;
  const auto to = runtime::copied_state<float, device, dp::backend::cpu>(two, *from);
  for (const auto& r : to->replicas) {
    CHECK(numbers<device>(r.ordinal, r.parameter_data(), 16) == values);
    CHECK(r.gradients.data() == nullptr);
  }
  CHECK((to->seed == 7 && to->step == 9 && to->replicas[1].trained == 16));
}

TEST_CASE("a copy in another precision is rounded to nearest", "[runtime]") {
  const auto from = runtime::empty_state<double, dp::backend::cpu>(host, {16, 16, 0});
  set<dp::backend::cpu>(0, from->replicas[0].parameter_data(), std::vector<double>(16, 1.0 / 3));
  const auto to = runtime::copied_state<float, device, dp::backend::cpu>(two, *from);
  for (const auto& r : to->replicas)
    CHECK(numbers<device>(r.ordinal, r.parameter_data(), 16) == std::vector<float>(16, 1.0F / 3));
}

TEST_CASE("working copies are rounded once after parameters change", "[runtime]") {
  using mixed = dp::precision_traits<dp::mixed<dp::bf16>>::storage;
  const auto state = runtime::empty_state<mixed, device>(two, {16, 16, 0});
  const auto working = [&](std::size_t k) {
    const auto& r = state->replicas[k];
    return static_cast<float>(numbers<device>(r.ordinal, r.working_data(), 1)[0]);
  };
  const auto set_all = [&](float value) {
    for (const auto& r : state->replicas) set<device>(r.ordinal, r.parameter_data(), std::vector<float>(16, value));
  };
  set_all(1 + 1.0F / 256 + 1.0F / 4096);  // bf16 has 8 bits: between 1 and 1 + 1/128, nearer to the latter
  runtime::renew_working_copies<device>(*state);
  CHECK(working(0) == 1 + 1.0F / 128);
  CHECK(working(1) == 1 + 1.0F / 128);
  set_all(2);
  runtime::renew_working_copies<device>(*state);
  CHECK(working(0) == 1 + 1.0F / 128);  // no code has marked the copies as old
  state->working_copies_are_old = true;
  runtime::renew_working_copies<device>(*state);
  CHECK(working(1) == 2);
}

TEST_CASE("two trainings of one model at the same time are rejected", "[runtime]") {
  const auto state = runtime::empty_state<float, dp::backend::cpu>(host, {16, 16, 0});
  {
    const runtime::sole_use use(*state);
    CHECK_THROWS_WITH(runtime::sole_use(*state), ContainsSubstring("two threads train one model at the same time"));
  }
  CHECK_NOTHROW(runtime::sole_use(*state));
  state->unusable = runtime::partial_update_text;
  CHECK_THROWS_WITH(runtime::require_usable(*state), ContainsSubstring("an exception ended an update"));
}
