// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/mock_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

/// Calls that make the captures of the calling thread invalid. CUDA could capture the first two.
const std::set<std::string> not_captured{"cudaMallocFromPoolAsync",
                                         "cudaFreeAsync",
                                         "cudaMalloc",
                                         "cudaFree",
                                         "cudaHostAlloc",
                                         "cudaFreeHost",
                                         "cudaStreamSynchronize",
                                         "cudaStreamQuery",
                                         "cudaEventSynchronize",
                                         "cudaEventQuery",
                                         "cudaMemPoolTrimTo"};

std::size_t count_blocks(bool pinned) {
  const auto& blocks = of_process().blocks;
  return static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), [pinned](const auto& at) {
    return (at.second.kind == memory_kind::pinned) == pinned && at.second.freed_by == nullptr;
  }));
}

/// Makes a program fail if a rule was violated and the program did not look at the violations itself.
void check_violations() {
  const runtime& r = of_process();
  for (const auto& [device, what] : r.failed_kernels) violate(what);
  for (const std::string& what : r.violations) std::fprintf(stderr, "violation of CUDA's rules: %s\n", what.c_str());
  if (r.violations.empty() || r.test_looks_at_violations) return;
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

runtime& of_process() {
  // Never destroyed: keeps the pools' memory reachable for LeakSanitizer.
  static runtime& one = *[] {
    std::atexit(check_violations);
    return new runtime;
  }();
  return one;
}

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current = 0;

cudaError_t answer(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

void violate(const std::string& what) { of_process().violations.push_back(what); }

void fail_kernel(int device, const std::string& what) {
  of_process().failed_kernels.emplace(device, what);
  break_device(device, cudaErrorIllegalAddress);
}

cudaError_t make_context(int device) {
  if (of_process().occupied.count(device) != 0) return answer(cudaErrorDevicesUnavailable);
  of_process().contexts.insert(device);
  return cudaSuccess;
}

cudaError_t begin(const std::string& function, const std::string& arguments, need needs) {
  runtime& r = of_process();
  r.calls.push_back(function + " device " + std::to_string(current) + (arguments.empty() ? "" : " " + arguments));
  if (!r.driver) return answer(cudaErrorInsufficientDriver);
  if (const cudaError_t code = r.failures.next(function); code != cudaSuccess) return answer(code);
  if (not_captured.count(function) != 0 && r.captures.invalidate()) return answer(cudaErrorStreamCaptureUnsupported);
  const auto broken = r.broken.find(current);
  if (needs != need::nothing && broken != r.broken.end()) {
    r.failed_kernels.erase(current);
    return answer(broken->second);
  }
  return needs == need::context ? make_context(current) : cudaSuccess;
}

std::pair<const std::uintptr_t, block>* block_at(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto behind = of_process().blocks.upper_bound(address);
  if (behind == of_process().blocks.begin()) return nullptr;
  auto& found = *std::prev(behind);
  return address == found.first || address - found.first < found.second.bytes ? &found : nullptr;
}

software_gpu::memory_block memory_at(const void* data) {
  auto* const found = block_at(data);
  if (found == nullptr || found->second.idle) return {};
  return {found->first, found->second.bytes, found->second.written.data()};
}

block* block_from(const char* call, memory_kind kind, void* data) {
  const auto at = of_process().blocks.find(reinterpret_cast<std::uintptr_t>(data));
  if (at != of_process().blocks.end() && at->second.kind == kind && at->second.freed_by == nullptr) return &at->second;
  violate(std::string(call) + ": not the start of a block in use of the right kind");
  return nullptr;
}

void require_memory(const char* call, const void* data, std::size_t bytes, int device) {
  const auto* const found = block_at(data);
  const int owner = found == nullptr ? host : found->second.device;
  const auto name = [](int of) { return of == host ? "the host" : "device " + std::to_string(of); };
  if (owner != device)
    violate(std::string(call) + ": memory of " + name(owner) + " instead of " + name(device));
  else if (found != nullptr && found->second.freed_by != nullptr)
    violate(std::string(call) + ": memory that was given back");
  else if (found != nullptr && reinterpret_cast<std::uintptr_t>(data) - found->first + bytes > found->second.bytes)
    violate(std::string(call) + ": beyond the end of a block");
}

cudaError_t begin_on(const std::string& function, cudaStream_t stream, const std::string& arguments) {
  if (stream == cudaStreamLegacy) return begin(function, arguments + " on legacy default stream");
  if (stream == nullptr)
    violate(function + ": on the default stream");
  else if (reinterpret_cast<on_device*>(stream)->device != current)
    violate(function + ": a stream of another device");
  const std::string& name = stream == nullptr ? std::string() : reinterpret_cast<on_device*>(stream)->name;
  return begin(function, name.empty() ? arguments : arguments + (arguments.empty() ? "on " : " on ") + name);
}

// Ignores ordinary host memory, because it is copied before a call returns.
void use(const char* call, cudaStream_t stream, const void* data, std::size_t bytes, bool writes) {
  if (block_at(data) == nullptr) return;
  runtime& r = of_process();
  if (const auto branch = r.captures.of(stream); branch.graph != nullptr) {
    branch.add([=](cudaStream_t launched_in) {
      if (memory_at(data).bytes == 0) violate(std::string(call) + ": a graph uses memory that was given back");
      use(call, launched_in, data, bytes, writes);
    });
    return;
  }
  const std::string problem = r.order.use(r.launching != nullptr ? r.launching : stream, data, bytes, writes);
  if (!problem.empty()) violate(std::string(call) + ": " + problem);
}

bool in_reverse_order() {
  const char* const order = std::getenv("DEVPLACE_TEST_CUDA_ORDER");
  return order != nullptr && std::string(order) == "reverse";
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (const auto branch = of_process().captures.of(stream); branch.graph != nullptr) {
    branch.add([work = std::move(work)](cudaStream_t launched_in) {
      if (!of_process().violations.empty()) return;
      of_process().queues.push(launched_in, [work, launched_in] {
        of_process().launching = launched_in;
        work();
        of_process().launching = nullptr;
      });
    });
    return;
  }
  of_process().queues.push(stream, std::move(work));
  if (!in_reverse_order()) of_process().queues.finish_stream(stream);
}

void mark_written(const void* data, std::size_t bytes, const void* from) {
  const auto written_at = [](const void* address) {
    const auto found = memory_at(address);
    return found.written == nullptr ? nullptr
                                    : found.written + (reinterpret_cast<std::uintptr_t>(address) - found.begin);
  };
  unsigned char *const to = written_at(data), *const values = from == nullptr ? nullptr : written_at(from);
  if (to != nullptr && values == nullptr) std::memset(to, 1, bytes);
  if (to != nullptr && values != nullptr) std::memmove(to, values, bytes);
}

void find_none(cudaError_t code) {
  of_process().devices = 0;
  of_process().none_found = code;
}
void set_devices(int count, std::size_t bytes_each) {
  of_process().devices = count;
  of_process().memory = bytes_each;
}
void name_stream(void* stream, const std::string& name) { static_cast<on_device*>(stream)->name = name; }
void remove_driver() { of_process().driver = false; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() {
  of_process().calls.clear();
  of_process().launches.clear();
}
const std::vector<launch>& launches() { return of_process().launches; }
std::size_t launching_calls() {
  std::set<std::string> names{"cudaLaunchKernelExC",    "cudaLaunchKernel",     "cudaGraphLaunch",
                              "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate",
                              "cudaGraphDestroy"};
  for (const launch& l : launches()) names.insert(l.name);  // functions of libraries, besides kernels
  std::size_t found = 0;
  for (const std::string& call : calls()) {
    const std::string name = call.substr(0, call.find(' '));
    found += names.count(name);
    if (name == "cudaStreamBeginCapture") found += 2;  // its stream is created and destroyed
  }
  return found;
}
void keep_arguments(const std::string& kernel, std::size_t bytes) { of_process().kept_arguments[kernel] = bytes; }
void record_launch(launch l, const void* first_argument) {
  for (const auto& [name, bytes] : of_process().kept_arguments)
    if (l.name.find(name) != std::string::npos) {
      const auto* const first = static_cast<const unsigned char*>(first_argument);
      l.argument.assign(first, first + bytes);
    }
  if (const auto branch = of_process().captures.of(l.stream); branch.graph != nullptr)
    branch.add([l](cudaStream_t launched_in) mutable {
      l.stream = launched_in;
      of_process().launches.push_back(l);
    });
  else
    of_process().launches.push_back(std::move(l));
}
cudaError_t launch_of_library(const std::string& function, cudaStream_t stream, std::function<void()> work) {
  return perform_on(stream, function, "", [&] {
    record_launch({function, 0, 0, current, stream, {}}, nullptr);
    if (work != nullptr) return enqueue(stream, std::move(work));
    if (of_process().captures.of(stream).graph != nullptr) violate(function + ": the mock cannot capture this call");
    of_process().queues.finish_stream(stream);
  });
}
void library_uses(const char* function, cudaStream_t stream, const void* data, std::size_t bytes, bool writes) {
  const held_lock lock;
  require_memory(function, data, bytes, current);
  use(function, stream, data, bytes, writes);
  if (writes && of_process().violations.empty()) enqueue(stream, [data, bytes] { mark_written(data, bytes); });
}
int priority_of(cudaStream_t stream) { return reinterpret_cast<on_device*>(stream)->priority; }
void fail(const std::string& function, cudaError_t code, int nth, int times) {
  of_process().failures.plan(function, code, nth, times);
}
void break_devices(cudaError_t code) {
  for (int device = 0; device < of_process().devices; ++device) break_device(device, code);
}
void break_device(int device, cudaError_t code) { of_process().broken[device] = code; }
void occupy_device(int device) { of_process().occupied.insert(device); }
const std::set<int>& contexts() { return of_process().contexts; }
std::size_t device_changes() { return of_process().device_changes; }
void separate_devices() { of_process().peers = false; }
void set_done(bool done) { of_process().done = done; }
std::size_t live_blocks() { return count_blocks(false); }
std::size_t live_pinned() { return count_blocks(true); }
std::size_t live_events() { return of_process().events.size(); }
const std::vector<std::string>& violations() {
  of_process().test_looks_at_violations = true;
  return of_process().violations;
}

}  // namespace devplace::test::mock_cuda
