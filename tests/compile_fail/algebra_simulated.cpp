// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/tensor/distributed.hpp>

namespace dp = devplace;

using whole = dp::replicated<0, 1>;
using rows = dp::sharded<dp::axis<0>, 0, 1>;
using sums = dp::partial<dp::reduction::sum, 0, 1>;
using means = dp::partial<dp::reduction::mean, 0, 1>;
using maxima = dp::partial<dp::reduction::max, 0, 1>;
template <class Where, std::size_t Rows = 4> using matrix = dp::tensor<float, dp::extents<Rows, 4>, Where>;
template <class Where> using vector = dp::tensor<float, dp::extents<4>, Where>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void operations(matrix<dp::on<dp::cuda<0>>>& single, matrix<whole>& replica, matrix<dp::replicated<0, 2>>& elsewhere,
                matrix<rows>& x, matrix<rows>& y, matrix<dp::sharded<dp::axis<0>, 0, 2>>& x_elsewhere, matrix<sums>& p,
                matrix<means>& m, matrix<maxima>& largest, vector<whole>& bias, vector<rows>& split_vector,
                dp::tensor<std::int32_t, dp::extents<4, 4>, sums>& integers,
                dp::tensor<double, dp::extents<4, 4>, rows>& doubles, const matrix<rows>& constant) {
  auto a = dp::lazy(dp::relu(x + y * bias));
  x += 2.0f * a;
  x = x - constant;
  p += -p * bias;
  p /= 2.0f;
  m = m + m;
  largest = dp::maximum(largest, largest);
  integers = integers * 2 + integers;
  dp::tensor c = dp::exp(replica) + bias;
  dp::tensor chosen = dp::where(x > 0, x, bias);
  auto product = dp::matmul(x, replica);
  auto gradient = dp::matmul(dp::transposed(x), y);
  auto of_partial = dp::matmul(p, replica);
  auto total = dp::sum(x), columns_total = dp::sum(p);
  auto classes = dp::argmax(dp::softmax(x), dp::axis<1>{});
  doubles += 1.0;
  auto halved = dp::lazy(x * 0.5f);
  x = halved * halved;
  dp::tensor half = halved;
  static_cast<void>(single.size() + elsewhere.size() + x_elsewhere.size() + split_vector.size());
#if defined(NAMED_DISTRIBUTED_OPERAND)  // expect: devplace: an expression with a name would be computed at each use
  auto scaled = x * 2.0f;
  x -= scaled;
#endif
#if defined(NAMED_DISTRIBUTED_SOURCE)  // expect: devplace: an expression with a name would be computed at each use
  auto shifted = x + 1.0f;
  x = shifted;
#endif
#if defined(ON_AND_REPLICATED)  // expect: devplace: the operands lie on different places
  auto e = single + replica;
#endif
#if defined(EXPRESSION_ON_AND_SHARDED)  // expect: devplace: the operands lie on different places
  auto e = x * (single + 1.0f);
#endif
#if defined(TWO_MESHES)  // expect: devplace: the operands lie on different places
  auto e = replica - elsewhere;
#endif
#if defined(SHARDED_OF_TWO_MESHES)  // expect: devplace: the operands lie on different places
  auto e = dp::maximum(x, x_elsewhere);
#endif
#if defined(CHOICE_OF_TWO_MESHES)  // expect: devplace: the operands lie on different places
  auto e = dp::where(x > 0, x, single);
#endif
#if defined(COMPOUND_WITH_ONE_PLACE)  // expect: devplace: the operands lie on different places
  x += single;
#endif
#if defined(COMPOUND_INTO_ONE_PLACE)  // expect: devplace: the operands lie on different places
  single += elsewhere;
#endif
#if defined(VIEW_AND_PLACED)  // expect: devplace: the operands lie on different places
  auto e = x.local(0) + x;
#endif
#if defined(FUNCTION_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = dp::relu(p);
#endif
#if defined(FUNCTION_OF_PARTIAL_EXPRESSION)  // expect: devplace: an operand is partial, and this operation on its
  auto e = dp::exp(p + p);
#endif
#if defined(COMPARISON_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = p > 0.0f;
#endif
#if defined(CAST_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = dp::cast<std::int32_t>(p);
#endif
#if defined(NUMBER_BY_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = 1.0f / p;
#endif
#if defined(INTEGER_QUOTIENT_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = integers / 2;
#endif
#if defined(SUM_OF_PARTIAL_MAXIMA)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = largest + largest;
#endif
#if defined(MAXIMUM_OF_PARTIAL_SUMS)  // expect: devplace: an operand is partial, and this operation on its summands
  auto e = dp::maximum(p, p);
#endif
#if defined(PARTIAL_BY_PARTIAL)  // expect: devplace: both operands are partial, and the products of their summands
  auto e = p * p;
#endif
#if defined(COMPOUND_PARTIAL_BY_PARTIAL)  // expect: devplace: both operands are partial, and the products of their
  m *= m;
#endif
#if defined(PARTIAL_AND_REPLICATED)  // expect: devplace: a number or whole operand that is added to a partial one
  auto e = p + replica;
#endif
#if defined(PARTIAL_AND_NUMBER)  // expect: devplace: a number or whole operand that is added to a partial one
  auto e = p - 1.0f;
#endif
#if defined(COMPOUND_PARTIAL_AND_NUMBER)  // expect: devplace: a number or whole operand that is added to a partial
  p += 1.0f;
#endif
#if defined(PARTIAL_AND_SHARDED)  // expect: devplace: one operand is partial and one is split
  auto e = p + x;
#endif
#if defined(TWO_REDUCTIONS)  // expect: devplace: the operands are partial in different reductions
  auto e = p + m;
#endif
#if defined(PLACED_ELEMENT_TYPES)  // expect: devplace: elementwise: the operands have different element types
  auto e = x + doubles;
#endif
#if defined(REPLICATED_WITH_SPLIT_AXIS)  // expect: devplace: elementwise: a whole operand has the axis along which
  in_a_template([](auto& a, auto& b) { a + b; }, x, replica);
#endif
#if defined(SPLIT_OF_FEWER_AXES)  // expect: devplace: elementwise: a split operand has fewer axes than another
  in_a_template([](auto& a, auto& b) { a + b; }, x, split_vector);
#endif
#if defined(SPLIT_VECTOR_AND_MATRIX)  // expect: devplace: elementwise: a split operand has fewer axes than another
  matrix<whole, 5> taller(dp::extents<5, 4>{});
  in_a_template([](auto& a, auto& b) { a* b; }, split_vector, taller);
#endif
#if defined(INTO_ANOTHER_PLACEMENT)  // expect: devplace: assign: the destination lies on another placement
  replica = p + p;
#endif
#if defined(COMPOUND_INTO_REPLICATED)  // expect: devplace: assign: the destination lies on another placement
  bias += split_vector;
#endif
#if defined(MADE_ON_ANOTHER_PLACEMENT)  // expect: devplace: a tensor lies on another placement than the expression
  const matrix<whole> made_elsewhere = x + y;
#endif
#if defined(INTO_PLACED_OF_OTHER_ELEMENTS)  // expect: devplace: assign: the destination has another element type
  doubles = x + y;
#endif
#if defined(INTO_PLACED_OF_OTHER_EXTENTS)  // expect: devplace: assign: the expression's extents cannot be broadcast
  bias = replica + 1.0f;
#endif
#if defined(INTO_CONST_PLACED)  // expect: devplace: assign: the destination's elements are const
  constant += 1.0f;
#endif
#if defined(MATMUL_PLACES)  // expect: devplace: the operands lie on different places
  dp::matmul(x, single);
#endif
#if defined(MATMUL_TRANSPOSED_PLACES)  // expect: devplace: the operands lie on different places
  dp::matmul(dp::transposed(single), dp::transposed(x));
#endif
#if defined(MATMUL_MESHES)  // expect: devplace: the operands lie on different places
  dp::matmul(x, elsewhere);
#endif
#if defined(MATMUL_ROWS_BY_ROWS)  // expect: devplace: matmul: the axis that is summed over is split in one operand
  dp::matmul(x, y);
#endif
#if defined(MATMUL_REPLICATED_BY_ROWS)  // expect: devplace: matmul: the axis that is summed over is split in one
  dp::matmul(replica, x);
#endif
#if defined(MATMUL_TWO_SPLITS)  // expect: devplace: the operands are split along different axes
  dp::matmul(x, dp::transposed(y));
#endif
#if defined(MATMUL_PARTIALS)  // expect: devplace: both operands are partial, and the products of their summands
  dp::matmul(p, p);
#endif
#if defined(MATMUL_PARTIAL_BY_ROWS)  // expect: devplace: one operand is partial and one is split
  dp::matmul(dp::transposed(x), p);
#endif
#if defined(MATMUL_PARTIAL_MAXIMA)  // expect: devplace: an operand is partial, and this operation on its summands
  dp::matmul(largest, replica);
#endif
#if defined(MATMUL_PLACED_INNER_EXTENTS)  // expect: devplace: matmul: the columns of the first operand and the rows
  const matrix<whole, 3> shorter(dp::extents<3, 4>{});
  dp::matmul(x, shorter);
#endif
#if defined(MATMUL_PLACED_RANK)  // expect: devplace: matmul: both operands must be matrices
  dp::matmul(x, bias);
#endif
#if defined(TRANSPOSED_PLACED_TEMPORARY)  // expect: devplace: transposed: a temporary tensor would be gone
  dp::transposed(dp::softmax(x));
#endif
#if defined(DISTRIBUTED_SUM_ALONG_A_NUMBER)  // expect: devplace: the placement of a distributed operand's reduction
                                             // depends on the axis
  dp::sum(x, 1);
#endif
#if defined(SUM_INTO_WHOLE)  // expect: devplace: a reduction's result lies on another placement than the reduced
                             // operand
  dp::sum_into(replica, x);
#endif
#if defined(MEAN_OVER_SPLIT)  // expect: devplace: mean: the parts of the split axis can differ in size
  dp::mean(x, dp::axis<0>{});
#endif
#if defined(MEAN_OF_ALL_SPLIT)  // expect: devplace: mean: the parts of the split axis can differ in size
  dp::mean(x + y);
#endif
#if defined(VARIANCE_OVER_SPLIT)  // expect: devplace: prod, norm, variance, standard_deviation, logsumexp: results of
  dp::variance(x, dp::axis<0>{});
#endif
#if defined(ANY_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  dp::any(p);
#endif
#if defined(ARGMAX_OVER_SPLIT)  // expect: devplace: argmax, argmin: a position in a part is not the position
  dp::argmax(x, dp::axis<0>{});
#endif
#if defined(ARGMAX_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  dp::argmax(p, dp::axis<1>{});
#endif
#if defined(MAX_OF_PARTIAL_SUMS)  // expect: devplace: an operand is partial, and this operation on its summands
  dp::max(p);
#endif
#if defined(PLACED_AXIS)  // expect: devplace: the reduced axis does not exist
  dp::sum(x, dp::axis<2>{});
#endif
#if defined(SOFTMAX_OF_PARTIAL)  // expect: devplace: an operand is partial, and this operation on its summands
  const auto probabilities = dp::softmax(p);
#endif
#if defined(SOFTMAX_OF_SPLIT_ROW)  // expect: devplace: softmax and log_softmax work along the last axis
  dp::log_softmax(split_vector);
#endif
}
