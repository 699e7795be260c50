// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <type_traits>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/current_stream.hpp>

namespace devplace::runtime {

/// The workspaces that a model keeps for its predictions, so that only the first call allocates. Each concurrent call
/// gets its own workspace. A workspace stays with the stream that used it first; the stream's order protects the
/// workspace from pending work.
class kept_workspaces {
  struct workspace {
    int ordinal;
    void* stream;
    devplace::detail::memory_block block;
  };

 public:
  /// A workspace for the current stream of a device; returned when the lease ends.
  template <class Backend> class lease {
   public:
    lease(kept_workspaces& owner, int ordinal) : owner_(owner), held_(owner.take(ordinal, stream_of(ordinal))) {}
    lease& operator=(lease&&) = delete;
    ~lease() { owner_.give(held_); }

    /// Returns memory of at least `bytes`; a smaller block is freed first.
    void* at_least(std::size_t bytes) {
      auto& [ordinal, stream, block] = held_.front();
      if (block.bytes() < bytes) {
        block = {};
        block = devplace::detail::allocate<Backend>(ordinal, bytes, memory_purpose::activations);
      }
      return block.data();
    }

   private:
    static void* stream_of([[maybe_unused]] int ordinal) {
      if constexpr (std::is_same_v<Backend, backend::device>)
        return devplace::detail::current_stream(ordinal);
      else
        return nullptr;
    }

    kept_workspaces& owner_;
    std::list<workspace> held_;  // one element; a list, so that its return does not allocate
  };

 private:
  std::list<workspace> take(int ordinal, void* stream) {
    const std::lock_guard lock(mutex_);
    std::list<workspace> taken;
    for (auto each = idle_.begin(); each != idle_.end(); ++each)
      if (each->ordinal == ordinal && each->stream == stream) {
        taken.splice(taken.end(), idle_, each);
        return taken;
      }
    devplace::detail::naming_bad_alloc("the workspace of a prediction",
                                       [&] { taken.push_back({ordinal, stream, {}}); });
    return taken;
  }
  void give(std::list<workspace>& done) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), done);
  }

  std::mutex mutex_;
  std::list<workspace> idle_;
};

}  // namespace devplace::runtime
