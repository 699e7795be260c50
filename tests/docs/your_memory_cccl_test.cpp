// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of docs/your_memory.md about mdspan.
#include <devplace/core.hpp>

#include <cuda/std/mdspan>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("docs: mdspans", "[docs]") {
  namespace md = cuda::std;
  std::vector<float> memory(6 * 10, 1.0F);
  const md::mdspan<float, md::dextents<int, 2>, md::layout_left> m(memory.data(), 10, 6);
  auto field = dp::wrap(m);  // field(i, j) is m(i, j)
  field = field * 2.0F;

  dp::tensor<float, dp::extents<4, 6>, dp::cpu> x{dp::extents<4, 6>{}};
  using matrix = md::mdspan<float, md::dextents<int, 2>>;
  using any_matrix = md::mdspan<const float, md::dextents<int, 2>, md::layout_stride>;
  matrix all = dp::as_mdspan<matrix>(x);
  any_matrix part = dp::as_mdspan<any_matrix>(x.slice(dp::axis<1>{}, 0, 6, 2));
  all(3, 4) = 5;

  for (const float element : memory) CHECK(element == 2);
  CHECK((x(3, 4) == 5 && part(3, 2) == 5 && &part(1, 1) == &x(1, 2)));
}
