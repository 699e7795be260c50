// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/update.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <vector>

#include <devplace/optim/adam.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

/// Four arenas that are aligned for wide accesses, or one element off.
template <class Rule>
struct arenas {
  static constexpr std::size_t room = 6000;
  alignas(16) std::array<float, 4 * room> data{};
  std::size_t n, offset;

  arenas(std::size_t count, std::size_t first) : n(count), offset(first) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::vector<float> values = simt::logits(n, static_cast<std::uint32_t>(k + 1));
      for (std::size_t i = 0; i < n; ++i)
        of(k)[i] = k == 3 ? values[i] * values[i] : values[i];  // second moments must not be negative
    }
  }
  float* of(std::size_t k) { return data.data() + k * room + offset; }

  template <class... State>
  dp::runtime::update<Rule, float, 1 + sizeof...(State)> update(const float* divisor, const State&... state) {
    return {{of(0), divisor, nullptr}, {of(1), of(state)...}, &record};
  }

  dp::runtime::step_record<Rule, float> record{};
};

using dp::optim::rmsprop;
using sgd = dp::optim::detail::sgd_formula;
using adam = dp::optim::detail::adam_formula;
constexpr adam adam_rule{0.125, 0.9, 0.99, 1e-8, 0.25, 0.01};
constexpr sgd sgd_rule{0.125, 0.5, 0, 0.25, true, 1};
constexpr rmsprop rmsprop_rule{.learning_rate = 0.125, .alpha = 0.9, .weight_decay = 0.25, .momentum = 0.5};

/// Three steps by the kernel, which gets the same arguments each time, against the formula for single elements with the
/// factors of steps 4, 5 and 6 in turn. `state`: the arenas that the formula uses.
template <class Rule, class... State>
void check_update(const Rule& rule, const State&... state) {
  const float divisor = 32;
  for (const std::size_t n : {1u, 3u, 4u, 257u, 1024u, 5001u})
    for (const std::size_t offset : {0u, 1u}) {
      INFO(n << " elements, offset " << offset);
      arenas<Rule> by_kernel(n, offset);
      arenas<Rule> one_by_one(n, offset);
      const auto kernel = dp::detail::make_update_kernel(n, by_kernel.update(&divisor, state...));
      CHECK(kernel.groups == (offset == 0 ? n / 4 : 0));
      auto& record = by_kernel.record;
      record.begin(rule, 4);
      const auto update = one_by_one.update(&divisor, state...);
      for (unsigned step = 4; step < 7; ++step) {
        typename Rule::template factors<float> factors{};
        rule.set(factors, step);
        for (std::size_t i = 0; i < n; ++i)
          update.element(factors, update.source.factor(), i);
        simt::launch(step - 2, kernel, step);
        CHECK(by_kernel.data == one_by_one.data);
        CHECK(record.step == step + 1);
        CHECK(record.ticket == 0);
      }
    }
}

}  // namespace

TEST_CASE("the kernel of Adam's update is the formula for each element, and counts the steps", "[cuda]") {
  check_update(adam_rule, 2u, 3u);
}

TEST_CASE("the kernel of SGD's update is the formula for each element, with and without momentum", "[cuda]") {
  check_update(sgd_rule, 2u);
  check_update(sgd_rule);
}

TEST_CASE("the kernel of RMSprop's update is the formula for each element, with and without momentum", "[cuda]") {
  check_update(rmsprop_rule, 3u, 2u);
  check_update(rmsprop_rule, 3u);
}

TEST_CASE("an update kernel does not divide by 0 if all samples are ignored", "[cuda]") {
  arenas<sgd> a(9, 0);
  const float none = 0;
  const auto update = a.update(&none);
  a.record.begin(sgd_rule, 1);
  const std::vector<float> before(a.of(1), a.of(1) + 9);
  simt::launch(1, dp::detail::make_update_kernel(9, update), 1);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(a.of(1)[i] == before[i] - 0.125F * (0.25F * before[i]));  // only weight decay acts
}
