// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/parallel/model_in_parts.hpp>
#include <devplace/place/in_parts.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/detail/strip_connection.hpp>
#include <devplace/train/trainer.hpp>

namespace devplace {

/// A planned training step of a model in parts, as the trainer of other models. Samples and targets are split along
/// axis 2, and the loss is a sum or mean over elements: mse, l1, smooth_l1, bce_with_logits, or a loss that declares
/// `static constexpr bool is_of_elements = true`.
template <class Net, splits_rows InRows, class P, nn::loss Loss, optim::optimizer_rule Rule, class Policy,
          std::size_t Batches>
  requires runtime::is_trainable<typename train::detail::without_backward<model<Net, InRows, P>>::type>
class trainer<model<Net, InRows, P>, Loss, Rule, Policy, accumulate<Batches>>
    : public trainer<typename model<Net, InRows, P>::strips_type, Loss, Rule, Policy, accumulate<Batches>> {
 public:
  /// The type of the model.
  using model_type = model<Net, InRows, P>;

 private:
  using strips_type = typename model_type::strips_type;
  using base = trainer<strips_type, Loss, Rule, Policy, accumulate<Batches>>;
  static constexpr bool adds_up = requires { requires Loss::is_of_elements; };
  static_assert(adds_up,
                "devplace: trainer: the loss of a model in parts is a sum or mean over the elements of the outputs: "
                "nn::mse, nn::l1, nn::smooth_l1, nn::bce_with_logits, or a loss of your own that declares static "
                "constexpr bool is_of_elements = true because the weight of a sample is its number of elements.");

 public:
  using typename base::loss_type;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              const Policy& policy = {}, accumulate<Batches> batches = {})
      : trainer(detail::model_access::adopt<strips_type>(m.shared_state()), loss, rule, policy, batches) {}
  DEVPLACE_CONFIGURED trainer(model_type& m DEVPLACE_LIFETIMEBOUND, const Loss& loss, const Rule& rule,
                              accumulate<Batches> batches)
      : trainer(m, loss, rule, Policy{}, batches) {}
  ///@}

  /// Allocates the memory for batches of up to `samples` samples, and makes the libraries' plans.
  DEVPLACE_CONFIGURED void prepare(std::size_t samples) { base::prepare(local_place_count<InRows> * samples); }

  /// Makes one step with a batch: `samples` is [n, channels, rows, columns] and `targets` are the loss's targets, both
  /// split along the rows (`to_batch<Where>(x)`).
  template <class Samples, class Targets>
  DEVPLACE_CONFIGURED auto operator()(const Samples& samples, const Targets& targets) {
    if constexpr (train::detail::accepts_step<model_type, Loss, Samples, Targets>()) {
      if (samples.extent(0) != targets.extent(0))
        train::detail::throw_other_targets(samples.extent(0), targets.extent(0));
      using of_strips = decltype(runtime::batch_extents<typename strips_type::input_extents>(0));
      return base::operator()(train::detail::batch_of_strips<Samples, of_strips, InRows>(samples),
                              train::detail::batch_of_strips<Targets, typename Targets::extents_type, InRows>(targets));
    } else {
      return runtime::rejected<loss_type>();
    }
  }

 private:
  /// Of a model with the same state, which the base shares.
  DEVPLACE_CONFIGURED trainer(strips_type strips, const Loss& loss, const Rule& rule, const Policy& policy,
                              accumulate<Batches> batches)
      : base(strips, loss, rule, policy, batches) {
    if constexpr (requires { loss.require_equal_elements(); }) loss.require_equal_elements();
  }
};

}  // namespace devplace
