// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trainings on the CPU and on two simulated devices, loaders, accuracy, files and collectives, each once for every
// allocation that it makes: that allocation fails, and the work must throw an exception derived from devplace::error,
// or go on, and the program must exit.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <devplace/all.hpp>

#include "support/failing_allocations.hpp"
#include "support/labelled_samples.hpp"
#include "support/temporary_folder.hpp"
#include "training.hpp"

namespace {

namespace dp = devplace;
namespace nn = dp::nn;

constexpr std::size_t samples = 12;
using training::net;

template <dp::placement Where, class Policy = dp::collective::all_reduce<>>
void train() {
  std::array<float, samples * 6> x;
  std::array<std::int64_t, samples> y;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 5 % 11) / 11 - 0.5f;
  for (std::size_t i = 0; i < samples; ++i)
    y[i] = static_cast<std::int64_t>(i * i % 3);
  dp::set_thread_count(2);
  const auto images = dp::to_batch<Where>(dp::wrap(x, dp::extents<dp::dyn, 6>{samples}));
  const auto labels = dp::to_batch<Where>(dp::wrap(y, dp::extents<dp::dyn>{samples}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.05f}, Policy{}};
  for (int i = 0; i < 2; ++i)
    static_cast<void>(step(images, labels).item());
}

using image_net = nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 10>>;

template <dp::placement Where, int Workers>
void load_and_count() {
  const dp::image_set set = support::numbered_images(12);
  dp::loader<Where> batches{set, {.batch = 4, .shuffle = dp::seed{2}, .workers = Workers}};
  const dp::model<image_net, Where> model{dp::seed{3}};
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch))
      static_cast<void>(model.predict(images));
  static_cast<void>(dp::accuracy(model, set));
}

std::string file_name;

void use_files() {
  const auto x = dp::full<float, dp::cpu>(dp::extents<3, 4>{}, 2.0f);
  dp::write_npy(file_name, x);
  static_cast<void>(dp::read_npy<float, dp::extents<dp::dyn, 4>>(file_name));
}

void use_collectives() {
  using two = dp::replicated<0, 1>;
  const auto x = dp::full<float, dp::cuda<0>>(dp::extents<6, 2>{}, 2.0f);
  const auto parts = dp::scatter<dp::sharded<dp::axis<0>, 0, 1>>(x);
  static_cast<void>(dp::gather<dp::cuda<1>>(parts));
  static_cast<void>(dp::all_gather(parts));
  static_cast<void>(dp::broadcast<two>(x));
  static_cast<void>(dp::all_reduce(dp::sum(parts, dp::axis<0>{})));
  static_cast<void>(dp::reduce<dp::cuda<0>>(dp::sum(parts, dp::axis<0>{})));
  dp::synchronize<dp::cuda<0>>();
  dp::synchronize<dp::cuda<1>>();
}

enum outcome { completed, threw_error, threw_bad_alloc, threw_other };

outcome run(void (*program)()) {
  try {
    program();
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
int sweep(const char* name, void (*program)()) {
  int wrong = 0, errors = 0;
  for (long k = 0;; ++k) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      support::until_bad_alloc = k;
      const outcome result = run(program);
      const bool reached = support::until_bad_alloc.exchange(-1) < 0;
      std::exit(reached ? result : 10 + result);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 10 + completed) {
      std::printf("%s: %ld allocations, %d of them end it by an error, %d wrong\n", name, k, errors, wrong);
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
  const support::temporary_folder folder;
  file_name = folder.file("x.npy");
  using two = dp::replicated<0, 1>;
  const int wrong = sweep("cpu", train<dp::cpu>) + sweep("two devices", train<two>) +
                    sweep("ring", train<two, dp::collective::ring_all_reduce>) +
                    sweep("loader on cpu", load_and_count<dp::cpu, 0>) +
                    sweep("loader with workers", load_and_count<dp::cpu, 2>) +
                    sweep("loader on two devices", load_and_count<two, 1>) + sweep("files", use_files) +
                    sweep("collectives", use_collectives);
  return wrong == 0 ? 0 : 1;
}
