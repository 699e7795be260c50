// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/kernels.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

/// The code of a program's source. Its PTX is loaded by the first launch.
struct fat_binary {
  const void* wrapper;
  software_gpu::ptx_module* module = nullptr;
  int architecture = 0;  ///< 90 for sm_90
};

struct kernel {
  fat_binary* from;
  std::string mangled, name;
};

struct program {
  std::deque<fat_binary> binaries;
  std::map<const void*, kernel> kernels;  ///< by the address of the host's stub
  std::vector<std::string> violations;
};

// Never destroyed: destructors of other static objects wait for work.
program& this_program() {
  static program& one = *new program;
  return one;
}

struct pushed_configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<pushed_configuration> pushed;

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

/// Returns the decoded code of a kernel.
std::pair<software_gpu::ptx_module*, software_gpu::function*> code_of(const kernel& k) {
  software_gpu::ptx_module*& m = k.from->module;
  if (m == nullptr) {
    const std::string ptx = software_gpu::ptx_of_fat_binary(k.from->wrapper), target = ".target sm_";
    k.from->architecture = std::atoi(ptx.c_str() + ptx.find(target) + target.size());
    m = &gpu_of_kernels().load(ptx);
  }
  software_gpu::function* const f = m->find(k.mangled);
  if (f == nullptr) throw software_gpu::ptx_error("the PTX of a program does not contain the kernel " + k.name);
  decode(*m, *f);
  return {m, f};
}

/// Executes a kernel on a device, which a wrong address makes unusable, and reports what the kernel did wrong.
void execute(const kernel& k, int device, cudaStream_t stream, const software_gpu::launch_configuration& shape,
             const std::vector<const void*>& arguments) {
  software_gpu::gpu& gpu = gpu_of_kernels();
  std::vector<std::string> found;
  try {
    const auto [m, f] = code_of(k);
    found = gpu.launch(*m, *f, shape, arguments.data());
  } catch (const software_gpu::ptx_error& problem) {
    this_program().violations.push_back(problem.what());
    violate(problem.what());
  }
  // The order of accesses is known only where work executes in the order of the calls.
  if (!in_reverse_order())
    for (const auto& touched : gpu.touched_memory())
      use(k.name.c_str(), stream, reinterpret_cast<const void*>(touched.begin), touched.bytes, touched.writes);
  for (std::string& problem : found) {
    if (const std::size_t at = problem.find(k.mangled); at != std::string::npos)
      problem.replace(at, k.mangled.size(), k.name);
    this_program().violations.push_back(problem);
    if (problem.find("of no live block") != std::string::npos)
      fail_kernel(device, problem);
    else
      violate(problem);
  }
}

cudaError_t launch_kernel(const char* call, const void* stub, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream) {
  const auto known = this_program().kernels.find(stub);
  if (known == this_program().kernels.end()) {
    violate(std::string(call) + ": no kernel");
    return answer(cudaErrorInvalidDeviceFunction);
  }
  const kernel& k = known->second;
  if (grid.x == 0 || grid.y != 1 || grid.z != 1 || block.x == 0 || block.x > 1024 || block.y != 1 || block.z != 1)
    violate(std::string(call) + ": a grid or blocks that are empty, too large or not of one dimension");
  const std::string size = ", " + std::to_string(grid.x) + " blocks of " + std::to_string(block.x);
  return perform_on(stream, call, k.name + size, [&] {
    record_launch({k.name, grid.x, block.x, current, stream, {}}, arguments[0]);
    std::vector<std::vector<char>> copied;
    for (const auto& parameter : code_of(k).second->parameters) {
      const char* const argument = static_cast<const char*>(arguments[copied.size()]);
      copied.emplace_back(argument, argument + parameter.bytes);
    }
    const software_gpu::launch_configuration shape{grid.x, block.x, static_cast<software_gpu::u32>(shared_bytes)};
    enqueue(stream, [&k, device = current, stream, copied = std::move(copied), shape] {
      std::vector<const void*> values;
      for (const std::vector<char>& bytes : copied) values.push_back(bytes.data());
      execute(k, device, stream, shape, values);
    });
  });
}

}  // namespace

software_gpu::gpu& gpu_of_kernels() {
  static software_gpu::gpu& one = *[] {
    auto* const made = new software_gpu::gpu(
        [](software_gpu::u64 address) { return memory_at(reinterpret_cast<const void*>(address)); });
    if (in_reverse_order()) made->options.order = software_gpu::execution_order::reverse;
    return made;
  }();
  return one;
}

const std::vector<std::string>& violations_of_kernels() { return this_program().violations; }

extern "C" {

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel, void** arguments) {
  return launch_kernel("cudaLaunchKernelExC", kernel, configuration->gridDim, configuration->blockDim, arguments,
                       configuration->dynamicSmemBytes, configuration->stream);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
  return launch_kernel("cudaLaunchKernel", kernel, grid, block, arguments, shared_bytes, stream);
}

// CUB asks for what it needs to choose the size of its blocks.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const held_lock lock;
  const auto known = this_program().kernels.find(kernel);
  if (known == this_program().kernels.end()) return answer(cudaErrorInvalidDeviceFunction);
  const auto* const f = code_of(known->second).second;
  *attributes = cudaFuncAttributes{};
  attributes->ptxVersion = attributes->binaryVersion = known->second.from->architecture;
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->sharedSizeBytes = f->shared_bytes;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                   unsigned) {
  *blocks = 2;
  return cudaSuccess;
}

// Called by the code that nvcc generates: registers the program's kernels before main, and launches by <<<>>>.

void** __cudaRegisterFatBinary(const void* wrapper) {
  this_program().binaries.push_back({wrapper});
  return reinterpret_cast<void**>(&this_program().binaries.back());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** binary, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  this_program().kernels[stub] = {reinterpret_cast<fat_binary*>(binary), name, kernel_name(name)};
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  pushed.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  *grid = pushed.back().grid, *block = pushed.back().block, *shared_bytes = pushed.back().shared_bytes;
  *static_cast<cudaStream_t*>(stream) = pushed.back().stream;
  pushed.pop_back();
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
