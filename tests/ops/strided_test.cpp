// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/strided_case.hpp"
#include "support/sanitizers.hpp"

#include <cstddef>
#include <cstdint>

namespace {
using host = devplace::on<devplace::cpu>;
}  // namespace

TEST_CASE("elementwise operations take strided views", "[ops][strided]") {
  strided_case::check_elementwise<host>();
  strided_case::check_details<host>();
}

TEST_CASE("strided views may overlap in an assignment", "[ops][strided]") { strided_case::check_overlap<host>(); }

TEST_CASE("copies take strided views", "[ops][strided]") { strided_case::check_copies<host, host>(); }

TEST_CASE("reductions along any axes take strided views", "[ops][strided]") { strided_case::check_reductions<host>(); }

TEST_CASE("softmax takes strided views", "[ops][strided]") { strided_case::check_softmax<host>(); }

TEST_CASE("products of arrays of matrices take strided views", "[ops][strided]") {
  strided_case::check_products<host, float>();
  if constexpr (!support::sanitized) strided_case::check_products<host, double>();
  strided_case::check_leading_axes<host>();
}

TEMPLATE_TEST_CASE("copies of views with exchanged axes are right for every number of rows and columns",
                   "[ops][strided]", std::uint8_t, std::int32_t, double) {
  namespace dp = devplace;
  using numbers = dp::tensor<TestType, dp::dextents<3>, host>;
  for (const dp::dextents<3> of :
       {dp::dextents<3>{2, 75, 130}, dp::dextents<3>{3, 7, 64}, dp::dextents<3>{1, 300, 200}}) {
    numbers x(of);
    for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<TestType>(i * 7 % 251);
    numbers turned(dp::dextents<3>{of.extent(0), of.extent(2), of.extent(1)}), back(of);
    dp::copy(turned, dp::transposed(x));            // from a strided source
    dp::copy(dp::transposed(back.view()), turned);  // to a strided destination
    bool right = true;
    for (std::size_t i = 0; i != of.extent(0); ++i)
      for (std::size_t j = 0; j != of.extent(1); ++j)
        for (std::size_t k = 0; k != of.extent(2); ++k)
          right = right && turned(i, k, j) == x(i, j, k) && back(i, j, k) == x(i, j, k);
    CHECK(right);
  }
}
