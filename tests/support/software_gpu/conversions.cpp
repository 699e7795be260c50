// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>

#include "support/software_gpu/lanes.hpp"

// Conversions between integers, float, double and half, and moves between registers.

namespace devplace::test::software_gpu {

namespace {

template <class D> struct convert_to {
  template <class S> D operator()(S x) const {
    if constexpr (std::is_integral_v<D> && std::is_floating_point_v<S>) {
      // Numbers out of range become the nearest integer.
      if (std::isnan(x)) return sizeof(D) == 8 ? static_cast<D>(u64{1} << 63) : D{0};
      if (x <= static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
      // The largest integer may round up to a power of two, which is out of range.
      if (x >= static_cast<S>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
      return static_cast<D>(x);
    } else if constexpr (std::is_same_v<D, float>) {
      const auto result = static_cast<float>(x);
      return std::isnan(result) ? std::bit_cast<float>(0x7fffffffU) : result;
    } else if constexpr (std::is_same_v<D, half> || std::is_same_v<D, bfloat>) {
      return std::isnan(x) ? std::bit_cast<D>(u16{0x7fff}) : static_cast<D>(x);
    } else {
      return static_cast<D>(x);
    }
  }
};
template <class D, class... S> void add_from(operation_table& table) {
  (add<D, S>(table, std::string("cvt") + name_of<D>(), convert_to<D>{}), ...);
}
template <class... D> void add_conversions_of_all(operation_table& table) {
  (add_from<D, u8, s8, u16, s16, u32, s32, u64, s64, float, double>(table), ...);
}

/// Adds conversions that first round to an integral value by F.
template <class S, class... D, class F> void add_rounding(operation_table& table, const std::string& name, F) {
  (add<D, S>(table, name + name_of<D>(), [](S x) { return convert_to<D>{}(F{}(x)); }), ...);
}
template <class S> void add_roundings(operation_table& table) {
  add_rounding<S, u32, s32, u64, s64, S>(table, "cvt.rni", [](S x) { return std::nearbyint(x); });
  add_rounding<S, u32, s32, u64, s64, S>(table, "cvt.rzi", [](S x) { return std::trunc(x); });
  add_rounding<S, u32, s32, u64, s64, S>(table, "cvt.rmi", [](S x) { return std::floor(x); });
  add_rounding<S, u32, s32, u64, s64, S>(table, "cvt.rpi", [](S x) { return std::ceil(x); });
}

template <class... T> void add_moves(operation_table& table) {
  ((table[std::string("mov") + name_of<T>()] = {&copy_lanes<T>, {sizeof(T)}}), ...);
}
/// Joins two registers to a wider one, the first in its lower half, or takes a register apart.
template <class Whole, class Half> struct joined {
  Whole operator()(Half low, Half high) const {
    return static_cast<Whole>(low | static_cast<Whole>(high) << (8 * sizeof(Half)));
  }
};
template <class Whole, class Half> void take_apart(execution& e, const instruction& i) {
  const lanes_of<Whole> whole(e, i.from[0]);
  Half low[warp_size], high[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    low[lane] = static_cast<Half>(whole[lane]);
    high[lane] = static_cast<Half>(whole[lane] >> (8 * sizeof(Half)));
  }
  store_lanes(e, i.to[0], low), store_lanes(e, i.to[1], high);
}

}  // namespace

void add_conversions(operation_table& table) {
  add_conversions_of_all<u8, s8, u16, s16, u32, s32, u64, s64, float, double>(table);
  add_roundings<float>(table), add_roundings<double>(table);
  add_from<float, half>(table), add_from<half, float>(table);
  // The first number becomes the upper half.
  const auto add_pairs = [&]<class H>(const std::string& name, convert_to<H>) {
    add<u32, float, float>(table, name, [](float high, float low) {
      const auto bits = [](float x) { return u32{std::bit_cast<u16>(convert_to<H>{}(x))}; };
      return bits(high) << 16 | bits(low);
    });
  };
  add_pairs("cvt.f16x2", convert_to<half>{}), add_pairs("cvt.bf16x2", convert_to<bfloat>{});
  add_moves<u8, s8, u16, s16, u32, s32, u64, s64, float, double>(table);
  table["join.u32"] = {&join_parts<joined<u32, u16>, u32, u16, u16>, {2, 2}, true};
  table["join.u64"] = {&join_parts<joined<u64, u32>, u64, u32, u32>, {4, 4}, true};
  table["take_apart.u32"] = {&take_apart<u32, u16>, {4}}, table["take_apart.u64"] = {&take_apart<u64, u32>, {8}};
}

}  // namespace devplace::test::software_gpu
