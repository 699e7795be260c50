// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Declares the names of Catch2 3 that tests use, without their behaviour. If only version 2 is installed, CMake copies
// this file to the names of version 3's headers and compiles catch_test.cpp with them. This checks that
// support/catch.hpp includes the right headers of version 3 and that the tests' spelling is valid there.

#include <sstream>
#include <string>
#include <tuple>

namespace Catch {

struct Approx {
  explicit Approx(double expected) : value{expected} {}
  friend bool operator==(double left, const Approx& right) { return left == right.value; }
  double value;
};

namespace Matchers {

struct stand_in {};
template <class T> stand_in WithinRel(T, T) { return {}; }
template <class T> stand_in WithinAbs(T, T) { return {}; }
template <class T> stand_in WithinULP(T, unsigned) { return {}; }
inline stand_in ContainsSubstring(const std::string&) { return {}; }

}  // namespace Matchers
}  // namespace Catch

#define CATCH_STAND_IN_NAME_2(line) catch_stand_in_##line
#define CATCH_STAND_IN_NAME(line) CATCH_STAND_IN_NAME_2(line)
#define CATCH_STAND_IN_MATCH(value, matcher) \
  do {                                       \
    static_cast<void>(value);                \
    Catch::Matchers::stand_in m = (matcher); \
    static_cast<void>(m);                    \
  } while (false)

#define TEST_CASE(name, tags) [[maybe_unused]] static void CATCH_STAND_IN_NAME(__LINE__)()
#define TEMPLATE_TEST_CASE(name, tags, ...) \
  template <class TestType> [[maybe_unused]] static void CATCH_STAND_IN_NAME(__LINE__)()
#define SECTION(name) if (true)
#define GENERATE(...) std::get<0>(std::tuple{__VA_ARGS__})
#define CAPTURE(value) static_cast<void>(value)
#define INFO(message) (std::ostringstream{} << message)
#define STATIC_REQUIRE(...) static_assert(__VA_ARGS__)
#define REQUIRE(...) static_cast<void>(__VA_ARGS__)
#define CHECK(...) static_cast<void>(__VA_ARGS__)
#define CHECK_FALSE(...) static_cast<void>(__VA_ARGS__)
#define CHECK_THAT(value, matcher) CATCH_STAND_IN_MATCH(value, matcher)
#define CHECK_NOTHROW(expression) static_cast<void>(expression)
#define CHECK_THROWS_AS(expression, exception) \
  try {                                        \
    static_cast<void>(expression);             \
  } catch (const exception&) {                 \
  }
#define CHECK_THROWS_WITH(expression, matcher) \
  try {                                        \
    static_cast<void>(expression);             \
  } catch (...) {                              \
    Catch::Matchers::stand_in m = (matcher);   \
    static_cast<void>(m);                      \
  }
#define SUCCEED(message) static_cast<void>(message)
