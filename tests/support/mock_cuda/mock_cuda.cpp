// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/mock_cuda.hpp"

#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "support/mock_cuda/captures.hpp"
#include "support/mock_cuda/runtime.hpp"
#include "support/mock_cuda/stream_queues.hpp"
#include "support/mock_cuda/work_order.hpp"

namespace devplace::test::mock_cuda {

namespace {

struct block {
  std::size_t bytes;
  int device;
  const void* pool;                      ///< the pool that allocated the block
  std::vector<unsigned char> written{};  ///< for each byte, whether a value has been written
  const void* freed_by = nullptr;        ///< the stream in whose order the block was freed
  bool idle = false;                     ///< the stream has executed the free; the pool may use the block again
};

/// A stream or a pool.
struct on_device {
  int device;
  std::string name{};
  int priority = 0;
};

/// A block of page-locked host memory.
struct pinned_block {
  std::size_t bytes;
};

struct event {
  int device;
  bool interprocess = false;
  bool recorded = false;
  bool waited_for = false;
};

/// The page before memory of cudaMalloc, which is a file without a name that other processes can open.
struct exportable {
  std::size_t bytes;        ///< including this page
  int file;                 ///< descriptor in the process that allocated the memory
  std::atomic<int> opened;  ///< number of open handles in all processes
};
constexpr std::size_t exportable_page = 4096;

exportable& exportable_at(void* data) {
  return *reinterpret_cast<exportable*>(static_cast<char*>(data) - exportable_page);
}

/// The contents of handles for other processes.
struct ipc_contents {
  int process;
  int device;
  void* object;       ///< in that process
  std::size_t bytes;  ///< of memory
  int file;           ///< of memory
};

struct planned_failure {
  cudaError_t code;
  int calls_left;
  int times;
};

struct runtime {
  std::recursive_mutex mutex;
  int devices = 2;
  cudaError_t none_found = cudaErrorNoDevice;
  std::size_t memory = std::size_t{1} << 30;
  bool driver = true;
  bool done = true;
  bool peers = true;
  std::map<int, cudaError_t> broken;
  std::map<int, std::string> failed_kernels;  ///< by device, until a call returns the error
  std::set<int> contexts;                     ///< devices with a primary context of this process
  std::set<int> occupied;                     ///< devices in exclusive-process mode that another process uses
  std::size_t device_changes = 0;
  std::map<std::uintptr_t, block> blocks;
  std::map<std::uintptr_t, pinned_block> pinned;
  std::set<void*> exportable;  ///< memory of cudaMalloc, not of pools
  std::set<void*> opened;      ///< memory of other processes that this process has open
  work_order order;
  stream_queues queues;
  mock_cuda::captures captures;
  const void* launching = nullptr;  ///< the stream of the graph that is being launched
  std::set<event*> events;
  std::map<std::string, planned_failure> failures;
  std::vector<std::string> calls;
  std::vector<launch> launches;
  std::map<std::string, std::size_t> kept_arguments;  ///< argument size by a part of the kernel's name
  std::vector<std::string> violations;
  bool test_looks_at_violations = false;
};

runtime& of_process();

/// Makes a program fail if a rule was violated and the program did not look at the violations itself.
void check_violations() {
  const runtime& r = of_process();
  for (const auto& [device, what] : r.failed_kernels) violate(what);
  for (const std::string& what : r.violations) std::fprintf(stderr, "violation of CUDA's rules: %s\n", what.c_str());
  if (r.violations.empty() || r.test_looks_at_violations) return;
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

runtime& of_process() {
  // Never destroyed: keeps the pools' memory reachable for LeakSanitizer.
  static runtime& one = *[] {
    std::atexit(check_violations);
    return new runtime;
  }();
  return one;
}

/// The error that the thread's calls returned last, and that cudaGetLastError returns.
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

thread_local int current = 0;

held_lock::held_lock() : lock_(of_process().mutex) {}

cudaError_t answer(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

void violate(const std::string& what) { of_process().violations.push_back(what); }

void fail_kernel(int device, const std::string& what) {
  of_process().failed_kernels.emplace(device, what);
  break_device(device, cudaErrorIllegalAddress);
}

namespace {

/// Makes the primary context of a device, unless it exists or another process has the device for itself.
cudaError_t make_context(int device) {
  if (of_process().occupied.count(device) != 0) return answer(cudaErrorDevicesUnavailable);
  of_process().contexts.insert(device);
  return cudaSuccess;
}

/// The part of a device that a call uses: nothing, the properties, or the context, which the call creates if needed.
enum class need { nothing, description, context };

/// Calls that make the captures of the calling thread invalid. CUDA could capture the first four.
const std::set<std::string> not_captured{"cudaEventRecord",  "cudaStreamWaitEvent",  "cudaMallocFromPoolAsync",
                                         "cudaFreeAsync",    "cudaMalloc",           "cudaFree",
                                         "cudaHostAlloc",    "cudaFreeHost",         "cudaStreamSynchronize",
                                         "cudaStreamQuery",  "cudaEventSynchronize", "cudaEventQuery",
                                         "cudaMemPoolTrimTo"};

/// Records a call and returns its planned failure, or cudaSuccess.
cudaError_t begin(const std::string& function, const std::string& arguments = {}, need needs = need::context) {
  runtime& r = of_process();
  r.calls.push_back(function + " device " + std::to_string(current) + (arguments.empty() ? "" : " " + arguments));
  if (!r.driver) return answer(cudaErrorInsufficientDriver);
  const auto planned = r.failures.find(function);
  if (planned != r.failures.end() && --planned->second.calls_left <= 0) {
    const cudaError_t code = planned->second.code;
    if (--planned->second.times == 0) r.failures.erase(planned);
    return answer(code);
  }
  if (not_captured.count(function) != 0 && r.captures.invalidate()) return answer(cudaErrorStreamCaptureUnsupported);
  const auto broken = r.broken.find(current);
  if (needs != need::nothing && broken != r.broken.end()) {
    r.failed_kernels.erase(current);
    return answer(broken->second);
  }
  return needs == need::context ? make_context(current) : cudaSuccess;
}

/// Records a violation unless all bytes from `data` on belong to one block on `device`.
void require_device_memory(const char* call, const void* data, std::size_t bytes, int device) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto at = of_process().blocks.upper_bound(address);
  if (at == of_process().blocks.begin()) return violate(std::string(call) + ": no memory of a device");
  --at;
  if (at->second.freed_by != nullptr) return violate(std::string(call) + ": memory that was given back");
  if (address - at->first + bytes > at->second.bytes) return violate(std::string(call) + ": beyond the end of a block");
  if (at->second.device != device)
    violate(std::string(call) + ": memory of device " + std::to_string(at->second.device) + " instead of " +
            std::to_string(device));
}

}  // namespace

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
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto lies_in = [&](const auto& blocks) {
    const auto behind = blocks.upper_bound(address);
    return behind != blocks.begin() && address - std::prev(behind)->first < std::prev(behind)->second.bytes;
  };
  runtime& r = of_process();
  if (!lies_in(r.blocks) && !lies_in(r.pinned)) return;
  if (graph_work* const graph = r.captures.of(stream)) {
    graph->steps.push_back([=](const void* launched_in) {
      if (memory_at(address).bytes == 0) violate(std::string(call) + ": a graph uses memory that was given back");
      use(call, static_cast<cudaStream_t>(const_cast<void*>(launched_in)), data, bytes, writes);
    });
    return;
  }
  if (r.launching != nullptr) stream = static_cast<cudaStream_t>(const_cast<void*>(r.launching));
  const std::string problem = r.order.use(stream, data, bytes, writes);
  if (!problem.empty()) violate(std::string(call) + ": " + problem);
}

live_memory memory_at(std::uintptr_t address) {
  const auto found = [&](auto& blocks) {
    const auto behind = blocks.upper_bound(address);
    return behind != blocks.begin() && address - std::prev(behind)->first < std::prev(behind)->second.bytes
               ? std::prev(behind)
               : blocks.end();
  };
  runtime& r = of_process();
  if (const auto at = found(r.blocks); at != r.blocks.end())
    return at->second.idle ? live_memory{} : live_memory{at->first, at->second.bytes, at->second.written.data()};
  const auto at = found(r.pinned);
  return at == r.pinned.end() ? live_memory{} : live_memory{at->first, at->second.bytes};
}

execution_order order_of_execution() {
  const char* const text = std::getenv("DEVPLACE_TEST_CUDA_ORDER");
  const std::string order = text == nullptr ? "forward" : text;
  return order == "forward"   ? execution_order::forward
         : order == "reverse" ? execution_order::reverse
                              : execution_order::random;
}
unsigned seed_of_execution() {
  const char* const text = std::getenv("DEVPLACE_TEST_CUDA_ORDER");
  const char* const colon = text == nullptr ? nullptr : std::strchr(text, ':');
  return colon == nullptr ? 1 : static_cast<unsigned>(std::atoi(colon + 1));
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (graph_work* const graph = of_process().captures.of(stream)) {
    graph->steps.push_back([work = std::move(work)](const void* launched_in) {
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
  if (order_of_execution() != execution_order::reverse) of_process().queues.finish_stream(stream);
}

namespace {

/// Records that bytes of device memory have values, or have them as the bytes at `from` do.
void mark_written(const void* data, std::size_t bytes, const void* from = nullptr) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const live_memory to = memory_at(address);
  if (to.written == nullptr) return;
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  const live_memory values = from == nullptr ? live_memory{} : memory_at(source);
  if (values.written == nullptr)
    std::memset(to.written + (address - to.begin), 1, bytes);
  else
    std::memmove(to.written + (address - to.begin), values.written + (source - values.begin), bytes);
}

void require_host_memory(const char* call, const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto at = of_process().blocks.upper_bound(address);
  if (at == of_process().blocks.begin()) return;
  --at;
  if (address - at->first < at->second.bytes) violate(std::string(call) + ": device memory where the host's belongs");
}

const char* direction(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice ? "to device" : kind == cudaMemcpyDeviceToHost ? "to host" : "within";
}

/// Enqueues a copy of bytes. CUDA reads ordinary host memory before the call returns, and has written such memory then.
void move_bytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!of_process().violations.empty()) return;
  if (of_process().captures.of(stream) != nullptr && (memory_at(reinterpret_cast<std::uintptr_t>(from)).bytes == 0 ||
                                                      memory_at(reinterpret_cast<std::uintptr_t>(to)).bytes == 0))
    return violate("a captured copy from or to ordinary host memory, which each launch of the graph would access");
  const bool reads_at_once = memory_at(reinterpret_cast<std::uintptr_t>(from)).bytes == 0;
  std::shared_ptr<char[]> staged;
  if (reads_at_once && order_of_execution() == execution_order::reverse) {
    staged.reset(new char[bytes]);
    std::memcpy(staged.get(), from, bytes);
  }
  enqueue(stream, [to, from, bytes, staged] {
    std::memmove(to, staged == nullptr ? from : staged.get(), bytes);
    mark_written(to, bytes, staged == nullptr ? from : nullptr);
  });
  if (memory_at(reinterpret_cast<std::uintptr_t>(to)).bytes == 0) of_process().queues.finish_stream(stream);
}

void copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  constexpr const char* call = "cudaMemcpyAsync";
  if (bytes == 0) return;
  const int device = current;
  if (kind == cudaMemcpyDeviceToHost)
    require_host_memory(call, to);
  else
    require_device_memory(call, to, bytes, device);
  if (kind == cudaMemcpyHostToDevice)
    require_host_memory(call, from);
  else
    require_device_memory(call, from, bytes, device);
  use(call, stream, from, bytes, false);
  use(call, stream, to, bytes, true);
  move_bytes(to, from, bytes, stream);
}

/// cuDevicePrimaryCtxGetState of CUDA's driver, for which a device's handle is its number.
CUresult context_state(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = static_cast<int>(of_process().contexts.count(device));
  return CUDA_SUCCESS;
}

std::string bytes_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

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
  if (graph_work* const graph = of_process().captures.of(l.stream))
    graph->steps.push_back([l](const void* launched_in) {
      of_process().launches.push_back(l);
      of_process().launches.back().stream = static_cast<cudaStream_t>(const_cast<void*>(launched_in));
    });
  else
    of_process().launches.push_back(std::move(l));
}
cudaError_t launch_of_library(const std::string& function, cudaStream_t stream, std::function<void()> work) {
  const held_lock lock;
  const cudaError_t code = begin_on(function, stream);
  if (code != cudaSuccess) return code;
  record_launch({function, 0, 0, current, stream, {}}, nullptr);
  if (work == nullptr && of_process().captures.of(stream) != nullptr)
    violate(function + ": the mock cannot capture this call");
  else if (work == nullptr)
    of_process().queues.finish_stream(stream);
  else
    enqueue(stream, std::move(work));
  return code;
}
void library_uses(const char* function, cudaStream_t stream, const void* data, std::size_t bytes, bool writes) {
  const held_lock lock;
  require_device_memory(function, data, bytes, current);
  use(function, stream, data, bytes, writes);
  if (writes && of_process().violations.empty()) enqueue(stream, [data, bytes] { mark_written(data, bytes); });
}
int priority_of(cudaStream_t stream) { return reinterpret_cast<on_device*>(stream)->priority; }
void fail(const std::string& function, cudaError_t code, int nth, int times) {
  of_process().failures[function] = {code, nth, times};
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
std::size_t live_blocks() {
  std::size_t live = 0;
  for (const auto& [address, block] : of_process().blocks) live += block.freed_by == nullptr ? 1 : 0;
  return live;
}
std::size_t live_pinned() { return of_process().pinned.size(); }
std::size_t live_events() { return of_process().events.size(); }
const std::vector<std::string>& violations() {
  of_process().test_looks_at_violations = true;
  return of_process().violations;
}

}  // namespace devplace::test::mock_cuda

// The functions of CUDA's runtime that devplace calls. A missing one is a linker error.

namespace mock = devplace::test::mock_cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGetDeviceCount", {}, mock::need::nothing);
  if (code != cudaSuccess) {
    *count = -1;
    return code;
  }
  *count = mock::of_process().devices;
  return *count == 0 ? mock::answer(mock::of_process().none_found) : cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = mock::current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const mock::held_lock lock;
  if (device < 0 || device >= mock::of_process().devices) return mock::answer(cudaErrorInvalidDevice);
  ++mock::of_process().device_changes;
  const cudaError_t code = mock::make_context(device);
  if (code == cudaSuccess) mock::current = device;
  return code;
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
#else
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** found, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
#endif
  const bool known = std::string(symbol) == "cuDevicePrimaryCtxGetState";
  *found = known ? reinterpret_cast<void*>(&mock::context_state) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// An error of a broken device is sticky: cudaGetLastError does not clear the record.
cudaError_t cudaGetLastError() {
  const mock::held_lock lock;
  const auto broken = mock::of_process().broken.find(mock::current);
  const bool sticky = broken != mock::of_process().broken.end() && broken->second == mock::last_error;
  return sticky ? mock::last_error : std::exchange(mock::last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return mock::last_error; }

const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    default:
      return "cudaErrorOfTheMock";
  }
}

const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    default:
      return "an error of the mock";
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGetDeviceProperties", {}, mock::need::description);
  if (code != cudaSuccess) return code;
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "Mock GPU %d", device);
  properties->multiProcessorCount = 7;
  properties->major = 9;
  properties->l2CacheSize = 4096;
  for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(16 * device + i);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const mock::held_lock lock;
  switch (attribute) {
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = 7;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = 2147483647;
      break;
    default:
      *value = 0;
  }
  return mock::begin("cudaDeviceGetAttribute", {}, mock::need::description);
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int device) {
  const mock::held_lock lock;
  std::snprintf(address, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
  return mock::begin("cudaDeviceGetPCIBusId", {}, mock::need::description);
}

cudaError_t cudaDriverGetVersion(int* version) {
  const mock::held_lock lock;
  *version = 12080;
  return mock::begin("cudaDriverGetVersion", {}, mock::need::description);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMemGetInfo");
  mock::runtime& r = mock::of_process();
  *total = *free = r.memory;
  for (const auto& [address, block] : r.blocks)
    if (block.device == mock::current) *free -= block.bytes;
  return code;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* created, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaStreamCreateWithFlags");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current});
  return code;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const mock::held_lock lock;
  *least = 0;
  *greatest = -5;
  return mock::begin("cudaDeviceGetStreamPriorityRange");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* created, unsigned flags, int priority) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaStreamCreateWithPriority");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current, "", priority});
  return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_stream(stream);
  delete reinterpret_cast<mock::on_device*>(stream);
  return mock::begin("cudaStreamDestroy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_stream(stream);
  const cudaError_t code = mock::begin_on("cudaStreamSynchronize", stream);
  for (mock::event* e : mock::of_process().events)
    if (e->device == mock::current) e->waited_for = true;
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_stream(stream);
  return code;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaStreamQuery", stream);
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done) return mock::answer(cudaErrorNotReady);
  mock::of_process().queues.finish_stream(stream);
  mock::of_process().order.host_waits_for_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaStreamBeginCapture", stream);
  if (code == cudaSuccess) mock::of_process().captures.begin(stream, mock::current);
  return code;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const mock::held_lock lock;
  auto made = mock::of_process().captures.end(stream);
  const cudaError_t code = mock::begin_on("cudaStreamEndCapture", stream);
  if (code != cudaSuccess) return code;
  if (made == nullptr) return mock::answer(cudaErrorIllegalState);
  if (made->invalid) return mock::answer(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(made.release());
  return code;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGraphInstantiate");
  if (code == cudaSuccess)
    *executable =
        reinterpret_cast<cudaGraphExec_t>(new mock::graph_work(*reinterpret_cast<const mock::graph_work*>(graph)));
  return code;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const mock::held_lock lock;
  const auto& graph = *reinterpret_cast<const mock::graph_work*>(executable);
  const cudaError_t code = mock::begin_on("cudaGraphLaunch", stream);
  if (graph.device != mock::current) mock::violate("cudaGraphLaunch: a graph of another device");
  if (code != cudaSuccess) return code;
  for (const auto& step : graph.steps) step(stream);
  if (mock::order_of_execution() != mock::execution_order::reverse) mock::of_process().queues.finish_stream(stream);
  return code;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const mock::held_lock lock;
  delete reinterpret_cast<mock::graph_work*>(graph);
  return mock::begin("cudaGraphDestroy");
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  delete reinterpret_cast<mock::graph_work*>(executable);
  return mock::begin("cudaGraphExecDestroy");
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* created, const cudaMemPoolProps* properties) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMemPoolCreate");
  if (properties->location.id != mock::current) mock::violate("a pool on another device");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaMemPool_t>(new mock::on_device{properties->location.id});
  return code;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const mock::held_lock lock;
  delete reinterpret_cast<mock::on_device*>(pool);
  return mock::begin("cudaMemPoolDestroy");
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  const mock::held_lock lock;
  return mock::begin("cudaMemPoolSetAttribute");
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const mock::held_lock lock;
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : mock::of_process().blocks) bytes += block.pool == pool ? block.bytes : 0;
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  auto& blocks = mock::of_process().blocks;
  for (auto at = blocks.begin(); at != blocks.end();) {
    if (at->second.idle && at->second.pool == pool) {
      std::free(reinterpret_cast<void*>(at->first));
      at = blocks.erase(at);
    } else {
      ++at;
    }
  }
  return mock::begin("cudaMemPoolTrimTo");
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, std::size_t) {
  const mock::held_lock lock;
  return mock::begin("cudaMemPoolSetAccess", "pool of " +
                                                 std::to_string(reinterpret_cast<mock::on_device*>(pool)->device) +
                                                 " for " + std::to_string(access->location.id));
}

cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaMallocFromPoolAsync", stream, mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  mock::runtime& r = mock::of_process();
  for (auto& [address, block] : r.blocks) {
    if (block.freed_by == nullptr || block.pool != pool || block.bytes != bytes) continue;
    r.queues.finish_stream(block.freed_by);
    block.idle = false, block.freed_by = nullptr;
    *data = reinterpret_cast<void*>(address);
    std::memset(*data, 0xCD, bytes);
    block.written.assign(bytes, 0);
    r.order.take(stream, *data, bytes);
    return cudaSuccess;
  }
  const int device = reinterpret_cast<mock::on_device*>(pool)->device;
  std::size_t used = 0;
  for (const auto& [address, block] : r.blocks) used += block.device == device ? block.bytes : 0;
  if (bytes > r.memory - used) return mock::answer(cudaErrorMemoryAllocation);
  *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(*data, 0xCD, bytes);  // so that uninitialised memory contains garbage, as on a GPU
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, device, pool, std::vector<unsigned char>(bytes)};
  r.order.take(stream, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const mock::held_lock lock;
  const int device = reinterpret_cast<mock::on_device*>(stream)->device;
  const std::string& name = reinterpret_cast<mock::on_device*>(stream)->name;
  const cudaError_t code =
      mock::begin("cudaFreeAsync", "stream of " + std::to_string(device) + (name.empty() ? "" : " on " + name));
  const auto at = mock::of_process().blocks.find(reinterpret_cast<std::uintptr_t>(data));
  if (at == mock::of_process().blocks.end() || at->second.freed_by != nullptr)
    mock::violate("cudaFreeAsync: not the start of a block in use");
  else if (at->second.device != device)
    mock::violate("cudaFreeAsync: memory of another device");
  else
    at->second.freed_by = stream;
  if (const std::string problem = mock::of_process().order.give(stream, data); !problem.empty())
    mock::violate("cudaFreeAsync: " + problem);
  if (at != mock::of_process().blocks.end()) mock::enqueue(stream, [&block = at->second] { block.idle = true; });
  return code;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaMemsetAsync", stream, mock::bytes_of(bytes));
  mock::require_device_memory("cudaMemsetAsync", to, bytes, mock::current);
  if (code == cudaSuccess) mock::use("cudaMemsetAsync", stream, to, bytes, true);
  if (code == cudaSuccess && mock::of_process().violations.empty())
    mock::enqueue(stream, [to, value, bytes] {
      std::memset(to, value, bytes);
      mock::mark_written(to, bytes);
    });
  return code;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaHostAlloc", mock::bytes_of(bytes));
  if (flags != cudaHostAllocPortable) mock::violate("cudaHostAlloc: memory for one device only");
  if (code != cudaSuccess) return code;
  *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(*data, 0xCD, bytes);
  mock::of_process().pinned[reinterpret_cast<std::uintptr_t>(*data)] = {bytes};
  mock::of_process().order.take(nullptr, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* data) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  if (const std::string problem = mock::of_process().order.give(nullptr, data); !problem.empty())
    mock::violate("cudaFreeHost: " + problem);
  if (mock::of_process().pinned.erase(reinterpret_cast<std::uintptr_t>(data)) == 0)
    mock::violate("cudaFreeHost: not the start of pinned memory");
  else
    std::free(data);
  return mock::begin("cudaFreeHost");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code =
      mock::begin_on("cudaMemcpyAsync", stream, std::string(mock::direction(kind)) + ", " + mock::bytes_of(bytes));
  const auto x = reinterpret_cast<std::uintptr_t>(to), y = reinterpret_cast<std::uintptr_t>(from);
  if ((x < y ? y - x : x - y) < bytes) mock::violate("cudaMemcpyAsync: the ranges overlap");
  if (code == cudaSuccess) mock::copy_bytes(to, from, bytes, kind, stream);
  return code;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code =
      mock::begin_on("cudaMemcpyPeerAsync", stream, std::to_string(from_device) + " to " + std::to_string(to_device));
  if (code != cudaSuccess || bytes == 0) return code;
  mock::require_device_memory("cudaMemcpyPeerAsync", to, bytes, to_device);
  mock::require_device_memory("cudaMemcpyPeerAsync", from, bytes, from_device);
  mock::use("cudaMemcpyPeerAsync", stream, from, bytes, false);
  mock::use("cudaMemcpyPeerAsync", stream, to, bytes, true);
  mock::move_bytes(to, from, bytes, stream);
  return code;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const mock::held_lock lock;
  *can = device != peer && mock::of_process().peers ? 1 : 0;
  return mock::begin("cudaDeviceCanAccessPeer", {}, mock::need::description);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMalloc", mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  const std::size_t all = bytes + mock::exportable_page;
  const int file = ::memfd_create("memory of the mock of CUDA", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(all)) != 0) return mock::answer(cudaErrorMemoryAllocation);
  void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return mock::answer(cudaErrorMemoryAllocation);
  *data = static_cast<char*>(at) + mock::exportable_page;
  new (at) mock::exportable{all, file, 0};
  std::memset(*data, 0xCD, bytes);
  mock::runtime& r = mock::of_process();
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, mock::current, nullptr,
                                                       std::vector<unsigned char>(bytes)};
  r.exportable.insert(*data);
  r.order.take(nullptr, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  const mock::held_lock lock;
  mock::runtime& r = mock::of_process();
  r.queues.finish_all();
  if (r.exportable.erase(data) == 0) {
    mock::violate("cudaFree: not the start of memory of cudaMalloc");
    return mock::begin("cudaFree");
  }
  if (mock::exportable_at(data).opened != 0) mock::violate("cudaFree: a process has the memory open");
  if (const std::string problem = r.order.give(nullptr, data); !problem.empty()) mock::violate("cudaFree: " + problem);
  r.blocks.erase(reinterpret_cast<std::uintptr_t>(data));
  ::close(mock::exportable_at(data).file);
  ::munmap(&mock::exportable_at(data), mock::exportable_at(data).bytes);
  return mock::begin("cudaFree");
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaIpcGetMemHandle");
  if (code != cudaSuccess) return code;
  if (mock::of_process().exportable.count(data) == 0) {
    mock::violate("cudaIpcGetMemHandle: not the start of memory of cudaMalloc");
    return mock::answer(cudaErrorInvalidValue);
  }
  const mock::exportable& memory = mock::exportable_at(data);
  const mock::ipc_contents contents{::getpid(), mock::current, data, memory.bytes, memory.file};
  std::memcpy(handle, &contents, sizeof contents);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaIpcOpenMemHandle");
  if (flags != cudaIpcMemLazyEnablePeerAccess) mock::violate("cudaIpcOpenMemHandle: the only flag is left out");
  if (code != cudaSuccess) return code;
  mock::ipc_contents contents;
  std::memcpy(&contents, &handle, sizeof contents);
  if (contents.process == ::getpid()) return mock::answer(cudaErrorDeviceUninitialized);
  if (contents.device != mock::current) mock::violate("cudaIpcOpenMemHandle: on another device");
  const std::string path = "/proc/" + std::to_string(contents.process) + "/fd/" + std::to_string(contents.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const at = ::mmap(nullptr, contents.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return mock::answer(cudaErrorInvalidResourceHandle);
  *data = static_cast<char*>(at) + mock::exportable_page;
  ++mock::exportable_at(*data).opened;
  mock::runtime& r = mock::of_process();
  r.opened.insert(*data);
  const std::size_t bytes = contents.bytes - mock::exportable_page;
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, mock::current, nullptr,
                                                       std::vector<unsigned char>(bytes, 1)};
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* data) {
  const mock::held_lock lock;
  mock::runtime& r = mock::of_process();
  r.queues.finish_all();
  if (r.opened.erase(data) == 0) {
    mock::violate("cudaIpcCloseMemHandle: not the start of opened memory");
  } else {
    --mock::exportable_at(data).opened;
    r.blocks.erase(reinterpret_cast<std::uintptr_t>(data));
    ::munmap(&mock::exportable_at(data), mock::exportable_at(data).bytes);
  }
  return mock::begin("cudaIpcCloseMemHandle");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaIpcGetEventHandle");
  if (!reinterpret_cast<mock::event*>(event)->interprocess)
    mock::violate("cudaIpcGetEventHandle: the event was not created for other processes");
  const mock::ipc_contents contents{::getpid(), mock::current, event, 0, 0};
  std::memcpy(handle, &contents, sizeof contents);
  return code;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaIpcOpenEventHandle");
  if (code != cudaSuccess) return code;
  mock::ipc_contents contents;
  std::memcpy(&contents, &handle, sizeof contents);
  auto* const opened = new mock::event{contents.device, true, true, false};
  mock::of_process().events.insert(opened);
  *event = reinterpret_cast<cudaEvent_t>(opened);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* created, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaEventCreateWithFlags");
  if (code != cudaSuccess) return code;
  if (flags != cudaEventDisableTiming && flags != (cudaEventDisableTiming | cudaEventInterprocess))
    mock::violate("cudaEventCreateWithFlags: an event with timing");
  auto* e = new mock::event{mock::current, (flags & cudaEventInterprocess) != 0};
  mock::of_process().events.insert(e);
  *created = reinterpret_cast<cudaEvent_t>(e);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaEventRecord", stream);
  auto* e = reinterpret_cast<mock::event*>(handle);
  if (e->device != mock::current) mock::violate("cudaEventRecord: an event of another device");
  e->recorded = true;
  e->waited_for = false;
  mock::of_process().order.record(e, stream);
  mock::of_process().queues.record(e, stream);
  // Another process may wait for the event, but cannot make this process execute what is queued.
  if (e->interprocess || mock::order_of_execution() != mock::execution_order::reverse)
    mock::of_process().queues.finish_stream(stream);
  return code;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  const mock::held_lock lock;
  if (!reinterpret_cast<mock::event*>(handle)->recorded)
    mock::violate("cudaStreamWaitEvent: the event was never recorded, so nothing is waited for");
  const cudaError_t code = mock::begin_on("cudaStreamWaitEvent", stream);
  if (code != cudaSuccess) return code;
  mock::of_process().order.wait(stream, handle);
  mock::of_process().queues.wait(stream, handle);
  return code;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const mock::held_lock lock;
  reinterpret_cast<mock::event*>(handle)->waited_for = true;
  mock::of_process().queues.finish_event(handle);
  const cudaError_t code = mock::begin("cudaEventSynchronize");
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_event(handle);
  return code;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const mock::held_lock lock;
  const auto* e = reinterpret_cast<mock::event*>(handle);
  const cudaError_t code = mock::begin("cudaEventQuery");
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done && !e->waited_for && e->recorded) return mock::answer(cudaErrorNotReady);
  mock::of_process().queues.finish_event(handle);
  mock::of_process().order.host_waits_for_event(handle);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const mock::held_lock lock;
  auto* e = reinterpret_cast<mock::event*>(handle);
  mock::of_process().events.erase(e);
  mock::of_process().order.forget_event(e);
  mock::of_process().queues.forget_event(e);
  delete e;
  return mock::begin("cudaEventDestroy");
}

}  // extern "C"
