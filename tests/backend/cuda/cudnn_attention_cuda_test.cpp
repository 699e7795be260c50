// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/attention.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/cudnn_attention.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/attention_loops.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/cudnn_h100.hpp"

namespace dp = devplace;
using dp::detail::attention_shape;

namespace {

constexpr attention_shape attention_shapes[] = {{2, 70, 5, 8, true},   {2, 1, 2, 16, false},   {3, 100, 2, 40, false},
                                                {2, 129, 3, 64, true}, {1, 1000, 2, 96, true}, {2, 64, 2, 256, true}};

template <class T> using on_host = dp::tensor<T, dp::extents<dp::dyn>, dp::on<dp::cpu>>;
template <class T> using on_gpu = dp::tensor<T, dp::extents<dp::dyn>, dp::on<dp::cuda<0>>>;

template <class T> on_gpu<T> values_on_gpu(const std::vector<double>& values) {
  on_host<T> here(dp::extents<dp::dyn>{values.size()});
  for (std::size_t i = 0; i < values.size(); ++i) here.data()[i] = T(static_cast<float>(values[i]));
  return dp::to<dp::on<dp::cuda<0>>>(here);
}
template <class T> std::vector<double> values_of_gpu(const on_gpu<T>& x) {
  const auto here = dp::to<dp::on<dp::cpu>>(x);
  std::vector<double> result(here.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(here.data()[i]);
  return result;
}

template <class T> void compare_attention(const attention_shape& s, double tolerance) {
  const dp::test::attention_loops expected(s, 0);
  const auto queries = values_on_gpu<T>(expected.queries), dresults = values_on_gpu<T>(expected.dresults);
  on_gpu<T> results(dresults.extents()), dqueries(queries.extents()), again(queries.extents());
  on_gpu<float> log_sums(dp::extents<dp::dyn>{expected.log_sums.size()}), products(log_sums.extents());
  const auto attention = [&] { return dp::detail::cudnn_attention<T>(0, s, static_cast<float>(expected.scale)); };
  REQUIRE(attention().computes(true));
  REQUIRE(attention().run(dp::detail::attention_arguments<T>{
      s, static_cast<float>(expected.scale), {}, queries.data().get(), results.data().get(), log_sums.data().get()}));
  for (on_gpu<T>* to : {&dqueries, &again})
    REQUIRE(attention().run(dp::detail::attention_gradient_arguments<T>{s,
                                                                        static_cast<float>(expected.scale),
                                                                        {},
                                                                        queries.data().get(),
                                                                        results.data().get(),
                                                                        log_sums.data().get(),
                                                                        dresults.data().get(),
                                                                        to->data().get(),
                                                                        products.data().get()}));
  const auto require = [tolerance](const std::vector<double>& found, const std::vector<double>& wanted) {
    double largest = 1;
    for (const double x : wanted) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(std::abs(found[i] - wanted[i]) <= tolerance * largest);
  };
  require(values_of_gpu(results), expected.results);
  require(values_of_gpu(log_sums), expected.log_sums);
  require(values_of_gpu(dqueries), expected.dqueries);
  CHECK(values_of_gpu(again) == values_of_gpu(dqueries));
}

}  // namespace

#if CUDNN_VERSION >= 91900
TEST_CASE("cuDNN has engines for attention and its gradient on an H100, tested without a GPU", "[backend][cudnn]") {
  if (dp::test::has_cuda_driver()) DEVPLACE_SKIP("kernels for an H100 can be loaded only by one, or by no driver");
  // Only few, because cuDNN compiles the kernels of each engine.
  for (const auto& [s, element] : {std::pair{attention_shapes[0], dp::detail::dtype_of<dp::half>},
                                   std::pair{attention_shapes[2], dp::detail::dtype_of<dp::bf16>}})
    for (const bool gradient : {false, true}) {
      const dp::detail::attention_key key{s, element, gradient, 0.7f};
      INFO(to_string(key));
      const dp::detail::cudnn_caller caller(0, key);
      std::vector<dp::detail::cudnn_descriptor> parts;
      dp::detail::attention_graph graph(parts, key, caller);
      REQUIRE((gradient ? graph.describe_gradient() : graph.describe()));
      const auto workspaces = dp::test::h100_workspaces(graph.operations(), true, caller);
      REQUIRE_FALSE(workspaces.empty());
      // Score gradients are stored, so they are not added by atomic operations; samples_at_once() counts their bytes.
      const std::size_t padded = (s.length + 127) / 128 * 128, matrices = s.samples * s.heads * padded * padded * 2;
      for (const std::size_t bytes : workspaces) CHECK(bytes <= (gradient ? matrices : 0) + 4096);
      if (gradient) CHECK(workspaces.front() >= s.samples * s.heads * s.length * s.length * 2);
    }
}
#endif

TEST_CASE("attention by cuDNN is right for every shape, and its gradient has the same bits in every run",
          "[backend][cudnn]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  if (!dp::detail::has_attention(dp::detail::cuda_scope(0), 0)) DEVPLACE_SKIP("another GPU, or an old cuDNN");
  for (const attention_shape& s : attention_shapes) {
    INFO(s.samples << " samples of " << s.length << ", " << s.heads << " heads of " << s.width);
    compare_attention<dp::half>(s, 0.02);
    compare_attention<dp::bf16>(s, 0.08);
  }
}
