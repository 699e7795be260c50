// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/base/whole_number.hpp>

namespace devplace::detail {

/// Parses a value of DEVPLACE_DEVICE_TIMEOUT, a whole number of seconds. If `text` is null, returns 0: no limit.
inline int parse_device_timeout(const char* text) {
  if (text == nullptr) return 0;
  const std::string_view value = text;
  const int seconds = whole_number(value);
  if (seconds < 0)
    throw argument_error({"the environment variable DEVPLACE_DEVICE_TIMEOUT is \"", value,
                          "\", which is not a whole number of seconds. Set it to the longest time that one "
                          "piece of work may take on a device, for example 60, or unset it to wait for ever."});
  return seconds;
}

/// The longest time in seconds that a call waits for a device's work before it treats the device as lost; 0: no limit.
inline int device_timeout() {
  static const int seconds = parse_device_timeout(std::getenv("DEVPLACE_DEVICE_TIMEOUT"));
  return seconds;
}

/// The error for a device that exceeded the timeout, with the first 300 characters of the work's name.
inline std::string timeout_text(const std::string& device, std::string_view work) {
  constexpr std::size_t limit = 300;
  const int seconds = device_timeout();
  return joined({device, " has not finished ", work.substr(0, limit), work.size() > limit ? "..." : "", " within the ",
                 seconds, seconds == 1 ? " second" : " seconds",
                 " of DEVPLACE_DEVICE_TIMEOUT and is lost to this process; its memory is not used again. Correct that "
                 "work, or allow more time; to use the device again, restart the process."});
}

}  // namespace devplace::detail
