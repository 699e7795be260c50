// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: marks what the library of component compiled contains. The library is compiled once from these
// headers, and files with the component do not compile its contents again. One library serves all configurations: it
// has what no other component changes, and the rest for files without other components.
//
// With the component, a marked function is a template. Compilers instantiate no body for a template that is declared
// extern, unless the template is inline.

#include <devplace/version.hpp>

#if defined(DEVPLACE_WITH_COMPILED)
  #define DEVPLACE_COMPILED(...) extern template __VA_ARGS__;
  #define DEVPLACE_COMPILED_APART(...) extern template __VA_ARGS__;
#elif defined(DEVPLACE_COMPILES) && DEVPLACE_COMPILES == 1
  #define DEVPLACE_COMPILED(...) template __VA_ARGS__;
  #define DEVPLACE_COMPILED_APART(...) extern template __VA_ARGS__;
#elif defined(DEVPLACE_COMPILES) && DEVPLACE_COMPILES == 2
  #define DEVPLACE_COMPILED(...) extern template __VA_ARGS__;
  #define DEVPLACE_COMPILED_APART(...) template __VA_ARGS__;
#elif defined(DEVPLACE_COMPILES)
  #define DEVPLACE_COMPILED(...)
  #define DEVPLACE_COMPILED_APART(...) template __VA_ARGS__;
#else
  /// Names a function of the library: an instance of a template, or a function marked DEVPLACE_COMPILABLE. Follows the
  /// definition.
  #define DEVPLACE_COMPILED(...)
  /// Names an instance in another source: the second one of the library, so that two compilers work at the same time,
  /// or the source of component cuda, which is a library of its own and uses no other.
  #define DEVPLACE_COMPILED_APART(...)
#endif

#if defined(DEVPLACE_WITH_COMPILED) || defined(DEVPLACE_COMPILES)
  #define DEVPLACE_COMPILABLE(...) template <class = void> __VA_ARGS__
#else
  /// Begins the definition of a function that is no template; the arguments are its attributes. The function has no
  /// static variables, because files without the component have their own copy. Not for functions that users call:
  /// the address of a template cannot be an argument such as std::async's.
  #define DEVPLACE_COMPILABLE(...) __VA_ARGS__ inline
#endif

#if defined(DEVPLACE_WITH_CUDA) || defined(DEVPLACE_WITH_SIMULATED_CUDA) || defined(DEVPLACE_WITH_CBLAS) || \
    defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_COMPILED_PLAIN(...)
  #define DEVPLACE_COMPILABLE_PLAIN(...) __VA_ARGS__ inline
#else
  /// These two are for functions whose mangled names contain the configuration.
  #define DEVPLACE_COMPILED_PLAIN(...) DEVPLACE_COMPILED(__VA_ARGS__)
  #define DEVPLACE_COMPILABLE_PLAIN(...) DEVPLACE_COMPILABLE(__VA_ARGS__)
#endif

// If a library is missing in a program or is of another version, the linker names this symbol. The reference is
// retained, because the linker ignores undefined symbols in sections that it discards (--gc-sections).
#if defined(DEVPLACE_WITH_COMPILED) || defined(DEVPLACE_COMPILES)
  #define DEVPLACE_DETAIL_NAME_OF(library, major, minor, patch) devplace_##library##_##major##_##minor##_##patch
  #define DEVPLACE_DETAIL_VERSIONED(...) DEVPLACE_DETAIL_NAME_OF(__VA_ARGS__)
  #define DEVPLACE_DETAIL_NAME(library) \
    DEVPLACE_DETAIL_VERSIONED(library, DEVPLACE_VERSION_MAJOR, DEVPLACE_VERSION_MINOR, DEVPLACE_VERSION_PATCH)
  #if defined(DEVPLACE_WITH_COMPILED)
    #define DEVPLACE_DETAIL_LIBRARY(library)                                                        \
      extern "C" const char DEVPLACE_DETAIL_NAME(library);                                          \
      namespace devplace::detail {                                                                  \
      [[gnu::used, gnu::retain]] inline const char* const library = &DEVPLACE_DETAIL_NAME(library); \
      }
  #else
    #define DEVPLACE_DETAIL_LIBRARY(library)                             \
      extern "C" {                                                       \
      [[gnu::used]] inline const char DEVPLACE_DETAIL_NAME(library) = 1; \
      }
  #endif
  #if defined(DEVPLACE_WITH_COMPILED) || !defined(DEVPLACE_WITH_CUDA)
DEVPLACE_DETAIL_LIBRARY(compiled_library)
  #endif
  #if defined(DEVPLACE_WITH_CUDA)
DEVPLACE_DETAIL_LIBRARY(compiled_library_of_cuda)
  #endif
  #undef DEVPLACE_DETAIL_NAME_OF
  #undef DEVPLACE_DETAIL_VERSIONED
  #undef DEVPLACE_DETAIL_NAME
  #undef DEVPLACE_DETAIL_LIBRARY
#endif
