// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <string>

#include "support/software_gpu/decoder.hpp"
#include "support/software_gpu/memory.hpp"

// Operations of lanes that wait for each other: shuffles, votes, matches, reductions, matrices, and barriers. The
// executor runs one when all lanes have come that the last operand names; these are `execution::active`.

namespace devplace::test::software_gpu {

namespace {

enum shuffle_mode : u8 { up, down, butterfly, index };
enum vote_mode : u8 { ballot, any, all, uniform };

void shuffle(execution& e, const instruction& i) {
  const lanes_of<u32> value(e, i.from[0]), distance(e, i.from[1]), limit(e, i.from[2]);
  u32 results[warp_size], found = 0, defined = 0;
  e.each([&](unsigned lane) {
    const u32 by = distance[lane] & 31, clamp = limit[lane] & 31, segment = limit[lane] >> 8 & 31;
    const u32 last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    u32 from = lane;
    bool inside = false;
    switch (i.mode) {
      case up:
        from = lane - by, inside = static_cast<s32>(from) >= static_cast<s32>(last);
        break;
      case down:
        from = lane + by, inside = from <= last;
        break;
      case butterfly:
        from = lane ^ by, inside = from <= last;
        break;
      default:
        from = first | (by & ~segment), inside = from <= last;
    }
    if (!inside) from = lane;
    if ((e.active >> from & 1) == 0) report(e, i, lane, "a shuffle from a lane that does not take part");
    results[lane] = value[from];
    found |= static_cast<u32>(inside) << lane;
    defined |= (e.defined[i.from[0].index] >> from & 1) << lane;
  });
  store_lanes(e, i.to[0], results);
  if (i.to_count == 2) e.set_predicate(i.to[1], found);
  for (u8 k = 0; k < i.to_count; ++k) {
    u32& d = e.defined[i.to[k].index];
    d = (d & ~e.active) | (k == 0 ? defined : e.active);
  }
}

void vote(execution& e, const instruction& i) {
  const u32 votes = e.predicate(i.from[0]) & e.active;
  if (i.mode == ballot) {
    e.each([&](unsigned lane) { e.set(i.to[0], lane, votes); });
  } else {
    const bool result = i.mode == any ? votes != 0 : votes == e.active || (i.mode == uniform && votes == 0);
    e.set_predicate(i.to[0], result ? all_lanes : 0);
  }
}

void match(execution& e, const instruction& i) {
  bool equal = true;
  const u64 first = e.get(i.from[0], static_cast<unsigned>(std::countr_zero(e.active)));
  u32 results[warp_size];
  e.each([&](unsigned lane) {
    const u64 mine = e.get(i.from[0], lane);
    equal = equal && mine == first;
    results[lane] = 0;
    e.each([&](unsigned other) { results[lane] |= e.get(i.from[0], other) == mine ? 1U << other : 0; });
  });
  const bool needs_all = i.mode == all;
  if (needs_all) std::fill_n(results, warp_size, equal ? e.active : 0);
  store_lanes(e, i.to[0], results);
  if (i.to_count == 2) e.set_predicate(i.to[1], equal ? all_lanes : 0);
}

template <class T, class F> void reduce(execution& e, const instruction& i) {
  const lanes_of<T> value(e, i.from[0]);
  T result = value[static_cast<unsigned>(std::countr_zero(e.active))], results[warp_size];
  const u32 first = e.active & (0 - e.active);
  for (u32 rest = e.active & ~first; rest != 0; rest &= rest - 1)
    result = F{}(result, value[static_cast<unsigned>(std::countr_zero(rest))]);
  std::fill_n(results, warp_size, result);
  store_lanes(e, i.to[0], results);
}
template <class T, class F> run_function reduction(F) { return &reduce<T, F>; }

run_function reduction_named(decoder& d) {
  const bool has_sign = d.type() == "s32";
  if (d.has("add")) return reduction<u32>([](u32 a, u32 b) { return a + b; });
  if (d.has("and")) return reduction<u32>([](u32 a, u32 b) { return a & b; });
  if (d.has("or")) return reduction<u32>([](u32 a, u32 b) { return a | b; });
  if (d.has("xor")) return reduction<u32>([](u32 a, u32 b) { return a ^ b; });
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto largest = [](auto a, auto b) { return std::max(a, b); };
  if (d.has("min")) return has_sign ? reduction<s32>(least) : reduction<u32>(least);
  return has_sign ? reduction<s32>(largest) : reduction<u32>(largest);
}

void warp_barrier(execution& e, const instruction&) {
  e.block->order->warp_barrier(e.of->number, e.active, ++e.launch->order.now);
  ++e.launch->order.now;
}

void active_mask(execution& e, const instruction& i) {
  e.each([&](unsigned lane) { e.set(i.to[0], lane, e.active); });
}

/// Rows of 8 numbers of 16 bits, whose addresses the lanes give: lanes 0 to 7 of the first matrix, and so on.
void load_matrices(execution& e, const instruction& i) {
  u16 rows[warp_size][8] = {};
  const u32 everyone = e.active;
  e.active = i.count == 4 ? all_lanes : (1U << (8 * i.count)) - 1;
  each_address(e, i, [&](unsigned lane, u64 address) {
    const place at = locate(e, i, lane, address, 16, access::read);
    if (at.data != nullptr) std::copy_n(at.data, 16, reinterpret_cast<u8*>(rows[lane]));
  });
  e.active = everyone;
  const bool transposed = i.mode != 0;
  for (unsigned k = 0; k < i.count; ++k)
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const unsigned row = lane / 4, column = lane % 4 * 2;
      const u16 low = transposed ? rows[8 * k + column][row] : rows[8 * k + row][column];
      const u16 high = transposed ? rows[8 * k + column + 1][row] : rows[8 * k + row][column + 1];
      e.set(i.to[k], lane, u32{high} << 16 | low);
    }
}

/// A (16 x k) times B (k x 8) plus C, with a lane's fragments as PTX places them; k = 8 * i.count. Sums are rounded
/// once.
template <class T> void multiply_matrices(execution& e, const instruction& i) {
  const unsigned depth = 8U * i.count, a_registers = 2U * i.count;
  float a[16][16], b[16][8];
  const auto parts = [&](const operand& o, unsigned lane) {
    return std::bit_cast<pair<T>>(static_cast<u32>(e.get(o, lane)));
  };
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const unsigned of = lane / 4, at = lane % 4 * 2;
    for (unsigned r = 0; r < a_registers; ++r) {
      const auto p = parts(i.from[r], lane);
      const unsigned row = of + 8 * (r % 2), column = at + 8 * (r / 2);
      a[row][column] = p.low, a[row][column + 1] = p.high;
    }
    for (unsigned r = 0; r < i.count; ++r) {
      const auto p = parts(i.from[a_registers + r], lane);
      b[at + 8 * r][of] = p.low, b[at + 8 * r + 1][of] = p.high;
    }
  }
  for (unsigned lane = 0; lane < warp_size; ++lane)
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = lane / 4 + 8 * (r / 2), column = lane % 4 * 2 + r % 2;
      double sum = std::bit_cast<float>(static_cast<u32>(e.get(i.from[a_registers + i.count + r], lane)));
      for (unsigned k = 0; k < depth; ++k) sum += static_cast<double>(a[row][k]) * static_cast<double>(b[k][column]);
      e.set(i.to[r], lane, std::bit_cast<u32>(static_cast<float>(sum)));
    }
}

bool decode_matrices(decoder& d, instruction& i) {
  i.whole_warp = true;
  if (d.words[0] == "ldmatrix") {
    i.run = &load_matrices, i.mode = d.has("trans") ? 1 : 0, i.where = space::shared;
    i.count = d.has("x4") ? 4 : (d.has("x2") ? 2 : 1);
    d.to_each(d.arguments.at(0)), d.address(i, d.arguments.at(1));
    return d.has("m8n8") && d.type() == "b16";
  }
  const bool halves = d.has("f16");
  i.run = halves ? &multiply_matrices<half> : &multiply_matrices<bfloat>;
  i.count = d.has("m16n8k16") ? 2 : 1;
  for (std::size_t k = 0; k < 4; ++k)
    if (k == 0)
      d.to_each(d.arguments.at(0));
    else
      d.from_each(d.arguments.at(k), 4);
  return (d.has("m16n8k16") || d.has("m16n8k8")) && d.type() == "f32" && d.words.at(d.words.size() - 4) == "f32" &&
         (halves || d.has("bf16"));
}

bool decode_barrier(decoder& d, instruction& i) {
  if (d.has("warp")) {
    i.what = action::collective, i.run = &warp_barrier;
    d.from(d.arguments.at(0), 4);
    return true;
  }
  i.what = action::barrier, i.whole_warp = d.words[0] == "bar" || d.has("aligned");
  const bool reduces = d.has("red");
  if (reduces) i.mode = d.has("popc") ? 1 : (d.has("and") ? 2 : 3);
  // Barriers of a part of the block name the number of their threads.
  if (!(d.has("sync") || reduces) || d.arguments.size() != (reduces ? 3U : 1U)) return false;
  if (reduces) d.to(d.arguments[0]);
  d.from(d.arguments[reduces ? 1 : 0], 4);
  if (reduces) d.from(d.arguments[2], 0);
  return true;
}

}  // namespace

bool decode_warp_operation(decoder& d, instruction& i) {
  const std::string_view name = d.words[0];
  if (name == "bar" || name == "barrier") return decode_barrier(d, i);
  if (name == "activemask") {
    i.run = &active_mask;
    d.to(d.arguments.at(0));
    return true;
  }
  if (!d.has("sync")) return false;
  i.what = action::collective;
  if (name == "ldmatrix" || name == "mma") return decode_matrices(d, i);
  if (name == "shfl") {
    i.run = &shuffle, i.defines = true;
    i.mode = d.has("up") ? up : (d.has("down") ? down : (d.has("bfly") ? butterfly : index));
  } else if (name == "vote") {
    i.run = &vote;
    i.mode = d.has("ballot") ? ballot : (d.has("any") ? any : (d.has("all") ? all : uniform));
  } else if (name == "match") {
    i.run = &match, i.mode = d.has("all") ? all : any;
  } else if (name == "redux") {
    i.run = reduction_named(d);
  } else {
    return false;
  }
  for (const std::string_view result : split(d.arguments.at(0), '|')) d.to(result);
  const u8 bytes = name == "vote" ? 0 : size_of_type(d.type());
  for (std::size_t k = 1; k < d.arguments.size(); ++k) d.from(d.arguments[k], k == 1 ? bytes : u8{4});
  return true;
}

}  // namespace devplace::test::software_gpu
