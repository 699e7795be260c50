// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/file_text.hpp>

#include "support/catch.hpp"

TEST_CASE("messages name files in quotes and count bytes", "[io]") {
  CHECK(devplace::detail::in_quotes("a b.npy") == "'a b.npy'");
  CHECK(devplace::detail::in_quotes("") == "''");
  CHECK(devplace::detail::bytes_text(0) == "0 bytes");
  CHECK(devplace::detail::bytes_text(1) == "1 byte");
  CHECK(devplace::detail::bytes_text(18446744073709551615u) == "18446744073709551615 bytes");
}
