// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/config.hpp>
#include <devplace/nn/draw_elements.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/model_types.hpp>
#include <devplace/nn/parameter.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/parallel/sharded_state.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/predict.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/working_copy.hpp>

namespace devplace {

/// A model of which each place stores a share of the parameters: `model<net, fully_sharded<0, 1>>`, or
/// `model<net, across<cuda<0>, mesh<shares<dyn>>>>` for one place of each process. The places gather the parameters of
/// one unit of layers at a time (unit_plan); nowhere is the whole model. Initial values, trained parameters and files
/// have the bits of a replicated model. All processes make the model in their process_scope, and make the same calls.
/// Predictions take batches [n, input extents...] that are split over the places, of which each computes its whole part
/// at once, because every pass moves all parameters between the places. Gradients exist in a trainer alone. For views
/// of parameters and for steps by hand, copy the model: `to<on<cpu>>(model)`. Move-only. One thread at a time uses the
/// model, even to predict.
template <nn::network Net, stores_shares Where, precision P>
class model<Net, Where, P> : public model_types<Net, Where, P>,
                             public runtime::joint_predictions<model<Net, Where, P>> {
  using types = model_types<Net, Where, P>;
  using plan = runtime::network_plan<Net>;
  using backend_type = placement_backend_t<Where>;
  using whole_type = model<Net, cpu, P>;

 public:
  /// The types of batches, outputs and parameters (model_types).
  ///@{
  using typename types::batch_placement_type;
  using typename types::input_extents;
  using typename types::output_extents;
  using typename types::output_type;
  using typename types::value_type;
  ///@}
  /// The run-time state.
  using state_type = parallel::sharded_state<Net, Where, P>;

  /// Draws each place's shares from the seed `start`. Waits for the places and throws their earlier failures.
  DEVPLACE_CONFIGURED explicit model(seed start)
      : model(detail::naming_bad_alloc("the model", [] { return std::make_shared<state_type>(); })) {
    state_->seed = start.value;
    draw();
    runtime::wait_for_model<backend_type>(*state_);
  }
  /// Transfers the shares; a trainer of the moved-from model continues to train them.
  ///@{
  model(model&&) noexcept = default;
  model& operator=(model&& other) noexcept {
    if (state_ != nullptr && state_ != other.state_) state_->replaced = true;
    state_ = std::move(other.state_);
    return *this;
  }
  ///@}
  model(const model&) = delete;             // to<Where>(model) makes a copy
  model& operator=(const model&) = delete;  // assign(model) copies the parameters

  /// Returns the placement, which prints as its name and compares with `==`.
  static constexpr Where placement() { return {}; }
  /// Returns the number of trained elements.
  static constexpr std::size_t parameter_count() { return plan::parameters; }
  /// Returns the names of all parameters in order, as in PyTorch.
  static std::vector<std::string> parameter_names() { return whole_type::parameter_names(); }

  /// Copies the parameters and buffers of a model on any placement. This model's trainers continue with the copied
  /// values. Complete when the call returns.
  template <devplace::placement From> DEVPLACE_CONFIGURED void assign(const model<Net, From, P>& other) {
    auto& state = this->state();
    const runtime::sole_use use(state);
    if constexpr (std::is_same_v<From, Where>) {
      if (&state == &other.state()) return;
      for (std::size_t k = 0; k != state_type::places; ++k) {
        const auto &to = state.replicas[k], &from = other.state().replicas[k];
        for (auto arena : {&state_type::replica_type::parameters, &state_type::replica_type::buffers})
          detail::copy_within<backend_type>(to.ordinal, (to.*arena).data(), (from.*arena).data(), (to.*arena).bytes());
      }
      ++state.updates;
      state.working_copies_are_old = true;
    } else {
      const whole_type whole = to<cpu>(other);
      const auto& from = whole.state().replicas[0];
      runtime::set_arenas<backend_type>(state, from.parameter_data(), from.buffer_data());
    }
    runtime::wait_for_model<backend_type>(state);
  }

  /// Refuse what needs whole parameters or gradients of the caller's own.
  ///@{
  template <std::size_t Index = 0> auto parameter(std::size_t = 0) const { return refuse<Index>(); }
  template <class F> auto for_each_parameter(F&&, std::size_t = 0) const { return refuse<sizeof(F)>(); }
  template <class Batch> auto forward(const Batch&) const { return refuse<sizeof(Batch)>(); }
  ///@}

  /// Return the model's state for trainers. Shared ownership survives a move of the model.
  ///@{
  state_type& state() const {
    if (state_ == nullptr) throw error("this model was moved from; use the variable that it was moved to.");
    state_->check_failures(*state_);
    return *state_;
  }
  std::shared_ptr<state_type> shared_state() const { return static_cast<void>(state()), state_; }
  ///@}

 private:
  friend struct detail::model_access;
  friend runtime::joint_predictions<model>;
  explicit model(std::shared_ptr<state_type> state) : state_(std::move(state)) {}

  template <std::size_t Index> static detail::refusal refuse() {
    constexpr bool is_whole = Index == plan::arena_elements + 1;  // never: depends on the argument
    static_assert(is_whole,
                  "devplace: a model in shares has no whole parameters and no gradients of its own: train it by a "
                  "trainer, and copy it for views of its parameters, to<on<cpu>>(model).");
    return {};
  }

  DEVPLACE_CONFIGURED void predict_parts(auto& outputs, const auto& samples) const {
    using run = runtime::engine<Net, P, backend_type>;
    auto& state = this->state();
    const runtime::sole_use use(state);
    plan::template compile_layers<backend_type, typename plan::template first_element<P>, P, false>(
        typename plan::indices{});
    runtime::prepare_products<backend_type>();
    runtime::renew_working_copies<backend_type>(state);
    using lease = runtime::kept_workspaces::lease<backend_type>;
    std::array<std::optional<lease>, state_type::places> leases;
    std::array<runtime::pass<P>, state_type::places> passes;
    runtime::for_each_replica<backend_type>(state, state_type::places, [&](std::size_t k) {
      const std::size_t rows = runtime::checked_rows<input_extents>(detail::local_part(samples, k));
      runtime::require_separate(detail::local_part(outputs, k), detail::local_part(samples, k));
      void* const workspace =
          leases[k].emplace(state.workspaces, state.ordinal(k)).at_least(runtime::tile_bytes<Net, P>(rows));
      passes[k] = run::make_pass(state.replicas[k], workspace, rows, runtime::mode::predict, {});
    });
    for (std::size_t u = 0; u != state_type::units::size; ++u) {
      state.fetch(state.communicator(), u);
      runtime::for_each_replica<backend_type>(state, state_type::places, [&](std::size_t k) {
        if (passes[k].batch == 0) return;
        state.enter(passes[k], k, u);
        run::for_each_phase(passes[k], [&](const runtime::pass<P>& p) {
          const auto* const x = detail::local_part(samples, k).data();
          auto* const y = detail::local_part(outputs, k).data();
          if constexpr (state_type::units::has_slices)
            if (state_type::units::at(u).is_slice()) return run::forward_slice(p, x, y);
          run::forward_phase(p, x, y);
        });
      });
    }
  }

  /// Draws the elements of each parameter that lie in the places' shares.
  DEVPLACE_CONFIGURED void draw() {
    const auto draw_entry = [&](value_type* arena, std::size_t k, std::size_t begin, std::size_t count,
                                const std::string& name, const nn::parameter& entry, std::size_t offset) {
      const std::size_t first = std::max(begin, offset), last = std::min(begin + count, offset + entry.shape.size());
      if (first < last)
        nn::draw_elements<backend_type>(state_->ordinal(k), arena + (first - begin), last - first, entry.init,
                                        state_->seed, name, first - offset);
    };
    plan::visit_parameters([&](const std::string& name, const nn::parameter& entry, std::size_t offset) {
      state_->for_each_share([&](std::size_t k, const parallel::share_of_unit& share) {
        draw_entry(state_->replicas[k].parameter_data() + share.at, k, share.whole.first, share.whole.count, name,
                   entry, offset);
      });
    });
    plan::visit_buffers([&](const std::string& name, const nn::parameter& entry, std::size_t offset) {
      for (std::size_t k = 0; k != state_type::places; ++k)
        draw_entry(state_->replicas[k].buffer_data(), k, 0, plan::buffer_elements, name, entry, offset);
    });
  }

  std::shared_ptr<state_type> state_;
};

namespace parallel::detail::inline DEVPLACE_CONFIGURATION {

/// Makes a model in shares from another model.
template <class Model> Model copy_in_shares(const auto& other) {
  auto result = devplace::detail::model_access::adopt<Model>(devplace::detail::naming_bad_alloc(
      "the copy of a model", [] { return std::make_shared<typename Model::state_type>(); }));
  result.assign(other);
  result.state().seed = other.state().seed;
  result.state().step = other.state().step;
  return result;
}

}  // namespace parallel::detail::inline DEVPLACE_CONFIGURATION

inline namespace DEVPLACE_CONFIGURATION {

/// Copies a model into shares, with bitwise equal parameters, buffers, seed and step count: `to<fully_sharded<0,
/// 1>>(model)`. All processes call it.
template <stores_shares Where, class To = void, class Net, placement From, precision P>
  requires(!stores_shares<From>)
[[nodiscard]] auto to(const model<Net, From, P>& source) {
  if constexpr (std::is_void_v<To> || std::is_same_v<To, P>)
    return parallel::detail::copy_in_shares<model<Net, Where, P>>(source);
  else
    return to<Where>(to<cpu, To>(source));
}

/// Copies a model in shares to another placement; see to() of other models. All processes call it.
template <placement Where, class To = void, class Net, stores_shares From, precision P>
[[nodiscard]] auto to(const model<Net, From, P>& source) {
  constexpr bool converts = !std::is_void_v<To> && !std::is_same_v<To, P>;
  if constexpr (std::is_same_v<Where, From> && !converts) {
    return parallel::detail::copy_in_shares<model<Net, Where, P>>(source);
  } else if constexpr (!std::is_same_v<Where, cpu> || converts) {
    return to<Where, To>(to<cpu>(source));
  } else {
    return detail::naming_bad_alloc("the copy of a model", [&] {
      using plan = runtime::network_plan<Net>;
      using storage = typename precision_traits<P>::storage;
      auto& from = source.state();
      auto state = runtime::empty_state<storage, backend::cpu>(
          detail::mesh_of<cpu>::ordinals, {plan::parameter_elements, plan::buffer_elements, plan::frozen_elements});
      const auto whole = from.whole_parameters();
      const auto &copy = state->replicas[0], &first = from.replicas[0];
      std::copy(whole.begin(), whole.end(), copy.parameter_data());
      detail::copy_out<placement_backend_t<From>>(first.ordinal, copy.buffers.data(), first.buffers.data(),
                                                  first.buffers.bytes());
      state->seed = from.seed;
      state->step = from.step;
      return detail::model_access::adopt<model<Net, cpu, P>>(std::move(state));
    });
  }
}

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace
