// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// The implementation of operation `Op` on `Backend`: a static `run(int ordinal, arguments...)` with trivially copyable
/// arguments (pointers, sizes, small structs), so that a device can execute it asynchronously, in the order of the
/// calls. Defined in `backend/<backend>/<operation>`; users can specialise it for their own operations.
template <class Backend, class Op> struct implementation;

namespace detail {

template <class Backend, class Op>
concept provided = requires { sizeof(implementation<Backend, Op>); };

/// Executes `Op` on a backend's device `ordinal`. All operations call this function; below it, the ordinal is a
/// run-time value, so that nothing is instantiated per device.
template <class Op, class Backend, class... Arguments> void dispatch(int ordinal, const Arguments&... arguments) {
  if constexpr (provided<Backend, Op>) {
    implementation<Backend, Op>::run(ordinal, arguments...);
  } else {
    static_assert(computes<Backend>,
                  "devplace: nothing is computed in pinned memory, which is for copies from and to devices; first move "
                  "the tensor to a place that computes, with to<on<cpu>>(x) or to<on<cuda<0>>>(x).");
    static_assert(!computes<Backend> || configuration::cuda != cuda_support::none,
                  "devplace: this operation runs on a cuda place, and the target links no component that provides one; "
                  "add devplace::cuda (or devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
    static_assert(!computes<Backend> || configuration::cuda == cuda_support::none,
                  "devplace: this operation needs a kernel, and the file is compiled as C++; compile it as CUDA: "
                  "devplace_compile_as_cuda(target) in CMake, or a .cu file.");
  }
}

}  // namespace detail
}  // namespace devplace
