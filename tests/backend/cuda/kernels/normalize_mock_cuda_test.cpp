// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/normalize.cuh>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

using values = mock::device_vector<float>;

/// Compares results, which scale with the inverse deviation: large where a row has few elements.
void check_near(const values& found, const values& expected, double epsilon = 1e-4) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(epsilon).margin(2e-5));
}

/// Checks that the kernels agree with the loops over rows, for rows of any length.
template <bool Centred> void compare() {
  for (const std::size_t n : mock::row_lengths) {
    const std::size_t rows = n > 1024 ? 2 : 9;
    INFO(n << " features");
    const values x = mock::logits(rows * n, 1), dy = mock::logits(rows * n, 2), weight = mock::logits(n, 3),
                 bias = mock::logits(n, 4);
    const float* const shift = Centred ? bias.data() : nullptr;
    const auto forward = [&](values& y) {
      return dp::detail::normalize_row<float, Centred>{y.data(), x.data(), weight.data(), shift, n, 0.5};
    };
    values found(x.size()), expected(x.size());
    mock::run_rows(rows, n, forward(found));
    for (std::size_t row = 0; row < rows; ++row) forward(expected)(row);
    check_near(found, expected);
    const auto backward = [&](values& dx, values& terms) {
      return dp::detail::normalize_backward_row<float, Centred>{
          dx.data(), terms.data(), x.data(), dy.data(), weight.data(), n, 0.5};
    };
    values terms(x.size()), expected_terms(x.size());
    mock::run_rows(rows, n, backward(found, terms));
    for (std::size_t row = 0; row < rows; ++row) backward(expected, expected_terms)(row);
    check_near(found, expected);
    check_near(terms, expected_terms);
  }
}

/// Layer normalization and its gradient for rows of bf16, `offset` elements after addresses aligned for wide accesses.
struct short_rows {
  static constexpr std::size_t rows = 3;
  std::vector<mock::device_vector<dp::bf16>> rooms;
  dp::bf16 *x, *dy, *y, *dx;
  values terms;

  short_rows(std::size_t n, std::size_t offset, bool by_kernel)
      : rooms(4, mock::device_vector<dp::bf16>(offset + rows * n)),
        x(rooms[0].data() + offset),
        dy(rooms[1].data() + offset),
        y(rooms[2].data() + offset),
        dx(rooms[3].data() + offset),
        terms(rows * n) {
    const values numbers = mock::logits(2 * rows * n + 2 * n);
    for (std::size_t i = 0; i < rows * n; ++i) {
      x[i] = dp::bf16(numbers[i]);
      dy[i] = dp::bf16(numbers[rows * n + i]);
    }
    const float* const weight = numbers.data() + 2 * rows * n;
    run(by_kernel, n, dp::detail::normalize_row<float, true, dp::bf16>{y, x, weight, weight + n, n, 0.5});
    run(by_kernel, n,
        dp::detail::normalize_backward_row<float, true, dp::bf16>{dx, terms.data(), x, dy, weight, n, 0.5});
  }
  short_rows(const short_rows&) = delete;
  short_rows& operator=(const short_rows&) = delete;

 private:
  template <class Row> static void run(bool by_kernel, std::size_t n, const Row& row) {
    if (by_kernel) mock::run_rows(rows, n, row);
    for (std::size_t i = 0; !by_kernel && i < rows; ++i) row(i);
  }
};

}  // namespace

TEST_CASE("layer_norm's kernels agree with the CPU's loops, for any number of features", "[cuda]") { compare<true>(); }

TEST_CASE("rms_norm's kernels agree with the CPU's loops, for any number of features", "[cuda]") { compare<false>(); }

TEST_CASE("rows of bf16 are normalized as on the CPU, with the same bits wherever they begin", "[cuda]") {
  mock::device_vector<std::size_t> lengths{136, 1032};
  for (std::size_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const std::size_t n : lengths) {
    INFO(n << " features");
    const short_rows aligned(n, 0, true), expected(n, 0, false);
    for (const std::size_t offset : {0u, 1u, 8u}) {
      const short_rows found(n, offset, true);
      for (std::size_t i = 0; i < found.rows * n; ++i) {
        REQUIRE(found.y[i].bits() == aligned.y[i].bits());
        REQUIRE(found.dx[i].bits() == aligned.dx[i].bits());
      }
      check_near(found.terms, expected.terms);
      check_near({found.y, found.y + found.rows * n}, {expected.y, expected.y + found.rows * n}, 0x1p-7);
      check_near({found.dx, found.dx + found.rows * n}, {expected.dx, expected.dx + found.rows * n}, 0x1p-7);
    }
  }
}
