// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <string>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;

#if !DEVPLACE_TEST_THREAD_SANITIZER  // which does not support threads in children of fork()
TEST_CASE("simulated devices stay in the parent of a fork", "[memory]") {
  using on_device = dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>>;
  const dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>> x{1, 2, 3};
  const auto uses = [&x] { return dp::to<dp::on<dp::cpu>>(dp::to<dp::on<dp::cuda<0>>>(x))(2) == 3; };
  CHECK(support::in_child(uses) == "true");  // before their first use
  static on_device kept = dp::to<dp::on<dp::cuda<0>>>(x);
  CHECK(uses());
  CHECK(support::in_child([] { return true; }) == "true");
  CHECK(support::in_child([&] {
          try {
            static_cast<void>(uses());
          } catch (const dp::error& error) {
            return std::string(error.what()) ==
                   "devplace: cuda places cannot be used in this process: it was forked from one that had used them. "
                   "Fork before the first use of a cuda place, or start the child by exec.";
          }
          return false;
        }) == "true");
  CHECK(support::in_child([&] {
          const on_device moved = std::move(kept);
          return true;
        }) == "true");
  CHECK(uses());
}
#endif
