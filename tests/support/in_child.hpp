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
/// the child wrote to stderr, and its status if that is not 0: a child for which `f` returns false exits with 1, and
/// what a child for which `f` returns true wrote is left out, because LeakSanitizer writes that a thread of the parent
/// does not run.
template <class F> std::string in_child(const F& f) {
  std::fflush(stdout);
  constexpr bool asks = std::is_same_v<decltype(f()), bool>;
  devplace::test::forked_ranks child;
  child.start(
      [&] {
        if constexpr (asks)
          std::exit(f() ? 0 : 1);
        else
          f();
        std::exit(0);
      },
      false);
  const auto [end, text] = child.wait(60)[0];
  if (end != "exit 0") return text + "status " + end;
  return asks ? "" : text;
}

}  // namespace support
