// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/bucket_reduction.hpp>
#include <devplace/parallel/bucket_shares.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/parallel/unit.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/clip_factor.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::train::detail {

/// The places that run the optimizer under a policy, and the shares that a connection stores.
template <bool UpdatesShares, class Policy, class Shares> struct update_of {
  using updaters = std::conditional_t<Policy::every_place_updates, optim::on_every_place, optim::on_first_place>;
  struct shares {};
};
template <class Policy, class Shares> struct update_of<true, Policy, Shares> {
  using updaters = optim::on_shares<Shares::buckets>;
  using shares = std::optional<Shares>;
};

/// Fail to compile if a communicator does not reduce the integers that a training needs.
///@{
template <bool ReducesIntegers> constexpr void require_integers_of_norms() {
  static_assert(ReducesIntegers,
                "devplace: trainer: clip, measure_gradients and mixed<half> reduce integers over the places that "
                "update shares, and the policy's communicator does not reduce std::int64_t; make its collectives "
                "templates of the element type.");
}
template <bool ReducesIntegers> constexpr void require_integers_of_layers() {
  static_assert(ReducesIntegers,
                "devplace: trainer: a layer of the network, such as batch_norm<C, nn::over_all_places>, computes over "
                "the samples of all places and reduces integers, and the policy's communicator does not reduce "
                "std::int64_t; make its collectives templates of the element type.");
}
///@}

/// The communicator with which a trainer's policy reduces gradients; does nothing for one participant. Determines which
/// places update which parameters.
template <class Net, class Where, class P, class Policy> class connection {
  using roles = precision_traits<P>;
  using backend_type = placement_backend_t<Where>;
  using state_type = runtime::model_state<typename roles::storage>;
  static constexpr bool connects = parallel::can_connect<Policy, Where>;
  static constexpr bool communicates = connects && (spans_processes<Where> || local_place_count<Where> > 1);

 public:
  /// Whether each place updates only its share of the parameters; it then has only this share's gradients.
  static constexpr bool updates_shares = communicates && collective::updates_shares<Policy>;

 private:
  static constexpr bool one_place_updates = communicates && spans_processes<Where> && !Policy::every_place_updates;
  using bucket_shares = parallel::bucket_shares<Net, typename roles::wire, Policy>;
  using update = update_of<updates_shares, Policy, bucket_shares>;

  static constexpr bool has_header = !stores_shares<Where>;
  static_assert(has_header,
                "devplace: trainer: for a model in shares write #include <devplace/fully_sharded.hpp>, which is not a "
                "part of all.hpp.");
  static_assert(connects,
                "devplace: trainer: the model lies across processes, and the policy's engine connects the places of "
                "one process; use collective::direct or collective::ring, or give an engine with spans_processes = "
                "true whose communicator knows this process's rank: collective::all_reduce<my_engine>{...}.");

 public:
  using updaters = typename update::updaters;

  /// Connects by a policy; does nothing for other types, which the trainer has rejected.
  template <class Given> DEVPLACE_CONFIGURED explicit connection([[maybe_unused]] const Given& policy) {
    if constexpr (communicates && std::is_same_v<Given, Policy>) {
      communicator_ = std::make_shared<communicator_type<>>(
          parallel::connect<backend_type, spans_processes<Where>>(policy, devplace::detail::mesh_of<Where>::ordinals));
      if constexpr (updates_shares) shares_.emplace(participants().count);
    }
  }

  /// Makes the optimizer of the parameters that this process's places update.
  template <class Optimizer> DEVPLACE_CONFIGURED Optimizer optimizer(const auto& m, const auto& rule) const {
    if constexpr (updates_shares)
      return Optimizer(m, rule, [all = participants()](std::size_t k, std::size_t i) {
        const parallel::bucket part = bucket_shares::part(i, all.count, all.first + k);
        return optim::share{part.first, part.count, part.first};
      });
    else
      return Optimizer(m, rule, [updates = updating_places() != 0](std::size_t, std::size_t) {
        return optim::share{0, updates ? runtime::network_plan<Net>::parameter_elements : 0, 0};
      });
  }

  static constexpr bool host_waits() {
    return !requires { requires communicator_type<>::is_nonblocking; };
  }

  /// Whether each process has only shares of the optimizer's state.
  static constexpr bool shares_over_processes = updates_shares && spans_processes<Where>;

  DEVPLACE_CONFIGURED devplace::participants participants() const {
    if constexpr (communicates)
      return {static_cast<std::size_t>(communicator().first_rank()), static_cast<std::size_t>(communicator().size())};
    else
      return {0, 1};
  }

  /// Number of this process's places that run the optimizer, counted from the first.
  DEVPLACE_CONFIGURED std::size_t updating_places() const {
    if constexpr (Policy::every_place_updates) return local_place_count<Where>;
    return participants().first == 0 ? 1 : 0;
  }

  /// Allocates the memory of reductions.
  DEVPLACE_CONFIGURED void prepare() {
    if constexpr (communicates) parallel::prepare_reductions<Net, Policy, typename roles::wire>(communicator());
    if constexpr (joins_passes && requires { communicator().prepare(std::size_t{}, std::size_t{}); })
      communicator().prepare(runtime::network_plan<Net>::reduction_integers, sizeof(std::int64_t));
    if constexpr (updates_shares && requires { communicator().prepare(std::size_t{}, std::size_t{}); })
      communicator().prepare(runtime::norm_integers, sizeof(std::int64_t));
  }

  /// Returns the reduction of gradients that runs during a step's backward pass, bucket by bucket. Returns
  /// no_bucket_reduction for a single bucket or a communicator without this reduction. `last`: whether the batch is the
  /// last one before an update.
  DEVPLACE_CONFIGURED auto during_backward([[maybe_unused]] const state_type& state, [[maybe_unused]] bool last) {
    if constexpr (overlaps()) {
      if (last && !std::exchange(prepared_, true)) prepare();
      const bucket_shares* shares = nullptr;
      if constexpr (updates_shares) shares = &*shares_;
      return parallel::bucket_reduction<Net, Policy, communicator_type<>, typename roles::storage>(communicator(),
                                                                                                   state, shares, last);
    } else {
      return parallel::no_bucket_reduction{};
    }
  }

  /// The network as one unit, of which each place has all parameters.
  ///@{
  struct units {
    static constexpr std::size_t size = 1;
    static constexpr parallel::unit at(std::size_t) {
      return {{}, {}, {}, runtime::network_plan<Net>::reductions_per_pass, 0};
    }
    static constexpr bool gathered_again(std::size_t) { return false; }
    static constexpr bool has_slices = false;
    static constexpr std::size_t row_sums = 0;
  };
  static constexpr bool adds_in_place = true;
  static constexpr bool gives_later() { return false; }
  static void fetch(const state_type&, std::size_t) {}
  static void enter(const state_type&, const runtime::pass<P>&, std::size_t, std::size_t) {}
  static auto* gradients(const state_type& state, std::size_t k, std::size_t) {
    return state.replicas[k].gradient_data();
  }
  DEVPLACE_CONFIGURED static void begin_gradients(const state_type& state, const runtime::pass<P>& p, std::size_t k,
                                                  std::size_t, bool add) {
    if (p.batch == 0 && !add) runtime::engine<Net, P, backend_type>::clear_gradients(state.replicas[k]);
  }
  static void give(const state_type&, std::size_t, bool) {}
  static void start(const state_type&, std::size_t, std::size_t) {}
  static void finish(const state_type&, std::size_t, std::size_t, bool) {}
  static void abandon() {}
  ///@}
  /// The rows that place k exchanges with its neighbours: none, except in models in parts.
  static runtime::row_exchange* rows(std::size_t) { return nullptr; }

  /// Whether layers of the network compute over the samples of all places, so that the places' passes synchronise.
  static constexpr bool joins_passes = communicates && runtime::network_plan<Net>::reductions_per_pass != 0;
  /// Whether a step's graph may contain the reductions between and after joined passes.
  static consteval bool only_enqueues() {
    if constexpr (joins_passes)
      return parallel::only_enqueues<communicator_type<>>;
    else
      return false;
  }

  /// Reduces numbers over the places of all processes; `requests` has the numbers of this process's passes.
  template <std::size_t Places>
  DEVPLACE_CONFIGURED void reduce([[maybe_unused]] const std::array<runtime::reduction_request, Places>& requests) {
    if constexpr (joins_passes) {
      require_integers_of_layers<reduces_integers()>();
      if (requests[0].numbers == nullptr) return;
      std::array<std::int64_t*, Places> numbers;
      for (std::size_t k = 0; k != Places; ++k) numbers[k] = requests[k].numbers;
      reduce(std::span<std::int64_t* const>(numbers), requests[0].count, requests[0].op);
    }
  }
  DEVPLACE_CONFIGURED void reduce(std::span<std::int64_t* const> numbers, std::size_t count, reduction op) {
    if constexpr (communicates && reduces_integers()) communicator().all_reduce(numbers, count, op);
  }

  /// Fails to compile if the norm of gradients in shares cannot be reduced.
  static constexpr void require_norms() { require_integers_of_norms<!updates_shares || reduces_integers()>(); }

  /// Calls f(k, i, part) for this process's places k and the parameters in the place's share of each bucket i; the
  /// first part may be empty.
  DEVPLACE_CONFIGURED void for_each_part(const state_type&, const auto& f) const {
    const auto [first, all] = participants();
    for (std::size_t k = 0; k != local_place_count<Where>; ++k)
      for (std::size_t i = 0; i != bucket_shares::buckets; ++i)
        if (const auto part = bucket_shares::part(i, all, first + k); i == 0 || part.count != 0) f(k, i, part);
  }

  /// Completes the gradients on the places that update. `started` is the result of during_backward() for this pass.
  DEVPLACE_CONFIGURED void reduce(state_type& state, auto& started) {
    if constexpr (communicates) {
      if (started.active())
        started.finish();
      else if constexpr (updates_shares)
        parallel::reduce_shares<Net, Policy>(communicator(), state, *shares_);
      else
        parallel::reduce_gradients<Net, Policy>(communicator(), state);
    }
    if constexpr (one_place_updates) parallel::broadcast_sums<Net>(communicator(), state, 0);
  }

  /// Copies the updated parameters to the other places.
  DEVPLACE_CONFIGURED void send_updates(state_type& state) {
    if constexpr (updates_shares)
      parallel::gather_shares<Net, Policy>(communicator(), state, *shares_);
    else if constexpr (communicates && !Policy::every_place_updates)
      parallel::broadcast_parameters<Net>(communicator(), state);
  }

  /// Copies the loss scale to the places that did not update.
  template <class Memory> DEVPLACE_CONFIGURED void send_scale([[maybe_unused]] const Memory& memory) {
    if constexpr (communicates && !Policy::every_place_updates) {
      using wire = typename roles::wire;  // bits are copied
      std::array<wire*, std::tuple_size_v<Memory>> scales;
      for (std::size_t k = 0; k < scales.size(); ++k)
        scales[k] = static_cast<wire*>(static_cast<void*>(memory[k].scale()));
      communicator().broadcast(std::span<wire* const>(scales), sizeof(*memory[0].scale()) / sizeof(wire), 0);
    }
  }

 protected:
  template <class P1 = Policy>
  using communicator_type = decltype(parallel::connect<backend_type, spans_processes<Where>>(std::declval<const P1&>(),
                                                                                             std::span<const int>()));

  auto& communicator() const { return *static_cast<communicator_type<>*>(communicator_.get()); }

 private:
  static constexpr bool reduces_integers() {
    if constexpr (communicates)
      return parallel::communicator<communicator_type<>, std::int64_t>;
    else
      return false;
  }

  DEVPLACE_CONFIGURED static constexpr bool overlaps() {
    if constexpr (communicates && !joins_passes)
      return parallel::reduces_during_backward<Net, Policy, typename roles::wire, communicator_type<>>;
    else
      return false;
  }

  std::shared_ptr<void> communicator_;  // its type depends on the configuration
  [[no_unique_address]] typename update::shares shares_;
  bool prepared_ = false;  ///< whether memory for reductions during backward was allocated
};

}  // namespace devplace::train::detail
