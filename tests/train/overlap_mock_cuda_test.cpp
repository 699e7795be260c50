// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On CUDA each bucket is reduced on side streams. They wait until backward has completed the bucket's gradients, and
// the update waits for them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/transport.hpp>
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
/// Two buckets: the last layer with the sums behind it, and the first layer.
using each_layer = collective::buckets<1024, 1024>;
using names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A training whose streams are recorded as "own" and "side" with the device's number.
template <class Policy> struct training {
  using placement = dp::batch_placement_t<where>;
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer<dp::model<net, where>, nn::cross_entropy, dp::optim::adam, Policy> step{model, nn::cross_entropy{},
                                                                                      dp::optim::adam{}, Policy{}};
  dp::tensor<float, dp::extents<dp::dyn, 64>, placement> images =
      dp::ones<float, placement>(dp::extents<dp::dyn, 64>{8});
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, placement> labels =
      dp::ones<std::int64_t, placement>(dp::extents<dp::dyn>{8});

  training() {
    step(images, labels);
    for (int device = 0; device != 2; ++device) {
      mock::name_stream(dp::detail::cuda_scope(device).stream(), "own " + std::to_string(device));
      mock::name_stream(dp::detail::of_place<dp::detail::cuda_stream_pool>(device).created(0),
                        "side " + std::to_string(device));
    }
  }
  /// The calls of one step.
  names operator()() {
    mock::clear_calls();
    step(images, labels);
    return mock::calls();
  }
};

/// Simulates the connection to a second process with the same data as this one.
class twin_transport final : public dp::parallel::transport {
 public:
  twin_transport() : transport({0, 2, 0, 2}) {}
  std::string description() const override { return "2 processes, of which one is imagined"; }
  std::size_t portion() const noexcept override { return 4096; }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t>) override {
    summands_[0] = summands_[1] = buffers[0];
    collected_ = {summands_, buffers[0]};
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    std::memmove(buffers[0] + begins[0], part, begins[1]);
    // The imagined process's part of a message is this process's; its part of gradients is zero, as the sum of the
    // marks of equal steps.
    const bool is_message = begins[2] <= 64;
    if (is_message)
      std::memmove(buffers[0] + begins[1], part, std::min(begins[1], begins[2] - begins[1]));
    else
      std::memset(buffers[0] + begins[1], 0, begins[2] - begins[1]);
  }
  bool poll() override { return true; }
  void wait() override {}
  collected summands() noexcept override { return collected_; }
  void barrier() override {}
  std::shared_ptr<transport> split(int, int) override { return nullptr; }

 private:
  const std::byte* summands_[2] = {};
  collected collected_{};
};

/// The calls on a stream, abbreviated: "work", "copy", "record", "wait", or "product" for matrix products.
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

TEST_CASE("buckets are reduced on side streams, between events of backward and the update", "[train]") {
  training<collective::all_reduce<collective::direct, each_layer>> train;
  for (int i = 0; i != 3; ++i) {
    const names calls = train();
    for (const char* const device : {"0", "1"}) {
      INFO("step " << i << ", device " << device);
      // Forward; the loss with its sums; backward with an event after each layer; the wait for both reductions.
      // The first device finally computes the loss from the reduced sums.
      names own{"product", "product", "work", "product", "product", "record", "product", "record", "wait", "update"};
      if (i != 0)
        own = {"work", "record", "product", "record", "wait", "update"};  // the work before the event is a graph
      if (device[0] == '0') own.push_back("work");
      CHECK(on_stream(calls, std::string("own ") + device) == own);
      // For each bucket: wait for this device's event and the other device's side stream, reduce, wait for the other
      // side stream again; then record the event for which the update waits.
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

TEST_CASE("over processes, buckets are copied to the host and back while the enqueued backward pass runs", "[train]") {
  const dp::process_group group(std::make_shared<twin_transport>());
  const dp::process_scope scope{group};
  using across = dp::across<dp::on<dp::cuda<0>>>;
  using policy = collective::all_reduce<collective::direct, each_layer>;
  dp::model<net, across> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
  step.launch_as_graphs(false);  // so that each product is a call
  const auto images = dp::to_batch<across>(dp::zeros<float, dp::cpu>(dp::extents<dp::dyn, 64>{8}));
  const auto labels = dp::to_batch<across>(dp::zeros<std::int64_t, dp::cpu>(dp::extents<dp::dyn>{8}));
  step(images, labels);
  mock::name_stream(dp::detail::cuda_scope(0).stream(), "own 0");
  mock::name_stream(dp::detail::of_place<dp::detail::cuda_stream_pool>(0).created(0), "side 0");
  mock::set_done(false);  // no copy completes before a wait for it
  for (int i = 0; i != 3; ++i) {
    mock::clear_calls();
    step(images, labels);
    const names& calls = mock::calls();
    const auto has = [](const char* part) { return [part](const std::string& call) { return contains(call, part); }; };
    const auto first_wait = std::find_if(calls.begin(), calls.end(), has("cudaEventSynchronize"));
    CHECK(std::count_if(calls.begin(), first_wait, has("cublasLtMatmul")) == 5);
    CHECK(std::find_if(first_wait, calls.end(), has("cublasLtMatmul")) == calls.end());
    // The last layer's bucket takes one window of the transport, the first layer's three; each window is copied to
    // the host and back. The second bucket's copies begin when the first bucket is done, after the second's event.
    CHECK(on_stream(calls, "side 0") == names{"wait", "copy", "record", "copy", "record",  //
                                              "wait", "copy", "record", "copy", "record", "copy", "record", "copy",
                                              "record", "copy", "record", "copy", "record", "record"});
    CHECK(mock::violations().empty());
  }
}

TEST_CASE("a lost device ends a step during the reduction of buckets", "[train]") {
  training<collective::all_reduce<collective::direct, each_layer>> train;
  mock::fail("cudaStreamWaitEvent", cudaErrorIllegalAddress, 3);
  CHECK_THROWS_AS(train(), dp::device_lost);
  CHECK_THROWS(train());
}

TEST_CASE("steps with overlapped reductions allocate nothing and wait for nothing", "[train]") {
  training<collective::all_reduce<collective::ring, each_layer>> train;
  for (int i = 0; i != 3; ++i)
    for (const std::string& call : train()) {
      INFO(call);
      // A captured stream is created, but no event.
      CHECK_FALSE((contains(call, "Malloc") || contains(call, "Synchronize") || contains(call, "EventCreate")));
    }
}
