// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/software_gpu/warp.hpp"

namespace devplace::test::software_gpu {

/// Where a lane's access goes.
struct place {
  u8* data = nullptr;     ///< nullptr: the access is wrong, and has been reported
  u8* written = nullptr;  ///< whether each byte has a value, where known
  space where = space::global;
};
enum class access : u8 { read, write, update };

/// Checks an access of a lane for alignment, bounds and races, counts it, and returns its place.
place locate(const execution& e, const instruction& i, unsigned lane, u64 address, u32 bytes, access kind);

/// Calls f(lane, address) for each active lane, in the launch's order, after a check that the addresses are defined.
template <class F> void each_address(execution& e, const instruction& i, F f) {
  const operand& base = i.from[0];
  if (const u32 unknown = e.active & ~e.defined[base.index]; unknown != 0)
    report_undefined(e, i, unknown, "an address");
  const auto call = [&](unsigned lane) { f(lane, e.get(base, lane) + static_cast<u64>(i.displacement)); };
  const execution_order order = e.launch->options.order;
  if (order == execution_order::reverse || (order == execution_order::random && (e.launch->random() & 1) != 0)) {
    for (u32 rest = e.active; rest != 0;) {
      const unsigned lane = static_cast<unsigned>(std::bit_width(rest)) - 1;
      rest ^= 1U << lane;
      call(lane);
    }
  } else {
    e.each(call);
  }
  ++e.launch->order.now;
}

}  // namespace devplace::test::software_gpu
