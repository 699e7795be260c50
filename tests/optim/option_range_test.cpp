// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <limits>

#include <devplace/base/error.hpp>
#include <devplace/optim/option_range.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace optim = devplace::optim;

namespace {

struct rule {
  static constexpr const char* name = "rule";
  double rate = 1;
  std::int64_t steps = 3;

  static void for_each_option(auto& self, auto&& f) {
    f("rate", self.rate, optim::positive);
    f("steps", self.steps, optim::at_least{3, "a number of steps"});
  }
};

struct checked_rule : rule {
  void validate() const {
    if (rate < static_cast<double>(steps)) throw dp::argument_error("rule: the rate is below the steps.");
  }
};

}  // namespace

TEST_CASE("a number outside of its range is named with the range", "[optim]") {
  optim::validate(rule{});
  CHECK_THROWS_WITH(optim::validate(rule{.rate = 0}),
                    Catch::Matchers::ContainsSubstring("rule: rate") &&
                        Catch::Matchers::ContainsSubstring("a finite number above 0"));
  CHECK_THROWS_AS(optim::validate(rule{.rate = std::numeric_limits<double>::infinity()}), dp::argument_error);
  CHECK_THROWS_AS(optim::validate(rule{.rate = std::numeric_limits<double>::quiet_NaN()}), dp::argument_error);
  CHECK_THROWS_WITH(optim::validate(rule{.steps = 2}),
                    "devplace: rule: steps is 2; it is a number of steps, at least 3.");
}

TEST_CASE("ranges have the ends that their texts name", "[optim]") {
  const auto takes = [](const optim::number_range& range, double value) {
    try {
      range.require(value, "rule", "rate");
    } catch (const dp::argument_error&) {
      return false;
    }
    return true;
  };
  CHECK(!takes(optim::positive, 0));
  CHECK(takes(optim::positive, 5e-324));
  CHECK(takes(optim::not_negative, 0));
  CHECK(!takes(optim::not_negative, -5e-324));
  CHECK(takes(optim::decay_rate, 0));
  CHECK(!takes(optim::decay_rate, 1));
  CHECK(takes(optim::proportion, 1));
  CHECK(!takes(optim::proportion, 1.0000000000000002));
}

TEST_CASE("a rule's own validate() follows the ranges", "[optim]") {
  CHECK_THROWS_WITH(optim::validate(checked_rule{}), Catch::Matchers::ContainsSubstring("below the steps"));
  checked_rule negative;
  negative.rate = -1;
  CHECK_THROWS_WITH(optim::validate(negative), Catch::Matchers::ContainsSubstring("a finite number above 0"));
}
