// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// A precision of models and products: elements are float, and matrix products on CUDA devices round their operands to
/// TF32. TF32 has 8 bits of exponent like float and 10 bits of mantissa instead of 23; products in TF32 are many times
/// faster. Sums and all other operations are float. On the CPU and on simulated devices, which have no TF32, `tf32` is
/// float. Only models and products that name `tf32` round: `float` is strict everywhere.
struct tf32 {};

/// A precision of models, `mixed<bf16>` or `mixed<half>`: activations, and a copy of the parameters for the layers, are
/// `Storage`; parameters, gradients and the optimizer's state are float.
template <class Storage>
  requires detail::is_half_precision<Storage>
struct mixed {};

/// The element type of each role in a precision. Parameters, gradients and state have the same type, because the
/// optimizer's update combines them. No other code assumes equal types.
template <class P> struct precision_traits;

namespace detail {

template <class T> struct uniform_roles {
  using input = T;       ///< samples at a network's input; the model rounds them to activations
  using parameter = T;   ///< parameters, which optimizers update, and buffers
  using working = T;     ///< the copy of the parameters that layers read; if equal to `parameter`, no copy
  using activation = T;  ///< outputs of layers and their gradients
  using gradient = T;    ///< gradients of the parameters
  using state = T;       ///< state of the optimizer
  using accumulator =
      T;              ///< sums, losses with their gradients, and data that layers compute or save, except activations
  using wire = T;     ///< reductions of gradients over several places
  using storage = T;  ///< precisions with the same `storage` share the code of models' arenas
};

}  // namespace detail

template <floating_element T> struct precision_traits<T> : detail::uniform_roles<T> {};
template <> struct precision_traits<tf32> : detail::uniform_roles<float> {};
template <class Storage> struct precision_traits<mixed<Storage>> : detail::uniform_roles<float> {
  using working = Storage;
  using activation = Storage;
  using storage = mixed<Storage>;
};

/// A precision of models: `float`, `double`, `tf32`, `mixed<bf16>`, `mixed<half>`.
template <class P>
concept precision = requires { typename precision_traits<P>::parameter; };

/// Whether trainers scale losses in this precision. True for mixed<half>, because small gradients underflow in half.
template <class P> inline constexpr bool scales_losses = std::is_same_v<P, mixed<half>>;

/// The element type of computations in a precision: float for `tf32`, bf16 for `mixed<bf16>`, half for `mixed<half>`,
/// otherwise the precision itself.
template <class P> using element_of_t = typename precision_traits<P>::activation;

}  // namespace devplace
