// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>

#include <devplace/io/file_text.hpp>

#include "support/catch.hpp"

TEST_CASE("messages name files in quotes and count bytes", "[io]") {
  CHECK(devplace::detail::in_quotes("a b.npy") == "'a b.npy'");
  CHECK(devplace::detail::in_quotes("") == "''");
  const auto counted = [](std::uint64_t count) {
    return devplace::detail::joined({count, devplace::detail::byte_word(count)});
  };
  CHECK(counted(0) == "0 bytes");
  CHECK(counted(1) == "1 byte");
  CHECK(counted(18446744073709551615u) == "18446744073709551615 bytes");
}
