// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/your_memory.md about Eigen.
#include <devplace/core.hpp>

#include <Eigen/Dense>

#include <array>
#include <cstddef>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// The elements of a matrix or block of Eigen, in either order.
template <class Matrix> auto view_of(Matrix& m) {
  return dp::wrap(m.data(), dp::dextents<2>(m.rows(), m.cols()), std::array{m.rowStride(), m.colStride()});
}

}  // namespace

TEST_CASE("docs: matrices of Eigen", "[docs]") {
  Eigen::MatrixXd a = Eigen::MatrixXd::Ones(4, 5);
  auto all = view_of(a);
  auto corner = a.block(1, 2, 3, 3);
  auto some = view_of(corner);
  all = all * 2.0;
  some = some + 1.0;

  dp::tensor<double, dp::extents<3, 4>, dp::cpu> x{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<rows> map(x.data(), 3, 4);
  auto part = x.slice(dp::axis<1>{}, 1, 3);
  Eigen::Map<rows, 0, Eigen::OuterStride<>> columns(part.data(), 3, 2, Eigen::OuterStride<>(part.stride(0)));
  map.row(0) *= 10;

  for (Eigen::Index i = 0; i != 4; ++i)
    for (Eigen::Index j = 0; j != 5; ++j) CHECK(a(i, j) == (i >= 1 && j >= 2 ? 3 : 2));
  CHECK((x(0, 3) == 40 && x(1, 3) == 8 && &columns(2, 1) == &x(2, 2)));
}
