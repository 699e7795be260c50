// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for memory and events of other processes.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace devplace::test::mock_cuda

namespace mock = devplace::test::mock_cuda;

extern "C" {

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

}  // extern "C"
