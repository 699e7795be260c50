// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stand-in for CUDA's driver, libcuda.so.1, on machines without it: cuDNN compiles the kernels of some engines when a
// plan is finalised, and passes them to the driver. This one accepts everything, does nothing, and reports that there
// is no device. Tests that finalise plans for an absent device load it.

namespace {

int anything[1];

template <class T> int give(T** result) {
  *result = anything;
  return 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  return 100;  // CUDA_ERROR_NO_DEVICE
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 0;
  return 0;
}
int cuGetErrorName(int, const char** text) {
  *text = "an error of the stand-in";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "an error of the stand-in";
  return 0;
}
int cuGetProcAddress_v2(const char*, void** function, int, unsigned long long, int*) {
  *function = nullptr;
  return 500;  // CUDA_ERROR_NOT_FOUND
}

#define DEVPLACE_GIVES(function) \
  int function(int** result) { return give(result); }
DEVPLACE_GIVES(cuLibraryLoadData)
DEVPLACE_GIVES(cuLibraryLoadFromFile)
DEVPLACE_GIVES(cuLibraryGetKernel)
DEVPLACE_GIVES(cuModuleLoadData)
DEVPLACE_GIVES(cuModuleLoadDataEx)
DEVPLACE_GIVES(cuModuleLoadFatBinary)
DEVPLACE_GIVES(cuModuleGetFunction)
#undef DEVPLACE_GIVES

#define DEVPLACE_DOES_NOTHING(function) \
  int function() { return 0; }
DEVPLACE_DOES_NOTHING(cuCtxGetCurrent)
DEVPLACE_DOES_NOTHING(cuCtxGetDevice)
DEVPLACE_DOES_NOTHING(cuCtxGetLimit)
DEVPLACE_DOES_NOTHING(cuCtxPopCurrent)
DEVPLACE_DOES_NOTHING(cuCtxPushCurrent)
DEVPLACE_DOES_NOTHING(cuDeviceGet)
DEVPLACE_DOES_NOTHING(cuDeviceGetAttribute)
DEVPLACE_DOES_NOTHING(cuDevicePrimaryCtxRelease)
DEVPLACE_DOES_NOTHING(cuDevicePrimaryCtxReset)
DEVPLACE_DOES_NOTHING(cuDevicePrimaryCtxRetain)
DEVPLACE_DOES_NOTHING(cuFuncGetAttribute)
DEVPLACE_DOES_NOTHING(cuFuncSetAttribute)
DEVPLACE_DOES_NOTHING(cuKernelGetAttribute)
DEVPLACE_DOES_NOTHING(cuKernelSetAttribute)
DEVPLACE_DOES_NOTHING(cuLaunchCooperativeKernel)
DEVPLACE_DOES_NOTHING(cuLaunchKernel)
DEVPLACE_DOES_NOTHING(cuLaunchKernelEx)
DEVPLACE_DOES_NOTHING(cuLibraryUnload)
DEVPLACE_DOES_NOTHING(cuLinkAddData)
DEVPLACE_DOES_NOTHING(cuLinkAddData_v2)
DEVPLACE_DOES_NOTHING(cuLinkAddFile_v2)
DEVPLACE_DOES_NOTHING(cuLinkComplete)
DEVPLACE_DOES_NOTHING(cuLinkCreate)
DEVPLACE_DOES_NOTHING(cuLinkCreate_v2)
DEVPLACE_DOES_NOTHING(cuLinkDestroy)
DEVPLACE_DOES_NOTHING(cuMemcpyDtoH_v2)
DEVPLACE_DOES_NOTHING(cuModuleGetGlobal_v2)
DEVPLACE_DOES_NOTHING(cuModuleUnload)
DEVPLACE_DOES_NOTHING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
DEVPLACE_DOES_NOTHING(cuOccupancyMaxPotentialClusterSize)
DEVPLACE_DOES_NOTHING(cuStreamGetCtx)
DEVPLACE_DOES_NOTHING(cuStreamSynchronize)
DEVPLACE_DOES_NOTHING(cuTensorMapEncodeTiled)
#undef DEVPLACE_DOES_NOTHING

}  // extern "C"
