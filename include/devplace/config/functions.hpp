// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: attributes of functions, and compile-time errors for wrong calls.

// nvcc's front end warns about pragmas for the host compiler. It also warns if the result of an assignment, a reference
// to a [[nodiscard]] class, is discarded.
#if defined(__CUDACC__)
  #define DEVPLACE_HD __host__ __device__
  #define DEVPLACE_DEVICE __device__
  #define DEVPLACE_DEVICE_UNROLL _Pragma("unroll")
  #define DEVPLACE_DEVICE_NO_UNROLL _Pragma("unroll 1")
  #define DEVPLACE_HD_CALLS_ANY _Pragma("nv_exec_check_disable")
  // nvcc's front end for the host also instantiates what only kernels call, so the host's compiler refuses.
  #define DEVPLACE_DEVICE_ONLY(T, sentence) \
    DEVPLACE_IF_HOST([[gnu::error(sentence)]] void called_on_the_host(); called_on_the_host())
  #define DEVPLACE_NODISCARD
  #define DEVPLACE_HOST_PRAGMAS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
  #define DEVPLACE_HOST_PRAGMAS_END _Pragma("nv_diagnostic pop")
#else
  // In loops for an instruction set, clang's `flatten` inlines only the calls in the loop's own function. Functions
  // called from there must be inlined, too, or they are compiled for the target of the command line.
  #if defined(__clang__) && defined(__OPTIMIZE__)
    #define DEVPLACE_HD __attribute__((always_inline))
  #else
    /// Marks functions that both kernels and the host call.
    #define DEVPLACE_HD
  #endif
  /// Marks the bodies of kernels.
  #define DEVPLACE_DEVICE
  /// Unrolls the next loop of a kernel's body, so that arrays that the loop indexes stay in registers.
  #define DEVPLACE_DEVICE_UNROLL
  /// Keeps the next loop of a kernel's body as a loop, which needs fewer registers.
  #define DEVPLACE_DEVICE_NO_UNROLL
  /// Allows a function template marked DEVPLACE_HD to call an argument that may be a host-only function.
  #define DEVPLACE_HD_CALLS_ANY
  /// In a member function of a class template, refuses calls by the host; `T` is a template parameter.
  #define DEVPLACE_DEVICE_ONLY(T, sentence) static_assert(sizeof(T) == 0, sentence)
  /// Marks classes whose values must not be discarded.
  #define DEVPLACE_NODISCARD [[nodiscard]]
  #define DEVPLACE_HOST_PRAGMAS_BEGIN
  #define DEVPLACE_HOST_PRAGMAS_END
#endif

#if defined(__CUDA_ARCH__)
  #define DEVPLACE_IF_HOST(...)
#else
  /// Hides code from nvcc's device pass, such as throwing in a DEVPLACE_HD function.
  #define DEVPLACE_IF_HOST(...) __VA_ARGS__
#endif

#if defined(__clang__)
  #define DEVPLACE_LIFETIMEBOUND [[clang::lifetimebound]]
  #define DEVPLACE_REFUSED_IF(condition, sentence)                                        \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") \
        __attribute__((diagnose_if(condition, "devplace: " sentence, "error"))) _Pragma("clang diagnostic pop")
#else
  /// After a function, states that the result refers to the object; after a parameter, that the result refers to the
  /// argument. clang then warns about a result that outlives the object or argument, such as a returned view of a local
  /// tensor.
  #define DEVPLACE_LIFETIMEBOUND
  /// Follows the declaration of a function: clang rejects calls whose arguments make the condition true at compile
  /// time, and prints the sentence at the user's line.
  #define DEVPLACE_REFUSED_IF(condition, sentence)
#endif
