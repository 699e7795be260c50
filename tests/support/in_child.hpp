// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "support/forked_ranks.hpp"

namespace support {

/// Calls `f()` in a child of fork(), which then exits like a program, with destructors of static objects. Returns what
/// the child wrote to stderr, and its status if that is not 0: a child for which `f` returns false exits with 1.
template <class F> std::string in_child(const F& f) {
  std::fflush(stdout);
  devplace::test::forked_ranks child;
  child.start(
      [&] {
        if constexpr (std::is_same_v<decltype(f()), bool>)
          std::exit(f() ? 0 : 1);
        else
          f();
        std::exit(0);
      },
      false);
  const auto [end, text] = child.wait(60)[0];
  return end == "exit 0" ? text : text + "status " + end;
}

}  // namespace support
