// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/cudnn_convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/memory/stream.hpp>

#include "support/catch.hpp"
#include "support/convolution_loops.hpp"
#include "support/mock_cuda/kernel_launch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cudnn/mock_cudnn.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cudnn;
using dp::detail::convolution_shape;

namespace {

/// Runs kernels in fewer blocks than on a GPU.
struct few_blocks {
  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    dp::test::mock_cuda::run_kernel(std::min<std::size_t>(blocks, 3), kernel);
  }
};

/// Small integers, whose products and sums are exact, in the mock's memory, with one element more than is written.
template <class T> struct integers_for_cudnn {
  dp::detail::memory_block block;
  std::size_t size;

  integers_for_cudnn(std::size_t n, std::size_t seed)
      : block(dp::detail::allocate<dp::backend::cuda>(0, (n + 1) * sizeof(T))), size(n) {
    std::vector<T> values(n + 1);
    for (std::size_t i = 0; i <= n; ++i) values[i] = T(static_cast<float>((i * 37 + seed * 11 + i / 7) % 9) - 4);
    dp::detail::copy_in<dp::backend::cuda>(0, data(), values.data(), (n + 1) * sizeof(T));
  }
  T* data() const { return static_cast<T*>(block.data()); }
  std::vector<dp::detail::computed_t<T>> values() const {
    dp::synchronize<dp::cuda<0>>();
    return {data(), data() + size + 1};
  }
};

/// A convolution with a bias and a relu, its gradients, and the results of the loops, whose sums are exact. 16-bit
/// results are rounded, and once more with a bias.
template <class T> struct cudnn_problem {
  using sum = dp::detail::computed_t<T>;

  convolution_shape s;
  integers_for_cudnn<T> x, weight, bias, dy, into_x, y, dx;
  integers_for_cudnn<sum> dw;
  std::vector<sum> expected_y, expected_dx, expected_dw;

  explicit cudnn_problem(const convolution_shape& shape)
      : s(shape),
        x(s.samples * s.groups * s.channels * s.plane(), 1),
        weight(s.weights(), 2),
        bias(s.groups * s.outputs, 3),
        dy(s.samples * s.groups * s.outputs * s.pixels(), 4),
        into_x(s.groups * s.channels, 5),
        y(dy.size, 6),
        dx(x.size, 6),
        dw(weight.size, 6),
        expected_y(y.values()),
        expected_dx(dx.values()),
        expected_dw(dw.values()) {
    std::vector<sum> sums_y(y.size), sums_dx(x.size), sums_dw(dw.size);
    dp::test::for_each_product(s, [&](std::size_t to, std::size_t from, std::size_t by) {
      sums_y[to] += sum(x.data()[from]) * sum(weight.data()[by]);
      sums_dx[from] += sum(dy.data()[to]) * sum(weight.data()[by]);
      sums_dw[by] += sum(dy.data()[to]) * sum(x.data()[from]);
    });
    const auto rounded = [](sum value) { return static_cast<sum>(static_cast<T>(value)); };
    for (std::size_t i = 0; i < y.size; ++i)
      expected_y[i] = std::max(rounded(rounded(sums_y[i]) + sum(bias.data()[i / s.pixels() % bias.size])), sum{0});
    for (std::size_t i = 0; i < x.size; ++i)
      expected_dx[i] = rounded(rounded(sums_dx[i]) + sum(into_x.data()[i / s.plane() % into_x.size]));
    for (std::size_t i = 0; i < dw.size; ++i) expected_dw[i] = rounded(sums_dw[i]) + 2 * expected_dw[i];
  }

  bool forward(dp::detail::product_math math = dp::detail::product_math::strict) const {
    return convolve_by_cudnn(0,
                             dp::detail::convolution_arguments<T>{s, x.data(), weight.data(), bias.data(), y.data(),
                                                                  dp::detail::epilogue::relu, math},
                             few_blocks{});
  }
  bool input_gradient() const {
    return convolve_by_cudnn(
        0, dp::detail::convolution_input_gradient_arguments<T>{s, dy.data(), weight.data(), into_x.data(), dx.data()},
        few_blocks{});
  }
  bool weight_gradient(sum beta = 2) const {
    return convolve_by_cudnn(
        0, dp::detail::convolution_weight_gradient_arguments<T>{s, dy.data(), x.data(), dw.data(), beta, nullptr},
        few_blocks{});
  }
  bool is_right() const { return y.values() == expected_y && dx.values() == expected_dx && dw.values() == expected_dw; }
};

/// Returns a small convolution with all options.
convolution_shape shape_for_cudnn() { return {2, 3, 2, 5, {10, 5, 3, 2, 1, 1}, {9, 7, 3, 1, 1, 2}}; }

/// Returns which engine of a mode computed the last convolution.
int last_cudnn_engine(cudnnBackendHeurMode_t mode) {
  REQUIRE_FALSE(mock::convolutions().empty());
  CHECK(mock::convolutions().back().mode == mode);
  return mock::convolutions().back().engine;
}

std::size_t cudnn_calls_of(const std::string& function) {
  return static_cast<std::size_t>(std::count(mock::calls().begin(), mock::calls().end(), function));
}

template <class T> void require_right_cudnn_results() {
  for (const convolution_shape& s : dp::test::shapes_for<T>(dp::test::convolution_shapes())) {
    INFO(s.samples << " samples, " << s.groups << " groups of " << s.channels << " to " << s.outputs << ", "
                   << s.rows.in << "x" << s.columns.in);
    const cudnn_problem<T> p(s);
    REQUIRE(p.forward());
    REQUIRE(p.input_gradient());
    REQUIRE(p.weight_gradient());
    REQUIRE(p.is_right());
  }
  CHECK(devplace::test::mock_cuda::violations().empty());
}

}  // namespace

TEST_CASE("convolutions are passed to cuDNN unchanged: float and double, with bias and relu", "[backend][cudnn]") {
  require_right_cudnn_results<float>();
  CHECK(mock::convolutions().back().type == CUDNN_DATA_FLOAT);
  require_right_cudnn_results<double>();
  CHECK(mock::convolutions().back().type == CUDNN_DATA_DOUBLE);
  CHECK(mock::live_handles() == 1);
}

TEST_CASE("16-bit numbers are passed to cuDNN unchanged, and weight gradients are summed in float",
          "[backend][cudnn]") {
  require_right_cudnn_results<dp::bf16>();
  CHECK(mock::convolutions().back().type == CUDNN_DATA_BFLOAT16);
  CHECK(mock::convolutions().back().beta == 0);  // the gradients so far are not rounded
  require_right_cudnn_results<dp::half>();
  CHECK(mock::convolutions().back().type == CUDNN_DATA_HALF);
}

TEST_CASE("a weight gradient of 16 bits lies in the workspace before the engine's workspace", "[backend][cudnn]") {
  const auto shape = shape_for_cudnn();
  const auto limit = static_cast<std::int64_t>(dp::detail::cuda_cudnn_workspace::bytes -
                                               (shape.weights() * sizeof(dp::half) + 255) / 256 * 256);
  const cudnn_problem<dp::half> p(shape);
  p.dw.data()[1] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(p.weight_gradient(0));            // with an engine that needs no workspace
  CHECK(p.dw.data()[1] == p.dw.data()[1]);  // and the old values were not read
  CHECK(mock::convolutions().back().workspace == nullptr);
  CHECK(dp::memory_statistics<dp::cuda<0>>().of(dp::memory_purpose::workspace) ==
        dp::detail::cuda_unfolding_workspace::bytes);
  mock::offer(CUDNN_HEUR_MODE_A, {{{}, limit + 1, true}, {{}, limit, true}});
  dp::detail::cudnn_cache_of(0) = {};
  REQUIRE(p.weight_gradient(0));
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_A) == 1);
  const dp::detail::cuda_scope device(0);
  CHECK(mock::convolutions().back().workspace ==
        static_cast<std::byte*>(dp::detail::cuda_workspace<dp::detail::cuda_cudnn_workspace>(0, device)) +
            dp::detail::cuda_cudnn_workspace::bytes - static_cast<std::size_t>(limit));
  auto large = shape;
  large.outputs = dp::detail::cuda_cudnn_workspace::bytes;  // more weights than fit the workspace
  const dp::detail::convolution_key key{large,
                                        dp::detail::convolution_pass::weight_gradient,
                                        dp::detail::dtype_of<dp::half>,
                                        dp::detail::product_math::strict,
                                        0,
                                        {256, 256, 256}};
  CHECK_FALSE(
      make_cudnn_plan(dp::detail::cudnn_cache_of(0).handle, key, dp::detail::cuda_cudnn_workspace::bytes, 0).plan);
}

TEST_CASE("the second step makes no descriptor and allocates nothing", "[backend][cudnn]") {
  mock::offer(CUDNN_HEUR_MODE_A, {{{}, 1000, true}});
  const cudnn_problem<float> p(shape_for_cudnn()), other(shape_for_cudnn());
  const cudnn_problem<dp::bf16> in_16_bits(shape_for_cudnn());
  const auto step = [](const auto& of) {
    return of.forward() && of.input_gradient() && of.weight_gradient(0) && of.weight_gradient(1);
  };
  REQUIRE((step(p) && step(other) && step(in_16_bits)));
  const std::size_t blocks = devplace::test::mock_cuda::live_blocks();
  mock::clear_calls();
  REQUIRE((step(in_16_bits) && step(p) && step(other)));
  CHECK(mock::calls() == std::vector<std::string>(12, "cudnnBackendExecute"));
  CHECK(devplace::test::mock_cuda::live_blocks() == blocks);
  CHECK(mock::convolutions().back().beta == 1);
}

TEST_CASE("only engines with equal bits in every run and the requested precision are used", "[backend][cudnn]") {
  const auto note = GENERATE(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                             CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_FFT,
                             CUDNN_NUMERICAL_NOTE_WINOGRAD);
  mock::offer(CUDNN_HEUR_MODE_A, {{{note}, 0, true},
                                  {{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP, note}, 0, true},
                                  {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0, true},
                                  {{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, 0, true}});
  dp::detail::cudnn_cache_of(0) = {};  // engines are chosen again for each note
  const cudnn_problem<float> p(shape_for_cudnn());
  REQUIRE(p.forward());
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_A) == 3);
  REQUIRE(p.forward(dp::detail::product_math::tf32));
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_A) == 2);
  REQUIRE(cudnn_problem<double>(shape_for_cudnn()).forward());  // tensor cores compute double without rounding operands
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_A) == 2);
  REQUIRE(cudnn_problem<dp::half>(shape_for_cudnn()).forward());  // 16-bit operands, too, with sums in float
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_A) == 2);
}

TEST_CASE("the next engine is used if one does not support the shape or needs too much memory", "[backend][cudnn]") {
  constexpr auto limit = static_cast<std::int64_t>(dp::detail::cuda_cudnn_workspace::bytes);
  mock::offer(CUDNN_HEUR_MODE_A, {{{}, 0, false}, {{}, limit + 1, true}});
  mock::offer(CUDNN_HEUR_MODE_FALLBACK,
              {{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, true}, {{}, limit, true}, {{}, 0, true}});
  const cudnn_problem<float> p(shape_for_cudnn());
  REQUIRE(p.forward());
  CHECK(last_cudnn_engine(CUDNN_HEUR_MODE_FALLBACK) == 1);
  CHECK(mock::convolutions().back().workspace != nullptr);
}

TEST_CASE("engines that need no workspace allocate none, and small ones share the workspace of patches",
          "[backend][cudnn]") {
  const auto allocated = [] { return dp::memory_statistics<dp::cuda<0>>().of(dp::memory_purpose::workspace); };
  constexpr std::size_t patches = dp::detail::cuda_unfolding_workspace::bytes;
  const std::size_t before = allocated();
  auto shape = shape_for_cudnn();
  REQUIRE(cudnn_problem<float>(shape).forward());
  CHECK(mock::convolutions().back().workspace == nullptr);
  CHECK(allocated() == before);
  mock::offer(CUDNN_HEUR_MODE_A, {{{}, static_cast<std::int64_t>(patches), true}});
  shape.samples = 1;
  REQUIRE(cudnn_problem<float>(shape).forward());
  CHECK(allocated() == before + patches);
  mock::offer(CUDNN_HEUR_MODE_A, {{{}, static_cast<std::int64_t>(patches + 1), true}});
  shape.samples = 3;
  REQUIRE(cudnn_problem<float>(shape).forward());
  CHECK(allocated() == before + patches + dp::detail::cuda_cudnn_workspace::bytes);
}

TEST_CASE("a convolution without an engine falls back to products after one query", "[backend][cudnn]") {
  mock::offer(CUDNN_HEUR_MODE_A, {{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, true}});
  const cudnn_problem<float> p(shape_for_cudnn());
  const cudnn_problem<dp::bf16> in_16_bits(shape_for_cudnn());
  const auto y = p.y.values(), dw = p.dw.values(), other_dw = in_16_bits.dw.values();
  CHECK_FALSE(p.forward());
  CHECK_FALSE(p.weight_gradient());
  CHECK_FALSE(in_16_bits.weight_gradient());
  CHECK(p.y.values() == y);
  CHECK(p.dw.values() == dw);
  CHECK(in_16_bits.dw.values() == other_dw);
  mock::clear_calls();
  CHECK_FALSE(p.forward());
  CHECK_FALSE(in_16_bits.weight_gradient());
  CHECK(mock::calls().empty());
  CHECK(mock::convolutions().empty());
}

TEST_CASE("unsupported convolutions fall back to products, whichever call of cuDNN reports the failure",
          "[backend][cudnn]") {
  dp::detail::cudnn_cache_of(0) = {};  // engines are queried again in each section
  const cudnn_problem<float> p(shape_for_cudnn());
  SECTION("of the operation") {
    mock::fail("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED_SHAPE, 5);
    CHECK_FALSE(p.forward());
  }
  SECTION("of the graph") {
    mock::fail("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, 6);
    CHECK_FALSE(p.forward());
  }
  SECTION("of the heuristic") {
    mock::fail("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED, 7);
    CHECK_FALSE(p.forward());
  }
  SECTION("of a plan that it had made") {
    mock::fail("cudnnBackendExecute", CUDNN_STATUS_NOT_SUPPORTED);
    CHECK_FALSE(p.forward());
    CHECK_FALSE(p.forward());
    CHECK(cudnn_calls_of("cudnnBackendExecute") == 1);
  }
}

TEMPLATE_TEST_CASE("every failed call of cuDNN is reported with the convolution and a remedy", "[backend][cudnn]",
                   float, dp::bf16) {
  // As many failures as the first convolution makes calls; each call fails once, and a later convolution succeeds.
  const cudnn_problem<TestType> p(shape_for_cudnn());
  const bool wide = std::is_same_v<TestType, float>;
  const std::string what = wide ? "a convolution (float; x " : "the weight gradient of a convolution (bf16; x ";
  const auto run = [&] { return wide ? p.forward() : p.weight_gradient(); };
  for (const auto& [function, count] : {std::pair{"cudnnCreate", 1},
                                        {"cudnnSetStream", 1},
                                        {"cudnnBackendCreateDescriptor", 11},
                                        {"cudnnBackendSetAttribute", 37},
                                        {"cudnnBackendFinalize", 9},
                                        {"cudnnBackendGetAttribute", 5},
                                        {"cudnnBackendExecute", 1}})
    for (int nth = 1; nth <= count; ++nth) {
      INFO(function << " " << nth);
      dp::detail::cudnn_cache_of(0) = {};
      mock::set_last_error("the stride is odd");
      mock::fail(function, CUDNN_STATUS_BAD_PARAM, nth);
      CHECK_THROWS_WITH(run(),
                        Catch::StartsWith("devplace: " + std::string(function) + " on cuda:0 failed for " + what) &&
                            Catch::Contains("2x6x10x9, weight 15x2x3x3, y 2x15x5x7, groups 3, stride 2x1, padding "
                                            "1x1, dilation 1x2): CUDNN_STATUS_BAD_PARAM (2000); cuDNN's last error "
                                            "is: the stride is odd.") &&
                            Catch::Contains("CUDNN_LOGLEVEL_DBG"));
      REQUIRE(run());
    }
  CHECK(mock::live_descriptors() == 9);  // descriptors of one plan and one set of addresses
}

TEST_CASE("errors of cuDNN that have a specific remedy name it", "[backend][cudnn]") {
  const cudnn_problem<float> p(shape_for_cudnn());
  mock::fail("cudnnCreate", CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH);
  CHECK_THROWS_WITH(p.forward(), Catch::Contains("must be of one version"));
  mock::fail("cudnnBackendFinalize", CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  CHECK_THROWS_AS(p.forward(), dp::out_of_memory);
  REQUIRE(p.forward());
  devplace::test::mock_cuda::break_devices(cudaErrorIllegalAddress);
  mock::fail("cudnnBackendExecute", CUDNN_STATUS_EXECUTION_FAILED);
  CHECK_THROWS_AS(p.forward(), dp::device_lost);
}

TEST_CASE("convolutions run on the place's current stream", "[backend][cudnn][stream]") {
  const cudnn_problem<float> p(shape_for_cudnn());
  REQUIRE(p.forward());
  const cudaStream_t own = mock::convolutions().back().stream;
  const dp::stream<dp::cuda<0>> other;
  {
    const dp::stream_scope on_other(other);
    REQUIRE(p.forward());
    CHECK(mock::convolutions().back().stream != own);
  }
  REQUIRE(p.forward());
  CHECK(mock::convolutions().back().stream == own);
}

TEST_CASE("descriptors of addresses and plans that are no longer used are replaced", "[backend][cudnn]") {
  constexpr std::size_t packs = dp::detail::cudnn_plan::most_packs, plans = dp::detail::cudnn_cache::capacity;
  auto shape = convolution_shape{1, 1, 1, 1, {1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 0, 1}};
  const integers_for_cudnn<float> data(64 * (packs + 3), 1);
  const auto run = [&](std::size_t at) {
    return convolve_by_cudnn(
        0, dp::detail::convolution_arguments<float>{shape, data.data(), data.data(), nullptr, data.data() + 64 * at},
        few_blocks{});
  };
  REQUIRE(run(1));
  const std::size_t of_plan = mock::live_descriptors() - 1;
  for (std::size_t k = 2; k < packs + 3; ++k) REQUIRE(run(k));
  CHECK(mock::live_descriptors() == of_plan + packs);
  mock::clear_calls();
  REQUIRE(run(packs + 2));  // still cached
  CHECK(mock::calls().size() == 1);
  REQUIRE(run(1));  // made again
  CHECK(cudnn_calls_of("cudnnBackendCreateDescriptor") == 1);

  for (std::size_t k = 1; k < plans + 3; ++k) {
    shape.rows.in = shape.rows.out = k + 1;
    shape.rows.padding = 0;
    mock::offer(CUDNN_HEUR_MODE_A, {});  // without an engine, so nothing is computed
    CHECK_FALSE(run(1));
  }
  CHECK(std::get<0>(dp::detail::cudnn_cache_of(0).plans).size() == plans);
}

TEST_CASE("an empty batch is not passed to cuDNN", "[backend][cudnn]") {
  auto shape = shape_for_cudnn();
  shape.samples = 0;
  CHECK_FALSE(cudnn_problem<float>(shape).forward());
  CHECK(mock::calls().empty());
}

TEST_CASE("no thread overwrites a weight gradient in the workspace that a step has launched in part",
          "[backend][cudnn]") {
  const cudnn_problem<dp::half> p(shape_for_cudnn()), other(shape_for_cudnn());
  const integers_for_cudnn<dp::half> other_x(p.x.size, 9);
  const auto weight_gradient = [](const cudnn_problem<dp::half>& of, const dp::half* x) {
    return convolve_by_cudnn(
        0, dp::detail::convolution_weight_gradient_arguments<dp::half>{of.s, of.dy.data(), x, of.dw.data(), 2, nullptr},
        dp::detail::kernel_launch{0});
  };
  dp::detail::launch_memory memory;
  {
    dp::detail::cuda_repeated_launches::scope step(memory);
    CHECK(weight_gradient(p, p.x.data()));  // enqueued at once, because cuDNN has not executed the plan before
    std::thread([&] { weight_gradient(other, other_x.data()); }).join();
  }
  CHECK(p.dw.values() == p.expected_dw);
}
