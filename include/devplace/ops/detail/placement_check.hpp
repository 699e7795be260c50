// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/algebra.hpp>

// Messages for operands that the algebra of placements rejects. Public functions often assert in their own bodies, so
// that a compiler's message shows the user's line early.

#define DEVPLACE_DETAIL_OTHER_PLACES                                                    \
  "devplace: the operands lie on different places; bring them to one placement first: " \
  "to<on<P>>(x), broadcast<replicated<...>>(x), scatter<sharded<axis<0>, ...>>(x) or gather<on<P>>(x)."
#define DEVPLACE_DETAIL_OTHER_AXES \
  "devplace: the operands are split along different axes; all_gather(x) one of them first."
#define DEVPLACE_DETAIL_NONLINEAR                                                                              \
  "devplace: an operand is partial, and this operation on its summands does not give summands of the result; " \
  "make it whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_PRODUCT_OF_SUMMANDS                                                                   \
  "devplace: both operands are partial, and the products of their summands are not summands of the product; " \
  "make one of them whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_COUNTED_REPEATEDLY                                                                         \
  "devplace: a number or whole operand that is added to a partial one would count once for every place; make the " \
  "partial one whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_SUMMANDS_AND_PARTS                                                                   \
  "devplace: one operand is partial and one is split, so that the parts of one meet summands of the other; " \
  "reduce_scatter(x) or all_reduce(x) the partial one first."
#define DEVPLACE_DETAIL_OTHER_REDUCTIONS \
  "devplace: the operands are partial in different reductions; make one of them whole first, all_reduce(x)."

namespace devplace::detail {

/// Asserts that a rule allows an operation. The compiler shows the rule, and with it the placements, as template
/// arguments.
template <class Rule> struct common_result {
  static constexpr mismatch why = Rule::why;
  static_assert(why != mismatch::places, DEVPLACE_DETAIL_OTHER_PLACES);
  static_assert(why != mismatch::split_axes, DEVPLACE_DETAIL_OTHER_AXES);
  static_assert(why != mismatch::nonlinear, DEVPLACE_DETAIL_NONLINEAR);
  static_assert(why != mismatch::partial_and_split, DEVPLACE_DETAIL_SUMMANDS_AND_PARTS);
  static_assert(why != mismatch::reductions, DEVPLACE_DETAIL_OTHER_REDUCTIONS);
  static_assert(why != mismatch::parts_of_rows,
                "devplace: softmax and log_softmax work along the last axis, which is the split one; "
                "all_gather(x) first.");
  static constexpr bool value = why == mismatch::none;
};

}  // namespace devplace::detail
