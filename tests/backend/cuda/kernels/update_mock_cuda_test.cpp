// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/update.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/optim/adam.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

/// Four arenas that are aligned for wide accesses, or one element off.
template <class Rule> struct arenas {
  static constexpr std::size_t room = 6000;
  mock::device_vector<float> data = mock::device_vector<float>(4 * room);
  mock::device_vector<dp::runtime::step_record<Rule, float>> records;
  dp::runtime::step_record<Rule, float>& record;
  std::size_t n, offset;

  arenas(std::size_t count, std::size_t first) : records(1), record(records[0]), n(count), offset(first) {
    for (std::size_t k = 0; k < 4; ++k) {
      const mock::device_vector<float> values = mock::logits(n, static_cast<std::uint32_t>(k + 1));
      for (std::size_t i = 0; i < n; ++i)
        of(k)[i] = k == 3 ? values[i] * values[i] : values[i];  // second moments must not be negative
    }
  }
  float* of(std::size_t k) { return data.data() + k * room + offset; }

  template <class... State>
  dp::runtime::update<Rule, float, 1 + sizeof...(State)> update(const float* divisor, const State&... state) {
    return {{of(0), divisor, nullptr}, {of(1), of(state)...}, &record};
  }
};

using dp::optim::rmsprop;
using sgd = dp::optim::detail::sgd_formula;
using adam = dp::optim::detail::adam_formula;
constexpr adam adam_rule{0.125, 0.9, 0.99, 1e-8, 0.25, 0.01};
constexpr sgd sgd_rule{0.125, 0.5, 0, 0.25, true, 1};
constexpr rmsprop rmsprop_rule{.learning_rate = 0.125, .alpha = 0.9, .weight_decay = 0.25, .momentum = 0.5};

/// Compares three steps of the kernel, which gets equal arguments each time, with the formula for single elements and
/// the factors of steps 4, 5 and 6. `state`: the arenas that the formula uses.
template <class Rule, class... State> void check_update(const Rule& rule, const State&... state) {
  const mock::device_vector<float> divisor{32};
  for (const std::size_t n : {1u, 3u, 4u, 257u, 1024u, 5001u})
    for (const std::size_t offset : {0u, 1u}) {
      INFO(n << " elements, offset " << offset);
      arenas<Rule> by_kernel(n, offset);
      arenas<Rule> one_by_one(n, offset);
      const auto kernel = dp::detail::make_update_kernel(n, by_kernel.update(divisor.data(), state...));
      CHECK(kernel.groups == (offset == 0 ? n / 4 : 0));
      auto& record = by_kernel.record;
      record.begin(rule, 4);
      const auto update = one_by_one.update(divisor.data(), state...);
      for (unsigned step = 4; step < 7; ++step) {
        typename Rule::template factors<float> factors{};
        rule.set(factors, step);
        for (std::size_t i = 0; i < n; ++i) update.element(factors, update.source.factor(), i);
        mock::run_kernel(step - 2, kernel, step);
        CHECK(by_kernel.data == one_by_one.data);
        CHECK(record.step == step + 1);
        CHECK(record.ticket == 0);
      }
    }
}

/// Returns Adam's update that also writes the parameters in 16 bits.
dp::runtime::update<adam, float, 3, dp::bf16> rounding_update(arenas<adam>& a, dp::bf16* working,
                                                              const std::uint32_t* skip = nullptr) {
  return {{a.of(0), nullptr, nullptr, skip}, {a.of(1), a.of(2), a.of(3)}, &a.record, {working}};
}

void check_rounded(std::size_t n, std::size_t offset) {
  INFO(n << " elements, offset " << offset);
  arenas<adam> by_kernel(n, offset), one_by_one(n, offset);
  mock::device_vector<dp::bf16> working(offset + n + 1, dp::bf16(7));
  const auto kernel = dp::detail::make_update_kernel(n, rounding_update(by_kernel, working.data() + offset));
  CHECK(kernel.groups == (offset % 8 == 0 ? n / 8 : 0));
  by_kernel.record.begin(adam_rule, 1);
  mock::run_kernel(2, kernel, 1);
  adam::factors<float> factors{};
  adam_rule.set(factors, 1);
  const auto alone = one_by_one.update(nullptr, 2u, 3u);
  for (std::size_t i = 0; i < n; ++i) alone.element(factors, 1, i);
  CHECK(by_kernel.data == one_by_one.data);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(working[offset + i].bits() == dp::bf16(one_by_one.of(1)[i]).bits());
  CHECK(working[offset + n].bits() == dp::bf16(7).bits());
  CHECK(by_kernel.record.step == 2);
}

}  // namespace

TEST_CASE("the kernel of Adam's update applies the formula to each element, and counts the steps", "[cuda]") {
  check_update(adam_rule, 2u, 3u);
}

TEST_CASE("the kernel of SGD's update applies the formula to each element, with and without momentum", "[cuda]") {
  check_update(sgd_rule, 2u);
  check_update(sgd_rule);
}

TEST_CASE("the kernel of RMSprop's update applies the formula to each element, with and without momentum", "[cuda]") {
  check_update(rmsprop_rule, 3u, 2u);
  check_update(rmsprop_rule, 3u);
}

TEST_CASE("the kernel of an update in groups applies each group's formula, and counts the steps of all", "[cuda]") {
  constexpr std::size_t n = 5001, first = 24;
  const mock::device_vector<float> divisor{32};
  arenas<adam> by_kernel(n, 0), one_by_one(n, 0);
  mock::device_vector<dp::runtime::step_record<adam, float>> records(3);
  adam rules[3] = {adam_rule, adam_rule, adam_rule};
  rules[1].scale({0.25, 0});
  rules[2].scale({2, 1});
  for (std::size_t group = 0; group < 3; ++group) records[group].begin(rules[group], 4);
  mock::device_vector<std::uint8_t> group_of((n + first) / 16 + 1);
  for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<std::uint8_t>(i / 3 % 3);
  dp::runtime::grouped_update<adam, float, 3> update{by_kernel.update(divisor.data(), 2u, 3u), group_of.data(), first,
                                                     3};
  update.steps = records.data();
  const auto alone = one_by_one.update(divisor.data(), 2u, 3u);
  for (unsigned step = 4; step < 7; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      adam::factors<float> factors{};
      rules[group_of[(first + i) / 16]].set(factors, step);
      alone.element(factors, alone.source.factor(), i);
    }
    mock::run_kernel(3, dp::detail::make_update_kernel(n, update), step);
    CHECK(by_kernel.data == one_by_one.data);
    for (const auto& record : records) CHECK(record.step == step + 1);
    CHECK(records[0].ticket == 0);
  }
}

TEST_CASE("an update kernel does not divide by 0 if all samples are ignored", "[cuda]") {
  arenas<sgd> a(9, 0);
  const mock::device_vector<float> none{0};
  const auto update = a.update(none.data());
  a.record.begin(sgd_rule, 1);
  const mock::device_vector<float> before(a.of(1), a.of(1) + 9);
  mock::run_kernel(1, dp::detail::make_update_kernel(9, update), 1);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(a.of(1)[i] == before[i] - 0.125F * (0.25F * before[i]));  // only weight decay acts
}

TEST_CASE("an update kernel writes the rounded parameters, for every length", "[cuda]") {
  for (std::size_t n = 1; n <= 40; ++n)
    for (const std::size_t offset : {0u, 1u, 4u, 8u}) check_rounded(n, offset);
  check_rounded(1027, 0);
  check_rounded(1027, 1);
}

TEST_CASE("an update kernel writes nothing in a step that is skipped", "[cuda]") {
  arenas<adam> a(100, 0);
  const mock::device_vector<dp::bf16> before_rounding(100, dp::bf16(7));
  mock::device_vector<dp::bf16> working = before_rounding;
  const mock::device_vector<std::uint32_t> skip{1};
  a.record.begin(adam_rule, 2);
  const auto before = a.data;
  mock::run_kernel(2, dp::detail::make_update_kernel(100, rounding_update(a, working.data(), skip.data())), 2);
  CHECK(a.data == before);
  CHECK(working == before_rounding);
  CHECK(a.record.step == 2);
  a.record.resume(adam{0.5, 0.9, 0.99, 1e-8, 0, 0}, 3);  // the host has counted the skipped step
  CHECK(a.record.step == 2);
}
