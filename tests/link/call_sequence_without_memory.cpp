// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A record of an event for which each allocation in turn fails: the sequence of calls does not have it.

#include <new>

#include <devplace/backend/cuda/call_sequence.hpp>

#include "support/replaced_new.hpp"
#include "support/sanitizers.hpp"

int main() {
  for (int k = 0; !DEVPLACE_TEST_SANITIZED; ++k) {
    devplace::detail::call_sequence calls;
    support::until_bad_alloc = k;
    try {
      calls.add_record({0, nullptr}, nullptr);
      support::until_bad_alloc = -1;
      return k > 2 && calls.records(nullptr) ? 0 : 1;
    } catch (const std::bad_alloc&) {
      if (calls.records(nullptr)) return 2;
    }
  }
}
