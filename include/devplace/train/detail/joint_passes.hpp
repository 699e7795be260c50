// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/planning.hpp>
#include <devplace/parallel/unit.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/train/detail/step.hpp>

namespace devplace::train::detail {

/// Address to pass instead of samples if no samples are read: aligned as a tensor, and distinct from all memory.
inline constexpr std::uintptr_t no_samples = std::uintptr_t{1} << (sizeof(std::uintptr_t) * 8 - 8);

/// Makes the libraries' plans for a step of one replica with `rows` samples, in the prepared memory. Steps with another
/// number of samples, or with samples at other alignments, make their plans themselves. `adds`: also plans steps that
/// add to the gradients of earlier steps. Computes nothing.
template <class Net, class P, class Backend, class S, class T>
void plan_passes([[maybe_unused]] const runtime::replica<S>& r, [[maybe_unused]] const step_memory<T>& memory,
                 [[maybe_unused]] std::size_t rows, [[maybe_unused]] bool adds) {
  if constexpr (devplace::detail::provided<Backend, op::planning>) {
    using run = runtime::engine<Net, P, Backend>;
    if (rows == 0) return;
    const devplace::detail::planning_scope<Backend> plans_only;
    auto p = run::make_pass(r, memory.workspace.data(), rows, nn::mode::train, {});
    p.planning = true;
    const auto* const x = reinterpret_cast<const typename run::input_element*>(no_samples);
    const auto* const dy = output_gradient_of<Net, P>(memory, rows);
    run::forward(p, x);
    run::backward(p, r, x, dy, false);
    if (adds) run::backward(p, r, x, dy, true);
  }
}

/// The passes of this process's places through a network that stop where the places exchange data: between two phases
/// of layers that reduce numbers over the places (runtime::pass), and between two units of a model in shares, whose
/// parameters are fetched before the unit runs and whose gradients are given after it. All places stop at the same
/// points, and `Connection` exchanges the data of the places of all processes.
template <class Net, class P, class Backend, class State, class Connection, std::size_t Places> class joint_passes {
  using run = runtime::engine<Net, P, Backend>;
  using input = typename run::input_element;
  using units = typename Connection::units;

 public:
  /// For a batch of `samples` samples over all places.
  joint_passes(State& state, Connection& connection, std::size_t samples)
      : state_(state), connection_(connection), samples_(samples) {}

  /// Adds place k's pass over its `rows` samples `x`; the memory must be prepared.
  template <class T>
  void add(std::size_t k, const step_memory<T>& memory, std::size_t rows, const input* x, const nn::random_key& key) {
    passes_[k] = run::make_pass(state_.replicas[k], memory.workspace.data(), rows, nn::mode::train, key);
    passes_[k].samples = samples_;
    passes_[k].first = connection_.participants().first + k == 0;
    passes_[k].reduced = &reduced_[k];
    if constexpr (units::row_sums != 0)
      passes_[k].row_sums = memory.template in_workspace<typename precision_traits<P>::accumulator>(
          step_layout<Net, P>::behind_gradient(rows));
    inputs_[k] = x;
  }
  const runtime::pass<P>& operator[](std::size_t k) const { return passes_[k]; }

  void forward() {
    connection_.fetch(state_, 0);
    for (std::size_t u = 0; u != units::size; ++u) {
      const std::size_t next = u + 1 != units::size ? u + 1 : parallel::no_unit;
      beside(next, parallel::no_unit, false, u, units::at(u).before, [&](std::size_t k, std::size_t) {
        if (is_idle(k)) return;
        if constexpr (units::has_slices)
          if (units::at(u).is_slice()) return run::forward_slice(passes_[k], inputs_[k], run::output_of(passes_[k]));
        run::forward_phase(passes_[k], inputs_[k], run::output_of(passes_[k]));
      });
    }
  }
  /// Computes gradients from the gradients of the losses; writes or adds them as runtime::run_backward does. Forward
  /// has left the last unit's parameters.
  template <class T> void backward(const std::array<step_memory<T>, Places>& memory, bool add) {
    if constexpr (counts_passes<Backend>)
      for (auto& p : passes_) ++p.key.step_on_place;
    for (std::size_t u = units::size; u-- != 0;) {
      const std::size_t next = u != 0 && units::gathered_again(u - 1) ? u - 1 : parallel::no_unit;
      const std::size_t last = !Connection::gives_later() ? u : u + 1 != units::size ? u + 1 : parallel::no_unit;
      const std::size_t first = run::plan::reductions_per_pass - units::at(u).before - units::at(u).reductions;
      beside(next, last, add, u, first, [&](std::size_t k, std::size_t phase) {
        const runtime::pass<P>& p = passes_[k];
        if (phase == 0) connection_.begin_gradients(state_, p, k, u, add);
        if (is_idle(k)) return;
        auto* const gradients = connection_.gradients(state_, k, u);
        const auto* const dy = output_gradient_of<Net, P>(memory[k], p.batch);
        if constexpr (units::has_slices)
          if (units::at(u).is_slice()) return run::backward_slice(p, gradients, inputs_[k], dy);
        run::backward_phase(p, gradients, inputs_[k], dy, add && Connection::adds_in_place);
      });
    }
    if constexpr (Connection::gives_later()) connection_.give(state_, 0, add);
  }

 private:
  /// Whether place k has no samples, without which only layers that reduce over the places run.
  bool is_idle(std::size_t k) const { return run::plan::reductions_per_pass == 0 && passes_[k].batch == 0; }
  /// Runs in_phases() for unit `u` while the places fetch the parameters of unit `next` and give the gradients of unit
  /// `last`, the one before or, if they give at once, `u` itself.
  template <class F>
  void beside(std::size_t next, std::size_t last, bool add, std::size_t u, std::size_t first, const F& f) {
    connection_.start(state_, next, last);
    try {
      in_phases(u, first, f);
    } catch (...) {
      connection_.abandon();
      throw;
    }
    connection_.finish(state_, next, last, add);
  }
  /// Calls f(k, phase) for all places k and all phases of unit `u`, whose first one is phase `first` of the pass.
  template <class F> void in_phases(std::size_t u, std::size_t first, const F& f) {
    for (std::size_t phase = 0; phase <= units::at(u).reductions; ++phase) {
      reduced_ = {};
      runtime::for_each_replica<Backend>(state_, Places, [&](std::size_t k) {
        passes_[k].phase = first + phase;
        reduced_[k].rows = connection_.rows(k);
        if (phase == 0) connection_.enter(state_, passes_[k], k, u);
        f(k, phase);
      });
      connection_.reduce(reduced_);
    }
  }

  State& state_;
  Connection& connection_;
  std::size_t samples_;
  std::array<runtime::pass<P>, Places> passes_;
  std::array<runtime::reduction_request, Places> reduced_;
  std::array<const input*, Places> inputs_{};
};

}  // namespace devplace::train::detail
