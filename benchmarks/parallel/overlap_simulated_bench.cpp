// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How much of the communication of a training step is hidden behind its backward pass. A network of five layers of
// `width` and buckets of one layer each is trained by several processes, which this program forks, with one thread
// each: on their CPUs, and on a simulated device for each, which computes while its process communicates. The step is
// measured with buckets that are reduced during backward, with buckets that are reduced after it, and the reductions
// alone; these alternate, and medians over the rounds of the slowest process are printed. hidden: the part of the time
// of the reductions alone by which the first is faster than the second.
//
// Processes of one host communicate by their processors, which also compute, so little can be hidden. Rows with a link
// are with a model of a network instead: a transport that needs no processor while a message is on its way, and for
// which each of a call's messages takes its latency and its bytes over the bandwidth.
//
//   bench_parallel_overlap_simulated [processes [batch of each [rounds]]]      defaults: 2, 64 and 7

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/parallel/launch.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/train/trainer.hpp>

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

/// A network between the processes of a group, as above.
class modelled_link final : public dp::parallel::transport {
 public:
  modelled_link(std::shared_ptr<transport> via, double latency, double bytes_per_second)
      : transport(via->ranks()), via_(std::move(via)), latency_(latency), per_second_(bytes_per_second) {}
  std::string description() const override { return via_->description(); }
  std::size_t portion() const noexcept override { return via_->portion(); }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    via_->start_collect(buffers, begins);
    send(buffers.size() * begins.back());
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    via_->start_distribute(part, buffers, begins);
    send(begins.back());
  }
  bool poll() override { return now() >= arrival_ && via_->poll(); }
  void wait() override {
    via_->wait();
    while (now() < arrival_)
      std::this_thread::sleep_for(std::chrono::duration<double>(arrival_ - now()));
  }
  collected summands() noexcept override { return via_->summands(); }
  void give_up() noexcept override { via_->give_up(); }
  void barrier() override { via_->barrier(); }
  std::shared_ptr<transport> split(int color, int key) override { return via_->split(color, key); }

 private:
  /// A process sends what the others need of `bytes`, and receives as much at the same time.
  void send(std::size_t bytes) {
    const double others = 1 - 1.0 / size();
    arrival_ = now() + latency_ + others * static_cast<double>(bytes) / per_second_;
  }

  std::shared_ptr<transport> via_;
  double latency_, per_second_, arrival_ = 0;
};

/// Another engine's communicators without the members that start collectives.
template <class Communicator>
class after_backward {
 public:
  explicit after_backward(Communicator&& c) : work_(std::move(c)) {}
  int size() const { return work_.size(); }
  int first_rank() const { return work_.first_rank(); }
  int local_count() const { return work_.local_count(); }
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
    work_.all_reduce(buffers, count, op);
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op, int root) {
    work_.reduce(buffers, count, op, root);
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    work_.broadcast(buffers, count, root);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
    work_.reduce_scatter(buffers, begins, op);
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    work_.all_gather(buffers, begins);
  }

 private:
  Communicator work_;
};
struct direct_after_backward : collective::direct {
  template <class Backend>
  auto connect(std::span<const int> ordinals) const {
    return after_backward(collective::direct::connect<Backend>(ordinals));
  }
  template <class Backend>
  auto connect_across(std::span<const int> ordinals, const dp::process_group& processes) const {
    return after_backward(collective::direct::connect_across<Backend>(ordinals, processes));
  }
};

template <class Where, class Engine>
struct training {
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
  for (std::size_t i = 0; i < samples; ++i)
    labels(i) = static_cast<std::int64_t>(i % 10);
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
    for (int i = 0; i < steps; ++i)
      step();
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
  const dp::process_group processes = dp::launched_processes();
  const auto over = [&](double bytes_per_second) {
    return dp::process_group(std::make_shared<modelled_link>(processes.transport(), 20e-6, bytes_per_second));
  };
  if (processes.is_main())
    std::printf("%-36s %10s %10s %12s %10s\n", "milliseconds of a step", "after", "during", "reductions", "hidden");
  measure<dp::across<dp::on<dp::cpu>>>("cpu, shared memory", processes, batch, rounds);
  measure<dp::across<dp::on<dp::cuda<0>>>>("simulated device, shared memory", processes, batch, rounds);
  measure<dp::across<dp::on<dp::cpu>>>("cpu, link of 1 GB/s", over(1e9), batch, rounds);
  measure<dp::across<dp::on<dp::cuda<0>>>>("simulated device, link of 1 GB/s", over(1e9), batch, rounds);
  measure<dp::across<dp::on<dp::cpu>>>("cpu, link of 100 MB/s", over(1e8), batch, rounds);
  measure<dp::across<dp::on<dp::cuda<0>>>>("simulated device, link of 100 MB/s", over(1e8), batch, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::size_t batch = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 7;
  // What torchrun would set.
  const std::string size = std::to_string(processes);
  ::setenv("WORLD_SIZE", size.c_str(), 1);
  ::setenv("LOCAL_WORLD_SIZE", size.c_str(), 1);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("DEVPLACE_PORT", std::to_string(20000 + ::getpid() % 10000).c_str(), 1);
  for (int rank = 0; rank < processes; ++rank) {
    if (::fork() != 0) continue;
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    measure_all(batch, rounds);
    return 0;
  }
  int failed = 0, status = 0;
  while (::wait(&status) > 0)
    failed += status != 0;
  return failed == 0 ? 0 : 1;
}
