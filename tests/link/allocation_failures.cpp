// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs trainings on the CPU and on two simulated devices, models, loaders, operations, files and collectives once for
// every allocation that they make. That allocation fails, and the work must throw an exception derived from
// devplace::error, or continue. After an exception the work must succeed when repeated, no memory may remain in use,
// and the program must exit.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include <devplace/all.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/sorting.hpp>

#include "support/labelled_samples.hpp"
#include "support/replaced_new.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"
#include "training.hpp"

namespace {

namespace dp = devplace;
namespace nn = dp::nn;

constexpr std::size_t samples = 12;
using training::net;

template <dp::placement Where, class Policy = dp::collective::all_reduce<>> void train() {
  std::array<float, samples * 6> x;
  std::array<std::int64_t, samples> y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 5 % 11) / 11 - 0.5f;
  for (std::size_t i = 0; i < samples; ++i) y[i] = static_cast<std::int64_t>(i * i % 3);
  dp::set_thread_count(2);
  const auto images = dp::to_batch<Where>(dp::wrap(x, dp::extents<dp::dyn, 6>{samples}));
  const auto labels = dp::to_batch<Where>(dp::wrap(y, dp::extents<dp::dyn>{samples}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.05f}, Policy{}};
  for (int i = 0; i < 2; ++i) static_cast<void>(step(images, labels).item());
}

using image_net = nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 10>>;

template <dp::placement Where, int Workers> void load_and_count() {
  const dp::image_set set = support::numbered_images(12);
  dp::loader<Where> batches{set, {.batch = 4, .shuffle = dp::seed{2}, .workers = Workers}};
  const dp::model<image_net, Where> model{dp::seed{3}};
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) static_cast<void>(model.predict(images));
  static_cast<void>(dp::accuracy(model, set));
}

std::string file_name;

void use_files() {
  const auto x = dp::full<float, dp::cpu>(dp::extents<3, 4>{}, 2.0f);
  dp::write_npy(file_name, x);
  static_cast<void>(dp::read_npy<float, dp::extents<dp::dyn, 4>>(file_name));
}

void use_files_of_parameters() {
  dp::model<net, dp::cuda<1>> model{dp::seed{3}};
  dp::save_parameters(model, file_name);
  dp::load_parameters(model, file_name);
  const dp::safetensors_file file(file_name);
  static_cast<void>(file.read<float, dp::dextents<2>>(file.tensors().front().name));
}

std::string mnist_folder;

/// The four files of MNIST with images of 2x3 pixels, and images held out by number, by fraction and at random.
void use_mnist() {
  const dp::labelled_images data = dp::read_mnist(mnist_folder);
  static_cast<void>(dp::hold_out(data.train, 4));
  static_cast<void>(dp::hold_out(data.train, 0.25, dp::seed{1}));
}

void write_mnist() {
  const dp::image_set set = support::numbered_images(12);
  const auto number = [](std::size_t n) { return std::string{0, 0, 0, static_cast<char>(n)}; };
  const auto write = [&](const char* name, const std::string& head, const auto& elements) {
    std::ofstream file(mnist_folder + "/" + name, std::ios::binary);
    file << std::string{0, 0, 8} << head;
    for (std::size_t i = 0; i < elements.size(); ++i) file.put(static_cast<char>(elements.data()[i]));
  };
  for (const std::string part : {"train", "t10k"}) {
    write((part + "-images-idx3-ubyte").c_str(), '\3' + number(12) + number(2) + number(3), set.images);
    write((part + "-labels-idx1-ubyte").c_str(), '\1' + number(12), set.labels);
  }
}

void reduce_and_scatter() {
  using two = dp::sharded<dp::axis<0>, 0, 1>;
  const auto summands = dp::zeros<float, dp::partial<dp::reduction::sum, 0, 1>>(dp::extents<6, 2>{});
  static_cast<void>(dp::reduce_scatter<two>(summands));
  static_cast<void>(dp::reduce_scatter<dp::sharded<dp::axis<1>, 0, 1>>(summands));
  static_cast<void>(dp::reduce_scatter<two>(summands.clone()));  // in place
  dp::synchronize<dp::cuda<0>>();
  dp::synchronize<dp::cuda<1>>();
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

void use_models() {
  using two = dp::replicated<0, 1>;
  const auto x = dp::zeros<float, dp::cpu>(dp::extents<4, 6>{});
  const dp::model<net, dp::cpu> source{dp::seed{3}};
  dp::model<net, two> model{dp::seed{4}};
  model.assign(source);
  auto moved = dp::to<dp::cuda<1>>(source);
  moved.for_each_parameter([](const auto&, auto) {});
  dp::check_replicas(model);
  const auto batch = dp::to_batch<two>(x);
  static_cast<void>(dp::to_host(model.predict(batch)));
  dp::tensor<float, dp::extents<4, 3>, dp::cuda<1>> result(dp::extents<4, 3>{});
  moved.predict_into(result, dp::to<dp::cuda<1>>(x), dp::batch<2>{});
  const auto replicas = dp::replicate<two>(model);
  static_cast<void>(dp::gather<dp::cpu>(dp::parallel_apply(replicas, batch)));
  auto [output, saved] = model.forward(batch);
  auto gradients = model.backward_to_input(std::move(saved), nn::output_gradient(std::move(output)));
  dp::optimizer optimizer{model, dp::optim::sgd{.momentum = 0.9}};
  optimizer.step(model, dp::synchronize(std::move(gradients.gradients)));
  dp::synchronize<dp::cuda<0>>();
  dp::synchronize<dp::cuda<1>>();
  static_cast<void>(nn::check_gradients<nn::linear<2, 2>>(dp::seed{1}));
}

void use_operations() {
  const auto x = dp::uniform<float, dp::cpu>(dp::extents<8, 8>{}, dp::seed{1});
  const auto on_device = dp::to<dp::cuda<0>>(x);
  static_cast<void>(dp::matmul(x, dp::transposed(x)));
  static_cast<void>(dp::matmul(on_device, on_device));
  static_cast<void>(dp::sum(x, 0, 1));
  static_cast<void>(dp::sum(on_device, dp::axis<1>{}));
  static_cast<void>(dp::take_rows(x, dp::permutation<dp::cpu>(8, dp::seed{2})));
  static_cast<void>(dp::softmax(on_device));
  static_cast<void>(dp::sort(x));
  static_cast<void>(dp::top_k(on_device, 2));
  static_cast<void>(dp::cumsum(x[0]));
  dp::tensor<float, dp::extents<8, 8>, dp::cuda<0>> sum = on_device + dp::relu(on_device);
  sum = dp::transposed(sum) + 1.0f;
  const dp::stream<dp::cuda<0>> side;
  dp::event<dp::cuda<0>> done;
  done.record(side);
  done.wait();
  static_cast<void>(dp::to_async<dp::pinned>(on_device, side).get());
  dp::synchronize<dp::cuda<0>>();
  static_cast<void>(dp::list_devices());
  static_cast<void>(dp::memory_table());
  static_cast<void>(dp::device_information_of<dp::cuda<0>>());
  static_cast<void>(dp::select<dp::cuda<0>, dp::cpu>("cuda:0", [](auto) { return 1; }));
  static_cast<void>(dp::first_available<dp::up_to<2>, dp::cpu>([](auto) { return 1; }));
}

enum outcome { completed, threw_error, threw_bad_alloc, threw_other, did_not_recover, left_memory };

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

std::size_t bytes_in_use() {
  return dp::memory_statistics<dp::cpu>().allocated + dp::memory_statistics<dp::cuda<0>>().allocated +
         dp::memory_statistics<dp::cuda<1>>().allocated;
}

/// Whether `program` completes. An unread failure on a device is thrown once.
bool completes(void (*program)()) { return run(program) == completed || run(program) == completed; }

/// The outcome of `program` after an exception: runs it again without and with the failure, after allocations that a
/// process makes only once.
outcome run_again(void (*program)(), long k) {
  if (!completes(program)) return did_not_recover;
  const std::size_t before = bytes_in_use();
  support::until_bad_alloc = k;
  const outcome result = run(program);
  support::until_bad_alloc = -1;
  if (result != completed && result != threw_error) return result;
  if (!completes(program)) return did_not_recover;
  return bytes_in_use() == before ? threw_error : left_memory;
}

/// Only every third allocation fails under sanitizers, where processes start slowly.
constexpr long step = support::sanitized ? 3 : 1;

/// Returns the number of wrong outcomes.
int sweep(const char* name, void (*program)()) {
  int wrong = 0, errors = 0;
  for (long k = 0;; k += step) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      support::until_bad_alloc = k;
      outcome result = run(program);
      const bool reached = support::until_bad_alloc.exchange(-1) < 0;
      if (result == threw_error) result = run_again(program, k);
      std::exit(reached ? result : 10 + result);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 10 + completed) {
      std::printf("%s: %ld of up to %ld allocations failed, %d of them end it by an error, %d wrong\n", name, k / step,
                  k, errors, wrong);
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
  mnist_folder = folder.path();
  write_mnist();
  using two = dp::replicated<0, 1>;
  const int wrong = sweep("cpu", train<dp::cpu>) + sweep("two devices", train<two>) +
                    sweep("ring", train<two, dp::collective::ring_all_reduce>) +
                    sweep("scatter and gather", train<two, dp::collective::scatter_gather>) +
                    sweep("shares", train<two, dp::collective::sharded_all_reduce<>>) +
                    sweep("loader on cpu", load_and_count<dp::cpu, 0>) +
                    sweep("loader with workers", load_and_count<dp::cpu, 2>) +
                    sweep("loader on two devices", load_and_count<two, 1>) + sweep("files", use_files) +
                    sweep("files of parameters", use_files_of_parameters) + sweep("MNIST", use_mnist) +
                    sweep("collectives", use_collectives) + sweep("reduce_scatter", reduce_and_scatter) +
                    sweep("models", use_models) + sweep("operations", use_operations);
  return wrong == 0 ? 0 : 1;
}
