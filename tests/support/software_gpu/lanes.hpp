// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "support/software_gpu/program.hpp"

// Operations on the lanes of a warp, made from a function of the elements.

namespace devplace::test::software_gpu {

struct frame;
struct warp;
struct block_state;
struct launch_state;

/// Copies the bytes of an element, whose usual sizes the compiler then knows.
inline void copy_element(void* to, const void* from, std::size_t bytes) {
  switch (bytes) {
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// The operands of a running instruction: a frame's registers and the active lanes.
struct execution {
  std::array<unsigned char*, 3> planes{};
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
    return o.negated ? ~mask : mask;
  }
  void set_predicate(const operand& o, u32 mask) const {
    u32 old;
    std::memcpy(&old, at(o), sizeof old);
    mask = (old & ~active) | (mask & active);
    std::memcpy(at(o), &mask, sizeof mask);
  }

  /// Returns a lane's bits of an operand of any size, extended by zeros.
  u64 get(const operand& o, unsigned lane) const {
    if (o.bytes == 0) return predicate(o) >> lane & 1;
    u64 bits = 0;
    copy_element(&bits, at(o) + std::size_t{lane} * o.bytes, o.bytes);
    return bits;
  }
  void set(const operand& o, unsigned lane, u64 bits) const {
    if (o.bytes == 0) {
      u32 mask;
      std::memcpy(&mask, at(o), sizeof mask);
      mask = (mask & ~(1U << lane)) | (static_cast<u32>(bits & 1) << lane);
      std::memcpy(at(o), &mask, sizeof mask);
    } else {
      copy_element(at(o) + std::size_t{lane} * o.bytes, &bits, o.bytes);
    }
  }

  /// Calls f(lane) for each active lane.
  template <class F> void each(F f) const {
    for (u32 rest = active; rest != 0; rest &= rest - 1) f(static_cast<unsigned>(std::countr_zero(rest)));
  }
};

/// The lanes of a source as T. Registers may be wider than the type of an instruction, in conversions.
template <class T> class lanes_of {
 public:
  lanes_of(const execution& e, const operand& o) {
    if (o.bytes == sizeof(T)) {
      values_ = reinterpret_cast<const T*>(e.at(o));
      return;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const u64 bits = e.get(o, lane);
      std::memcpy(&converted_[lane], &bits, sizeof(T));
    }
    values_ = converted_;
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
  if (o.bytes == sizeof(T)) {
    if (e.active == all_lanes) {
      std::memcpy(e.at(o), results, sizeof(T) * warp_size);
    } else {
      T* const to = reinterpret_cast<T*>(e.at(o));
      e.each([&](unsigned lane) { to[lane] = results[lane]; });
    }
    return;
  }
  e.each([&](unsigned lane) {
    u64 bits = 0;
    if constexpr (std::is_integral_v<T>)
      bits = static_cast<u64>(static_cast<s64>(results[lane]));
    else
      std::memcpy(&bits, &results[lane], sizeof(T));
    e.set(o, lane, bits);
  });
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

template <class T> T with_zeros_for_denormals(const T& x) {
  if constexpr (std::is_same_v<T, float>)
    return flushed(x);
  else
    return x;
}
template <class T> T limited_to_one(const T& x) {
  if constexpr (is_pair<T>)
    return {saturated(x.low), saturated(x.high)};
  else if constexpr (is_floating<T>)
    return saturated(x);
  else
    return x;
}

template <class F, class D, class... S> struct elementwise {
  template <std::size_t... k>
  static void compute(const execution& e, const instruction& i, D* results, const lanes_of<S>&... from) {
    if (i.ftz || i.sat) {
      const auto operand_of = [&](const auto& x) { return i.ftz ? with_zeros_for_denormals(x) : x; };
      e.each([&](unsigned lane) {
        D x = F{}(operand_of(from[lane])...);
        if (i.ftz) x = with_zeros_for_denormals(x);
        results[lane] = i.sat ? limited_to_one(x) : x;
      });
    } else if (e.active == all_lanes) {
      [&](const S*... values) {
        for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = F{}(values[lane]...);
      }(from.values()...);
    } else {
      e.each([&](unsigned lane) { results[lane] = F{}(from[lane]...); });
    }
  }
  template <std::size_t... k> static void run_on(execution& e, const instruction& i, std::index_sequence<k...>) {
    alignas(64) D results[warp_size];
    compute(e, i, results, lanes_of<S>(e, i.from[k])...);
    store_lanes(e, i.to[0], results);
  }
  static void run(execution& e, const instruction& i) { run_on(e, i, std::index_sequence_for<S...>{}); }
};

/// The operation that applies F to each lane.
template <class D, class... S, class F> operation lanewise(F) {
  return {&elementwise<F, D, S...>::run, sizeof(D), {static_cast<u8>(sizeof(S))...}};
}

template <class T> constexpr const char* name_of() {
  if constexpr (std::is_same_v<T, half>) return ".f16";
  if constexpr (std::is_same_v<T, bfloat>) return ".bf16";
  if constexpr (std::is_same_v<T, pair<half>>) return ".f16x2";
  if constexpr (std::is_same_v<T, pair<bfloat>>) return ".bf16x2";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ".f32" : ".f64";
  constexpr std::array<const char*, 4> with_sign{".s8", ".s16", ".s32", ".s64"}, without{".u8", ".u16", ".u32", ".u64"};
  constexpr auto size = static_cast<std::size_t>(std::bit_width(sizeof(T)) - 1);
  return std::is_signed_v<T> ? with_sign[size < 4 ? size : 0] : without[size < 4 ? size : 0];
}

/// Adds `name`.T for each of the types: F takes 1, 2 or 3 numbers of type T and returns a T.
template <class... T, class F> void add_unary(operation_table& table, const std::string& name, F f) {
  ((table[name + name_of<T>()] = lanewise<T, T>(f)), ...);
}
template <class... T, class F> void add_binary(operation_table& table, const std::string& name, F f) {
  ((table[name + name_of<T>()] = lanewise<T, T, T>(f)), ...);
}
template <class... T, class F> void add_ternary(operation_table& table, const std::string& name, F f) {
  ((table[name + name_of<T>()] = lanewise<T, T, T, T>(f)), ...);
}

}  // namespace devplace::test::software_gpu
