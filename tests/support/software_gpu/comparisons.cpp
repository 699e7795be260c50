// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <string>

#include "support/software_gpu/lanes.hpp"

// Comparisons, selections, and the logic of predicates, which are masks of a warp's lanes.

namespace devplace::test::software_gpu {

namespace {

template <class F, class T> void compare(execution& e, const instruction& i) {
  const lanes_of<T> a(e, i.from[0]), b(e, i.from[1]);
  u8 truth[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) truth[lane] = F{}(a[lane], b[lane]) ? 1 : 0;
  e.set_predicate(i.to[0], packed_mask(truth));
}
template <class... T, class F> void add_comparison(operation_table& table, const std::string& name, F) {
  ((table["setp." + name + name_of<T>()] = {&compare<F, T>, {sizeof(T), sizeof(T)}}), ...);
}

template <class... T> void add_ordered(operation_table& table) {
  add_comparison<T...>(table, "eq", [](auto a, auto b) { return a == b; });
  add_comparison<T...>(table, "lt", [](auto a, auto b) { return a < b; });
  add_comparison<T...>(table, "le", [](auto a, auto b) { return a <= b; });
  add_comparison<T...>(table, "gt", [](auto a, auto b) { return a > b; });
  add_comparison<T...>(table, "ge", [](auto a, auto b) { return a >= b; });
}
/// Comparisons that are true where an operand is NaN, and those that look for NaN.
template <class... T> void add_unordered(operation_table& table) {
  add_comparison<T...>(table, "ne", [](auto a, auto b) { return a < b || a > b; });
  add_comparison<T...>(table, "neu", [](auto a, auto b) { return a != b; });
  add_comparison<T...>(table, "ltu", [](auto a, auto b) { return !(a >= b); });
  add_comparison<T...>(table, "leu", [](auto a, auto b) { return !(a > b); });
  add_comparison<T...>(table, "gtu", [](auto a, auto b) { return !(a <= b); });
  add_comparison<T...>(table, "geu", [](auto a, auto b) { return !(a < b); });
  add_comparison<T...>(table, "num", [](auto a, auto b) { return !std::isunordered(a, b); });
  add_comparison<T...>(table, "nan", [](auto a, auto b) { return std::isunordered(a, b); });
}

/// Only the selected operand need be defined: nvcc selects where a branch would have skipped a variable's first use.
template <class T> void select(execution& e, const instruction& i) {
  const lanes_of<T> a(e, i.from[0]), b(e, i.from[1]);
  const u32 mask = e.predicate(i.from[2]);
  T results[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = (mask >> lane & 1) != 0 ? a[lane] : b[lane];
  store_lanes(e, i.to[0], results);
  e.define(i.to[0],
           e.defined[i.from[2].index] & ((mask & e.defined[i.from[0].index]) | (~mask & e.defined[i.from[1].index])));
}
template <class... T> void add_selections(operation_table& table) {
  ((table[std::string("selp") + name_of<T>()] = {&select<T>, {sizeof(T), sizeof(T), 0}, true}), ...);
}

template <class F> void add_predicate_logic(operation_table& table, const std::string& name, std::vector<u8> from, F) {
  const auto run = [](execution& e, const instruction& i) {
    e.set_predicate(i.to[0], F{}(e.predicate(i.from[0]), e.predicate(i.from[i.from_count - 1])));
  };
  table[name + ".pred"] = {run, std::move(from)};
}

}  // namespace

void add_comparisons(operation_table& table) {
  add_ordered<u16, s16, u32, s32, u64, s64, float, double>(table), add_unordered<float, double>(table);
  add_comparison<u16, s16, u32, s32, u64, s64>(table, "ne", [](auto a, auto b) { return a != b; });
  add_selections<u16, s16, u32, s32, u64, s64, float, double>(table);
  add_predicate_logic(table, "and", {0, 0}, [](u32 a, u32 b) { return a & b; });
  add_predicate_logic(table, "or", {0, 0}, [](u32 a, u32 b) { return a | b; });
  add_predicate_logic(table, "xor", {0, 0}, [](u32 a, u32 b) { return a ^ b; });
  add_predicate_logic(table, "not", {0}, [](u32 a, u32) { return ~a; });
  add_predicate_logic(table, "mov", {0}, [](u32 a, u32) { return a; });
}

}  // namespace devplace::test::software_gpu
