// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/parallel/direct.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/distributed.hpp>

// What the collectives that combine summands have in common.

namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION {

template <class Kind>
inline constexpr reduction operation_of_kind = reduction::sum;
template <reduction Op>
inline constexpr reduction operation_of_kind<summands<Op>> = Op;
/// The operation over the places that a partial placement's value is.
template <class Where>
inline constexpr reduction operation_of = operation_of_kind<typename placement_traits<Where>::kind>;

/// Refuses at compile time means of integers, which would be cut off.
template <class From>
constexpr bool check_elements() {
  constexpr bool defined = operation_of<typename From::placement_type> != reduction::mean ||
                           std::is_floating_point_v<typename From::value_type>;
  static_assert(defined,
                "devplace: a mean over places is defined for floating-point elements; use partial<reduction::sum, ...> "
                "and divide, or convert the summands with cast<float>(x).");
  return defined;
}

/// The ordinals of a placement's places.
template <class Where>
inline constexpr auto& ordinals_of = devplace::detail::mesh_of<Where>::ordinals;

// One communicator for a call; compiled for a backend and an element type, whatever the places.
template <class Backend, class T>
void all_reduce_buffers(std::span<const int> ordinals, std::span<T* const> buffers, std::size_t count, reduction op) {
  direct<Backend>(ordinals).all_reduce(buffers, count, op);
}
template <class Backend, class T>
void reduce_buffers(std::span<const int> ordinals, std::span<T* const> buffers, std::size_t count, reduction op,
                    int root) {
  direct<Backend>(ordinals).reduce(buffers, count, op, root);
}

/// The first element of each place's part.
template <class T, class Extents, class Where>
auto buffers_of(tensor<T, Extents, Where>& x) {
  std::array<T*, local_place_count<Where>> result{};
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = x.local(k).data();
  return result;
}

template <class T, class Extents, class Where>
auto buffers_of(const tensor<T, Extents, Where>& x) {
  std::array<const T*, local_place_count<Where>> result{};
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = x.local(k).data();
  return result;
}

/// Summands that may be written over: a temporary's memory, or copies.
template <class T, class Extents, class Where>
tensor<T, Extents, Where> to_overwrite(tensor<T, Extents, Where>&& x) {
  return std::move(x);
}
template <class T, class Extents, class Where>
tensor<T, Extents, Where> to_overwrite(const tensor<T, Extents, Where>& x) {
  return x.clone();
}

}  // namespace devplace::parallel::detail::inline DEVPLACE_CONFIGURATION
