// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "support/software_gpu/warp.hpp"

// Operations of lanes that wait for each other: shuffles, votes, matrices, and barriers. The executor runs one when all
// lanes have come that the last operand names; these are `execution::active`.

namespace devplace::test::software_gpu {

namespace {

/// F returns the lane from which a lane reads, which may be outside of its segment: F(lane, distance, segment's mask).
template <bool Downwards, class F> void shuffle(execution& e, const instruction& i) {
  const lanes_of<u32> value(e, i.from[0]), distance(e, i.from[1]), limit(e, i.from[2]);
  u32 results[warp_size], found = 0, defined = 0;
  each_lane(e.active, [&](unsigned lane) {
    const u32 clamp = limit[lane] & 31, segment = limit[lane] >> 8 & 31, last = (lane & segment) | (clamp & ~segment);
    u32 from = F{}(lane, distance[lane] & 31, segment);
    const bool inside = Downwards ? static_cast<s32>(from) >= static_cast<s32>(last) : from <= last;
    if (!inside) from = lane;
    if ((e.active >> from & 1) == 0) report(e, i, lane, "a shuffle from a lane that does not take part");
    results[lane] = value[from];
    found |= u32{inside} << lane;
    defined |= (e.defined[i.from[0].index] >> from & 1) << lane;
  });
  store_lanes(e, i.to[0], results), e.define(i.to[0], defined);
  if (i.to_count == 2) e.set_predicate(i.to[1], found), e.define(i.to[1], all_lanes);
}
template <bool Downwards = false, class F> void add_shuffle(operation_table& table, const std::string& name, F) {
  table["shfl.sync." + name + ".u32"] = {&shuffle<Downwards, F>, {4, 4, 4, 4}, true, 1, action::collective};
}

void ballot(execution& e, const instruction& i) {
  u32 results[warp_size];
  std::fill_n(results, warp_size, e.predicate(i.from[0]) & e.active);
  store_lanes(e, i.to[0], results);
}
template <bool All> void vote(execution& e, const instruction& i) {
  const u32 votes = e.predicate(i.from[0]) & e.active;
  e.set_predicate(i.to[0], (All ? votes == e.active : votes != 0) ? all_lanes : 0);
}

void warp_barrier(execution& e, const instruction&) {
  e.block->order->warp_barrier(e.of->number, e.active, ++e.launch->order.now);
  ++e.launch->order.now;
}

/// Rows of 8 numbers of 16 bits, whose addresses the lanes give: lanes 0 to 7 of the first matrix, and so on.
template <bool Transposed> void load_matrices(execution& e, const instruction& i) {
  u16 rows[warp_size][8] = {}, states[warp_size][8];  // states: of an element's two bytes
  std::memset(states, has_value, sizeof states);
  each_place(e, i, 16, access::read, [&](unsigned lane, const place& at) {
    if (at.data == nullptr) return;
    std::memcpy(rows[lane], at.data, 16), std::memcpy(states[lane], at.written, 16);
    if (std::count(states[lane], states[lane] + 8, 0) == 8)
      report(e, i, lane, "a read of shared memory that nothing was written to");
  });
  for (unsigned k = 0; k < 4; ++k) {
    u32 results[warp_size], known = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const unsigned row = lane / 4, column = lane % 4 * 2;
      const auto pair = [&](const u16(&from)[warp_size][8]) {
        const u16 low = Transposed ? from[8 * k + column][row] : from[8 * k + row][column];
        const u16 high = Transposed ? from[8 * k + column + 1][row] : from[8 * k + row][column + 1];
        return u32{high} << 16 | low;
      };
      results[lane] = pair(rows);
      known |= u32{(pair(states) & 0x01010101 * has_value) != 0} << lane;
    }
    store_lanes(e, i.to[k], results), e.define(i.to[k], known);
  }
}

/// A (16 x 16) times B (16 x 8) plus C, with a lane's fragments as PTX places them. Sums are rounded once.
template <class T> void multiply_matrices(execution& e, const instruction& i) {
  float a[16][16], b[8][16], results[4][warp_size];
  const auto unpack = [&](const operand& pairs, auto place_of) {
    const lanes_of<u32> bits(e, pairs);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      float* const to = place_of(lane / 4, lane % 4 * 2);
      to[0] = std::bit_cast<T>(static_cast<u16>(bits[lane])),
      to[1] = std::bit_cast<T>(static_cast<u16>(bits[lane] >> 16));
    }
  };
  for (unsigned r = 0; r < 4; ++r)
    unpack(i.from[r], [&](unsigned row, unsigned column) { return &a[row + 8 * (r % 2)][column + 8 * (r / 2)]; });
  for (unsigned r = 0; r < 2; ++r)
    unpack(i.from[4 + r], [&](unsigned column, unsigned row) { return &b[column][row + 8 * r]; });
  for (unsigned r = 0; r < 4; ++r) {
    const lanes_of<float> c(e, i.from[6 + r]);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const unsigned row = lane / 4 + 8 * (r / 2), column = lane % 4 * 2 + r % 2;
      double sum = static_cast<double>(c[lane]);
      for (unsigned k = 0; k < 16; ++k) sum += static_cast<double>(a[row][k]) * static_cast<double>(b[column][k]);
      results[r][lane] = static_cast<float>(sum);
    }
  }
  for (unsigned r = 0; r < 4; ++r) store_lanes(e, i.to[r], results[r]);
}

template <class T> void add_products(operation_table& table, const std::string& type) {
  table["mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type + ".f32"] = {
      &multiply_matrices<T>, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, false, 1, action::collective, true};
}

}  // namespace

void add_warp_operations(operation_table& table) {
  add_shuffle<true>(table, "up", [](u32 lane, u32 by, u32) { return lane - by; });
  add_shuffle(table, "down", [](u32 lane, u32 by, u32) { return lane + by; });
  add_shuffle(table, "bfly", [](u32 lane, u32 by, u32) { return lane ^ by; });
  add_shuffle(table, "idx", [](u32 lane, u32 by, u32 segment) { return (lane & segment) | (by & ~segment); });
  table["vote.sync.all.pred"] = {&vote<true>, {0, 4}, false, 1, action::collective};
  table["vote.sync.any.pred"] = {&vote<false>, {0, 4}, false, 1, action::collective};
  table["vote.sync.ballot.u32"] = table["vote.ballot.sync.u32"] = {&ballot, {0, 4}, false, 1, action::collective};
  table["ldmatrix.sync.aligned.m8n8.x4.u16"] = {&load_matrices<false>, {8}, true, 1, action::collective, true};
  table["ldmatrix.sync.aligned.m8n8.x4.trans.u16"] = {&load_matrices<true>, {8}, true, 1, action::collective, true};
  add_products<half>(table, "f16"), add_products<bfloat>(table, "bf16");
  table["bar.warp.sync"] = {&warp_barrier, {4}, false, 0, action::collective};
  table["bar.sync"] = {nullptr, {4}, false, 0, action::barrier, true};
  table["bar.red.or.pred"] = {nullptr, {4, 0}, false, 1, action::barrier, true};
}

}  // namespace devplace::test::software_gpu
