// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>

namespace devplace {

/// The exceptions of base/error.hpp as numbers, for callers without exceptions. The values do not change, so that C and
/// Fortran may compare them.
enum class errc : int {
  error = 1,              ///< an exception of class error itself
  shape_error,            ///< 2
  argument_error,         ///< 3
  placement_unavailable,  ///< 4
  out_of_memory,          ///< 5, also std::bad_alloc
  device_lost,            ///< 6
  communication_error,    ///< 7
  file_error,             ///< 8
  foreign_exception       ///< 9: an exception that is not devplace's
};

namespace detail {

struct error_category final : std::error_category {
  const char* name() const noexcept override { return "devplace"; }

  std::string message(int code) const override {
    constexpr std::array names{
        "success",       "error",       "shape error",         "argument error", "place unavailable",
        "out of memory", "device lost", "communication error", "file error",     "an exception that is not devplace's"};
    return names[code > 0 && static_cast<std::size_t>(code) < names.size() ? static_cast<std::size_t>(code) : 0];
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::shape_error:
      case errc::argument_error:
        return std::errc::invalid_argument;
      case errc::placement_unavailable:
        return std::errc::no_such_device;
      case errc::out_of_memory:
        return std::errc::not_enough_memory;
      default:
        return {code, *this};
    }
  }
};

/// The text of this thread's last error, cut off where it is longer. Not a string, which would allocate.
inline constinit thread_local std::array<char, 2048> last_message{};

inline errc keep_message(errc code, const char* message) noexcept {
  last_message[std::string_view(message).copy(last_message.data(), last_message.size() - 1)] = '\0';
  return code;
}

/// Returns the code of the class of `e`: consecutive classes have consecutive codes.
template <class... Error> errc code_of(const error& e, error_classes<Error...>) noexcept {
  int code = static_cast<int>(errc::error);
  const bool derived = ((++code, dynamic_cast<const Error*>(&e) != nullptr) || ...);
  return derived ? errc{code} : errc::error;
}

/// Returns the code of the exception that is being handled, and keeps its text.
inline errc code_of_caught() noexcept {
  try {
    throw;
  } catch (const error& e) {
    return keep_message(code_of(e, derived_errors{}), e.what());
  } catch (const std::bad_alloc& e) {
    return keep_message(errc::out_of_memory, e.what());
  } catch (const std::exception& e) {
    return keep_message(errc::foreign_exception, e.what());
  } catch (...) {
    return keep_message(errc::foreign_exception, "an exception that is not a std::exception");
  }
}

}  // namespace detail

/// The category of devplace's codes. Of std::errc's conditions, `not_enough_memory`, `invalid_argument` (also for
/// extents that do not match) and `no_such_device` equal the codes with this meaning.
inline const std::error_category& error_category() noexcept {
  static const detail::undestroyed<detail::error_category> category;
  return category.value;
}

/// Makes `errc::file_error` a std::error_code, and comparable with one.
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

/// Calls `function()`, which returns nothing, and returns the code of the exception that it throws, else 0:
/// `if (const std::error_code failed = error_code_of([&] { step(x, y); })) ...`. For callers that exceptions must not
/// reach: C, Fortran, code without exceptions. Allocates nothing unless the function throws.
template <class Function> [[nodiscard]] std::error_code error_code_of(Function&& function) noexcept {
  try {
    function();
    return {};
  } catch (...) {
    return make_error_code(detail::code_of_caught());
  }
}

/// Returns the message of the last exception that error_code_of has turned into a code in this thread, at most 2,047
/// characters; empty if there was none. The next one overwrites the text.
inline const char* last_error_message() noexcept { return detail::last_message.data(); }

}  // namespace devplace

/// \cond
template <> struct std::is_error_code_enum<devplace::errc> : std::true_type {};
/// \endcond
