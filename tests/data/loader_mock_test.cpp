// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/memory/stream.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using device = dp::on<dp::cuda<0>>;
using calls = std::vector<std::string>;

namespace {

/// Names the stream of the next loader, by naming a stream and returning it to the pool.
template <class P> void name_copies() {
  const dp::stream<P> side;
  mock::name_stream(side.native_handle(), "copies");
}

/// The recorded calls without calls that only set or query state: current device, event completed.
calls work() {
  calls all = mock::calls();
  const auto passive = [](const std::string& call) {
    return call.starts_with("cudaGetDevice ") || call.starts_with("cudaSetDevice ") ||
           call.starts_with("cudaEventQuery ");
  };
  all.erase(std::remove_if(all.begin(), all.end(), passive), all.end());
  return all;
}

std::size_t count(const std::string& function) {
  std::size_t found = 0;
  for (const std::string& call : mock::calls())
    if (call.starts_with(function + " ")) ++found;
  return found;
}

calls batch_of(int device, std::size_t images, std::size_t labels) {
  const std::string on = " device " + std::to_string(device);
  return {"cudaEventRecord" + on,                     // after work with the previous batch
          "cudaStreamWaitEvent" + on + " on copies",  // after work with the batch before that
          "cudaMemcpyAsync" + on + " to device, " + std::to_string(images) + " bytes on copies",
          "cudaMemcpyAsync" + on + " to device, " + std::to_string(labels) + " bytes on copies",
          "cudaEventRecord" + on + " on copies",  //
          "cudaStreamWaitEvent" + on};
}

calls operator+(calls all, const calls& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("a batch for a GPU is copied on a separate stream, ordered between earlier and later work", "[data]") {
  const dp::image_set data = support::numbered_images(20);
  name_copies<dp::cuda<0>>();
  {
    dp::loader<device> batches{data, {.batch = 8}};
    mock::clear_calls();
    auto epoch = batches.epoch(0);
    auto at = epoch.begin();
    CHECK(work() == batch_of(0, 8 * 6 * 4, 8));
    const auto first = at->images.data();
    ++at;
    CHECK(work() == batch_of(0, 8 * 6 * 4, 8) + batch_of(0, 8 * 6 * 4, 8));
    CHECK(at->images.data() != first);
    ++at;
    CHECK(at->images.data() == first);
    CHECK(work() == batch_of(0, 8 * 6 * 4, 8) + batch_of(0, 8 * 6 * 4, 8) + batch_of(0, 4 * 6 * 4, 4));
    CHECK(first.get()[5] == 117.0F / 255.0F);  // image 16
    CHECK(at->labels.data().get()[3] == 9);
  }
  CHECK(mock::live_blocks() == 0);
  CHECK(mock::live_pinned() == 0);
  CHECK(mock::live_events() == 0);
  CHECK(mock::violations() == calls{});
}

TEST_CASE("each GPU of a split batch has its copies, and none without rows", "[data]") {
  const dp::image_set data = support::numbered_images(4);
  name_copies<dp::cuda<0>>();
  name_copies<dp::cuda<1>>();
  dp::loader<dp::replicated<0, 1>> batches{data, {.batch = 3}};
  mock::clear_calls();
  auto epoch = batches.epoch(0);
  auto at = epoch.begin();
  CHECK(work() == batch_of(0, 2 * 6 * 4, 2) + batch_of(1, 6 * 4, 1));
  mock::clear_calls();
  ++at;
  CHECK(count("cudaMemcpyAsync") == 2);
  CHECK(work().back() == "cudaStreamWaitEvent device 1");
  CHECK(mock::violations() == calls{});
}

TEST_CASE("during an epoch the host neither waits nor allocates", "[data]") {
  const dp::image_set data = support::numbered_images(41);
  dp::loader<device> batches{data, {.batch = 8, .shuffle = dp::seed{1}}};
  mock::clear_calls();
  std::size_t samples = 0;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const auto& batch : batches.epoch(epoch)) samples += batch.labels.extent(0);
  CHECK(samples == 3 * 41);
  CHECK(work().size() == 3 * 6 * batch_of(0, 1, 1).size());
  CHECK(count("cudaMemcpyAsync") == 3 * 6 * 2);
  CHECK(mock::violations() == calls{});
}

TEST_CASE("the host waits only for copies from memory that it refills", "[data]") {
  const dp::image_set data = support::numbered_images(40);
  dp::loader<device> batches{data, {.batch = 8}};
  mock::set_done(false);
  mock::clear_calls();
  auto epoch = batches.epoch(0);
  auto at = epoch.begin();
  ++at;
  CHECK(count("cudaEventSynchronize") == 0);
  ++at;  // refills the memory of batch 0
  CHECK(count("cudaEventSynchronize") == 1);
  CHECK(count("cudaStreamSynchronize") == 0);
  ++at;
  CHECK(count("cudaEventSynchronize") == 2);
  mock::set_done(true);
  ++at;
  CHECK(count("cudaEventSynchronize") == 2);
}

TEST_CASE("a failed CUDA copy is an error at the batch", "[data]") {
  const dp::image_set data = support::numbered_images(40);
  dp::loader<device> batches{data, {.batch = 8}};
  auto epoch = batches.epoch(0);
  auto at = epoch.begin();
  mock::fail("cudaMemcpyAsync", cudaErrorInvalidValue);
  CHECK_THROWS_WITH(++at, Catch::Matchers::ContainsSubstring("cudaMemcpyAsync to the device on cuda:0 failed"));
  ++at;
  CHECK(at->labels.data().get()[0] == 16 % 10);
  CHECK(mock::violations() == calls{});
}

TEST_CASE("if one of a batch's copies fails, the others complete before their memory is freed", "[data]") {
  const dp::image_set data = support::numbered_images(40);
  {
    dp::loader<device> batches{data, {.batch = 8}};
    auto epoch = batches.epoch(0);
    auto at = epoch.begin();
    mock::fail("cudaMemcpyAsync", cudaErrorInvalidValue, 2);
    CHECK_THROWS_AS(++at, dp::error);
    mock::fail("cudaMemcpyAsync", cudaErrorInvalidValue, 2);
    mock::fail("cudaEventRecord", cudaErrorInvalidValue, 2);  // the one after the record for the buffer
    CHECK_THROWS_AS(++at, dp::error);
  }
  CHECK(mock::live_pinned() == 0);
  CHECK(mock::violations() == calls{});
}

TEST_CASE("a loader for one GPU makes no context on another one", "[data]") {
  mock::set_devices(4);
  const dp::image_set data = support::numbered_images(8);
  dp::loader<dp::on<dp::cuda<3>>> batches{data, {.batch = 4}};
  for (const auto& batch : batches.epoch(0)) CHECK(batch.images.extent(0) == 4);
  CHECK(mock::contexts() == std::set<int>{3});
  CHECK(mock::violations() == calls{});
}
