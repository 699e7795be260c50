// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/software_gpu/races.hpp"

#include <algorithm>
#include <bit>

namespace devplace::test::software_gpu {

void block_order::warp_barrier(unsigned warp_number, u32 lanes, u32 now) {
  auto& table = known[warp_number];
  std::array<u32, warp_size> all{};
  each_lane(lanes, [&](unsigned lane) {
    for (std::size_t k = 0; k < warp_size; ++k) all[k] = std::max(all[k], table[lane][k]);
  });
  each_lane(lanes, [&](unsigned lane) { all[lane] = now; });
  each_lane(lanes, [&](unsigned lane) { table[lane] = all; });
}

block_order& launch_order::begin(u32 block, u32 threads) {
  block_order& order = blocks_[block];
  order.number = block;
  order.fences.resize(threads), order.known.resize((threads + warp_size - 1) / warp_size);
  return order;
}

void launch_order::fence(block_order& block, u32 thread) {
  block.fences[thread] = {now, block.barrier};
  const auto by_thread = [&](const auto& read) { return read.thread == thread; };
  for (const auto& read : block.pending)
    if (by_thread(read)) {
      std::erase_if(block.acquired, [&](const auto& a) { return by_thread(a) && a.place == read.place; });
      block.acquired.push_back({read.place, thread, read.read, now});
    }
  std::erase_if(block.pending, by_thread);
}

void launch_order::synchronise(block_order& block, u32 thread, std::pair<u64, u64> place, bool reads, bool writes) {
  // A place that nobody has released passes nothing.
  if (const auto found = places_.find(place); reads && found != places_.end()) {
    const sync_place* const at = &found->second;
    std::erase_if(block.pending, [&](const auto& read) { return read.thread == thread && read.place == at; });
    block.pending.push_back({at, thread, now, 0});
  }
  const auto [fence, barrier] = block.fences[thread];
  if (writes && fence != 0) places_[place].insert({block.number, {thread, fence, barrier, now}});
}

/// Looks for a release of the accesses of a thread, or of its block, among those that a reader of the place saw.
bool launch_order::released(const sync_place& place, u32 until, const thread_id& who, u32 time, searched& seen) const {
  u32& before = seen[&place];
  if (before >= until) return false;
  before = until;
  for (auto [at, end] = place.equal_range(who.block); at != end; ++at) {
    const release& r = at->second;
    if (r.time <= until && (time < r.barrier || (r.thread == who.thread && time <= r.fence))) return true;
  }
  // A thread that released here may have acquired the access at another address before.
  for (const auto& [block, r] : place) {
    if (r.time > until) continue;
    for (const auto& a : blocks_.at(block).acquired)
      if (a.place != &place && a.effective <= r.fence && released(*a.place, a.read, who, time, seen)) return true;
  }
  return false;
}

bool launch_order::acquired(const thread_id& who, u32 time, const viewer& to) const {
  searched seen;
  for (const auto& a : to.block->acquired) {
    const bool in_warp =
        a.thread / warp_size == to.thread / warp_size &&
        a.effective <= to.block->known[to.thread / warp_size][to.thread % warp_size][a.thread % warp_size];
    if ((a.thread == to.thread || a.effective < to.block->barrier || in_warp) &&
        released(*a.place, a.read, who, time, seen))
      return true;
  }
  return false;
}

bool launch_order::before(const thread_id& who, u32 time, const viewer& to) const {
  if (who.block == to.block->number) {
    if (who.thread == to.thread || time < to.block->barrier) return true;
    const u32 warp = who.thread / warp_size;
    if (warp == to.thread / warp_size && time <= to.block->known[warp][to.thread % warp_size][who.thread % warp_size])
      return true;
  }
  return !to.block->acquired.empty() && acquired(who, time, to);
}

std::vector<touched_range> race_detector::touched() const {
  const std::map<u64, const page&> ordered(pages_.begin(), pages_.end());
  std::vector<touched_range> ranges;
  for (const bool writes : {false, true})
    for (const auto& [number, p] : ordered)
      for (std::size_t k = 0; k < p.cells.size(); ++k) {
        if ((writes ? p.cells[k].written : p.cells[k].read) == 0) continue;
        const u64 begin = number * page_bytes + k * p.unit;
        const u64 end =
            ranges.empty() || ranges.back().writes != writes ? 0 : ranges.back().begin + ranges.back().bytes;
        if (end != 0 && (begin == end || begin / 256 == (end - 1) / 256))
          ranges.back().bytes = begin + p.unit - ranges.back().begin;
        else
          ranges.push_back({begin, p.unit, writes});
      }
  return ranges;
}

race_detector::page& race_detector::page_of(u64 address, u64 unit) {
  const u64 number = address / page_bytes;
  auto& [recent, found] = recent_[number % recent_.size()];
  if (found == nullptr || recent != number) recent = number, found = &pages_[number];
  if (found->cells.empty()) found->unit = unit, found->cells.resize(page_bytes / unit);
  if (unit < found->unit) {
    std::vector<cell> cells;
    for (const cell& c : found->cells) cells.insert(cells.end(), found->unit / unit, c);
    found->unit = unit, found->cells = std::move(cells);
  }
  return *found;
}

bool race_detector::readers_before(const launch_order& order, const cell& c, const viewer& who) {
  switch (c.scope) {
    case readers::none:
      return true;
    case readers::thread:
      return order.before(c.reader, c.read, who);
    case readers::warp:
      if (c.reader.block == who.block->number && c.read < who.block->barrier) return true;
      for (u32 rest = c.lanes; rest != 0; rest &= rest - 1)
        if (!order.before({c.reader.block, c.reader.thread / warp_size * warp_size + first_lane(rest)}, c.read, who))
          return false;
      return true;
    case readers::block:
      return order.before({c.reader.block, whole_block}, c.read, who);
    default:
      // The readers are not all known; who has acquired from anybody is trusted.
      return !who.block->acquired.empty();
  }
}

race_detector::conflict race_detector::access_cell(const launch_order& order, const viewer& who, cell& c, bool write,
                                                   bool strong) {
  const thread_id me{who.block->number, who.thread};
  conflict found;
  if (c.written != 0 && !(strong && c.strong_write) && !order.before(c.writer, c.written, who))
    found = {write ? "a write that races with the write" : "a read that races with the write", c.writer};
  if (write) {
    if (!(strong && c.strong_reads) && !readers_before(order, c, who))
      found = {"a write that races with the read", c.reader};
    c.writer = me, c.written = order.now, c.strong_write = strong;
    return found;
  }
  const u32 lane = 1U << (who.thread % warp_size);
  if (c.scope == readers::none || (!strong && readers_before(order, c, who))) {
    c.scope = readers::thread, c.lanes = lane, c.strong_reads = strong;
  } else {
    const readers together = c.reader.block != me.block                              ? readers::grid
                             : c.reader.thread / warp_size != who.thread / warp_size ? readers::block
                                                                                     : readers::warp;
    c.scope = std::max(c.scope, together), c.lanes |= lane, c.strong_reads = c.strong_reads && strong;
  }
  c.reader = me, c.read = order.now;
  return found;
}

race_detector::conflict race_detector::access(const launch_order& order, const viewer& who, u64 address, u32 bytes,
                                              bool write, bool strong) {
  conflict found;
  const u64 unit = std::min<u64>(bytes, u64{1} << std::countr_zero(address | 16));
  for (const u64 end = address + bytes; address < end;) {
    page& p = page_of(address, unit);
    const conflict here =
        access_cell(order, who, p.cells[address % page_bytes >> std::countr_zero(p.unit)], write, strong);
    if (here.what != nullptr) found = here;
    address += p.unit;
  }
  return found;
}

}  // namespace devplace::test::software_gpu
