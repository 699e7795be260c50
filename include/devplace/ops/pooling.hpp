// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/pairs.hpp>
#include <devplace/ops/detail/pooling_windows.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/dtype.hpp>

// Functors of pooling layers, for op::for_each. On the CPU, `range` computes whole planes, a row at a time. For 16-bit
// elements, sums are instead computed one by one, in float.
namespace devplace::detail {

template <class T> inline constexpr T lowest_element = static_cast<T>(-infinity<computed_t<T>>);

/// Whether `x` replaces `best` as the largest element so far: of equal elements, the first one counts; of NaNs, the
/// last one, as in PyTorch.
template <class T> DEVPLACE_HD constexpr bool replaces(T x, T best) {
  return (static_cast<int>(x > best) | static_cast<int>(x != x)) != 0;
}

/// to [planes, rows.out, columns.out] = the largest elements of the windows of x [planes, rows.in, columns.in].
template <class T> struct max_pool_functor {
  static constexpr bool has_loops_of_any_length = true;

  pooling_shape s;
  const T* x;
  T* to;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t window = i % s.windows();
    const T* const image = x + i / s.windows() * s.plane();
    T best = lowest_element<T>;
    for_each_in_window(s, window / s.columns.out, window % s.columns.out, [&](std::size_t at) {
      if (replaces(image[at], best)) best = image[at];
    });
    to[i] = best;
  }
  void range(std::size_t from, std::size_t until) const {
    if constexpr (std::is_floating_point_v<T>)
      if (have_vectors(s))
        return for_each_run_of_squares(
            s, from / s.windows(), until / s.windows(), [this](auto first, auto at, auto lanes) {
              using run = pairs<T, lanes>;
              const run upper(x + at), lower(x + at + s.columns.in);
              const typename run::vector values[] = {upper.first, upper.second, lower.first, lower.second};
              typename run::vector best = lowest_element<T> - typename run::vector{};
              for (const auto& value : values) best = ((value > best) | (value != value)) ? value : best;
              *reinterpret_cast<typename run::in_memory*>(to + first) = best;
            });
    for_each_line(s, from / s.windows(), until / s.windows(), [this](const window_line& line) {
      T buffer[window_line::most];
      T* const best = line.results(to, buffer);
      for (std::size_t k = 0; k < line.count(); ++k) best[k] = lowest_element<T>;
      for_each_tap(s, line, [&](std::size_t first, std::size_t n, std::size_t at, auto stride) {
        const T* const taps = x + line.plane * s.plane() + at;
        for (std::size_t k = 0; k < n; ++k)
          best[first + k] = replaces(taps[k * stride], best[first + k]) ? taps[k * stride] : best[first + k];
      });
      line.store(to, best);
    });
  }
};

/// dx = the gradient of max_pool's input: the gradient of a window goes to the first largest element of the window.
template <class T> struct max_pool_gradient_functor {
  static constexpr bool has_loops_of_any_length = true;

  pooling_shape s;
  const T* x;
  const T* dy;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t plane = i / s.plane(), at = i % s.plane();
    const T* const windows = dy + plane * s.windows();
    computed_t<T> sum{0};
    for_each_window_of(s, at, [&](std::size_t row, std::size_t column) {
      if (largest(x + plane * s.plane(), row, column) == at)
        sum += static_cast<computed_t<T>>(windows[row * s.columns.out + column]);
    });
    dx[i] = static_cast<T>(sum);
  }
  void range(std::size_t from, std::size_t until) const
    requires floating_element<T>
  {
    if (!vectors_cover(s))
      for (std::size_t i = from; i < until; ++i) dx[i] = T{0};
    if (have_vectors(s))
      return for_each_run_of_squares(s, from / s.plane(), until / s.plane(), [this](auto first, auto at, auto lanes) {
        using run = pairs<T, lanes>;
        const run upper(x + at), lower(x + at + s.columns.in);
        const auto second = (upper.second > upper.first) | (upper.second != upper.second);
        typename run::vector best = second ? upper.second : upper.first;
        const auto third = (lower.first > best) | (lower.first != lower.first);
        best = third ? lower.first : best;
        const auto last = (lower.second > best) | (lower.second != lower.second);
        const typename run::vector zero{};
        const typename run::vector gradient = zero + *reinterpret_cast<const typename run::in_memory*>(dy + first);
        const typename run::vector others = last ? zero : gradient, of_upper = third ? zero : others;
        run to;
        to.first = second ? zero : of_upper;
        to.second = second ? of_upper : zero;
        to.store(dx + at);
        to.first = third ? others : zero;
        to.second = last ? gradient : zero;
        to.store(dx + at + s.columns.in);
      });
    for_each_line(s, from / s.plane(), until / s.plane(), [this](const window_line& line) { add_line(line); });
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// For each of `count` windows, keeps the larger of `best` and a tap, and the position of the larger one.
  static void compare(const T* taps, std::uint32_t origin, std::uint32_t count, auto step, T* __restrict best,
                      std::uint32_t* __restrict found) {
    for (std::uint32_t k = 0; k < count; ++k) {
      const T value = taps[k * step];
      const bool takes = replaces(value, best[k]) | (found[k] == none);
      best[k] = takes ? value : best[k];
      found[k] = takes ? origin + k * step : found[k];
    }
  }
  void add_line(const window_line& line) const {
    const T* const image = x + line.plane * s.plane();
    T best[window_line::most];
    std::uint32_t found[window_line::most];
    for (std::size_t k = 0; k < line.count(); ++k) best[k] = lowest_element<T>, found[k] = none;
    for_each_tap(s, line, [&](std::size_t first, std::size_t n, std::size_t at, auto stride) {
      compare(image + at, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(n), stride, best + first,
              found + first);
    });
    for (std::size_t k = 0; k < line.count(); ++k)
      if (found[k] != none) dx[line.plane * s.plane() + found[k]] += dy[line.first + k * line.step];
  }

  DEVPLACE_HD std::size_t largest(const T* image, std::size_t row, std::size_t column) const {
    T best = lowest_element<T>;
    std::size_t found = s.plane();
    for_each_in_window(s, row, column, [&](std::size_t at) {
      const bool takes = replaces(image[at], best) || found == s.plane();
      best = takes ? image[at] : best;
      found = takes ? at : found;
    });
    return found;
  }
};

/// to = the means of the windows of x, in which padding counts as zeros.
template <class T> struct average_pool_functor {
  static constexpr bool has_loops_of_any_length = true;

  pooling_shape s;
  const T* x;
  T* to;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t window = i % s.windows();
    const T* const image = x + i / s.windows() * s.plane();
    computed_t<T> sum{0};
    for_each_in_window(s, window / s.columns.out, window % s.columns.out,
                       [&](std::size_t at) { sum += static_cast<computed_t<T>>(image[at]); });
    to[i] = static_cast<T>(sum / static_cast<computed_t<T>>(s.taps()));
  }
  void range(std::size_t from, std::size_t until) const
    requires floating_element<T>
  {
    if (have_vectors(s))
      return for_each_run_of_squares(
          s, from / s.windows(), until / s.windows(), [this](auto first, auto at, auto lanes) {
            using run = pairs<T, lanes>;
            const run upper(x + at), lower(x + at + s.columns.in);
            const typename run::vector sum = T{0} + upper.first + upper.second + lower.first + lower.second;
            *reinterpret_cast<typename run::in_memory*>(to + first) = sum / T{4};
          });
    for_each_line(s, from / s.windows(), until / s.windows(), [this](const window_line& line) {
      T buffer[window_line::most];
      T* const sums = line.results(to, buffer);
      for (std::size_t k = 0; k < line.count(); ++k) sums[k] = T{0};
      for_each_tap(s, line, [&](std::size_t first, std::size_t n, std::size_t at, auto stride) {
        const T* const taps = x + line.plane * s.plane() + at;
        for (std::size_t k = 0; k < n; ++k) sums[first + k] += taps[k * stride];
      });
      for (std::size_t k = 0; k < line.count(); ++k) sums[k] /= static_cast<T>(s.taps());
      line.store(to, sums);
    });
  }
};

/// dx = the gradient of average_pool's input.
template <class T> struct average_pool_gradient_functor {
  static constexpr bool has_loops_of_any_length = true;

  pooling_shape s;
  const T* dy;
  T* dx;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const T* const windows = dy + i / s.plane() * s.windows();
    computed_t<T> sum{0};
    for_each_window_of(s, i % s.plane(), [&](std::size_t row, std::size_t column) {
      sum += static_cast<computed_t<T>>(windows[row * s.columns.out + column]) / static_cast<computed_t<T>>(s.taps());
    });
    dx[i] = static_cast<T>(sum);
  }
  void range(std::size_t from, std::size_t until) const
    requires floating_element<T>
  {
    if (!vectors_cover(s))
      for (std::size_t i = from; i < until; ++i) dx[i] = T{0};
    if (have_vectors(s))
      return for_each_run_of_squares(s, from / s.plane(), until / s.plane(), [this](auto first, auto at, auto lanes) {
        using run = pairs<T, lanes>;
        run shares;
        shares.first = shares.second = T{0} + *reinterpret_cast<const typename run::in_memory*>(dy + first) / T{4};
        shares.store(dx + at);
        shares.store(dx + at + s.columns.in);
      });
    for_each_line(s, from / s.plane(), until / s.plane(), [this](const window_line& line) {
      T shares[window_line::most];
      for (std::size_t k = 0; k < line.count(); ++k)
        shares[k] = dy[line.first + k * line.step] / static_cast<T>(s.taps());
      for_each_tap(s, line, [&](std::size_t first, std::size_t n, std::size_t at, auto stride) {
        T* const image = dx + line.plane * s.plane() + at;
        for (std::size_t k = 0; k < n; ++k) image[k * stride] += shares[first + k];
      });
    });
  }
};

/// Runs a functor for all elements of `planes` planes of `plane` elements; each CPU thread gets whole planes.
template <class Backend> void for_each_in_planes(int ordinal, std::size_t planes, std::size_t plane, const auto& f) {
  constexpr std::size_t elements_per_thread = 16384;
  for_each_index<Backend>(ordinal, planes * plane, (elements_per_thread / plane + 1) * plane, f);
}

}  // namespace devplace::detail

#include DEVPLACE_BACKENDS(pooling)
