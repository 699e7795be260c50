// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>

namespace devplace::detail {

/// A type-erased reference to a callable that takes a member's number: two pointers, no allocation. The callable must
/// outlive the call of run() that it is passed to.
class team_task {
 public:
  constexpr team_task() = default;

  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, team_task> && std::is_nothrow_invocable_v<Function&, int>)
  explicit team_task(Function& function) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, int member) noexcept { (*static_cast<Function*>(object))(member); }) {}

  void operator()(int member) const noexcept { call_(object_, member); }

 private:
  void* object_ = nullptr;
  void (*call_)(void*, int) noexcept = nullptr;
};

/// Keeps the exception of the lowest member that threw, so that the reported error does not depend on timing.
class first_exception {
 public:
  void capture(int member) noexcept {
    while (lock_.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
    if (!exception_ || member < member_) {
      exception_ = std::current_exception();
      member_ = member;
    }
    lock_.clear(std::memory_order_release);
  }

  /// To be called after all members are done.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic_flag lock_;
  int member_ = 0;
  std::exception_ptr exception_;
};

/// Calls `function` and passes its exceptions to `errors`.
template <class Function>
struct guarded_function {
  Function& function;
  first_exception& errors;

  void operator()(int member) const noexcept {
    try {
      function(member);
    } catch (...) {
      errors.capture(member);
    }
  }
};

}  // namespace devplace::detail
