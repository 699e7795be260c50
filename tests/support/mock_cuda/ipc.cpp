// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for memory and events of other processes.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

/// The contents of handles for other processes.
struct ipc_contents {
  int process;
  int device;
  void* object;       ///< in that process
  std::size_t bytes;  ///< of memory
  int file;           ///< of memory
};

}  // namespace

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  return perform("cudaIpcGetMemHandle", "", [&] {
    if (block_from("cudaIpcGetMemHandle", memory_kind::exportable, data) == nullptr)
      return answer(cudaErrorInvalidValue);
    const exportable& memory = exportable_at(data);
    const ipc_contents contents{::getpid(), current, data, memory.bytes, memory.file};
    std::memcpy(handle, &contents, sizeof contents);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned flags) {
  return perform("cudaIpcOpenMemHandle", "", [&] {
    if (flags != cudaIpcMemLazyEnablePeerAccess) violate("cudaIpcOpenMemHandle: the only flag is left out");
    ipc_contents contents;
    std::memcpy(&contents, &handle, sizeof contents);
    if (contents.process == ::getpid()) return answer(cudaErrorDeviceUninitialized);
    if (contents.device != current) violate("cudaIpcOpenMemHandle: on another device");
    const std::string path = "/proc/" + std::to_string(contents.process) + "/fd/" + std::to_string(contents.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* const at = ::mmap(nullptr, contents.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (at == MAP_FAILED) return answer(cudaErrorInvalidResourceHandle);
    *data = static_cast<char*>(at) + exportable_page;
    ++exportable_at(*data).opened;
    const std::size_t bytes = contents.bytes - exportable_page;
    of_process().blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, current, memory_kind::opened, nullptr,
                                                                    std::vector<unsigned char>(bytes, 1)};
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* data) {
  const held_lock lock;
  of_process().queues.finish_all();
  if (block_from("cudaIpcCloseMemHandle", memory_kind::opened, data) != nullptr) {
    --exportable_at(data).opened;
    of_process().blocks.erase(reinterpret_cast<std::uintptr_t>(data));
    ::munmap(&exportable_at(data), exportable_at(data).bytes);
  }
  return begin("cudaIpcCloseMemHandle");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t exported) {
  return perform("cudaIpcGetEventHandle", "", [&] {
    if (!reinterpret_cast<event*>(exported)->interprocess)
      violate("cudaIpcGetEventHandle: the event was not created for other processes");
    const ipc_contents contents{::getpid(), current, exported, 0, 0};
    std::memcpy(handle, &contents, sizeof contents);
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* opened, cudaIpcEventHandle_t handle) {
  return perform("cudaIpcOpenEventHandle", "", [&] {
    ipc_contents contents;
    std::memcpy(&contents, &handle, sizeof contents);
    auto* const e = new event{contents.device, true, true, false};
    of_process().events.insert(e);
    *opened = reinterpret_cast<cudaEvent_t>(e);
  });
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
