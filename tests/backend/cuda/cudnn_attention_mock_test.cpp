// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/cudnn_attention.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/attention_loops.hpp"
#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cudnn/mock_cudnn.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cudnn;
using dp::detail::attention_shape;

namespace {

/// Inputs of the loops rounded to 16 bits, in the mock's memory, and results with one extra element.
template <class T> struct short_attention_problem {
  dp::test::attention_loops expected;
  dp::detail::memory_block block;
  T *queries, *dresults, *results, *dqueries;
  float *log_sums, *products;

  explicit short_attention_problem(const attention_shape& s) : expected(s, 0) {
    const std::size_t row = expected.dresults.size(), numbers = expected.log_sums.size();
    const auto padded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
    const std::size_t shorts = padded((3 * row + 1) * sizeof(T)), floats = padded((numbers + 1) * sizeof(float));
    block = dp::detail::allocate<dp::backend::cuda>(0, 4 * shorts + 2 * floats);
    auto* const data = static_cast<std::byte*>(block.data());
    queries = fill(data, expected.queries);
    dresults = fill(data + shorts, expected.dresults);
    results = fill(data + 2 * shorts, std::vector<double>(row + 1, -77));
    dqueries = fill(data + 3 * shorts, std::vector<double>(3 * row + 1, -77));
    log_sums = reinterpret_cast<float*>(data + 4 * shorts);
    products = reinterpret_cast<float*>(data + 4 * shorts + floats);
    std::fill_n(log_sums, numbers + 1, -77.f);
    std::fill_n(products, numbers + 1, -77.f);
  }

  dp::detail::cudnn_attention<T> attention(std::size_t at_once = 100) const {
    const std::size_t samples = std::min(at_once, expected.shape.samples);
    return {0, expected.shape, static_cast<float>(expected.scale), samples};
  }
  bool forward() const {
    return attention().run(dp::detail::attention_arguments<T>{
        expected.shape, static_cast<float>(expected.scale), {}, queries, results, log_sums});
  }
  void backward(std::size_t at_once = 100) const {
    attention(at_once).run(dp::detail::attention_gradient_arguments<T>{expected.shape,
                                                                       static_cast<float>(expected.scale),
                                                                       {},
                                                                       queries,
                                                                       results,
                                                                       log_sums,
                                                                       dresults,
                                                                       dqueries,
                                                                       products});
  }

  void require_agreement(double tolerance) const {
    const auto require = [tolerance](const auto* found, const std::vector<double>& wanted) {
      double largest = 1;
      for (const double x : wanted) largest = std::max(largest, std::abs(x));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        INFO(i);
        REQUIRE(std::abs(static_cast<double>(found[i]) - wanted[i]) <= tolerance * largest);
      }
      REQUIRE(static_cast<float>(found[wanted.size()]) == -77);
    };
    require(results, expected.results);
    require(log_sums, expected.log_sums);
    require(dqueries, expected.dqueries);
    REQUIRE(products[expected.log_sums.size()] == -77);
  }

 private:
  static T* fill(std::byte* to, const std::vector<double>& values) {
    auto* const result = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < values.size(); ++i) result[i] = T(static_cast<float>(values[i]));
    return result;
  }
};

std::size_t attention_calls(const std::string& function) {
  return static_cast<std::size_t>(std::count(mock::calls().begin(), mock::calls().end(), function));
}

constexpr attention_shape causal_for_cudnn{3, 6, 2, 8, true};

}  // namespace

TEST_CASE("attention and its gradient are passed to cuDNN as graphs of operations", "[backend][cudnn]") {
  for (const attention_shape& s : {causal_for_cudnn, attention_shape{2, 5, 3, 16, false}, {1, 1, 1, 8, true}}) {
    INFO(s.length << " positions, " << s.heads << " heads of " << s.width << (s.causal ? ", causal" : ""));
    const short_attention_problem<dp::half> p(s);
    REQUIRE(p.attention().computes(true));
    REQUIRE(p.forward());
    p.backward();
    p.require_agreement(0.01);
    const short_attention_problem<dp::bf16> q(s);
    REQUIRE(q.attention().computes(true));
    REQUIRE(q.forward());
    q.backward();
    q.require_agreement(0.08);
  }
  CHECK(mock::graphs().size() == 12);
  CHECK(devplace::test::mock_cuda::violations().empty());
}

TEST_CASE("later steps of attention make no descriptor and allocate nothing", "[backend][cudnn]") {
  mock::offer(CUDNN_HEUR_MODE_A, {{{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 1000, true}});
  const short_attention_problem<dp::bf16> p(causal_for_cudnn);
  {
    dp::detail::only_plans() = true;
    REQUIRE(p.attention().computes(true));
    REQUIRE(p.forward());
    p.backward();
    dp::detail::only_plans() = false;
  }
  CHECK(mock::graphs().empty());
  const std::size_t blocks = devplace::test::mock_cuda::live_blocks();
  mock::clear_calls();
  devplace::test::mock_cuda::clear_calls();
  REQUIRE(p.attention().computes(true));
  REQUIRE(p.forward());
  p.backward();
  CHECK(attention_calls("cudnnBackendExecute") == 2);
  CHECK(attention_calls("cudnnSetStream") == 1);
  CHECK(mock::calls().size() == 3);
  CHECK(devplace::test::mock_cuda::live_blocks() == blocks);
  CHECK(mock::graphs().back().workspace != nullptr);
}

TEST_CASE("devplace's kernels compute attention if cuDNN has no engine with equal bits in every run",
          "[backend][cudnn]") {
  const short_attention_problem<dp::bf16> p(causal_for_cudnn);
  SECTION("none") { mock::offer(CUDNN_HEUR_MODE_A, {}); }
  SECTION("other bits") { mock::offer(CUDNN_HEUR_MODE_A, {{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, true}}); }
  SECTION("too much memory") {
    constexpr auto limit = static_cast<std::int64_t>(dp::detail::cuda_cudnn_workspace::bytes);
    mock::offer(CUDNN_HEUR_MODE_A, {{{}, limit + 1, true}});
  }
  SECTION("an operation that it does not have") {
    mock::fail("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED, GENERATE(1, 4, 5, 30, 31, 47));
  }
  CHECK_FALSE(p.attention().computes(true));
  mock::clear_calls();
  CHECK_FALSE(p.attention().computes(true));
  CHECK(attention_calls("cudnnBackendCreateDescriptor") == 0);  // cuDNN is queried once
}

TEST_CASE("cuDNN is not queried for widths that are not multiples of 8 and for empty batches", "[backend][cudnn]") {
  CHECK_FALSE(dp::detail::cudnn_attention<dp::half>(0, {2, 5, 2, 12, true}, 1).computes(false));
  CHECK_FALSE(dp::detail::cudnn_attention<dp::half>(0, {0, 5, 2, 16, true}, 1).computes(false));
  CHECK(mock::calls().empty());
}

TEST_CASE("if an engine does not run, the kernels compute attention, and a gradient throws", "[backend][cudnn]") {
  const short_attention_problem<dp::half> p(causal_for_cudnn);
  REQUIRE(p.attention().computes(true));
  mock::fail("cudnnBackendExecute", CUDNN_STATUS_NOT_SUPPORTED);
  CHECK_FALSE(p.forward());
  CHECK_FALSE(p.attention().computes(true));
  dp::detail::cudnn_cache_of(0) = {};
  REQUIRE(p.attention().computes(true));
  REQUIRE(p.forward());
  mock::fail("cudnnBackendExecute", CUDNN_STATUS_NOT_SUPPORTED);
  CHECK_THROWS_WITH(p.backward(), Catch::Contains("devplace: the gradient of causal attention (half; 3 samples of 6 "
                                                  "positions, 2 heads of 8 elements) is not supported"));
}

TEST_CASE("gradients of long sequences are computed for some samples at a time", "[backend][cudnn]") {
  const short_attention_problem<dp::half> p({5, 6, 2, 8, true});
  REQUIRE(p.attention(2).computes(true));
  REQUIRE(p.forward());
  p.backward(2);
  p.require_agreement(0.01);
  CHECK(mock::graphs().size() == 4);
  CHECK(dp::detail::samples_at_once({64, 128, 8, 64, true}) == 64);
  CHECK(dp::detail::samples_at_once({64, 1000, 8, 64, true}) == 15);
  CHECK(dp::detail::samples_at_once({64, 8000, 8, 64, true}) == 1);
  CHECK(dp::detail::samples_at_once({64, std::size_t{1} << 40, 8, 64, true}) == 1);
}
