// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/streams.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/memory/event.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using gpu = dp::cuda<0>;
using device = dp::on<gpu>;
using pinned = dp::on<dp::pinned>;
using large = dp::extents<support::on_software_gpu ? 1 << 14 : 1 << 22>;

namespace {

/// Returns elements `first`, `first` + 1, ... in pinned memory.
auto counted_from(float first) {
  dp::tensor<float, large, pinned> x{large{}};
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = first + static_cast<float>(i % 1000);
  return x;
}

bool holds(const dp::tensor<float, large, pinned>& x, float first) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.data()[i] != first + static_cast<float>(i % 1000)) return false;
  return true;
}

}  // namespace

// docs/cuda.md quotes this kernel and its launch.
__global__ void triple(float* x, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < n) x[i] *= 3;
}

TEST_CASE("a kernel of the program's own runs in the order of a place's work", "[backend][stream]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{1, 2, 3};
  const auto s = dp::stream<dp::cuda<0>>::current();  // takes a stream_scope into account
  triple<<<1, 32, 0, static_cast<cudaStream_t>(s.native_handle())>>>(x.data().get(), x.size());
  CHECK(cudaGetLastError() == cudaSuccess);
  const dp::tensor sum = x + x;  // stream order: after the kernel
  CHECK(support::values_of(sum) == std::vector<float>{6, 12, 18});
}

TEST_CASE("pinned memory is copied to a CUDA device and back concurrently with other work", "[backend][async]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const dp::stream<gpu> in, out;
  for (int round = 0; round < 8; ++round) {
    auto there = dp::to_async<device>(counted_from(static_cast<float>(round)), in);
    auto& batch = there.after();
    const auto copy = batch.clone();
    auto back = dp::to_async<pinned>(copy, out);
    CHECK(holds(back.get(), static_cast<float>(round)));
  }
  CHECK_NOTHROW(dp::synchronize<gpu>());
  CHECK(in.ready());
  CHECK(out.ready());
}

TEST_CASE("memory that a stream still reads is not reused by another stream", "[backend][async]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const dp::stream<gpu> out;
  const auto source = counted_from(7), other = counted_from(100);
  dp::tensor<float, large, pinned> back{large{}};
  for (int round = 0; round < 20; ++round) {
    auto copy = [&] {
      const auto x = dp::to<device>(source);
      dp::event<gpu> written;
      written.record();
      out.wait(written);
      x.record_stream(out);
      return dp::copy_async(back, x, out);
    }();
    const auto next = dp::to<device>(other);  // may reuse the memory of x
    copy.wait();
    REQUIRE(holds(back, 7));
    REQUIRE(support::values_of(next)[1] == 101);
  }
}

TEST_CASE("a stream waits for events of another stream and of another place", "[backend][async]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  const dp::stream<gpu> first, second;
  const auto source = counted_from(3);
  dp::tensor<float, large, device> x{large{}}, y{large{}};
  dp::tensor<float, large, pinned> back{large{}};
  dp::event<gpu> reached;
  dp::synchronize<gpu>();
  for (int round = 0; round < 20; ++round) {
    auto in = dp::copy_async(x, source, first);
    reached.record(first);
    second.wait(reached);
    {
      const dp::stream_scope on(second);
      dp::copy(y, x);
    }
    auto out = dp::copy_async(back, y, second);
    out.wait();
    REQUIRE(holds(back, 3));
  }
}
