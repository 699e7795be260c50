// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <exception>
#include <stdexcept>
#include <string>

#include <devplace/place/replica_error.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

template <class Exception> [[noreturn]] void rethrown(const Exception& e) {
  dp::detail::rethrow_for_replica(std::make_exception_ptr(e), 1, 3, "cuda:1");
}

}  // namespace

TEMPLATE_TEST_CASE("devplace's exceptions keep their type and name the replica once", "[place]", dp::error,
                   dp::shape_error, dp::argument_error, dp::placement_unavailable, dp::out_of_memory, dp::device_lost,
                   dp::communication_error, dp::file_error) {
  CHECK_THROWS_AS(rethrown(TestType("the text.")), TestType);
  try {
    rethrown(TestType("the text."));
  } catch (const dp::error& e) {
    CHECK(std::string(e.what()) == "devplace: replica 1 of 3 (cuda:1): the text.");
    CHECK(typeid(e) == typeid(TestType));
    CHECK(dynamic_cast<const std::nested_exception*>(&e) == nullptr);
  }
}

TEST_CASE("another exception is nested in an error that repeats its text", "[place]") {
  try {
    rethrown(std::out_of_range("vector::at"));
  } catch (const dp::error& e) {
    CHECK(std::string(e.what()) == "devplace: replica 1 of 3 (cuda:1): vector::at");
    CHECK_THROWS_AS(std::rethrow_if_nested(e), std::out_of_range);
  }
  try {
    rethrown(17);
  } catch (const dp::error& e) {
    CHECK(std::string(e.what()) == "devplace: replica 1 of 3 (cuda:1): an exception that is not a std::exception.");
    CHECK_THROWS_AS(std::rethrow_if_nested(e), int);
  }
}
