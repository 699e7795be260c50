// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/nccl.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "process/control/job.hpp"
#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_nccl/mock_nccl.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
namespace cuda = devplace::test::mock_cuda;
namespace nccl = devplace::test::mock_nccl;

namespace {

using names = std::vector<std::string>;
using net = nn::sequential<nn::linear<96, 64>, nn::relu, nn::linear<64, 32>>;
/// A bucket for each of the four parameters.
using small = collective::buckets<1, 1>;

/// The operations that the devices execute in a step after the first ones, in call order; kernels by a part of their
/// name.
template <class Where, class Policy> names step_of() {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, Policy{}};
  const auto all_images = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<dp::dyn, 96>{64});
  const auto all_labels = dp::ones<std::int64_t, dp::on<dp::cuda<0>>>(dp::extents<dp::dyn>{64});
  const auto images = dp::to_batch<Where>(all_images);
  const auto labels = dp::to_batch<Where>(all_labels);
  step.prepare(64);
  for (int i = 0; i != 3; ++i) step(images, labels);
  cuda::clear_calls();
  nccl::clear_calls();
  step(images, labels);
  names all;
  for (const cuda::launch& l : cuda::launches()) {
    if (l.device != 0) continue;
    for (const char* const part :
         {"nccl", "cublasLtMatmul", "cross_entropy_row", "relu_gradient", "adam_formula", "add_received_parts"})
      if (l.name.find(part) != std::string::npos) all.push_back(part == std::string("nccl") ? l.name : part);
  }
  for (const std::string& call : cuda::calls()) CHECK(call.find("cudaMalloc") == std::string::npos);
  CHECK(cuda::violations().empty());
  CHECK(nccl::violations().empty());
  const auto calls = [](const char* part) {
    return std::count_if(nccl::calls().begin(), nccl::calls().end(),
                         [part](const std::string& call) { return call.find(part) != std::string::npos; });
  };
  CHECK(calls("rank 0 of 2") == calls("rank 1 of 2"));
  CHECK(calls("ncclGroupStart") == calls("ncclGroupEnd"));
  return all;
}

std::size_t count(const names& all, const std::string& one) {
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), one));
}

}  // namespace

TEST_CASE("NCCL sums each bucket of gradients once, between backward and the update", "[train][nccl]") {
  const names all = step_of<dp::replicated<0, 1>, collective::all_reduce<collective::nccl, small>>();
  INFO(Catch::Detail::stringify(all));
  CHECK(count(all, "ncclAllReduce") == 4);
  const auto first = std::find(all.begin(), all.end(), "ncclAllReduce");
  CHECK(std::find(all.begin(), first, "cross_entropy_row") != first);
  CHECK(all.back() == "adam_formula");
}

TEST_CASE("every policy works with NCCL", "[train][nccl]") {
  using where = dp::replicated<0, 1>;
  const names root = step_of<where, collective::reduce_and_broadcast<collective::nccl, small>>();
  INFO(Catch::Detail::stringify(root));
  CHECK(count(root, "ncclReduce") == 4);
  CHECK(std::find(std::find(root.begin(), root.end(), "adam_formula"), root.end(), "ncclBroadcast") != root.end());
  const names shares = step_of<where, collective::sharded_all_reduce<collective::nccl, small>>();
  INFO(Catch::Detail::stringify(shares));
  const auto update = std::find(shares.begin(), shares.end(), "adam_formula");
  const names before(shares.begin(), update), after(update, shares.end());
  CHECK(count(before, "ncclReduceScatter") == 3);
  CHECK(count(after, "ncclAllGather") == 3);
  CHECK(count(before, "ncclReduce") == 2);  // the first bucket ends with the sums, so its shards are unequal
}

TEST_CASE("NCCL moves gradients in 16 bits, bucket by bucket during backward, and devplace adds them",
          "[train][nccl]") {
  using where = dp::replicated<0, 1>;
  using in_bf16 = collective::sharded_all_reduce<collective::wire<dp::bf16, collective::nccl>, small>;
  const names all = step_of<where, in_bf16>();
  INFO(Catch::Detail::stringify(all));
  const auto update = std::find(all.begin(), all.end(), "adam_formula");
  const names before(all.begin(), update), after(update, all.end());
  CHECK(count(before, "ncclSend") == 3);  // the 32 biases are the first place's shard
  CHECK(count(before, "ncclRecv") == 4);
  CHECK(count(before, "add_received_parts") == 4);
  CHECK(count(before, "ncclReduceScatter") == 0);
  CHECK(count(before, "ncclAllReduce") == 1);  // the sums that follow the gradients, in float
  CHECK(count(after, "ncclAllGather") == 3);
  // All gradients in 16 bits, and the half of the largest bucket that the other place sends.
  using plan = dp::memory_plan<dp::model<net, where>, dp::batch<64>, dp::optim::adam, in_bf16>;
  STATIC_REQUIRE(plan::reduction_buffer == 2 * (96 * 64 + 64 + 64 * 32 + 32) + 2 * (96 * 64 / 2));
}

TEST_CASE("NCCL gathers the next unit of a model in shares before a unit computes", "[train][nccl]") {
  using each_layer = dp::spread<dp::mesh<dp::shares<2, 1>>, 0, 1>;
  const names all = step_of<each_layer, collective::gather_units<collective::nccl>>();
  INFO(Catch::Detail::stringify(all));
  CHECK(count(all, "ncclAllGather") == 2);  // both units stay until backward
  CHECK(count(all, "ncclReduceScatter") == 2);
  CHECK(count(all, "ncclAllReduce") == 1);  // the sums that follow the gradients
  const auto product = std::find(all.begin(), all.end(), "cublasLtMatmul");
  CHECK(count(names(all.begin(), product), "ncclAllGather") == 2);
  const auto update = std::find(all.begin(), all.end(), "adam_formula");
  CHECK(count(names(update, all.end()), "adam_formula") == 2);
  CHECK(count(names(update, all.end()), "ncclAllGather") == 0);
  const auto scatter = std::find(all.begin(), all.end(), "ncclReduceScatter");
  CHECK(std::find(scatter, all.end(), "cublasLtMatmul") != all.end());  // the first layer's backward follows
}

TEST_CASE("a model across processes uses NCCL with the scope's group", "[train][nccl]") {
  const dp::process_group alone;
  const dp::process_scope scope{alone};
  const names all = step_of<dp::across<dp::replicated<0, 1>>, collective::all_reduce<collective::nccl, small>>();
  CHECK(count(all, "ncclAllReduce") == 4);
  CHECK(nccl::live_communicators() == 0);
}

TEST_CASE("the trainer of docs/processes.md reduces by NCCL", "[train][nccl][docs]") {
  const dp::process_group alone;
  const dp::process_scope scope{alone};
  const auto images = dp::ones<float, dp::on<dp::cpu>>(dp::extents<dp::dyn, 96>{8});
  const auto labels = dp::ones<std::int64_t, dp::on<dp::cpu>>(dp::extents<dp::dyn>{8});
  using where = dp::across<dp::cuda<0>>;  // one GPU in each process
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::all_reduce<collective::nccl>{}};
  nccl::clear_calls();
  step(dp::to_batch<where>(images), dp::to_batch<where>(labels));
  CHECK(nccl::live_communicators() == 1);
  CHECK(nccl::violations().empty());
}

TEST_CASE("across processes the pass and the update become graphs, before and after NCCL's collective",
          "[train][nccl]") {
  const dp::process_group alone;
  const dp::process_scope scope{alone};
  using where = dp::across<dp::cuda<0>>;
  dp::model<net, where> model{dp::seed{1}}, other{dp::seed{1}};
  const collective::all_reduce<collective::nccl> policy;
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy};
  dp::trainer single{other, nn::cross_entropy{}, dp::optim::adam{}, policy};
  single.launch_as_graphs(false);
  const auto images = dp::to_batch<where>(dp::ones<float, dp::cpu>(dp::extents<dp::dyn, 96>{8}));
  const auto labels = dp::to_batch<where>(dp::ones<std::int64_t, dp::cpu>(dp::extents<dp::dyn>{8}));
  for (std::size_t i = 0; i != 5; ++i) {
    INFO("step " << i);
    step(images, labels);
    single(images, labels);
    CHECK(step.last_launches().graphs ==
          std::min<std::size_t>(i, 2));  // the update's arguments repeat one step earlier
    CHECK((step.last_launches().single == 0) == (i >= 2));
    CHECK(dp::test::parameters_of(model) == dp::test::parameters_of(other));
  }
}

TEST_CASE("the work of a model in shares between NCCL's collectives becomes graphs", "[train][nccl]") {
  using each_layer = dp::spread<dp::mesh<dp::shares<2, 1>>, 0, 1>;
  dp::model<net, each_layer> model{dp::seed{1}}, other{dp::seed{1}};
  const collective::gather_units<collective::nccl> policy;
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy};
  dp::trainer single{other, nn::cross_entropy{}, dp::optim::adam{}, policy};
  single.launch_as_graphs(false);
  const auto images = dp::to_batch<each_layer>(dp::ones<float, dp::cpu>(dp::extents<dp::dyn, 96>{8}));
  const auto labels = dp::to_batch<each_layer>(dp::ones<std::int64_t, dp::cpu>(dp::extents<dp::dyn>{8}));
  for (std::size_t i = 0; i != 6; ++i) {
    INFO("step " << i);
    step(images, labels);
    single(images, labels);
    CHECK((step.last_launches().graphs >= 4) == (i >= 2));  // of each place's passes between the collectives
    CHECK(dp::test::parameters_of(dp::to<dp::cpu>(model)) == dp::test::parameters_of(dp::to<dp::cpu>(other)));
  }
  CHECK(cuda::violations().empty());
  CHECK(nccl::violations().empty());
}

TEST_CASE("NCCL connects groups of processes with shares, and the replicas of each share", "[train][nccl]") {
  nccl::meet_in_shared_memory();
  cuda::set_devices(6);
  dp::test::forked_ranks processes;
  dp::test::start_as_torchrun(processes, 6, 6, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_scope scope{group};
    using where = dp::across<dp::cuda<0>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2, 1>>>;
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::gather_units<collective::nccl>{}};
    const auto images = dp::to_batch<where>(dp::ones<float, dp::cpu>(dp::extents<dp::dyn, 96>{12}));
    const auto labels = dp::to_batch<where>(dp::ones<std::int64_t, dp::cpu>(dp::extents<dp::dyn>{12}));
    step(images, labels);
    nccl::clear_calls();
    step(images, labels);
    const auto require_calls = [](const std::string& call, int rank, int size, std::ptrdiff_t expected) {
      const std::string begin = call + " rank " + std::to_string(rank) + " of " + std::to_string(size);
      const auto found = std::count_if(nccl::calls().begin(), nccl::calls().end(),
                                       [&](const std::string& made) { return made.starts_with(begin); });
      if (found != expected) throw std::runtime_error(std::to_string(found) + " calls of " + begin);
    };
    const int share = group.rank() % 2, replica = group.rank() / 2;
    require_calls("ncclAllGather", share, 2, 2);      // of each layer
    require_calls("ncclReduceScatter", share, 2, 2);  // of each layer's gradients
    require_calls("ncclAllReduce", replica, 3, 3);    // of each layer's share of the gradients, and of the sums
    require_calls("ncclAllReduce", share, 2, 1);      // of the sums that follow the gradients
    if (!cuda::violations().empty() || !nccl::violations().empty()) throw std::runtime_error("a rule was violated");
  });
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 0");
    CHECK(text.empty());
  }
}

TEST_CASE("synchronize sums gradients by NCCL", "[train][nccl]") {
  using where = dp::replicated<0, 1>;
  dp::model<net, where> model{dp::seed{1}};
  const auto images = dp::ones<float, dp::batch_placement_t<where>>(dp::extents<dp::dyn, 96>{64});
  const auto labels = dp::ones<std::int64_t, dp::batch_placement_t<where>>(dp::extents<dp::dyn>{64});
  auto [output, saved] = model.forward(images);
  auto partial = model.backward(std::move(saved), nn::cross_entropy{}(output, labels).gradient);
  nccl::clear_calls();
  const auto whole = dp::synchronize<collective::all_reduce<collective::nccl>>(std::move(partial));
  CHECK(std::any_of(nccl::calls().begin(), nccl::calls().end(),
                    [](const std::string& call) { return call.find("ncclAllReduce rank 1 of 2") == 0; }));
  CHECK(nccl::live_communicators() == 0);
  CHECK(nccl::violations().empty());
}
