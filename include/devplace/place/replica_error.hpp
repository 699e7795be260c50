// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/function_view.hpp>
#include <devplace/config.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// A failure of device `ordinal` that was not thrown yet. It propagates to every device that uses the device's results.
struct device_failure {
  std::exception_ptr what;
  int ordinal = 0;

  explicit operator bool() const { return what != nullptr; }
};

/// Throws an exception with the text `message`. The type of the exception is the first type of `Error...` that matches
/// `e`, otherwise `error`.
template <class... Error>
[[noreturn]] void throw_as(const error& e, error_classes<Error...>, const std::string& message) {
  ((dynamic_cast<const Error*>(&e) != nullptr ? throw Error(message) : void()), ...);
  throw error(message);
}

/// Rethrows an exception with its replica added to the message: `devplace: replica 1 of 3 (cuda:1): ...`. Replicas
/// count from 0 in the order of the placement. devplace's exceptions keep their type; any other exception is nested in
/// an `error` whose message contains the original message.
DEVPLACE_COMPILABLE([[noreturn]])
void rethrow_for_replica(const std::exception_ptr& failed, std::size_t index, std::size_t count,
                         std::string_view place_name) {
  const auto text = [&](std::string_view message) {
    constexpr std::string_view prefix = "devplace: ";  // the exception's constructor adds it again
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    return joined({"replica ", index, " of ", count, " (", place_name, "): ", message});
  };
  try {
    std::rethrow_exception(failed);
  } catch (const error& e) {
    throw_as(e, derived_errors{}, text(e.what()));
  } catch (const std::exception& e) {
    std::throw_with_nested(error(text(e.what())));
  } catch (...) {
    std::throw_with_nested(error(text("an exception that is not a std::exception.")));
  }
}
DEVPLACE_COMPILED(void rethrow_for_replica(const std::exception_ptr&, std::size_t, std::size_t, std::string_view))

/// Calls `f()`; if there are several replicas, adds the replica to the messages of exceptions from `f`. `name(ordinal)`
/// names the replica's place.
inline void run_for_replica(std::size_t index, std::size_t count, std::string (*name)(int), int ordinal,
                            function_view<> f) {
  if (count == 1) return f();  // outside try, so that a debugger finds where an exception was thrown
  try {
    f();
  } catch (...) {
    rethrow_for_replica(std::current_exception(), index, count, name(ordinal));
  }
}
template <class Backend, class F> void on_behalf_of_replica(std::size_t index, std::size_t count, int ordinal, F&& f) {
  const auto name = [](int at) { return std::string(place_name(Backend{}, at)); };
  run_for_replica(index, count, name, ordinal, function_view<>(f));
}

}  // namespace devplace::detail
