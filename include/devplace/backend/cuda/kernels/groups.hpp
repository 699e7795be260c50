// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/config.hpp>

namespace devplace::detail {

// Groups of threads that work on one row. all_reduce gives the same bits to every thread of a group; the bits depend on
// the number of threads, not on their order of execution.

/// `Lanes` adjacent threads of a warp, a power of two. All lanes of the warp must call all_reduce together.
template <class Thread, unsigned Lanes> class lane_group {
 public:
  static constexpr unsigned size = Lanes;

  DEVPLACE_DEVICE explicit lane_group(Thread& t) : thread_(t) {}

  DEVPLACE_DEVICE unsigned index() const { return thread_.thread_index() % Lanes; }
  DEVPLACE_DEVICE Thread& thread() const { return thread_; }

  /// Combines the values of the group; `combine` must be commutative.
  template <class T, class Combine> DEVPLACE_DEVICE T all_reduce(T value, Combine combine) const {
    for (unsigned mask = Lanes / 2; mask != 0; mask /= 2) value = combine(value, thread_.shuffle_xor(value, mask));
    return value;
  }

  /// Barrier between the group's reads and a write by one of its threads.
  DEVPLACE_DEVICE void sync() const { thread_.sync_warp(); }

 private:
  Thread& thread_;
};

/// All threads of a block of `Threads` threads.
template <class Thread, unsigned Threads> class block_group {
 public:
  static constexpr unsigned size = Threads;

  DEVPLACE_DEVICE explicit block_group(Thread& t) : thread_(t) {}

  DEVPLACE_DEVICE unsigned index() const { return thread_.thread_index(); }
  DEVPLACE_DEVICE Thread& thread() const { return thread_; }

  template <class T, class Combine> DEVPLACE_DEVICE T all_reduce(T value, Combine combine) const {
    constexpr unsigned warps = Threads / 32;
    const auto of_warps = thread_.template shared<T, warps>();
    value = lane_group<Thread, 32>(thread_).all_reduce(value, combine);
    if (index() % 32 == 0) of_warps.store(index() / 32, value);
    thread_.sync();
    value = of_warps.load(0);
    for (unsigned warp = 1; warp < warps; ++warp) value = combine(value, of_warps.load(warp));
    thread_.sync();  // before of_warps is used again
    return value;
  }

  DEVPLACE_DEVICE void sync() const { thread_.sync(); }

 private:
  Thread& thread_;
};

/// `Lanes` threads of a warp, or all threads of a block.
template <class Thread, unsigned Lanes>
using thread_group = std::conditional_t<(Lanes <= 32), lane_group<Thread, Lanes>, block_group<Thread, Lanes>>;

/// Returns whether the block is the last of `blocks` blocks that call this function with the counter `ticket`. The
/// counter must be 0 before the first call and is 0 after the last. The last block can observe all values that the
/// other blocks published. All threads of the block must call it.
template <class Thread> DEVPLACE_DEVICE bool is_last_block(Thread& t, unsigned* ticket, unsigned blocks) {
  const auto is_last = t.template shared<unsigned, 1, 1>();
  t.sync();  // the whole block has published
  if (t.thread_index() == 0) {
    t.fence();
    const unsigned before = t.ticket(ticket, blocks);
    t.fence();
    is_last.store(0, before == blocks - 1 ? 1 : 0);
  }
  t.sync();
  return is_last.load(0) != 0;
}

struct take_larger {
  template <class T> DEVPLACE_DEVICE T operator()(T a, T b) const { return b > a ? b : a; }
};

struct add_up {
  template <class T> DEVPLACE_DEVICE T operator()(T a, T b) const { return a + b; }
};

}  // namespace devplace::detail
