// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/your_memory.md about Kokkos.
#include <devplace/core.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

/// The elements of a matrix of Kokkos in host memory, of any layout.
template <class View> auto view_of(const View& v) {
  return dp::wrap(v.data(), dp::dextents<2>(v.extent(0), v.extent(1)), std::array{v.stride(0), v.stride(1)});
}

}  // namespace

TEST_CASE("docs: views of Kokkos", "[docs]") {
  Kokkos::initialize();
  {
    Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> u("u", 4, 5);
    auto field = view_of(u);
    auto inside = view_of(Kokkos::subview(u, std::pair{1, 3}, Kokkos::ALL));
    field = 1.0;
    inside = inside + 2.0;

    dp::tensor<double, dp::extents<3, 4>, dp::cpu> x{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> rows(x.data(), 3, 4);  // unmanaged
    rows(1, 2) = 70;

    for (std::size_t i = 0; i != 4; ++i)
      for (std::size_t j = 0; j != 5; ++j) CHECK(u(i, j) == (i == 1 || i == 2 ? 3 : 1));
    CHECK((x(1, 2) == 70 && &rows(2, 3) == &x(2, 3)));
  }
  Kokkos::finalize();
}
