// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <ostream>
#include <string>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>

namespace devplace {

/// The machine's processors and its main memory.
struct cpu {};

/// The logical GPU with ordinal `I` among those assigned to this process (not the machine's numbering).
template <int I> struct cuda {
  /// Whether the ordinal is valid.
  static constexpr bool counts_from_0 = I >= 0;
  static_assert(counts_from_0,
                "devplace: a cuda ordinal counts from 0; cuda<0> is the first device given to this process.");
};

/// Page-locked host memory, which GPUs access by DMA: the host's end of asynchronous copies (`to_async`). The host can
/// read and write its elements, but no operations run there.
struct pinned {};

/// Host memory shared by several processes, for tensors and the parameters of models; include shared_memory.hpp to use
/// it. Operations run as on `cpu`; results of operations lie in memory of this process.
struct shared_memory {};

/// Alternative names for code that also includes CUDA's headers, which define a global namespace `cuda`.
template <int I> using gpu = cuda<I>;

namespace detail {

// Tags of the backends for functions that are the same in every translation unit, such as functions with process-wide
// state.
struct cpu_backend {};
struct pinned_backend {};
struct any_device {};
struct cuda_backend : any_device {};

/// Distinguishes shared memory from the CPU's own memory, which has ordinal 0 of the same backend.
inline constexpr int shared_memory_ordinal = 1;

template <class Backend, int Ordinal, bool HostAccessible> struct traits_of_place {
  using backend_type = Backend;
  static constexpr int ordinal = Ordinal;
  static constexpr bool host_accessible = HostAccessible;
};

}  // namespace detail

/// Backends: each is the code for one kind of place, for all ordinals. Translation units with different components have
/// different types of backends (config.hpp), so public types have no backend as a template argument.
namespace backend::inline DEVPLACE_CONFIGURATION {
/// The machine's processors.
struct cpu : detail::cpu_backend {};
/// NVIDIA's GPUs, or their simulation.
struct cuda : detail::cuda_backend {};
/// Page-locked memory: no operations run there.
struct pinned : detail::pinned_backend {};
/// The backend of all devices, that is of processors with memory of their own.
using device = cuda;
}  // namespace backend::inline DEVPLACE_CONFIGURATION

/// Compile-time properties of a place `P`: `backend_type`, `ordinal`, and whether the host can access its memory.
template <class P> struct place_traits;

template <> struct place_traits<cpu> : detail::traits_of_place<backend::cpu, 0, true> {};
template <int I> struct place_traits<cuda<I>> : detail::traits_of_place<backend::cuda, I, false> {};
template <>
struct place_traits<shared_memory> : detail::traits_of_place<backend::cpu, detail::shared_memory_ordinal, true> {};
template <> struct place_traits<pinned> : detail::traits_of_place<backend::pinned, 0, true> {};

/// A memory together with the processor that works on it (`cpu`, `cuda<I>`, `shared_memory`), or a memory alone
/// (`pinned`).
template <class P>
concept place = requires {
  typename place_traits<P>::backend_type;
  { place_traits<P>::ordinal } -> std::convertible_to<int>;
};

/// The backend of place `P`.
template <place P> using backend_of_t = typename place_traits<P>::backend_type;

namespace detail {

/// Whether operations can run on the backend.
template <class Backend> inline constexpr bool computes = !std::same_as<Backend, backend::pinned>;

/// Whether the backend's memory is host memory, which the host copies itself.
template <class Backend>
inline constexpr bool in_host_memory = std::same_as<Backend, backend::cpu> || std::same_as<Backend, backend::pinned>;

inline std::string place_name(cpu_backend, int ordinal) {
  return ordinal == shared_memory_ordinal ? "shared_memory" : "cpu";
}
inline std::string place_name(pinned_backend, int) { return "pinned"; }
inline std::string place_name(cuda_backend, int ordinal) { return joined({"cuda:", ordinal}); }

}  // namespace detail

/// The place's name as in PyTorch: `cpu`, `cuda:1`; also `pinned` and `shared_memory`.
template <place P> std::string place_name() { return detail::place_name(backend_of_t<P>{}, place_traits<P>::ordinal); }

/// Prints place_name().
template <place P> std::ostream& operator<<(std::ostream& out, P) { return out << place_name<P>(); }

}  // namespace devplace
