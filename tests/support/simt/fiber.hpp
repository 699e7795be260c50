// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "support/sanitizers.hpp"

#if DEVPLACE_TEST_ADDRESS_SANITIZER
  #include <sanitizer/common_interface_defs.h>
#endif

namespace devplace::test::simt {

/// A function with its own stack that yields to the code that resumed it and continues where it stopped. A guard page
/// below the stack turns an overflow into a crash instead of corrupting another fiber's data. A fiber whose body has
/// ended can start another one without leaving its stack, because switching stacks is slow under AddressSanitizer.
class fiber {
 public:
  explicit fiber(std::size_t stack_bytes = std::size_t{256} << 10) : page_(page_size()), bytes_(stack_bytes + page_) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a fiber's stack");
    if (mprotect(memory_, page_, PROT_NONE) != 0)
      throw std::system_error(errno, std::generic_category(), "mprotect of a fiber's stack");
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
    if (waits_for_body_) {
      body_ = nullptr;
      resume();
    }
    munmap(memory_, bytes_);
  }

  /// Makes `body(argument)` run at the next resume(). The previous body must have ended.
  void start(void (*body)(void*), void* argument) {
    body_ = body;
    argument_ = argument;
    done_ = false;
    failure_ = nullptr;
    if (std::exchange(waits_for_body_, false)) return;
    getcontext(&self_);
    self_.uc_stack.ss_sp = stack();
    self_.uc_stack.ss_size = stack_bytes();
    self_.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes only ints
    makecontext(&self_, reinterpret_cast<void (*)()>(&fiber::enter), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }

  /// Runs the body until it yields or ends; rethrows its exception.
  void resume() {
    before_switch(&resumer_fake_stack_, stack(), stack_bytes());
    swapcontext(&resumer_, &self_);
    after_switch(resumer_fake_stack_, nullptr, nullptr);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Called by the body: returns to resume().
  void give_way() {
    before_switch(&fake_stack_, resumer_stack_, resumer_stack_bytes_);
    swapcontext(&self_, &resumer_);
    after_switch(fake_stack_, &resumer_stack_, &resumer_stack_bytes_);
  }

  bool done() const { return done_; }

 private:
  static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  void* stack() const { return static_cast<char*>(memory_) + page_; }
  std::size_t stack_bytes() const { return bytes_ - page_; }

  static void enter(unsigned high, unsigned low) {
    auto& self = *reinterpret_cast<fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
    after_switch(nullptr, &self.resumer_stack_, &self.resumer_stack_bytes_);
    while (self.body_ != nullptr) {
      try {
        self.body_(self.argument_);
      } catch (...) {
        self.failure_ = std::current_exception();
      }
      self.done_ = true;
      self.waits_for_body_ = true;
      self.give_way();
    }
    before_switch(nullptr, self.resumer_stack_, self.resumer_stack_bytes_);
    setcontext(&self.resumer_);
  }

  // AddressSanitizer must be told about every switch of stacks.
  static void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack,
                            [[maybe_unused]] std::size_t bytes) {
#if DEVPLACE_TEST_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
  }
  static void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** stack,
                           [[maybe_unused]] std::size_t* bytes) {
#if DEVPLACE_TEST_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#endif
  }

  std::size_t page_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  ucontext_t self_{};
  ucontext_t resumer_{};
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool done_ = true;
  bool waits_for_body_ = false;
  std::exception_ptr failure_;
  void* fake_stack_ = nullptr;
  void* resumer_fake_stack_ = nullptr;
  const void* resumer_stack_ = nullptr;
  std::size_t resumer_stack_bytes_ = 0;
};

}  // namespace devplace::test::simt
