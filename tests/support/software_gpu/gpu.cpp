// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <numeric>
#include <set>
#include <string>

#include "support/software_gpu/decoder.hpp"
#include "support/software_gpu/warp.hpp"

// Executes the blocks of launches.

namespace devplace::test::software_gpu {

namespace {

constexpr u64 slice_of_block = 200'000, slice_of_warp = 20'000;
constexpr std::size_t most_active_blocks = 256;

std::array<u32, 3> position(u64 linear, const dimensions& in) {
  return {static_cast<u32>(linear % in.x), static_cast<u32>(linear / in.x % in.y),
          static_cast<u32>(linear / in.x / in.y)};
}
std::string text_of(const std::array<u32, 3>& at) {
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

void collect_shared(const function& f, std::vector<const variable*>& all, std::set<const function*>& seen) {
  if (!seen.insert(&f).second) return;
  for (const variable* v : f.shared)
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  for (const call_site& call : f.calls)
    if (call.callee != nullptr) collect_shared(*call.callee, all, seen);
}
u32 lay_out_shared(const function& kernel, std::unordered_map<const variable*, u32>& offsets) {
  std::vector<const variable*> all;
  std::set<const function*> seen;
  collect_shared(kernel, all, seen);
  std::stable_partition(all.begin(), all.end(), [](const variable* v) { return !v->dynamic; });
  u64 bytes = 0;
  for (const variable* v : all) {
    bytes = (bytes + v->alignment - 1) / v->alignment * v->alignment;
    offsets[v] = static_cast<u32>(bytes);
    if (!v->dynamic) bytes += v->bytes;
  }
  return static_cast<u32>(bytes);
}

void set_special_registers(const launch_state& launch, const block_state& block, warp& w) {
  const auto &grid = launch.configuration.grid, &threads = launch.configuration.block;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const auto tid = position(u64{w.number} * warp_size + lane, threads);
    const u32 bit = 1U << lane, below = bit - 1;
    const std::array<u32, special_registers.size()> values{tid[0],
                                                           tid[1],
                                                           tid[2],
                                                           threads.x,
                                                           threads.y,
                                                           threads.z,
                                                           block.index[0],
                                                           block.index[1],
                                                           block.index[2],
                                                           grid.x,
                                                           grid.y,
                                                           grid.z,
                                                           lane,
                                                           w.number,
                                                           static_cast<u32>(block.warps.size()),
                                                           bit,
                                                           below,
                                                           below | bit,
                                                           ~(below | bit),
                                                           ~below,
                                                           warp_size,
                                                           launch.configuration.shared_bytes,
                                                           launch.shared_bytes};
    for (std::size_t k = 0; k < values.size(); ++k) w.special[k * warp_size + lane] = values[k];
  }
}

void begin_block(launch_state& launch, block_state& block, u32 number) {
  block.number = number, block.index = position(number, launch.configuration.grid);
  block.warps.resize((launch.threads + warp_size - 1) / warp_size);
  block.shared_bytes = launch.shared_bytes;
  // One byte more than the block may use, so that its address is no one else's.
  block.shared.assign(launch.shared_bytes / 8 + 1, 0xcdcdcdcdcdcdcdcdU);
  block.shared_written.assign(launch.shared_bytes, 0);
  block.shared_races = {};
  block.order = &launch.order.begin(number, launch.threads);
  for (u32 k = 0; k < block.warps.size(); ++k) {
    warp& w = block.warps[k];
    const u32 lanes = std::min(warp_size, launch.threads - k * warp_size);
    w.number = k, w.ended = 0, w.carry = 0, w.in_turn = false;
    w.existing = lanes == warp_size ? all_lanes : (1U << lanes) - 1;
    w.special.resize(special_registers.size() * warp_size);
    set_special_registers(launch, block, w);
    while (!w.frames.empty()) leave(w, w.frames.back().get());
    execution e;
    e.active = w.existing, e.of = &w, e.block = &block, e.launch = &launch;
    group g;
    g.in = enter(e, launch.kernel, nullptr), g.lanes = w.existing;
    w.groups.assign(1, g);
  }
}

execution at_group(launch_state& launch, block_state& block, warp& w, const group& g) {
  execution e;
  e.planes = {reinterpret_cast<unsigned char*>(g.in->registers.data()),
              reinterpret_cast<unsigned char*>(g.in->code->constants.data()),
              reinterpret_cast<unsigned char*>(w.special.data())};
  e.active = g.lanes, e.in = g.in, e.of = &w, e.block = &block, e.launch = &launch, e.defined = g.in->defined.data();
  return e;
}

/// Calls f(execution, group) for each group of a block.
template <class F> void each_group(launch_state& launch, block_state& block, F f) {
  for (warp& w : block.warps)
    for (group& g : w.groups) {
      execution e = at_group(launch, block, w, g);
      f(e, g);
    }
}

/// Lets the threads pass a barrier that all have reached, or reports why they never will.
void pass_barrier(launch_state& launch, block_state& block) {
  const instruction* first = nullptr;
  u32 voters = 0, votes = 0;
  bool stuck = false, ended = false;
  u64 number = 0;
  for (const warp& w : block.warps) ended = ended || w.ended != 0;
  each_group(launch, block, [&](execution& e, group& g) {
    const instruction& i = g.next();
    const auto lane = static_cast<unsigned>(std::countr_zero(g.lanes));
    if (g.is != group::state::at_barrier) {
      report(e, i, lane, "lanes wait for lanes of their mask that do not come");
      stuck = true;
      return;
    }
    if (first == nullptr && ended) report(e, i, lane, "a barrier that threads that have ended do not reach");
    if (e.of->groups.size() > 1 && &g != e.of->groups.data() && i.whole_warp)
      report(e, i, lane, "a barrier in divergent code");
    const u64 mine = e.get(i.from[0], lane);
    if (first != nullptr && (mine != number || first->mode != i.mode))
      report(e, i, lane, "threads of the block wait at different barriers");
    first = &i, number = mine;
    if (i.mode == 0) return;
    voters += static_cast<u32>(std::popcount(g.lanes));
    votes += static_cast<u32>(std::popcount(g.lanes & e.predicate(i.from[i.from_count - 1])));
  });
  if (stuck) {
    launch.stopped = true;
    return;
  }
  block.order->barrier = ++launch.order.now;
  launch.counts.barriers += 1;
  each_group(launch, block, [&](execution& e, group& g) {
    const instruction& i = g.next();
    if (i.mode != 0) {
      // The count, or whether all or any voted: in that order of modes.
      const u32 result = i.mode == 1 ? votes : ((i.mode == 2 ? votes == voters : votes != 0) ? 1 : 0);
      e.each([&](unsigned lane) { e.set(i.to[0], lane, result); });
      e.defined[i.to[0].index] |= e.active;
    }
    g.pc += 1, g.is = group::state::running;
  });
}

std::vector<u32> order_of_blocks(launch_state& launch) {
  std::vector<u32> order(launch.configuration.grid.count());
  std::iota(order.begin(), order.end(), 0U);
  if (launch.options.order == execution_order::reverse) std::reverse(order.begin(), order.end());
  if (launch.options.order == execution_order::random) std::shuffle(order.begin(), order.end(), launch.random);
  return order;
}

/// Blocks that take long share the machine with later ones, which they may wait for.
void run_grid(launch_state& launch) {
  const std::vector<u32> order = order_of_blocks(launch);
  std::vector<std::unique_ptr<block_state>> free;
  std::deque<std::unique_ptr<block_state>> active;
  for (std::size_t next = 0; (next < order.size() || !active.empty()) && !launch.stopped;) {
    if (next < order.size() && active.size() < most_active_blocks) {
      if (free.empty()) free.push_back(std::make_unique<block_state>());
      begin_block(launch, *free.back(), order[next++]);
      active.push_front(std::move(free.back()));
      free.pop_back();
    }
    const u64 slice = launch.options.order == execution_order::random ? 500 + launch.random() % 50'000 : slice_of_block;
    std::unique_ptr<block_state> block = std::move(active.front());
    active.pop_front();
    if (run_block(launch, *block, slice)) {
      block->order->end();
      free.push_back(std::move(block));
    } else {
      active.push_back(std::move(block));
    }
  }
}

}  // namespace

bool run_block(launch_state& launch, block_state& block, u64 budget) {
  u64 used = 0;
  std::vector<warp*> order;
  for (warp& w : block.warps) order.push_back(&w);
  if (launch.options.order == execution_order::reverse) std::reverse(order.begin(), order.end());
  while (used < budget) {
    if (launch.options.order == execution_order::random) std::shuffle(order.begin(), order.end(), launch.random);
    const u64 before = used;
    bool done = true;
    for (warp* const w : order) {
      if (w->done()) continue;
      const u64 slice = launch.options.order == execution_order::random ? 1 + launch.random() % 2000 : slice_of_warp;
      used += run_warp(launch, block, *w, slice);
      done = done && w->done();
      if (launch.stopped) return true;
      if (launch.warp_instructions > launch.options.instruction_limit) {
        const execution e = at_group(launch, block, *w, w->groups.front());
        report(e, w->groups.front().next(), static_cast<unsigned>(std::countr_zero(e.active)),
               "a kernel that does not end",
               " after " + std::to_string(launch.warp_instructions) + " instructions of warps");
        launch.stopped = true;
        return true;
      }
    }
    if (done) return true;
    if (used == before) pass_barrier(launch, block);
    if (launch.stopped) return true;
  }
  return false;
}

void report(const execution& e, const instruction& i, unsigned lane, const std::string& what,
            const std::string& details) {
  launch_state& launch = *e.launch;
  if (!launch.reported.emplace(&i, what).second) return;
  const u64 thread = u64{e.of->number} * warp_size + lane;
  std::string text = "kernel " + launch.kernel.name + ", block " + text_of(e.block->index) + ", thread " +
                     text_of(position(thread, launch.configuration.block)) + ": " + what + details + ", at '" +
                     std::string(i.text) + "'";
  if (e.in->code != &launch.kernel) text += " of " + e.in->code->name;
  if (launch.options.order == execution_order::reverse) text += " (reverse order)";
  if (launch.options.order == execution_order::random)
    text += " (random order, seed " + std::to_string(launch.options.seed) + ")";
  launch.violations.push_back(std::move(text));
}

void report_undefined(const execution& e, const instruction& i, u32 lanes, const char* what) {
  if (!e.launch->options.find_undefined_values) return;
  report(e, i, static_cast<unsigned>(std::countr_zero(lanes)), std::string("an undefined value decides ") + what);
}

counters& counters::operator+=(const counters& more) {
  launches += more.launches, instructions += more.instructions;
  global_reads += more.global_reads, global_read_bytes += more.global_read_bytes;
  global_writes += more.global_writes, global_write_bytes += more.global_write_bytes, atomics += more.atomics;
  shared_reads += more.shared_reads, shared_writes += more.shared_writes, barriers += more.barriers;
  return *this;
}

u32 static_shared_bytes(const function& kernel) {
  std::unordered_map<const variable*, u32> offsets;
  return lay_out_shared(kernel, offsets);
}

std::map<std::string, u64> gpu::executed_opcodes() const {
  std::map<std::string, u64> result;
  for (const auto& m : modules_)
    for (const auto& [name, f] : m->functions)
      for (std::size_t k = 0; k < f->executed.size(); ++k)
        if (f->executed[k] != 0) result[std::string(opcode_of(f->code[k].text))] += f->executed[k];
  return result;
}

module& gpu::load(std::string ptx) {
  modules_.push_back(load_module(std::move(ptx)));
  return *modules_.back();
}

void gpu::launch(module& from, function& kernel, const launch_configuration& configuration,
                 const void* const* arguments) {
  decode(from, kernel);
  launch_state launch(owner_, options, from, kernel, violations_);
  launch.configuration = configuration;
  const u64 threads = configuration.block.count();
  if (!kernel.kernel || threads == 0 || threads > 1024 || configuration.grid.count() == 0 ||
      configuration.grid.count() > ~0U / threads)
    throw ptx_error("software GPU: " + kernel.name + " cannot be launched with " +
                    std::to_string(configuration.grid.count()) + " blocks of " + std::to_string(threads) + " threads");
  launch.threads = static_cast<u32>(threads);
  for (const parameter& p : kernel.parameters)
    launch.parameter_bytes = std::max(launch.parameter_bytes, p.offset + p.bytes);
  launch.parameters.resize(launch.parameter_bytes / 8 + 1);
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k)
    std::memcpy(reinterpret_cast<u8*>(launch.parameters.data()) + kernel.parameters[k].offset, arguments[k],
                kernel.parameters[k].bytes);
  launch.shared_bytes = lay_out_shared(kernel, launch.shared_offsets) + configuration.shared_bytes;
  launch.counts.launches = 1;
  run_grid(launch);
  last_ = launch.counts;
  touched_.clear();
  launch.global_races.each_range([&](u64 begin, u64 bytes, bool writes) {
    if (!touched_.empty() && touched_.back().writes == writes && touched_.back().begin + touched_.back().bytes == begin)
      touched_.back().bytes += bytes;
    else
      touched_.push_back({begin, bytes, writes});
  });
  of_kernel_[kernel.name] += last_;
}

}  // namespace devplace::test::software_gpu
