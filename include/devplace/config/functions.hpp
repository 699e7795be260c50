// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: what compilers are told about functions, and what they say about wrong uses of them.

// nvcc's front end warns about pragmas that are meant for the host compiler, and where a reference to a class that is
// not to be discarded is returned and not used, as by every assignment.
#if defined(__CUDACC__)
  #define DEVPLACE_HD __host__ __device__
  #define DEVPLACE_DEVICE __device__
  #define DEVPLACE_DEVICE_UNROLL _Pragma("unroll")
  #define DEVPLACE_HD_CALLS_ANY _Pragma("nv_exec_check_disable")
  #define DEVPLACE_NODISCARD
  #define DEVPLACE_HOST_PRAGMAS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
  #define DEVPLACE_HOST_PRAGMAS_END _Pragma("nv_diagnostic pop")
#else
  /// Marks functions that are called by kernels as well as by the host.
  #define DEVPLACE_HD
  /// Marks the bodies of kernels; the host calls them only in the tests' emulation of a GPU.
  #define DEVPLACE_DEVICE
  /// Unrolls the next loop of such a body, so that the arrays that it indexes are kept in registers.
  #define DEVPLACE_DEVICE_UNROLL
  /// Before a function template that is marked DEVPLACE_HD: it calls what it is given, which on the host may be for the
  /// host alone.
  #define DEVPLACE_HD_CALLS_ANY
  /// Marks classes whose values, the results of operations, are to be used.
  #define DEVPLACE_NODISCARD [[nodiscard]]
  #define DEVPLACE_HOST_PRAGMAS_BEGIN
  #define DEVPLACE_HOST_PRAGMAS_END
#endif

#if defined(__CUDA_ARCH__)
  #define DEVPLACE_IF_HOST(...)
#else
  /// Code that nvcc's device pass must not see, such as throwing in a DEVPLACE_HD function.
  #define DEVPLACE_IF_HOST(...) __VA_ARGS__
#endif

/// After a function: its result refers to the object; after a parameter: to that argument. clang then warns about a
/// result that outlives it, such as a view of a local tensor that is returned.
#if defined(__clang__)
  #define DEVPLACE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
  #define DEVPLACE_LIFETIMEBOUND
#endif

/// After the declaration of a function, not of a constructor: programs that call it are refused; by _IF those alone for
/// whose arguments clang knows the condition to be true. clang prints the sentence at the user's line; `= delete` would
/// make it list the other overloads. Other compilers print the declaration, whose template parameters name the fix.
#if defined(__clang__)
  #define DEVPLACE_REFUSED_IF(condition, sentence)                                        \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") \
        __attribute__((diagnose_if(condition, "devplace: " sentence, "error"))) _Pragma("clang diagnostic pop")
  // Not by _IF: clang prints three lines for each macro that another one expands to.
  #define DEVPLACE_REFUSED(sentence)                                                      \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") \
        __attribute__((diagnose_if(true, "devplace: " sentence, "error"))) _Pragma("clang diagnostic pop")
#elif defined(__cpp_deleted_function)
  #define DEVPLACE_REFUSED(sentence) = delete ("devplace: " sentence)
  #define DEVPLACE_REFUSED_IF(condition, sentence)
#else
  #define DEVPLACE_REFUSED(sentence) = delete
  #define DEVPLACE_REFUSED_IF(condition, sentence)
#endif
