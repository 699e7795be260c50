// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/host_memory.hpp>

#include <new>
#include <stdexcept>
#include <type_traits>

#include <devplace/base/error.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("a failed small allocation names what could not be made", "[base]") {
  const auto make = [] { return dp::detail::naming_bad_alloc("a list", []() -> int { throw std::bad_alloc(); }); };
  CHECK_THROWS_AS(make(), dp::out_of_memory);
  CHECK_THROWS_WITH(make(),
                    "devplace: a list could not be made: the host has no memory left. Free some, or use a "
                    "smaller batch.");
}

TEST_CASE("results and other exceptions pass through naming_bad_alloc", "[base]") {
  int number = 1;
  const auto same = [&]() -> int& { return number; };
  CHECK(&dp::detail::naming_bad_alloc("a list", same) == &number);
  CHECK(std::is_same_v<decltype(dp::detail::naming_bad_alloc("a list", [] { return 1; })), int>);
  CHECK_THROWS_AS(dp::detail::naming_bad_alloc("a list", [] { throw std::domain_error("other"); }), std::domain_error);
}

TEST_CASE("an undestroyed object is made and never destroyed", "[base]") {
  struct counted {
    int& made;
    int& destroyed;
    counted(int* makes, int* destroys) : made(*makes), destroyed(*destroys) { ++made; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { ++destroyed; }
  };
  int made = 0, destroyed = 0;
  {
    const dp::detail::undestroyed<counted> kept(&made, &destroyed);
    CHECK(&kept.value.made == &made);
  }
  CHECK(made == 1);
  CHECK(destroyed == 0);
}
