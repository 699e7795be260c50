// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/placement.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

namespace detail {

// For static_assert: compilers explain at length why a concept is not satisfied.
template <class Where>
inline constexpr bool is_placement = placement<Where>;

}  // namespace detail

/// Appears in the compiler's message when a tensor is copied.
struct USE_clone_TO_COPY_A_TENSOR;
/// Appears in the compiler's message when a tensor is constructed from extents and a value.
struct USE_full_FOR_ELEMENTS_OF_ONE_VALUE;
/// Appears in the compiler's message for a view of a temporary tensor, which would outlive the memory.
struct KEEP_THE_TENSOR_IN_A_VARIABLE;

/// Sole owner of a row-major array whose element type, extents and placement are part of its type. Move-only, with deep
/// const; `clone()` copies, `to<Where>` copies to another place. Memory is aligned to 64 bytes. A moved-from tensor may
/// only be assigned to or destroyed. Several threads may read a tensor at once; one that writes must be the only one.
/// Specialisations are for one place and for several; arguments that fit neither are
/// refused here.
template <class T, class Extents, class Where = void>
class tensor {
  static_assert(detail::is_element<T>,
                "devplace: the first argument of tensor is its element type: float, double, std::int32_t, "
                "std::int64_t, std::uint8_t or, for storage, bf16.");
  static_assert(detail::is_extents<Extents>,
                "devplace: the second argument of tensor is its extents, as in extents<3, 4> or extents<dyn, 4>.");
  static_assert(!detail::is_extents<Extents> || detail::is_placement<Where>,
                "devplace: the third argument of tensor is its placement, as in cpu, cuda<0> or "
                "replicated<0, 1>.");

 public:
  /// So that no other error follows.
  template <class... X>
  explicit tensor(const X&...) {}
};

}  // namespace devplace
