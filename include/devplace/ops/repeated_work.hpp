// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/ops/step_launches.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::op {

/// Provides a type `launches` in place of `run`. While a `launches::scope` of a launch_memory exists, this thread's
/// launches on the backend's devices are collected; a sequence of launches that repeats earlier launches with equal
/// arguments becomes one graph. `launches::scope(memory, true)` also collects events and launches of several places,
/// whose exchanges only enqueue work: these become one graph. While a `launches::ahead` exists, launches precede the
/// collected ones. Not implemented by backends whose launches cost little (CPU, simulated devices).
struct repeated_work {};

}  // namespace devplace::op

namespace devplace::detail {

/// Replaces the types of op::repeated_work.
struct single_launches {
  struct scope {
    explicit scope(launch_memory&, bool = false) {}
    void finish() {}
  };
  struct ahead {};
};

template <class Backend> struct repeated_work_of : std::type_identity<single_launches> {};
template <class Backend>
  requires provided<Backend, op::repeated_work>
struct repeated_work_of<Backend> : std::type_identity<typename implementation<Backend, op::repeated_work>::launches> {};

/// The types that launch a trainer's steps.
template <class Backend> using repeated_launches = typename repeated_work_of<Backend>::type;

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(repeated_work)
