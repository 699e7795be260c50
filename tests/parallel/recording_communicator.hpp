// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/parallel/direct.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::test {

/// A call of a communicator, or another event recorded by a test.
struct recorded_call {
  std::string what;
  std::vector<const void*> buffers;
  std::size_t count = 0;
  reduction op = reduction::sum;
  int root = -1;
  std::size_t element_bytes = 0;
};

/// The record of communicators, and the call that fails.
struct call_log {
  static constexpr std::size_t never = ~std::size_t{0};

  std::vector<recorded_call> calls;
  std::size_t communicators = 0;
  std::size_t collectives = 0;
  std::size_t throw_at = never;  ///< number of the collective that throws, counted from 0
  bool throw_behind = false;     ///< throw after the work was enqueued, instead of before

  void note(std::string what) {
    calls.emplace_back();
    calls.back().what = std::move(what);
  }
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const auto& call : calls) names.push_back(call.what);
    return names;
  }
  std::vector<recorded_call> of(std::string_view what) const {
    std::vector<recorded_call> found;
    for (const auto& call : calls)
      if (call.what == what) found.push_back(call);
    return found;
  }
  void clear() {
    calls.clear();
    collectives = 0;
  }
};

/// A user-defined communicator that models the concept; records its calls and delegates to `direct`.
template <class Backend> class recording_communicator {
 public:
  recording_communicator(std::span<const int> ordinals, call_log& log) : work_(ordinals), log_(&log) {
    ++log.communicators;
  }

  int size() const { return work_.size(); }
  int first_rank() const { return work_.first_rank(); }
  int local_count() const { return work_.local_count(); }

  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    record("all_reduce", buffers, count, op, -1, [&] { work_.all_reduce(buffers, count, op); });
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    record("reduce", buffers, count, op, root, [&] { work_.reduce(buffers, count, op, root); });
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    record("broadcast", buffers, count, {}, root, [&] { work_.broadcast(buffers, count, root); });
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    record("reduce_scatter", buffers, begins.back(), op, -1, [&] { work_.reduce_scatter(buffers, begins, op); });
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    record("all_gather", buffers, begins.back(), {}, -1, [&] { work_.all_gather(buffers, begins); });
  }

 private:
  template <class T, class F>
  void record(const char* what, std::span<T* const> buffers, std::size_t count, reduction op, int root, const F& work) {
    const bool fails = log_->collectives++ == log_->throw_at;
    if (fails && !log_->throw_behind) throw std::runtime_error("the network is down.");
    log_->calls.push_back({what, {buffers.begin(), buffers.end()}, count, op, root, sizeof(T)});
    work();
    if (fails) throw std::runtime_error("the network is down.");
  }

  parallel::direct<Backend> work_;
  call_log* log_;
};

/// The engine that creates recording communicators; for devices only, like NCCL.
struct recording {
  call_log* log = nullptr;

  static constexpr std::string_view name = "recording";
  template <class Backend> using communicator = recording_communicator<Backend>;
  template <std::same_as<backend::cuda> Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals, *log);
  }
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
};

}  // namespace devplace::test
