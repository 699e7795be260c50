// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/for_each.hpp>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace {

struct count {
  int* calls;
  void operator()(std::size_t i) const { ++calls[i]; }
};

}  // namespace

TEST_CASE("the kernel of for_each calls its functor once for each index", "[cuda]") {
  for (const std::size_t n : {1u, 255u, 256u, 257u, 5000u})
    for (const unsigned blocks : {1u, 2u, 30u}) {
      std::vector<int> calls(n);
      devplace::test::simt::launch(blocks, devplace::detail::for_each_kernel<count>{n, {calls.data()}}, 1);
      CHECK(calls == std::vector<int>(n, 1));
    }
}
