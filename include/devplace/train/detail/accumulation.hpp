// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/runtime/replica.hpp>

namespace devplace::train::detail {

/// The gradients that a trainer has accumulated since the last update.
struct accumulation {
  std::size_t batches = 0;   ///< number of batches
  std::uint64_t writes = 0;  ///< the model's number of gradient writes after the last batch
};

/// Throws if the model is unusable or was replaced, if its gradients are leased, or if accumulated gradients were
/// overwritten.
template <class Backend, class S> void check_accumulation(runtime::model_state<S>& state, accumulation& a) {
  runtime::check_failures<Backend>(state);
  if (state.replaced)
    throw error(
        "trainer: another model was assigned to the trainer's model after the trainer was made; make a new trainer, or "
        "copy "
        "parameters into the model with model.assign(other), which the trainer follows.");
  if (state.gradients_out)
    throw error(
        "trainer: a lease of the model's gradients still exists; destroy it, or let an optimizer take it, before the "
        "next step.");
  if (a.batches != 0 && a.writes != state.gradient_writes) {
    a.batches = 0;
    throw error(
        "trainer: another pass of this model ran between the batches of one accumulation and overwrote their "
        "gradients, which are dropped; call flush() before the other pass, or train with one trainer at a time.");
  }
}

/// Checks the accumulation and waits for the places. Throws if batches were accumulated since the last update.
template <class Backend, class S> void wait_between_updates(runtime::model_state<S>& state, accumulation& a) {
  check_accumulation<Backend>(state, a);
  if (a.batches != 0)
    throw error(
        "trainer: the gradients of accumulated batches are not part of a training's state; save and load the state "
        "after an update, or call flush() first.");
  runtime::wait_for_model<Backend>(state);
}

/// Drops the accumulated gradients unless done() is called: after an exception only some places have added their
/// gradients.
template <class S> class step_guard {
 public:
  step_guard(const runtime::model_state<S>& state, accumulation& a) : state_(state), accumulation_(a) {}
  step_guard& operator=(step_guard&&) = delete;
  ~step_guard() {
    if (!done_) accumulation_.batches = 0;
  }
  void done() const {
    accumulation_.writes = state_.gradient_writes;
    done_ = true;
  }

 private:
  const runtime::model_state<S>& state_;
  accumulation& accumulation_;
  mutable bool done_ = false;
};

}  // namespace devplace::train::detail
