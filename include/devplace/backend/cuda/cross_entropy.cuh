// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/ops/cross_entropy.hpp>

namespace devplace::detail {

/// Computes loss and gradient of a row. Reads the logits once, and once more for the gradient if they do not fit the
/// registers of the row's threads; writes the gradient once. Uses the formulas of cross_entropy_row.
template <class T, class Label, class Access, class Group>
DEVPLACE_DEVICE void by_group(const cross_entropy_row<T, Label>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  const std::int64_t label = exists ? static_cast<std::int64_t>(p.labels[row]) : p.options.ignore_index;
  const bool ignored = label == p.options.ignore_index;
  const bool counts = !ignored && label >= 0 && static_cast<std::uint64_t>(label) < p.n;
  const std::size_t target_column = counts ? static_cast<std::size_t>(label) : 0;
  const T* const w = p.options.class_weights;
  const T smooth = p.options.label_smoothing / static_cast<T>(p.n);
  const T sharp = 1 - p.options.label_smoothing;

  auto x = access.values(group, p.logits + row * p.n, counts ? p.n : 0);
  row_maximum<T, Access::reads_once> maximum;
  T target = 0;  // nonzero in one thread only
  // The sum of exp(x - max) without the target's term, which avoids cancellation in 1 - softmax(x)_y where it is small.
  T others = 0;
  T all_weights = 0;
  T weighted_logits = 0;
  const auto rescale = [&](T factor, T difference) {
    others *= factor;
    weighted_logits += all_weights * difference;
  };
  constexpr bool keeps = keeps_exponentials<T, Access, decltype(x)>;
  x.each_part([&](auto&& part) {
    maximum.include(group, part, rescale);
    const T shift = maximum.shift;
    if (smooth != 0)
      part.each([&](std::size_t c, T v) {
        const T weight = w == nullptr ? T{1} : w[c];
        all_weights += weight;
        weighted_logits += weight * (v - shift);
      });
    const auto add = [&](std::size_t c, T v) {
      const T exponential = c == target_column ? T{0} : fast_exp<T>(v - shift);
      if (c == target_column) target = v;
      others += exponential;
      return exponential;
    };
    if constexpr (keeps)
      part.replace(add);
    else
      part.each(add);
  });
  maximum.combine(group, rescale);
  const T max = maximum.max;
  target = group.all_reduce(target, add_up{}) - max;
  others = group.all_reduce(others, add_up{});
  if (smooth != 0) {
    all_weights = group.all_reduce(all_weights, add_up{});
    weighted_logits = group.all_reduce(weighted_logits, add_up{});
  }

  if (!counts) {
    if (!exists) return;
    const T value = ignored ? T{0} : not_a_number<T>;
    if (group.index() == 0) p.losses[row] = value;
    if (p.dlogits == nullptr) return;
    for (std::size_t c = group.index(); c < p.n; c += Group::size) p.dlogits[row * p.n + c] = value;
    return;
  }
  const T weight = w == nullptr ? T{1} : w[target_column];
  const T share = fast_exp<T>(target);
  const T sum = share + others;
  if (group.index() == 0) {
    const T negative_log = share >= T{0.5} ? std::log1p(others / share) : std::log(sum) - target;
    T loss = sharp * weight * negative_log;
    if (smooth != 0) loss += smooth * (all_weights * std::log(sum) - weighted_logits);
    p.losses[row] = loss;
  }
  if (p.dlogits == nullptr) return;
  const T scale = (sharp * weight + smooth * all_weights) / sum;
  x.write(p.dlogits + row * p.n, [&](std::size_t c, T v) {
    const T spread = smooth == 0 ? T{0} : smooth * (w == nullptr ? T{1} : w[c]);
    return c == target_column ? smooth * all_weights * share / sum - spread - sharp * weight * (others / sum)
                              : (keeps ? v : fast_exp<T>(v - max)) * scale - spread;
  });
}

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::losses_of_rows> {
  template <class Row, std::size_t Columns, class Terms, class Reducer>
  static void run(int ordinal, std::size_t rows, const detail::row_functor<Row, Columns>& of_rows, const Terms& terms,
                  const Reducer& reducer) {
    const auto partials = detail::cuda_partial_results<typename Reducer::accumulator>(ordinal);
    const auto launch = [&]<unsigned Lanes, unsigned PerThread>(
                            std::size_t blocks, const detail::rows_kernel<Row, Lanes, PerThread>& kernel) {
      using kernel_type = detail::reduced_rows_kernel<Row, Lanes, PerThread, Terms, Reducer>;
      detail::kernel_launch{ordinal}(kernel_type::blocks(blocks), kernel_type{kernel, terms, reducer, partials});
    };
    detail::with_kernel(rows, of_rows, launch);
  }
};

}  // namespace devplace
