// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <string>

#include "support/software_gpu/warp.hpp"

// Executes the blocks of launches.

namespace devplace::test::software_gpu {

namespace {

constexpr std::size_t most_active_blocks = 256;

/// Returns the numbers 0 to n - 1 in the launch's order.
std::vector<u32> in_order(launch_state& launch, std::size_t n) {
  std::vector<u32> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (launch.options.order == execution_order::reverse) std::reverse(order.begin(), order.end());
  if (launch.options.order == execution_order::random) std::shuffle(order.begin(), order.end(), launch.random);
  return order;
}
/// Returns how long something goes on: in random order, for a random time.
u64 slice(launch_state& launch, u64 usual, u64 longest) {
  return launch.options.order == execution_order::random ? 1 + launch.random() % longest : usual;
}

void begin_block(launch_state& launch, block_state& block, u32 number) {
  const u32 threads = launch.configuration.threads;
  block.number = number;
  block.warps.resize((threads + warp_size - 1) / warp_size);
  // One byte more than the block may use, so that its address is no one else's.
  block.shared.assign(launch.shared_bytes / 8 + 1, 0xcdcdcdcdcdcdcdcdU);
  block.shared_written.assign(launch.shared_bytes, 0);
  block.shared_races = {};
  block.order = &launch.order.begin(number, threads);
  for (u32 k = 0; k < block.warps.size(); ++k) {
    warp& w = block.warps[k];
    const u32 lanes = std::min(warp_size, threads - k * warp_size);
    w.number = k, w.ended = 0, w.carry = 0, w.in_turn = false;
    w.existing = lanes == warp_size ? all_lanes : (1U << lanes) - 1;
    for (const auto& f : w.frames) f->lanes = 0;
    execution e;
    e.active = w.existing, e.of = &w, e.block = &block, e.launch = &launch;
    w.groups.assign(1, {enter(e, launch.kernel, nullptr), 0, w.existing});
  }
}

/// Lets the threads pass a barrier that all have reached, or reports why they never will. A barrier with a predicate
/// tells whether any thread's is true.
void pass_barrier(launch_state& launch, block_state& block) {
  std::vector<std::pair<execution, group*>> groups;
  bool ended = false, any = false;
  for (warp& w : block.warps) {
    ended = ended || w.ended != 0;
    for (group& g : w.groups) groups.emplace_back(execution_of(launch, block, w, g), &g);
  }
  const instruction* first = nullptr;
  u32 number = 0;
  for (const auto& [e, g] : groups) {
    const instruction& i = g->next();
    const unsigned lane = first_lane(g->lanes);
    if (g->is != group::state::at_barrier) {
      report(e, i, lane, "lanes wait for lanes of their mask that do not come");
      launch.stopped = true;
      continue;
    }
    if (first == nullptr && ended) report(e, i, lane, "a barrier that threads that have ended do not reach");
    if (g != e.of->groups.data()) report(e, i, lane, "a barrier in divergent code");
    const u32 mine = lanes_of<u32>(e, i.from[0])[lane];
    if (first != nullptr && (mine != number || first->from_count != i.from_count))
      report(e, i, lane, "threads of the block wait at different barriers");
    first = &i, number = mine;
    any = any || (i.from_count == 2 && (g->lanes & e.predicate(i.from[1])) != 0);
  }
  if (launch.stopped) return;
  block.order->barrier = ++launch.order.now;
  for (const auto& [e, g] : groups) {
    const instruction& i = g->next();
    if (i.to_count != 0) e.set_predicate(i.to[0], any ? all_lanes : 0), e.define(i.to[0], all_lanes);
    g->pc += 1, g->is = group::state::running;
  }
}

/// Runs a block until it has ended or its budget is used up; returns whether it has ended.
bool run_block(launch_state& launch, block_state& block, u64 budget) {
  for (u64 used = 0; used < budget;) {
    const u64 before = used;
    bool done = true;
    for (const u32 k : in_order(launch, block.warps.size())) {
      warp& w = block.warps[k];
      if (w.done()) continue;
      used += run_warp(launch, block, w, slice(launch, 20'000, 2000));
      done = done && w.done();
      if (launch.warp_instructions > launch.options.instruction_limit && !w.done()) {
        const execution e = execution_of(launch, block, w, w.groups.front());
        report(e, w.groups.front().next(), first_lane(e.active), "a kernel that does not end",
               " after " + std::to_string(launch.warp_instructions) + " instructions of warps");
        launch.stopped = true;
      }
      if (launch.stopped) return true;
    }
    if (done) return true;
    if (used == before) pass_barrier(launch, block);
    if (launch.stopped) return true;
  }
  return false;
}

/// Blocks that take long share the machine with later ones, which they may wait for.
void run_grid(launch_state& launch) {
  const std::vector<u32> order = in_order(launch, launch.configuration.blocks);
  std::vector<std::unique_ptr<block_state>> free;
  std::deque<std::unique_ptr<block_state>> active;
  for (std::size_t next = 0; (next < order.size() || !active.empty()) && !launch.stopped;) {
    if (next < order.size() && active.size() < most_active_blocks) {
      if (free.empty()) free.push_back(std::make_unique<block_state>());
      begin_block(launch, *free.back(), order[next++]);
      active.push_front(std::move(free.back()));
      free.pop_back();
    }
    std::unique_ptr<block_state> block = std::move(active.front());
    active.pop_front();
    if (run_block(launch, *block, slice(launch, 200'000, 50'000))) {
      block->order->end();
      free.push_back(std::move(block));
    } else {
      active.push_back(std::move(block));
    }
  }
}

}  // namespace

void report(const execution& e, const instruction& i, unsigned lane, const std::string& what,
            const std::string& details) {
  launch_state& launch = *e.launch;
  if (!launch.reported.emplace(&i, what).second) return;
  std::string text = "kernel " + launch.kernel.name + ", block " + std::to_string(e.block->number) + ", thread " +
                     std::to_string(e.of->number * warp_size + lane) + ": " + what + details + ", at '" +
                     std::string(i.text) + "'";
  if (e.in->code != &launch.kernel) text += " of " + e.in->code->name;
  if (launch.options.order == execution_order::reverse) text += " (reverse order)";
  if (launch.options.order == execution_order::random)
    text += " (random order, seed " + std::to_string(launch.options.seed) + ")";
  launch.violations.push_back(std::move(text));
}

ptx_module& gpu::load(std::string ptx) {
  modules_.push_back(load_module(std::move(ptx)));
  return *modules_.back();
}

std::vector<std::string> gpu::launch(ptx_module& from, function& kernel, const launch_configuration& configuration,
                                     const void* const* arguments) {
  decode(from, kernel);
  const u32 blocks = configuration.blocks, threads = configuration.threads;
  if (!kernel.kernel || threads == 0 || threads > 1024 || blocks == 0 || blocks > ~0U / threads)
    throw ptx_error("software GPU: " + kernel.name + " cannot be launched with " + std::to_string(blocks) +
                    " blocks of " + std::to_string(threads) + " threads");
  launch_state launch{block_of_, options, from, kernel, configuration};
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
    const parameter& p = kernel.parameters[k];
    launch.parameters.resize(p.offset + p.bytes);
    std::memcpy(launch.parameters.data() + p.offset, arguments[k], p.bytes);
  }
  for (const auto& [constant, part] : kernel.launch_constants) {
    u64 bits = 0;
    std::memcpy(&bits, launch.parameters.data() + part.offset, part.bytes);
    kernel.set_constant(constant, bits);
  }
  run_grid(launch);
  last_ = launch.counts;
  all_.instructions += last_.instructions, all_.global_read_bytes += last_.global_read_bytes;
  all_.global_writes += last_.global_writes, all_.global_write_bytes += last_.global_write_bytes;
  touched_ = launch.global_races.touched();
  return std::move(launch.violations);
}

}  // namespace devplace::test::software_gpu
