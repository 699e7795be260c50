// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/optim/option_range.hpp>
#include <devplace/runtime/clip_factor.hpp>

namespace devplace::optim {

/// Clipping by the 2-norm over all gradients, as torch.nn.utils.clip_grad_norm_: scales gradients whose norm exceeds
/// `max_norm` down to the norm `max_norm`. The gradients are not modified; the optimizer multiplies them by the factor.
struct clip_norm {
  double max_norm = 1;  ///< the largest norm that is not scaled down

  static constexpr const char* name = "clip_norm";  ///< begins messages about options
  /// Lists the options; see validate.
  static void for_each_option(auto& self, auto&& f) { f("max_norm", self.max_norm, not_negative); }
};

/// Arguments of clip_norm_into; all pointers are to memory of the device `ordinal`.
template <class T> struct clip_arguments {
  int ordinal = 0;                        ///< the device
  std::size_t n = 0;                      ///< number of elements, including padding, whose gradients are 0
  const T* gradients = nullptr;           ///< sums over the samples, not yet divided
  const T* divisor = nullptr;             ///< one element, the sum of sample weights (null: 1)
  T* factor = nullptr;                    ///< result, one element: step_arguments::gradient_factor of the next step
  T* norm = nullptr;                      ///< result, one element: the norm before clipping (null: not wanted)
  std::int64_t* workspace = nullptr;      ///< clip_workspace_size elements
  runtime::loss_scale* scaler = nullptr;  ///< scale of the gradients; the call updates it (null: 1)
  runtime::scaling_rule scaling = {};     ///< how the scale is updated
  double unscaled = 1;                    ///< the gradients are multiplied by the scale and divided by this number
  runtime::gradient_norm_statistics* statistics = nullptr;  ///< also receives the norm (null: not wanted)
  const T* weights = nullptr;  ///< one element, the sum of sample weights: if NaN, the norm does not count; or null
};

/// Returns what computes the results of clipping.
template <class T> runtime::clip_result<T> clip_result(const clip_norm& rule, const clip_arguments<T>& a) {
  return {a.divisor, rule.max_norm, a.factor, a.norm, a.scaler, a.scaling, a.unscaled, a.statistics, a.weights};
}

/// Size of clip_norm_into's workspace, in integers.
inline constexpr std::size_t clip_workspace_size = runtime::norm_integers;

/// Computes factor = min(1, max_norm / (norm + 1e-6)), where norm = |gradients / divisor| is the 2-norm. The norm is 0
/// if the divisor is 0. Asynchronous; does not allocate; two launches on a GPU. The sum of squares is exact to 2^-79 of
/// the largest square for each gradient, in any order (runtime/exact_squares.hpp). Non-finite gradients make the norm
/// infinite or NaN, and the parameters NaN after the step, as in PyTorch by default. With a `scaler`, computes the norm
/// of the unscaled gradients; the factor also undoes the scale, and a non-finite gradient or factor skips the step.
template <class Backend, class T> void clip_norm_into(const clip_norm& rule, const clip_arguments<T>& a) {
  runtime::find_largest<Backend>(a.ordinal, a.n, a.gradients, a.workspace);
  runtime::add_squares<Backend>(a.ordinal, a.n, a.gradients, a.workspace, false, clip_result(rule, a));
}

}  // namespace devplace::optim
