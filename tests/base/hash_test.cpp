// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/hash.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

using devplace::detail::hash_of;

TEST_CASE("hashes differ for other numbers, orders and types of values", "[base]") {
  const std::set<std::uint64_t> hashes{hash_of(),
                                       hash_of(0),
                                       hash_of(1),
                                       hash_of(1, 2),
                                       hash_of(2, 1),
                                       hash_of(1.0),
                                       hash_of(1.5f),
                                       hash_of(-0.0),
                                       hash_of(std::string("ab")),
                                       hash_of(std::string("ba"))};
  CHECK(hashes.size() == 10);
  CHECK(hash_of(std::vector<int>{1, 2}) == hash_of(1, 2));
  CHECK(hash_of(1.5f) == hash_of(1.5));
}

TEST_CASE("a hash, which checkpoints contain, keeps its bits", "[base]") {
  // ((0xcbf29ce484222325 ^ 7) * 0x9e3779b97f4a7c15) modulo 2^64, and its upper bits 29 places lower.
  const std::uint64_t product = (0xcbf29ce484222325ULL ^ 7) * 0x9e3779b97f4a7c15ULL;
  CHECK(hash_of(7) == (product ^ (product >> 29)));
}

TEST_CASE("fnv1a has the published values", "[base]") {
  using devplace::detail::fnv1a;
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
}
