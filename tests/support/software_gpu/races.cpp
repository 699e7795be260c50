// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/software_gpu/races.hpp"

#include <algorithm>
#include <bit>

namespace devplace::test::software_gpu {

void block_order::begin(u32 block, u32 thread_count) {
  number = block, threads = thread_count;
  fences.resize(threads);
  known.resize((threads + warp_size - 1) / warp_size);
}

void block_order::end() { fences = {}, pending = {}, known = {}; }

void block_order::warp_barrier(unsigned warp_number, u32 lanes, u32 now) {
  auto& table = known[warp_number];
  std::array<u32, warp_size> all{};
  const auto each_lane = [lanes](auto f) {
    for (u32 rest = lanes; rest != 0; rest &= rest - 1) f(static_cast<std::size_t>(std::countr_zero(rest)));
  };
  each_lane([&](std::size_t lane) {
    for (std::size_t k = 0; k < warp_size; ++k) all[k] = std::max(all[k], table[lane][k]);
  });
  each_lane([&](std::size_t lane) { all[lane] = now; });
  each_lane([&](std::size_t lane) { table[lane] = all; });
}

block_order& launch_order::begin(u32 block, u32 threads) {
  block_order& order = blocks_[block];
  order.begin(block, threads);
  return order;
}

void launch_order::fence(block_order& block, u32 thread) {
  block.fences[thread] = {now, block.barrier};
  for (auto& read : block.pending)
    if (read.thread == thread) {
      const auto same = [&](const block_order::acquire& a) { return a.place == read.place && a.thread == thread; };
      const auto old = std::find_if(block.acquired.begin(), block.acquired.end(), same);
      read.effective = now;
      if (old == block.acquired.end())
        block.acquired.push_back(read);
      else
        *old = read;
    }
  std::erase_if(block.pending, [&](const auto& read) { return read.thread == thread; });
}

void launch_order::synchronise(block_order& block, u32 thread, std::pair<u64, u64> place, bool reads, bool writes,
                               ordering order) {
  const bool acquires = order == ordering::acquire || order == ordering::acquire_release;
  const bool releases = order == ordering::release || order == ordering::acquire_release;
  // A place that nobody has released passes nothing.
  if (const auto found = places_.find(place); reads && found != places_.end()) {
    const sync_place* const at = &found->second;
    std::erase_if(block.pending, [&](const auto& read) { return read.thread == thread && read.place == at; });
    block.pending.push_back({at, thread, now, 0});
  }
  if (acquires || releases) {
    const auto kept = block.fences[thread];
    fence(block, thread);
    if (!releases) block.fences[thread] = kept;
  }
  if (writes && block.fences[thread].time != 0) {
    sync_place& at = places_[place];
    at.of_block[block.number].push_back(at.releases.size());
    at.releases.push_back({block.number * block.threads + thread, block.number, block.fences[thread].time,
                           block.fences[thread].barrier, now});
  }
}

/// Looks for a release of a thread's (or the whole block's) access among those that a reader of the place saw.
bool launch_order::released(const sync_place& place, u32 until, u32 block, u32 thread, u32 time, searched& seen) const {
  u32& before = seen[&place];
  if (before >= until) return false;
  before = until;
  if (const auto at = place.of_block.find(block); at != place.of_block.end())
    for (const std::size_t k : at->second) {
      const auto& r = place.releases[k];
      if (r.time <= until && (time < r.barrier || (r.thread == thread && time <= r.fence))) return true;
    }
  // A thread that released here may have acquired the access at another address before.
  for (const auto& r : place.releases) {
    if (r.time > until) continue;
    const block_order& from = blocks_.at(r.block);
    for (const auto& a : from.acquired)
      if (a.place != &place && a.effective <= r.fence && released(*a.place, a.read, block, thread, time, seen))
        return true;
  }
  return false;
}

bool launch_order::acquired(u32 block, u32 thread, u32 time, const viewer& to) const {
  searched seen;
  for (const auto& a : to.block->acquired) {
    const bool in_warp =
        a.thread / warp_size == to.thread / warp_size &&
        a.effective <= to.block->known[to.thread / warp_size][to.thread % warp_size][a.thread % warp_size];
    if ((a.thread == to.thread || a.effective < to.block->barrier || in_warp) &&
        released(*a.place, a.read, block, thread, time, seen))
      return true;
  }
  return false;
}

bool launch_order::before(u32 thread, u32 time, const viewer& to) const {
  const u32 block = thread / to.block->threads, in_block = thread % to.block->threads;
  if (block == to.block->number) {
    if (in_block == to.thread || time < to.block->barrier) return true;
    const u32 warp = in_block / warp_size;
    if (warp == to.thread / warp_size && time <= to.block->known[warp][to.thread % warp_size][in_block % warp_size])
      return true;
  }
  return acquired(block, thread, time, to);
}

bool launch_order::block_before(u32 block, u32 time, const viewer& to) const {
  return (block == to.block->number && time < to.block->barrier) || acquired(block, whole_block, time, to);
}

race_detector::page& race_detector::page_of(u64 address) {
  const u64 number = address / page_bytes;
  if (number == last_number_) return *last_;
  page& found = pages_[number];
  if (found.cells.empty()) found.cells.resize(page_bytes / 4);
  last_number_ = number, last_ = &found;
  return found;
}

bool race_detector::readers_before(const launch_order& order, const cell& c, const viewer& who) {
  const u32 block = c.reader / who.block->threads, in_block = c.reader % who.block->threads;
  switch (c.scope) {
    case readers::none:
      return true;
    case readers::thread:
      return order.before(c.reader, c.read, who);
    case readers::warp:
      for (u32 rest = c.lanes; rest != 0; rest &= rest - 1) {
        const u32 lane = static_cast<u32>(std::countr_zero(rest));
        if (!order.before(c.reader - in_block % warp_size + lane, c.read, who)) return false;
      }
      return true;
    case readers::block:
      return order.block_before(block, c.read, who);
    default:
      // The readers are not all known; who has acquired from anybody is trusted.
      return order.has_acquired(who);
  }
}

race_detector::conflict race_detector::access_cell(const launch_order& order, const viewer& who, cell& c, bool write,
                                                   bool strong) {
  const u32 me = who.global();
  conflict found;
  if (c.writer != nobody && c.writer != me && !(strong && c.strong_write) && !order.before(c.writer, c.written, who))
    found = {write ? "a write that races with the write" : "a read that races with the write", c.writer};
  if (write) {
    if (!(strong && c.strong_reads) && !(c.scope == readers::thread && c.reader == me) &&
        !readers_before(order, c, who))
      found = {"a write that races with the read", c.reader};
    c.writer = me, c.written = order.now, c.strong_write = strong;
    return found;
  }
  const u32 lane = 1U << (who.thread % warp_size);
  if (c.scope == readers::none || (c.scope == readers::thread && c.reader == me) ||
      (!strong && readers_before(order, c, who))) {
    c.scope = readers::thread, c.lanes = lane, c.strong_reads = strong;
  } else {
    const u32 block = c.reader / who.block->threads, in_block = c.reader % who.block->threads;
    const readers together = block != who.block->number                       ? readers::grid
                             : in_block / warp_size != who.thread / warp_size ? readers::block
                                                                              : readers::warp;
    c.scope = std::max(c.scope, together), c.lanes |= lane, c.strong_reads = c.strong_reads && strong;
  }
  c.reader = me, c.read = order.now;
  return found;
}

race_detector::conflict race_detector::access(const launch_order& order, const viewer& who, u64 address, u32 bytes,
                                              bool write, bool strong) {
  conflict found;
  for (const u64 end = address + bytes; address < end;) {
    page& p = page_of(address);
    if (!p.split && (address % 4 != 0 || end - address < 4)) {
      std::vector<cell> cells;
      for (const cell& c : p.cells) cells.insert(cells.end(), 4, c);
      p.cells = std::move(cells), p.split = true;
    }
    const u64 step = p.split ? 1 : 4;
    const conflict here = access_cell(order, who, p.cells[address % page_bytes / step], write, strong);
    if (here.what != nullptr) found = here;
    address += step;
  }
  return found;
}

}  // namespace devplace::test::software_gpu
