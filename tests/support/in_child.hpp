// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "support/forked_ranks.hpp"

namespace support {

/// Calls `f()` in a child of fork(), which then exits like a program, with destructors of static objects. Returns the
/// text that the child wrote to stderr, followed by the exit status unless that is 0. If `f` returns bool, the child
/// exits with 1 for false, and the result for true is empty, whatever the child wrote: LeakSanitizer warns of threads
/// that only the parent has.
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
