// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/place/backend.hpp>

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
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { owner_.give(std::move(held_)); }

    /// Returns memory of at least `bytes`; a smaller block is freed first.
    void* at_least(std::size_t bytes) {
      if (held_.block.bytes() < bytes) {
        held_.block = {};
        held_.block = devplace::detail::allocate<Backend>(held_.ordinal, bytes, memory_purpose::activations);
      }
      return held_.block.data();
    }

   private:
    static void* stream_of([[maybe_unused]] int ordinal) {
      if constexpr (std::is_same_v<Backend, backend::device>)
        return devplace::detail::current_stream(ordinal);
      else
        return nullptr;
    }

    kept_workspaces& owner_;
    workspace held_;
  };

  /// Allocates a workspace of at least `bytes` for the current stream of a device, so that sequential calls there do
  /// not allocate.
  template <class Backend> void prepare(int ordinal, std::size_t bytes) {
    lease<Backend>(*this, ordinal).at_least(bytes);
    const std::lock_guard lock(mutex_);
    idle_.reserve(idle_.size() + 1);  // as in take()
  }

 private:
  workspace take(int ordinal, void* stream) {
    const std::lock_guard lock(mutex_);
    devplace::detail::naming_bad_alloc("the workspace of a prediction", [this] {
      idle_.reserve(idle_.size() + taken_ + 1);  // so that give() does not allocate
    });
    ++taken_;
    for (workspace& each : idle_)
      if (each.ordinal == ordinal && each.stream == stream) {
        std::swap(each, idle_.back());
        workspace found = std::move(idle_.back());
        idle_.pop_back();
        return found;
      }
    return {ordinal, stream, {}};
  }
  void give(workspace&& done) noexcept {
    const std::lock_guard lock(mutex_);
    --taken_;
    idle_.push_back(std::move(done));
  }

  std::mutex mutex_;
  std::vector<workspace> idle_;
  std::size_t taken_ = 0;
};

}  // namespace devplace::runtime
