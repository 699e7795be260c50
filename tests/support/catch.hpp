// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// One spelling for Catch2 2.13 (Debian) and 3.x: Catch::Approx, the matchers under Catch::Matchers with version 3's
// names, and DEVPLACE_SKIP, which version 2 lacks.

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
  #define DEVPLACE_SKIP(reason) SKIP(reason)
#else
  #include <catch2/catch.hpp>

  #include <cstdio>
  #include <cstdlib>

namespace Catch {
using Detail::Approx;
namespace Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Matchers
}  // namespace Catch

  // Version 3 exits with 4 when every selected test was skipped; ctest knows the code as SKIP_RETURN_CODE.
  #define DEVPLACE_SKIP(reason)               \
    do {                                      \
      std::printf("skipped: %s\n", (reason)); \
      std::fflush(stdout);                    \
      std::_Exit(4);                          \
    } while (false)
#endif
