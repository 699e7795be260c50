// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <devplace/ops/cross_entropy_options.hpp>
#include <devplace/ops/detail/logarithm.hpp>
#include <devplace/ops/detail/loss_sums.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// Sums for label smoothing: of w_c, and of w_c (x_c - max), in the order of row_sum. Few losses smooth labels, so this
/// function is short and not compiled for each instruction set.
struct smoothing_sums {
  double weights = 0, logits = 0;

  template <class T>
  [[gnu::noinline]] static DEVPLACE_HD smoothing_sums of(const T* x, const T* w, T max, std::size_t n) {
    double weights[row_lanes + 1] = {}, logits[row_lanes + 1] = {};  // the last is for elements that fill no lanes
    const std::size_t whole = n / row_lanes * row_lanes;
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t lane = c < whole ? c % row_lanes : row_lanes;
      const double weight = w == nullptr ? 1 : static_cast<double>(w[c]);
      weights[lane] += weight;
      logits[lane] += static_cast<double>(x[c] - max) * weight;
    }
    return {sum_of_lanes(weights) + weights[row_lanes], sum_of_lanes(logits) + logits[row_lanes]};
  }
};

/// The terms of a row from which its loss follows: the sum of all exponentials, the target's, and the target's logit
/// relative to the largest.
template <class T> struct target_terms {
  double sum;
  T share, target;

  /// The sum without the target's term. Where it is small, 1 - softmax(x)_y = others / sum avoids cancellation in loss
  /// and gradient. If the target's term is the smaller part, subtracting it loses no digits.
  DEVPLACE_HD double others() const {
    const double difference = sum - static_cast<double>(share);
    return difference < 0 ? 0 : difference;
  }

  /// -log softmax(x)_y is log(1 + others / share), or log(sum) - target if the target's term is small. A ratio up to 1
  /// has a logarithm that is precise for small ratios.
  DEVPLACE_HD bool is_large() const { return share >= T{0.5}; }
  DEVPLACE_HD T ratio() const { return static_cast<T>(others() / static_cast<double>(share)); }
  DEVPLACE_HD T limited_ratio() const { return ratio() < T{1} ? ratio() : T{1}; }
  DEVPLACE_HD T number() const { return is_large() ? T{1} + ratio() : static_cast<T>(sum); }
  DEVPLACE_HD T negative_log(T log_of_ratio, T log_of_number) const {
    if (!is_large()) return log_of_number - target;
    return ratio() <= T{1} ? log_of_ratio : log_of_number;
  }
};

/// Row functor: computes the loss of a row, and its gradient unless `dlogits` is null.
template <class T, class Label> struct cross_entropy_row {
  static constexpr bool computes_much = !avx512_by_clang;  // clang's code would not be faster
  static constexpr bool range_needs_vectors = true;

  T* dlogits;  // may be `logits`
  T* losses;
  const T* logits;
  const Label* labels;
  std::size_t n;
  cross_entropy_options<T> options;

  /// One row of a loop for old processors, where g++ does not vectorise (backend/cpu/detail/vector_loops.hpp).
  DEVPLACE_HD void operator()(std::size_t row) const {
    if (has_target(row)) with_target<short_row_exponentials<T>>(row, static_cast<std::size_t>(labels[row]));
  }

  /// The rows of a CPU loop. Rows with few elements fill vectors only side by side.
  void range(std::size_t begin, std::size_t end) const {
    if (n <= few_classes && options.label_smoothing == 0 && options.class_weights == nullptr) {
      for (; begin + side_by_side <= end; begin += side_by_side) of_few_classes(begin);
    }
    for (; begin != end; ++begin)
      if (has_target(begin)) with_target<row_exponentials<T, T>>(begin, static_cast<std::size_t>(labels[begin]));
  }

 private:
  static constexpr std::size_t few_classes = 32, side_by_side = 16;

  /// Returns whether the row has a target. Otherwise writes its loss and gradient.
  DEVPLACE_HD bool has_target(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    if (label >= 0 && static_cast<std::uint64_t>(label) < n && label != options.ignore_index) return true;
    const T value = label == options.ignore_index ? T{0} : not_a_number<T>;
    losses[row] = value;
    if (dlogits != nullptr)
      for (std::size_t c = 0; c < n; ++c) dlogits[row * n + c] = value;
    return false;
  }

  /// with_target of 16 rows, which are the elements of vectors. Gives the same bits.
  void of_few_classes(std::size_t first) const {
    constexpr std::size_t rows = side_by_side;
    using bits = typename exponential_constants<T>::bits;
    T e[few_classes][rows];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < n; ++c) e[c][i] = logits[(first + i) * n + c];

    bits rank[rows];
    T max[rows];
    for (std::size_t i = 0; i < rows; ++i) rank[i] = rank_of(same_bits<bits>(-infinity<T>));
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < rows; ++i) {
        const bits next = rank_of(same_bits<bits>(e[c][i]));
        rank[i] = next > rank[i] ? next : rank[i];
      }
    }
    for (std::size_t i = 0; i < rows; ++i) max[i] = same_bits<T>(rank_of(rank[i]));

    double lanes[row_lanes + 1][rows] = {};  // the last is for elements that fill no lanes
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t lane = c < n / row_lanes * row_lanes ? c % row_lanes : row_lanes;
      for (std::size_t i = 0; i < rows; ++i)
        e[c][i] = fast_exp_below_64<T>(limited_to(exponential_constants<T>::limit, e[c][i] - max[i]));
      for (std::size_t i = 0; i < rows; ++i) lanes[lane][i] += static_cast<double>(e[c][i]);
    }

    target_terms<T> terms[rows];
    T ratio[rows], number[rows];
    for (std::size_t i = 0; i < rows; ++i) {
      double of_row[row_lanes];
      for (std::size_t lane = 0; lane < row_lanes; ++lane) of_row[lane] = lanes[lane][i];
      // A row without target takes the terms of class 0, which nothing reads.
      const auto label =
          static_cast<std::uint64_t>(labels[first + i]) < n ? static_cast<std::size_t>(labels[first + i]) : 0;
      terms[i] = {sum_of_lanes(of_row) + lanes[row_lanes][i], e[label][i], logits[(first + i) * n + label] - max[i]};
      ratio[i] = terms[i].limited_ratio(), number[i] = terms[i].number();
    }
    for (std::size_t i = 0; i < rows; ++i) ratio[i] = log_of_one_plus(ratio[i]);
    for (std::size_t i = 0; i < rows; ++i) number[i] = fast_log(number[i]);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = first + i;
      if (!has_target(row)) continue;
      losses[row] = terms[i].negative_log(ratio[i], number[i]);
      if (dlogits == nullptr) continue;
      T* const dx = dlogits + row * n;
      const T scale = static_cast<T>(1 / terms[i].sum);
      for (std::size_t c = 0; c < n; ++c) dx[c] = e[c][i] * scale;
      dx[labels[row]] = -static_cast<T>(terms[i].others() / terms[i].sum);
    }
  }

  template <double (*Exponentials)(T*, const T*, T, std::size_t)>
  DEVPLACE_HD void with_target(std::size_t row, std::size_t label) const {
    const T* const x = logits + row * n;
    const T* const w = options.class_weights;
    const T max = row_max<T>(x, n);
    const T target = x[label] - max;
    const T weight = w == nullptr ? T{1} : w[label];
    const T smooth = options.label_smoothing / static_cast<T>(n);
    const T sharp = 1 - options.label_smoothing;

    // Computed first, because the gradient may overwrite x.
    const smoothing_sums all = smooth == 0 ? smoothing_sums{} : smoothing_sums::of(x, w, max, n);

    T* const dx = dlogits == nullptr ? nullptr : dlogits + row * n;
    const target_terms<T> terms{Exponentials(dx, x, max, n), exponential_of<T>(target, T{0}), target};
    const double sum = terms.sum;
    T loss = sharp * weight * terms.negative_log(log_of_one_plus(terms.limited_ratio()), fast_log(terms.number()));
    if (smooth != 0) {
      // negative_log + target would cancel, or be NaN, if the target's logit is far below the largest.
      loss += smooth * static_cast<T>(all.weights * std::log(sum) - all.logits);
    }
    losses[row] = loss;

    if (dx == nullptr) return;
    const T scale =
        static_cast<T>((static_cast<double>(sharp * weight) + static_cast<double>(smooth) * all.weights) / sum);
    for (std::size_t c = 0; c < n; ++c) dx[c] *= scale;
    if (smooth != 0) {
      for (std::size_t c = 0; c < n; ++c) dx[c] -= smooth * (w == nullptr ? T{1} : w[c]);
    }
    dx[label] = static_cast<T>(static_cast<double>(smooth) *
                               (all.weights * static_cast<double>(terms.share) / sum - static_cast<double>(weight))) -
                sharp * weight * static_cast<T>(terms.others() / sum);
  }
};

/// The loss of a row and its weight in the mean.
template <class T, class Label> struct cross_entropy_terms {
  const T* losses;
  const Label* labels;
  const T* class_weights;
  std::size_t n;
  std::int64_t ignore_index;
  static constexpr bool computes_little = true;

  DEVPLACE_HD loss_term operator()(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    double weight = 0;
    if (label < 0 || static_cast<std::uint64_t>(label) >= n)
      weight = label == ignore_index ? 0 : not_a_number<double>;
    else if (label != ignore_index)
      weight = class_weights == nullptr ? 1 : static_cast<double>(class_weights[label]);
    return {static_cast<double>(losses[row]), weight};
  }
};

}  // namespace devplace::detail
