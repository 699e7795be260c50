// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <string>

#include "support/software_gpu/lanes.hpp"

// Comparisons, selections, and the logic of predicates, which are masks of a warp's lanes.

namespace devplace::test::software_gpu {

namespace {

/// `instruction::mode` of setp: how the result is combined with a predicate.
enum combination : u8 { alone, and_with, or_with, xor_with };

template <class T> auto value_of(const T& x) {
  if constexpr (is_small_float<T>)
    return static_cast<float>(x);
  else
    return x;
}
template <class T> bool unordered(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) || std::isnan(b);
  else
    return false;
}

template <class F, class T> u32 comparison(const execution& e, const instruction& i) {
  const lanes_of<T> a(e, i.from[0]), b(e, i.from[1]);
  u8 truth[warp_size];
  const auto compare = [&](auto prepared) {
    for (unsigned lane = 0; lane < warp_size; ++lane)
      truth[lane] = F{}(prepared(value_of(a[lane])), prepared(value_of(b[lane]))) ? 1 : 0;
  };
  if (i.ftz)
    compare([](const auto& x) { return with_zeros_for_denormals(x); });
  else
    compare([](const auto& x) { return x; });
  u32 mask = packed_mask(truth);
  return mask;
}

template <class F, class T> void set_predicates(execution& e, const instruction& i) {
  const u32 mask = comparison<F, T>(e, i), with = i.mode == alone ? 0 : e.predicate(i.from[2]);
  const auto combined = [&](u32 m) {
    return i.mode == and_with ? m & with : (i.mode == or_with ? m | with : (i.mode == xor_with ? m ^ with : m));
  };
  e.set_predicate(i.to[0], combined(mask));
  if (i.to_count == 2) e.set_predicate(i.to[1], combined(~mask));
}

/// set: true is all ones in an integer, and 1 in a float.
template <class F, class T, class D> void set_numbers(execution& e, const instruction& i) {
  const u32 mask = comparison<F, T>(e, i);
  D results[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if constexpr (std::is_same_v<D, u32>)
      results[lane] = (mask >> lane & 1) != 0 ? ~0U : 0;
    else
      results[lane] = (mask >> lane & 1) != 0 ? D(1) : D(0);
  }
  store_lanes(e, i.to[0], results);
}

template <class T, class F> void add_comparison(operation_table& table, const std::string& name, F) {
  const u8 size = sizeof(T);
  table["setp." + name + name_of<T>()] = {&set_predicates<F, T>, 0, {size, size}};
  table["set." + name + ".u32" + name_of<T>()] = {&set_numbers<F, T, u32>, 4, {size, size}};
  table["set." + name + ".f32" + name_of<T>()] = {&set_numbers<F, T, float>, 4, {size, size}};
}

template <class... T> void add_for(operation_table& table) {
  const auto add = [&](const char* name, auto f) { (add_comparison<T>(table, name, f), ...); };
  add("eq", [](auto a, auto b) { return a == b; }), add("lt", [](auto a, auto b) { return a < b; });
  add("le", [](auto a, auto b) { return a <= b; }), add("gt", [](auto a, auto b) { return a > b; });
  add("ge", [](auto a, auto b) { return a >= b; });
  add("ne", [](auto a, auto b) { return !unordered(a, b) && a != b; });
}
template <class... T> void add_unordered_for(operation_table& table) {
  const auto add = [&](const char* name, auto f) { (add_comparison<T>(table, name, f), ...); };
  add("equ", [](auto a, auto b) { return unordered(a, b) || a == b; }),
      add("neu", [](auto a, auto b) { return a != b; });
  add("ltu", [](auto a, auto b) { return !(a >= b); }), add("leu", [](auto a, auto b) { return !(a > b); });
  add("gtu", [](auto a, auto b) { return !(a <= b); }), add("geu", [](auto a, auto b) { return !(a < b); });
  add("num", [](auto a, auto b) { return !unordered(a, b); }),
      add("nan", [](auto a, auto b) { return unordered(a, b); });
}

/// Only the selected operand need be defined: nvcc selects where a branch would have skipped a variable's first use.
template <class T> void select(execution& e, const instruction& i) {
  const lanes_of<T> a(e, i.from[0]), b(e, i.from[1]);
  const u32 mask = e.predicate(i.from[2]);
  T results[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = (mask >> lane & 1) != 0 ? a[lane] : b[lane];
  store_lanes(e, i.to[0], results);
  const u32 known =
      e.defined[i.from[2].index] & ((mask & e.defined[i.from[0].index]) | (~mask & e.defined[i.from[1].index]));
  u32& defined = e.defined[i.to[0].index];
  defined = (defined & ~e.active) | (known & e.active);
}

void add_predicate_logic(operation_table& table) {
  const auto add = [&](const char* name, auto f) {
    table[name + std::string(".pred")] = {[](execution& e, const instruction& i) {
      e.set_predicate(i.to[0], decltype(f){}(e.predicate(i.from[0]), e.predicate(i.from[i.from_count - 1])));
    }};
  };
  add("and", [](u32 a, u32 b) { return a & b; }), add("or", [](u32 a, u32 b) { return a | b; });
  add("xor", [](u32 a, u32 b) { return a ^ b; }), add("not", [](u32 a, u32) { return ~a; });
  add("mov", [](u32 a, u32) { return a; });
}

}  // namespace

void add_comparisons(operation_table& table) {
  add_for<u16, s16, u32, s32, u64, s64, half, bfloat, float, double>(table);
  add_unordered_for<half, bfloat, float, double>(table);
  table["selp.u16"] = {&select<u16>, 2, {2, 2}, true}, table["selp.u32"] = {&select<u32>, 4, {4, 4}, true};
  table["selp.u64"] = {&select<u64>, 8, {8, 8}, true};
  add_predicate_logic(table);
}

}  // namespace devplace::test::software_gpu
