// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two configurations in one program: the linker keeps the constructors, functions and members of each, and the process
// has a single state for both.

#include "link/configurations.hpp"

#include <cstdio>

#include <unistd.h>

namespace {

int failures = 0;
void check(bool right, const char* what) {
  if (right) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

/// write() fails for memory that the process may not read.
bool within_reach(const device_tensor& x) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  devplace::synchronize<devplace::cuda<0>>();  // a working device's memory is accessible
  const bool within = ::write(ends[1], x.data().get(), 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return within;
}

void check_file(const configured_file& file) {
  check(within_reach(file.by_constructor()) != file.checked, "a constructor's body is that of its configuration");
  check(within_reach(file.by_function()) != file.checked, "a function's body is that of its configuration");
  for (const configured_file* other : {&checked_file, &unchecked_file})
    check(within_reach(file.by_member(other->by_constructor())) != file.checked,
          "a member's body is that of its configuration, whichever made the object");
}

}  // namespace

int main() {
  check(!unchecked_file.checked, "without assertions nothing is checked");
  for (int repeat = 0; repeat < 2; ++repeat) {
    check_file(checked_file);
    check_file(unchecked_file);
  }
  check(checked_file.allocations() >= 16 && checked_file.allocations() == unchecked_file.allocations(),
        "both count in one place");
  if (!checked_file.checked) std::puts("one configuration alone: sanitizers do not let memory be checked");
  return failures == 0 ? 0 : 1;
}
