// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <devplace/parallel/communicator.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::test {

/// Hides the members of a communicator that start collectives, so that buckets are reduced after the passes.
template <class Communicator> class communicator_after_backward {
 public:
  explicit communicator_after_backward(Communicator&& c) : work_(std::move(c)) {}
  int size() const { return work_.size(); }
  int first_rank() const { return work_.first_rank(); }
  int local_count() const { return work_.local_count(); }
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    work_.all_reduce(buffers, count, op);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    work_.reduce(buffers, count, op, root);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    work_.broadcast(buffers, count, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    work_.reduce_scatter(buffers, begins, op);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    work_.all_gather(buffers, begins);
  }
  void prepare(std::size_t count, std::size_t element_bytes) { work_.prepare(count, element_bytes); }

 private:
  Communicator work_;
};

/// The engine that creates after_backward communicators.
template <class Engine> struct after_backward : Engine {
  template <class Backend> auto connect(std::span<const int> ordinals) const {
    return communicator_after_backward(Engine::template connect<Backend>(ordinals));
  }
  template <class Backend> auto connect_across(std::span<const int> ordinals, const process_group& processes) const {
    return communicator_after_backward(Engine::template connect_across<Backend>(ordinals, processes));
  }
};

}  // namespace devplace::test
