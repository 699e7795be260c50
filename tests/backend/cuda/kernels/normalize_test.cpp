// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/normalize.hpp>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

using values = std::vector<float>;

/// Results are of the size of the inverse deviation, which is large where a row has few elements.
void check_near(const values& found, const values& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(found[i] == Catch::Approx(expected[i]).epsilon(1e-4).margin(2e-5));
}

/// The kernels for rows of any length give what the loops over rows give.
template <bool Centred>
void compare() {
  for (const std::size_t n : simt::row_lengths) {
    const std::size_t rows = n > 1024 ? 2 : 9;
    INFO(n << " features");
    const values x = simt::logits(rows * n, 1), dy = simt::logits(rows * n, 2), weight = simt::logits(n, 3),
                 bias = simt::logits(n, 4);
    const float* const shift = Centred ? bias.data() : nullptr;
    const auto forward = [&](values& y) {
      return dp::detail::normalize_row<float, Centred>{y.data(), x.data(), weight.data(), shift, n, 0.5};
    };
    values found(x.size()), expected(x.size());
    simt::launch_rows(rows, n, forward(found));
    for (std::size_t row = 0; row < rows; ++row)
      forward(expected)(row);
    check_near(found, expected);
    const auto backward = [&](values& dx, values& terms) {
      return dp::detail::normalize_backward_row<float, Centred>{
          dx.data(), terms.data(), x.data(), dy.data(), weight.data(), n, 0.5};
    };
    values terms(x.size()), expected_terms(x.size());
    simt::launch_rows(rows, n, backward(found, terms));
    for (std::size_t row = 0; row < rows; ++row)
      backward(expected, expected_terms)(row);
    check_near(found, expected);
    check_near(terms, expected_terms);
  }
}

}  // namespace

TEST_CASE("layer_norm's kernels agree with the CPU's loops, for any number of features", "[cuda]") {
  compare<true>();
}

TEST_CASE("rms_norm's kernels agree with the CPU's loops, for any number of features", "[cuda]") {
  compare<false>();
}
