// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/cross_entropy.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

constexpr std::int64_t ignore = -100;

struct result {
  mock::device_vector<double> losses;
  mock::device_vector<double> gradient;
};

/// Returns loss and gradient of each row, by definition and in double.
result by_definition(const mock::device_vector<float>& x, const mock::device_vector<std::int64_t>& labels,
                     std::size_t n, const mock::device_vector<float>& weights, double smoothing) {
  result r{mock::device_vector<double>(labels.size()), mock::device_vector<double>(x.size())};
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == ignore) continue;
    const float* const logits = &x[row * n];
    const auto label = static_cast<std::size_t>(labels[row]);
    const double max = *std::max_element(logits, logits + n);
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) sum += std::exp(logits[c] - max);
    // q is the weight of class c in the target distribution.
    double all = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const double weight = weights.empty() ? 1 : weights[c];
      const double q = weight * ((c == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(n));
      r.losses[row] += q * (std::log(sum) - (logits[c] - max));
      r.gradient[row * n + c] -= q;
      all += q;
    }
    for (std::size_t c = 0; c < n; ++c) r.gradient[row * n + c] += all * std::exp(logits[c] - max) / sum;
  }
  return r;
}

double error(const mock::device_vector<float>& a, const mock::device_vector<double>& b, double scale) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]) / scale);
  return largest;
}

using row_functor = dp::detail::cross_entropy_row<float, std::int64_t>;
using terms_functor = dp::detail::cross_entropy_terms<float, std::int64_t>;

/// The function that the kernel calls after it has stored the sums: copies the sums and counts its calls.
struct copy_sums {
  const float* sums;
  float* copies;
  DEVPLACE_HD void operator()(std::size_t) const {
    for (int k = 0; k < 2; ++k) copies[k] = sums[k];
    copies[2] += 1;
  }
};

/// Runs the kernel that a GPU would use, in at most `most` blocks. Requires that the sums of losses and weights follow
/// from the row losses and labels. Returns how many bytes the threads read from global memory.
std::size_t run(std::size_t rows, const row_functor& row, std::size_t most = 2) {
  mock::device_vector<float> sums(2, -1.0F), copies(3);
  mock::device_vector<unsigned> ticket(1);
  mock::device_vector<dp::detail::loss_term> partials(most);
  std::size_t bytes_read = 0;
  const auto launch = [&]<unsigned Lanes, unsigned PerThread>(
                          std::size_t blocks, const dp::detail::rows_kernel<row_functor, Lanes, PerThread>& kernel) {
    using reducer = dp::detail::loss_reducer<float, copy_sums>;
    using kernel_type = dp::detail::reduced_rows_kernel<row_functor, Lanes, PerThread, terms_functor, reducer>;
    const terms_functor terms{row.losses, row.labels, row.options.class_weights, row.n, row.options.ignore_index};
    bytes_read = mock::run_kernel(
        std::min(kernel_type::blocks(blocks), most),
        kernel_type{kernel, terms, {sums.data(), {sums.data(), copies.data()}}, {partials.data(), ticket.data()}});
  };
  dp::detail::with_kernel(rows, dp::detail::row_functor<row_functor>{row, row.n}, launch);
  double expected[2] = {};
  for (std::size_t k = 0; k < rows; ++k) {
    expected[0] += row.losses[k];
    if (row.labels[k] == row.options.ignore_index) continue;
    const bool is_class = row.labels[k] >= 0 && row.labels[k] < static_cast<std::int64_t>(row.n);
    expected[1] += !is_class                    ? std::numeric_limits<double>::quiet_NaN()
                   : !row.options.class_weights ? 1
                                                : row.options.class_weights[row.labels[k]];
  }
  for (int k = 0; k < 2; ++k) {
    CHECK((sums[k] == Catch::Approx(expected[k]).epsilon(1e-6) || (std::isnan(sums[k]) && std::isnan(expected[k]))));
    CHECK((copies[k] == sums[k] || std::isnan(sums[k])));
  }
  CHECK(copies[2] == 1);
  CHECK(ticket[0] == 0);
  return bytes_read;
}

}  // namespace

TEST_CASE("cross-entropy kernels agree with the definition in double, for any number of classes", "[cuda]") {
  for (const std::size_t n : mock::row_lengths)
    for (const double smoothing : {0.0, 0.25})
      for (const bool weighted : {false, true}) {
        if (n > 1024 && weighted != (smoothing != 0)) continue;  // the slowest cases
        const std::size_t rows = n > 1024 ? 2 : 9;
        INFO(n << " classes, smoothing " << smoothing << ", weights " << weighted);
        const mock::device_vector<float> x = mock::logits(rows * n);
        mock::device_vector<std::int64_t> labels(rows);
        for (std::size_t row = 0; row < rows; ++row)
          labels[row] = row == 1 ? ignore : static_cast<std::int64_t>((row * 7919) % n);
        mock::device_vector<float> weights;
        for (std::size_t c = 0; weighted && c < n; ++c) weights.push_back(static_cast<float>(c % 3) + 0.5F);
        mock::device_vector<float> losses(rows), gradient(x.size());
        const dp::cross_entropy_options<float> options{ignore, static_cast<float>(smoothing),
                                                       weighted ? weights.data() : nullptr};
        const result expected = by_definition(x, labels, n, weights, smoothing);

        const row_functor with_gradient{gradient.data(), losses.data(), x.data(), labels.data(), n, options};
        run(rows, with_gradient);
        CHECK(error(losses, expected.losses, 40) < 1e-6);
        CHECK(error(gradient, expected.gradient, 4) < 1e-6);

        const mock::device_vector<float> same_losses = losses;
        mock::device_vector<float> in_place = x;
        const row_functor over_logits{in_place.data(), losses.data(), in_place.data(), labels.data(), n, options};
        run(rows, over_logits);
        CHECK(in_place == gradient);
        CHECK(losses == same_losses);

        losses.assign(rows, -1);
        const row_functor loss_alone{nullptr, losses.data(), x.data(), labels.data(), n, options};
        run(rows, loss_alone);
        CHECK(losses == same_losses);
      }
}

TEST_CASE("the kernel's loss of an almost certain row has no cancellation", "[cuda]") {
  for (const std::size_t n : {std::size_t{3}, std::size_t{100}, std::size_t{2000}}) {
    mock::device_vector<float> x(n, 0.0F), gradient(n), loss(1);
    x[1] = 30;
    const mock::device_vector<std::int64_t> label{1};
    run(1, row_functor{gradient.data(), loss.data(), x.data(), label.data(), n, {}});
    const double expected = std::log1p(static_cast<double>(n - 1) * std::exp(-30.0));
    CHECK(std::abs(loss[0] - expected) < 1e-5 * expected);
    CHECK(std::abs(gradient[1] + expected) < 1e-5 * expected);
  }
}

TEST_CASE("the kernel's label smoothing of a target far below the largest logit loses nothing", "[cuda]") {
  const mock::device_vector<float> x{0, 1, -1e7F}, weights{1, 2, 0};
  const mock::device_vector<std::int64_t> label{2};
  mock::device_vector<float> gradient(3), loss(1);
  run(1, row_functor{gradient.data(), loss.data(), x.data(), label.data(), 3, {ignore, 0.3F, weights.data()}});
  CHECK(error(loss, by_definition(x, label, 3, weights, 0.3F).losses, 1) < 1e-6);
}

TEST_CASE("an invalid label makes only its row NaN; ignored rows may contain NaN", "[cuda]") {
  for (const std::size_t n : {std::size_t{10}, std::size_t{100}, std::size_t{1500}}) {
    mock::device_vector<float> x = mock::logits(4 * n);
    std::fill_n(&x[2 * n], n, std::numeric_limits<float>::quiet_NaN());
    const mock::device_vector<std::int64_t> labels{3, static_cast<std::int64_t>(n), ignore, -1};
    mock::device_vector<float> losses(4), gradient(x.size(), 7.0F);
    run(4, row_functor{gradient.data(), losses.data(), x.data(), labels.data(), n, {}});
    CHECK(losses[0] > 0);
    CHECK(losses[2] == 0);
    for (std::size_t c = 0; c < n; ++c) {
      CHECK(std::abs(gradient[c]) <= 1);
      CHECK(gradient[2 * n + c] == 0);
    }
    for (const std::size_t row : {std::size_t{1}, std::size_t{3}}) {
      CHECK(std::isnan(losses[row]));
      CHECK(std::all_of(&gradient[row * n], &gradient[row * n] + n, [](float v) { return std::isnan(v); }));
    }
  }
}

TEST_CASE("the kernel reads rows of up to 1,024 logits once, and longer ones twice, or once for the loss alone",
          "[cuda]") {
  constexpr std::size_t rows = 2;
  for (const std::size_t n : {std::size_t{1024}, std::size_t{1028}, std::size_t{20000}})
    for (const float smoothing : {0.0F, 0.25F}) {
      const mock::device_vector<float> x = mock::logits(rows * n);
      const mock::device_vector<std::int64_t> labels{0, static_cast<std::int64_t>(n - 1)};
      mock::device_vector<float> losses(rows), gradient(x.size());
      row_functor row{gradient.data(), losses.data(), x.data(), labels.data(), n, {ignore, smoothing, nullptr}};
      const std::size_t once = x.size() * sizeof(float);
      const std::size_t label = rows * (n > 1024 ? 512 : 32) * sizeof(std::int64_t);  // for each of a row's threads
      constexpr std::size_t for_sums = 100;                                           // less is read for the sums
      CHECK(run(rows, row) - (n > 1024 ? 2 : 1) * once - label < for_sums);
      row.dlogits = nullptr;
      CHECK(run(rows, row) - once - label < for_sums);
    }
}

TEST_CASE("kernels and CPU agree for infinite, NaN and extreme logits", "[cuda]") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float highest = std::numeric_limits<float>::max();
  constexpr std::size_t rows = 14, target = 1;
  for (const std::size_t n : {std::size_t{2}, std::size_t{10}, std::size_t{100}, std::size_t{1500}, std::size_t{9000}})
    for (const float smoothing : {0.0F, 0.25F}) {
      mock::device_vector<float> x = mock::logits(rows * n);
      x[0] = nan;
      x[n + target] = nan;
      x[2 * n] = infinity;
      x[3 * n + target] = infinity;
      x[4 * n] = -infinity;
      x[5 * n + target] = -infinity;
      std::fill_n(&x[6 * n], n, -infinity);
      std::fill_n(&x[7 * n], n, -highest);
      x[7 * n + target] = highest;
      std::fill_n(&x[8 * n], n, highest);
      x[9 * n + target] = 104;  // exp(-104) is the smallest power that is not 0
      x[9 * n] = 0;
      x[12 * n - 1] = infinity;
      x[13 * n - 1] = nan;
      std::fill_n(&x[13 * n], n, -infinity);
      x[14 * n - 1] = -highest;
      const mock::device_vector<std::int64_t> labels(rows, target);
      mock::device_vector<float> losses(rows), gradient(x.size()), cpu_losses(rows), cpu_gradient(x.size());
      const row_functor kernel{
          gradient.data(), losses.data(), x.data(), labels.data(), n, {ignore, smoothing, nullptr}};
      const row_functor cpu{cpu_gradient.data(),         cpu_losses.data(), x.data(), labels.data(), n,
                            {ignore, smoothing, nullptr}};
      run(rows, kernel);
      const auto agree = [](float a, float b) {
        return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-5F * std::max(1.0F, std::abs(b));
      };
      for (std::size_t row = 0; row < rows; ++row) {
        INFO("row " << row << " of " << n << " classes, smoothing " << smoothing);
        cpu(row);
        CHECK(agree(losses[row], cpu_losses[row]));
        std::size_t differ = 0;
        for (std::size_t i = row * n; i < row * n + n; ++i) differ += !agree(gradient[i], cpu_gradient[i]);
        CHECK(differ == 0);
      }
    }
}

TEST_CASE("the sums of losses are those of all rows, for any number of rows and blocks", "[cuda]") {
  const mock::device_vector<float> weights{0.5F, 1, 2};
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{32}, std::size_t{33}, std::size_t{1000}})
    for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
      INFO(rows << " rows, at most " << most << " blocks");
      const mock::device_vector<float> x = mock::logits(rows * 3);
      mock::device_vector<std::int64_t> labels(rows);
      for (std::size_t row = 0; row < rows; ++row) labels[row] = row % 7 == 1 ? ignore : static_cast<int>(row % 3);
      mock::device_vector<float> losses(rows), gradient(x.size());
      run(rows, {gradient.data(), losses.data(), x.data(), labels.data(), 3, {ignore, 0, weights.data()}}, most);
      if (rows == 0) continue;
      labels[rows - 1] = 3;  // one row that is no class
      run(rows, {gradient.data(), losses.data(), x.data(), labels.data(), 3, {ignore, 0, weights.data()}}, most);
    }
}
