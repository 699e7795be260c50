// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures how much of a training step's communication is hidden behind the backward pass. A network of five layers of
// `width` with one bucket per layer is trained by several forked processes with one thread each: on their CPUs, and on
// one simulated device each, which computes while its process communicates. Three settings alternate: buckets reduced
// during backward, buckets reduced after backward, and the reductions alone. Prints medians over the rounds of the
// slowest process. hidden: the time saved by the first setting against the second, as a share of the reductions' time
// alone.
//
// Processes of one host communicate by the processors that also compute, so little can be hidden. Rows with a link use
// a model of a network instead, with one real process and imagined peers. A message in transit needs no processor; it
// takes the link's latency of 20 us plus its bytes divided by the bandwidth.
//
//   bench_parallel_overlap_simulated [processes [batch of each [rounds]]]      defaults: 2, 64 and 7

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/launched_processes.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::bench::median;
using dp::bench::now;

namespace {

constexpr std::size_t width = 512;
using net =
    nn::sequential<nn::linear<width, width>, nn::relu, nn::linear<width, width>, nn::relu, nn::linear<width, width>,
                   nn::relu, nn::linear<width, width>, nn::relu, nn::linear<width, 10>>;
using each_layer = collective::buckets<(1 << 14), (1 << 20)>;

/// A modelled network, as described above, to imagined processes with the data of this one.
class modelled_link final : public dp::parallel::transport {
 public:
  modelled_link(int processes, double latency, double bytes_per_second)
      : transport({0, processes, 0, processes}), latency_(latency), per_second_(bytes_per_second) {}
  std::string description() const override { return "imagined processes"; }
  std::size_t portion() const noexcept override { return std::size_t{16} << 20; }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    summands_.assign(static_cast<std::size_t>(size()), buffers[0]);
    collected_ = {summands_, buffers[0]};
    send(begins.back());
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    for (std::size_t r = 0; r + 1 < begins.size(); ++r)
      std::memmove(buffers[0] + begins[r], part, std::min(begins[1], begins[r + 1] - begins[r]));
    send(begins.back());
  }
  bool poll() override { return now() >= arrival_; }
  void wait() override {
    while (now() < arrival_) std::this_thread::sleep_for(std::chrono::duration<double>(arrival_ - now()));
  }
  collected summands() noexcept override { return collected_; }
  void barrier() override {}
  std::shared_ptr<transport> split(int, int) override { return nullptr; }

 private:
  /// Sends the other processes' share of `bytes`, and receives as much concurrently.
  void send(std::size_t bytes) {
    arrival_ = now() + latency_ + (1 - 1.0 / size()) * static_cast<double>(bytes) / per_second_;
  }

  double latency_, per_second_, arrival_ = 0;
  std::vector<const std::byte*> summands_;
  collected collected_{};
};

/// Another engine's communicators without the members that start collectives.
template <class Communicator> class after_backward {
 public:
  explicit after_backward(Communicator&& c) : work_(std::move(c)) {}
  int size() const { return work_.size(); }
  int first_rank() const { return work_.first_rank(); }
  int local_count() const { return work_.local_count(); }
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    work_.all_reduce(buffers, count, op);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op, int root) {
    work_.reduce(buffers, count, op, root);
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    work_.broadcast(buffers, count, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
    work_.reduce_scatter(buffers, begins, op);
  }
  template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    work_.all_gather(buffers, begins);
  }

 private:
  Communicator work_;
};
struct direct_after_backward : collective::direct {
  template <class Backend> auto connect(std::span<const int> ordinals) const {
    return after_backward(collective::direct::connect<Backend>(ordinals));
  }
  template <class Backend>
  auto connect_across(std::span<const int> ordinals, const dp::process_group& processes) const {
    return after_backward(collective::direct::connect_across<Backend>(ordinals, processes));
  }
};

template <class Where, class Engine> struct training {
  using placement = dp::batch_placement_t<Where>;
  dp::model<net, Where> model{dp::seed{2}};
  dp::trainer<dp::model<net, Where>, nn::cross_entropy, dp::optim::sgd, collective::all_reduce<Engine, each_layer>>
      step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.01}};
};

template <class Where>
void measure(const char* name, const dp::process_group& processes, std::size_t batch, int rounds) {
  const dp::process_scope scope{processes};
  const std::size_t samples = batch * static_cast<std::size_t>(processes.size());
  const auto images = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, width>{samples}, dp::seed{1}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu> labels(dp::extents<dp::dyn>{samples});
  for (std::size_t i = 0; i < samples; ++i) labels(i) = static_cast<std::int64_t>(i % 10);
  const auto x = dp::to_batch<Where>(images);
  const auto y = dp::to_batch<Where>(labels);
  training<Where, collective::direct> during;
  training<Where, direct_after_backward> behind;
  using plan = dp::bucket_plan<dp::model<net, Where>, collective::all_reduce<collective::direct, each_layer>>;
  using backend = dp::placement_backend_t<Where>;
  const int ordinal[] = {0};
  auto alone = collective::direct{}.connect_across<backend>(ordinal, processes);
  const auto memory = dp::detail::allocate<backend>(0, plan::largest * sizeof(float));
  float* const buffer = static_cast<float*>(memory.data());
  const auto reduce = [&] {
    for (std::size_t i = 0; i != plan::size; ++i)
      alone.all_reduce(std::span<float* const>(&buffer, 1), plan::at(i).count, dp::reduction::max);
  };
  const auto seconds_of = [&](int steps, const auto& step) {
    processes.barrier();
    const double begin = now();
    for (int i = 0; i < steps; ++i) step();
    return processes.all_reduce((now() - begin) / steps, dp::reduction::max);
  };
  const auto with = [&] { during.step(x, y).item(); };
  const auto without = [&] { behind.step(x, y).item(); };
  static_cast<void>(seconds_of(2, with));
  static_cast<void>(seconds_of(2, without));
  const int steps = 1 + static_cast<int>(0.2 / seconds_of(2, without));
  std::vector<double> overlapped, after, communication;
  for (int round = 0; round < rounds; ++round) {
    overlapped.push_back(seconds_of(steps, with));
    after.push_back(seconds_of(steps, without));
    communication.push_back(seconds_of(steps, reduce));
  }
  if (processes.is_main())
    std::printf("%-36s %10.2f %10.2f %12.2f %8.0f %%\n", name, median(after) * 1e3, median(overlapped) * 1e3,
                median(communication) * 1e3, 100 * (median(after) - median(overlapped)) / median(communication));
  std::fflush(stdout);
}

void measure_all(std::size_t batch, int rounds) {
  dp::set_thread_count(1);
  int size = 0;
  {
    const dp::process_group processes = dp::launched_processes();
    size = processes.size();
    if (processes.is_main())
      std::printf("%-36s %10s %10s %12s %10s\n", "milliseconds of a step", "after", "during", "reductions", "hidden");
    measure<dp::across<dp::on<dp::cpu>>>("cpu, shared memory", processes, batch, rounds);
    measure<dp::across<dp::on<dp::cuda<0>>>>("simulated device, shared memory", processes, batch, rounds);
    if (!processes.is_main()) return;
  }
  for (const double megabytes : {1000.0, 300.0, 100.0}) {
    const dp::process_group imagined(std::make_shared<modelled_link>(size, 20e-6, megabytes * 1e6));
    const std::string link = "link of " + std::to_string(static_cast<int>(megabytes)) + " MB/s";
    measure<dp::across<dp::on<dp::cpu>>>(("cpu, " + link).c_str(), imagined, batch, rounds);
    measure<dp::across<dp::on<dp::cuda<0>>>>(("simulated device, " + link).c_str(), imagined, batch, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::size_t batch = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 7;
  return dp::bench::in_launched_processes(processes, [&] { measure_all(batch, rounds); });
}
