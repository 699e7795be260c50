// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/software_gpu/software_gpu.hpp"

// Data races. Every access to memory has a thread and a time. Two accesses to the same bytes, one of them a write, must
// be ordered by a barrier of the block, a barrier of the warp, or a release and an acquire: a fence and then an atomic
// write, seen by an atomic read and then a fence. Both may be made by atomics of every strength and without a race.

namespace devplace::test::software_gpu {

/// A release by an atomic or a relaxed store.
struct release {
  u32 thread;   ///< in its block
  u32 fence;    ///< time of the thread's fence
  u32 barrier;  ///< time of the last barrier of its block before the fence
  u32 time;
};
/// The releases to one address, by block.
using sync_place = std::unordered_multimap<u32, release>;

/// The order that the threads of a block have made.
struct block_order {
  struct fence {
    u32 time = 0, barrier = 0;
  };
  struct acquire {
    const sync_place* place;
    u32 thread, read, effective;  ///< times of the read and of the fence after it
  };
  u32 number = 0;
  u32 barrier = 0;  ///< time of the last barrier
  std::vector<fence> fences;
  std::vector<acquire> pending, acquired;
  /// For each warp and lane, until when the lane knows the accesses of the other lanes.
  std::vector<std::array<std::array<u32, warp_size>, warp_size>> known;

  void end() { fences = {}, pending = {}, known = {}; }  ///< keeps what others may have acquired from the block
  void warp_barrier(unsigned warp_number, u32 lanes, u32 now);
};

/// A thread, or the accesses of its whole block.
struct thread_id {
  u32 block = 0, thread = 0;
  bool operator==(const thread_id&) const = default;
};
inline constexpr u32 whole_block = ~0U;

/// A thread at an access.
struct viewer {
  const block_order* block;
  u32 thread;  ///< in the block
};

/// The order of a launch: time, and the blocks that have begun.
class launch_order {
 public:
  u32 now = 1;

  block_order& begin(u32 block, u32 threads);
  void fence(block_order& block, u32 thread);
  /// An atomic or relaxed access to `place`, whose key is unique in the launch.
  void synchronise(block_order& block, u32 thread, std::pair<u64, u64> place, bool reads, bool writes);
  /// Returns whether an access at a time is ordered before what `to` does now.
  bool before(const thread_id& thread, u32 time, const viewer& to) const;

 private:
  bool acquired(const thread_id& thread, u32 time, const viewer& to) const;
  /// Places and the times until which they have been searched.
  using searched = std::unordered_map<const sync_place*, u32>;
  bool released(const sync_place& place, u32 until, const thread_id& thread, u32 time, searched& seen) const;

  std::map<std::pair<u64, u64>, sync_place> places_;
  std::unordered_map<u32, block_order> blocks_;
};

/// The last accesses to each byte of a memory.
class race_detector {
 public:
  struct conflict {
    const char* what = nullptr;  ///< nullptr: none
    thread_id with{};
  };
  conflict access(const launch_order& order, const viewer& who, u64 address, u32 bytes, bool write, bool strong);
  /// Returns the memory that was accessed, by ascending addresses: first what was read, then what was written.
  std::vector<touched_range> touched() const;

 private:
  enum class readers : u8 { none, thread, warp, block, grid };
  struct cell {
    thread_id writer{}, reader{};
    u32 written = 0, read = 0, lanes = 0;  ///< times, and lanes of readers::warp
    readers scope = readers::none;
    bool strong_write = false, strong_reads = true;
  };
  /// Cells of the size of the smallest access.
  struct page {
    u64 unit = 0;
    std::vector<cell> cells;
  };
  static constexpr u64 page_bytes = 1024;

  page& page_of(u64 address, u64 unit);
  static bool readers_before(const launch_order& order, const cell& c, const viewer& who);
  static conflict access_cell(const launch_order& order, const viewer& who, cell& c, bool write, bool strong);

  std::unordered_map<u64, page> pages_;
  std::array<std::pair<u64, page*>, 16> recent_{};
};

}  // namespace devplace::test::software_gpu
