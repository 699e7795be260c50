// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/your_memory.md that needs no other library.
#include <devplace/core.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::axis;

namespace {

struct cell {
  double density, energy, velocity[3];
};

/// A subroutine's arguments: the arrays u(n, m) and v(n, m), and their sizes.
extern "C" void relax(double* u, const double* v, const int* n, const int* m) {
  const auto rows = static_cast<std::size_t>(*n), columns = static_cast<std::size_t>(*m);
  auto to = dp::wrap(u, dp::extents{rows, columns}, {1, rows});         // to(i, j) is u(i + 1, j + 1)
  auto from = dp::transposed(dp::wrap(v, dp::extents{columns, rows}));  // from(i, j) is v(i + 1, j + 1)
  to = 0.5 * (to + from);
}

}  // namespace

TEST_CASE("docs: memory of vectors", "[docs]") {
  std::vector<double> cells(6 * 10);
  auto field = dp::wrap(cells, dp::extents<6, 10>{});                 // a view; nothing is copied
  auto inside = field.slice(axis<0>{}, 1, 5).slice(axis<1>{}, 1, 9);  // all but the border
  inside = inside + 1.0;                                              // changes `cells`
  auto on_gpu = dp::to<dp::cuda<0>>(inside);                          // copies
  CHECK((cells[11] == 1 && cells[10] == 0 && field(4, 8) == 1));
  CHECK(dp::item(dp::sum(on_gpu)) == 32);
}

TEST_CASE("docs: memory at pointers", "[docs]") {
  const std::size_t rows = 4, columns = 5, padded = 8;
  std::vector<double> memory(100, 1.0);
  std::vector<cell> mesh(7);
  double* const pointer = memory.data();
  auto matrix = dp::wrap(pointer, dp::extents{rows, columns});                    // row-major
  auto padded_rows = dp::wrap(pointer, dp::extents{rows, columns}, {padded, 1});  // a leading dimension
  auto column_major = dp::wrap(pointer, dp::extents{rows, columns}, {1, rows});
  auto backwards = dp::wrap(pointer + 4, dp::extents<5>{}, std::array{-1});  // element 4 first
  constexpr std::size_t stride = sizeof(cell) / sizeof(double);
  auto energy = dp::wrap(&mesh[0].energy, dp::extents{mesh.size()}, {stride});  // a member of each structure
  for (std::size_t k = 0; k != memory.size(); ++k) memory[k] = static_cast<double>(k);
  energy = energy + 2.0;
  CHECK((matrix(2, 3) == 13 && padded_rows(2, 3) == 19 && column_major(2, 3) == 14 && backwards(1) == 3));
  CHECK((mesh[6].energy == 2.0 && mesh[6].velocity[2] == 0.0));
}

TEST_CASE("docs: arrays of Fortran", "[docs]") {
  const int n = 3, m = 4;
  std::vector<double> u(12), v(12);
  for (std::size_t k = 0; k != 12; ++k) u[k] = static_cast<double>(k), v[k] = static_cast<double>(10 * k);
  relax(u.data(), v.data(), &n, &m);
  for (std::size_t k = 0; k != 12; ++k) CHECK(u[k] == 5.5 * static_cast<double>(k));
}
