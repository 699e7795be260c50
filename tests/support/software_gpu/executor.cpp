// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cfenv>
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

/// The rounding mode of the CPU while an instruction runs.
class cpu_rounding {
 public:
  explicit cpu_rounding(rounding mode) {
    std::fesetround(mode == rounding::zero ? FE_TOWARDZERO : (mode == rounding::down ? FE_DOWNWARD : FE_UPWARD));
  }
  ~cpu_rounding() { std::fesetround(FE_TONEAREST); }
  cpu_rounding(const cpu_rounding&) = delete;
  cpu_rounding& operator=(const cpu_rounding&) = delete;
};

void run_instruction(execution& e, const instruction& i) {
  if (i.round != rounding::nearest && i.round != rounding::away && i.mode == 0) {
    const cpu_rounding here(i.round);
    i.run(e, i);
  } else {
    i.run(e, i);
  }
  if (i.defines) return;
  u32 known = e.active;
  for (u8 k = 0; k < i.from_count; ++k) known &= e.defined[i.from[k].index];
  for (u8 k = 0; k < i.to_count; ++k) {
    u32& defined = e.defined[i.to[k].index];
    defined = (defined & ~e.active) | known;
  }
}

/// Goes on with one group of a warp.
class group_runner {
 public:
  group_runner(launch_state& launch, block_state& block, warp& w, std::size_t at) : warp_(w), at_(at) {
    e_.of = &w, e_.block = &block, e_.launch = &launch;
    take(w.groups[at]);
  }

  /// Returns how much of the slice was used.
  u64 run(u64 slice) {
    const u32 meet = next_of_others();
    const instruction* const code = e_.in->code->code.data();
    u64* const executed = e_.in->code->executed.data();
    u64 used = 0;
    for (bool goes_on = true; goes_on && used < slice && pc_ < meet;) {
      const instruction& i = code[pc_];
      e_.active = lanes_;
      if (i.guarded) {
        if (const u32 unknown = lanes_ & ~e_.defined[i.guard.index]; unknown != 0)
          report_undefined(e_, i, unknown, "a branch or guard");
        e_.active &= e_.predicate(i.guard);
      }
      const auto threads = static_cast<u64>(std::popcount(e_.active));
      executed[pc_] += threads, threads_ += threads;
      used += i.order == ordering::weak ? 1 : cost_of_synchronisation, ++e_.launch->warp_instructions;
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
  void take(const group& g) {
    e_.in = g.in, pc_ = g.pc, lanes_ = g.lanes;
    e_.planes = {reinterpret_cast<unsigned char*>(g.in->registers.data()),
                 reinterpret_cast<unsigned char*>(g.in->code->constants.data()),
                 reinterpret_cast<unsigned char*>(warp_.special.data())};
    e_.defined = g.in->defined.data();
  }

  u32 next_of_others() const {
    u32 next = ~0U;
    for (const group& g : warp_.groups)
      if (&g != &warp_.groups[at_] && g.in == e_.in && g.is == group::state::running) next = std::min(next, g.pc);
    return next <= pc_ ? ~0U : next;
  }

  void add_group(frame* in, u32 pc, u32 lanes) {
    group g;
    g.in = in, g.pc = pc, g.lanes = lanes;
    warp_.groups.push_back(g);
  }

  /// Lanes that do not take part go on without the others.
  void leave_others_behind() {
    if (e_.active != lanes_) add_group(e_.in, pc_ + 1, lanes_ & ~e_.active);
    lanes_ = e_.active;
  }

  void remove() {
    warp_.groups.erase(warp_.groups.begin() + static_cast<std::ptrdiff_t>(at_));
    gone_ = true;
  }

  void end_lanes() {
    leave_others_behind();
    warp_.ended |= lanes_;
    for (frame* f = e_.in; f != nullptr;) {
      frame* const caller = f->caller;
      if ((f->lanes &= ~lanes_) == 0) leave(warp_, f);
      f = caller;
    }
    remove();
  }

  void stop(const instruction& i, const std::string& why) {
    report(e_, i, static_cast<unsigned>(std::countr_zero(e_.active)), why);
    e_.launch->stopped = true;
  }

  /// Executes what changes groups; returns false, for the scheduler to choose again, if it did.
  bool control(const instruction& i) {
    switch (i.what) {
      case action::branch:
        leave_others_behind();
        pc_ = i.target;
        return false;
      case action::table_branch:
        branch_by_table(i);
        return false;
      case action::call:
        call(i);
        return false;
      case action::ret:
        if (e_.in->caller == nullptr)
          end_lanes();
        else
          return_lanes();
        return false;
      case action::exit:
        end_lanes();
        return false;
      case action::trap:
        report(e_, i, static_cast<unsigned>(std::countr_zero(e_.active)), "a trap");
        end_lanes();
        return false;
      case action::barrier:
        leave_others_behind();
        warp_.groups[at_].is = group::state::at_barrier;
        return false;
      case action::collective:
        leave_others_behind();
        return together(i);
      default:
        stop(i, i.text.find("call") == std::string_view::npos ? "an instruction that the software GPU lacks"
                                                              : "a call of a function that the module lacks");
        return false;
    }
  }

  void branch_by_table(const instruction& i) {
    leave_others_behind();
    const auto& table = e_.in->code->tables[i.target];
    u32 rest = lanes_;
    while (rest != 0) {
      const u64 index = e_.get(i.from[0], static_cast<unsigned>(std::countr_zero(rest)));
      u32 same = 0;
      e_.each([&](unsigned lane) { same |= e_.get(i.from[0], lane) == index ? 1U << lane : 0; });
      same &= rest, rest &= ~same;
      if (index >= table.size()) return stop(i, "a branch beyond its table");
      if (rest == 0)
        lanes_ = same, pc_ = table[index];
      else
        add_group(e_.in, table[index], same);
    }
  }

  static void copy_parameters(frame& from, u32 from_offset, frame& to, u32 to_offset, u32 bytes, u32 lanes) {
    for (u32 rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      std::memcpy(to.lane_memory(lane) + to_offset, from.lane_memory(lane) + from_offset, bytes);
      std::memcpy(to.written.data() + std::size_t{lane} * to.code->memory_bytes + to_offset,
                  from.written.data() + std::size_t{lane} * from.code->memory_bytes + from_offset, bytes);
    }
  }

  void call(const instruction& i) {
    leave_others_behind();
    const call_site& site = e_.in->code->calls[i.target];
    frame* const callee = enter(e_, *site.callee, e_.in);
    callee->site = &site, callee->return_to = pc_ + 1;
    for (std::size_t k = 0; k < site.arguments.size() && k < site.callee->parameters.size(); ++k) {
      const parameter& p = site.callee->parameters[k];
      copy_parameters(*e_.in, site.arguments[k], *callee, p.offset, p.bytes, lanes_);
    }
    warp_.groups[at_].in = callee, pc_ = 0;
  }

  void return_lanes() {
    leave_others_behind();
    frame* const from = e_.in;
    const call_site& site = *from->site;
    for (std::size_t k = 0; k < site.results.size() && k < site.callee->results.size(); ++k) {
      const parameter& p = site.callee->results[k];
      copy_parameters(*from, p.offset, *from->caller, site.results[k], p.bytes, lanes_);
    }
    warp_.groups[at_].in = from->caller, pc_ = from->return_to;
    if ((from->lanes &= ~lanes_) == 0) leave(warp_, from);
  }

  /// Runs a collective for each set of lanes that name each other. Returns whether all lanes go on; those whose
  /// partners are elsewhere wait.
  bool together(const instruction& i) {
    u32 waiting = 0;
    const u32 all = lanes_, living = warp_.existing & ~warp_.ended;
    for (u32 rest = all; rest != 0;) {
      const auto first = static_cast<unsigned>(std::countr_zero(rest));
      const auto members_of = [&](unsigned lane) {
        return i.whole_warp ? warp_.existing : static_cast<u32>(e_.get(i.from[i.from_count - 1], lane));
      };
      const u32 members = members_of(first);
      u32 same = rest;
      if (!i.whole_warp && i.from[i.from_count - 1].base != plane::constants)
        for (u32 others = rest; others != 0; others &= others - 1) {
          const auto lane = static_cast<unsigned>(std::countr_zero(others));
          if (members_of(lane) != members) same &= ~(1U << lane);
        }
      rest &= ~same;
      e_.active = same;
      if ((members & living & ~same) != 0) {
        waiting |= same;
        continue;
      }
      if ((same & ~members) != 0) report(e_, i, first, "a lane that its own mask does not name");
      if ((members & warp_.existing & warp_.ended) != 0)
        report(e_, i, first, "a mask that names lanes that have ended");
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
    e_.in->code->executed[pc_] -= static_cast<u64>(std::popcount(waiting));  // counted when they have met
    threads_ -= static_cast<u64>(std::popcount(waiting));
    if (waiting != all) add_group(e_.in, pc_ + 1, all & ~waiting);
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
  for (std::size_t k = 0; k < w.groups.size(); ++k)
    for (std::size_t l = k + 1; l < w.groups.size();) {
      group &a = w.groups[k], &b = w.groups[l];
      if (a.in != b.in || a.pc != b.pc ||
          (a.is != b.is && (a.is == group::state::at_barrier || b.is == group::state::at_barrier))) {
        ++l;
        continue;
      }
      a.lanes |= b.lanes;
      a.is = a.is == b.is ? a.is : group::state::running;
      w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(l));
    }
}

/// Chooses the group that goes on; the number of groups if none can.
std::size_t choose(const warp& w, bool in_turn) {
  std::size_t best = w.groups.size();
  for (std::size_t k = 0; k < w.groups.size(); ++k) {
    const group& g = w.groups[k];
    if (g.is != group::state::running) continue;
    if (best == w.groups.size()) {
      best = k;
      continue;
    }
    const group& b = w.groups[best];
    const bool first = g.in->depth != b.in->depth ? g.in->depth > b.in->depth : g.pc < b.pc;
    if (in_turn ? g.last_run < b.last_run : first) best = k;
  }
  return best;
}

}  // namespace

u64 run_warp(launch_state& launch, block_state& block, warp& w, u64 budget) {
  bool retried = false;
  u64 used = 0;
  while (used < budget && !w.done() && !launch.stopped) {
    if (w.groups.size() > 1) join_groups(w);
    const std::size_t at = choose(w, w.in_turn);
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

frame* enter(execution& e, function& f, frame* caller) {
  auto& free = e.of->free_frames[&f];
  std::unique_ptr<frame> made;
  if (free.empty()) {
    made = std::make_unique<frame>();
    made->code = &f;
    made->registers.resize((f.register_bytes + 7) / 8 + 1);
    made->defined.resize(f.register_count);
    made->memory.resize(std::size_t{f.memory_bytes} * warp_size / 8);
    made->written.resize(std::size_t{f.memory_bytes} * warp_size);
    for (const addressed& a : f.addresses)
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        u64 address = a.offset;
        if (a.where == space::shared) address = e.launch->shared_offsets.at(static_cast<const variable*>(a.variable));
        if (a.where == space::constant) address += reinterpret_cast<u64>(e.launch->parameters.data());
        if (a.where == space::local || a.where == space::param)
          address += reinterpret_cast<u64>(made->lane_memory(lane));
        std::memcpy(reinterpret_cast<u8*>(made->registers.data()) + a.holder.offset + std::size_t{lane} * 8, &address,
                    8);
      }
  } else {
    made = std::move(free.back());
    free.pop_back();
    std::fill(made->written.begin(), made->written.end(), u8{0});
  }
  std::fill(made->defined.begin(), made->defined.end(), e.launch->options.find_undefined_values ? 0 : all_lanes);
  made->defined[0] = all_lanes;
  for (const addressed& a : f.addresses) made->defined[a.holder.index] = all_lanes;
  made->caller = caller, made->depth = caller == nullptr ? 0 : caller->depth + 1;
  made->lanes = e.active, made->site = nullptr;
  e.of->frames.push_back(std::move(made));
  return e.of->frames.back().get();
}

void leave(warp& w, frame* f) {
  const auto at = std::find_if(w.frames.begin(), w.frames.end(), [f](const auto& one) { return one.get() == f; });
  w.free_frames[f->code].push_back(std::move(*at));
  w.frames.erase(at);
}

}  // namespace devplace::test::software_gpu
