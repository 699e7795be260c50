// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/math.hpp>
#include <devplace/tensor/print.hpp>

#include <iostream>
#include <vector>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
template <int I> using on_device = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cuda<I>>>;

struct prints {
  const char* operator()(float) const { return ""; }
};

void expressions(matrix& a, const matrix& constant, dp::tensor<double, dp::extents<2, 3>, on_cpu>& doubles,
                 dp::tensor<std::int32_t, dp::extents<2, 3>, on_cpu>& integers, on_device<0>& zero, on_device<1>& one,
                 dp::tensor<float, dp::extents<2>, on_cpu>& pair) {
  dp::tensor b = a + constant * 2.0f;
  b += dp::cast<float>(doubles) + dp::cast<float>(integers);
  auto on_zero = zero + zero;
  auto on_one = dp::where(one > 0, one, one);
  dp::tensor pairs = pair + pair;
  auto halved = dp::lazy(pair * 0.5f);
  pair = halved * halved;
#if defined(CPU_AND_CUDA)  // expect: devplace: elementwise: the operands are on different places
  auto c = a + zero;
#endif
#if defined(TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  auto c = zero * one;
#endif
#if defined(EXPRESSIONS_OF_TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  auto c = on_zero - dp::exp(one);
#endif
#if defined(CHOICE_OF_TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  auto c = dp::where(zero > 0, one, 0);
#endif
#if defined(MAXIMUM_OF_TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  auto c = dp::maximum(zero, one);
#endif
#if defined(COMPOUND_ON_TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  zero += one;
#endif
#if defined(VIEW_INTO_ANOTHER_PLACE)  // expect: devplace: assign: the destination lives on another place
  dp::assign(a.view(), zero.view());
#endif
#if defined(VIEW_INTO_ANOTHER_TYPE)  // expect: devplace: assign: the destination has another element type
  dp::assign(a.view(), doubles.view());
#endif
#if defined(VIEW_INTO_OTHER_EXTENTS)  // expect: devplace: assign: the expression's extents cannot be broadcast
  dp::assign(a.view(), pair.view());
#endif
#if defined(INTO_ANOTHER_PLACE)  // expect: devplace: assign: the destination lives on another place
  a = zero + 1.0f;
#endif
#if defined(PLACE_AND_ORDINAL_AT_RUN_TIME)  // expect: devplace: elementwise: the operands are on different places
  auto c = a + a.view().erased();
#endif
#if defined(MAP_ON_TWO_DEVICES)  // expect: devplace: elementwise: the operands are on different places
  auto c = dp::map([](float x, float y) { return x * y; }, zero, one);
#endif
#if defined(CHOICE_OF_ELEMENT_TYPES)  // expect: devplace: elementwise: the operands have different element types
  auto c = dp::where(a > 0, a, doubles);
#endif
#if defined(CHOICE_OF_A_NUMBER)  // expect: devplace: where: the condition must be a comparison of tensors
  auto c = dp::where(true, a, 0);
#endif
#if defined(ELEMENT_TYPES)  // expect: devplace: elementwise: the operands have different element types
  auto c = a + doubles;
#endif
#if defined(COMPOUND_ELEMENT_TYPES)  // expect: devplace: elementwise: the operands have different element types
  a *= integers;
#endif
#if defined(INTO_ANOTHER_ELEMENT_TYPE)  // expect: devplace: assign: the destination has another element type
  a = doubles + 1.0;
#endif
#if defined(FRACTION_BESIDE_INTEGERS)  // expect: devplace: elementwise: a floating-point number cannot stand beside
  auto c = 2.5 * integers;
#endif
#if defined(EXP_OF_INTEGERS)  // expect: devplace: exp, log, sqrt, tanh, sigmoid, pow and the like take floating-point
                              // elements
  auto c = dp::exp(integers);
#endif
#if defined(SINE_OF_INTEGERS)  // expect: devplace: exp, log, sqrt, tanh, sigmoid, pow and the like take floating-point
                               // elements
  auto c = dp::sin(integers);
#endif
#if defined(HYPOTENUSE_OF_INTEGERS)  // expect: devplace: exp, log, sqrt, tanh, sigmoid, pow and the like take
                                     // floating-point elements
  auto c = dp::hypot(integers, 2);
#endif
#if defined(BOUND_OF_ANOTHER_TYPE)  // expect: devplace: elementwise: the operands have different element types
  auto c = dp::clamp(a, doubles, 1);
#endif
#if defined(FRACTION_BOUNDS_INTEGERS)  // expect: devplace: elementwise: a floating-point number cannot stand beside
  auto c = dp::clamp(integers, 0.5, 1);
#endif
#if defined(NAMED_VALUE_IN_BOUNDS)  // expect: devplace: an expression with a name would be computed at each use
  auto raised = a + 1.0f;
  dp::tensor bounded = dp::clamp(raised, 0, 1);
#endif
#if defined(CONDITION_OF_FLOATS)  // expect: devplace: where: the condition must have uint8 elements
  auto c = dp::where(a, a, 0);
#endif
#if defined(STATIC_EXTENTS)  // expect: devplace: elementwise: the static extents of the operands differ in an axis
  auto c = a + pair;
#endif
#if defined(RESIDUALS_OF_A_COLUMN)  // expect: devplace: a difference of operands with different numbers of axes
  auto c = pair.reshape(dp::extents<2, 1>{}) - pair;
#endif
#if defined(EXTENTS_OF_DESTINATION)  // expect: devplace: assign: the expression's extents cannot be broadcast
  pair = a + 1.0f;
#endif
#if defined(DESTINATION_WOULD_BROADCAST)  // expect: devplace: assign: the expression's extents cannot be broadcast
  a[0] = a + 1.0f;
#endif
#if defined(CONST_DESTINATION)  // expect: devplace: assign: the destination's elements are const
  constant += a;
#endif
#if defined(FUNCTOR_OF_WORDS)  // expect: devplace: map: the first argument must be a functor
  auto c = dp::map(prints{}, a);
#endif
#if defined(NAMED_OPERAND)  // expect: devplace: an expression with a name would be computed at each use
  auto before = a + 0.0f;
  dp::tensor change = a - before;
#endif
#if defined(NAMED_DIVISOR)  // expect: devplace: an expression with a name would be computed at each use
  auto norm = dp::sqrt(a);
  a /= norm;
#endif
#if defined(NAMED_INITIALISER)  // expect: devplace: an expression with a name would be computed at each use
  const auto scaled = a * 2.0f;
  dp::tensor stored = scaled;
#endif
#if defined(NAMED_SOURCE)  // expect: devplace: an expression with a name would be computed at each use
  auto product = a * a;
  a = product;
#endif
#if defined(NAMED_SOURCE_OF_A_VIEW)  // expect: devplace: an expression with a name would be computed at each use
  const auto quotient = a / 2.0f;
  a.view() = quotient;
#endif
#if defined(NAMED_ARGUMENT)  // expect: devplace: an expression with a name would be computed at each use
  auto difference = a - 1.0f;
  dp::tensor rectified = dp::relu(difference);
#endif
#if defined(NAMED_CHOICE)  // expect: devplace: an expression with a name would be computed at each use
  auto negated = -a;
  a = dp::where(a < 0.0f, negated, a);
#endif
#if defined(VECTOR_AS_AN_OPERAND)  // expect: devplace: elementwise: an operand is neither a tensor
  dp::tensor c = a + std::vector<float>(3);
#endif
#if defined(VECTOR_ADDED)  // expect: devplace: elementwise: an operand is neither a tensor
  a += std::vector<float>(3);
#endif
#if defined(COMPOUND_EXTENTS)  // expect: devplace: assign: the expression's extents cannot be broadcast
  pair += a;
#endif
#if defined(FRACTION_ADDED_TO_INTEGERS)  // expect: devplace: elementwise: a floating-point number cannot stand beside
  integers *= 0.5;
#endif
#if defined(FRACTION_CHOSEN_FOR_INTEGERS)  // expect: devplace: elementwise: a floating-point number cannot stand beside
  auto c = dp::where(a > 0, integers, 0.5f);
#endif
#if defined(NAMED_AND_PRINTED)  // expect: devplace: an expression with a name would be computed at each use
  auto twice = a * 2.0f;
  std::cout << twice;
#endif
#if defined(EXPRESSION_THAT_OWNS_COPIED)  // expect: (deleted|cannot be referenced)
  auto owner = a.clone() + 1.0f;
  auto copied = owner;
#endif
#if defined(MAP_OF_NO_FUNCTOR)  // expect: devplace: map: the first argument must be a functor
  dp::tensor mapped = dp::map(a, [](float x) { return 2 * x; });
#endif
#if defined(MAP_OF_OTHER_EXTENTS)  // expect: devplace: elementwise: the static extents of the operands differ
  dp::tensor mapped = dp::map([](float x, float y) { return x * y; }, a, pair);
#endif
#if defined(MAP_OF_OTHER_ARITY)  // expect: devplace: map: the first argument must be a functor
  dp::tensor mapped = dp::map([](float x, float y) { return x * y; }, a);
#endif
  static_cast<void>(on_zero.size() + on_one.size() + pairs.size());
}
