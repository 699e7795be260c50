// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/matrix_engine.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/place/place.hpp>

#include "support/catch.hpp"
#include "support/product_element.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using dp::detail::cpu_isa;
using dp::detail::epilogue;
using dp::detail::gemm_arguments;

namespace {

/// The built-in engine, restricted to one instruction set.
template <cpu_isa Isa> struct builtin_of {
  template <class T> static void run(const gemm_arguments<T>& g) { dp::detail::gemm_builtin::run(g, Isa); }
  template <class T> static dp::detail::gemm_kernels<T> kernels() { return dp::detail::gemm_kernels_of<T>(Isa); }
  static bool available() { return Isa <= dp::detail::supported_isa(); }
};

#if defined(DEVPLACE_WITH_CBLAS)
struct cblas : dp::detail::gemm_cblas {
  static bool available() { return true; }
};
#endif

/// The arguments and matrices of a product. `gap` elements between rows must not be modified.
template <class T> struct problem {
  gemm_arguments<T> g;
  std::vector<T> a, b, c, bias;

  problem(std::size_t m, std::size_t n, std::size_t k, bool transpose_a, bool transpose_b, std::size_t gap = 0)
      : bias(n) {
    g.m = m, g.n = n, g.k = k;
    g.transpose_a = transpose_a, g.transpose_b = transpose_b;
    g.lda = (transpose_a ? m : k) + gap, g.ldb = (transpose_b ? k : n) + gap, g.ldc = n + gap;
    if (g.lda == 0) g.lda = 1;
    if (g.ldb == 0) g.ldb = 1;
    if (g.ldc == 0) g.ldc = 1;
    a.resize((transpose_a ? k : m) * g.lda + 1);
    b.resize((transpose_b ? n : k) * g.ldb + 1);
    c.resize(m * g.ldc + 1);
    // Small integers: every sum is exact in float, so engines must agree bitwise.
    fill(a, 1);
    fill(b, 2);
    fill(c, 3);
    fill(bias, 4);
    attach();
  }
  problem(const problem& other) : g(other.g), a(other.a), b(other.b), c(other.c), bias(other.bias) { attach(); }
  problem& operator=(const problem&) = delete;

  /// Sets pointers one element past an aligned address, because engines must not assume alignment.
  void attach() {
    const bool with_bias = g.bias != nullptr;
    g.a = a.data() + 1, g.b = b.data() + 1, g.c = c.data() + 1;
    g.bias = with_bias ? bias.data() : nullptr;
  }

  static void fill(std::vector<T>& values, std::uint32_t seed) {
    for (T& value : values) {
      seed = seed * 1664525u + 1013904223u;
      value = static_cast<T>(static_cast<int>(seed >> 24) % 9 - 4);
    }
  }

  void make_fractional() {
    for (std::vector<T>* values : {&a, &b, &c, &bias})
      for (std::size_t i = 0; i < values->size(); ++i) {
        (*values)[i] = static_cast<T>(static_cast<double>((*values)[i]) / 3 + 0.01 * static_cast<double>(i % 7));
      }
  }
};

bool same_bits(const void* a, const void* b, std::size_t bytes) { return bytes == 0 || std::memcmp(a, b, bytes) == 0; }

/// Runs `Engine` on a copy of `given` and returns the number of wrong elements: those whose error exceeds `tolerance`
/// times the magnitude of the summands, and modified elements between the rows.
template <class Engine, class T> std::size_t wrong_elements(const problem<T>& given, double tolerance) {
  problem<T> p = given;
  Engine::run(p.g);
  const std::size_t stride = p.g.ldc;
  std::size_t wrong = p.c[0] != given.c[0];
  for (std::size_t at = 1; at < p.c.size(); ++at) {
    const std::size_t i = (at - 1) / stride, j = (at - 1) % stride;
    if (i >= p.g.m || j >= p.g.n) {
      wrong += !same_bits(&p.c[at], &given.c[at], sizeof(T));
      continue;
    }
    const auto [expected, magnitude] = dp::test::product_element(p.g, given.c.data() + 1, i, j);
    const double error = std::abs(static_cast<double>(p.c[at]) - expected);
    wrong += !(error <= tolerance * magnitude);
  }
  return wrong;
}

}  // namespace

namespace {

template <class Engine, class T> struct engine_of {
  using engine = Engine;
  using element = T;
};

using generic_float = engine_of<builtin_of<cpu_isa::generic>, float>;
using generic_double = engine_of<builtin_of<cpu_isa::generic>, double>;
using avx2_float = engine_of<builtin_of<cpu_isa::avx2>, float>;
using avx2_double = engine_of<builtin_of<cpu_isa::avx2>, double>;
using avx512_float = engine_of<builtin_of<cpu_isa::avx512>, float>;
using avx512_double = engine_of<builtin_of<cpu_isa::avx512>, double>;
#if defined(DEVPLACE_WITH_CBLAS)
using cblas_float = engine_of<cblas, float>;
using cblas_double = engine_of<cblas, double>;
#endif

}  // namespace

// Sanitizers get one element type, like FLOATING_TYPES in support/element_types.hpp; of CBLAS, which is not
// instrumented, they check only its arguments.
#if DEVPLACE_TEST_SANITIZED
  #define BUILTIN_ENGINES generic_float, avx2_float, avx512_float
  #define CBLAS_ENGINES cblas_float
#else
  #define BUILTIN_ENGINES generic_float, generic_double, avx2_float, avx2_double, avx512_float, avx512_double
  #define CBLAS_ENGINES cblas_float, cblas_double
#endif
#if defined(DEVPLACE_WITH_CBLAS)
  #define ENGINES BUILTIN_ENGINES, CBLAS_ENGINES
#else
  #define ENGINES BUILTIN_ENGINES
#endif
#define ENGINE_TEST(name) TEMPLATE_TEST_CASE(name, "[ops][matrix_engine]", ENGINES)
// Skips an instruction set that this processor lacks.
#define ENGINE_OR_RETURN                    \
  using engine = typename TestType::engine; \
  using T = typename TestType::element;     \
  if (!engine::available()) return

ENGINE_TEST("products of small integers are exact for all shapes, transposes and strides") {
  ENGINE_OR_RETURN;
  const std::size_t sizes[] = {0, 1, 3, 7, 10, 17, 64, 65, 100};
  std::size_t checked = 0;
  for (const std::size_t m : sizes)
    for (const std::size_t n : sizes)
      for (const std::size_t k : sizes)
        for (int variant = 0; variant < 4; ++variant) {
          problem<T> p(m, n, k, variant % 2 == 1, variant >= 2, (m + n + k) % 3);
          const std::size_t choice = checked++;
          p.g.alpha = choice % 5 == 0 ? T{2} : T{1};
          p.g.beta = choice % 3 == 0 ? T{0} : choice % 3 == 1 ? T{1} : T{-2};
          p.g.bias = choice % 2 == 0 ? p.bias.data() : nullptr;
          p.g.epilogue = choice % 7 < 3 ? epilogue::relu : epilogue::none;
          const std::size_t wrong = wrong_elements<engine>(p, 0);
          if (wrong != 0) {
            CAPTURE(m, n, k, p.g.transpose_a, p.g.transpose_b, p.g.alpha, p.g.beta, choice);
            CHECK(wrong == 0);
          }
        }
  CHECK(checked == 9 * 9 * 9 * 4);
}

ENGINE_TEST("every remainder of a tile's rows and columns") {
  ENGINE_OR_RETURN;
  for (std::size_t m = 1; m <= 12; ++m)
    for (std::size_t n = 1; n <= 33; ++n)
      for (int variant = 0; variant < 4; ++variant) {
        problem<T> p(m, n, 6, variant % 2 == 1, variant >= 2, m % 3);
        p.g.beta = n % 2 == 0 ? T{0} : T{2};
        p.g.bias = m % 2 == 0 ? p.bias.data() : nullptr;
        const std::size_t wrong = wrong_elements<engine>(p, 0);
        if (wrong != 0) {
          CAPTURE(m, n, variant);
          CHECK(wrong == 0);
        }
      }
}

ENGINE_TEST("every combination of beta, bias and epilogue") {
  ENGINE_OR_RETURN;
  for (const std::size_t n : {10u, 33u, 64u})
    for (int variant = 0; variant < 4; ++variant)
      for (const T alpha : {T{0}, T{1}, T{-3}})
        for (const T beta : {T{0}, T{1}, T{2}})
          for (const bool bias : {false, true})
            for (const epilogue epilogue : {epilogue::none, epilogue::relu}) {
              problem<T> p(13, n, 70, variant % 2 == 1, variant >= 2, 3);
              p.g.alpha = alpha;
              p.g.beta = beta;
              p.g.bias = bias ? p.bias.data() : nullptr;
              p.g.epilogue = epilogue;
              const std::size_t wrong = wrong_elements<engine>(p, 0);
              CAPTURE(n, variant, alpha, beta, bias, epilogue == epilogue::relu);
              CHECK(wrong == 0);
            }
}

ENGINE_TEST("blocks in all three directions") {
  ENGINE_OR_RETURN;
  struct shape {
    std::size_t m, n, k;
  };
  for (const auto [m, n, k] : {shape{130, 530, 60}, shape{64, 64, 784}, shape{257, 65, 513}, shape{3, 600, 520},
                               shape{300, 10, 600}, shape{9, 1100, 20}, shape{33, 300, 150}, shape{137, 70, 514}}) {
    for (int variant = 0; variant < 4; ++variant) {
      problem<T> p(m, n, k, variant % 2 == 1, variant >= 2, 5);
      p.make_fractional();
      p.g.alpha = static_cast<T>(0.7);
      p.g.beta = static_cast<T>(-0.3);
      p.g.bias = p.bias.data();
      p.g.epilogue = variant % 2 == 0 ? epilogue::relu : epilogue::none;
      CAPTURE(m, n, k, variant);
      // The error of a sum of k terms is at most k roundings of the summands' magnitude; in practice a few.
      CHECK(wrong_elements<engine>(p, 32 * static_cast<double>(std::numeric_limits<T>::epsilon())) == 0);
    }
  }
}

ENGINE_TEST("with beta zero C is not read; NaN and infinity go through") {
  ENGINE_OR_RETURN;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t n : {1u, 10u, 40u})
    for (const std::size_t m : {1u, 6u, 20u})
      for (int variant = 0; variant < 4; ++variant) {
        CAPTURE(m, n, variant);
        problem<T> p(m, n, 37, variant % 2 == 1, variant >= 2, 1);
        p.g.epilogue = epilogue::relu;
        for (T& value : p.c) value = nan;
        problem<T> clean = p;
        engine::run(clean.g);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) CHECK(!std::isnan(clean.g.c[i * clean.g.ldc + j]));

        // A NaN in A's last row and an infinity in B's first column must affect only that row and that column.
        problem<T> dirty = p;
        const std::size_t row = m - 1, depth = 36;
        dirty.a[1 + (p.g.transpose_a ? depth * p.g.lda + row : row * p.g.lda + depth)] = nan;
        engine::run(dirty.g);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) CHECK(std::isnan(dirty.g.c[i * p.g.ldc + j]) == (i == row));

        problem<T> unbounded = p;
        for (T& value : unbounded.a) value = T{1};
        unbounded.b[1 + (p.g.transpose_b ? 5u : 5u * p.g.ldb)] = infinity;
        engine::run(unbounded.g);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) CHECK(std::isinf(unbounded.g.c[i * p.g.ldc + j]) == (j == 0));
      }
}

TEMPLATE_TEST_CASE("the number of threads does not change a bit", "[ops][matrix_engine]", BUILTIN_ENGINES) {
  ENGINE_OR_RETURN;
  struct shape {
    std::size_t m, n, k;
  };
  for (const auto [m, n, k] : {shape{64, 256, 784}, shape{64, 10, 256}, shape{10, 256, 64}, shape{1, 256, 784},
                               shape{65, 100, 300}, shape{131, 70, 517}, shape{3, 1000, 100}, shape{66, 150, 520}}) {
    for (int variant = 0; variant < 8; ++variant) {
      problem<T> p(m, n, k, variant % 2 == 1, variant % 4 >= 2, 1);
      p.make_fractional();
      p.g.beta = variant < 4 ? static_cast<T>(0.5) : T{0};
      p.g.bias = p.bias.data();
      std::vector<T> first;
      for (const int size : {1, 2, 3, 5}) {
        dp::builtin_thread_team team(size);
        const dp::thread_team_scope scope(team);
        problem<T> mine = p;
        engine::run(mine.g);
        if (size == 1) first = mine.c;
        CAPTURE(m, n, k, variant, size);
        CHECK(same_bits(first.data(), mine.c.data(), first.size() * sizeof(T)));
      }
    }
  }
}

TEMPLATE_TEST_CASE("a product computed as its transpose has the bits of the product", "[ops][matrix_engine]",
                   builtin_of<cpu_isa::generic>, builtin_of<cpu_isa::avx2>, builtin_of<cpu_isa::avx512>) {
  if (!TestType::available()) return;
  const dp::detail::gemm_kernels<float> kernels = TestType::template kernels<float>();
  void* const buffer = dp::detail::gemm_buffer::of_this_thread();
  std::size_t transposed = 0;
  for (std::size_t m = 1; m <= 130; m += m < 20 ? 1 : 11)
    for (const std::size_t n : {150u, 301u})
      for (const std::size_t k : {160u, 517u, 1024u}) {
        problem<float> p(m, n, k, false, true, m % 3);
        p.make_fractional();
        p.g.alpha = m % 2 == 0 ? 1.0F : 0.7F;
        p.g.bias = m % 5 == 0 ? nullptr : p.bias.data();
        p.g.epilogue = m % 3 == 0 ? epilogue::relu : epilogue::none;
        transposed += kernels.prefers_transposed(p.g);
        problem<float> direct = p, other = p;
        kernels.multiply_range(direct.g, {0, m, 0, n}, buffer);
        // Threads compute parts: the first has few rows.
        const std::size_t row = m / 5, column = n / 3;
        kernels.multiply_transposed(other.g, {0, row, 0, n}, buffer);
        kernels.multiply_transposed(other.g, {row, m, 0, column}, buffer);
        kernels.multiply_transposed(other.g, {row, m, column, n}, buffer);
        CAPTURE(m, n, k);
        CHECK(same_bits(direct.c.data(), other.c.data(), direct.c.size() * sizeof(float)));
      }
  CHECK(transposed > 0);
}

TEST_CASE("DEVPLACE_CPU_ISA lowers the instruction set and nothing else", "[ops][matrix_engine]") {
  using dp::detail::choose_isa;
  CHECK(choose_isa(nullptr, cpu_isa::avx512) == cpu_isa::avx512);
  CHECK(choose_isa("", cpu_isa::avx2) == cpu_isa::avx2);
  CHECK(choose_isa("generic", cpu_isa::avx512) == cpu_isa::generic);
  CHECK(choose_isa("avx2", cpu_isa::avx512) == cpu_isa::avx2);
  CHECK(choose_isa("avx512", cpu_isa::avx512) == cpu_isa::avx512);
  CHECK(choose_isa("avx512", cpu_isa::amx) == cpu_isa::avx512);
  CHECK(choose_isa("avx512_bf16", cpu_isa::amx) == cpu_isa::avx512_bf16);
  CHECK(choose_isa("amx", cpu_isa::amx) == cpu_isa::amx);
  CHECK_THROWS_WITH(choose_isa("amx", cpu_isa::avx512_bf16),
                    Catch::Matchers::ContainsSubstring("supports avx512_bf16 at most"));
  CHECK_THROWS_WITH(choose_isa("avx512", cpu_isa::avx2), Catch::Matchers::ContainsSubstring("supports avx2 at most"));
  for (const char* text : {"AVX2", "sse", "avx512 ", "avx"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(choose_isa(text, cpu_isa::avx512),
                      Catch::Matchers::ContainsSubstring("generic, avx2, avx512, avx512_bf16 or amx"));
  }
}

TEST_CASE("the engine describes itself", "[ops][matrix_engine]") {
  const std::string name(dp::matrix_engine().name);
#if defined(DEVPLACE_WITH_CBLAS)
  CHECK_THAT(name, Catch::Matchers::StartsWith("cblas"));
#else
  CHECK(name == std::string("built-in ") + dp::detail::name_of(dp::detail::mixed_product_isa()));
#endif
  CHECK(std::string(dp::detail::gemm_builtin::name()).rfind("built-in ", 0) == 0);
  CHECK(dp::detail::current_isa() == std::min(dp::detail::mixed_product_isa(), cpu_isa::avx512));
}

TEST_CASE("after preparation the built-in engine allocates nothing", "[ops][matrix_engine]") {
  dp::builtin_thread_team team(3);
  const dp::thread_team_scope scope(team);
  dp::detail::gemm_prepare<dp::detail::gemm_builtin>();
  const auto before = dp::memory_statistics<dp::cpu>();
  CHECK(before.allocated >= 3 * dp::detail::gemm_buffer_bytes);
  problem<float> p(100, 200, 300, false, true);
  for (int repetition = 0; repetition < 3; ++repetition) dp::detail::gemm<dp::detail::gemm_builtin>(p.g);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before.allocations);
}

TEST_CASE("a product inside a parallel operation runs on the member's thread", "[ops][matrix_engine]") {
  dp::builtin_thread_team team(3);
  const dp::thread_team_scope scope(team);
  std::vector<problem<double>> problems(3, problem<double>(40, 50, 60, false, false));
  dp::detail::parallel_members(3, [&](int member) { dp::detail::gemm(problems[static_cast<std::size_t>(member)].g); });
  problem<double> alone(40, 50, 60, false, false);
  dp::detail::gemm(alone.g);
  for (const problem<double>& p : problems) CHECK(p.c == alone.c);
}
