// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstring>
#include <string>

#include "support/software_gpu/warp.hpp"

// Loads, stores, atomics, fences and conversions of addresses. Generic addresses are the CPU's own: shared memory,
// parameters and local variables lie in the state of the launch.

namespace devplace::test::software_gpu {

namespace {

u64 address_of(const std::vector<u64>& memory) { return reinterpret_cast<u64>(memory.data()); }

memory_block block_at(launch_state& launch, u64 address) {
  for (const memory_block& block : launch.recent_blocks)
    if (address - block.begin < block.bytes) return block;
  memory_block block = launch.block_of(address);
  if (block.bytes == 0)
    for (const auto& [name, v] : launch.from.variables)
      if (v->where != space::shared && address - v->address < v->declared.bytes)
        block = {v->address, v->declared.bytes, nullptr};
  if (block.bytes != 0) launch.recent_blocks[launch.next_recent++ % launch.recent_blocks.size()] = block;
  return block;
}

/// Memory that a lane may access.
struct region {
  u64 begin, bytes;  ///< no bytes of global memory: there is none
  u8* written;
  space where;
  const char* limit;  ///< which an access is beyond
};

/// Returns the memory around an address, or that in which an access to its space should be.
region region_at(const execution& e, const instruction& i, unsigned lane, u64 address) {
  const u64 window = address_of(e.block->shared);
  if (i.where == space::shared || (i.where == space::generic && address - window < e.block->shared.size() * 8))
    return {window, e.launch->shared_bytes, e.block->shared_written.data(), space::shared, "the end of shared memory"};
  if (i.where != space::global)
    for (frame* f = e.in; f != nullptr; f = f->caller)
      if (address - address_of(f->memory) < f->memory.size() * 8 || (i.where == space::local && f->caller == nullptr))
        return {reinterpret_cast<u64>(f->lane_memory(lane)), f->code->memory_bytes, f->lane_written(lane), space::local,
                "the thread's local memory"};
  const std::vector<u8>& parameters = e.launch->parameters;
  if (const auto begin = reinterpret_cast<u64>(parameters.data()); address - begin < parameters.size())
    return {begin, parameters.size(), nullptr, space::param, "the kernel's parameters"};
  const memory_block block = block_at(*e.launch, address);
  return {block.begin, block.bytes, block.written, space::global, "the end of a block of memory"};
}

void check_races(const execution& e, const instruction& i, unsigned lane, bool shared, u64 address, u32 bytes,
                 access kind) {
  launch_state& launch = *e.launch;
  const bool writes = kind != access::read;
  const viewer who{e.block->order, e.of->number * warp_size + lane};
  if (i.strong)
    launch.order.synchronise(*e.block->order, who.thread, {shared ? e.block->number + 1 : 0, address},
                             kind != access::write, writes);
  race_detector& races = shared ? e.block->shared_races : launch.global_races;
  const auto found = races.access(launch.order, who, address, bytes, writes, i.strong);
  if (found.what == nullptr) return;
  report(e, i, lane, found.what,
         " of thread " + std::to_string(found.with.thread) + " of block " + std::to_string(found.with.block) + " in " +
             (shared ? "shared" : "global") + " memory");
}

template <class T> void load(execution& e, const instruction& i) {
  alignas(64) T values[4][warp_size];
  std::array<u32, 4> known{};
  each_place(e, i, static_cast<u32>(sizeof(T)) * i.count, access::read, [&](unsigned lane, const place& from) {
    bool empty = from.where == space::shared;
    for (u32 k = 0; k < i.count; ++k) {
      values[k][lane] = T{};
      if (from.data != nullptr) std::memcpy(&values[k][lane], from.data + k * sizeof(T), sizeof(T));
      u64 written = from.written != nullptr ? 0 : has_value;  // the states of up to 8 bytes
      if (from.written != nullptr) std::memcpy(&written, from.written + k * sizeof(T), sizeof(T));
      // Padding has no value, and whole structures are copied: one byte with a value is enough.
      if ((written & 0x0101010101010101 * has_value) != 0) known[k] |= 1U << lane;
      empty = empty && written == 0;
    }
    if (empty) report(e, i, lane, "a read of shared memory that nothing was written to");
  });
  for (u32 k = 0; k < i.count; ++k) store_lanes(e, i.to[k], values[k]), e.define(i.to[k], known[k]);
}

template <class T> void store(execution& e, const instruction& i) {
  alignas(64) T values[4][warp_size];
  for (u32 k = 0; k < i.count; ++k) std::copy_n(lanes_of<T>(e, i.from[1 + k]).values(), warp_size, values[k]);
  each_place(e, i, static_cast<u32>(sizeof(T)) * i.count, access::write, [&](unsigned lane, const place& into) {
    for (u32 k = 0; k < i.count && into.data != nullptr; ++k) {
      std::memcpy(into.data + k * sizeof(T), &values[k][lane], sizeof(T));
      const bool is_defined = (e.defined[i.from[1 + k].index] >> lane & 1) != 0;
      if (into.written != nullptr)
        std::memset(into.written + k * sizeof(T), is_defined ? has_value : has_undefined_value, sizeof(T));
      else if (!is_defined)
        report(e, i, lane, "an undefined value decides what is written to global memory");
    }
  });
}

/// Replaces a value by F of the old and the given one. The lanes execute one after the other.
template <class T, class F> void update(execution& e, const instruction& i) {
  const lanes_of<T> value(e, i.from[1]);
  T results[warp_size];
  each_place(e, i, sizeof(T), access::update, [&](unsigned lane, const place& at) {
    results[lane] = T{};
    if (at.data == nullptr) return;
    std::memcpy(&results[lane], at.data, sizeof(T));
    const T now = F{}(results[lane], value[lane]);
    std::memcpy(at.data, &now, sizeof(T));
    if (at.written != nullptr) std::memset(at.written, has_value, sizeof(T));
  });
  store_lanes(e, i.to[0], results);
}

template <class... T> void add_accesses(operation_table& table) {
  const auto add = [&]<class U>(const std::string& type, U) {
    const u8 bytes = sizeof(U);
    table["ld" + type] = {&load<U>, {8}, true};
    table["st" + type] = {&store<U>, {8, bytes}, true, 0};
  };
  (add(name_of<T>(), T{}), ...);
}
template <class... T, class F> void add_atomics(operation_table& table, const std::string& name, F) {
  ((table["atom." + name + name_of<T>()] = {&update<T, F>, {8, sizeof(T)}}), ...);
}

void fence(execution& e, const instruction&) {
  ++e.launch->order.now;
  each_lane(e.active, [&](unsigned lane) { e.launch->order.fence(*e.block->order, e.of->number * warp_size + lane); });
  ++e.launch->order.now;
}

/// Shared memory's addresses begin at 0 in its own space; all others are generic ones.
template <bool FromGeneric> void convert_address(execution& e, const instruction& i) {
  const u64 window = i.where == space::shared ? address_of(e.block->shared) : 0;
  const lanes_of<u64> from(e, i.from[0]);
  u64 results[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = from[lane] + (FromGeneric ? 0 - window : window);
  store_lanes(e, i.to[0], results);
}

}  // namespace

place locate(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, access kind) {
  if ((address & (bytes - 1)) != 0)
    report(e, i, lane, "a misaligned access",
           ": address " + std::to_string(address) + " for " + std::to_string(bytes) + " bytes");
  if (i.where == space::shared) address = address_of(e.block->shared) + static_cast<u32>(address);
  const region in = region_at(e, i, lane, address);
  const u64 offset = address - in.begin;
  if (in.where == space::global && in.bytes == 0) {
    report(e, i, lane, "an access to memory of no live block", ": address " + std::to_string(address));
    return {};
  }
  if (offset > in.bytes || bytes > in.bytes - offset) {
    report(e, i, lane, std::string("an access beyond ") + in.limit,
           ": " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " + std::to_string(in.bytes));
    return {};
  }
  counters& counts = e.launch->counts;
  if (in.where == space::global && kind != access::write) counts.global_read_bytes += bytes;
  if (in.where == space::global && kind != access::read) counts.global_writes += 1, counts.global_write_bytes += bytes;
  const bool shared = in.where == space::shared;
  if (shared || in.where == space::global) check_races(e, i, lane, shared, shared ? offset : address, bytes, kind);
  return {reinterpret_cast<u8*>(address), in.written == nullptr ? nullptr : in.written + offset, in.where};
}

void add_memory_operations(operation_table& table) {
  add_accesses<u8, s8, u16, s16, u32, s32, u64, s64, float, double>(table);
  add_atomics<u32, u64>(table, "add", [](auto old, auto x) { return old + x; });
  add_atomics<u32>(table, "inc", [](u32 old, u32 last) { return old >= last ? 0 : old + 1; });
  table["membar.cta"] = table["membar.gl"] = {&fence, {}, false, 0};
  table["cvta.u64"] = {&convert_address<false>, {8}}, table["cvta.to.u64"] = {&convert_address<true>, {8}};
  table["nanosleep.u32"] = {[](execution&, const instruction&) {}, {4}, false, 0};
}

}  // namespace devplace::test::software_gpu
