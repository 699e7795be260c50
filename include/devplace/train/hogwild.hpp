// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/nn/shared_model.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/relaxed_copy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

namespace devplace {

namespace train::detail {

/// Adds a step's changes to elements that other threads or processes change concurrently. Takes no locks: one relaxed
/// atomic load and store per element compile to ordinary instructions. An element that has not changed since read()
/// becomes exactly `after`.
template <class T> struct hogwild_functor {
  T* shared;
  const T* before;
  const T* after;
  void operator()(std::size_t i) const {
    if (before[i] == after[i]) return;
    const std::atomic_ref<T> element(shared[i]);
    const T now = element.load(std::memory_order_relaxed);
    element.store(now == before[i] ? after[i] : now + (after[i] - before[i]), std::memory_order_relaxed);
  }
};

/// A copy of the parameters and buffers of a model in shared memory, and the shared values at the last read().
template <class Net, class P> class hogwild_copies {
  using block = devplace::detail::memory_block;
  using parameter = typename precision_traits<P>::parameter;
  using shared_model = model<Net, shared_memory, P>;
  using own_model = model<Net, cpu, P>;

 public:
  DEVPLACE_CONFIGURED explicit hogwild_copies(shared_model& m)
      : shared_(m.shared_state()), own_(to<cpu>(std::as_const(m))), before_(to<cpu>(std::as_const(m))) {}

  /// The copy that is trained.
  own_model& own() { return own_; }

  /// Reads the shared elements.
  DEVPLACE_CONFIGURED void read() {
    for (const arena& a : arenas()) {
      runtime::relaxed_copy<parameter>(a.before, a.shared);
      devplace::detail::copy_within<backend::cpu>(0, a.own.data(), a.before.data(), a.own.bytes());
    }
    own_.state().working_copies_are_old = true;
  }
  /// Adds the changes of the copy to the shared elements.
  DEVPLACE_CONFIGURED void write() const {
    for (const arena& a : arenas())
      devplace::detail::for_each_index<backend::cpu>(
          0, a.shared.bytes() / sizeof(parameter), 4096,
          hogwild_functor<parameter>{static_cast<parameter*>(a.shared.data()),
                                     static_cast<const parameter*>(a.before.data()),
                                     static_cast<const parameter*>(a.own.data())});
  }
  /// Copies the elements of the copy to the shared elements.
  DEVPLACE_CONFIGURED void assign() const {
    runtime::copy_parameters<backend::cpu, backend::cpu>(*shared_, own_.state());
  }

 private:
  struct arena {
    const block &shared, &own, &before;
  };

  std::array<arena, 2> arenas() const {
    if (shared_ == nullptr) throw_moved_trainer();
    const auto &to = shared_->replicas[0], &from = own_.state().replicas[0], &old = before_.state().replicas[0];
    return {{{to.parameters, from.parameters, old.parameters}, {to.buffers, from.buffers, old.buffers}}};
  }

  std::shared_ptr<typename shared_model::state_type> shared_;
  own_model own_, before_;
};

}  // namespace train::detail

/// Trains a model in shared memory, which other processes or threads train concurrently, each with its own trainer:
/// Hogwild (Niu, Recht, Re and Wright, 2011), as in PyTorch's mnist_hogwild. A step reads the parameters, computes the
/// gradients of its batch on a copy, updates the copy by the rule, and adds the differences to the shared parameters.
/// There are no locks: elements are read and written by relaxed atomic operations, so simultaneous changes of one
/// element can be lost. Each trainer has its own state of the rule (momenta). A single trainer gives the bits of the
/// training on `on<cpu>`; with several, results differ from run to run. With `accumulate<k>` the parameters are read
/// and updated at every k-th batch. All other members are inherited from a trainer on `on<cpu>` and refer to this
/// trainer's steps. The trainer has two copies of the parameters, gradients and the rule's state in memory of this
/// process. After fork() each process makes its own trainer.
template <class Net, class P, nn::loss Loss, optim::optimizer_rule Rule, class Policy, std::size_t Batches>
class trainer<model<Net, shared_memory, P>, Loss, Rule, Policy, accumulate<Batches>>
    : private train::detail::hogwild_copies<Net, P>,
      public trainer<model<Net, cpu, P>, Loss, Rule, collective::all_reduce<>, accumulate<Batches>> {
  using copies = train::detail::hogwild_copies<Net, P>;
  using base = trainer<model<Net, cpu, P>, Loss, Rule, collective::all_reduce<>, accumulate<Batches>>;
  static constexpr bool without_policy = std::is_same_v<Policy, collective::all_reduce<>>;
  static_assert(without_policy,
                "devplace: trainer: a model in shared memory has one copy of the parameters, which all processes "
                "update without locks, and a collective policy combines copies; leave the policy out.");

 public:
  /// The type of the model.
  using model_type = model<Net, shared_memory, P>;

  /// Throws argument_error for invalid options of the loss or the rule.
  ///@{
  DEVPLACE_CONFIGURED trainer(model_type& m, const Loss& loss, const Rule& rule, const Policy& = {},
                              accumulate<Batches> batches = {})
      : copies(m), base(copies::own(), loss, rule, batches) {}
  DEVPLACE_CONFIGURED trainer(model_type& m, const Loss& loss, const Rule& rule, accumulate<Batches> batches)
      : trainer(m, loss, rule, Policy{}, batches) {}
  ///@}

  /// Makes one step with a batch on `on<cpu>`; returns its loss.
  DEVPLACE_CONFIGURED auto operator()(const auto& samples, const auto& targets) {
    if (base::pending_batches() == 0) copies::read();
    auto loss = base::operator()(samples, targets);
    if (base::pending_batches() == 0) copies::write();
    return loss;
  }

  /// Updates the parameters with the gradients accumulated since the last update; returns whether there were any.
  DEVPLACE_CONFIGURED bool flush() {
    const bool updated = base::flush();
    if (updated) copies::write();
    return updated;
  }

  /// As in a trainer on `on<cpu>`, for the shared parameters. Call restore() while no other process or thread writes
  /// the shared parameters, as for the model's assign.
  ///@{
  DEVPLACE_CONFIGURED auto state() {
    if (base::pending_batches() == 0) copies::read();
    return base::state();
  }
  DEVPLACE_CONFIGURED void restore(const auto& from) {
    base::restore(from);
    copies::assign();
  }
  ///@}
};

/// The plan of a trainer of a model in shared memory. The numbers equal those of a training on `on<cpu>`; `bytes` is
/// the memory of one process.
template <class Net, class P, std::size_t Samples, class Rule, class Policy, class Processes>
  requires(!std::is_void_v<Rule>)
struct memory_plan<model<Net, shared_memory, P>, batch<Samples>, Rule, Policy, Processes>
    : memory_plan<model<Net, cpu, P>, batch<Samples>, Rule, Policy, Processes> {
 private:
  using base = memory_plan<model<Net, cpu, P>, batch<Samples>, Rule, Policy, Processes>;

 public:
  /// Parameters and buffers in shared memory, once for all processes.
  static constexpr std::size_t shared = base::parameters + base::buffers;
  /// The second copy of the parameters and buffers, and the working copies and loss sums of this copy and of the shared
  /// model.
  static constexpr std::size_t copies = shared + 2 * (base::working_copy + runtime::loss_sums_bytes);
  /// The total.
  static constexpr std::size_t bytes = base::bytes + shared + copies;
};

}  // namespace devplace
