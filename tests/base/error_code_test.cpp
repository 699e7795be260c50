// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <devplace/base/error_code.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

template <class Thrown> std::error_code code_of(const Thrown& thrown) {
  return dp::error_code_of([&] { throw thrown; });
}

}  // namespace

TEST_CASE("every exception has a code of its own, with its text", "[base]") {
  const auto check = [](const auto& thrown, dp::errc code, int value) {
    const std::error_code failed = code_of(thrown);
    CHECK(failed);
    CHECK(failed == code);
    CHECK(failed.value() == value);
    CHECK(std::string(dp::last_error_message()) == thrown.what());
  };
  check(dp::error("a moved-from model"), dp::errc::error, 1);
  check(dp::shape_error("3 rows"), dp::errc::shape_error, 2);
  check(dp::argument_error("index 7"), dp::errc::argument_error, 3);
  check(dp::placement_unavailable("no cuda:9"), dp::errc::placement_unavailable, 4);
  check(dp::out_of_memory("8 GiB"), dp::errc::out_of_memory, 5);
  check(dp::device_lost("cuda:0"), dp::errc::device_lost, 6);
  check(dp::communication_error("rank 3"), dp::errc::communication_error, 7);
  check(dp::file_error("net.safetensors"), dp::errc::file_error, 8);
  check(std::bad_alloc(), dp::errc::out_of_memory, 5);
  check(std::logic_error("of the program"), dp::errc::foreign_exception, 9);
  CHECK(code_of(7) == dp::errc::foreign_exception);
  CHECK(std::string(dp::last_error_message()) == "an exception that is not a std::exception");
}

TEST_CASE("a function that does not throw has code 0, and keeps the text of the last error", "[base]") {
  CHECK(code_of(dp::error("first")));
  int calls = 0;
  const std::error_code failed = dp::error_code_of([&] { ++calls; });
  CHECK_FALSE(failed);
  CHECK(failed.value() == 0);
  CHECK(calls == 1);
  CHECK(std::string(dp::last_error_message()) == "devplace: first");
}

TEST_CASE("codes have a category, a text and the standard library's conditions", "[base]") {
  const std::error_code full = dp::errc::out_of_memory;
  CHECK(std::string(full.category().name()) == "devplace");
  CHECK(full.category() == dp::error_category());
  CHECK(full.message() == "out of memory");
  CHECK(std::error_code(dp::errc::foreign_exception).message() == "an exception that is not devplace's");
  for (const int unknown : {-1, 0, 10}) CHECK(dp::error_category().message(unknown) == "success");
  CHECK(full == std::errc::not_enough_memory);
  CHECK(dp::make_error_code(dp::errc::shape_error) == std::errc::invalid_argument);
  CHECK(dp::make_error_code(dp::errc::argument_error) == std::errc::invalid_argument);
  CHECK(dp::make_error_code(dp::errc::placement_unavailable) == std::errc::no_such_device);
  CHECK(dp::make_error_code(dp::errc::file_error) != std::errc::invalid_argument);
  CHECK(full != dp::errc::file_error);
}

TEST_CASE("texts that are too long are cut off, and each thread has its own", "[base]") {
  CHECK(code_of(std::runtime_error(std::string(5000, 'x'))));
  CHECK(std::string(dp::last_error_message()) == std::string(2047, 'x'));
  std::string before = "not empty", after;
  std::thread([&] {
    before = dp::last_error_message();
    static_cast<void>(code_of(dp::error("elsewhere")));
    after = dp::last_error_message();
  }).join();
  CHECK(before.empty());
  CHECK(after == "devplace: elsewhere");
  CHECK(std::string(dp::last_error_message()).size() == 2047);
}

TEST_CASE("error_code_of takes functions that can only be moved, and never throws", "[base]") {
  STATIC_REQUIRE(noexcept(dp::error_code_of([] { throw 1; })));
  CHECK(dp::error_code_of([own = std::make_unique<int>(3)] { throw dp::argument_error(std::to_string(*own)); }) ==
        dp::errc::argument_error);
  CHECK(std::string(dp::last_error_message()) == "devplace: 3");
}
