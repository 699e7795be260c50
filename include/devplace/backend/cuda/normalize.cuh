// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/ops/normalize.hpp>

namespace devplace::detail {

/// Returns the normalisation of a row whose elements are held by a group of threads.
template <class T, bool Centred, class Group, class Values>
DEVPLACE_DEVICE row_scale<T, Centred> scale_of_row(const Group& group, const Values& x, std::size_t n, double epsilon) {
  T shift = 0, sum = 0;
  if constexpr (Centred) {
    T own = 0;
    x.each([&own](std::size_t, T v) { own += v; });
    shift = group.all_reduce(own, add_up{}) / static_cast<T>(n);
    own = 0;
    x.each([&own, shift](std::size_t, T v) { own += v - shift; });
    sum = group.all_reduce(own, add_up{});
  }
  T squares = 0;
  x.each([&squares, shift](std::size_t, T v) { squares += (v - shift) * (v - shift); });
  squares = group.all_reduce(squares, add_up{});
  const double count = static_cast<double>(n), mean = Centred ? static_cast<double>(sum) / count : 0;
  return {shift, mean, static_cast<double>(squares) / count - mean * mean, epsilon};
}

template <class T, bool Centred, class Element, class Access, class Group>
DEVPLACE_DEVICE void by_group(const normalize_row<T, Centred, Element>& p, Access access, const Group& group,
                              std::size_t row, bool exists) {
  const auto x = access.values(group, p.x + row * p.n, exists ? p.n : 0);
  const auto normalized = scale_of_row<T, Centred>(group, x, p.n, p.epsilon);
  Element* const y = p.y + row * p.n;
  if constexpr (Centred)
    x.write(y, [&](std::size_t, T v, T weight, T bias) { return normalized(v) * weight + bias; }, p.weight, p.bias);
  else
    x.write(y, [&](std::size_t, T v, T weight) { return normalized(v) * weight; }, p.weight);
}

/// Computes terms and input gradient of a row of n elements. `weight_of(i, weights...)` is the weight of element i.
template <class T, bool Centred, class Backward, class Access, class Group, class Weight, class... Weights>
DEVPLACE_DEVICE void normalize_backward(const Backward& p, std::size_t n, Access access, const Group& group,
                                        std::size_t row, bool exists, const Weight& weight_of,
                                        const Weights*... weights) {
  const auto x = access.values(group, p.x + row * n, exists ? n : 0);
  const auto normalized = scale_of_row<T, Centred>(group, x, n, p.epsilon);
  const auto* const dy = p.dy + row * n;
  T mean = 0, slope = 0;
  x.write(
      p.terms + row * n,
      [&](std::size_t i, T v, T gradient, auto... own) {
        const T product = gradient * normalized(v), weight = weight_of(i, own...);
        mean += weight * gradient;
        slope += weight * product;
        return product;
      },
      dy, weights...);
  mean = Centred ? group.all_reduce(mean, add_up{}) / static_cast<T>(n) : T{0};
  slope = group.all_reduce(slope, add_up{}) / static_cast<T>(n);
  if (p.dx == nullptr) return;
  x.write(
      p.dx + row * n,
      [&](std::size_t i, T v, T gradient, auto... own) {
        return normalized.scale * ((weight_of(i, own...) * gradient - mean) - normalized(v) * slope);
      },
      dy, weights...);
}

template <class T, bool Centred, class Element, class Access, class Group>
DEVPLACE_DEVICE void by_group(const normalize_backward_row<T, Centred, Element>& p, Access access, const Group& group,
                              std::size_t row, bool exists) {
  const auto weight_of = [](std::size_t, T weight) { return weight; };
  normalize_backward<T, Centred>(p, p.n, access, group, row, exists, weight_of, p.weight);
}

}  // namespace devplace::detail
