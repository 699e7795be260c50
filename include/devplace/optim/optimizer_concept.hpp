// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/place/place.hpp>

namespace devplace::optim {

/// Maximum number of arenas that an optimizer keeps per replica.
inline constexpr std::size_t max_state_arenas = 2;

/// Bytes that a rule may use on each place in addition to its arenas.
inline constexpr std::size_t step_memory_bytes = 192;

/// One step over one replica's arenas, which all have `n` elements with the same offsets. Pointers are to memory of the
/// device `ordinal`; the step is enqueued on its current stream, and the memory must exist until it is executed.
template <class T>
struct step_arguments {
  using value_type = T;       ///< the type of the arenas' elements
  using working_type = void;  ///< layers read the parameters themselves

  int ordinal = 0;                      ///< of the device
  std::size_t n = 0;                    ///< number of elements, including padding, whose gradients are 0
  T* parameters = nullptr;              ///< updated in place
  const T* gradients = nullptr;         ///< sums over the samples, not yet divided
  T* state[max_state_arenas] = {};      ///< the first `state_arenas` are used; zero before the first step
  const T* divisor = nullptr;           ///< one element: the sum of sample weights (null: 1)
  const T* gradient_factor = nullptr;   ///< one element, for example from clipping, that multiplies gradients (null: 1)
  const std::uint32_t* skip = nullptr;  ///< one element; if not 0, the step changes nothing (null: it does)
  std::int64_t step = 1;                ///< 1 for the first step
  void* step_memory = nullptr;          ///< step_memory_bytes for the rule; zero before the first step
  void* sent = nullptr;                 ///< the same size on the host, initially zero: what the rule sent to this place
};

/// Factors of the hyperparameters `learning_rate` and `weight_decay` for a group of parameters.
struct option_factors {
  double learning_rate = 1;  ///< from nn::learning_rate_times
  double weight_decay = 1;   ///< 0 for parameters that do not decay, from decay_of_matrices

  /// Whether both are equal.
  friend constexpr bool operator==(const option_factors&, const option_factors&) = default;
};

/// One step in which parameters are in groups with options of their own. `step_memory` and `sent` have
/// step_memory_bytes for each group.
template <class T>
struct grouped_step_arguments : step_arguments<T> {
  const option_factors* factors = nullptr;  ///< of each group, on the host
  unsigned groups = 0;                      ///< number of groups
  const std::uint8_t* group_of = nullptr;   ///< of each runtime::element_alignment elements of the whole model
  std::size_t first = 0;                    ///< position of `parameters` in the whole model
};

/// Arguments of a step, one of the two above, where layers read a rounded copy of the parameters. A rule whose `step`
/// takes any arguments, as the library's, writes the copy in the same pass and says so; after other rules the step
/// rounds the parameters.
template <class Arguments, class Working>
struct working_step_arguments : Arguments {
  using working_type = Working;   ///< the type of the copy's elements
  Working* working = nullptr;     ///< `n` elements
  bool* wrote_working = nullptr;  ///< result, on the host: whether the update writes them
};

/// Requirements on an optimizer's hyperparameters, the library's and a user's (optim/rmsprop.hpp is a complete example,
/// a formula for one element that runs on every backend, with vectors where it has them): a copyable struct with
/// - `static constexpr std::size_t state_arenas`: the number of arenas of the parameters' size that it needs;
/// - `void validate() const`: throws argument_error for invalid values; a rule that also has `validate_step(step)` is
///   asked before each step by that instead;
/// - `template <class Backend, class T> void step(const step_arguments<T>&) const`: one update, asynchronous, without
///   allocation, for float and double. It is const and called for each step, so a schedule may change a hyperparameter
///   in between. Values that it computes from `step` on the host are launch arguments. The library's rules instead keep
///   step and hyperparameters in `step_memory`, where each update prepares the next one, and send them again if they
///   differ from those `sent`: their launches are the same in every step. Checkpoints keep the bytes of both, so what
///   lies there should have no padding, whose bytes are arbitrary. A rule may call another rule's step, with different
///   values each time. A gradient is `gradient_factor * gradients[i] / divisor`, or 0 if the divisor is 0 (a
///   batch in which all labels are ignored).
///
/// A rule whose step also takes grouped_step_arguments says so by `static constexpr bool takes_groups = true`; without
/// it, it cannot train networks with nn::learning_rate_times or parameters that do not decay.
///
/// A rule may have `void for_each_option(auto&& f) const`, which calls f(name, member) for each hyperparameter:
/// processes compare them, and checkpoints of a training keep and restore them.
///
/// A rule for mixed<half>, where a trainer skips steps whose gradients are not finite, has `static constexpr bool
/// skips_steps = true`: if `skip` is not null and `*skip` is not 0, a step leaves parameters and state as they are, and
/// does not count for the factors of later steps.
template <class Rule>
concept optimizer_rule = std::copyable<Rule> && Rule::state_arenas <=
                         max_state_arenas&& requires(const Rule& rule, const step_arguments<float>& in_float,
                                                     const step_arguments<double>& in_double) {
  {std::bool_constant<(Rule::state_arenas, true)>{}};
  rule.validate();
  rule.template step<backend::cpu>(in_float);
  rule.template step<backend::cpu>(in_double);
};

/// Whether a rule takes parameters in groups with options of their own.
template <class Rule>
inline constexpr bool takes_groups = requires {
  requires Rule::takes_groups;
};

}  // namespace devplace::optim
