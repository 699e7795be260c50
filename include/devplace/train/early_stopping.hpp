// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/place/place.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/train/detail/named_options.hpp>

namespace devplace {

/// Options of early_stopping.
struct early_stopping_options {
  std::int64_t patience = 5;  ///< stops after this number of successive metrics without improvement; at least 1
  double min_delta = 0;       ///< an improvement differs from the best metric by more than this
  bool maximize = false;      ///< true: larger metrics are better (accuracies); false: smaller metrics (losses)

  static constexpr const char* name = "early_stopping";  ///< begins messages about options
  /// Calls f for each numeric option; see optim::validate.
  static void for_each_option(auto& self, auto&& f) {
    f("patience", self.patience, optim::at_least{1, "a number of metrics without an improvement"});
    f("min_delta", self.min_delta, optim::not_negative);
  }
};

/// The state of early_stopping without the best parameters, for checkpoints.
struct early_stopping_state {
  double best = 0;            ///< the best metric; meaningless before the first metric
  std::int64_t best_at = -1;  ///< index of the best metric, from 0; -1: none
  std::int64_t metrics = 0;   ///< number of metrics so far

  /// Whether all numbers are equal.
  friend bool operator==(const early_stopping_state&, const early_stopping_state&) = default;
};

/// Stops a training when a metric of validation data no longer improves, and keeps the best parameters and buffers:
/// `early_stopping stopping{model, {.patience = 3}}`, then after each epoch `if (stopping(loss, model)) break;`, and at
/// the end `stopping.restore(model)`. NaN is no improvement. The copy of the best parameters and buffers lies on the
/// model's places; a call with an improved metric makes the copy and waits for the places. All processes must pass the
/// same metrics. One thread at a time.
template <class Model> class early_stopping {
  static constexpr bool in_own_memory = !std::is_same_v<typename Model::placement_type, shared_memory>;
  static_assert(in_own_memory,
                "devplace: early_stopping: the model is in shared memory, where other processes change it meanwhile; "
                "use a copy, to<cpu>(model).");

 public:
  /// Copies the model: waits for its places and throws their failures. Throws argument_error for invalid options.
  template <class Options = early_stopping_options>
  DEVPLACE_CONFIGURED explicit early_stopping(const Model& m, const Options& options = {})
      : options_(train::detail::named_options<early_stopping_options>(options)),
        best_(to<typename Model::placement_type>(m)) {}

  /// Records the next metric. If it is an improvement, copies the model. Returns whether to stop.
  DEVPLACE_CONFIGURED bool operator()(double metric, const Model& m) {
    if (improves(metric)) {
      best_.assign(m);
      state_.best = metric;
      state_.best_at = state_.metrics;
    }
    ++state_.metrics;
    return stopped();
  }

  /// Whether the last `patience` metrics were no improvements.
  bool stopped() const { return state_.metrics - state_.best_at > options_.patience; }

  /// Copies the best parameters and buffers to a model, whose trainers continue with them.
  DEVPLACE_CONFIGURED void restore(Model& m) const { m.assign(best_); }
  /// The model with the best parameters; before the first metric, with the initial parameters.
  const Model& best() const DEVPLACE_LIFETIMEBOUND { return best_; }

  /// The best metric, its index, and the number of metrics.
  const early_stopping_state& state() const { return state_; }
  /// Restores a saved state and model, to resume a training.
  template <class From> DEVPLACE_CONFIGURED void assign(const From& best, const early_stopping_state& state) {
    best_.assign(best);
    state_ = state;
  }

  /// Visits the state for checkpoints (train/checkpoint.hpp).
  void for_checkpoint(auto&& of_model, auto&& of_number) {
    of_model(best_);
    of_number("best", state_.best);
    of_number("best_at", state_.best_at);
    of_number("told", state_.metrics);
  }

 private:
  bool improves(double metric) const {
    if (detail::is_nan(metric)) return false;
    if (state_.best_at < 0) return true;
    return options_.maximize ? metric > state_.best + options_.min_delta : metric < state_.best - options_.min_delta;
  }

  early_stopping_options options_;
  Model best_;
  early_stopping_state state_;
};

/// Rejects other types than models.
template <class Other>
  requires(!requires(const Other& m) { m.state().updates; })
class early_stopping<Other> {
  static_assert(detail::accepted<Other>,
                "devplace: early_stopping: it keeps the best parameters of a model; give it the model that the trainer "
                "was made for: early_stopping stopping{model, {.patience = 3}}, and stopping(loss, model) after each "
                "epoch.");

 public:
  /// Avoid further errors.
  ///@{
  explicit early_stopping(const Other&, const early_stopping_options& = {}) {}
  template <class... Any> detail::refusal operator()(const Any&...);
  template <class... Any> detail::refusal restore(Any&&...) const;
  ///@}
};

/// `early_stopping stopping{model, {.patience = 3}}`.
template <class Net, class Where, class P>
early_stopping(const model<Net, Where, P>&, const early_stopping_options& = {}) -> early_stopping<model<Net, Where, P>>;

template <class Model> inline constexpr bool detail::not_printed<early_stopping<Model>> = true;

}  // namespace devplace
