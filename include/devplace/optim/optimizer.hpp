// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/function_view.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/optim/detail/host_update.hpp>
#include <devplace/optim/detail/replica_update.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/optimizer_state.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/step_record.hpp>
#include <devplace/runtime/working_copy.hpp>

namespace devplace {

namespace optim {

/// The places that run an optimizer.
///@{

/// Each place, for its own replica.
struct on_every_place {
  static constexpr std::size_t parts = 1;  ///< number of parts of a replica that a place updates
};
/// The first place, which alone holds the state.
struct on_first_place {
  static constexpr std::size_t parts = 1;  ///< number of parts of a replica that a place updates
};
/// Each place, for its share of the parameters, in `Parts` parts.
template <std::size_t Parts> struct on_shares {
  static constexpr std::size_t parts = Parts;  ///< number of parts of a replica that a place updates
};

///@}

}  // namespace optim

/// The state of an optimizer for one type of model: `optimizer<optim::adam, model<net, on<cpu>>> opt{model, {...}}`, or
/// `optimizer opt{model, optim::adam{...}}`. Every place holds the state of its own replica, unless `Who` says
/// otherwise, as in a trainer with `collective::scatter_gather` or `collective::sharded_all_reduce`. Not thread-safe;
/// concurrent steps of one model throw.
template <class Rule, class Model, class Who = optim::on_every_place> class optimizer {
  static_assert(detail::accepted<Model>,
                "devplace: optimizer: its arguments are a model (a predictor has no gradients) and a rule, in this "
                "order: optimizer opt{model, optim::adam{}}.");

 public:
  /// Accepts any arguments, so that no further error follows.
  template <class... Any> explicit optimizer(const Any&...) {}
};

/// The optimizer of a `model<Net, Where, P>`.
template <class Rule, class Net, class Where, class P, class Who> class optimizer<Rule, model<Net, Where, P>, Who> {
  using roles = precision_traits<P>;
  using T = typename roles::parameter;
  using state_type = runtime::model_state<typename roles::storage>;
  static_assert(std::is_same_v<T, typename roles::gradient> && std::is_same_v<T, typename roles::state>,
                "devplace: optimizer: parameters, gradients and state must have one type, since one update computes "
                "with all; see precision_traits.");
  static_assert(optim::optimizer_rule<Rule>,
                "devplace: this type is not an optimizer's rule; use optim::sgd, optim::adam or optim::adamw, or see "
                "optim/optimizer_concept.hpp for the requirements.");
  using options = optim::option_groups<Net, Rule>;
  static constexpr bool trains =
      runtime::network_plan<Net>::parameters != 0 || runtime::network_plan<Net>::frozen_elements == 0;
  static_assert(trains,
                "devplace: optimizer: all parameters of this network are frozen, so that nothing is left to train; "
                "remove nn::frozen around the layers to train, or only predict.");
  static constexpr bool takes_its_groups = options::none || optim::takes_groups<Rule>;
  static_assert(takes_its_groups,
                "devplace: optimizer: parts of the network have learning rates of their own (nn::learning_rate_times), "
                "or only matrices decay, and this rule's step does not take groups of parameters; see takes_groups in "
                "optim/optimizer_concept.hpp.");
  using backend_type = placement_backend_t<Where>;
  using mesh = detail::mesh_of<Where>;
  static constexpr std::size_t elements = runtime::network_plan<Net>::parameter_elements;
  static constexpr std::size_t places = local_place_count<Where>;
  static constexpr bool on_first_place = std::is_same_v<Who, optim::on_first_place>;
  static constexpr bool has_shares = !on_first_place && !std::is_same_v<Who, optim::on_every_place>;
  static constexpr bool fits_placement = has_shares || !stores_shares<Where>;
  static_assert(
      fits_placement,
      "devplace: optimizer: a model in shares is trained by a trainer, which makes its optimizer; for steps by "
      "hand copy the model, to<on<cpu>>(model).");
  static constexpr std::size_t parts = Who::parts;
  static constexpr bool on_host = optim::updates_on_host<Rule, backend_type>;
  using state_backend = std::conditional_t<on_host, backend::pinned, backend_type>;
  using host_update = optim::detail::host_update<T, options::count>;
  /// On the host one update serves all replicas.
  static constexpr std::size_t updating_places = on_first_place || (on_host && !has_shares) ? 1 : places;
  static constexpr bool updates_replicas = !has_shares && !(on_first_place && (places != 1 || spans_processes<Where>));

 public:
  /// The type of the models that the optimizer updates.
  using model_type = model<Net, Where, P>;
  /// The type of the hyperparameters.
  using rule_type = Rule;
  /// The rule of the states that state() returns, without optim::on_host.
  using saved_rule = optim::saved_rule_t<Rule>;

  /// Initialises the state to zero on every place of the model. Throws argument_error for invalid hyperparameters.
  /// Waits for the places and throws earlier failures of the places.
  DEVPLACE_CONFIGURED optimizer(const model_type& m, const Rule& rule)
    requires(!has_shares)
      : optimizer(m, rule, [](std::size_t, std::size_t) { return optim::share{0, elements, 0}; }) {}
  /// For shares: `part(k, i)` returns the elements that place k updates as its i-th part, an optim::share. If only the
  /// first place updates, processes without the first place update nothing and have no state.
  template <class PartOf>
    requires(std::is_invocable_v<const PartOf&, std::size_t, std::size_t>)
  DEVPLACE_CONFIGURED optimizer(const model_type& m, const Rule& rule, const PartOf& part) : rule_(rule) {
    optim::validate(rule);
    model_ = m.shared_state();
    for (std::size_t k = 0; k < updating_places; ++k) {
      for (std::size_t i = 0; i < parts; ++i) {
        const optim::share range = part(k, i);
        if (on_first_place && range.count == 0) continue;
        optim::detail::allocate_state<state_backend>(states_[k][i], mesh::ordinals[k], range);
      }
      if (states_[k][0].steps.data() == nullptr) continue;
      if constexpr (!options::none) tables_[k] = options::template table<state_backend>(mesh::ordinals[k]);
      if constexpr (on_host)
        hosts_[k] = std::make_unique<host_update>(here<backend_type>{}, std::span(mesh::ordinals), k,
                                                  has_shares || on_first_place, states_[k]);
    }
    // A device whose failure was not thrown yet has skipped the initialisation.
    detail::wait_for_replicas<backend_type>(mesh::ordinals);
  }

  /// Makes one step with whole gradients and consumes them. Divides the gradients by the sum of the samples' weights if
  /// the loss is a mean. All places make the same update. Throws earlier failures of places, which make the model
  /// unusable.
  template <placement GradientWhere>
  DEVPLACE_CONFIGURED void step(model_type& m, gradients<Net, GradientWhere, P>&& gradients) {
    constexpr bool whole = std::is_same_v<GradientWhere, Where>;
    static_assert(whole,
                  "devplace: the gradients are partial, a summand on each place; reduce them first: "
                  "opt.step(model, synchronize(std::move(gradients))).");
    static_assert(
        updates_replicas,
        "devplace: optimizer: this optimizer belongs to a trainer and updates only a part of each replica or only the "
        "first replica; for steps by hand make an optimizer of the model: optimizer opt{model, rule}.");
    if constexpr (whole && updates_replicas) {
      m.check_lease(gradients);
      const runtime::sole_use use(m.state());
      const auto lease = std::move(gradients);
      const auto nothing = [] {};
      update(m.state(), lease.reduction() == reduction::mean, {}, detail::function_view<>(nothing));
    }
  }

  /// Makes one step on a model's arenas, for callers that reduced the gradients there. `factors` are elements on each
  /// place that multiply the gradients and that can skip the step. Calls `send_updates()` after enqueuing the updates,
  /// to copy the parameters to the other places.
  DEVPLACE_CONFIGURED void update(state_type& state, bool divide,
                                  const std::array<runtime::step_factors<T>, places>& factors,
                                  detail::function_view<> send_updates) {
    if (&state != model_.lock().get())
      throw error(
          "optimizer: it was made for another model and keeps that model's state; make one optimizer for each model.");
    validate();
    runtime::check_failures<backend_type>(state);
    if constexpr (on_host)
      optim::detail::begin_updates<backend_type>(hosts_, state, factors,
                                                 changes_ != state.updates + state.writable_views);
    ++state.updates;
    const bool copies_are_old = state.working_copies_are_old;  // a skipped update rounds nothing
    state.working_copies_are_old = true;
    ++steps_;
    std::array<bool, places> rounded{};  // replicas whose working copy the update wrote
    try {
      if constexpr (on_host)
        for (std::size_t k = 0; k < updating_places; ++k) {
          if (hosts_[k] != nullptr)
            hosts_[k]->template update<options, backend_type>(rule_, state, states_[k], tables_[k], divide, factors[k],
                                                              steps_);
        }
      else
        runtime::for_each_replica<backend_type>(state, updating_places, [&](std::size_t k) {
          const auto& r = state.replicas[k];
          for (auto& part : states_[k])
            rounded[k] = optim::detail::update<options, !has_shares, Rule, T, backend_type>(
                rule_, r, part, tables_[k], r.tail(), divide, factors[k], steps_);
        });
      send_updates();
      // Rounds the other replicas as a whole: leaving out a place's own share would need more launches, which take
      // longer than rounding this share.
      if constexpr (runtime::replica<typename roles::storage>::has_working_copy)
        if (!copies_are_old)
          runtime::for_each_replica<backend_type>(state, places, [&](std::size_t k) {
            if (!rounded[k]) runtime::round_working_copy<backend_type>(state.replicas[k], state.replicas[k].trained);
          });
      state.working_copies_are_old = copies_are_old;
      changes_ = state.updates + state.writable_views;
    } catch (...) {
      state.unusable.store(runtime::partial_update_text, std::memory_order_release);
      throw;
    }
  }

  /// Throws argument_error for hyperparameters that the next step cannot take.
  void validate() const {
    if constexpr (requires { rule_.validate_step(steps_); })
      rule_.validate_step(steps_ + 1);
    else
      optim::validate(rule_);
  }
  /// Returns the hyperparameters; changes take effect in the next step.
  ///@{
  Rule& rule() { return rule_; }
  const Rule& rule() const { return rule_; }
  ///@}

  /// Returns the number of enqueued steps.
  std::int64_t steps() const { return steps_; }

  /// Copies the whole state to the host, after all work that was enqueued earlier. Each of several processes returns
  /// its own part of the state, with zeros elsewhere.
  DEVPLACE_CONFIGURED optim::optimizer_state<saved_rule, T> state() const {
    const std::vector<std::byte> memory(options::count * optim::step_memory_bytes);
    optim::optimizer_state<saved_rule, T> whole{rule_, steps_, {}, memory, memory};
    whole.arenas.assign(Rule::state_arenas, std::vector<T>(elements));
    for (std::size_t k = 0; k < (has_shares ? places : 1); ++k)
      for (const auto& part : states_[k]) optim::detail::read_part<state_backend>(mesh::ordinals[k], part, whole);
    return whole;
  }
  /// Continues from a state that state() returned for an optimizer of this rule, network and precision on any
  /// placement. Throws argument_error for a state of other sizes and for invalid hyperparameters, and then changes
  /// nothing.
  DEVPLACE_CONFIGURED void restore(const optim::optimizer_state<saved_rule, T>& from) {
    optim::validate(from.rule);
    constexpr std::size_t memory = options::count * optim::step_memory_bytes;
    bool fits =
        from.arenas.size() == Rule::state_arenas && from.step_memory.size() == memory && from.sent.size() == memory;
    for (const auto& arena : from.arenas) fits = fits && arena.size() == elements;
    if (!fits)
      throw argument_error(
          "optimizer: the state belongs to an optimizer of another network; restore the state of an optimizer of this "
          "network.");
    for (std::size_t k = 0; k < updating_places; ++k)
      for (auto& part : states_[k]) optim::detail::write_part<state_backend>(mesh::ordinals[k], part, from);
    static_cast<saved_rule&>(rule_) = from.rule;
    steps_ = from.steps;
  }

 private:
  Rule rule_;
  std::array<std::array<optim::detail::replica_state<Rule, T, options::count>, parts>, updating_places> states_;
  std::array<detail::memory_block, updating_places> tables_;  ///< tables of parameter groups
  std::weak_ptr<const state_type> model_;                     ///< not an address, because another model could reuse it
  std::int64_t steps_ = 0;
  std::array<std::unique_ptr<host_update>, on_host ? updating_places : 0> hosts_;
  std::uint64_t changes_ = ~std::uint64_t{0};  ///< number of the model's changes at the last update on the host
};

/// `optimizer opt{model, optim::adam{}}`; all other arguments are rejected.
///@{
template <class Net, class Where, class P, class Rule>
optimizer(const model<Net, Where, P>&, const Rule&) -> optimizer<Rule, model<Net, Where, P>>;
template <class... Arguments> optimizer(const Arguments&...) -> optimizer<void, void>;
///@}

namespace detail {

template <class... Arguments> inline constexpr bool not_printed<optimizer<Arguments...>> = true;

}  // namespace detail
}  // namespace devplace
