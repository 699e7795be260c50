// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/ops/creation.hpp>

#include "support/layer_fixture.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;

static_assert(nn::loss<nn::cross_entropy> && nn::loss<nn::mse>);

namespace {

/// Compares the loss, and its gradient divided as the optimizer does, with PyTorch's.
template <class T, class Loss> void compare(const Loss& loss, const std::string& folder) {
  using matrix = dp::dextents<2>;
  const std::string typed = folder + (std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const auto logits = dp::test::read_fixture<T, matrix>(typed + "logits");
  const auto labels = dp::test::read_fixture<std::int64_t, dp::dextents<1>>(folder + "/labels");
  const auto expected = dp::test::read_fixture<T, dp::extents<1>>(typed + "loss");
  const auto dlogits = dp::test::read_fixture<T, matrix>(typed + "dlogits");
  const auto [value, gradient] = loss(logits, labels);
  INFO(folder << ": " << value.item() << ", PyTorch " << expected(0));
  CHECK(dp::test::agrees(value.item(), expected(0)));
  const T weights = loss.reduce == dp::reduction::mean ? gradient.sums(1) : T{1};
  for (std::size_t i = 0; i < dlogits.size(); ++i) {
    const T divided = weights == 0 ? T{0} : gradient.gradient.data()[i] / weights;
    CHECK(dp::test::agrees(divided, dlogits.data()[i]));
  }
}

template <class Loss> void compare_in_both(const Loss& loss, const std::string& folder) {
  if constexpr (!support::sanitized) compare<float>(loss, folder);
  compare<double>(loss, folder);
}

std::vector<double> class_weights(const std::string& folder) {
  return dp::test::read_all<double, dp::dextents<1>>(folder + "/f64/class_weight");
}

}  // namespace

TEST_CASE("nn::cross_entropy agrees with PyTorch with all its options, as mean and sum", "[nn]") {
  for (const bool mean : {true, false}) {
    const std::string how = mean ? "_mean_c10" : "_sum_c10";
    const dp::reduction reduce = mean ? dp::reduction::mean : dp::reduction::sum;
    const std::string base = "losses/cross_entropy_";
    compare_in_both(nn::cross_entropy{.reduce = reduce}, base + "plain" + how);
    compare_in_both(nn::cross_entropy{.reduce = reduce}, base + "ignore" + how);
    compare_in_both(nn::cross_entropy{.reduce = reduce}, base + "ignore_all" + how);
    compare_in_both(nn::cross_entropy{.label_smoothing = 0.1, .reduce = reduce}, base + "smoothing" + how);
    const std::string weighted = base + "weight" + how;
    compare_in_both(nn::cross_entropy{.class_weights = class_weights(weighted), .reduce = reduce}, weighted);
    const std::string combined = base + "combined" + how;
    compare_in_both(
        nn::cross_entropy{.label_smoothing = 0.1, .class_weights = class_weights(combined), .reduce = reduce},
        combined);
  }
}

TEST_CASE("invalid options of a loss are errors", "[nn]") {
  using Catch::Matchers::ContainsSubstring;
  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> logits{{1, 2, 3}, {4, 5, 6}};
  const dp::tensor<std::int64_t, dp::extents<2>, dp::on<dp::cpu>> labels{0, 1};
  CHECK_THROWS_WITH((nn::cross_entropy{.label_smoothing = 1.5}(logits, labels)), ContainsSubstring("between 0 and 1"));
  CHECK_THROWS_WITH((nn::cross_entropy{.class_weights = {1, 2}}(logits, labels)), ContainsSubstring("3 classes"));
  CHECK_THROWS_WITH((nn::cross_entropy{.reduce = dp::reduction::max}(logits, labels)), ContainsSubstring("reduce"));
  CHECK_THROWS_WITH((nn::mse{.reduce = dp::reduction::min}(logits, logits)), ContainsSubstring("reduce"));
}

TEST_CASE("class weights on a place are counted as workspace", "[nn]") {
  const auto workspace = [] { return dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::workspace); };
  const std::size_t before = workspace();
  const nn::cross_entropy loss{.class_weights = {1, 2, 3}};
  const auto bound = loss.bind<float, dp::backend::cpu>(0);
  CHECK(workspace() - before == 3 * sizeof(float));
}

TEST_CASE("nn::mse is the mean over elements, and its gradient belongs to the sum", "[nn]") {
  const dp::tensor<double, dp::extents<2, 2>, dp::on<dp::cpu>> y{{1, 2}, {3, 4}}, t{{1, 0}, {0, 8}};
  const auto [value, gradient] = nn::mse{}(y, t);
  CHECK(value.item() == (0 + 4 + 9 + 16) / 4.0);
  CHECK(gradient.gradient(1, 1) == -8);
  CHECK(gradient.sums(1) == 4);
  CHECK((nn::mse{.reduce = dp::reduction::sum}(y, t).loss.item()) == 29);
}

TEST_CASE("losses on class labels accept one label per token of a sample", "[nn]") {
  dp::tensor<double, dp::extents<2, 3, 4>, dp::on<dp::cpu>> logits;
  for (std::size_t i = 0; i < logits.size(); ++i) logits.data()[i] = static_cast<double>(i * 7 % 5) - 2;
  const dp::tensor<std::int32_t, dp::extents<2, 3>, dp::on<dp::cpu>> labels{{3, -100, 0}, {1, 2, -100}};
  const auto check = [&](const auto& how) {
    const auto [loss, gradient] = how(logits, labels);
    const auto rows = logits.reshape(dp::extents<6, 4>{});
    const auto [row_loss, row_gradient] = how(rows, labels.reshape(dp::extents<6>{}));
    CHECK(loss.item() == row_loss.item());
    STATIC_REQUIRE(std::is_same_v<decltype(gradient.gradient), decltype(logits)>);
    CHECK(std::equal(row_gradient.gradient.data(), row_gradient.gradient.data() + 24, gradient.gradient.data()));
    CHECK(gradient.sums(1) == 4);
  };
  check(nn::cross_entropy{.label_smoothing = 0.1});
  check(nn::nll{});
  // Too few labels, and the right number with swapped axes.
  for (const dp::dextents<2> sizes : {dp::dextents<2>{2, 2}, dp::dextents<2>{3, 2}}) {
    const auto wrong = dp::full<std::int32_t, dp::cpu>(sizes, 0);
    CHECK_THROWS_AS(nn::cross_entropy{}(logits, wrong), dp::shape_error);
    CHECK_THROWS_AS(nn::nll{}(logits, wrong), dp::shape_error);
  }
  const auto turned = dp::full<std::int32_t, dp::cpu>(dp::dextents<2>{3, 2}, 0);
  CHECK_THROWS_WITH(nn::cross_entropy{}(logits, turned), ContainsSubstring("is 2x3x4 and labels are 3x2;"));
}
