// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults planted in a program's host code and kernels, which the mock of CUDA's runtime and the GPU in software must
// find; without the fault they must find nothing.

#include "support/mock_cuda/mock_cuda.hpp"

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/mock_cuda/state.hpp"

namespace mock = devplace::test::mock_cuda;

__global__ void add_one(float* y, const float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = x[i] + 1;
}
__global__ void mark_positive(float* y, const float* x) {
  if (x[threadIdx.x] > 0) y[threadIdx.x] = 1;
}
__global__ void sum_into_one(float* sum, const float* x) { *sum += x[threadIdx.x]; }
__global__ void reverse_block(float* x, bool wait) {
  __shared__ float all[64];
  all[threadIdx.x] = x[threadIdx.x];
  if (wait) __syncthreads();
  x[threadIdx.x] = all[63 - threadIdx.x];
}

namespace {

constexpr int n = 64;
const bool in_order = !mock::in_reverse_order();

/// Two streams and two arrays of device 0, and an array of pinned memory.
struct program {
  cudaStream_t first = nullptr, second = nullptr;
  cudaMemPool_t pool = nullptr;
  float *x = nullptr, *y = nullptr, *pinned = nullptr;
  cudaEvent_t event = nullptr;

  program() {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaMemPoolProps properties{};
    properties.location.id = 0;
    cudaMemPoolCreate(&pool, &properties);
    for (float** const memory : {&x, &y})
      cudaMallocFromPoolAsync(reinterpret_cast<void**>(memory), n * sizeof(float), pool, first);
    cudaHostAlloc(reinterpret_cast<void**>(&pinned), n * sizeof(float), cudaHostAllocPortable);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (int i = 0; i < n; ++i) pinned[i] = static_cast<float>(i);
    cudaMemcpyAsync(x, pinned, n * sizeof(float), cudaMemcpyHostToDevice, first);
    cudaStreamSynchronize(first);
  }
};

struct planted {
  const char* name;
  const char* sentence;  ///< part of the violation, or the error that CUDA returns
  std::function<void(program&, bool faulty)> run;
  bool between_streams = false;  ///< found only where work executes in the order of the calls
};

const std::vector<planted>& faults() {
  static const std::vector<planted> all{
      {"a stream reads what another stream writes", "reads what another stream may still be writing",
       [](program& p, bool faulty) {
         add_one<<<1, n, 0, p.first>>>(p.y, p.x, n);
         cudaEventRecord(p.event, p.first);
         if (!faulty) cudaStreamWaitEvent(p.second, p.event, 0);
         add_one<<<1, n, 0, p.second>>>(p.x, p.y, n);
       },
       true},
      {"a copy reads what another stream's kernel writes", "reads what another stream may still be writing",
       [](program& p, bool faulty) {
         add_one<<<1, n, 0, p.first>>>(p.y, p.x, n);
         if (!faulty) cudaStreamSynchronize(p.first);
         cudaMemcpyAsync(p.pinned, p.y, n * sizeof(float), cudaMemcpyDeviceToHost, p.second);
       },
       true},
      {"a kernel reads memory after its end", "cudaErrorIllegalAddress",
       [](program& p, bool faulty) { add_one<<<1, n + 32, 0, p.first>>>(p.y, p.x, faulty ? n + 1 : n); }},
      {"a kernel reads memory that was freed", "cudaErrorIllegalAddress",
       [](program& p, bool faulty) {
         if (faulty) cudaFreeAsync(p.x, p.first);
         add_one<<<1, n, 0, p.first>>>(p.y, p.x, n);
       }},
      {"memory is freed while another stream uses it", "memory that another stream may still be using",
       [](program& p, bool faulty) {
         add_one<<<1, n, 0, p.second>>>(p.y, p.x, n);
         if (!faulty) cudaStreamSynchronize(p.second);
         cudaFreeAsync(p.y, p.first);
       },
       true},
      {"pinned memory is freed while a copy uses it", "memory that another stream may still be using",
       [](program& p, bool faulty) {
         cudaMemcpyAsync(p.x, p.pinned, n * sizeof(float), cudaMemcpyHostToDevice, p.first);
         if (!faulty) cudaStreamSynchronize(p.first);
         cudaFreeHost(p.pinned);
       }},
      {"a kernel branches on memory that was never written", "an undefined value decides",
       [](program& p, bool faulty) {
         if (!faulty) cudaMemsetAsync(p.y, 0, n * sizeof(float), p.first);
         mark_positive<<<1, n, 0, p.first>>>(p.y, p.y);
       }},
      {"a copy is longer than its block", "beyond the end of a block",
       [](program& p, bool faulty) { cudaMemsetAsync(p.x, 0, (n + (faulty ? 1 : 0)) * sizeof(float), p.first); }},
      {"ranges of a copy overlap", "the ranges overlap",
       [](program& p, bool faulty) {
         cudaMemcpyAsync(p.x + (faulty ? 1 : 32), p.x, 32 * sizeof(float), cudaMemcpyDeviceToDevice, p.first);
       }},
      {"a stream waits for an event that was never recorded", "never recorded",
       [](program& p, bool faulty) {
         if (!faulty) cudaEventRecord(p.event, p.first);
         cudaStreamWaitEvent(p.second, p.event, 0);
       }},
      {"a kernel is launched on a stream of another device", "a stream of another device",
       [](program& p, bool faulty) {
         if (faulty) cudaSetDevice(1);
         cudaMemsetAsync(p.x, 0, 4, p.first);
         cudaSetDevice(0);
       }},
      {"threads add to one element without an atomic", "races with",
       [](program& p, bool faulty) { sum_into_one<<<1, faulty ? 2 : 1, 0, p.first>>>(p.x, p.x + 1); }},
      {"threads exchange values through shared memory without a barrier", "races with",
       [](program& p, bool faulty) { reverse_block<<<1, n, 0, p.first>>>(p.x, !faulty); }},
      {"blocks are too large", "too large",
       [](program& p, bool faulty) { add_one<<<1, faulty ? 1025 : n, 0, p.first>>>(p.y, p.x, n); }},
  };
  return all;
}

}  // namespace

TEST_CASE("each fault planted in host code or in a kernel is found, and nothing without it", "[support]") {
  for (const planted& fault : faults())
    for (const bool faulty : {false, true}) {
      INFO(fault.name << (faulty ? "" : ", without the fault"));
      const auto ended = support::in_forked_processes(1, [&](int) {
        program p;
        fault.run(p, faulty);
        std::string all;
        for (const cudaStream_t stream : {p.first, p.second})
          if (const cudaError_t code = cudaStreamSynchronize(stream); code != cudaSuccess)
            all += cudaGetErrorName(code);
        for (const std::string& violation : mock::violations()) all += violation + '\n';
        return all;
      });
      CHECK(support::failures(ended).empty());
      if (faulty && (in_order || !fault.between_streams))
        CHECK_THAT(ended[0].text, Catch::Matchers::ContainsSubstring(fault.sentence));
      else if (!faulty)
        CHECK(ended[0].text == "");
    }
}

TEST_CASE("streams execute work as late as CUDA allows, if the order is reversed", "[support]") {
  program p;
  add_one<<<1, n, 0, p.first>>>(p.y, p.x, n);
  cudaMemcpyAsync(p.pinned, p.y, n * sizeof(float), cudaMemcpyDeviceToHost, p.first);
  cudaEventRecord(p.event, p.first);
  cudaStreamWaitEvent(p.second, p.event, 0);
  CHECK(p.pinned[5] == (in_order ? 6 : 5));
  cudaStreamSynchronize(p.second);  // also executes what the stream waits for
  CHECK(p.pinned[5] == 6);
  CHECK(mock::violations().empty());
}
