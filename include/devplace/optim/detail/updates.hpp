// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::optim::detail {

/// What gradients are multiplied by before anything else. A divisor of 0 belongs to a batch in which no sample counts:
/// its gradients are 0, and dividing would make them NaN.
template <class T>
struct gradient_source {
  const T* gradients;
  const T* divisor;
  const T* gradient_factor;

  DEVPLACE_HD T factor() const {
    const T factor = gradient_factor == nullptr ? T{1} : *gradient_factor;
    if (divisor == nullptr) return factor;
    return *divisor == T{0} ? T{0} : factor / *divisor;
  }
};

/// One step of Adam or AdamW in the order and with the terms of torch.optim.Adam, so that results agree to rounding:
/// denominator = sqrt(v) / sqrt(1 - beta2^t) + epsilon, step = learning_rate / (1 - beta1^t).
template <class T>
struct adam_numbers {
  using value_type = T;

  gradient_source<T> source;
  T* parameters;
  T* first_moments;
  T* second_moments;
  T beta1, rest1;  ///< rest1 = 1 - beta1, rounded from double
  T beta2, rest2;
  T kept;        ///< of the parameter before the step: 1 - learning_rate * weight_decay in AdamW
  T l2;          ///< weight decay as a summand of the gradient, in Adam
  T step_size;   ///< learning_rate / (1 - beta1^t)
  T root_scale;  ///< 1 / sqrt(1 - beta2^t)
  T epsilon;

  DEVPLACE_HD void element(std::size_t i, T factor) const {
    const T gradient = source.gradients[i] * factor + l2 * parameters[i];
    const T first = beta1 * first_moments[i] + rest1 * gradient;
    const T second = beta2 * second_moments[i] + rest2 * gradient * gradient;
    first_moments[i] = first;
    second_moments[i] = second;
    const T denominator = std::sqrt(second) * root_scale + epsilon;
    parameters[i] = parameters[i] * kept - step_size * first / denominator;
  }
};

/// One step of torch.optim.SGD. Without momentum the state is neither read nor written.
template <class T, bool Momentum>
struct sgd_numbers {
  using value_type = T;

  gradient_source<T> source;
  T* parameters;
  T* momenta;
  T l2;        ///< weight decay as a summand of the gradient
  T kept;      ///< of the old momentum
  T added;     ///< of the gradient to the momentum: 1 - dampening; in the first step 1
  T direct;    ///< share of the gradient in the step: 1 with Nesterov's momentum, otherwise 0
  T inertial;  ///< share of the momentum in the step
  T learning_rate;

  DEVPLACE_HD void element(std::size_t i, T factor) const {
    T gradient = source.gradients[i] * factor + l2 * parameters[i];
    if constexpr (Momentum) {
      const T momentum = kept * momenta[i] + added * gradient;
      momenta[i] = momentum;
      gradient = direct * gradient + inertial * momentum;
    }
    parameters[i] -= learning_rate * gradient;
  }
};

}  // namespace devplace::optim::detail
