// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In a debug build, a host access to a simulated device's memory causes a segmentation fault, as with a GPU, and
// AddressSanitizer reports a device's access to freed memory. Each attempt runs in its own process, forked before any
// thread exists.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ratio>

#include <devplace/all.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using gpu0 = dp::on<dp::cuda<0>>;
using gpu1 = dp::on<dp::cuda<1>>;
using host = dp::on<dp::cpu>;

/// Whether the program runs under AddressSanitizer.
const bool address_sanitizer = __asan_poison_memory_region != nullptr;

/// Whether `attempt` ends its process with a segmentation fault or a report of AddressSanitizer, instead of exit
/// status 0; any other end is a failure.
template <class Attempt> bool faults(Attempt attempt) {
  std::fflush(stdout);
  const ::pid_t child = ::fork();
  if (child == 0) {
    const ::rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);
    if (address_sanitizer) std::fclose(stderr);  // the report is expected
    ::_exit(attempt());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) return true;
  if (address_sanitizer && WIFEXITED(status) && WEXITSTATUS(status) == 99) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
  std::printf("an attempt ended with status %d\n", status);
  std::exit(1);
}

int read_directly() {
  const dp::tensor<float, dp::extents<3>, gpu0> x{1, 2, 3};
  dp::synchronize<dp::cuda<0>>();
  return *static_cast<const volatile float*>(x.data().get()) == 1 ? 0 : 1;
}

int write_directly() {
  dp::tensor<float, dp::extents<3>, gpu0> x{1, 2, 3};
  dp::tensor<float, dp::extents<3>, gpu1> y{1, 2, 3};
  x = 2.0f * x;
  y = 2.0f * y;
  dp::synchronize<dp::cuda<0>>();
  dp::synchronize<dp::cuda<1>>();
  *static_cast<volatile float*>(y.data().get()) = 5;
  return 0;
}

int read_a_reused_block() {
  {
    const dp::tensor<float, dp::extents<3>, gpu0> x{1, 2, 3};
  }
  const dp::tensor<float, dp::extents<3>, gpu0> y{4, 5, 6};
  dp::synchronize<dp::cuda<0>>();
  return *static_cast<const volatile float*>(y.data().get()) == 4 ? 0 : 1;
}

int write_behind_the_end() {
  dp::tensor<float, dp::extents<16>, gpu0> x{dp::extents<16>{}};
  dp::detail::simulated_devices::at(0).submit([end = x.data().get() + 16] { *static_cast<volatile float*>(end) = 1; });
  dp::synchronize<dp::cuda<0>>();
  return 0;
}

int use_after_release() {
  float* data = nullptr;
  {
    dp::tensor<float, dp::extents<16>, gpu0> x{dp::extents<16>{}};
    data = x.data().get();
  }
  dp::detail::simulated_devices::at(0).submit([data] { *static_cast<volatile float*>(data) = 1; });
  dp::synchronize<dp::cuda<0>>();
  return 0;
}

int copy_to_the_host() {
  const dp::tensor<float, dp::extents<3>, gpu0> x{1, 2, 3};
  return dp::to<host>(x)(0) == 1 ? 0 : 1;
}

/// Exercises all operations on devices, with the guard raised and lowered at each synchronisation.
int train() {
  using net = nn::sequential<nn::linear<8, 16>, nn::relu, nn::dropout<std::ratio<1, 4>>, nn::linear<16, 3>>;
  dp::model<net, gpu1> model{dp::seed{1}};
  dp::optimizer adam{model, dp::optim::adam{}};
  const auto x = dp::to<gpu1>(dp::to<gpu0>(dp::zeros<float, host>(dp::extents<dp::dyn, 8>{20})));
  const auto labels = dp::zeros<std::int32_t, gpu1>(dp::extents<dp::dyn>{20});
  for (int step = 0; step < 20; ++step) {
    auto [output, saved] = model.forward(x);
    auto [loss, gradient] = nn::cross_entropy{}(output, labels);
    adam.step(model, model.backward(std::move(saved), gradient));
    if (step % 5 == 0 && !(dp::item(dp::sum(output * output)) >= 0)) return 1;
    if (step % 7 == 0) dp::trim_memory<dp::cuda<1>>();
  }
  dp::synchronize<dp::cuda<1>>();
  return 0;
}

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

}  // namespace

// The exit status after a report.
extern "C" const char* __asan_default_options() { return "exitcode=99"; }

int main() {
  check(!faults(copy_to_the_host), "a copy to the host");
  check(!faults(train), "a training");
  constexpr bool guarded = dp::detail::configuration::checked;
  for (int repeat = 0; repeat < 5; ++repeat) {
    check(faults(read_directly) == guarded, "reading directly");
    check(faults(write_directly) == guarded, "writing directly, after work of two devices");
    check(faults(read_a_reused_block) == guarded, "reading a block that was used before");
  }
  if (address_sanitizer) {
    check(faults(use_after_release), "a device that uses memory that was given back");
    check(faults(write_behind_the_end), "a device that writes behind the end");
  }
  if (failures == 0) std::puts(guarded ? "guarded" : "not guarded: no debug build, or one with a sanitizer");
  return failures == 0 ? 0 : 1;
}
