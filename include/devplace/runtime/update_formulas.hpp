// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::runtime {

/// Scales gradients before they are used. A divisor of 0 means a batch in which all samples are ignored: its gradients
/// are 0, and dividing would make them NaN.
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

/// The factors of one step of Adam or AdamW.
template <class T>
struct adam_factors {
  T beta1, rest1;  ///< rest1 = 1 - beta1, rounded from double
  T beta2, rest2;
  T kept;        ///< factor of the parameter before the step: 1 - learning_rate * weight_decay in AdamW
  T l2;          ///< weight decay that is added to the gradient, in Adam
  T step_size;   ///< learning_rate / (1 - beta1^t)
  T root_scale;  ///< 1 / sqrt(1 - beta2^t)
  T epsilon;
};

/// One step of Adam or AdamW with the order and terms of torch.optim.Adam, so that results agree up to rounding:
/// denominator = sqrt(v) / sqrt(1 - beta2^t) + epsilon, step = learning_rate / (1 - beta1^t).
template <class T>
struct adam_numbers {
  gradient_source<T> source;
  T* parameters;
  T* first_moments;
  T* second_moments;
  adam_factors<T> by;

  DEVPLACE_HD void element(std::size_t i, T factor) const {
    const T gradient = source.gradients[i] * factor + by.l2 * parameters[i];
    const T first = by.beta1 * first_moments[i] + by.rest1 * gradient;
    const T second = by.beta2 * second_moments[i] + by.rest2 * gradient * gradient;
    first_moments[i] = first;
    second_moments[i] = second;
    const T denominator = std::sqrt(second) * by.root_scale + by.epsilon;
    parameters[i] = parameters[i] * by.kept - by.step_size * first / denominator;
  }
};

/// The factors of one step of stochastic gradient descent.
template <class T>
struct sgd_factors {
  T l2;        ///< weight decay that is added to the gradient
  T kept;      ///< factor of the old momentum
  T added;     ///< factor of the gradient in the momentum: 1 - dampening; 1 in the first step
  T direct;    ///< factor of the gradient in the step: 1 with Nesterov's momentum, otherwise 0
  T inertial;  ///< factor of the momentum in the step
  T learning_rate;
};

/// One step of torch.optim.SGD. Without momentum the state is neither read nor written.
template <class T, bool Momentum>
struct sgd_numbers {
  gradient_source<T> source;
  T* parameters;
  T* momenta;
  sgd_factors<T> by;

  DEVPLACE_HD void element(std::size_t i, T factor) const {
    T gradient = source.gradients[i] * factor + by.l2 * parameters[i];
    if constexpr (Momentum) {
      const T momentum = by.kept * momenta[i] + by.added * gradient;
      momenta[i] = momentum;
      gradient = by.direct * gradient + by.inertial * momentum;
    }
    parameters[i] -= by.learning_rate * gradient;
  }
};

}  // namespace devplace::runtime
