// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/software_gpu/memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "support/software_gpu/decoder.hpp"

// Loads, stores, fences and conversions of addresses. Generic addresses are the CPU's own: shared memory, parameters
// and local variables lie in the state of the launch.

namespace devplace::test::software_gpu {

namespace {

u64 address_of(const std::vector<u64>& memory) { return reinterpret_cast<u64>(memory.data()); }

place in_shared(const execution& e, const instruction& i, unsigned lane, u64 offset, u32 bytes, access kind) {
  block_state& block = *e.block;
  if (offset > block.shared_bytes || bytes > block.shared_bytes - offset) {
    report(e, i, lane, "an access beyond the end of shared memory",
           ": " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " +
               std::to_string(block.shared_bytes));
    return {};
  }
  (kind == access::read ? e.launch->counts.shared_reads : e.launch->counts.shared_writes) += 1;
  return {reinterpret_cast<u8*>(block.shared.data()) + offset, block.shared_written.data() + offset, space::shared};
}

/// Finds a lane's own memory in the frames of its calls.
bool in_frames(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, place& found) {
  for (frame* f = e.in; f != nullptr; f = f->caller) {
    const u64 offset = address - address_of(f->memory);
    if (offset >= f->memory.size() * 8) continue;
    if (offset / f->code->memory_bytes != lane || offset % f->code->memory_bytes + bytes > f->code->memory_bytes)
      report(e, i, lane, "an access beyond the thread's local memory");
    else
      found = {reinterpret_cast<u8*>(address), f->written.data() + offset, space::local};
    return true;
  }
  if (i.where == space::local) report(e, i, lane, "an access beyond the thread's local memory");
  return i.where == space::local;
}

memory_block block_at(launch_state& launch, u64 address) {
  for (const memory_block& block : launch.recent_blocks)
    if (address - block.begin < block.bytes) return block;
  memory_block block = launch.owner.block_of(address);
  if (block.bytes == 0)
    for (const auto& [name, v] : launch.from.variables)
      if (v->where != space::shared && address - v->address < v->bytes) block = {v->address, v->bytes, nullptr};
  if (block.bytes != 0) launch.recent_blocks[launch.next_recent++ % launch.recent_blocks.size()] = block;
  return block;
}

place in_global(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, access kind) {
  counters& counts = e.launch->counts;
  const memory_block block = block_at(*e.launch, address);
  if (block.bytes == 0) {
    report(e, i, lane, "an access to memory of no live block", ": address " + std::to_string(address));
    return {};
  }
  const u64 offset = address - block.begin;
  if (bytes > block.bytes - offset) {
    report(e, i, lane, "an access beyond the end of a block of memory",
           ": " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " + std::to_string(block.bytes));
    return {};
  }
  if (kind != access::write) counts.global_reads += 1, counts.global_read_bytes += bytes;
  if (kind != access::read) counts.global_writes += 1, counts.global_write_bytes += bytes;
  return {reinterpret_cast<u8*>(address), block.written == nullptr ? nullptr : block.written + offset, space::global};
}

void check_races(const execution& e, const instruction& i, unsigned lane, const place& at, u64 address, u32 bytes,
                 access kind) {
  launch_state& launch = *e.launch;
  const bool in_shared_memory = at.where == space::shared, strong = i.order != ordering::weak || kind == access::update;
  const viewer who{e.block->order, e.of->number * warp_size + lane};
  if (strong)
    launch.order.synchronise(*e.block->order, who.thread, {in_shared_memory ? e.block->number + 1 : 0, address},
                             kind != access::write, kind != access::read, i.order);
  race_detector& races = in_shared_memory ? e.block->shared_races : launch.global_races;
  const auto found = races.access(launch.order, who, address, bytes, kind != access::read, strong);
  if (found.what == nullptr) return;
  report(e, i, lane, found.what,
         " of thread " + std::to_string(found.thread % launch.threads) + " of block " +
             std::to_string(found.thread / launch.threads) + " in " + (in_shared_memory ? "shared" : "global") +
             " memory");
}

void load(execution& e, const instruction& i) {
  std::array<u32, 8> known{};
  const u32 size = u32{i.bytes} * i.count;
  const unsigned sign_shift = i.is_signed ? 64U - 8U * i.bytes : 0;
  const auto put = [&](unsigned lane, const u8* data, const u8* written) {
    for (u32 k = 0; k < i.count; ++k) {
      u64 bits = 0;
      copy_element(&bits, data + k * i.bytes, i.bytes);
      if (i.is_signed) bits = static_cast<u64>(static_cast<s64>(bits << sign_shift) >> sign_shift);
      e.set(i.to[k], lane, bits);
      // Padding has no value, and whole structures are copied: one byte with a value is enough.
      const u8* const w = written + k * i.bytes;
      if (written == nullptr || std::find(w, w + i.bytes, has_value) != w + i.bytes) known[k] |= 1U << lane;
    }
  };
  static constexpr u8 zeros[64] = {};
  const auto offset = static_cast<std::size_t>(i.displacement);
  if (i.from_count == 0 && i.where == space::constant) {
    const u8* const parameter_data = reinterpret_cast<const u8*>(e.launch->parameters.data()) + offset;
    e.each([&](unsigned lane) { put(lane, parameter_data, nullptr); });
  } else if (i.from_count == 0) {
    e.each([&](unsigned lane) {
      put(lane, e.in->lane_memory(lane) + offset, e.in->written.data() + e.in->code->memory_bytes * lane + offset);
    });
  } else {
    each_address(e, i, [&](unsigned lane, u64 address) {
      const place from = locate(e, i, lane, address, size, access::read);
      put(lane, from.data == nullptr ? zeros : from.data, from.written);
      if (from.where == space::shared && from.data != nullptr && e.launch->options.find_undefined_values &&
          std::all_of(from.written, from.written + size, [](u8 is) { return is == 0; }))
        report(e, i, lane, "a read of shared memory that nothing was written to");
    });
  }
  for (u32 k = 0; k < i.count; ++k) {
    u32& defined = e.defined[i.to[k].index];
    defined = (defined & ~e.active) | known[k];
  }
}

void store(execution& e, const instruction& i) {
  const u32 first = i.where == space::param && i.from_count == i.count ? 0 : 1;
  const auto put = [&](unsigned lane, u8* data, u8* written) {
    for (u32 k = 0; k < i.count; ++k) {
      const operand& o = i.from[first + k];
      const u64 bits = e.get(o, lane);
      copy_element(data + k * i.bytes, &bits, i.bytes);
      const bool is_defined = (e.defined[o.index] >> lane & 1) != 0;
      if (written != nullptr)
        std::memset(written + k * i.bytes, is_defined ? has_value : has_undefined_value, i.bytes);
      else if (!is_defined)
        report_undefined(e, i, 1U << lane, "what is written to global memory");
    }
  };
  if (first == 0) {
    const auto offset = static_cast<std::size_t>(i.displacement);
    e.each([&](unsigned lane) {
      put(lane, e.in->lane_memory(lane) + offset, e.in->written.data() + e.in->code->memory_bytes * lane + offset);
    });
    return;
  }
  each_address(e, i, [&](unsigned lane, u64 address) {
    const place into = locate(e, i, lane, address, u32{i.bytes} * i.count, access::write);
    if (into.data != nullptr) put(lane, into.data, into.written);
  });
}

void fence(execution& e, const instruction&) {
  if (!e.launch->options.find_races) return;
  ++e.launch->order.now;
  e.each([&](unsigned lane) { e.launch->order.fence(*e.block->order, e.of->number * warp_size + lane); });
  ++e.launch->order.now;
}

/// Shared memory's addresses begin at 0 in its own space; all others are generic ones.
void convert_address(execution& e, const instruction& i) {
  const u64 base =
      i.where != space::shared ? 0 : (i.mode != 0 ? 0 - address_of(e.block->shared) : address_of(e.block->shared));
  const lanes_of<u64> from(e, i.from[0]);
  u64 results[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) results[lane] = from[lane] + base;
  store_lanes(e, i.to[0], results);
}

void test_address(execution& e, const instruction& i) {
  e.each([&](unsigned lane) {
    const u64 address = e.get(i.from[0], lane);
    const bool shared = address - address_of(e.block->shared) < e.block->shared_bytes;
    bool in_frame = false;
    for (frame* f = e.in; f != nullptr; f = f->caller)
      in_frame = in_frame || address - address_of(f->memory) < f->memory.size() * 8;
    e.set(i.to[0], lane,
          i.where == space::shared ? shared : (i.where == space::local ? in_frame : !shared && !in_frame));
  });
}

void nothing(execution&, const instruction&) {}

}  // namespace

place locate(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, access kind) {
  if (address % bytes != 0)
    report(e, i, lane, "a misaligned access",
           ": address " + std::to_string(address) + " for " + std::to_string(bytes) + " bytes");
  const u64 window = address_of(e.block->shared);
  place found;
  if (i.where == space::shared)
    found = in_shared(e, i, lane, static_cast<u32>(address), bytes, kind);
  else if (i.where == space::generic && address - window < e.block->shared.size() * 8)
    found = in_shared(e, i, lane, address - window, bytes, kind);
  else if (i.where == space::global || !in_frames(e, i, lane, address, bytes, found)) {
    const u64 in_parameters = address - address_of(e.launch->parameters);
    if (in_parameters < e.launch->parameter_bytes) return {reinterpret_cast<u8*>(address), nullptr, space::constant};
    found = in_global(e, i, lane, address, bytes, kind);
  }
  if (kind == access::update) ++e.launch->counts.atomics;
  if (found.data != nullptr && found.where != space::local && i.where != space::constant &&
      e.launch->options.find_races)
    check_races(
        e, i, lane, found,
        found.where == space::shared ? static_cast<u64>(found.written - e.block->shared_written.data()) : address,
        bytes, kind);
  return found;
}

bool decode_memory_operation(decoder& d, instruction& i) {
  const std::string_view name = d.words[0];
  const auto& a = d.arguments;
  i.where = d.has("global")                                                   ? space::global
            : d.has("shared") || d.has("shared::cta")                         ? space::shared
            : d.has("local")                                                  ? space::local
            : d.has("const")                                                  ? space::constant
            : d.has("param") || d.has("param::entry") || d.has("param::func") ? space::param
                                                                              : space::generic;
  i.order = d.has("acq_rel")                                         ? ordering::acquire_release
            : d.has("acquire")                                       ? ordering::acquire
            : d.has("release")                                       ? ordering::release
            : d.has("relaxed") || d.has("volatile") || d.has("mmio") ? ordering::relaxed
                                                                     : ordering::weak;
  if (name == "ld" || name == "ldu" || name == "st") {
    i.bytes = size_of_type(d.type()), i.is_signed = d.type()[0] == 's';
    i.count = d.has("v8") ? 8 : (d.has("v4") ? 4 : (d.has("v2") ? 2 : 1));
    if (a.size() != 2 || i.bytes == 0 || i.bytes > 8) return false;
    i.defines = true;
    if (name == "st") {
      i.run = &store;
      d.address(i, a[0]), d.from_each(a[1], i.bytes);
    } else {
      i.run = &load;
      d.to_each(a[0]), d.address(i, a[1]);
    }
  } else if (name == "membar" || name == "fence") {
    i.run = &fence;
  } else if (name == "cvta") {
    i.run = &convert_address, i.mode = d.has("to") ? 1 : 0;
    d.to(a.at(0)), d.from(a.at(1), 8);
  } else if (name == "isspacep") {
    i.run = &test_address;
    d.to(a.at(0)), d.from(a.at(1), 8);
  } else if (name == "prefetch" || name == "prefetchu" || name == "discard" || name == "applypriority" ||
             name == "nanosleep" || name == "griddepcontrol") {
    i.run = &nothing;
  } else {
    return decode_atomic_operation(d, i);
  }
  return true;
}

}  // namespace devplace::test::software_gpu
