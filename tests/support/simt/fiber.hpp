// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "support/sanitizers.hpp"

#if DEVPLACE_TEST_ADDRESS_SANITIZER
  #include <sanitizer/asan_interface.h>
#endif
#if !defined(__x86_64__)
  #include <ucontext.h>
#endif

namespace devplace::test::simt {

#if defined(__x86_64__)

/// A suspended execution. swapcontext() would need two system calls per switch for the signal mask, and
/// AddressSanitizer's replacement of it forgets the state of the destination stack at each switch.
class context {
 public:
  /// Makes switch_to() continue with `function(argument)`, which must not return.
  void start(void* stack, std::size_t bytes, void (*function)(void*), void* argument) {
    auto* const top = reinterpret_cast<void**>(static_cast<char*>(stack) + bytes);
    // The stack looks as if the function had been called: no return address, which ends traces, above the address where
    // `continue_at` returns to.
    top[-1] = nullptr;
    top[-2] = reinterpret_cast<void*>(function);
    for (int i = 3; i <= 8; ++i) top[-i] = nullptr;
    stack_pointer_ = top - 8;
    argument_ = argument;
  }
  /// Suspends the calling code, which another switch_to() continues.
  void switch_to(context& other) { continue_at(&stack_pointer_, other.stack_pointer_, other.argument_); }

 private:
  /// Pushes the callee-saved registers, exchanges the stacks, and pops the registers of the other code.
  [[gnu::naked, gnu::noinline]] static void continue_at(void**, void*, void*) {
    __asm__(
        "pushq %rbp\n"
        "pushq %rbx\n"
        "pushq %r12\n"
        "pushq %r13\n"
        "pushq %r14\n"
        "pushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\n"
        "popq %r14\n"
        "popq %r13\n"
        "popq %r12\n"
        "popq %rbx\n"
        "popq %rbp\n"
        "movq %rdx, %rdi\n"
        "retq");
  }

  void* stack_pointer_ = nullptr;
  void* argument_ = nullptr;
};

#else

/// A suspended execution.
class context {
 public:
  /// Makes switch_to() continue with `function(argument)`, which must not return.
  void start(void* stack, std::size_t bytes, void (*function)(void*), void* argument) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = bytes;
    context_.uc_link = nullptr;
    function_ = function;
    argument_ = argument;
    const auto address = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes only ints
    makecontext(&context_, reinterpret_cast<void (*)()>(&context::enter), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }
  /// Suspends the calling code, which another switch_to() continues.
  void switch_to(context& other) { swapcontext(&context_, &other.context_); }

 private:
  static void enter(unsigned high, unsigned low) {
    auto& self = *reinterpret_cast<context*>((static_cast<std::uintptr_t>(high) << 32) | low);
    self.function_(self.argument_);
  }

  ucontext_t context_{};
  void (*function_)(void*) = nullptr;
  void* argument_ = nullptr;
};

#endif

/// A function with its own stack that yields to the code that resumed it and continues where it stopped. A guard page
/// below the stack turns an overflow into a crash instead of corrupting another fiber's data. A fiber whose body has
/// ended can start another body without leaving its stack, which saves two stack switches.
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
    forget_frames(stack(), stack_bytes());
    munmap(memory_, bytes_);
  }

  /// Makes the next resume() run `body(argument)`. The previous body must have ended.
  void start(void (*body)(void*), void* argument) {
    body_ = body;
    argument_ = argument;
    done_ = false;
    failure_ = nullptr;
    if (std::exchange(waits_for_body_, false)) return;
    self_.start(stack(), stack_bytes(), &fiber::enter, this);
  }

  /// Runs the body until it yields or ends; rethrows its exception.
  void resume() {
    before_switch(&resumer_fake_stack_, stack(), stack_bytes());
    resumer_.switch_to(self_);
    after_switch(resumer_fake_stack_, nullptr, nullptr);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Returns to resume(); called by the body.
  void yield() {
    before_switch(&fake_stack_, resumer_stack_, resumer_stack_bytes_);
    self_.switch_to(resumer_);
    after_switch(fake_stack_, &resumer_stack_, &resumer_stack_bytes_);
  }

  bool done() const { return done_; }

 private:
  static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  void* stack() const { return static_cast<char*>(memory_) + page_; }
  std::size_t stack_bytes() const { return bytes_ - page_; }

  static void enter(void* argument) {
    auto& self = *static_cast<fiber*>(argument);
    after_switch(nullptr, &self.resumer_stack_, &self.resumer_stack_bytes_);
    while (self.body_ != nullptr) {
      try {
        self.body_(self.argument_);
      } catch (...) {
        self.failure_ = std::current_exception();
      }
      self.done_ = true;
      self.waits_for_body_ = true;
      self.yield();
    }
    before_switch(nullptr, self.resumer_stack_, self.resumer_stack_bytes_);
    self.self_.switch_to(self.resumer_);
    std::abort();  // never resumed
  }

  // Tells AddressSanitizer about every switch of stacks.
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
  // Tells AddressSanitizer that the last frame, which was left forever, may be overwritten.
  static void forget_frames([[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
#if DEVPLACE_TEST_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(stack, bytes);
#endif
  }

  std::size_t page_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  context self_;
  context resumer_;
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
