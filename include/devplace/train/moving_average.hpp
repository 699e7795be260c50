// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/train/detail/named_options.hpp>

namespace devplace {

/// Options of a moving_average.
struct moving_average_options {
  double decay = 0.999;          ///< share of the average that an update keeps, at least 0 and less than 1
  bool average_buffers = false;  ///< true: averages buffers; false: copies the model's buffers

  static constexpr const char* name = "moving_average";  ///< begins messages about options
  /// Calls f for each numeric option; see optim::validate.
  static void for_each_option(auto& self, auto&& f) { f("decay", self.decay, optim::decay_rate); }
};

namespace train::detail {

/// Moves an average towards a value as torch.lerp does. With share 1 copies the value, even if the average is NaN.
template <class T> struct average_functor {
  T* average;
  const T* value;
  T share;  ///< weight of the value
  DEVPLACE_HD void operator()(std::size_t i) const {
    if (share == T{1}) {
      average[i] = value[i];
      return;
    }
    const T difference = value[i] - average[i];
    average[i] = share < T{0.5} ? average[i] + share * difference : value[i] - (T{1} - share) * difference;
  }
};

}  // namespace train::detail

/// An exponential moving average of a model's parameters: `moving_average average{model, {.decay = 0.999}}`, and
/// `average.update(model)` after each step; then `accuracy(average.model(), data.test)`. Computes the same as
/// torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(decay): the first update copies the parameters; later
/// updates multiply the average by the decay and add (1 - decay) times the parameters. Buffers are copied from the
/// model (`use_buffers=False`) or averaged. The average is a model on the same places, with its own parameters and
/// buffers. An update is one launch on each place for the parameters and one for the buffers; it neither waits nor
/// allocates. One thread at a time.
template <class Model> class moving_average {
  using where = typename Model::placement_type;
  using backend_type = placement_backend_t<where>;
  using T = typename Model::value_type;
  static constexpr bool in_own_memory = !std::is_same_v<where, shared_memory>;
  static_assert(in_own_memory,
                "devplace: moving_average: the model is in shared memory, where other processes change it meanwhile; "
                "average a copy, to<cpu>(model).");

 public:
  /// Copies the model: waits for its places and throws their failures. Throws argument_error for an invalid decay.
  template <class Options = moving_average_options>
  DEVPLACE_CONFIGURED explicit moving_average(const Model& m, const Options& options = {})
      : options_(train::detail::named_options<moving_average_options>(options)),
        model_(to<where>(m)),
        seen_(m.state().updates) {}

  /// Averages the model's parameters if they were updated since the last call; does nothing between the batches of
  /// accumulate<k>. Steps that mixed<half> skips count as updates. Asynchronous on devices.
  DEVPLACE_CONFIGURED void update(const Model& m) {
    const auto& from = m.state();
    if (from.updates == seen_) return;
    auto& to = model_.state();
    const runtime::sole_use use(to);
    const T share = updates_ == 0 ? T{1} : static_cast<T>(1 - options_.decay);
    ++to.updates;
    to.working_copies_are_old = true;
    runtime::for_each_replica<backend_type>(from, local_place_count<where>, [&](std::size_t k) {
      const auto &own = to.replicas[k], &other = from.replicas[k];
      average(own.ordinal, own.parameters, other.parameters, share);
      average(own.ordinal, own.buffers, other.buffers, options_.average_buffers ? share : T{1});
    });
    seen_ = from.updates;
    ++updates_;
  }

  /// The average, to predict, measure and save; `model.assign(average.model())` continues the training with it.
  const Model& model() const DEVPLACE_LIFETIMEBOUND { return model_; }

  /// Number of updates so far.
  std::int64_t updates() const { return updates_; }

  /// Restores a saved average and its number of updates, to resume a training.
  template <class From> DEVPLACE_CONFIGURED void assign(const From& saved, std::int64_t updates) {
    model_.assign(saved);
    updates_ = updates;
  }

  /// Visits the state for checkpoints (train/checkpoint.hpp).
  void for_checkpoint(auto&& of_model, auto&& of_number) {
    of_model(model_);
    of_number("updates", updates_);
  }
  /// load_checkpoint calls this function, since the loaded average includes all updates of the model.
  void follow(std::uint64_t model_updates) { seen_ = model_updates; }

 private:
  DEVPLACE_CONFIGURED static void average(int ordinal, const detail::memory_block& to, const detail::memory_block& from,
                                          T share) {
    detail::for_each_index<backend_type>(
        ordinal, to.bytes() / sizeof(T), 4096,
        train::detail::average_functor<T>{static_cast<T*>(to.data()), static_cast<const T*>(from.data()), share});
  }

  moving_average_options options_;
  Model model_;
  std::uint64_t seen_;  ///< the model's number of updates at the last update of the average
  std::int64_t updates_ = 0;
};

/// Rejects other types than models.
template <class Other>
  requires(!requires(const Other& m) { m.state().updates; })
class moving_average<Other> {
  static_assert(detail::accepted<Other>,
                "devplace: moving_average: it averages the parameters of a model; give it the model that the trainer "
                "was made for: moving_average average{model, {.decay = 0.999}}, and average.update(model) after each "
                "step.");

 public:
  /// Avoid further errors.
  ///@{
  explicit moving_average(const Other&, const moving_average_options& = {}) {}
  template <class... Any> detail::refusal update(const Any&...);
  detail::refusal model() const;
  ///@}
};

/// `moving_average average{model, {.decay = 0.999}}`.
template <class Net, class Where, class P>
moving_average(const model<Net, Where, P>&, const moving_average_options& = {}) -> moving_average<model<Net, Where, P>>;

template <class Model> inline constexpr bool detail::not_printed<moving_average<Model>> = true;

}  // namespace devplace
