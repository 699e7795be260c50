// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/algebra.hpp>

namespace devplace::detail {

/// Translates the algebra's refusals to error messages; `value` is true if the rule allows the operation. The compiler
/// shows the rule, and with it the placements, as template arguments.
template <class Rule>
struct common_result {
  static constexpr mismatch why = Rule::why;
  static_assert(why != mismatch::places,
                "devplace: the operands lie on different places; bring them to one placement first: "
                "to<on<P>>(x), broadcast<replicated<...>>(x), scatter<sharded<axis<0>, ...>>(x) or gather<on<P>>(x).");
  static_assert(why != mismatch::split_axes,
                "devplace: the operands are split along different axes; all_gather(x) one of them first.");
  static_assert(why != mismatch::nonlinear,
                "devplace: an operand is partial, and this operation on its summands does not give summands of the "
                "result; make it whole first, all_reduce(x).");
  static_assert(why != mismatch::partial_product,
                "devplace: both operands are partial, and the products of their summands are not summands of the "
                "product; make one of them whole first, all_reduce(x).");
  static_assert(why != mismatch::counted_repeatedly,
                "devplace: a number or whole operand that is added to a partial one would count once for every place; "
                "make the partial one whole first, all_reduce(x).");
  static_assert(why != mismatch::partial_and_split,
                "devplace: one operand is partial and one is split, so that the parts of one meet summands of the "
                "other; reduce_scatter(x) or all_reduce(x) the partial one first.");
  static_assert(why != mismatch::reductions,
                "devplace: the operands are partial in different reductions; make one of them whole first, "
                "all_reduce(x).");
  static_assert(why != mismatch::contraction,
                "devplace: matmul: the axis that is summed over is split in one operand and not in the other; "
                "all_gather(x) the split one first. Of two that are split along rows, matmul(transposed(a), b) is "
                "partial.");
  static_assert(why != mismatch::mean_of_parts,
                "devplace: mean: the parts of the split axis can differ in size, and then the mean of their means is "
                "not the mean; divide the sum, all_reduce(sum(x)), by the number of elements.");
  static_assert(why != mismatch::position_in_parts,
                "devplace: argmax, argmin: a position in a part is not the position in the whole; gather<on<P>>(x) "
                "first, or work along an axis that is not split.");
  static_assert(why != mismatch::parts_of_rows,
                "devplace: softmax, log_softmax: they work along the last axis, and that is the split one; "
                "all_gather(x) first.");
  static constexpr bool value = why == mismatch::none;
};

}  // namespace devplace::detail
