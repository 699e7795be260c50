// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/runtime/step_record.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace runtime = devplace::runtime;

namespace {

/// A rule whose factors are a step's number and rate; `first` is a step that the record notes.
struct rule {
  std::int64_t first = 0;
  double rate = 1;
  template <class T> struct factors {
    T step, rate;
  };
  template <class T> void set(factors<T>& to, std::int64_t t) const { to = {static_cast<T>(t), static_cast<T>(rate)}; }
};
using record = runtime::step_record<rule, float>;

}  // namespace

TEST_CASE("gradients are multiplied by their factor and divided by the sum of weights", "[runtime]") {
  const float gradient = 6, divisor = 4, zero = 0, factor = 0.5F;
  const std::uint32_t yes = 1, no = 0;
  using source = runtime::gradient_source<float>;
  CHECK(source{&gradient, nullptr, nullptr}.factor() == 1);
  CHECK(source{&gradient, &divisor, nullptr}.factor() == 0.25F);
  CHECK(source{&gradient, &divisor, &factor}.factor() == 0.125F);
  CHECK(source{&gradient, &zero, &factor}.factor() == 0);
  CHECK_FALSE(source{&gradient, nullptr, nullptr}.skipped());
  CHECK_FALSE(source{&gradient, nullptr, nullptr, &no}.skipped());
  CHECK(source{&gradient, nullptr, nullptr, &yes}.skipped());
}

TEST_CASE("a place's record continues at its own step and keeps the noted first step", "[runtime]") {
  record r{};
  r.resume({.first = 3, .rate = 2}, 7);  // begins, since it has no step yet
  CHECK(r.step == 7);
  CHECK((r.next.step == 7 && r.next.rate == 2));
  CHECK(r.rule.first == 3);
  r.advance();
  CHECK((r.step == 8 && r.next.step == 8));
  r.resume({.first = 9, .rate = 4}, 12);  // the host has counted skipped steps
  CHECK((r.step == 8 && r.next.step == 8 && r.next.rate == 4));
  CHECK(r.rule.first == 3);
  r.resume({.first = 0}, 12);
  r.resume({.first = 13}, 13);
  CHECK(r.rule.first == 8);
}

TEST_CASE("elements of groups are updated by the record of their group", "[runtime]") {
  constexpr std::size_t unit = runtime::element_alignment;
  const std::vector<std::uint8_t> group_of{0, 0, 1, 1, 1, 0, 2};
  std::vector<record> records(3);
  runtime::grouped_update<rule, float, 1> update{};
  update.steps = records.data();
  update.group_of = group_of.data();
  update.groups = 3;
  for (const std::size_t first : {0 * unit, 1 * unit}) {
    update.first = first;
    for (const std::size_t begin : {std::size_t{0}, unit - 1, 3 * unit}) {
      const std::size_t end = group_of.size() * unit - first - 2;
      std::vector<int> seen(end, 0);
      update.for_each_group(begin, end, [&](const auto& one, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i != to; ++i) {
          ++seen[i];
          CHECK(one.steps - records.data() == group_of[(first + i) / unit]);
        }
      });
      for (std::size_t i = 0; i != end; ++i) REQUIRE(seen[i] == (i < begin ? 0 : 1));
    }
  }
  for (record& one : records) one.begin({}, 1);
  update.advance();
  for (const record& one : records) CHECK(one.step == 2);
}
