// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/column_sums.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

/// Small integers, whose sums are exact in any order; each row begins where an access of 16 bytes may.
struct matrix {
  std::size_t rows, columns, ld;
  std::vector<float> storage;

  matrix(std::size_t m, std::size_t n)
      : rows(m), columns(n), ld((n + 3) / 4 * 4), storage(rows * ld + 4, std::numeric_limits<float>::quiet_NaN()) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        data()[i * ld + j] = at(i, j);
  }
  static float at(std::size_t i, std::size_t j) { return static_cast<float>((i * 7919 + j * 31) % 23) - 11; }
  float* data() {
    const auto misaligned = reinterpret_cast<std::uintptr_t>(storage.data()) % 16 / sizeof(float);
    return storage.data() + (4 - misaligned) % 4;
  }
};

/// How many kernels there were.
struct emulated {
  unsigned* kernels;
  unsigned most_blocks;

  template <class Kernel>
  void operator()(std::size_t blocks, const Kernel& kernel) const {
    ++*kernels;
    simt::launch(std::min(static_cast<unsigned>(blocks), most_blocks), kernel, 7);
  }
};

}  // namespace

TEST_CASE("column sums are those of a loop, in one kernel or two, for any number of blocks", "[cuda]") {
  for (const auto& [m, n] : {std::array<std::size_t, 2>{0, 5},
                             {1, 1},
                             {3, 4},
                             {7, 130},
                             {64, 10},
                             {65, 8},
                             {200, 132},
                             {333, 3},
                             {1000, 12}}) {
    INFO(m << " x " << n);
    matrix x(m, n);
    std::vector<float> expected(n, 3.0F);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i)
        expected[j] += 2 * matrix::at(i, j);
    }
    std::vector<float> workspace(16 * n);
    for (const unsigned most_blocks : {1u, 3u, 100u}) {
      unsigned kernels = 0;
      std::vector<float> sums(n, 1.0F);
      const dp::detail::sum_result<float> result{sums.data(), 1, 2, 3};
      dp::detail::launch_column_sums(dp::detail::matrix_source<float, 1>{x.data(), x.ld}, m, n, result,
                                     workspace.data(), workspace.size() * sizeof(float),
                                     emulated{&kernels, most_blocks});
      CHECK(sums == expected);
      CHECK(kernels == (m > 64 ? 2 : 1));
    }
    if (n % 4 != 0) continue;
    unsigned kernels = 0;
    std::vector<float> sums(n, 1.0F);
    const dp::detail::sum_result<float> result{sums.data(), 1, 2, 3};
    dp::detail::launch_column_sums(dp::detail::matrix_source<float, 4>{x.data(), x.ld}, m, n, result, workspace.data(),
                                   workspace.size() * sizeof(float), emulated{&kernels, 5});
    CHECK(sums == expected);
  }
}

TEST_CASE("strips of column sums fit into the workspace", "[cuda]") {
  matrix x(500, 6);
  std::vector<float> expected(6, 0.0F);
  for (std::size_t j = 0; j < 6; ++j)
    for (std::size_t i = 0; i < 500; ++i)
      expected[j] += matrix::at(i, j);
  for (const std::size_t strips : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    unsigned kernels = 0;
    std::vector<float> workspace(strips * 6);
    std::vector<float> sums(6, std::numeric_limits<float>::quiet_NaN());  // beta 0 does not read it
    dp::detail::launch_column_sums(dp::detail::matrix_source<float, 1>{x.data(), x.ld}, 500, 6,
                                   dp::detail::sum_result<float>{sums.data()}, workspace.data(),
                                   workspace.size() * sizeof(float), emulated{&kernels, 100});
    CHECK(sums == expected);
    CHECK(kernels == (strips < 2 ? 1 : 2));
  }
}

TEST_CASE("rows are weighted before they are summed, and the result is finished", "[cuda]") {
  matrix x(70, 5);
  std::vector<float> weights(140), sums(10, 1.0F), workspace(1000);
  const std::vector<float> bias{1, -2000, 3, 4, 5};
  std::vector<float> expected(10, 1.0F);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t j = 0; j < 5; ++j) {
    float sum = 0;
    for (std::size_t i = 0; i < 70; ++i)
      sum += weights[2 * i] * matrix::at(i, j);
    const float before = 3 * sum + 2 + bias[j];
    expected[2 * j] = before < 0 ? 0 : before;
  }
  unsigned kernels = 0;
  dp::detail::launch_column_sums(
      dp::detail::weighted_rows_source<float, 1>{x.data(), x.ld, weights.data(), 2}, 70, 5,
      dp::detail::sum_result<float>{sums.data(), 2, 3, 2, bias.data(), 1, dp::detail::epilogue::relu}, workspace.data(),
      workspace.size() * sizeof(float), emulated{&kernels, 100});
  CHECK(sums == expected);
}
