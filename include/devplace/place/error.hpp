// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>

namespace devplace {

/// Base of every exception that devplace throws. The text is whole sentences: the operation, the placements and
/// shapes it met, the failing call with its own text where there is one, and what to do.
class error : public std::runtime_error {
 public:
  /// Prefixes `message` with `devplace: `, so that a user sees where the text comes from.
  explicit error(const std::string& message) : std::runtime_error("devplace: " + message) {}
};

/// Extents known only at run time do not fit together.
class shape_error : public error {
 public:
  using error::error;
};

/// An argument is outside what the operation is defined for (an index, a label, a probability, an option).
class argument_error : public error {
 public:
  using error::error;
};

/// A place exists in the program's types but not on this machine, or its component cannot be used here.
class placement_unavailable : public error {
 public:
  using error::error;
};

/// A place has not enough memory left for a request.
class out_of_memory : public error {
 public:
  using error::error;
};

/// A GPU has failed, by a kernel or in itself, so that this process cannot use it any more: every later use throws this
/// too. Other devices can be used.
class device_lost : public error {
 public:
  using error::error;
};

/// A file cannot be opened, is damaged, or does not hold what was asked for. Nothing was changed.
class file_error : public error {
 public:
  using error::error;
};

}  // namespace devplace
