// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// One spelling for Catch2 2.13 (Debian) and 3.x: Catch::Approx, the matchers under Catch::Matchers with version 3's
// names. DEVPLACE_SKIP skips a test case with both, because version 2 cannot.

#if __has_include(<catch2/catch_test_macros.hpp>)
  #include <catch2/catch_approx.hpp>
  #include <catch2/catch_template_test_macros.hpp>
  #include <catch2/catch_test_macros.hpp>
  #include <catch2/generators/catch_generators.hpp>
  #include <catch2/generators/catch_generators_range.hpp>
  #include <catch2/matchers/catch_matchers.hpp>
  #include <catch2/matchers/catch_matchers_exception.hpp>
  #include <catch2/matchers/catch_matchers_floating_point.hpp>
  #include <catch2/matchers/catch_matchers_string.hpp>
#else
  #include <catch2/catch.hpp>

namespace Catch {
using Detail::Approx;
namespace Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Matchers
}  // namespace Catch
#endif

#include <cstdio>
#include <cstdlib>

/// Ends the program of a test case that this machine cannot run; ctest recognises the output.
#define DEVPLACE_SKIP(reason)               \
  do {                                      \
    std::printf("skipped: %s\n", (reason)); \
    std::fflush(stdout);                    \
    std::_Exit(EXIT_SUCCESS);               \
  } while (false)
