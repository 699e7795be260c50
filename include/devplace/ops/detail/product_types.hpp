// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/ops/detail/broadcast.hpp>
#include <devplace/ops/detail/matrix_operands.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::detail {

/// A precision, or void for that of the operands' element type.
template <class P>
concept precision_or_own = std::is_void_v<P> || precision<P>;

/// Whether both operands of a product can be on one device.
template <class A, class B>
concept multipliable_places = on_one_device<A, B>;

/// The arithmetic of products in a precision.
template <precision P>
inline constexpr product_math math_of = std::is_same_v<P, tf32> ? product_math::tf32 : product_math::strict;

/// The precision of a product of elements `T`: P unless it is void.
template <class P, class T>
struct product_precision {
  using type = P;
};
template <class T>
struct product_precision<void, T> {
  using type = T;
};
template <short_element T>
struct product_precision<void, T> {
  using type = mixed<T>;
};
template <class P, class T>
using own_precision = typename product_precision<P, T>::type;

/// Whether a result of elements `C` is one of operands with elements `T`.
template <class C, class T>
inline constexpr bool result_of_product = std::is_same_v<C, T> || (short_element<T> && std::is_same_v<C, float>);

/// Whether the types allow a product; called by functions that programs call, so that compilers need few lines to show
/// the user's.
template <class P, class A, class B>
constexpr bool check_product() {
  using a = operand_extents_t<A>;
  using b = operand_extents_t<B>;
  using value = operand_element_t<A>;
  constexpr bool same = std::is_same_v<value, operand_element_t<B>>,
                 floating = !same || is_floating<value> || short_element<value>,
                 of_matrices = a::rank >= 2 && b::rank >= 2;
  static_assert(same,
                "devplace: matmul: the operands have different element types; convert one with cast<T>(x) first.");
  static_assert(
      floating,
      "devplace: matmul: the elements must be float, double, bf16 or half; convert with cast<float>(x) first.");
  static_assert(of_matrices,
                "devplace: matmul: both operands must be matrices, or arrays of matrices, of rank 2 or more; reshape "
                "other arrays first.");
  if constexpr (same && floating && of_matrices) {
    constexpr bool precise = std::is_same_v<element_of_t<own_precision<P, value>>, value>,
                   inner = compatible<extents<columns_in<a>>, extents<rows_in<b>>>,
                   leading = broadcast_pair<leading_extents_t<a>, leading_extents_t<b>>::fits;
    static_assert(precise,
                  "devplace: matmul: the operands' elements are not those of the precision: tf32 is for float, and "
                  "float and double each for their own; convert with cast<float>(x) first.");
    static_assert(inner,
                  "devplace: matmul: the columns of the first operand and the rows of the second differ; write "
                  "transposed(x) for an operand that is stored the other way round.");
    static_assert(leading,
                  "devplace: matmul: the operands are arrays of matrices whose static leading extents differ in an "
                  "axis in which neither is 1 (aligned at the last of them); slice or reshape one of them.");
    return precise && inner && leading;
  } else {
    return false;
  }
}

}  // namespace devplace::detail
