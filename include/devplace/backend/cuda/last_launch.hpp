// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <devplace/base/error.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace::detail {

/// Returns the name of the kernel last launched on the cuda place `ordinal`, null before the first. An asynchronous
/// error comes from this kernel or an earlier one.
inline std::atomic<const char*>& last_launch(int ordinal) {
  static std::array<std::atomic<const char*>, counted_ordinals> names{};
  return names[static_cast<std::size_t>(ordinal)];
}

/// Extracts the kernel's type from `text`, "const char* ...::kernel_name() [with Kernel = ...]" or clang's form of it.
inline std::string kernel_in(std::string_view text) {
  const std::size_t start = text.find("Kernel = ");
  if (start != std::string_view::npos) text.remove_prefix(start + 9);
  return std::string(text.substr(0, text.rfind(']')));
}

/// Returns a kernel's type as the compiler spells it.
template <class Kernel> const char* kernel_name() {
  static const std::string& name = *new std::string(kernel_in(__PRETTY_FUNCTION__));  // never destroyed
  return name.c_str();
}

/// Returns whether `text`, the value of an environment variable, is 1. `purpose` says what the variable is set for.
inline bool parse_switch(const char* variable, const char* purpose, const char* text) {
  const std::string_view value = text == nullptr ? "" : text;
  if (value == "1") return true;
  if (value.empty() || value == "0") return false;
  throw argument_error({"the environment variable ", variable, " is \"", value,
                        "\", which is neither 0 nor 1. Set it to 1 ", purpose, ", or unset it."});
}

/// Returns whether the host waits for every kernel.
inline bool sync_launches() {
  static const bool enabled =
      parse_switch("DEVPLACE_SYNC_LAUNCH", "to wait for each kernel, so that errors name the failing kernel",
                   std::getenv("DEVPLACE_SYNC_LAUNCH"));
  return enabled;
}

}  // namespace devplace::detail
