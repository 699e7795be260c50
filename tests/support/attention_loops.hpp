// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include <devplace/ops/detail/attention_arguments.hpp>

#include "support/catch.hpp"

namespace devplace::test {

/// Rounds to float, so that float and double have equal inputs, or to T.
template <class T = float> double rounded_input(double x) {
  return static_cast<double>(static_cast<float>(T(static_cast<float>(x))));
}

/// Random inputs of attention, and results and gradients by plain loops in double over whole score matrices.
struct attention_loops {
  detail::attention_shape shape;
  detail::attention_dropout<double> dropout;
  double scale;
  std::vector<double> queries, dresults, results, log_sums, dqueries;
  /// For each result and gradient, the sum of the magnitudes of its terms whose factors 16-bit kernels round.
  std::vector<double> result_terms, dquery_terms;

  attention_loops(const detail::attention_shape& s, double probability, double (*rounded)(double) = rounded_input<>)
      : shape(s), scale(0.7) {
    if (probability != 0)
      dropout = {{{11, 12}}, 5, static_cast<std::uint64_t>(probability * 0x1p32), 1 / (1 - probability)};
    std::mt19937 engine(static_cast<unsigned>(s.length * 8 + s.width));
    std::normal_distribution<double> normal;
    const auto draw = [&](std::size_t count) {
      std::vector<double> values(count);
      for (double& x : values) x = rounded(normal(engine));
      return values;
    };
    const std::size_t rows = s.samples * s.length;
    queries = draw(rows * 3 * s.row());
    dresults = draw(rows * s.row());
    results.resize(rows * s.row());
    result_terms.resize(results.size());
    dqueries.resize(queries.size());
    dquery_terms.resize(queries.size());
    log_sums.resize(rows * s.heads);
    for (std::size_t sample = 0; sample < s.samples; ++sample)
      for (std::size_t head = 0; head < s.heads; ++head)
        for (std::size_t query = 0; query < s.length; ++query) attend(sample, head, query);
  }

  /// Returns an element's index in the array of queries (part 0), keys (1) and values (2).
  std::size_t at(std::size_t sample, std::size_t position, std::size_t part, std::size_t head, std::size_t k) const {
    return (((sample * shape.length + position) * 3 + part) * shape.heads + head) * shape.width + k;
  }

 private:
  void attend(std::size_t sample, std::size_t head, std::size_t query) {
    const std::size_t count = shape.causal ? query + 1 : shape.length;
    const std::size_t result = ((sample * shape.length + query) * shape.heads + head) * shape.width;
    std::vector<double> p(count), factor(count, 1), dp(count);
    double sum = 0;
    for (std::size_t key = 0; key < count; ++key) {
      for (std::size_t k = 0; k < shape.width; ++k)
        p[key] += scale * queries[at(sample, query, 0, head, k)] * queries[at(sample, key, 1, head, k)];
      p[key] = std::exp(p[key]);
      sum += p[key];
      if (dropout.threshold != 0) {
        const std::size_t block = (head * shape.length + query) * ((shape.length + 3) / 4) + key / 4;
        const bool drops = dropout.of_sample(sample).block(block).word[key % 4] < dropout.threshold;
        factor[key] = drops ? 0 : dropout.scale;
      }
    }
    log_sums[(sample * shape.heads + head) * shape.length + query] = std::log(sum);
    double product = 0, product_terms = 0;
    for (std::size_t key = 0; key < count; ++key) {
      p[key] /= sum;
      for (std::size_t k = 0; k < shape.width; ++k) {
        const std::size_t value = at(sample, key, 2, head, k);
        results[result + k] += p[key] * factor[key] * queries[value];
        result_terms[result + k] += p[key] * factor[key] * std::abs(queries[value]);
        dp[key] += factor[key] * dresults[result + k] * queries[value];
        dqueries[value] += p[key] * factor[key] * dresults[result + k];
        dquery_terms[value] += p[key] * factor[key] * std::abs(dresults[result + k]);
      }
      product += p[key] * dp[key];
    }
    for (std::size_t k = 0; k < shape.width; ++k)  // of the product, from rounded results
      product_terms += (result_terms[result + k] + std::abs(results[result + k])) * std::abs(dresults[result + k]);
    for (std::size_t key = 0; key < count; ++key)
      for (std::size_t k = 0; k < shape.width; ++k) {
        const std::size_t of_query = at(sample, query, 0, head, k), of_key = at(sample, key, 1, head, k);
        const double dscore = scale * p[key] * (dp[key] - product);
        const double terms = std::abs(dscore) + scale * p[key] * product_terms;
        dqueries[of_query] += dscore * queries[of_key];
        dqueries[of_key] += dscore * queries[of_query];
        dquery_terms[of_query] += terms * std::abs(queries[of_key]);
        dquery_terms[of_key] += terms * std::abs(queries[of_query]);
      }
  }
};

/// The results of an implementation for these inputs in T.
template <class T, class Allocator = std::allocator<T>> struct attention_results {
  using number = detail::computed_t<T>;
  std::vector<T, Allocator> queries, dresults, results, dqueries;
  std::vector<number, typename std::allocator_traits<Allocator>::template rebind_alloc<number>> log_sums, products;
  detail::attention_arguments<T> forward;
  detail::attention_gradient_arguments<T> backward;

  explicit attention_results(const attention_loops& of)
      : queries(of.queries.begin(), of.queries.end()),
        dresults(of.dresults.begin(), of.dresults.end()),
        results(of.results.size() + 1, T(-77)),
        dqueries(of.dqueries.size() + 1, T(-77)),
        log_sums(of.log_sums.size() + 1, -77),
        products(of.log_sums.size() + 1, -77) {
    const detail::attention_dropout<number> dropout{of.dropout.key, of.dropout.first_sample, of.dropout.threshold,
                                                    static_cast<number>(of.dropout.scale)};
    const auto scale = static_cast<number>(of.scale);
    forward = {of.shape, scale, dropout, queries.data(), results.data(), log_sums.data()};
    backward = {of.shape,        scale,           dropout,         queries.data(), results.data(),
                log_sums.data(), dresults.data(), dqueries.data(), products.data()};
  }

  /// Requires that all elements agree and that those behind the arrays are unchanged.
  void require_agreement(const attention_loops& with, double tolerance) const {
    const auto require = [&](const auto& found, const std::vector<double>& expected) {
      for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE(std::abs(static_cast<double>(found[i]) - expected[i]) <=
                tolerance * std::max(1.0, std::abs(expected[i])));
      REQUIRE(static_cast<double>(found.back()) == -77);
    };
    require(results, with.results);
    require(log_sums, with.log_sums);
    require(dqueries, with.dqueries);
    REQUIRE(products.back() == -77);
  }

  /// Requires agreement within the rounding errors of 16-bit probabilities, their gradients, results and sums of
  /// results' products: each term and each result has an error of at most `unit` times its magnitude, or in half's
  /// subnormal numbers 2^-25. Scores, sums of `width` products in float, have an error of some 2^-24 each.
  void require_agreement_in_16_bits(const attention_loops& with, double unit) const {
    const auto size = static_cast<double>(with.shape.width + with.shape.length);
    const auto require = [&](const auto& found, const std::vector<double>& expected, const std::vector<double>& terms) {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(i);
        REQUIRE(std::abs(static_cast<double>(found[i]) - expected[i]) <=
                unit * (terms[i] + std::abs(expected[i])) + size * (0x1p-21 * terms[i] + 0x1p-22));
      }
      REQUIRE(static_cast<double>(found.back()) == -77);
    };
    require(results, with.results, with.result_terms);
    require(dqueries, with.dqueries, with.dquery_terms);
    for (std::size_t i = 0; i < with.log_sums.size(); ++i)
      REQUIRE(std::abs(static_cast<double>(log_sums[i]) - with.log_sums[i]) <= size * 0x1p-20);
    REQUIRE(log_sums.back() == -77);
    REQUIRE(products.back() == -77);
  }
};

}  // namespace devplace::test
