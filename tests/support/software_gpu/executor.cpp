// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "support/software_gpu/warp.hpp"

// Executes warps. Lanes with the same frame and instruction form a group. Of several groups, the deepest call and then
// the first instruction in the text goes on, so that groups meet where branches join. A group that has gone on for long
// waits for the others: lanes may wait for each other by memory.

namespace devplace::test::software_gpu {

namespace {

constexpr u64 slice_of_group = 5000;
/// Atomics and relaxed reads may be in a loop that waits for others; they use up a slice sooner.
constexpr u64 cost_of_synchronisation = 500;

void run_instruction(execution& e, const instruction& i) {
  i.run(e, i);
  if (i.defines) return;
  u32 known = all_lanes;
  for (u8 k = 0; k < i.from_count; ++k) known &= e.defined[i.from[k].index];
  for (u8 k = 0; k < i.to_count; ++k) e.define(i.to[k], known);
}

/// Goes on with one group of a warp.
class group_runner {
 public:
  group_runner(launch_state& launch, block_state& block, warp& w, std::size_t at)
      : e_(execution_of(launch, block, w, w.groups[at])),
        warp_(w),
        at_(at),
        pc_(w.groups[at].pc),
        lanes_(w.groups[at].lanes) {}

  /// Returns how much of the slice was used.
  u64 run(u64 slice) {
    const u32 meet = next_of_others();
    const instruction* const code = e_.in->code->code.data();
    u64 used = 0;
    for (bool goes_on = true; goes_on && used < slice && pc_ < meet;) {
      const instruction& i = code[pc_];
      e_.active = lanes_;
      if (i.guarded) {
        if (const u32 unknown = lanes_ & ~e_.defined[i.guard.index]; unknown != 0)
          report(e_, i, first_lane(unknown), "an undefined value decides a branch or guard");
        e_.active &= i.guard_negated ? ~e_.predicate(i.guard) : e_.predicate(i.guard);
      }
      threads_ += static_cast<u64>(std::popcount(e_.active));
      used += i.strong ? cost_of_synchronisation : 1, ++e_.launch->warp_instructions;
      if (e_.active == 0) {
        ++pc_;
      } else if (i.what == action::run) {
        run_instruction(e_, i);
        ++pc_;
      } else if (i.what == action::branch && e_.active == lanes_) {
        pc_ = i.target;
      } else {
        goes_on = control(i);
      }
    }
    e_.launch->counts.instructions += threads_;
    if (!gone_) warp_.groups[at_].pc = pc_, warp_.groups[at_].lanes = lanes_;
    return used;
  }

 private:
  u32 next_of_others() const {
    u32 next = ~0U;
    for (const group& g : warp_.groups)
      if (&g != &warp_.groups[at_] && g.in == e_.in && g.is == group::state::running) next = std::min(next, g.pc);
    return next <= pc_ ? ~0U : next;
  }

  void end_lanes() {
    warp_.ended |= lanes_;
    for (frame* f = e_.in; f != nullptr; f = f->caller) f->lanes &= ~lanes_;
    warp_.groups.erase(warp_.groups.begin() + static_cast<std::ptrdiff_t>(at_));
    gone_ = true;
  }

  /// Executes what changes groups; returns false, for the scheduler to choose again, if it did. Lanes that do not take
  /// part go on without the others.
  bool control(const instruction& i) {
    if (e_.active != lanes_) warp_.groups.push_back({e_.in, pc_ + 1, lanes_ & ~e_.active});
    lanes_ = e_.active;
    switch (i.what) {
      case action::branch:
        pc_ = i.target;
        break;
      case action::call:
        call(i);
        break;
      case action::ret:
        e_.in->caller != nullptr ? return_lanes() : end_lanes();
        break;
      case action::trap:
        report(e_, i, first_lane(lanes_), "a trap");
        [[fallthrough]];
      case action::exit:
        end_lanes();
        break;
      case action::barrier:
        warp_.groups[at_].is = group::state::at_barrier;
        break;
      case action::collective:
        return together(i);
      default:
        report(e_, i, first_lane(lanes_), "an instruction that the software GPU lacks");  // or a function to call
        e_.launch->stopped = true;
    }
    return false;
  }

  void copy_parameter(frame& from, u32 from_offset, frame& to, u32 to_offset, u32 bytes) const {
    each_lane(lanes_, [&](unsigned lane) {
      std::memcpy(to.lane_memory(lane) + to_offset, from.lane_memory(lane) + from_offset, bytes);
      std::memcpy(to.lane_written(lane) + to_offset, from.lane_written(lane) + from_offset, bytes);
    });
  }

  void call(const instruction& i) {
    const call_site& site = e_.in->code->calls[i.target];
    frame* const callee = enter(e_, *site.callee, e_.in);
    callee->site = &site, callee->return_to = pc_ + 1;
    for (std::size_t k = 0; k < site.arguments.size(); ++k) {
      const parameter& p = site.callee->parameters.at(k);
      copy_parameter(*e_.in, site.arguments[k], *callee, p.offset, p.bytes);
    }
    warp_.groups[at_].in = callee, pc_ = 0;
  }

  void return_lanes() {
    frame& from = *e_.in;
    for (std::size_t k = 0; k < from.site->results.size(); ++k) {
      const parameter& p = from.code->results.at(k);
      copy_parameter(from, p.offset, *from.caller, from.site->results[k], p.bytes);
    }
    warp_.groups[at_].in = from.caller, pc_ = from.return_to;
    from.lanes &= ~lanes_;
  }

  /// Runs a collective for each set of lanes that name each other. Returns whether all lanes go on; those whose
  /// partners are elsewhere wait.
  bool together(const instruction& i) {
    u32 waiting = 0;
    const u32 all = lanes_, living = warp_.existing & ~warp_.ended;
    for (u32 rest = all; rest != 0; rest &= ~e_.active) {
      const unsigned first = first_lane(rest);
      u32 members = warp_.existing;
      e_.active = rest;
      if (!i.whole_warp) {
        const lanes_of<u32> named(e_, i.from[i.from_count - 1]);
        members = named[first];
        each_lane(rest, [&](unsigned lane) { e_.active &= ~(u32{named[lane] != members} << lane); });
      }
      if ((members & living & ~e_.active) != 0) {
        waiting |= e_.active;
        continue;
      }
      if ((e_.active & ~members) != 0) report(e_, i, first, "a lane that its own mask does not name");
      if ((members & warp_.ended) != 0) report(e_, i, first, "a mask that names lanes that have ended");
      run_instruction(e_, i);
    }
    group& g = warp_.groups[at_];
    if (waiting == 0) {
      g.is = group::state::running;
      ++pc_;
      return warp_.groups.size() == 1;
    }
    g.is = group::state::at_collective;
    lanes_ = waiting;
    threads_ -= static_cast<u64>(std::popcount(waiting));  // counted when they have met
    if (waiting != all) warp_.groups.push_back({e_.in, pc_ + 1, all & ~waiting});
    return false;
  }

  execution e_;
  warp& warp_;
  std::size_t at_;
  u32 pc_ = 0, lanes_ = 0;
  u64 threads_ = 0;  ///< that executed instructions
  bool gone_ = false;
};

/// Joins groups at the same instruction of the same frame; a group that waits there waits with the others.
void join_groups(warp& w) {
  for (std::size_t k = 0; k < w.groups.size(); ++k) {
    group& a = w.groups[k];
    const auto joins = [&](const group& b) {
      const bool one_at_barrier =
          a.is != b.is && (a.is == group::state::at_barrier || b.is == group::state::at_barrier);
      if (a.in != b.in || a.pc != b.pc || one_at_barrier) return false;
      a.lanes |= b.lanes;
      if (a.is != b.is) a.is = group::state::running;
      return true;
    };
    const auto next = w.groups.begin() + static_cast<std::ptrdiff_t>(k) + 1;
    w.groups.erase(std::remove_if(next, w.groups.end(), joins), w.groups.end());
  }
}

/// Chooses the group that goes on; the number of groups if none can.
std::size_t choose(const warp& w) {
  const auto before = [&](const group& a, const group& b) {
    const bool a_runs = a.is == group::state::running, b_runs = b.is == group::state::running;
    if (a_runs != b_runs) return a_runs;
    if (w.in_turn) return a.last_run < b.last_run;
    return a.in->depth != b.in->depth ? a.in->depth > b.in->depth : a.pc < b.pc;
  };
  const auto best = std::min_element(w.groups.begin(), w.groups.end(), before);
  return static_cast<std::size_t>((best->is == group::state::running ? best : w.groups.end()) - w.groups.begin());
}

}  // namespace

u64 run_warp(launch_state& launch, block_state& block, warp& w, u64 budget) {
  bool retried = false;
  u64 used = 0;
  while (used < budget && !w.done() && !launch.stopped) {
    if (w.groups.size() > 1) join_groups(w);
    const std::size_t at = choose(w);
    if (at == w.groups.size()) {
      // Lanes that others waited for may have ended.
      if (retried) return used;
      retried = true;
      for (group& g : w.groups)
        if (g.is == group::state::at_collective) g.is = group::state::running;
      continue;
    }
    const u64 slice = std::min(w.groups.size() > 1 ? slice_of_group : budget, budget - used);
    w.groups[at].last_run = launch.warp_instructions;
    const std::size_t groups = w.groups.size();
    const u64 n = group_runner(launch, block, w, at).run(slice);
    w.in_turn = groups > 1 && n >= slice;
    // A collective that only waits again is no progress.
    if (n == 1 && at < w.groups.size() && w.groups[at].is == group::state::at_collective) continue;
    used += n, retried = false;
  }
  return used;
}

execution execution_of(launch_state& launch, block_state& block, warp& w, const group& g) {
  const auto bytes_of = [](auto& plane) { return reinterpret_cast<unsigned char*>(plane.data()); };
  return {{bytes_of(g.in->registers), bytes_of(g.in->code->constants)},
          g.lanes,
          g.in,
          &w,
          &block,
          &launch,
          g.in->defined.data()};
}

frame* enter(execution& e, function& f, frame* caller) {
  auto& frames = e.of->frames;
  const auto is_free = [&](const auto& one) { return one->lanes == 0 && one->code == &f; };
  auto at = std::find_if(frames.begin(), frames.end(), is_free);
  if (at == frames.end()) {
    at = frames.insert(at, std::make_unique<frame>());
    (*at)->code = &f;
    (*at)->registers.resize((f.register_bytes + 7) / 8 + 1);
    (*at)->memory.resize(std::size_t{f.memory_bytes} * warp_size / 8);
  }
  frame& made = **at;
  made.written.assign(std::size_t{f.memory_bytes} * warp_size, 0);
  made.defined.assign(f.register_count, 0);
  made.defined[0] = all_lanes;
  for (const preset_register& p : f.presets) {
    made.defined[p.holder.index] = all_lanes;
    for (unsigned lane = 0; lane < warp_size; ++lane)
      made.registers[p.holder.offset / 8 + lane] = p.value(e, made, p.of, lane) + p.offset;
  }
  made.caller = caller, made.depth = caller == nullptr ? 0 : caller->depth + 1;
  made.lanes = e.active, made.site = nullptr;
  return &made;
}

}  // namespace devplace::test::software_gpu
