// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses on a GPU give the CPU's results.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/smooth_l1.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/random_values.hpp"
#include "support/values_on.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::values_on;

namespace {

struct computed {
  std::vector<float> sums, gradient, losses;
};

template <class Backend, class Loss, class Target>
computed run(const Loss& loss, std::size_t rows, const std::vector<float>& output, const std::vector<Target>& targets) {
  const values_on<Backend, float> x(output), dx(std::vector<float>(output.size(), 7)),
      each(std::vector<float>(rows, 7)), sums(std::vector<float>(2, 7));
  const values_on<Backend, Target> t(targets);
  const auto bound = loss.template bind<float, Backend>(0);
  const dp::view<float, dp::extents<2>, dp::here<Backend>> totals(sums.data(), {});
  if constexpr (std::is_same_v<Target, float>)
    bound.into(totals, dx.matrix(rows), each.out(), x.matrix(rows), t.matrix(rows));
  else
    bound.into(totals, dx.matrix(rows), each.out(), x.matrix(rows), t.in());
  return {sums.read(), dx.read(), each.read()};
}

void check_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

template <class Loss, class Target>
void compare(const Loss& loss, std::size_t rows, const std::vector<float>& output, const std::vector<Target>& targets) {
  const computed expected = run<dp::backend::cpu>(loss, rows, output, targets);
  const computed found = run<dp::backend::cuda>(loss, rows, output, targets);
  check_near(found.sums, expected.sums);
  check_near(found.gradient, expected.gradient);
  check_near(found.losses, expected.losses);
}

std::vector<float> numbers(std::size_t count, unsigned seed, float low, float high) {
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn>{count}, seed, low, high);
  return {x.data(), x.data() + x.size()};
}

}  // namespace

TEST_CASE("losses on a GPU equal the CPU's", "[nn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  for (const auto& [rows, columns] : {std::pair{1U, 11U}, {300U, 11U}, {2U, 1500U}}) {
    const auto x = numbers(rows * columns, 1, -4, 4), t = numbers(rows * columns, 2, 0, 1);
    compare(nn::l1{}, rows, x, t);
    compare(nn::smooth_l1{.beta = 0.5}, rows, x, t);
    compare(nn::kl_div{}, rows, x, t);
    compare(nn::kl_div{.log_target = true, .batchmean = true}, rows, x, t);
    compare(nn::bce_with_logits{.pos_weight = std::vector<double>(columns, 2), .weights = {3}}, rows, x, t);
    std::vector<std::int64_t> labels(rows);
    for (std::size_t i = 0; i < rows; ++i) labels[i] = i % 7 == 3 ? -100 : static_cast<std::int64_t>(i % columns);
    compare(nn::nll{.class_weights = std::vector<double>(columns, 1.5)}, rows, x, labels);
  }
}
