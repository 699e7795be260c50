// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "support/software_gpu/lanes.hpp"

// cvt between all integers and binary formats. `instruction::mode` is 1 where .rni, .rzi, .rmi or .rpi round to an
// integral value.

namespace devplace::test::software_gpu {

namespace {

double integral(double x, rounding mode) {
  switch (mode) {
    case rounding::zero:
      return std::trunc(x);
    case rounding::down:
      return std::floor(x);
    case rounding::up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

/// Converts to an integer, with the nearest one for numbers out of range.
template <class D> D to_integer(double x) {
  if (std::isnan(x)) return sizeof(D) == 8 ? static_cast<D>(u64{1} << 63) : D{0};
  if (x <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  // The largest integer of 64 bits rounds up to a power of two, which is out of range.
  if (x >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(x);
}

/// Returns an integer as double such that rounding to 24 bits or less sees whether bits were lost.
template <class S> double exact_for_narrow(S x) {
  if constexpr (sizeof(S) == 8) {
    const auto low = static_cast<u64>(x) & 4095;
    return static_cast<double>(static_cast<S>(x - static_cast<S>(low) + (low != 0 ? 2048 : 0)));
  } else {
    return static_cast<double>(x);
  }
}

template <class D, class S> D converted(S x, const instruction& i) {
  if constexpr (is_floating<S>) {
    if constexpr (std::is_same_v<S, float>)
      if (i.ftz) x = flushed(x);
    const double value = i.mode == 1 ? integral(static_cast<double>(x), i.round) : static_cast<double>(x);
    if constexpr (std::is_integral_v<D>)
      return to_integer<D>(value);
    else if constexpr (is_small_float<D>)
      return D(value, i.round);
    else if constexpr (std::is_same_v<D, float>) {
      const float result = std::isnan(value) ? std::bit_cast<float>(0x7fffffffU) : static_cast<float>(value);
      return i.ftz ? flushed(result) : result;
    } else
      return value;
  } else {
    if constexpr (is_small_float<D>)
      return D(exact_for_narrow(x), i.round);
    else if constexpr (std::is_integral_v<D>) {
      if (i.sat && !std::in_range<D>(x)) return x < 0 ? std::numeric_limits<D>::min() : std::numeric_limits<D>::max();
      return static_cast<D>(x);
    } else
      return static_cast<D>(x);
  }
}

template <class D, class S> void convert(execution& e, const instruction& i) {
  const lanes_of<S> from(e, i.from[0]);
  D results[warp_size];
  if (e.active == all_lanes && !i.sat && !i.ftz && i.mode == 0 && !is_small_float<D>) {
    const instruction plain;
    for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = converted<D, S>(from[lane], plain);
  } else {
    e.each([&](unsigned lane) {
      results[lane] = converted<D, S>(from[lane], i);
      if constexpr (is_floating<D>)
        if (i.sat) results[lane] = saturated(results[lane]);
    });
  }
  store_lanes(e, i.to[0], results);
}

template <class D, class... S> void add_to(operation_table& table) {
  ((table[std::string("cvt") + name_of<D>() + name_of<S>()] = {&convert<D, S>, sizeof(D), {sizeof(S)}}), ...);
}
template <class... D> void add_to_each(operation_table& table) {
  (add_to<D, u8, s8, u16, s16, u32, s32, u64, s64, half, bfloat, float, double>(table), ...);
}

/// Joins parts to a wider register, the first part in the lowest bits, or takes a register apart.
template <class Whole, class Part> void join(execution& e, const instruction& i) {
  Whole results[warp_size] = {};
  for (unsigned k = 0; k < sizeof(Whole) / sizeof(Part); ++k) {
    const lanes_of<Part> part(e, i.from[k]);
    for (unsigned lane = 0; lane < warp_size; ++lane)
      results[lane] = static_cast<Whole>(results[lane] | static_cast<Whole>(part[lane]) << (8 * sizeof(Part) * k));
  }
  store_lanes(e, i.to[0], results);
}
template <class Whole, class Part> void take_apart(execution& e, const instruction& i) {
  const lanes_of<Whole> whole(e, i.from[0]);
  Part results[sizeof(Whole) / sizeof(Part)][warp_size];
  for (unsigned k = 0; k < sizeof(Whole) / sizeof(Part); ++k)
    for (unsigned lane = 0; lane < warp_size; ++lane)
      results[k][lane] = static_cast<Part>(whole[lane] >> (8 * sizeof(Part) * k));
  for (unsigned k = 0; k < sizeof(Whole) / sizeof(Part); ++k) store_lanes(e, i.to[k], results[k]);
}
template <class Whole, class Part> void add_parts(operation_table& table) {
  const u8 part = sizeof(Part), whole = sizeof(Whole);
  const std::string kind = std::to_string(part) + "." + std::to_string(whole);
  table["join." + kind] = {&join<Whole, Part>, whole, {part, part, part, part}};
  table["take_apart." + kind] = {&take_apart<Whole, Part>, part, {whole}};
}

/// The first source becomes the high half.
template <class T> void convert_pair(execution& e, const instruction& i) {
  const lanes_of<float> high(e, i.from[0]), low(e, i.from[1]);
  pair<T> results[warp_size];
  e.each([&](unsigned lane) { results[lane] = {T(low[lane], i.round), T(high[lane], i.round)}; });
  store_lanes(e, i.to[0], results);
}

/// tf32 lies in a float's bits.
void convert_tf32(execution& e, const instruction& i) {
  const lanes_of<float> from(e, i.from[0]);
  u32 results[warp_size];
  e.each([&](unsigned lane) { results[lane] = narrow(from[lane], tf32_format, i.round) << 13; });
  store_lanes(e, i.to[0], results);
}

}  // namespace

void add_conversions(operation_table& table) {
  add_to_each<u8, s8, u16, s16, u32, s32, u64, s64, half, bfloat, float, double>(table);
  table["cvt.f16x2.f32"] = {&convert_pair<half>, 4, {4, 4}};
  table["cvt.bf16x2.f32"] = {&convert_pair<bfloat>, 4, {4, 4}};
  add_parts<u16, u8>(table), add_parts<u32, u8>(table), add_parts<u32, u16>(table), add_parts<u64, u16>(table);
  add_parts<u64, u32>(table);
  table["cvt.tf32.f32"] = {&convert_tf32, 4, {4}};
}

}  // namespace devplace::test::software_gpu
