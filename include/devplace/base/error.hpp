// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>

#include <devplace/base/joined.hpp>

namespace devplace {

/// Base class of all exceptions of devplace. The message consists of whole sentences. They name the operation, the
/// placements and shapes, the fix and, if a call of another library failed, that call and the library's message.
struct error : std::runtime_error {
  /// Adds the prefix `devplace: `.
  explicit error(const std::string& message) : std::runtime_error(detail::joined({"devplace: ", message})) {}

  /// Makes the message of parts: `throw argument_error({"batch ", number, " is empty"})`.
  explicit error(std::initializer_list<detail::text_part> message) : error(detail::joined(message)) {}
};

/// Extents known only at run time do not match.
struct shape_error : error {
  using error::error;
};

/// An argument is outside the operation's domain (an index, a label, a probability, an option).
struct argument_error : error {
  using error::error;
};

/// A place is named in the program but does not exist on this machine, or the place's component cannot be used here.
struct placement_unavailable : error {
  using error::error;
};

/// A place has not enough memory left for an allocation.
struct out_of_memory : error {
  using error::error;
};

/// A GPU has failed, because of a kernel or its hardware, and this process can no longer use it: every later use throws
/// this exception too. Other devices remain usable.
struct device_lost : error {
  using error::error;
};

/// Processes of a group cannot be connected, or a process of the group ended, stopped, or made calls that differ from
/// the other processes' calls. This process can no longer use the group.
struct communication_error : error {
  using error::error;
};

/// A file cannot be opened, is damaged, or has other contents than requested. Nothing was changed.
struct file_error : error {
  using error::error;
};

namespace detail {

template <class... Error> struct error_classes {};
/// The classes of exceptions above, in the order of errc (base/error_code.hpp).
using derived_errors = error_classes<shape_error, argument_error, placement_unavailable, out_of_memory, device_lost,
                                     communication_error, file_error>;

}  // namespace detail

}  // namespace devplace
