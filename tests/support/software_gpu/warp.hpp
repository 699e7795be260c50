// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/software_gpu/lanes.hpp"
#include "support/software_gpu/races.hpp"
#include "support/software_gpu/software_gpu.hpp"

// The state of a launch: blocks, warps, groups of lanes, and frames of functions.

namespace devplace::test::software_gpu {

/// A call of a function by lanes of a warp: their registers, parameters and local variables.
struct frame {
  function* code = nullptr;
  frame* caller = nullptr;
  const call_site* site = nullptr;
  u32 return_to = 0, depth = 0;
  u32 lanes = 0;               ///< those that have not returned; none: the frame is free
  std::vector<u64> registers;  ///< planes
  std::vector<u32> defined;    ///< by register, a mask of lanes
  std::vector<u64> memory;     ///< of each lane, one after the other: parameter area, then local variables
  std::vector<u8> written;     ///< for each byte of `memory`

  u8* lane_memory(unsigned lane) {
    return reinterpret_cast<u8*>(memory.data()) + std::size_t{lane} * code->memory_bytes;
  }
  u8* lane_written(unsigned lane) { return written.data() + std::size_t{lane} * code->memory_bytes; }
};

/// Lanes that execute together.
struct group {
  enum class state : u8 { running, at_collective, at_barrier };
  frame* in = nullptr;
  u32 pc = 0, lanes = 0;
  state is = state::running;
  u64 last_run = 0;

  const instruction& next() const { return in->code->code[pc]; }
};

struct warp {
  u32 number = 0;
  u32 existing = 0, ended = 0;  ///< lanes
  u32 carry = 0;                ///< condition code, a mask of lanes
  bool in_turn = false;         ///< a group has gone on for long: another one is next
  std::vector<group> groups;
  std::vector<std::unique_ptr<frame>> frames;

  bool done() const { return ended == existing; }
};

struct block_state {
  u32 number = 0;
  std::vector<warp> warps;
  std::vector<u64> shared;
  std::vector<u8> shared_written;
  block_order* order = nullptr;
  race_detector shared_races;
};

struct launch_state {
  const block_finder& block_of;
  const settings& options;
  ptx_module& from;
  function& kernel;
  const launch_configuration& configuration;
  u32 shared_bytes = kernel.shared_bytes + configuration.shared_bytes;
  std::vector<std::string> violations{};
  std::vector<u8> parameters{};  ///< of the kernel
  u64 warp_instructions = 0;
  bool stopped = false;
  counters counts{};
  launch_order order{};
  race_detector global_races{};
  std::mt19937 random{options.seed};
  std::set<std::pair<const void*, std::string>> reported{};
  std::array<memory_block, 4> recent_blocks{};
  std::size_t next_recent = 0;
};

/// Reports a violation of a lane, once for each instruction and kind.
void report(const execution& e, const instruction& i, unsigned lane, const std::string& what,
            const std::string& details = {});

/// Makes the frame of a function for the active lanes.
frame* enter(execution& e, function& f, frame* caller);

/// Returns the execution of a group's next instruction.
execution execution_of(launch_state& launch, block_state& block, warp& w, const group& g);

/// Executes lanes of a warp until all wait or have ended, or the budget is used up; returns how much was used.
u64 run_warp(launch_state& launch, block_state& block, warp& w, u64 budget);

/// Where a lane's access goes.
struct place {
  u8* data = nullptr;     ///< nullptr: the access is wrong, and has been reported
  u8* written = nullptr;  ///< whether each byte has a value, where known
  space where = space::global;
};
enum class access : u8 { read, write, update };

/// Checks an access of a lane for alignment, bounds and races, counts it, and returns its place.
place locate(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, access kind);

/// Calls f(lane, place) for each active lane, in the launch's order.
template <class F> void each_place(execution& e, const instruction& i, u32 bytes, access kind, F f) {
  if (const u32 unknown = e.active & ~e.defined[i.from[0].index]; unknown != 0)
    report(e, i, first_lane(unknown), "an undefined value decides an address");
  const lanes_of<u64> base(e, i.from[0]);
  const execution_order order = e.launch->options.order;
  const bool reverse =
      order == execution_order::reverse || (order == execution_order::random && (e.launch->random() & 1) != 0);
  for (u32 rest = e.active; rest != 0;) {
    const unsigned lane = reverse ? static_cast<unsigned>(std::bit_width(rest)) - 1 : first_lane(rest);
    rest &= ~(1U << lane);
    f(lane, locate(e, i, lane, base[lane] + i.displacement, bytes, kind));
  }
  ++e.launch->order.now;
}

}  // namespace devplace::test::software_gpu
