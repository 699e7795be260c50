// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On CUDA each bucket is reduced on streams of its own, which wait for the points of backward at which its gradients
// are complete, and for which the update waits.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
namespace mock = devplace::test::mock_cuda;

namespace {

using net = nn::sequential<nn::linear<64, 32>, nn::linear<32, 16>>;
using where = dp::replicated<0, 1>;
/// The last layer with the sums that follow it, and the first one.
using each_layer = collective::buckets<1024, 1024>;
using names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A training whose streams have names in the records: "own" and "side" with the device's number.
template <class Policy>
struct training {
  using placement = dp::batch_placement_t<where>;
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer<dp::model<net, where>, nn::cross_entropy, dp::optim::adam, Policy> step{model, nn::cross_entropy{},
                                                                                      dp::optim::adam{}, Policy{}};
  dp::tensor<float, dp::extents<dp::dyn, 64>, placement> images{dp::extents<dp::dyn, 64>{8}};
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, placement> labels{dp::extents<dp::dyn>{8}};

  training() {
    step(images, labels);
    for (int device = 0; device != 2; ++device) {
      mock::name_stream(dp::detail::cuda_scope(device).stream(), "own " + std::to_string(device));
      mock::name_stream(dp::detail::cuda_stream_pool::of(device).made(0), "side " + std::to_string(device));
    }
  }
  /// The calls of one step.
  names operator()() {
    mock::clear_calls();
    step(images, labels);
    return mock::calls();
  }
};

/// The calls that name a stream, in short: "work", "copy", "record" or "wait", and products as "product".
names on_stream(const names& calls, const std::string& stream) {
  names found;
  for (const std::string& call : calls) {
    if (!contains(call, stream)) continue;
    found.push_back(contains(call, "cudaEventRecord")        ? "record"
                    : contains(call, "cudaStreamWaitEvent")  ? "wait"
                    : contains(call, "cudaMemcpy")           ? "copy"
                    : contains(call, "cublasLtMatmul")       ? "product"
                    : contains(call, "reduce_in_rank_order") ? "reduction"
                    : contains(call, "adam_formula")         ? "update"
                                                             : "work");
  }
  return found;
}

}  // namespace

TEST_CASE("buckets are reduced on streams of their own, between marks of backward and the update", "[train]") {
  training<collective::all_reduce<collective::direct, each_layer>> train;
  for (int i = 0; i != 3; ++i) {
    const names calls = train();
    for (const char* const device : {"0", "1"}) {
      INFO("step " << i << ", device " << device);
      // Forward; the loss and its sums; backward with a mark behind each layer; the wait for both reductions.
      CHECK(on_stream(calls, std::string("own ") + device) == names{"product", "product", "work", "work", "work",
                                                                    "product", "product", "record", "product", "record",
                                                                    "wait", "update"});
      // Of each bucket: the mark of this device, the other device's side stream, the reduction, and that again; then
      // the point for which the update waits.
      CHECK(on_stream(calls, std::string("side ") + device) == names{"wait", "record", "wait", "reduction", "record",
                                                                     "wait", "wait", "record", "wait", "reduction",
                                                                     "record", "wait", "record"});
    }
    CHECK(mock::violations().empty());
  }
}

TEST_CASE("copies between devices without access to each other are ordered on their side streams, too", "[train]") {
  mock::separate_devices();
  const auto check = [](auto policy) {
    training<decltype(policy)> train;
    for (int i = 0; i != 3; ++i) {
      const names side = on_stream(train(), "side 1");
      CHECK(std::count(side.begin(), side.end(), "copy") >= 2);
      CHECK(mock::violations().empty());
    }
  };
  check(collective::sharded_all_reduce<collective::direct, each_layer>{});
  check(collective::all_reduce<collective::ring, each_layer>{});
}

TEST_CASE("a lost device ends a step while buckets are reduced", "[train]") {
  training<collective::all_reduce<collective::direct, each_layer>> train;
  mock::fail("cudaStreamWaitEvent", cudaErrorIllegalAddress, 3);
  CHECK_THROWS_AS(train(), dp::device_lost);
  CHECK_THROWS(train());
}

TEST_CASE("steps with started reductions allocate nothing and wait for nothing", "[train]") {
  training<collective::all_reduce<collective::ring, each_layer>> train;
  for (int i = 0; i != 3; ++i)
    for (const std::string& call : train()) {
      INFO(call);
      CHECK_FALSE((contains(call, "Malloc") || contains(call, "Synchronize") || contains(call, "Create")));
    }
}
