// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "support/simt/shared_memory.hpp"

namespace devplace::test::simt {

/// Checks the communication between the blocks of a launch through global memory. A value is visible to another block
/// if there is a chain: its writer, a barrier (or the same thread), a fence, a ticket; then, in the other block, a
/// later ticket of the same counter, a fence, a barrier (or the same thread), the reader. Without this chain an access
/// is a violation, even if the order of blocks happened to give the right value.
class global_memory {
 public:
  std::size_t loaded_bytes = 0;  ///< by vector accesses

  void publish(const void* at, unsigned block, const moment& now) {
    const auto [found, is_new] = at_address_.try_emplace(at, values_.size());
    if (!is_new)
      throw violation(of(now, block) + " publishes what " +
                      of(values_[found->second].writer, values_[found->second].block) + " has published already");
    values_.push_back({block, now});
  }

  void observe(const void* at, unsigned block, const moment& now) const {
    const auto found = at_address_.find(at);
    if (found == at_address_.end())
      throw violation(of(now, block) + " observes what no block of this launch has published");
    const value& v = values_[found->second];
    if (v.block == block ? ordered(v.writer, now) : is_visible(v, block, now)) return;
    throw violation(of(now, block) + " observes what " + of(v.writer, v.block) +
                    " published, with no chain of barriers, fences and a ticket between");
  }

  void fence(unsigned block, const moment& now) {
    for (value& v : values_)
      if (v.block == block && !v.fenced && ordered(v.writer, now)) {
        v.fenced = true;
        v.fence = now;
      }
    for (acquisition& a : acquisitions_)
      if (a.block == block && !a.fenced && a.at.thread == now.thread) {
        a.fenced = true;
        a.at = now;
      }
  }

  unsigned ticket(unsigned* counter, unsigned limit, unsigned block, const moment& now) {
    std::size_t& released = released_[counter];
    for (value& v : values_)
      if (v.block == block && v.counter == nullptr && v.fenced && ordered(v.fence, now)) {
        v.counter = counter;
        v.position = released++;
      }
    acquisitions_.push_back({block, counter, released, now});
    const unsigned before = *counter;
    *counter = before >= limit - 1 ? 0 : before + 1;
    return before;
  }

  /// Requires that all counters are 0; call it after the last block.
  void require_counters_at_zero() const {
    for (const auto& [counter, released] : released_)
      if (*counter != 0)
        throw violation("a ticket counter is left at " + std::to_string(*counter) +
                        "; the next launch would begin with it");
  }

 private:
  struct value {
    unsigned block;
    moment writer;
    bool fenced = false;
    moment fence{};
    const unsigned* counter = nullptr;  // the ticket counter that released it
    std::size_t position = 0;           // position among the values released by that counter
  };
  struct acquisition {
    unsigned block;
    const unsigned* counter;
    std::size_t released;  // number of values that the counter had released
    moment at;
    bool fenced = false;
  };

  static std::string of(const moment& m, unsigned block) {
    return "thread " + std::to_string(m.thread) + " of block " + std::to_string(block);
  }

  bool is_visible(const value& v, unsigned block, const moment& now) const {
    for (const acquisition& a : acquisitions_)
      if (a.block == block && a.counter == v.counter && v.counter != nullptr && v.position < a.released && a.fenced &&
          ordered(a.at, now))
        return true;
    return false;
  }

  std::map<const void*, std::size_t> at_address_;
  std::vector<value> values_;
  std::vector<acquisition> acquisitions_;
  std::map<const unsigned*, std::size_t> released_;
};

}  // namespace devplace::test::simt
