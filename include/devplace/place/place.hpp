// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <ostream>
#include <string>

#include <devplace/config.hpp>

namespace devplace {

/// The machine's processors and its ordinary memory.
struct cpu {};

/// The logical GPU with ordinal `I` among those given to this process (not the machine's numbering).
template <int I>
struct cuda {
  static_assert(I >= 0, "devplace: a cuda ordinal counts from 0; cuda<0> is the first device given to this process.");
};

/// Memory of the host that GPUs read and write by themselves (page-locked): the host's end of copies that go on while
/// the program does (`to_async`). Memory only: the host reads and writes elements, and nothing is computed there.
struct pinned {};

/// Names for code that also sees CUDA's headers, which own a global namespace `cuda`.
template <int I>
using gpu = cuda<I>;

namespace detail {

// The backends for functions that are the same in every translation unit, such as those that keep state of the process.
struct cpu_backend {};
struct cuda_backend {};
struct pinned_backend {};

}  // namespace detail

/// The families of code that work on places: one for each kind of processor, never for an ordinal. A template on one of
/// them is another one in a translation unit with other components (config.hpp), so public types are none.
namespace backend::inline DEVPLACE_CONFIGURATION {
/// The machine's processors.
struct cpu : detail::cpu_backend {};
/// NVIDIA's GPUs, or what simulates them.
struct cuda : detail::cuda_backend {};
/// Page-locked memory: nothing works there.
struct pinned : detail::pinned_backend {};
}  // namespace backend::inline DEVPLACE_CONFIGURATION

/// What is known of a place `P` at compile time: `backend_type`, `ordinal`, and whether the host can reach its memory.
template <class P>
struct place_traits;

template <>
struct place_traits<cpu> {
  using backend_type = backend::cpu;
  static constexpr int ordinal = 0;
  static constexpr bool host_accessible = true;
};

template <int I>
struct place_traits<cuda<I>> {
  using backend_type = backend::cuda;
  static constexpr int ordinal = I;
  static constexpr bool host_accessible = false;
};

template <>
struct place_traits<pinned> {
  using backend_type = backend::pinned;
  static constexpr int ordinal = 0;
  static constexpr bool host_accessible = true;
};

/// One memory together with the processor that works on it, `cpu` or `cuda<I>`, or a memory alone, `pinned`.
template <class P>
concept place = requires {
  typename place_traits<P>::backend_type;
  { place_traits<P>::ordinal } -> std::convertible_to<int>;
};

/// The backend whose code works on place `P`.
template <place P>
using backend_of_t = typename place_traits<P>::backend_type;

namespace detail {

/// Whether operations can be carried out there.
template <class Backend>
inline constexpr bool computes = true;
template <>
inline constexpr bool computes<backend::pinned> = false;

/// Whether the memory is the host's, which copies it by itself.
template <class Backend>
inline constexpr bool in_host_memory = false;
template <>
inline constexpr bool in_host_memory<backend::cpu> = true;
template <>
inline constexpr bool in_host_memory<backend::pinned> = true;

inline std::string place_name(cpu_backend, int) {
  return "cpu";
}
inline std::string place_name(pinned_backend, int) {
  return "pinned";
}
inline std::string place_name(cuda_backend, int ordinal) {
  return "cuda:" + std::to_string(ordinal);
}

}  // namespace detail

/// The place as PyTorch writes it: `cpu`, `cuda:1`; `pinned`.
template <place P>
std::string place_name() {
  return detail::place_name(backend_of_t<P>{}, place_traits<P>::ordinal);
}

/// Writes the place as place_name() does.
template <place P>
std::ostream& operator<<(std::ostream& out, P) {
  return out << place_name<P>();
}

}  // namespace devplace
