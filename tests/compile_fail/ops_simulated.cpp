// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/memory/event.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/sorting.hpp>

namespace dp = devplace;

template <class P> using matrix = dp::tensor<float, dp::extents<3, 3>, dp::on<P>>;
template <class P> using labels = dp::tensor<std::int64_t, dp::extents<3>, dp::on<P>>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void operations(matrix<dp::cpu>& a, matrix<dp::cuda<0>>& b, matrix<dp::cuda<1>>& c, matrix<dp::pinned>& p) {
  p(0, 0) = dp::to<dp::on<dp::pinned>>(b)(1, 1);
  dp::matmul(a, a);
  dp::matmul(b, b);
  dp::matmul(c, c);
#if defined(MATMUL_CPU_AND_CUDA)  // expect: devplace: matmul: the operands live on different places
  dp::matmul(a, b);
#endif
#if defined(MATMUL_TWO_DEVICES)  // expect: devplace: matmul: the operands live on different places
  dp::matmul(b, c);
#endif
#if defined(MATMUL_TRANSPOSED_TWO_DEVICES)  // expect: devplace: matmul: the operands live on different places
  dp::matmul(b, dp::transposed(c));
#endif
#if defined(MATMUL_INTO_ANOTHER_PLACE)  // expect: devplace: matmul: the operands live on different places
  dp::matmul_into(a, b, b);
#endif
#if defined(SOFTMAX_INTO_ANOTHER_PLACE)  // expect: devplace: softmax: the operands live on different places
  dp::softmax_into(a, b);
#endif
#if defined(SUM_INTO_ANOTHER_PLACE)  // expect: devplace: a reduction's result lies on another placement than the
                                     // reduced
  dp::sum_into(a.reshape(dp::extents<9>{}), b.reshape(dp::extents<1, 9>{}), dp::axis<0>{});
#endif
#if defined(SORT_INTO_ANOTHER_PLACE)  // expect: devplace: sort: result and operand live on different places
  dp::sort_into(a, b);
#endif
#if defined(CUMSUM_INTO_ANOTHER_DEVICE)  // expect: devplace: cumsum, cumprod: result and operand live on different
  dp::cumsum_into(c.reshape(dp::extents<9>{}), b.reshape(dp::extents<9>{}));
#endif
#if defined(INDICES_ON_ANOTHER_PLACE)  // expect: devplace: take_rows: the operand and the indices live on different
  dp::take_rows(b, labels<dp::cpu>{0, 1, 2});
#endif
#if defined(SORT_OVER_PLACES)  // expect: devplace: this operation takes tensors and views on one place
  {
    dp::tensor<float, dp::extents<4>, dp::sharded<dp::axis<0>, 0, 1>> parts(dp::extents<4>{});
    dp::sort(parts);
  }
#endif
#if defined(PERMUTATION_OVER_PLACES)  // expect: devplace: permutation: the numbers are drawn on one place
  {
    dp::tensor<std::int64_t, dp::extents<4>, dp::replicated<0, 1>> copies(dp::extents<4>{});
    dp::permutation_into(copies, dp::seed{1});
  }
#endif
#if defined(CUMSUM_OVER_PLACES)  // expect: devplace: this operation takes tensors and views on one place
  {
    dp::tensor<float, dp::extents<4>, dp::replicated<0, 1>> copies(dp::extents<4>{});
    dp::cumsum(copies);
  }
#endif
#if defined(LABELS_ON_ANOTHER_PLACE)  // expect: devplace: cross_entropy: the operands live on different places
  dp::cross_entropy(b, labels<dp::cpu>{0, 1, 2});
#endif
#if defined(SUM_IN_PINNED_MEMORY)  // expect: devplace: nothing is computed in pinned memory.*to<cpu>
  {
    matrix<dp::pinned> sum = p + p;
  }
#endif
#if defined(ZEROS_IN_PINNED_MEMORY)  // expect: devplace: nothing is computed in pinned memory
  in_a_template([](auto size) { dp::zeros<float, dp::on<dp::pinned>>(size); }, dp::extents<3>{});
#endif
#if defined(MATMUL_IN_PINNED_MEMORY)  // expect: devplace: nothing is computed in pinned memory
  in_a_template([](auto& x) { dp::matmul(x, x); }, p);
#endif
#if defined(EVENT_OF_PINNED_MEMORY)  // expect: devplace: pinned is memory only and has no work of its own
  {
    dp::event<dp::pinned> done;
  }
#endif
}

int main() {}
