// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/ops/softmax.hpp>

namespace devplace::detail {

/// The maximum of those elements of a row that are not NaN, and the sum of exp(x - maximum). `Keep`: these exponentials
/// replace the elements.
template <class T, bool Keep> struct row_exponential_sum {
  T max;
  T sum;

  template <class Access> DEVPLACE_DEVICE row_exponential_sum(Access, const auto& group, auto& x) {
    row_maximum<T, Access::reads_once> maximum;
    T own = 0;
    const auto rescale = [&own](T factor, T) { own *= factor; };
    x.each_part([&](auto&& part) {
      maximum.include(group, part, rescale);
      const auto add = [&own, shift = maximum.shift](std::size_t, T v) {
        const T exponential = fast_exp<T>(v - shift);
        own += exponential;
        return exponential;
      };
      if constexpr (Keep)
        part.replace(add);
      else
        part.each(add);
    });
    maximum.combine(group, rescale);
    max = maximum.max;
    sum = group.all_reduce(own, add_up{});
  }
};

template <class T, class Access, class Group>
DEVPLACE_DEVICE void by_group(const softmax_row<T>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  using value = computed_t<T>;
  auto x = access.values(group, p.x + row * p.n, exists ? p.n : 0);
  constexpr bool keeps = keeps_exponentials<value, Access, decltype(x)>;
  const row_exponential_sum<value, keeps> exponentials(access, group, x);
  const value scale = 1 / exponentials.sum;
  x.write(p.y + row * p.n,
          [&](std::size_t, value v) { return (keeps ? v : fast_exp<value>(v - exponentials.max)) * scale; });
}

template <class T, class Access, class Group>
DEVPLACE_DEVICE void by_group(const log_softmax_row<T>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  using value = computed_t<T>;
  auto x = access.values(group, p.x + row * p.n, exists ? p.n : 0);
  const row_exponential_sum<value, false> exponentials(access, group, x);
  const value log_sum = std::log(exponentials.sum);
  x.write(p.y + row * p.n, [&](std::size_t, value v) { return (v - exponentials.max) - log_sum; });
}

template <class T, class Access, class Group>
DEVPLACE_DEVICE void by_group(const softmax_backward_row<T>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  const auto y = access.values(group, p.y + row * p.n, exists ? p.n : 0);
  using value = computed_t<T>;
  const T* const dy = p.dy + row * p.n;
  value mean = 0;
  y.each([&mean](std::size_t, value probability, value gradient) { mean += gradient * probability; }, dy);
  mean = group.all_reduce(mean, add_up{});
  y.write(
      p.dx + row * p.n,
      [mean](std::size_t, value probability, value gradient) { return probability * (gradient - mean); }, dy);
}

template <class T, class Access, class Group>
DEVPLACE_DEVICE void by_group(const log_softmax_backward_row<T>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  const auto dy = access.values(group, p.dy + row * p.n, exists ? p.n : 0);
  using value = computed_t<T>;
  value sum = 0;
  dy.each([&sum](std::size_t, value gradient) { sum += gradient; });
  sum = group.all_reduce(sum, add_up{});
  dy.write(
      p.dx + row * p.n, [sum](std::size_t, value gradient, value y) { return gradient - fast_exp<value>(y) * sum; },
      static_cast<const T*>(p.y + row * p.n));
}

}  // namespace devplace::detail
