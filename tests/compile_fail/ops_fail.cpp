// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/concat.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/matrix_parts.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/parallel_for.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/ops/take_along.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/sorting.hpp>

#include <vector>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
using labels = dp::tensor<std::int64_t, dp::extents<2>, on_cpu>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void operations(matrix& a, const labels& classes) {
  dp::matmul(a, dp::transposed(a));
  dp::sum(a, dp::axis<1>{});
  dp::softmax_into(a, a);
  dp::cross_entropy(a, classes);
  dp::mse(a, a);
#if defined(SUM_AXIS_TWICE)  // expect: devplace: an axis is reduced twice; name each axis once
  dp::sum(a, dp::axis<1>{}, dp::axis<1>{});
#endif
#if defined(SUM_OF_A_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  auto squares = a * a;
  dp::sum(squares);
#endif
#if defined(SUM_MORE_NUMBERS_THAN_AXES)  // expect: devplace: more axes are reduced than the array has
  dp::sum(a, 0, 1, 2);
#endif
#if defined(SUM_OF_A_VECTOR)  // expect: devplace: a reduction takes one tensor, view or expression
  dp::sum(std::vector<float>{1, 2});
#endif
#if defined(MAX_OF_TWO_TENSORS)  // expect: devplace: a reduction takes one tensor, view or expression
  dp::max(a, a);
#endif
#if defined(SOFTMAX_OF_A_VECTOR)  // expect: devplace: softmax: the operand must be a tensor, view or expression
  dp::softmax(std::vector<float>{1, 2});
#endif
#if defined(SOFTMAX_OF_A_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  auto shifted = a - 1.0f;
  dp::softmax(shifted);
#endif
#if defined(PRODUCT_OF_A_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  auto doubled = a + a;
  dp::matmul(doubled, dp::transposed(a));
#endif
#if defined(EVALUATED_VECTOR)  // expect: devplace: evaluated: the argument is not a tensor, view or expression
  static_cast<void>(dp::evaluated(std::vector<float>{1, 2}));
#endif
#if defined(MATMUL_INTO_INTEGERS)  // expect: devplace: matmul: the elements must be float, double, bf16 or half
  dp::matmul_into(classes.clone(), classes, classes);
#endif
#if defined(COPY_OF_A_VECTOR)  // expect: GIVE_TENSORS_OR_VIEWS_COPY|copy: give tensors or views on one place
  dp::copy(a, std::vector<float>(6));
#endif
#if defined(SORT_OF_A_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  auto twice = a + a;
  dp::sort(twice);
#endif
#if defined(REFUSED_AND_STORED)  // expect: devplace: matmul: the columns of the first operand
  dp::tensor product = dp::matmul(a, a);
#endif
#if defined(MATMUL_OF_A_VECTOR)  // expect: devplace: matmul: the operands must be tensors or views
  dp::matmul(std::vector<float>{1, 2}, dp::transposed(a));
#endif
#if defined(ROWS_BY_A_VECTOR)  // expect: devplace: take_rows: the rows and their indices must be tensors, views or
  dp::take_rows(a, std::vector<int>{0, 1});
#endif
#if defined(FLIP_NO_AXIS)  // expect: devplace: the operand has no such axis; axes are numbered from 0
  dp::flip(a, dp::axis<2>{});
#endif
#if defined(REVERSED_TEMPORARY)  // expect: devplace: reversed: a temporary tensor would be gone before the view
  dp::reversed(dp::zeros<float, on_cpu>(2, 3), dp::axis<0>{});
#endif
#if defined(CONCAT_OTHER_ROWS)  // expect: devplace: concat, stack: the operands must have equal extents along all other
  dp::concat(dp::axis<1>{}, a, dp::transposed(a));
#endif
#if defined(CONCAT_OTHER_ELEMENTS)  // expect: devplace: concat, stack: the operands have different element types
  dp::concat(dp::axis<0>{}, a, dp::zeros<double, on_cpu>(2, 3));
#endif
#if defined(CONCAT_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  auto both = a + a;
  dp::concat(dp::axis<0>{}, a, both);
#endif
#if defined(CONCAT_VECTOR)  // expect: devplace: this operation takes tensors and views on one place
  dp::concat(dp::axis<0>{}, std::vector<float>(6), a);
#endif
#if defined(SPLIT_TEMPORARY)  // expect: devplace: split_at returns views, so it takes tensors with a name, and views
  dp::split_at(dp::zeros<float, on_cpu>(2, 3), dp::axis<0>{}, 1);
#endif
#if defined(TAKE_ALONG_FLOATS)  // expect: devplace: take_along, add_along: the indices must be integers
  dp::take_along(a, a, dp::axis<1>{});
#endif
#if defined(DIAG_OF_MATRICES)  // expect: devplace: diag: the operand must be a vector or a matrix
  dp::diag(dp::zeros<float, on_cpu>(2, 3, 4));
#endif
#if defined(TRIL_OF_A_ROW)  // expect: devplace: tril, triu: the operand must have two axes or more
  dp::tril(a[0]);
#endif
#if defined(OUTER_OF_MATRICES)  // expect: devplace: outer: the operands must be vectors
  dp::outer(a, a);
#endif
#if defined(LINSPACE_OF_INTEGERS)  // expect: devplace: linspace: the template arguments must be a floating-point type
  dp::linspace<int, dp::cpu>(0, 10, 11);
#endif
#if defined(LOOP_WITH_A_VECTOR)  // expect: devplace: parallel_for, parallel_reduce: devices get a bytewise copy
  dp::parallel_for(dp::cpu{}, dp::extents<2>{}, [v = std::vector<int>(2)](std::size_t) {});
#endif
#if defined(LOOP_OVER_OTHER_AXES)  // expect: devplace: parallel_for, parallel_reduce: the functor must be callable with
                                   // a
  dp::parallel_for(dp::cpu{}, dp::extents<2, 3>{}, [](std::size_t) {});
#endif
#if defined(REDUCE_INTO_OTHER_TYPE)  // expect: devplace: parallel_reduce_into: the result must have the element type
  dp::parallel_reduce_into(a, dp::extents<2>{}, [](std::size_t) { return 1; });
#endif
#if defined(MEAN_OF_INTEGERS_IN_A_LOOP)  // expect: devplace: parallel_reduce: the mean of integers is not an integer
  in_a_template(
      [](auto size) { dp::parallel_reduce<dp::reduction::mean>(dp::cpu{}, size, [](std::size_t) { return 1; }); },
      dp::extents<2>{});
#endif
#if defined(REDUCE_TEXTS)  // expect: devplace: parallel_reduce: the functor must return an element
  dp::parallel_reduce(dp::cpu{}, dp::extents<2>{}, [](std::size_t) { return "text"; });
#endif
#if defined(CATEGORICAL_OF_INTEGERS)  // expect: devplace: categorical: the operand is logits
  dp::categorical(classes, dp::seed{1});
#endif
#if defined(PERMUTATION_OF_FLOATS)  // expect: devplace: permutation: the template argument must be one place
  dp::permutation<float>(10, dp::seed{1});
#endif
#if defined(SUM_AXES_AND_NUMBERS)  // expect: devplace: a reduction takes its axes either as axis<N>
  dp::sum(a, dp::axis<0>{}, 1);
#endif
#if defined(ARGMAX_OF_AXES)  // expect: devplace: argmax and argmin: a position is a number along one axis
  dp::argmax(a, dp::axis<0>{}, dp::axis<1>{});
#endif
#if defined(STRIDED_WHERE_ROWS_ARE_NEEDED)  // expect: devplace: this operation takes tensors and row-major views
  in_a_template([](const auto& x, const auto& labels) { dp::cross_entropy(x, labels); }, a.slice(dp::axis<1>{}, 0, 2),
                classes);
#endif
#if defined(MATMUL_INNER_EXTENTS)  // expect: devplace: matmul: the columns of the first operand
  dp::matmul(a.reshape(dp::extents<3, 2>{}), a.reshape(dp::extents<3, 2>{}));
#endif
#if defined(MATMUL_INNER_EXTENTS_OF_ARRAYS)  // expect: devplace: matmul: the columns of the first operand
  dp::matmul(a.reshape(dp::extents<2, 1, 3>{}), a.reshape(dp::extents<2, 1, 3>{}));
#endif
#if defined(MATMUL_LEADING_EXTENTS)  // expect: devplace: matmul: the operands are arrays of matrices whose static
                                     // leading extents differ
  dp::matmul(a.reshape(dp::extents<3, 2, 1>{}), a.reshape(dp::extents<2, 1, 3>{}));
#endif
#if defined(MATMUL_RESULT_EXTENTS)  // expect: devplace: matmul: the result, which is the first argument, must have
  dp::matmul_into(a, a, dp::transposed(a));
#endif
#if defined(MATMUL_ELEMENT_TYPES)  // expect: devplace: matmul: the operands have different element types
  {
    const dp::tensor<double, dp::extents<3, 2>, on_cpu> b{{1, 2}, {3, 4}, {5, 6}};
    dp::matmul(a, b);
  }
#endif
#if defined(MATMUL_PRECISION)  // expect: devplace: matmul: the operands' elements are not those of the precision
  {
    dp::tensor<double, dp::extents<3, 2>, dp::on<dp::cpu>> b(dp::extents<3, 2>{});
    dp::matmul<dp::tf32>(dp::transposed(b), b);
  }
#endif
#if defined(MATMUL_OPTIONS_PRECISION)  // expect: devplace: matmul: the operands' elements are not those of the
                                       // precision
  {
    dp::tensor<double, dp::extents<3, 3>, dp::on<dp::cpu>> b(dp::extents<3, 3>{});
    dp::matmul_into(b, b, b, dp::matmul_options<dp::tf32>{});
  }
#endif
#if defined(MATMUL_OF_HALF_INTO_BF16)  // expect: devplace: matmul: the result's element type must be
  {
    const dp::tensor<dp::half, dp::extents<3, 3>, on_cpu> x(dp::extents<3, 3>{});
    dp::tensor<dp::bf16, dp::extents<3, 3>, on_cpu> y(dp::extents<3, 3>{});
    dp::matmul_into(y, x, x);
  }
#endif
#if defined(MATMUL_INTEGERS)  // expect: devplace: matmul: the elements must be float, double, bf16 or half
  {
    const dp::tensor<std::int32_t, dp::extents<1, 1>, on_cpu> b{{1}};
    dp::matmul(b, b);
  }
#endif
#if defined(MATMUL_RANK)  // expect: devplace: matmul: both operands must be matrices
  {
    const dp::tensor<float, dp::extents<3>, on_cpu> b{1, 2, 3};
    dp::matmul(a, b);
  }
#endif
#if defined(TRANSPOSED_TEMPORARY)  // expect: devplace: transposed: a temporary tensor would be gone
  dp::matmul(a, dp::transposed(dp::softmax(a)));
#endif
#if defined(TRANSPOSED_RANK)  // expect: (GIVE_A_MATRIX_OR_AN_ARRAY_OF_MATRICES|transposed: only matrices)
  dp::transposed(classes);
#endif
#if defined(SORT_POSITIONS_TYPE)  // expect: devplace: sort: the result has the wrong element type
  {
    dp::tensor<float, dp::extents<2, 3>, on_cpu> positions(dp::extents<2, 3>{});
    dp::argsort_into(positions, a);
  }
#endif
#if defined(SORT_RESULT_EXTENTS)  // expect: devplace: sort: result and operand must have the same extents
  {
    dp::tensor<float, dp::extents<3>, on_cpu> row(dp::extents<3>{});
    dp::sort_into(row, a);
  }
#endif
#if defined(SORT_AXIS)  // expect: devplace: sort: the axis does not exist
  dp::sort(a, dp::axis<2>{});
#endif
#if defined(TOP_K_AXIS)  // expect: devplace: top_k: the axis does not exist
  dp::top_k(a, 1, dp::axis<2>{});
#endif
#if defined(SORT_SUM_INTO)  // expect: devplace: this operation takes tensors and views on one place; give evaluated
  dp::sort_into(a, a + a);
#endif
#if defined(SORT_SCALAR)  // expect: devplace: this operation works along an axis; a scalar has none
  {
    const dp::tensor<float, dp::extents<>, on_cpu> one(dp::extents<>{});
    dp::sort(one);
  }
#endif
#if defined(CUMSUM_RANK)  // expect: devplace: cumsum, cumprod: name one axis, as in cumsum.x, axis<0>
  dp::cumsum(a);
#endif
#if defined(CUMSUM_OF_INTEGERS)  // expect: devplace: cumsum, cumprod: the result has the wrong element type
  {
    dp::tensor<std::int32_t, dp::extents<2>, on_cpu> x{1, 2};
    dp::cumsum_into(x, x);
  }
#endif
#if defined(CUMPROD_AXIS)  // expect: devplace: cumsum, cumprod: the axis does not exist
  dp::cumprod(a, dp::axis<2>{});
#endif
#if defined(PERMUTATION_TYPE)  // expect: devplace: permutation: the numbers are int64
  dp::permutation_into(a.reshape(dp::extents<6>{}), dp::seed{1});
#endif
#if defined(SUM_AXIS)  // expect: devplace: the reduced axis does not exist
  dp::sum(a, dp::axis<2>{});
#endif
#if defined(MEAN_OF_INTEGERS)  // expect: devplace: mean: the mean of integers is not an integer
  dp::mean(classes);
#endif
#if defined(NORM_OF_INTEGERS)  // expect: devplace: norm, variance, standard_deviation and logsumexp take floating-point
  dp::norm(classes);
#endif
#if defined(NORM_ORDER)  // expect: devplace: norm: the order is 1, 2 or infinite_order
  dp::norm<3>(a);
#endif
#if defined(REDUCTION_RESULT_TYPE)  // expect: devplace: a reduction's result has the wrong element type
  {
    dp::tensor<float, dp::extents<1>, on_cpu> result(dp::extents<1>{});
    dp::sum_into(result, classes.reshape(dp::extents<2, 1>{}), dp::axis<0>{});
  }
#endif
#if defined(REDUCTION_RESULT_EXTENTS)  // expect: devplace: a reduction's result must have the extents of the axes that
  {
    dp::tensor<float, dp::extents<2>, on_cpu> result(dp::extents<2>{});
    dp::sum_into(result, a, dp::axis<0>{});
  }
#endif
#if defined(REDUCTION_RESULT_CONST)  // expect: devplace: the elements of a reduction's result are const
  {
    const dp::tensor<float, dp::extents<3>, on_cpu> result;
    dp::mean_into(result, a, dp::axis<0>{});
  }
#endif
#if defined(REDUCTION_RESULT_OF_INTEGERS)  // expect: devplace: mean: the mean of integers is not an integer
  {
    const dp::tensor<std::int32_t, dp::extents<3>, on_cpu> numbers{1, 2, 3};
    dp::tensor<std::int32_t, dp::extents<>, on_cpu> result;
    dp::mean_into(result, numbers);
  }
#endif
#if defined(SUM_WITHOUT_A_PLACE)  // expect: devplace: this operation makes a tensor, which needs a place in its type
  dp::sum(a.view().erased());
#endif
#if defined(SOFTMAX_OF_INTEGERS)  // expect: devplace: softmax: the elements must be floating-point numbers
  dp::softmax(classes);
#endif
#if defined(SOFTMAX_EXTENTS)  // expect: devplace: softmax: result and operands must have the same extents
  {
    dp::tensor<float, dp::extents<3, 2>, on_cpu> y(dp::extents<3, 2>{});
    dp::softmax_into(y, a);
  }
#endif
#if defined(SOFTMAX_INTO_CONST)  // expect: devplace: softmax: the result's elements are const
  {
    const matrix y(dp::extents<2, 3>{});
    dp::softmax_into(y, a);
  }
#endif
#if defined(LABELS_OF_FLOATS)  // expect: devplace: cross_entropy: labels are class numbers
  {
    const dp::tensor<float, dp::extents<2>, on_cpu> targets{0, 1};
    dp::cross_entropy(a, targets);
  }
#endif
#if defined(LABELS_EXTENTS)  // expect: devplace: cross_entropy: labels and row losses must have one element
  {
    const dp::tensor<std::int64_t, dp::extents<3>, on_cpu> targets{0, 1, 2};
    dp::cross_entropy(a, targets);
  }
#endif
#if defined(LABELS_RANK)  // expect: devplace: cross_entropy: logits have the shape .rows, classes. and labels .rows.
  {
    const dp::tensor<std::int64_t, dp::extents<2, 1>, on_cpu> targets{{0}, {1}};
    dp::cross_entropy(a, targets);
  }
#endif
#if defined(MSE_ELEMENT_TYPES)  // expect: devplace: mse: the operands have different element types
  {
    const dp::tensor<double, dp::extents<2, 3>, on_cpu> target(dp::extents<2, 3>{});
    dp::mse(a, target);
  }
#endif
#if defined(MSE_RANKS)  // expect: devplace: mse: the operands have different numbers of axes
  {
    const dp::tensor<float, dp::extents<6>, on_cpu> target(dp::extents<6>{});
    dp::mse(a.reshape(dp::extents<6, 1>{}), target);
  }
#endif
#if defined(MSE_EXTENTS)  // expect: devplace: mse: the operands must have the same extents
  {
    const dp::tensor<float, dp::extents<2, 4>, on_cpu> target(dp::extents<2, 4>{});
    dp::mse(a, target);
  }
#endif
  dp::take_rows(a, classes);
#if defined(TAKE_ROWS_FLOAT_INDICES)  // expect: devplace: take_rows: the indices must be integers
  dp::take_rows(classes, dp::tensor<float, dp::extents<2>, on_cpu>{0, 1});
#endif
#if defined(TAKE_ROWS_MATRIX_OF_INDICES)  // expect: devplace: take_rows: the indices must have rank 1
  dp::take_rows(classes, dp::tensor<std::int64_t, dp::extents<1, 2>, on_cpu>{{0, 1}});
#endif
#if defined(TAKE_ROWS_RESULT_EXTENTS)  // expect: devplace: take_rows: the result must have a row for each index
  {
    dp::tensor<float, dp::extents<3, 3>, on_cpu> y(dp::extents<3, 3>{});
    dp::take_rows_into(y, a, classes);
  }
#endif
}

int main() {}
