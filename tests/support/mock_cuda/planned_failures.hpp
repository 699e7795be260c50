// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

namespace devplace::test {

/// The failures that a test plans for further calls of a library, by the name of the function.
template <class Status> class planned_failures {
 public:
  /// Makes the `nth` call from now on, and the calls after it, fail, `times` in total.
  void plan(const std::string& function, Status status, int nth, int times = 1) {
    planned_[function] = {status, nth, times};
  }
  /// Returns the status of the next call; 0, which is every library's success, if no failure is planned.
  Status next(const std::string& function) {
    const auto at = planned_.find(function);
    if (at == planned_.end() || --at->second.calls_left > 0) return Status{};
    const Status status = at->second.status;
    if (--at->second.times == 0) planned_.erase(at);
    return status;
  }

 private:
  struct failure {
    Status status;
    int calls_left, times;
  };
  std::map<std::string, failure> planned_;
};

}  // namespace devplace::test
