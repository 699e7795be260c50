// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/mock_cuda.hpp"

#include <cuda.h>
#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "support/mock_cuda/work_order.hpp"

namespace devplace::test::mock_cuda {

namespace {

struct block {
  std::size_t bytes;
  int device;
  const void* pool;   ///< the pool that allocated the block
  bool idle = false;  ///< freed, and cached by the pool
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

/// The page before memory of cudaMalloc, which is shared with processes that are forked afterwards.
struct exportable {
  std::size_t bytes;        ///< including this page
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
  void* object;
};

struct planned_failure {
  cudaError_t code;
  int calls_left;
  int times;
};

struct runtime {
  int devices = 2;
  cudaError_t none_found = cudaErrorNoDevice;
  std::size_t memory = std::size_t{1} << 30;
  bool driver = true;
  bool done = true;
  bool peers = true;
  std::map<int, cudaError_t> broken;
  std::set<int> contexts;  ///< devices with a primary context of this process
  std::set<int> occupied;  ///< devices in exclusive-process mode that another process uses
  std::size_t device_changes = 0;
  std::map<std::uintptr_t, block> blocks;
  std::map<std::uintptr_t, pinned_block> pinned;
  std::set<void*> exportable;  ///< memory of cudaMalloc, not of pools
  std::set<void*> opened;      ///< memory of other processes that this process has open
  work_order order;
  std::set<event*> events;
  std::map<std::string, planned_failure> failures;
  std::vector<std::string> calls;
  std::vector<launch> launches;
  std::map<const void*, std::string> kernels;         ///< names of the host stubs of the program's kernels
  std::map<std::string, std::size_t> kept_arguments;  ///< argument size by a part of the kernel's name
  std::vector<std::string> violations;
};

runtime& of_process() {
  static runtime& one = *new runtime;  // never destroyed: keeps the pools' memory reachable for LeakSanitizer
  return one;
}

/// The thread's current device; 0 in a new thread, without a context.
thread_local int current = 0;

/// The error that the thread's calls returned last, and that cudaGetLastError returns.
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t answer(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

/// Makes the primary context of a device, unless it exists or another process has the device for itself.
cudaError_t make_context(int device) {
  if (of_process().occupied.count(device) != 0) return answer(cudaErrorDevicesUnavailable);
  of_process().contexts.insert(device);
  return cudaSuccess;
}

/// The part of a device that a call uses: nothing, the properties, or the context, which the call creates if needed.
enum class need { nothing, description, context };

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
  const auto broken = r.broken.find(current);
  if (needs != need::nothing && broken != r.broken.end()) return answer(broken->second);
  return needs == need::context ? make_context(current) : cudaSuccess;
}

void violate(const std::string& what) { of_process().violations.push_back(what); }

/// Records a violation unless all bytes from `data` on belong to one block on `device`.
void require_device_memory(const char* call, const void* data, std::size_t bytes, int device) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto at = of_process().blocks.upper_bound(address);
  if (at == of_process().blocks.begin()) return violate(std::string(call) + ": no memory of a device");
  --at;
  if (at->second.idle) return violate(std::string(call) + ": memory that was given back");
  if (address - at->first + bytes > at->second.bytes) return violate(std::string(call) + ": beyond the end of a block");
  if (at->second.device != device)
    violate(std::string(call) + ": memory of device " + std::to_string(at->second.device) + " instead of " +
            std::to_string(device));
}

/// Like begin(), for work on a stream, which must belong to the current device and not be the default stream.
cudaError_t begin_on(const std::string& function, cudaStream_t stream, const std::string& arguments = {}) {
  if (stream == cudaStreamLegacy) return begin(function, arguments + " on legacy default stream");
  if (stream == nullptr)
    violate(function + ": on the default stream");
  else if (reinterpret_cast<on_device*>(stream)->device != current)
    violate(function + ": a stream of another device");
  const std::string& name = stream == nullptr ? std::string() : reinterpret_cast<on_device*>(stream)->name;
  return begin(function, name.empty() ? arguments : arguments + (arguments.empty() ? "on " : " on ") + name);
}

/// Records that a stream's work accesses bytes; a violation if a conflicting access is unordered. Ignores ordinary host
/// memory, because it is copied before a call returns.
void use(const char* call, cudaStream_t stream, const void* data, std::size_t bytes, bool writes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto lies_in = [&](const auto& blocks) {
    const auto behind = blocks.upper_bound(address);
    return behind != blocks.begin() && address - std::prev(behind)->first < std::prev(behind)->second.bytes;
  };
  runtime& r = of_process();
  if (!lies_in(r.blocks) && !lies_in(r.pinned)) return;
  const std::string problem = r.order.use(stream, data, bytes, writes);
  if (!problem.empty()) violate(std::string(call) + ": " + problem);
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
  if (of_process().violations.empty()) std::memmove(to, from, bytes);
}

/// cuDevicePrimaryCtxGetState of CUDA's driver, for which a device's handle is its number.
CUresult context_state(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = static_cast<int>(of_process().contexts.count(device));
  return CUDA_SUCCESS;
}

std::string bytes_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

/// Converts "void devplace::detail::simt_kernel<devplace::detail::body<float> >(devplace::detail::body<float>)" to
/// "body<float>".
std::string kernel_name(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  const std::string frame = "simt_kernel<";
  const std::size_t start = name.find(frame);
  if (start != std::string::npos) {
    name.erase(0, start + frame.size());
    name.erase(name.rfind(" >("));
  }
  for (const std::string scope : {"devplace::", "runtime::", "nn::", "optim::", "train::", "detail::"})
    for (std::size_t at = name.find(scope); at != std::string::npos; at = name.find(scope))
      name.erase(at, scope.size());
  return name;
}

cudaError_t launch_kernel(const char* call, const void* kernel, dim3 grid, dim3 block, void** arguments,
                          cudaStream_t stream) {
  const auto known = of_process().kernels.find(kernel);
  if (known == of_process().kernels.end()) {
    violate(std::string(call) + ": no kernel");
    return answer(cudaErrorInvalidDeviceFunction);
  }
  if (grid.x == 0 || grid.y != 1 || grid.z != 1 || block.x == 0 || block.x > 1024 || block.y != 1 || block.z != 1)
    violate(std::string(call) + ": a grid or blocks that are empty, too large or not of one dimension");
  const cudaError_t code =
      begin_on(call, stream, known->second + ", " + std::to_string(grid.x) + " blocks of " + std::to_string(block.x));
  if (code != cudaSuccess) return code;
  of_process().launches.push_back({known->second, grid.x, block.x, current, stream, {}});
  for (const auto& [name, bytes] : of_process().kept_arguments)
    if (known->second.find(name) != std::string::npos) {
      const auto* first = static_cast<const unsigned char*>(arguments[0]);
      of_process().launches.back().argument.assign(first, first + bytes);
    }
  return code;
}

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
void keep_arguments(const std::string& kernel, std::size_t bytes) { of_process().kept_arguments[kernel] = bytes; }
cudaError_t launch_of_library(const std::string& function, cudaStream_t stream) {
  const cudaError_t code = begin_on(function, stream);
  if (code == cudaSuccess) of_process().launches.push_back({function, 0, 0, current, stream, {}});
  return code;
}
void library_uses(const char* function, cudaStream_t stream, const void* data, std::size_t bytes, bool writes) {
  require_device_memory(function, data, bytes, current);
  use(function, stream, data, bytes, writes);
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
  for (const auto& [address, block] : of_process().blocks) live += block.idle ? 0 : 1;
  return live;
}
std::size_t live_pinned() { return of_process().pinned.size(); }
std::size_t live_events() { return of_process().events.size(); }
const std::vector<std::string>& violations() { return of_process().violations; }

}  // namespace devplace::test::mock_cuda

// The functions of CUDA's runtime that devplace calls. A missing one is a linker error.

namespace mock = devplace::test::mock_cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
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
  *value = attribute == cudaDevAttrWarpSize ? 32 : attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
  return mock::begin("cudaDeviceGetAttribute", {}, mock::need::description);
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int device) {
  std::snprintf(address, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
  return mock::begin("cudaDeviceGetPCIBusId", {}, mock::need::description);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 12080;
  return mock::begin("cudaDriverGetVersion", {}, mock::need::description);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const cudaError_t code = mock::begin("cudaMemGetInfo");
  mock::runtime& r = mock::of_process();
  *total = *free = r.memory;
  for (const auto& [address, block] : r.blocks)
    if (block.device == mock::current) *free -= block.bytes;
  return code;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* created, unsigned flags) {
  const cudaError_t code = mock::begin("cudaStreamCreateWithFlags");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current});
  return code;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return mock::begin("cudaDeviceGetStreamPriorityRange");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* created, unsigned flags, int priority) {
  const cudaError_t code = mock::begin("cudaStreamCreateWithPriority");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current, "", priority});
  return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<mock::on_device*>(stream);
  return mock::begin("cudaStreamDestroy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t code = mock::begin_on("cudaStreamSynchronize", stream);
  for (mock::event* e : mock::of_process().events)
    if (e->device == mock::current) e->waited_for = true;
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_stream(stream);
  return code;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const cudaError_t code = mock::begin_on("cudaStreamQuery", stream);
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done) return mock::answer(cudaErrorNotReady);
  mock::of_process().order.host_waits_for_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* created, const cudaMemPoolProps* properties) {
  const cudaError_t code = mock::begin("cudaMemPoolCreate");
  if (properties->location.id != mock::current) mock::violate("a pool on another device");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaMemPool_t>(new mock::on_device{properties->location.id});
  return code;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete reinterpret_cast<mock::on_device*>(pool);
  return mock::begin("cudaMemPoolDestroy");
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return mock::begin("cudaMemPoolSetAttribute");
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : mock::of_process().blocks) bytes += block.pool == pool ? block.bytes : 0;
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
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
  return mock::begin("cudaMemPoolSetAccess", "pool of " +
                                                 std::to_string(reinterpret_cast<mock::on_device*>(pool)->device) +
                                                 " for " + std::to_string(access->location.id));
}

cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const cudaError_t code = mock::begin_on("cudaMallocFromPoolAsync", stream, mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  mock::runtime& r = mock::of_process();
  for (auto& [address, block] : r.blocks) {
    if (!block.idle || block.pool != pool || block.bytes != bytes) continue;
    block.idle = false;
    *data = reinterpret_cast<void*>(address);
    std::memset(*data, 0xCD, bytes);
    r.order.take(stream, *data, bytes);
    return cudaSuccess;
  }
  const int device = reinterpret_cast<mock::on_device*>(pool)->device;
  std::size_t used = 0;
  for (const auto& [address, block] : r.blocks) used += block.device == device ? block.bytes : 0;
  if (bytes > r.memory - used) return mock::answer(cudaErrorMemoryAllocation);
  *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(*data, 0xCD, bytes);  // so that uninitialised memory contains garbage, as on a GPU
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, device, pool};
  r.order.take(stream, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const int device = reinterpret_cast<mock::on_device*>(stream)->device;
  const std::string& name = reinterpret_cast<mock::on_device*>(stream)->name;
  const cudaError_t code =
      mock::begin("cudaFreeAsync", "stream of " + std::to_string(device) + (name.empty() ? "" : " on " + name));
  const auto at = mock::of_process().blocks.find(reinterpret_cast<std::uintptr_t>(data));
  if (at == mock::of_process().blocks.end() || at->second.idle)
    mock::violate("cudaFreeAsync: not the start of a block in use");
  else if (at->second.device != device)
    mock::violate("cudaFreeAsync: memory of another device");
  else
    at->second.idle = true;
  if (const std::string problem = mock::of_process().order.give(stream, data); !problem.empty())
    mock::violate("cudaFreeAsync: " + problem);
  return code;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  const cudaError_t code = mock::begin_on("cudaMemsetAsync", stream, mock::bytes_of(bytes));
  mock::require_device_memory("cudaMemsetAsync", to, bytes, mock::current);
  if (code == cudaSuccess) mock::use("cudaMemsetAsync", stream, to, bytes, true);
  if (code == cudaSuccess && mock::of_process().violations.empty()) std::memset(to, value, bytes);
  return code;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
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
  if (const std::string problem = mock::of_process().order.give(nullptr, data); !problem.empty())
    mock::violate("cudaFreeHost: " + problem);
  if (mock::of_process().pinned.erase(reinterpret_cast<std::uintptr_t>(data)) == 0)
    mock::violate("cudaFreeHost: not the start of pinned memory");
  else
    std::free(data);
  return mock::begin("cudaFreeHost");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t code =
      mock::begin_on("cudaMemcpyAsync", stream, std::string(mock::direction(kind)) + ", " + mock::bytes_of(bytes));
  const auto x = reinterpret_cast<std::uintptr_t>(to), y = reinterpret_cast<std::uintptr_t>(from);
  if ((x < y ? y - x : x - y) < bytes) mock::violate("cudaMemcpyAsync: the ranges overlap");
  if (code == cudaSuccess) mock::copy_bytes(to, from, bytes, kind, stream);
  return code;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const cudaError_t code =
      mock::begin_on("cudaMemcpyPeerAsync", stream, std::to_string(from_device) + " to " + std::to_string(to_device));
  if (code != cudaSuccess || bytes == 0) return code;
  mock::require_device_memory("cudaMemcpyPeerAsync", to, bytes, to_device);
  mock::require_device_memory("cudaMemcpyPeerAsync", from, bytes, from_device);
  mock::use("cudaMemcpyPeerAsync", stream, from, bytes, false);
  mock::use("cudaMemcpyPeerAsync", stream, to, bytes, true);
  if (mock::violations().empty()) std::memmove(to, from, bytes);
  return code;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && mock::of_process().peers ? 1 : 0;
  return mock::begin("cudaDeviceCanAccessPeer", {}, mock::need::description);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const cudaError_t code = mock::begin("cudaMalloc", mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  const std::size_t all = bytes + mock::exportable_page;
  void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return mock::answer(cudaErrorMemoryAllocation);
  *data = static_cast<char*>(at) + mock::exportable_page;
  new (at) mock::exportable{all, 0};
  std::memset(*data, 0xCD, bytes);
  mock::runtime& r = mock::of_process();
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, mock::current, nullptr};
  r.exportable.insert(*data);
  r.order.take(nullptr, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  mock::runtime& r = mock::of_process();
  if (r.exportable.erase(data) == 0) {
    mock::violate("cudaFree: not the start of memory of cudaMalloc");
    return mock::begin("cudaFree");
  }
  if (mock::exportable_at(data).opened != 0) mock::violate("cudaFree: a process has the memory open");
  if (const std::string problem = r.order.give(nullptr, data); !problem.empty()) mock::violate("cudaFree: " + problem);
  r.blocks.erase(reinterpret_cast<std::uintptr_t>(data));
  ::munmap(&mock::exportable_at(data), mock::exportable_at(data).bytes);
  return mock::begin("cudaFree");
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  const cudaError_t code = mock::begin("cudaIpcGetMemHandle");
  if (code != cudaSuccess) return code;
  if (mock::of_process().exportable.count(data) == 0) {
    mock::violate("cudaIpcGetMemHandle: not the start of memory of cudaMalloc");
    return mock::answer(cudaErrorInvalidValue);
  }
  const mock::ipc_contents contents{::getpid(), mock::current, data};
  std::memcpy(handle, &contents, sizeof contents);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned flags) {
  const cudaError_t code = mock::begin("cudaIpcOpenMemHandle");
  if (flags != cudaIpcMemLazyEnablePeerAccess) mock::violate("cudaIpcOpenMemHandle: the only flag is left out");
  if (code != cudaSuccess) return code;
  mock::ipc_contents contents;
  std::memcpy(&contents, &handle, sizeof contents);
  if (contents.process == ::getpid()) return mock::answer(cudaErrorDeviceUninitialized);
  if (contents.device != mock::current) mock::violate("cudaIpcOpenMemHandle: on another device");
  ++mock::exportable_at(contents.object).opened;
  mock::of_process().opened.insert(contents.object);
  *data = contents.object;
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* data) {
  if (mock::of_process().opened.erase(data) == 0)
    mock::violate("cudaIpcCloseMemHandle: not the start of opened memory");
  else
    --mock::exportable_at(data).opened;
  return mock::begin("cudaIpcCloseMemHandle");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const cudaError_t code = mock::begin("cudaIpcGetEventHandle");
  if (!reinterpret_cast<mock::event*>(event)->interprocess)
    mock::violate("cudaIpcGetEventHandle: the event was not created for other processes");
  const mock::ipc_contents contents{::getpid(), mock::current, event};
  std::memcpy(handle, &contents, sizeof contents);
  return code;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  const cudaError_t code = mock::begin("cudaIpcOpenEventHandle");
  if (code != cudaSuccess) return code;
  mock::ipc_contents contents;
  std::memcpy(&contents, &handle, sizeof contents);
  // The process was forked after the event was created, so the event has the same address here.
  auto* const opened = new mock::event(*static_cast<mock::event*>(contents.object));
  mock::of_process().events.insert(opened);
  *event = reinterpret_cast<cudaEvent_t>(opened);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* created, unsigned flags) {
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
  const cudaError_t code = mock::begin_on("cudaEventRecord", stream);
  auto* e = reinterpret_cast<mock::event*>(handle);
  if (e->device != mock::current) mock::violate("cudaEventRecord: an event of another device");
  e->recorded = true;
  e->waited_for = false;
  mock::of_process().order.record(e, stream);
  return code;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  if (!reinterpret_cast<mock::event*>(handle)->recorded)
    mock::violate("cudaStreamWaitEvent: the event was never recorded, so nothing is waited for");
  const cudaError_t code = mock::begin_on("cudaStreamWaitEvent", stream);
  if (code == cudaSuccess) mock::of_process().order.wait(stream, handle);
  return code;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  reinterpret_cast<mock::event*>(handle)->waited_for = true;
  const cudaError_t code = mock::begin("cudaEventSynchronize");
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_event(handle);
  return code;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const auto* e = reinterpret_cast<mock::event*>(handle);
  const cudaError_t code = mock::begin("cudaEventQuery");
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done && !e->waited_for && e->recorded) return mock::answer(cudaErrorNotReady);
  mock::of_process().order.host_waits_for_event(handle);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  auto* e = reinterpret_cast<mock::event*>(handle);
  mock::of_process().events.erase(e);
  mock::of_process().order.forget_event(e);
  delete e;
  return mock::begin("cudaEventDestroy");
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel, void** arguments) {
  return mock::launch_kernel("cudaLaunchKernelExC", kernel, configuration->gridDim, configuration->blockDim, arguments,
                             configuration->stream);
}

// Called by the code that nvcc generates: registers the program's kernels before main, and launches by <<<>>>.

void** __cudaRegisterFatBinary(const void*) {
  static void* module = nullptr;
  return &module;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  mock::of_process().kernels[host_function] = mock::kernel_name(name);
}

unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) {
  mock::violate("a launch by <<<>>>, which devplace does not use");
  return 1;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  return mock::answer(cudaErrorInvalidConfiguration);
}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return mock::answer(cudaErrorInvalidDeviceFunction); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return mock::answer(cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return mock::answer(cudaErrorInvalidDeviceFunction);
}

}  // extern "C"
