// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <sstream>
#include <string>

#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/print.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using dp::reduction;
using support::counted;

namespace {

template <class X> std::string printed(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("a split tensor prints each place's part", "[tensor]") {
  CHECK(printed(dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(counted<float>(dp::extents<3, 2>{}))) ==
        "tensor<float, 3x2> on sharded<axis<0>, cuda:0, cuda:1>\n"
        "cuda:0 has [0:2]\n"
        "[[0. 1.]\n"
        " [2. 3.]]\n"
        "cuda:1 has [2:3]\n"
        "[[4. 5.]]");
  CHECK(printed(dp::scatter<dp::sharded<dp::axis<1>, 3, 0, 1>>(counted<std::int64_t>(dp::extents<2, 2>{}))) ==
        "tensor<int64, 2x2> on sharded<axis<1>, cuda:3, cuda:0, cuda:1>\n"
        "cuda:3 has [:, 0:1]\n"
        "[[0]\n"
        " [2]]\n"
        "cuda:0 has [:, 1:2]\n"
        "[[1]\n"
        " [3]]\n"
        "cuda:1 has [:, 2:2]\n"
        "[]");
}

TEST_CASE("equal copies are printed once, different copies separately", "[tensor]") {
  auto x = dp::broadcast<dp::replicated<0, 1>>(counted<float>(dp::extents<2>{}));
  CHECK(printed(x) ==
        "tensor<float, 2> on replicated<cuda:0, cuda:1>\n"
        "the same on every place\n"
        "[0. 1.]");
  // -0 equals 0 but differs in bits: the copies have diverged
  dp::copy(x.only_on(1), dp::tensor<float, dp::extents<2>, dp::on<dp::cpu>>{-0.0f, 1});
  CHECK(printed(x) ==
        "tensor<float, 2> on replicated<cuda:0, cuda:1>\n"
        "the copies differ\n"
        "cuda:0\n"
        "[0. 1.]\n"
        "cuda:1\n"
        "[-0.  1.]");
}

TEST_CASE("a partial tensor prints each summand", "[tensor]") {
  dp::tensor<double, dp::extents<2>, dp::partial<reduction::sum, 1, 0>> x(dp::extents<2>{});
  dp::copy(x.only_on(0), counted<double>(dp::extents<2>{}));
  dp::copy(x.only_on(1), dp::tensor<double, dp::extents<2>, dp::on<dp::cpu>>{5, 6});
  CHECK(printed(x) ==
        "tensor<double, 2> on partial<sum; cuda:1, cuda:0>\n"
        "summands: the value is their sum\n"
        "cuda:1\n"
        "[0. 1.]\n"
        "cuda:0\n"
        "[5. 6.]");
  dp::tensor<std::int32_t, dp::extents<>, dp::partial<reduction::max, 0>> top(dp::extents<>{});
  dp::copy(top.only_on(0), counted<std::int32_t>(dp::extents<>{}));
  CHECK(printed(top) ==
        "tensor<int32, scalar> on partial<max; cuda:0>\n"
        "summands: the value is their maximum\n"
        "cuda:0\n"
        "0");
}
