// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/error.hpp>
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
/// Appears in the compiler's message for a value whose summands were not combined.
struct COMBINE_THE_SUMMANDS_WITH_reduce_OR_all_reduce;
/// Appears in the compiler's message when a tensor is constructed from extents and a value.
struct USE_full_FOR_ELEMENTS_OF_ONE_VALUE;
/// Appears in the compiler's message for a view of a temporary tensor, which would outlive the memory.
struct KEEP_THE_TENSOR_IN_A_VARIABLE;

/// Appears in the compiler's message when a tensor is constructed from another tensor, a view or a container.
struct USE_to_OR_cast_OR_wrap_TO_MAKE_A_TENSOR_OF_ANOTHER;

namespace detail {

/// What tensors are made from or assigned; all else is refused.
template <class X, class Extents>
concept tensor_argument = std::is_arithmetic_v<X> || std::is_convertible_v<X, Extents> || requires {
  X::is_expression;
};

/// Nested lists with these numbers of values.
template <std::size_t First, std::size_t... Rest>
struct lists {
  using given = extents<1 + sizeof...(Rest), First>;
  template <class Extents>
  static constexpr bool fit = compatible<Extents, given> && ((Rest == First) && ...);
  template <class Extents>
  static constexpr Extents extents_for() {
    if constexpr (fit<Extents>)
      return Extents(given{});
    else
      return Extents{};
  }
};

[[noreturn]] inline void throw_moved_from() {
  throw error("this tensor was moved away and has no elements; assign it a new one before it is used again.");
}

/// `to` as a member of tensors on one place (tensor/copy.hpp).
template <class Where>
struct mover;

}  // namespace detail

/// Sole owner of a row-major array whose element type, extents and placement are part of its type. Move-only, with deep
/// const; `clone()` copies, `to<Where>` copies to another place. Memory is aligned to 64 bytes. A moved-from tensor may
/// only be assigned to or destroyed. Several threads may read a tensor at once; one that writes must be the only one.
/// Specialisations are for one place and for several; arguments that fit neither are refused here.
template <class T, class EXTENTS_TYPE_SUCH_AS_extents_3_4, class Where = void>
class tensor : public detail::refusal {
  static constexpr bool has_element = detail::is_element<T>,
                        has_extents = !has_element || detail::is_extents<EXTENTS_TYPE_SUCH_AS_extents_3_4>,
                        has_place = !has_element || !has_extents || detail::is_placement<Where>;
  static_assert(has_element,
                "devplace: the first argument of tensor is its element type: float, double, std::int32_t, "
                "std::int64_t, std::uint8_t or, for storage, bf16 and half.");
  static_assert(has_extents,
                "devplace: the second argument of tensor is its extents, as in extents<3, 4> or extents<dyn, 4>.");
  static_assert(has_place,
                "devplace: the third argument of tensor is its placement, as in cpu, cuda<0> or "
                "replicated<0, 1>.");

 public:
  /// So that no other error follows.
  template <class... X>
  explicit tensor(const X&...) {}
};
/// `tensor a{1.0f, 2.0f}`: a list does not say where the tensor lies.
template <class... Number>
  requires(sizeof...(Number) > 0 && (std::is_arithmetic_v<Number> && ...))
tensor(Number...)
->tensor<void, void>;

}  // namespace devplace
