// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nccl.h>

#include <string>
#include <string_view>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/dtype.hpp>

static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0), "devplace: parallel/nccl.hpp needs NCCL 2.27 or newer.");

namespace devplace::parallel::detail {

/// The text of a version number of NCCL: 22809 is 2.28.9.
inline std::string nccl_version_text(int code) {
  return devplace::detail::joined({code / 10000, ".", code / 100 % 100, ".", code % 100});
}

inline const char* nccl_result_name(ncclResult_t code) {
  constexpr const char* names[] = {"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                                   "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                                   "ncclRemoteError",   "ncclInProgress"};
  return code >= ncclSuccess && code <= ncclInProgress ? names[code] : "an unknown result";
}

/// Returns the fix for an error. Uses NCCL's last error text if the text is more specific than the code.
inline std::string nccl_remedy(ncclResult_t code, std::string_view last_error) {
  const auto says = [last_error](std::string_view words) { return last_error.find(words) != std::string_view::npos; };
  if (says("/dev/shm") || says("shared memory"))
    return "NCCL found too little shared memory: enlarge /dev/shm, in containers by --shm-size=1g or --ipc=host.";
  if (says("Mismatched NCCL version"))
    return "All processes must load the same version of NCCL; see LD_LIBRARY_PATH on each host.";
  if (says("out of memory"))
    return "The GPU has no memory left for NCCL's own buffers: use a smaller batch, or lower NCCL_BUFFSIZE.";
  switch (code) {
    case ncclUnhandledCudaError:
      return "A CUDA call inside NCCL failed: NCCL_DEBUG=WARN names it; an earlier error of the GPU is a usual cause.";
    case ncclSystemError:
      return "A call of the system or of the network failed: NCCL_DEBUG=WARN names it. Where a host has several "
             "network interfaces, NCCL_SOCKET_IFNAME names the one that the hosts share.";
    case ncclInvalidArgument:
    case ncclInvalidUsage:
      return "All processes must be started from the same program, and make the same calls: NCCL_DEBUG=WARN says what "
             "NCCL objects to.";
    case ncclRemoteError:
      return "Another process failed, or the network to it: the first error is in the output of that process.";
    default:
      return "NCCL_DEBUG=WARN says more.";
  }
}

/// Describes a failed call: `caller`, which may be empty, NCCL's result and last error, and the fix.
inline std::string nccl_error_text(const char* call, const std::string& caller, ncclResult_t code, ncclComm_t comm) {
  const char* const last = ncclGetLastError(comm);
  const std::string more = last == nullptr ? "" : last;
  return devplace::detail::joined(
      {call, caller.empty() ? "" : " of " + caller, " failed: ", ncclGetErrorString(code), " (", nccl_result_name(code),
       ")", more.empty() ? "" : "; NCCL's last error is: " + more, ". ", nccl_remedy(code, more)});
}

static_assert(devplace::detail::dtypes.have(&devplace::detail::dtype::nccl,
                                            {ncclFloat32, ncclFloat64, ncclFloat16, ncclBfloat16, ncclInt32, ncclInt64,
                                             ncclUint8}));

/// NCCL's enumerator for an element type or another integer type.
template <class T> constexpr ncclDataType_t nccl_type() {
  if constexpr (element<T>) {
    return static_cast<ncclDataType_t>(devplace::detail::dtype_of<T>->nccl);
  } else {
    static_assert(std::is_integral_v<T>, "devplace: NCCL reduces numbers of up to 8 bytes.");
    static_assert(sizeof(T) != 2, "devplace: NCCL has no integers of 16 bits; use 32.");
    constexpr ncclDataType_t signed_type = sizeof(T) == 1 ? ncclInt8 : sizeof(T) == 4 ? ncclInt32 : ncclInt64;
    return static_cast<ncclDataType_t>(signed_type + std::is_unsigned_v<T>);
  }
}

/// NCCL's enumerator of an operation. Throws argument_error for operations that NCCL computes differently: its mean
/// rounds 1/n to the elements' type first, and its extrema of floating-point numbers ignore NaN.
template <class T> ncclRedOp_t nccl_operation(reduction op) {
  if (op == reduction::sum) return ncclSum;
  if (op == reduction::mean)
    throw argument_error(
        "collective::nccl: NCCL computes sums; a mean would be rounded twice. Divide after a sum, as optimizers do, or "
        "use collective::direct.");
  if (!std::is_integral_v<T>)
    throw argument_error(
        "collective::nccl: NCCL's maximum and minimum of floating-point numbers ignore NaN, which devplace keeps. Use "
        "collective::direct.");
  return op == reduction::max ? ncclMax : ncclMin;
}

}  // namespace devplace::parallel::detail
