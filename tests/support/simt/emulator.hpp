// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/pack.hpp>

#include "support/simt/fiber.hpp"
#include "support/simt/global_memory.hpp"
#include "support/simt/shared_memory.hpp"

// Runs a kernel's body (backend/cuda/kernels) on the CPU, each thread as a fiber with its own stack. Threads and blocks
// are scheduled in random order and some blocks run concurrently, so a body that relies on an order fails. Hazards that
// no order exposes are checked, see `violation`. The emulator verifies bodies, not launches.

namespace devplace::test::simt {

using detail::pack;

/// The source location in a kernel where a thread waits.
struct site {
  const char* operation;
  int line;
};

enum class thread_state : unsigned char { runs, at_barrier, at_warp, exited };

class block_run;

/// The emulator's thread: the context of a kernel's body, with the member names of simt_thread.cuh.
class thread {
 public:
  unsigned thread_index() const { return index_; }
  unsigned block_index() const { return block_index_; }
  unsigned block_size() const { return block_size_; }
  unsigned grid_size() const { return grid_size_; }

  void sync(int line = __builtin_LINE()) { wait(thread_state::at_barrier, {"sync", line}); }
  void sync_warp(int line = __builtin_LINE()) {
    wait(thread_state::at_warp, {"sync_warp", line});
    ++now_.warp_epoch;
  }

  /// Returns the value of lane (own lane ^ mask) of the warp. All lanes must call it.
  template <class T> T shuffle_xor(T value, unsigned mask, int line = __builtin_LINE()) {
    return exchange(value, lane() ^ mask, {"shuffle_xor", line});
  }
  /// Returns the value of lane `from` within the thread's group of `width` lanes.
  template <class T> T shuffle(T value, unsigned from, unsigned width = warp_size, int line = __builtin_LINE()) {
    return exchange(value, lane() / width * width + from % width, {"shuffle", line});
  }

  template <class T, std::size_t N, int Tag = 0> auto shared();

  template <class T> void publish(T* to, const T& value);
  template <class T> T observe(const T* from) const;
  inline void fence();
  inline unsigned ticket(unsigned* counter, unsigned limit);

  template <class T, unsigned N> pack<T, N> load(const T* from, int line = __builtin_LINE()) const {
    check_alignment<pack<T, N>>(from, "load", line);
    count_load(sizeof(pack<T, N>));
    pack<T, N> result;
    std::memcpy(result.value, from, sizeof result.value);
    return result;
  }
  template <class T, unsigned N> void store(T* to, const pack<T, N>& value, int line = __builtin_LINE()) const {
    check_alignment<pack<T, N>>(to, "store", line);
    std::memcpy(to, value.value, sizeof value.value);
  }

 private:
  friend class block_run;

  unsigned lane() const { return index_ % warp_size; }

  template <class Vector> void check_alignment(const void* address, const char* operation, int line) const {
    if (reinterpret_cast<std::uintptr_t>(address) % alignof(Vector) != 0)
      throw violation(std::string(operation) + " of " + std::to_string(sizeof(Vector)) + " bytes in line " +
                      std::to_string(line) + ": the address of thread " + std::to_string(index_) + " of block " +
                      std::to_string(block_index_) + " is not a multiple of " + std::to_string(alignof(Vector)));
  }

  inline void count_load(std::size_t bytes) const;
  inline void wait(thread_state state, site where);
  template <class T> T exchange(const T& value, unsigned from, site where);

  unsigned index_ = 0;
  unsigned block_index_ = 0;
  unsigned block_size_ = 0;
  unsigned grid_size_ = 0;
  block_run* run_ = nullptr;
  thread_state state_ = thread_state::runs;
  site where_{};
  moment now_{};
  unsigned exchanges_ = 0;
};

/// An array in shared memory, with the members that a kernel's body uses.
template <class T> class shared_array {
 public:
  shared_array(shared_block& block, const moment& now) : block_(&block), now_(&now) {}
  T load(std::size_t i) const {
    std::array<std::byte, sizeof(T)> bytes;
    block_->read(i, bytes.data(), *now_);
    T result;
    std::memcpy(static_cast<void*>(&result), bytes.data(), sizeof(T));
    return result;
  }
  void store(std::size_t i, const T& value) const { block_->write(i, &value, *now_); }

 private:
  shared_block* block_;
  const moment* now_;
};

/// Runs blocks of one launch, one after another.
class block_run {
 public:
  block_run(unsigned block_size, std::uint32_t seed, global_memory& global)
      : random_(seed), threads_(block_size), slots_(block_size), arguments_(block_size), global_(&global) {
    if (block_size == 0 || block_size > 1024 || block_size % warp_size != 0)
      throw violation("a block has " + std::to_string(block_size) +
                      " threads; kernels are written for whole warps of 32, and at most 1024 threads");
    for (unsigned i = 0; i < block_size; ++i) fibers_.push_back(idle_fiber());
  }
  block_run(const block_run&) = delete;
  block_run& operator=(const block_run&) = delete;
  /// Keeps the fibers whose bodies have ended for the next launch.
  ~block_run() {
    for (std::unique_ptr<fiber>& each : fibers_)
      if (each->done()) idle_fibers().push_back(std::move(each));
  }

  /// Starts block number `block` of `blocks`.
  template <class Kernel> void start(const Kernel& kernel, unsigned block, unsigned blocks) {
    shared_.clear();
    for (unsigned i = 0; i < threads_.size(); ++i) {
      thread& t = threads_[i];
      t = thread{};
      t.index_ = i;
      t.block_index_ = block;
      t.block_size_ = static_cast<unsigned>(threads_.size());
      t.grid_size_ = blocks;
      t.run_ = this;
      t.now_.thread = i;
      arguments_[i] = {&kernel, &t};
      fibers_[i]->start(
          [](void* given) {
            const argument& mine = *static_cast<argument*>(given);
            (*static_cast<const Kernel*>(mine.kernel))(*mine.context);
          },
          &arguments_[i]);
    }
    ready_.resize(threads_.size());
    std::iota(ready_.begin(), ready_.end(), 0u);
  }

  /// Resumes every runnable thread until it waits. Returns false when the block is done.
  bool step() {
    std::shuffle(ready_.begin(), ready_.end(), random_);
    for (const unsigned i : ready_) {
      fibers_[i]->resume();
      if (fibers_[i]->done()) threads_[i].state_ = thread_state::exited;
    }
    ready_.clear();
    for (unsigned warp = 0; warp < threads_.size(); warp += warp_size)
      release(thread_state::at_warp, warp, warp + warp_size, ready_);
    if (ready_.empty()) release(thread_state::at_barrier, 0, static_cast<unsigned>(threads_.size()), ready_);
    if (ready_.empty()) require_all_exited();
    return !ready_.empty();
  }

 private:
  friend class thread;

  using value_bytes = std::array<std::byte, 16>;

  static std::vector<std::unique_ptr<fiber>>& idle_fibers() {
    static std::vector<std::unique_ptr<fiber>> idle;
    return idle;
  }
  static std::unique_ptr<fiber> idle_fiber() {
    if (idle_fibers().empty()) return std::make_unique<fiber>();
    std::unique_ptr<fiber> result = std::move(idle_fibers().back());
    idle_fibers().pop_back();
    return result;
  }

  struct argument {
    const void* kernel;
    thread* context;
  };

  /// Resumes the threads [first, after) if all of them wait in `state` at one source location.
  void release(thread_state state, unsigned first, unsigned after, std::vector<unsigned>& ready) {
    for (unsigned i = first; i < after; ++i)
      if (threads_[i].state_ != state) return;
    for (unsigned i = first; i < after; ++i) {
      const site& a = threads_[first].where_;
      const site& b = threads_[i].where_;
      if (a.line != b.line || a.operation != b.operation)
        throw violation("threads " + std::to_string(first) + " and " + std::to_string(i) +
                        " wait for each other at different places: " + a.operation + " in line " +
                        std::to_string(a.line) + " and " + b.operation + " in line " + std::to_string(b.line));
    }
    for (unsigned i = first; i < after; ++i) {
      threads_[i].state_ = thread_state::runs;
      if (state == thread_state::at_barrier) ++threads_[i].now_.block_epoch;
      ready.push_back(i);
    }
  }

  void require_all_exited() const {
    std::size_t exited = 0;
    std::size_t at_barrier = 0;
    const thread* waiting = nullptr;
    for (const thread& t : threads_) {
      exited += t.state_ == thread_state::exited;
      at_barrier += t.state_ == thread_state::at_barrier;
      if (t.state_ != thread_state::exited && (waiting == nullptr || t.state_ == thread_state::at_warp)) waiting = &t;
    }
    if (waiting == nullptr) return;
    throw violation("threads diverge: thread " + std::to_string(waiting->index_) + " waits at " +
                    waiting->where_.operation + " in line " + std::to_string(waiting->where_.line) + "; of " +
                    std::to_string(threads_.size()) + " threads " + std::to_string(at_barrier) + " are at sync, " +
                    std::to_string(threads_.size() - at_barrier - exited) + " at an operation of their warp, " +
                    std::to_string(exited) + " have exited");
  }

  std::mt19937 random_;
  std::vector<thread> threads_;
  std::vector<std::array<value_bytes, 2>> slots_;  // by thread, for exchanges of even and odd number
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<argument> arguments_;
  std::vector<unsigned> ready_;
  shared_memory shared_;
  global_memory* global_;
};

inline void thread::count_load(std::size_t bytes) const { run_->global_->loaded_bytes += bytes; }

inline void thread::wait(thread_state state, site where) {
  state_ = state;
  where_ = where;
  run_->fibers_[index_]->yield();
}

template <class T> T thread::exchange(const T& value, unsigned from, site where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(block_run::value_bytes));
  if (from >= warp_size)
    throw violation(std::string(where.operation) + " in line " + std::to_string(where.line) + " asks for lane " +
                    std::to_string(from));
  const unsigned parity = exchanges_++ % 2;
  std::memcpy(run_->slots_[index_][parity].data(), &value, sizeof(T));
  wait(thread_state::at_warp, where);
  T result;
  std::memcpy(static_cast<void*>(&result), run_->slots_[index_ - lane() + from][parity].data(), sizeof(T));
  return result;
}

template <class T, std::size_t N, int Tag> auto thread::shared() {
  return shared_array<T>(run_->shared_.get<T, N, Tag>(), now_);
}

template <class T> void thread::publish(T* to, const T& value) {
  run_->global_->publish(to, block_index_, now_);
  *to = value;
}

template <class T> T thread::observe(const T* from) const {
  run_->global_->observe(from, block_index_, now_);
  return *from;
}

inline void thread::fence() { run_->global_->fence(block_index_, now_); }

inline unsigned thread::ticket(unsigned* counter, unsigned limit) {
  return run_->global_->ticket(counter, limit, block_index_, now_);
}

/// Runs `kernel`, an object with `threads` and operator()(thread&), in `blocks` blocks, some of them concurrently.
/// Returns how many bytes the threads read by load().
template <class Kernel> std::size_t launch(unsigned blocks, const Kernel& kernel, std::uint32_t seed) {
  std::vector<unsigned> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  global_memory global;
  std::vector<std::unique_ptr<block_run>> running;
  const std::size_t side_by_side = std::min<std::size_t>(blocks, 3);
  for (std::size_t k = 0; k < side_by_side; ++k) {
    running.push_back(std::make_unique<block_run>(Kernel::threads, seed + 1 + static_cast<std::uint32_t>(k), global));
    running.back()->start(kernel, order[k], blocks);
  }
  for (std::size_t next = side_by_side; !running.empty();) {
    const std::size_t chosen = random() % running.size();
    if (running[chosen]->step()) continue;
    if (next != blocks)
      running[chosen]->start(kernel, order[next++], blocks);
    else
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  global.require_counters_at_zero();
  return global.loaded_bytes;
}

}  // namespace devplace::test::simt
