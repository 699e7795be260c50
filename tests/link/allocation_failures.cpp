// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small training on the CPU and on two simulated devices, once for every allocation that it makes: that allocation
// fails, and the training must throw an exception derived from devplace::error, or go on, and the program must exit.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <devplace/all.hpp>

#include "training.hpp"

namespace {

std::atomic<long> until_failure = -1;  // negative: no allocation fails

bool fails() {
  return until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* memory = allocate(bytes, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* memory = allocate(bytes, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

namespace dp = devplace;
namespace nn = dp::nn;

constexpr std::size_t samples = 12;
using training::net, training::place_batch;

template <dp::placement Where>
void train() {
  std::array<float, samples * 6> x;
  std::array<std::int64_t, samples> y;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 5 % 11) / 11 - 0.5f;
  for (std::size_t i = 0; i < samples; ++i)
    y[i] = static_cast<std::int64_t>(i * i % 3);
  dp::set_thread_count(2);
  const auto images = place_batch<Where>(dp::wrap(x, dp::extents<dp::dyn, 6>{samples}));
  const auto labels = place_batch<Where>(dp::wrap(y, dp::extents<dp::dyn>{samples}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.05f}};
  for (int i = 0; i < 2; ++i)
    static_cast<void>(step(images, labels).item());
}

enum outcome { completed, threw_error, threw_bad_alloc, threw_other };

template <dp::placement Where>
outcome run() {
  try {
    train<Where>();
    return completed;
  } catch (const dp::error&) {
    return threw_error;
  } catch (const std::bad_alloc&) {
    return threw_bad_alloc;
  } catch (...) {
    return threw_other;
  }
}

/// Returns the number of wrong outcomes.
template <dp::placement Where>
int sweep(const char* name) {
  int wrong = 0, errors = 0;
  for (long k = 0;; ++k) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      until_failure = k;
      const outcome result = run<Where>();
      const bool reached = until_failure.exchange(-1) < 0;
      std::exit(reached ? result : 10 + result);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 10 + completed) {
      std::printf("%s: %ld allocations, %d of them end the training by an error, %d wrong\n", name, k, errors, wrong);
      return wrong;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == completed) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == threw_error) {
      ++errors;
      continue;
    }
    ++wrong;
    std::printf("%s: failure of allocation %ld: %s %d\n", name, k, WIFSIGNALED(status) ? "signal" : "outcome",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "2", 1);
  return sweep<dp::on<dp::cpu>>("cpu") + sweep<dp::replicated<0, 1>>("two devices") == 0 ? 0 : 1;
}
