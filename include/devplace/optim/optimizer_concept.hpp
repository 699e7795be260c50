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
/// device `ordinal`; the step is enqueued on the device's current stream, and the memory must exist until the step is
/// executed.
template <class T> struct step_arguments {
  using value_type = T;       ///< the type of the arenas' elements
  using working_type = void;  ///< layers read the parameters themselves

  int ordinal = 0;                      ///< the device
  std::size_t n = 0;                    ///< number of elements, including padding, whose gradients are 0
  T* parameters = nullptr;              ///< updated in place
  const T* gradients = nullptr;         ///< sums over the samples, not yet divided
  T* state[max_state_arenas] = {};      ///< the first `state_arenas` are used; zero before the first step
  const T* divisor = nullptr;           ///< one element: the sum of sample weights (null: 1)
  const T* gradient_factor = nullptr;   ///< one element, for example from clipping, that multiplies gradients (null: 1)
  const std::uint32_t* skip = nullptr;  ///< one element: nonzero skips the step; null: never skipped
  const T* weights = nullptr;           ///< one element, the sum of sample weights: NaN skips the step; or null
  std::int64_t step = 1;                ///< 1 for the first step
  void* step_memory = nullptr;          ///< step_memory_bytes for the rule; zero before the first step
  void* sent = nullptr;                 ///< host copy of the bytes that the rule last sent to the place; initially 0
};

/// Factors of the hyperparameters `learning_rate` and `weight_decay` for a group of parameters.
struct option_factors {
  double learning_rate = 1;  ///< from nn::learning_rate_times
  double weight_decay = 1;   ///< 0 for parameters that do not decay, from decay_of_matrices

  /// Whether both factors are equal.
  friend constexpr bool operator==(const option_factors&, const option_factors&) = default;
};

/// One step for groups of parameters with different options. `step_memory` and `sent` have step_memory_bytes for each
/// group.
template <class T> struct grouped_step_arguments : step_arguments<T> {
  const option_factors* factors = nullptr;  ///< factors of each group, on the host
  unsigned groups = 0;                      ///< number of groups
  const std::uint8_t* group_of = nullptr;   ///< group of each block of runtime::element_alignment elements of the model
  std::size_t first = 0;                    ///< position of `parameters` in the whole model
};

/// step_arguments or grouped_step_arguments for layers that read a rounded copy of the parameters, the working copy. A
/// rule whose `step` is a template over the type of the arguments, like the library's, writes the copy in the same pass
/// and sets `wrote_working`. After other rules the optimizer rounds the parameters.
template <class Arguments, class Working> struct working_step_arguments : Arguments {
  using working_type = Working;   ///< the type of the copy's elements
  Working* working = nullptr;     ///< the copy: `n` elements
  bool* wrote_working = nullptr;  ///< result, on the host: whether the update writes the copy
};

/// Requirements on the hyperparameters of every optimizer, whether of the library or of a user: a copyable struct with
/// - `static constexpr std::size_t state_arenas`: the number of arenas of the parameters' size that the rule needs;
/// - `template <class Backend, class T> void step(const step_arguments<T>&) const`: enqueues one update, asynchronously
///   and without allocation, for float and double. The optimizer calls it for each step, so that a schedule may change
///   a hyperparameter between steps. Values that `step` computes on the host are launch arguments. The library's rules
///   instead keep step number and hyperparameters in `step_memory`, where each update prepares the next update, so that
///   all steps have equal launches. They send hyperparameters again only if these differ from `sent`. Checkpoints keep
///   the bytes of `step_memory` and `sent`: store no types with padding there, because padding has arbitrary bytes. A
///   rule may also call another rule's step, with different values each time. A gradient is `gradient_factor *
///   gradients[i] / divisor`, or 0 if the divisor is 0 (a batch in which all labels are ignored).
///
/// Optional members:
/// - `static constexpr bool takes_groups = true`: `step` also takes grouped_step_arguments. Required by networks with
///   nn::learning_rate_times or with parameters that do not decay;
/// - `static void for_each_option(auto& self, auto&& f)`: calls f(name, self.member) or f(name, self.member, range) for
///   each hyperparameter. Processes compare them, and checkpoints of a training keep and restore them. With a range
///   (optim/option_range.hpp), `static constexpr const char* name` begins the message about a number outside of the
///   range;
/// - `void validate() const`: throws argument_error for contradictory values;
/// - `void validate_step(std::int64_t step) const`: called before each step instead of optim::validate;
/// - `static constexpr bool skips_steps = true`: needed in mixed<half>, where a trainer skips steps whose gradients are
///   not finite. If `skip` is not null and `*skip` is not 0, a step changes neither parameters nor state, and does not
///   count for the factors of later steps. Should also hold if `*weights` is NaN, because a label is no class; other
///   rules then get gradients that are NaN.
///
/// optim/rmsprop.hpp is a complete example: a formula for one element, which runs on every backend, vectorised where
/// the backend has vectors.
template <class Rule>
concept optimizer_rule =
    std::copyable<Rule> && Rule::state_arenas <= max_state_arenas &&
    requires(const Rule& rule, const step_arguments<float>& in_float, const step_arguments<double>& in_double) {
      { std::bool_constant<(Rule::state_arenas, true)>{} };
      rule.template step<backend::cpu>(in_float);
      rule.template step<backend::cpu>(in_double);
    };

/// Whether a rule takes groups of parameters with different options.
template <class Rule> inline constexpr bool takes_groups = requires { requires Rule::takes_groups; };

}  // namespace devplace::optim
