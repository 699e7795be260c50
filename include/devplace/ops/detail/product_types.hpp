// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/matrix_operands.hpp>
#include <devplace/ops/detail/operand.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::detail {

/// A precision, or void for the precision of the operands' element type.
template <class P>
concept precision_or_own = std::is_void_v<P> || precision<P>;

/// Arguments that a product on one place takes or rejects with an error message. Tensors over several places:
/// distributed_matmul.hpp.
template <class A, class B>
concept product_arguments = accepted_argument<const A&> && accepted_argument<const B&> &&
                            !(tensor_like<A> && tensor_like<B> && (distributed_tensor<A> || distributed_tensor<B>));

/// The arithmetic of products in a precision.
template <precision P>
inline constexpr product_math math_of = std::is_same_v<P, tf32> ? product_math::tf32 : product_math::strict;

/// The precision of a product of elements `T`: P unless it is void.
template <class P, class T> struct product_precision {
  using type = P;
};
template <class T> struct product_precision<void, T> {
  using type = T;
};
template <half_precision_element T> struct product_precision<void, T> {
  using type = mixed<T>;
};
template <class P, class T> using own_precision = typename product_precision<P, T>::type;

/// The precision of a product of operand A's elements; float where check_product() rejects the operand.
template <class A> struct operand_precision {
  using type = float;
};
template <tensor_like A>
  requires precision<own_precision<void, operand_element_t<A>>>
struct operand_precision<A> {
  using type = own_precision<void, operand_element_t<A>>;
};

/// Whether a product of elements `T` may have elements `C`.
template <class C, class T>
inline constexpr bool result_of_product =
    std::is_same_v<C, T> || (half_precision_element<T> && std::is_same_v<C, float>);

#define DEVPLACE_DETAIL_PRODUCT_APART \
  "devplace: matmul: the operands live on different places; move them to one with to<on<...>>(x) first."

/// Whether the types allow a product; if not, an assertion fails.
template <class P, class A, class B> constexpr bool check_product() {
  constexpr bool stored = tensor_like<A> && tensor_like<B> && none_distributed<A, B>;
  static_assert(stored,
                "devplace: matmul: the operands must be tensors or views; give evaluated(a + b) of an expression. "
                "matmul_into takes operands on one place.");
  if constexpr (stored) {
    using a = operand_extents_t<A>;
    using b = operand_extents_t<B>;
    using value = operand_element_t<A>;
    constexpr bool together = on_one_device<A, B>, same = std::is_same_v<value, operand_element_t<B>>,
                   floating = !same || is_floating<value> || half_precision_element<value>,
                   of_matrices = !floating || (a::rank >= 2 && b::rank >= 2);
    static_assert(together, DEVPLACE_DETAIL_PRODUCT_APART);
    static_assert(same,
                  "devplace: matmul: the operands have different element types; convert one with cast<T>(x) first.");
    static_assert(
        floating,
        "devplace: matmul: the elements must be float, double, bf16 or half; convert with cast<float>(x) first.");
    static_assert(of_matrices,
                  "devplace: matmul: both operands must be matrices, or arrays of matrices, of rank 2 or more; reshape "
                  "other arrays first.");
    if constexpr (together && same && floating && of_matrices) {
      constexpr bool precise = std::is_same_v<element_of_t<own_precision<P, value>>, value>,
                     inner = compatible<extents<columns_in<a>>, extents<rows_in<b>>>,
                     leading = broadcast_pair<leading_extents_t<a>, leading_extents_t<b>>::fits;
      static_assert(precise,
                    "devplace: matmul: the operands' elements are not those of the precision: tf32 takes float, "
                    "every other precision its own type; convert with cast<float>(x) first.");
      static_assert(inner,
                    "devplace: matmul: the columns of the first operand and the rows of the second differ; write "
                    "transposed(x) for an operand that is stored the other way round.");
      static_assert(leading,
                    "devplace: matmul: the operands are arrays of matrices whose static leading extents differ in an "
                    "axis in which neither is 1 (aligned at the last leading axis); slice or reshape one of them.");
      return precise && inner && leading;
    } else {
      return false;
    }
  } else {
    return false;
  }
}

}  // namespace devplace::detail
