// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>

#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// A precision of models and products whose elements are float and whose matrix products round their operands to TF32
/// on CUDA devices: 8 bits of exponent as in float, 10 bits of mantissa instead of 23. Products are many times faster
/// there; all other arithmetic is float. On the CPU and on simulated devices, which have no TF32, it is plain float. It
/// is used only if requested: `float` is strict everywhere.
struct tf32 {};

/// Precisions of models and products: `float`, `double`, `tf32`.
template <class P>
concept precision = floating_element<P> || std::same_as<P, tf32>;

namespace detail {

template <class P>
struct element_of {
  using type = P;
};
template <>
struct element_of<tf32> {
  using type = float;
};

}  // namespace detail

/// The element type of a precision: float for `tf32`, otherwise the precision itself.
template <class P>
using element_of_t = typename detail::element_of<P>::type;

}  // namespace devplace
