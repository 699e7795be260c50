// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <string>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// Throws out_of_memory after a small allocation on the host, such as a list, has failed. `subject` is the subject of
/// the message.
DEVPLACE_COMPILABLE([[noreturn]]) void fail_without_memory(const char* subject) {
  throw out_of_memory(std::string(subject) +
                      " could not be made: the host has no memory left. Free some, or use a smaller batch.");
}
DEVPLACE_COMPILED(void fail_without_memory(const char*))

template <class Function> decltype(auto) naming_bad_alloc(const char* subject, Function&& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    fail_without_memory(subject);
  }
}

/// An object that is never destroyed, because other objects may use it during the program's exit.
template <class T> union undestroyed {
  template <class... Arguments> explicit undestroyed(Arguments... arguments) : value(arguments...) {}
  ~undestroyed() {}
  T value;
};

}  // namespace devplace::detail
