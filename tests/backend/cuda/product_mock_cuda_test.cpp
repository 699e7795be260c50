// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/product.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <devplace/backend/cuda/linear_gradients.cuh>

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/mock_cuda/kernel_launch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
namespace lt = devplace::test::mock_cublaslt;
using dp::detail::gemm_arguments;

namespace {

/// The mock's memory, which the host can access.
template <class T> struct device_array {
  dp::detail::memory_block block;
  std::size_t size;
  int device;

  explicit device_array(std::size_t n, int ordinal = 0)
      : block(dp::detail::allocate<dp::backend::cuda>(ordinal, n * sizeof(T))), size(n), device(ordinal) {
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<double>(i * 37 % 17) / 8 - 1);
    dp::detail::copy_in<dp::backend::cuda>(ordinal, data(), values.data(), n * sizeof(T));
  }
  /// Waits for the device, so that the host can read results.
  T* data() const {
    dp::detail::synchronize<dp::backend::cuda>(device);
    return static_cast<T*>(block.data());
  }
  std::vector<T> values() const { return {data(), data() + size}; }
};

/// Runs kernels and records their names.
struct recorded {
  std::vector<std::string>* names = nullptr;

  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    if (names != nullptr) names->push_back(dp::detail::kernel_name<Kernel>());
    mock::run_kernel(blocks, kernel);
  }
};

template <class T> double reference(const gemm_arguments<T>& g, const std::vector<T>& c, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t p = 0; p < g.k; ++p)
    sum += static_cast<double>(g.a[g.transpose_a ? p * g.lda + i : i * g.lda + p]) *
           static_cast<double>(g.b[g.transpose_b ? j * g.ldb + p : p * g.ldb + j]);
  double x = static_cast<double>(g.alpha) * sum;
  if (g.beta != T{0}) x += static_cast<double>(g.beta) * static_cast<double>(c[i * g.ldc + j]);
  if (g.bias != nullptr) x += static_cast<double>(g.bias[j]);
  return g.epilogue == dp::detail::epilogue::relu && x < 0 ? 0 : x;
}

/// Returns the largest difference between the C of multiply() and the definition of the product; checks that nothing
/// outside of C changes.
template <class T> double largest_error(const gemm_arguments<T>& g, const device_array<T>& c) {
  const std::vector<T> before = c.values();
  dp::detail::multiply(0, g, recorded{});
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool inside = i / g.ldc < g.m && i % g.ldc < g.n;
    const double expected = inside ? reference(g, before, i / g.ldc, i % g.ldc) : static_cast<double>(before[i]);
    const double error = std::abs(static_cast<double>(c.data()[i]) - expected);
    largest = error <= largest ? largest : error;
  }
  return largest;
}

struct shape {
  std::size_t m, n, k;
};

/// A product of 6x8 = 6x5 by 5x8.
template <class T> struct small_product {
  device_array<T> a{6 * 5}, b{5 * 8}, c{6 * 8}, bias{8};
  gemm_arguments<T> g;

  small_product() {
    g.m = 6, g.n = 8, g.k = 5;
    g.a = a.data(), g.lda = 5, g.b = b.data(), g.ldb = 8, g.c = c.data(), g.ldc = 8;
  }
};

std::size_t calls_of(const char* function) {
  const auto& calls = lt::calls();
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), function));
}

}  // namespace

TEMPLATE_TEST_CASE("products on CUDA devices are right for every combination of arguments", "[backend]", float,
                   double) {
  using T = TestType;
  const device_array<T> a(14 * 14), b(14 * 14), bias(8);
  const auto scale =
      GENERATE(std::array<int, 2>{1, 0}, std::array<int, 2>{1, 1}, std::array<int, 2>{-2, 3}, std::array<int, 2>{0, 2});
  const auto s =
      GENERATE(shape{5, 7, 11}, shape{8, 8, 2}, shape{1, 7, 11}, shape{1, 8, 12}, shape{5, 1, 11}, shape{1, 1, 11},
               shape{5, 7, 1}, shape{1, 7, 1}, shape{5, 1, 1}, shape{5, 7, 0}, shape{8, 8, 0});
  double largest = 0;
  for (unsigned bits = 0; bits < 16; ++bits) {
    const device_array<T> c(s.m * 12);
    gemm_arguments<T> g;
    g.m = s.m, g.n = s.n, g.k = s.k;
    g.transpose_a = (bits & 1) != 0, g.transpose_b = (bits & 2) != 0;
    g.alpha = static_cast<T>(scale[0]), g.beta = static_cast<T>(scale[1]);
    g.a = a.data(), g.lda = 13, g.b = b.data(), g.ldb = 12, g.c = c.data(), g.ldc = 12;
    g.bias = (bits & 4) != 0 ? bias.data() : nullptr;
    g.epilogue = (bits & 8) != 0 ? dp::detail::epilogue::relu : dp::detail::epilogue::none;
    largest = std::max(largest, largest_error(g, c));
  }
  CHECK(largest <= (sizeof(T) == 4 ? 2e-5 : 1e-13));
  CHECK(lt::violations() == std::vector<std::string>{});
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEMPLATE_TEST_CASE("many products on a CUDA device are one call of cuBLASLt", "[backend]", float, double) {
  using T = TestType;
  constexpr std::size_t count = 3;
  const device_array<T> a(300), b(300), bias(8);
  const auto s =
      GENERATE(shape{5, 7, 11}, shape{4, 8, 2}, shape{1, 7, 11}, shape{5, 1, 4}, shape{5, 7, 1}, shape{5, 7, 0});
  for (unsigned bits = 0; bits < 64; ++bits) {
    const device_array<T> c(count * 80);
    dp::detail::gemm_batch<T> batch;
    gemm_arguments<T>& g = batch.first;
    g.m = s.m, g.n = s.n, g.k = s.k;
    g.transpose_a = (bits & 1) != 0, g.transpose_b = (bits & 2) != 0;
    g.alpha = 2, g.beta = 3;
    g.a = a.data(), g.lda = 12, g.b = b.data(), g.ldb = 12, g.c = c.data(), g.ldc = 9;
    g.bias = (bits & 4) != 0 ? bias.data() : nullptr;
    g.epilogue = (bits & 8) != 0 ? dp::detail::epilogue::relu : dp::detail::epilogue::none;
    batch.count = count;
    batch.stride_a = (bits & 16) != 0 ? 0 : 73;  // one matrix for all
    batch.stride_b = 5;                          // matrices that share elements
    batch.stride_c = (bits & 32) != 0 ? g.m * g.ldc : 60;
    const std::vector<T> before = c.values();
    const std::size_t calls = lt::products().size();
    dp::detail::multiply(0, batch, recorded{});
    std::vector<double> expected(before.begin(), before.end());
    for (std::size_t which = 0; which < count; ++which)
      for (std::size_t i = 0; i < g.m; ++i)
        for (std::size_t j = 0; j < g.n; ++j) {
          const std::size_t at = which * batch.stride_c + i * g.ldc + j;
          gemm_arguments<T> one = batch[which];
          const std::vector<T> of_one(before.begin() + static_cast<std::ptrdiff_t>(which * batch.stride_c),
                                      before.end());
          expected[at] = reference(one, of_one, i, j);
        }
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(c.data()[i]) - expected[i]));
    CHECK(largest <= (sizeof(T) == 4 ? 1e-4 : 1e-12));
    const bool by_library = s.m > 1 && s.n > 1 && s.k > 1;
    CHECK(lt::products().size() == calls + (by_library ? 1 : 0));
    if (by_library) CHECK(lt::products().back().batch == count);
  }
  CHECK(lt::violations() == std::vector<std::string>{});
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("with beta 0 C is not read, and an empty product calls no cuBLASLt", "[backend]") {
  small_product<float> p;
  std::fill_n(p.c.data(), p.c.size, std::numeric_limits<float>::quiet_NaN());
  dp::detail::multiply(0, p.g, recorded{});
  for (const float x : p.c.values()) REQUIRE(x == x);
  lt::clear_calls();
  std::vector<std::string> kernels;
  p.g.m = 0;
  dp::detail::multiply(0, p.g, recorded{&kernels});
  p.g.m = 6, p.g.n = 0;
  dp::detail::multiply(0, p.g, recorded{&kernels});
  CHECK(kernels.empty());
  CHECK(lt::calls().empty());
}

TEST_CASE("relu keeps NaN, -0 and infinity, with and without a product", "[backend]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::array<float, 8> values{nan, -0.0f, 0.0f, inf, -inf, -1, 1, -nan};
  small_product<float> p;
  const device_array<float> eye(8 * 8);
  std::fill_n(eye.data(), 64, 0.0f);
  for (std::size_t i = 0; i < 8; ++i) eye.data()[i * 8 + i] = 1;
  std::copy(values.begin(), values.end(), p.c.data());
  p.g.m = 1, p.g.k = 0, p.g.beta = 1;
  p.g.epilogue = dp::detail::epilogue::relu;
  dp::detail::multiply(0, p.g, recorded{});
  const std::vector<float> y = p.c.values();
  CHECK(std::isnan(y[0]));
  CHECK(std::signbit(y[1]));
  CHECK(!std::signbit(y[2]));
  CHECK(y[3] == inf);
  CHECK(y[4] == 0);
  CHECK(y[5] == 0);
  CHECK(y[6] == 1);
  CHECK(std::isnan(y[7]));

  const device_array<float> x(2 * 8), z(2 * 8);
  x.data()[3] = nan;
  gemm_arguments<float> g;
  g.m = 2, g.n = 8, g.k = 8, g.a = x.data(), g.lda = 8, g.b = eye.data(), g.ldb = 8, g.c = z.data(), g.ldc = 8;
  g.bias = p.bias.data(), g.epilogue = dp::detail::epilogue::relu;
  dp::detail::multiply(0, g, recorded{});
  CHECK(std::isnan(z.data()[0]));
  CHECK(z.data()[8] >= 0);
}

TEST_CASE("a product's descriptors are made once, and its algorithm is queried once", "[backend]") {
  small_product<float> p;
  p.g.bias = p.bias.data();
  dp::detail::multiply(0, p.g, recorded{});
  CHECK(lt::calls() == std::vector<std::string>{"cublasLtCreate",
                                                "cublasLtMatmulDescCreate",
                                                "cublasLtMatmulDescSetAttribute",
                                                "cublasLtMatmulDescSetAttribute",
                                                "cublasLtMatmulDescSetAttribute",
                                                "cublasLtMatmulDescSetAttribute",
                                                "cublasLtMatrixLayoutCreate",
                                                "cublasLtMatrixLayoutCreate",
                                                "cublasLtMatrixLayoutCreate",
                                                "cublasLtMatmulPreferenceCreate",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulPreferenceSetAttribute",
                                                "cublasLtMatmulAlgoGetHeuristic",
                                                "cublasLtMatmulAlgoCapGetAttribute",
                                                "cublasLtMatmulPreferenceDestroy",
                                                "cublasLtMatmul"});
  lt::clear_calls();
  mock::clear_calls();
  dp::detail::multiply(0, p.g, recorded{});
  CHECK(lt::calls() == std::vector<std::string>{"cublasLtMatmul"});
  CHECK(mock::calls() == std::vector<std::string>{"cublasLtMatmul device 0"});
  CHECK(lt::live_descriptors() == 4);
}

TEST_CASE("an epilogue's vector is passed to cuBLASLt only when it changes", "[backend]") {
  small_product<float> p;
  const device_array<float> other(8);
  std::fill_n(other.data(), 8, 100.0f);
  p.g.bias = p.bias.data();
  dp::detail::multiply(0, p.g, recorded{});
  p.g.bias = other.data();
  lt::clear_calls();
  CHECK(largest_error(p.g, p.c) < 1e-4);
  CHECK(lt::calls() == std::vector<std::string>{"cublasLtMatmulDescSetAttribute", "cublasLtMatmul"});
}

TEST_CASE("a row-major product is cuBLASLt's product of the transposes", "[backend]") {
  small_product<float> p;
  const device_array<float> weight(8 * 5);
  p.g.b = weight.data(), p.g.ldb = 5, p.g.transpose_b = true, p.g.bias = p.bias.data();
  dp::detail::multiply(0, p.g, recorded{});
  const lt::product forward = lt::products().at(0);
  CHECK(forward.m == 8);
  CHECK(forward.n == 6);
  CHECK(forward.k == 5);
  CHECK(forward.op_a == CUBLAS_OP_T);
  CHECK(forward.op_b == CUBLAS_OP_N);
  CHECK(forward.lda == 5);
  CHECK(forward.ldb == 5);
  CHECK(forward.ldd == 8);
  CHECK(forward.epilogue == CUBLASLT_EPILOGUE_BIAS);
  CHECK(forward.compute == CUBLAS_COMPUTE_32F);
  CHECK(lt::allowed_reductions() == 2);
  CHECK(lt::allowed_workspace() == 32 << 20);
}

TEST_CASE("relu after a product is a separate kernel, because cuBLASLt's turns NaN into 0", "[backend]") {
  small_product<float> p;
  std::vector<std::string> kernels;
  p.g.epilogue = dp::detail::epilogue::relu;
  p.g.bias = p.bias.data();
  dp::detail::multiply(0, p.g, recorded{&kernels});
  CHECK(lt::products().at(0).epilogue == CUBLASLT_EPILOGUE_DEFAULT);
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].find("finish_kernel<float, 4") != std::string::npos);
}

TEST_CASE("without a cuBLASLt epilogue or algorithm, devplace's kernels are used", "[backend]") {
  small_product<float> p;
  std::vector<std::string> kernels;
  p.g.bias = p.bias.data();
  lt::refuse(CUBLASLT_EPILOGUE_BIAS);
  dp::detail::multiply(0, p.g, recorded{&kernels});
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].find("finish_kernel") != std::string::npos);
  CHECK(lt::products().size() == 1);
  CHECK(largest_error(p.g, p.c) < 1e-5);
  lt::clear_calls();
  kernels.clear();
  lt::refuse(CUBLASLT_EPILOGUE_DEFAULT);
  p.g.ldc = 9, p.g.m = 5;
  dp::detail::multiply(0, p.g, recorded{&kernels});
  dp::detail::multiply(0, p.g, recorded{&kernels});
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].find("any_product_kernel") != std::string::npos);
  CHECK(calls_of("cublasLtMatmulAlgoGetHeuristic") == 2);  // one with and one without the bias
  CHECK(largest_error(p.g, p.c) < 1e-5);
}

TEST_CASE("a product whose cuBLASLt algorithm turns out unsupported uses devplace's kernel from then on", "[backend]") {
  small_product<float> p;
  lt::fail("cublasLtMatmul", CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(largest_error(p.g, p.c) < 1e-5);
  lt::clear_calls();
  CHECK(largest_error(p.g, p.c) < 1e-5);
  CHECK(lt::calls() == std::vector<std::string>{});
}

TEST_CASE("products with one row, column or summand do not use cuBLASLt", "[backend]") {
  small_product<float> p;
  const auto sizes = GENERATE(shape{1, 8, 5}, shape{6, 1, 5}, shape{6, 8, 1}, shape{1, 1, 1});
  p.g.m = sizes.m, p.g.n = sizes.n, p.g.k = sizes.k;
  dp::detail::multiply(0, p.g, recorded{});
  CHECK(lt::calls() == std::vector<std::string>{});
}

TEST_CASE("TF32 is used where it is requested", "[backend]") {
  small_product<float> p;
  p.a.data()[0] = 1.0f + 1.0f / 4096;  // rounds to 1 in TF32
  p.g.math = dp::detail::product_math::tf32;
  const double error = largest_error(p.g, p.c);
  CHECK(error > 1e-5);
  CHECK(error < 1e-3);
  CHECK(lt::products().at(0).compute == CUBLAS_COMPUTE_32F_FAST_TF32);
  p.g.math = dp::detail::product_math::strict;
  CHECK(largest_error(p.g, p.c) < 1e-5);
  CHECK(lt::products().at(1).compute == CUBLAS_COMPUTE_32F);
}

namespace {

constexpr std::uint64_t in_tf32 = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
constexpr std::uint64_t in_float = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
constexpr std::uint64_t in_bfloat = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;

}  // namespace

TEST_CASE("an algorithm with lower operand precision than requested is skipped", "[backend]") {
  small_product<float> p;
  lt::offer({in_tf32, in_bfloat, in_float});
  CHECK(largest_error(p.g, p.c) < 1e-5);
  CHECK(calls_of("cublasLtMatmulAlgoCapGetAttribute") == 3);
  CHECK(lt::products().at(0).flags == in_float);
  p.g.math = dp::detail::product_math::tf32;
  dp::detail::multiply(0, p.g, recorded{});
  CHECK(lt::products().at(1).flags == in_tf32);
}

TEST_CASE("if all cuBLASLt algorithms have lower precision than requested, devplace's kernel is used", "[backend]") {
  small_product<float> p;
  std::vector<std::string> kernels;
  lt::offer({in_tf32});
  dp::detail::multiply(0, p.g, recorded{&kernels});
  CHECK(lt::products().empty());
  CHECK(kernels.size() == 1);
}

TEST_CASE("if cuBLASLt's first answers have lower precision, further ones are asked for", "[backend]") {
  small_product<float> p;
  std::vector<std::uint64_t> flags(70, in_tf32);
  flags.push_back(in_float);
  lt::offer(flags);
  CHECK(largest_error(p.g, p.c) < 1e-5);
  REQUIRE(lt::products().size() == 1);
  CHECK(lt::products()[0].flags == in_float);
  CHECK(calls_of("cublasLtMatmulAlgoGetHeuristic") == 2);
}

TEST_CASE("the first product that cuBLASLt does not compute is named on stderr, with the reason", "[backend]") {
  small_product<float> p;
  using Catch::Matchers::ContainsSubstring;
  const auto three_products = [&] {
    for (const std::size_t columns : {8u, 7u, 7u}) {
      p.g.n = columns;
      dp::detail::multiply(0, p.g, recorded{});
    }
  };
  lt::offer({in_tf32, in_bfloat});
  const std::string note =
      "devplace: cuda:0: not by cuBLASLt: the product 6x8 = 6x5 by 5x8 (float; stored rows are 5, 8 and 8 elements "
      "apart): the operation is not supported (15), 2 algorithms need more workspace or lower precision; a slower "
      "kernel of devplace computes the product. DEVPLACE_LIST_PRODUCTS=1 lists all products.\n";
  CHECK(support::in_child(three_products) == note);
  const std::string all = support::in_child([&] {
    setenv("DEVPLACE_LIST_PRODUCTS", "1", 1);
    three_products();
    lt::offer({});
    p.g.m = 5;
    dp::detail::multiply(0, p.g, recorded{});
  });
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
  CHECK_THAT(all, ContainsSubstring("not by cuBLASLt: the product 6x8") &&
                      ContainsSubstring("not by cuBLASLt: the product 6x7") &&
                      ContainsSubstring("cuda:0: by cuBLASLt: the product 5x7"));
}

TEST_CASE("an error of cuBLASLt's query or product that devplace's kernel makes good is named on stderr", "[backend]") {
  small_product<float> p;
  using Catch::Matchers::ContainsSubstring;
  const auto computed_after = [&](const char* function, cublasStatus_t status) {
    lt::fail(function, status);
    if (largest_error(p.g, p.c) >= 1e-5) std::exit(1);  // which in_child() tells
  };
  const auto invalid = [&] { computed_after("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_INVALID_VALUE); };
  CHECK_THAT(support::in_child(invalid), ContainsSubstring("(7); a slower kernel") && !ContainsSubstring("status"));
  const auto unsupported = [&] { computed_after("cublasLtMatmul", CUBLAS_STATUS_NOT_SUPPORTED); };
  CHECK_THAT(support::in_child(unsupported),
             ContainsSubstring("(15); a slower kernel") && !ContainsSubstring("status"));
  // A bias that cuBLASLt does not add is added by another kernel, without a note, unless the query is wrong.
  p.g.bias = p.bias.data();
  const auto without_epilogue = [&] { computed_after("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED); };
  CHECK(support::in_child(without_epilogue).empty());
  CHECK_THAT(support::in_child(invalid), ContainsSubstring("; with a bias): ") && ContainsSubstring("(7); a slower"));
}

TEST_CASE("each logical device has its own cuBLASLt handle and a workspace of 32 MiB", "[backend]") {
  small_product<float> p;
  dp::detail::multiply(0, p.g, recorded{});
  const auto before = dp::detail::counters(dp::backend::cuda{}, 1).allocated.load();
  const device_array<float> a(30, 1), b(40, 1), c(48, 1);
  p.g.a = a.data(), p.g.b = b.data(), p.g.c = c.data();
  dp::detail::multiply(1, p.g, recorded{});
  dp::detail::multiply(1, p.g, recorded{});
  CHECK(dp::detail::counters(dp::backend::cuda{}, 1).allocated.load() - before ==
        (std::size_t{32} << 20) + (30 + 40 + 48) * sizeof(float));
  CHECK(lt::live_handles() == 2);
  REQUIRE(lt::products().size() == 3);
  CHECK(lt::products()[0].workspace != lt::products()[1].workspace);
  CHECK(lt::products()[0].stream != lt::products()[1].stream);
  CHECK(lt::products()[1].workspace == lt::products()[2].workspace);
  CHECK(lt::products()[1].algorithm == lt::products()[2].algorithm);
  CHECK(mock::violations() == std::vector<std::string>{});
}

TEST_CASE("errors of cuBLASLt name the call, the place, the product and a remedy", "[backend]") {
  small_product<float> p;
  p.g.transpose_b = true, p.g.ldb = 5;
  const auto with_product = Catch::Matchers::ContainsSubstring(
      "the product 6x8 = 6x5 by 5x8 (transposed) (float; stored rows are 5, 5 "
      "and 8 elements apart)");
  lt::fail("cublasLtMatmul", CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK_THROWS_WITH(dp::detail::multiply(0, p.g, recorded{}),
                    Catch::Matchers::StartsWith("devplace: cublasLtMatmul on cuda:0 failed for ") && with_product &&
                        Catch::Matchers::ContainsSubstring("the function failed to launch on the GPU (13)") &&
                        Catch::Matchers::ContainsSubstring("CUBLASLT_LOG_LEVEL=2"));
  p.g.alpha = 2;
  CHECK(largest_error(p.g, p.c) < 1e-5);  // works again after the error

  std::size_t columns = 8;
  for (const char* call :
       {"cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic"}) {
    INFO(call);
    p.g.n = --columns;
    const std::size_t descriptors = lt::live_descriptors();
    lt::fail(call, CUBLAS_STATUS_ALLOC_FAILED);
    CHECK_THROWS_AS(dp::detail::multiply(0, p.g, recorded{}), dp::out_of_memory);
    lt::fail(call, CUBLAS_STATUS_INTERNAL_ERROR);
    CHECK_THROWS_WITH(dp::detail::multiply(0, p.g, recorded{}),
                      Catch::Matchers::StartsWith("devplace: " + std::string(call) + " on cuda:0 failed for "));
    CHECK(lt::live_descriptors() == descriptors);
    CHECK(largest_error(p.g, p.c) < 1e-5);
  }
}

TEST_CASE("a product on a lost device reports the loss and not cuBLASLt's error", "[backend]") {
  small_product<float> p;
  dp::detail::multiply(0, p.g, recorded{});
  mock::break_devices(cudaErrorIllegalAddress);
  CHECK_THROWS_AS(dp::detail::multiply(0, p.g, recorded{}), dp::device_lost);
}

TEST_CASE("strides that cuBLASLt computes wrongly are refused", "[backend]") {
  small_product<float> p;
  p.g.ldc = std::size_t{1} << 29;
  CHECK_THROWS_AS(dp::detail::multiply(0, p.g, recorded{}), dp::shape_error);
  CHECK_THROWS_WITH(dp::detail::multiply(0, p.g, recorded{}),
                    Catch::Matchers::ContainsSubstring("store it transposed"));
  CHECK(lt::calls().empty());
  small_product<double> d;
  d.g.lda = std::size_t{1} << 28;
  CHECK_THROWS_AS(dp::detail::multiply(0, d.g, recorded{}), dp::shape_error);
}

namespace {

/// Compares a weight's gradient [out, in] and a bias's gradient [out] for batches of `n` with their definitions.
template <class T> void check_gradients(std::size_t out, std::size_t in, std::size_t n, T beta) {
  INFO(out << " outputs, " << in << " inputs, " << n << " samples, beta " << beta);
  const device_array<T> dy(n * out + 1), x(n * in + 1), weight(out * in), bias(out);
  const std::vector<T> before = bias.values();
  gemm_arguments<T> g;
  g.m = out, g.n = in, g.k = n, g.transpose_a = true;
  g.a = dy.data(), g.lda = out, g.b = x.data(), g.ldb = in, g.c = weight.data(), g.ldc = in, g.beta = beta;
  const std::vector<T> c = weight.values();
  dp::detail::multiply_with_sums(0, g, bias.data(), recorded{});
  double largest = 0;
  for (std::size_t i = 0; i < out; ++i) {
    double sum = beta == 0 ? 0 : static_cast<double>(beta * before[i]);
    for (std::size_t s = 0; s < n; ++s) sum += static_cast<double>(dy.data()[s * out + i]);
    largest = std::max(largest, std::abs(static_cast<double>(bias.data()[i]) - sum));
    for (std::size_t j = 0; j < in; ++j)
      largest = std::max(largest, std::abs(static_cast<double>(weight.data()[i * in + j]) - reference(g, c, i, j)));
  }
  CHECK(largest < (sizeof(T) == 4 ? 1e-4 : 1e-12));
}

}  // namespace

TEST_CASE("gradients of a linear layer are correct at all sizes, overwritten and accumulated", "[backend]") {
  for (const shape s : {shape{10, 8, 70}, shape{8, 12, 64}, shape{1, 8, 9}, shape{8, 1, 9}, shape{1, 1, 3},
                        shape{10, 8, 1}, shape{10, 8, 0}})
    for (const int beta : {0, 1}) {
      check_gradients<float>(s.m, s.n, s.k, static_cast<float>(beta));
      check_gradients<double>(s.m, s.n, s.k, beta);
    }
  CHECK(lt::violations() == std::vector<std::string>{});
}

TEST_CASE("cuBLASLt's epilogue computes a bias's gradient unless it is accumulated", "[backend]") {
  check_gradients<float>(10, 8, 70, 0);
  CHECK(lt::products().at(0).epilogue == CUBLASLT_EPILOGUE_BGRADB);
  CHECK(lt::products().at(0).n == 10);
  CHECK(lt::products().at(0).op_b == CUBLAS_OP_T);
  check_gradients<float>(10, 8, 70, 1);
  CHECK(lt::products().at(1).epilogue == CUBLASLT_EPILOGUE_DEFAULT);
}

TEST_CASE("without cuBLASLt's epilogue, devplace's kernel computes the sums", "[backend]") {
  lt::refuse(CUBLASLT_EPILOGUE_BGRADB);
  check_gradients<float>(10, 8, 70, 0);
  CHECK(lt::products().at(0).epilogue == CUBLASLT_EPILOGUE_DEFAULT);
}

TEST_CASE("the gradient of a relu and its sums take the stream's workspace", "[backend]") {
  const std::size_t rows = 300;
  for (const std::size_t columns : {std::size_t{8}, std::size_t{10}}) {
    const device_array<float> dy(rows * columns), y(rows * columns), sums(columns);
    const std::vector<float> before = dy.values();
    std::vector<std::string> kernels;
    dp::detail::relu_gradient(
        0, dp::detail::relu_gradient_arguments<float>{rows, columns, dy.data(), dy.data(), y.data(), sums.data(), 0},
        recorded{&kernels});
    double largest = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t i = j; i < rows * columns; i += columns) {
        sum += y.data()[i] > 0 ? static_cast<double>(before[i]) : 0;
        REQUIRE(dy.data()[i] == (y.data()[i] > 0 ? before[i] : 0));
      }
      largest = std::max(largest, std::abs(static_cast<double>(sums.data()[j]) - sum));
    }
    CHECK(largest < 1e-4);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].find(columns == 8 ? "relu_gradient_source<float, 4" : "relu_gradient_source<float, 1") !=
          std::string::npos);
  }
}

namespace {

/// Returns the largest difference between a product of 16-bit numbers and its definition in double. The result has type
/// C; its elements are 0.5 before.
template <class T, class C>
double error_of_short_product(std::size_t m, std::size_t n, std::size_t k, bool with_bias,
                              dp::detail::epilogue epilogue, std::vector<std::string>* names = nullptr) {
  const device_array<dp::bf16> memory((m * k + k * n + n + 64) * 4);
  T* const a = reinterpret_cast<T*>(memory.data());
  T *const b = a + (m * k + 15) / 8 * 8, *const bias = b + (k * n + 15) / 8 * 8;
  for (std::size_t i = 0; i < m * k; ++i) a[i] = T(static_cast<float>(i * 37 % 17) / 8 - 1);
  for (std::size_t i = 0; i < k * n; ++i) b[i] = T(static_cast<float>(i * 13 % 19) / 16 - 0.5f);
  for (std::size_t j = 0; j < n; ++j) bias[j] = T(static_cast<float>(j % 5) - 2);
  const device_array<C> c(m * n);
  std::fill(c.data(), c.data() + m * n, C(0.5f));
  gemm_arguments<T, C> g;
  g.m = m, g.n = n, g.k = k;
  g.a = a, g.lda = k, g.b = b, g.ldb = n, g.c = c.data(), g.ldc = n;
  g.alpha = 0.75f, g.beta = 2;
  g.bias = with_bias ? bias : nullptr;
  g.epilogue = epilogue;
  dp::detail::multiply(0, g, recorded{names});
  double largest = 0;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p)
        sum += static_cast<double>(static_cast<float>(a[i * k + p])) * static_cast<float>(b[p * n + j]);
      double x = 0.75 * sum + 1 + (with_bias ? static_cast<double>(static_cast<float>(bias[j])) : 0);
      if (epilogue == dp::detail::epilogue::relu && x < 0) x = 0;
      const auto rounded = static_cast<double>(static_cast<float>(C(static_cast<float>(x))));
      largest = std::max(largest, std::abs(static_cast<double>(static_cast<float>(c.data()[i * n + j])) - rounded));
    }
  CHECK(lt::violations().empty());
  return largest;
}

}  // namespace

TEST_CASE("products of bf16 and half are summed in float and rounded once, by the library and by kernels", "[cuda]") {
  using dp::detail::epilogue;
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{8, 16, 24}, {5, 7, 3}, {1, 9, 33}, {9, 1, 33}, {4, 6, 1}, {3, 8, 0}})
    for (const bool with_bias : {false, true})
      for (const epilogue epilogue : {epilogue::none, epilogue::relu}) {
        INFO(m << "x" << n << "x" << k << (with_bias ? " with bias" : ""));
        CHECK(error_of_short_product<dp::bf16, dp::bf16>(m, n, k, with_bias, epilogue) == 0);
        CHECK(error_of_short_product<dp::half, dp::half>(m, n, k, with_bias, epilogue) == 0);
        CHECK(error_of_short_product<dp::bf16, float>(m, n, k, with_bias, epilogue) < 1e-5);
      }
  REQUIRE_FALSE(lt::products().empty());
  for (const auto& product : lt::products()) {
    CHECK(product.compute == CUBLAS_COMPUTE_32F);
    CHECK((product.operand_type == CUDA_R_16BF || product.operand_type == CUDA_R_16F));
  }
  std::vector<std::string> names;
  CHECK(error_of_short_product<dp::bf16, dp::bf16>(8, 16, 24, true, epilogue::relu, &names) == 0);
  REQUIRE(names.size() == 1);  // the library adds the bias, and a kernel with 16-byte accesses applies the relu
  CHECK(names[0].find("finish_kernel<devplace::bf16, 8") != std::string::npos);
}

TEST_CASE("gradients of a linear layer in bf16 are float", "[cuda]") {
  constexpr std::size_t samples = 70, out = 16, in = 8;
  const device_array<dp::bf16> memory(samples * (2 * out + in) + 64);
  dp::bf16* const dy = memory.data();
  dp::bf16 *const y = dy + samples * out, *const x = y + samples * out;
  for (std::size_t i = 0; i < samples * out; ++i)
    dy[i] = dp::bf16(static_cast<float>(i % 7) - 3), y[i] = dp::bf16(static_cast<float>(i % 3) - 1);
  for (std::size_t i = 0; i < samples * in; ++i) x[i] = dp::bf16(static_cast<float>(i % 5) - 2);
  const device_array<float> weight(out * in), sums(out);
  for (const bool refused : {false, true}) {
    if (refused) lt::refuse(CUBLASLT_EPILOGUE_BGRADB);
    gemm_arguments<dp::bf16, float> g;
    g.m = out, g.n = in, g.k = samples;
    g.transpose_a = true;
    g.a = dy, g.lda = out, g.b = x, g.ldb = in, g.c = weight.data(), g.ldc = in;
    dp::detail::multiply_with_sums(0, g, sums.data(), recorded{});
    for (std::size_t o = 0; o < out; ++o) {
      float sum = 0, product = 0;
      for (std::size_t s = 0; s < samples; ++s) sum += dy[s * out + o], product += dy[s * out + o] * x[s * in + 3];
      CHECK(sums.data()[o] == sum);
      CHECK(weight.data()[o * in + 3] == product);
    }
  }
  dp::detail::relu_gradient(
      0, dp::detail::relu_gradient_arguments<dp::bf16, float>{samples, out, dy, dy, y, sums.data(), 0}, recorded{});
  for (std::size_t o = 0; o < out; ++o) {
    float sum = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      if (y[s * out + o] <= 0) CHECK(dy[s * out + o] == 0);
      sum += dy[s * out + o];
    }
    CHECK(sums.data()[o] == sum);
  }
}
