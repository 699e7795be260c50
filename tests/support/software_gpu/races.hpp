// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/software_gpu/program.hpp"

// Data races. Every access to memory has a thread and a time. Two accesses to the same bytes, one of them a write, must
// be ordered by a barrier of the block, a barrier of the warp, or a release and an acquire: a fence and then an atomic
// write, seen by an atomic read and then a fence. Both may be made by atomics of every strength and without a race.

namespace devplace::test::software_gpu {

/// The releases by atomics or relaxed stores to one address.
struct sync_place {
  struct release {
    u32 thread, block;
    u32 fence;    ///< time of the thread's fence
    u32 barrier;  ///< time of the last barrier of its block before the fence
    u32 time;
  };
  std::vector<release> releases;
  std::unordered_map<u32, std::vector<std::size_t>> of_block;
};

/// The order that the threads of a block have made.
struct block_order {
  struct fence {
    u32 time = 0, barrier = 0;
  };
  struct acquire {
    const sync_place* place;
    u32 thread, read, effective;  ///< times of the read and of the fence after it
  };
  u32 number = 0, threads = 0;
  u32 barrier = 0;  ///< time of the last barrier
  std::vector<fence> fences;
  std::vector<acquire> pending, acquired;
  /// For each warp and lane, until when the lane knows the accesses of the other lanes.
  std::vector<std::array<std::array<u32, warp_size>, warp_size>> known;

  void begin(u32 block, u32 thread_count);
  void end();  ///< keeps what others may have acquired from the block
  void warp_barrier(unsigned warp_number, u32 lanes, u32 now);
};

/// A thread at an access.
struct viewer {
  const block_order* block;
  u32 thread;  ///< in the block
  u32 global() const { return block->number * block->threads + thread; }
};

/// The order of a launch: time, and the blocks that have begun.
class launch_order {
 public:
  u32 now = 1;

  block_order& begin(u32 block, u32 threads);
  void fence(block_order& block, u32 thread);
  /// An atomic or relaxed access to `place`, whose key is unique in the launch.
  void synchronise(block_order& block, u32 thread, std::pair<u64, u64> place, bool reads, bool writes, ordering order);
  /// Returns whether an access of a thread (counted in the grid) at a time is ordered before what `to` does now.
  bool before(u32 thread, u32 time, const viewer& to) const;
  /// The same for all accesses of a block until a time.
  bool block_before(u32 block, u32 time, const viewer& to) const;
  bool has_acquired(const viewer& to) const { return !to.block->acquired.empty(); }

 private:
  static constexpr u32 whole_block = ~0U;
  bool acquired(u32 block, u32 thread, u32 time, const viewer& to) const;
  /// Places and the times until which they have been searched.
  using searched = std::unordered_map<const sync_place*, u32>;
  bool released(const sync_place& place, u32 until, u32 block, u32 thread, u32 time, searched& seen) const;

  std::map<std::pair<u64, u64>, sync_place> places_;
  std::unordered_map<u32, block_order> blocks_;
};

/// The last accesses to each byte of a memory.
class race_detector {
 public:
  struct conflict {
    const char* what = nullptr;  ///< nullptr: none
    u32 thread = 0;              ///< counted in the grid
  };
  conflict access(const launch_order& order, const viewer& who, u64 address, u32 bytes, bool write, bool strong);
  /// Calls f(address, bytes, whether written) for the bytes that were accessed, by ascending address; neighbours in
  /// different pages are separate.
  template <class F> void each_range(F f) const {
    std::map<u64, const page*> ordered;
    for (const auto& [number, p] : pages_) ordered.emplace(number, &p);
    for (const bool writes : {false, true})
      for (const auto& [number, p] : ordered) {
        const u64 size = page_bytes / p->cells.size();
        const auto belongs = [&](const cell& c) { return writes ? c.writer != nobody : c.reader != nobody; };
        const auto first = std::find_if(p->cells.begin(), p->cells.end(), belongs);
        if (first == p->cells.end()) continue;
        const auto last = std::find_if(p->cells.rbegin(), p->cells.rend(), belongs).base();
        f(number * page_bytes + static_cast<u64>(first - p->cells.begin()) * size,
          static_cast<u64>(last - first) * size, writes);
      }
  }

 private:
  enum class readers : u8 { none, thread, warp, block, grid };
  static constexpr u32 nobody = ~0U;
  struct cell {
    u32 writer = nobody, written = 0, reader = nobody, read = 0, lanes = 0;
    readers scope = readers::none;
    bool strong_write = false, strong_reads = true;
  };
  /// Cells of 4 bytes until a smaller access splits them.
  struct page {
    bool split = false;
    std::vector<cell> cells;
  };
  static constexpr u64 page_bytes = 256;

  page& page_of(u64 address);
  static bool readers_before(const launch_order& order, const cell& c, const viewer& who);
  static conflict access_cell(const launch_order& order, const viewer& who, cell& c, bool write, bool strong);

  std::unordered_map<u64, page> pages_;
  u64 last_number_ = ~u64{0};
  page* last_ = nullptr;
};

}  // namespace devplace::test::software_gpu
