// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "support/software_gpu/program.hpp"

// Operations on the lanes of a warp, made from a function of the elements.

namespace devplace::test::software_gpu {

/// A number of type f16.
using half = _Float16;
/// A number of type bf16.
struct bfloat {
  u16 bits;

  /// Rounds to nearest.
  explicit bfloat(float x)
      : bits(static_cast<u16>((std::bit_cast<u32>(x) + 0x7fff + (std::bit_cast<u32>(x) >> 16 & 1)) >> 16)) {}
  operator float() const { return std::bit_cast<float>(u32{bits} << 16); }
};

struct frame;
struct warp;
struct block_state;
struct launch_state;

/// The operands of a running instruction: a frame's registers and the active lanes.
struct execution {
  std::array<unsigned char*, 2> planes{};
  u32 active = 0;
  frame* in = nullptr;
  warp* of = nullptr;
  block_state* block = nullptr;
  launch_state* launch = nullptr;
  u32* defined = nullptr;  ///< for each register, the lanes whose value is defined

  unsigned char* at(const operand& o) const { return planes[static_cast<std::size_t>(o.base)] + o.offset; }

  /// Returns the mask of a predicate.
  u32 predicate(const operand& o) const {
    u32 mask;
    std::memcpy(&mask, at(o), sizeof mask);
    return mask;
  }
  void set_predicate(const operand& o, u32 mask) const {
    mask = (predicate(o) & ~active) | (mask & active);
    std::memcpy(at(o), &mask, sizeof mask);
  }
  /// Makes a result defined in those of the active lanes that `known` names.
  void define(const operand& result, u32 known) const {
    u32& mask = defined[result.index];
    mask = (mask & ~active) | (known & active);
  }
};

/// Calls f with a pointer to unsigned numbers of the size of an operand's lanes.
template <class F> void with_lanes(const execution& e, const operand& o, F f) {
  unsigned char* const lanes = e.at(o);
  if (o.bytes == 8) return f(reinterpret_cast<u64*>(lanes));
  if (o.bytes == 4) return f(reinterpret_cast<u32*>(lanes));
  if (o.bytes == 2) return f(reinterpret_cast<u16*>(lanes));
  f(lanes);
}

/// The lanes of a source as T. A register may be wider than an integer that an instruction reads, or an address wider
/// than the register.
template <class T> class lanes_of {
 public:
  lanes_of(const execution& e, const operand& o) : values_(reinterpret_cast<const T*>(e.at(o))) {
    if constexpr (std::is_integral_v<T>)
      if (o.bytes != sizeof(T)) {
        with_lanes(e, o, [&](const auto* from) {
          for (unsigned lane = 0; lane < warp_size; ++lane) converted_[lane] = static_cast<T>(from[lane]);
        });
        values_ = converted_;
      }
  }
  lanes_of(const lanes_of&) = delete;
  lanes_of& operator=(const lanes_of&) = delete;

  const T* values() const { return values_; }
  const T& operator[](unsigned lane) const { return values_[lane]; }

 private:
  const T* values_;
  alignas(64) T converted_[warp_size];
};

/// Writes results of the active lanes; a register wider than T holds T extended by its sign or zeros.
template <class T> void store_lanes(const execution& e, const operand& o, const T* results) {
  const auto store = [&](auto* to) {
    each_lane(e.active, [&](unsigned lane) { to[lane] = static_cast<std::decay_t<decltype(*to)>>(results[lane]); });
  };
  if (o.bytes != sizeof(T)) {
    if constexpr (std::is_integral_v<T>) with_lanes(e, o, store);
  } else if (e.active == all_lanes) {
    std::memcpy(e.at(o), results, sizeof(T) * warp_size);
  } else {
    store(reinterpret_cast<T*>(e.at(o)));
  }
}

/// Copies each source to its result.
template <class T> void copy_lanes(execution& e, const instruction& i) {
  for (u8 k = 0; k < i.to_count; ++k) store_lanes(e, i.to[k], lanes_of<T>(e, i.from[k]).values());
}

/// Packs 32 bytes of 0 or 1 into a mask.
inline u32 packed_mask(const u8* truth) {
  u32 mask = 0;
  for (unsigned k = 0; k < 4; ++k) {
    u64 eight;
    std::memcpy(&eight, truth + std::size_t{8} * k, 8);
    mask |= static_cast<u32>(eight * 0x0102040810204080U >> 56) << (8 * k);
  }
  return mask;
}

/// Applies F to each active lane.
template <class F, class D, class... S> void elementwise(execution& e, const instruction& i) {
  alignas(64) D results[warp_size];
  const auto compute = [&](const S*... from) {
    if (e.active == all_lanes)
      for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = F{}(from[lane]...);
    else
      each_lane(e.active, [&](unsigned lane) { results[lane] = F{}(from[lane]...); });
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    compute(lanes_of<S>(e, i.from[k]).values()...);
  }(std::index_sequence_for<S...>{});
  store_lanes(e, i.to[0], results);
}
/// Joins two parts by F. Structures are copied with their padding: one part with a value is enough.
template <class F, class D, class... S> void join_parts(execution& e, const instruction& i) {
  elementwise<F, D, S...>(e, i);
  u32 known = i.from[0].index == 0 && i.from[1].index == 0 ? all_lanes : 0;
  for (const u8 k : {u8{0}, u8{1}})
    if (i.from[k].index != 0) known |= e.defined[i.from[k].index];  // 0: an immediate value
  e.define(i.to[0], known);
}
template <class T> constexpr const char* name_of() {
  if constexpr (std::is_same_v<T, half>) return ".f16";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ".f32" : ".f64";
  constexpr std::array<const char*, 4> with_sign{".s8", ".s16", ".s32", ".s64"}, without{".u8", ".u16", ".u32", ".u64"};
  return (std::is_signed_v<T> ? with_sign : without)[static_cast<std::size_t>(std::bit_width(sizeof(T)) - 1)];
}

/// Adds `name`.S, which applies F to sources of type S and more.
template <class D, class S, class... More, class F> void add(operation_table& table, const std::string& name, F) {
  table[name + name_of<S>()] = {&elementwise<F, D, S, More...>, {sizeof(S), sizeof(More)...}};
}
/// Adds `name`.T for each of the types: F takes 1, 2 or 3 numbers of type T and returns a T.
template <class... T, class F> void add_unary(operation_table& table, const std::string& name, F f) {
  (add<T, T>(table, name, f), ...);
}
template <class... T, class F> void add_binary(operation_table& table, const std::string& name, F f) {
  (add<T, T, T>(table, name, f), ...);
}
template <class... T, class F> void add_ternary(operation_table& table, const std::string& name, F f) {
  (add<T, T, T, T>(table, name, f), ...);
}

}  // namespace devplace::test::software_gpu
