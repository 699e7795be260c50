// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"

#include <devplace/nn/detail/path.hpp>

namespace nnd = devplace::nn::detail;

// The published values of FNV-1a for 64 bits.
static_assert(nnd::path_hash("") == 0xcbf29ce484222325U);
static_assert(nnd::path_hash("a") == 0xaf63dc4c8601ec8cU);
static_assert(nnd::path_hash("foobar") == 0x85944171f73967e8U);

TEST_CASE("a path's hash can be made step by step", "[nn]") {
  const auto child = nnd::child_path(nnd::child_path(nnd::root_path, std::size_t{0}), "weight");
  CHECK(child == nnd::path_hash("0.weight"));
  CHECK(nnd::child_path(nnd::child_path(nnd::path_hash("blocks"), std::size_t{120}), "bias") ==
        nnd::path_hash("blocks.120.bias"));
  CHECK(nnd::child_path(nnd::root_path, static_cast<std::size_t>(-1)) == nnd::path_hash("18446744073709551615"));
  CHECK(child != nnd::path_hash("1.weight"));
}
