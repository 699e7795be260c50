// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
  u32 lanes = 0;               ///< those that have not returned
  std::vector<u64> registers;  ///< planes
  std::vector<u32> defined;    ///< by register, a mask of lanes
  std::vector<u64> memory;     ///< of each lane, one after the other: parameter area, then local variables
  std::vector<u8> written;     ///< for each byte of `memory`

  u8* lane_memory(unsigned lane) {
    return reinterpret_cast<u8*>(memory.data()) + std::size_t{lane} * code->memory_bytes;
  }
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
  std::vector<u32> special;  ///< planes of special registers
  std::unordered_map<const function*, std::vector<std::unique_ptr<frame>>> free_frames;
  std::vector<std::unique_ptr<frame>> frames;

  bool done() const { return ended == existing; }
};

struct block_state {
  u32 number = 0;
  std::array<u32, 3> index{};
  std::vector<warp> warps;
  std::vector<u64> shared;
  std::vector<u8> shared_written;
  u32 shared_bytes = 0;
  block_order* order = nullptr;
  race_detector shared_races;
};

/// The special registers, in the order of their planes.
inline constexpr std::array<std::string_view, 27> special_registers{"%tid.x",
                                                                    "%tid.y",
                                                                    "%tid.z",
                                                                    "%ntid.x",
                                                                    "%ntid.y",
                                                                    "%ntid.z",
                                                                    "%ctaid.x",
                                                                    "%ctaid.y",
                                                                    "%ctaid.z",
                                                                    "%nctaid.x",
                                                                    "%nctaid.y",
                                                                    "%nctaid.z",
                                                                    "%laneid",
                                                                    "%warpid",
                                                                    "%nwarpid",
                                                                    "%lanemask_eq",
                                                                    "%lanemask_lt",
                                                                    "%lanemask_le",
                                                                    "%lanemask_gt",
                                                                    "%lanemask_ge",
                                                                    "WARP_SZ",
                                                                    "%dynamic_smem_size",
                                                                    "%total_smem_size",
                                                                    "%clock",
                                                                    "%clock64",
                                                                    "%globaltimer",
                                                                    "%smid"};

struct launch_state {
  memory_owner& owner;
  const settings& options;
  module& from;
  function& kernel;
  launch_configuration configuration;
  u32 threads = 0;              ///< of a block
  std::vector<u64> parameters;  ///< of the kernel
  u32 parameter_bytes = 0;
  std::unordered_map<const variable*, u32> shared_offsets;
  u32 shared_bytes = 0;
  u64 warp_instructions = 0;
  bool stopped = false;
  counters counts;
  launch_order order;
  race_detector global_races;
  std::mt19937 random;
  std::vector<std::string>& violations;
  std::set<std::pair<const void*, std::string>> reported;
  std::array<memory_block, 4> recent_blocks{};
  std::size_t next_recent = 0;

  launch_state(memory_owner& memory, const settings& o, module& m, function& k, std::vector<std::string>& v)
      : owner(memory), options(o), from(m), kernel(k), random(o.seed), violations(v) {}
};

/// Reports a violation of a lane, once for each instruction and kind.
void report(const execution& e, const instruction& i, unsigned lane, const std::string& what,
            const std::string& details = {});

/// Reports lanes for which an undefined value decides what the kernel does. `what`: "a branch".
void report_undefined(const execution& e, const instruction& i, u32 lanes, const char* what);

/// Makes the frame of a function for the active lanes.
frame* enter(execution& e, function& f, frame* caller);
void leave(warp& w, frame* f);

/// Executes lanes of a warp until all wait or have ended, or the budget is used up; returns how much was used.
u64 run_warp(launch_state& launch, block_state& block, warp& w, u64 budget);
/// Runs a block until it has ended or its budget is used up; returns whether it has ended.
bool run_block(launch_state& launch, block_state& block, u64 budget);

/// Finds the operations of memory, and of lanes that wait for each other, by the words of their opcode; false if there
/// is none. `decoder` reads the operands.
class decoder;
bool decode_memory_operation(decoder& d, instruction& i);
bool decode_atomic_operation(decoder& d, instruction& i);
bool decode_warp_operation(decoder& d, instruction& i);

}  // namespace devplace::test::software_gpu
