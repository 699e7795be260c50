// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(ADD_OTHER_SHAPES)  // a matrix plus one of another shape
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(ADD_OTHER_SHAPES_DYNAMIC)  // run: the same, with extents known at run time
void program() {
  auto a = dp::ones<float, host>(dp::extents<dp::dyn, dp::dyn>(2, 3)),
       b = dp::ones<float, host>(dp::extents<dp::dyn, dp::dyn>(3, 2));
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(ADD_OTHER_TYPES)  // float plus double
void program() {
  auto a = some_matrix();
  auto b = dp::ones<double, host>(dp::extents<2, 3>{});
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(ADD_VECTOR)  // a matrix plus a std::vector
void program() {
  auto a = some_matrix();
  std::vector<float> b{1, 2, 3};
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(MULTIPLY_MATRICES_BY_STAR)  // a matrix product by *
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 4>{});
  dp::tensor c = a * b;
  std::cout << c;
}
#endif

#if defined(POWER_BY_CARET)  // a square by ^
void program() {
  auto a = some_matrix();
  dp::tensor c = a ^ 2;
  std::cout << c;
}
#endif

#if defined(COMPOUND_OTHER_SHAPE)  // += of another shape
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  a += b;
  std::cout << a;
}
#endif

#if defined(COMPOUND_LARGER)  // a matrix added to a row
void program() {
  auto a = some_matrix();
  row r{1, 2, 3};
  r += a;
  std::cout << r;
}
#endif

#if defined(ASSIGN_OTHER_SHAPE)  // a sum into a tensor of another shape
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  b = a + a;
  std::cout << b;
}
#endif

#if defined(ASSIGN_OTHER_TYPE)  // a sum of floats into a tensor of double
void program() {
  auto a = some_matrix();
  auto b = dp::ones<double, host>(dp::extents<2, 3>{});
  b = a + a;
  std::cout << b;
}
#endif

#if defined(INTEGERS_TIMES_HALF)  // integers times 0.5
void program() {
  dp::tensor<int, dp::extents<3>, host> a{1, 2, 3};
  dp::tensor b = a * 0.5f;
  std::cout << b;
}
#endif

#if defined(PIXELS_OVER_255)  // bytes divided by 255
void program() {
  auto set = some_images();
  dp::tensor x = set.images / 255.0f;
  std::cout << x;
}
#endif

#if defined(UNEQUAL_RANKS)  // residuals of a column [4, 1] and an array [4], which broadcast to 16
void program() {
  auto out = dp::ones<float, host>(dp::extents<4, 1>{});
  auto target = dp::ones<float, host>(dp::extents<4>{});
  std::cout << dp::item(dp::mean(dp::square(out - target)));
}
#endif

#if defined(UNEQUAL_RANKS_DYNAMIC)  // the same with a dynamic number of rows
void program() {
  auto out = dp::ones<float, host>(dp::extents<dp::dyn, 1>(4));
  auto target = dp::ones<float, host>(dp::extents<dp::dyn>(4));
  std::cout << dp::item(dp::mean(dp::square(out - target)));
}
#endif

#if defined(STORED_EXPRESSION)  // the value before an update, kept by auto
void program() {
  auto w = some_matrix(), g = some_matrix();
  auto before = w + 0.0f;
  w -= g;
  dp::tensor change = w - before;
  std::cout << change;
}
#endif

#if defined(STORED_FUNCTION)  // a root, kept by auto and used twice
void program() {
  auto x = some_matrix();
  auto norm = dp::sqrt(x);
  x /= norm;
  x /= norm;
  std::cout << x;
}
#endif

#if defined(STORED_AND_PRINTED)  // an expression kept by auto and printed
void program() {
  auto x = some_matrix();
  auto y = x * 2.0f;
  std::cout << y;
}
#endif

#if defined(STORED_AND_INDEXED)  // an element of an expression kept by auto
void program() {
  auto x = some_matrix();
  auto y = x * 2.0f;
  std::cout << y(0, 0);
}
#endif

#if defined(EXPRESSION_OF_LOCAL)  // run: a function that returns an expression of its local variable
auto shifted() {
  matrix t = some_matrix();
  return t + 1.0f;
}
void program() {
  dp::tensor c = shifted();
  std::cout << c;
}
#endif

#if defined(EXPRESSION_AS_ARGUMENT)  // an expression for a function that takes a tensor
float first(const matrix& m) { return m(0, 0); }
void program() {
  auto a = some_matrix();
  auto twice = a + a;
  std::cout << first(twice);
}
#endif

#if defined(LOGICAL_AND)  // two conditions joined by &&
void program() {
  auto a = some_matrix();
  dp::tensor c = a > 0 && a < 3;
  std::cout << c;
}
#endif

#if defined(CONDITIONAL_OPERATOR)  // numpy's where by ?:
void program() {
  auto a = some_matrix(), b = some_matrix();
  dp::tensor c = a > 0 ? a : b;
  std::cout << c;
}
#endif

#if defined(NOT)  // the opposite of a condition
void program() {
  auto a = some_matrix();
  dp::tensor c = !(a > 0);
  std::cout << c;
}
#endif

#if defined(WHERE_WITHOUT_ALTERNATIVE)  // where with one argument, as numpy has it
void program() {
  auto a = some_matrix();
  auto c = dp::where(a > 0);
  std::cout << c;
}
#endif

#if defined(WHERE_FLOAT_CONDITION)  // where with a condition of floats
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::where(a, a, 0.0f);
  std::cout << c;
}
#endif

#if defined(STD_EXP)  // std::exp of a tensor
void program() {
  auto a = some_matrix();
  dp::tensor c = std::exp(a);
  std::cout << c;
}
#endif

#if defined(STD_MAX)  // std::max of two tensors
void program() {
  auto a = some_matrix(), b = some_matrix();
  auto& c = std::max(a, b);
  std::cout << c;
}
#endif

#if defined(MAX_OF_TWO)  // max where maximum is meant
void program() {
  auto a = some_matrix(), b = some_matrix();
  dp::tensor c = dp::max(a, b);
  std::cout << c;
}
#endif

#if defined(CLAMP)  // clamp as in PyTorch
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::clamp(a, 0.0f, 1.0f);
  std::cout << c;
}
#endif

#if defined(CAST_BY_C)  // a cast as of numbers
void program() {
  auto a = some_matrix();
  auto c = (double)a;
  std::cout << c;
}
#endif

#if defined(SUM_NO_AXIS)  // run: an axis that a matrix does not have
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::sum(a, 2);
  std::cout << c;
}
#endif

#if defined(SUM_NO_AXIS_TYPE)  // the same with the axis as a type
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::sum(a, dp::axis<2>{});
  std::cout << c;
}
#endif

#if defined(SUM_AXIS_IN_ANGLES)  // the axis as a template argument
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::sum<0>(a);
  std::cout << c;
}
#endif

#if defined(SUM_SAME_AXIS_TWICE)  // one axis twice
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::sum(a, dp::axis<0>{}, dp::axis<0>{});
  std::cout << c;
}
#endif

#if defined(SUM_OF_VECTOR)  // the sum of a std::vector
void program() {
  std::vector<float> v{1, 2, 3};
  std::cout << dp::sum(v);
}
#endif

#if defined(SUM_METHOD)  // the sum as a method
void program() {
  auto a = some_matrix();
  std::cout << a.sum();
}
#endif

#if defined(MEAN_OF_INTEGERS)  // the mean of integers
void program() {
  dp::tensor<int, dp::extents<3>, host> a{1, 2, 4};
  std::cout << dp::item(dp::mean(a));
}
#endif

#if defined(MEAN_OF_NOTHING)  // run: the largest of no elements
void program() {
  auto a = dp::zeros<float, host>(dp::extents<dp::dyn>(0));
  std::cout << dp::item(dp::max(a));
}
#endif

#if defined(ARGMAX_TWO_AXES)  // argmax along two axes
void program() {
  auto a = some_matrix();
  std::cout << dp::argmax(a, dp::axis<0>{}, dp::axis<1>{});
}
#endif

#if defined(SOFTMAX_OTHER_AXIS)  // softmax along the first axis
void program() {
  auto a = some_matrix();
  std::cout << dp::softmax(a, dp::axis<0>{});
}
#endif

#if defined(SOFTMAX_OF_INTEGERS)  // softmax of integers
void program() {
  dp::tensor<int, dp::extents<3>, host> a{1, 2, 3};
  std::cout << dp::softmax(a);
}
#endif

#if defined(MATMUL_INNER)  // a matrix that is not square times itself
void program() {
  auto a = some_matrix();
  std::cout << dp::matmul(a, a);
}
#endif

#if defined(MATMUL_INNER_DYNAMIC)  // run: the same, with extents known at run time
void program() {
  auto a = dp::ones<float, host>(dp::extents<dp::dyn, dp::dyn>(2, 3));
  std::cout << dp::matmul(a, a);
}
#endif

#if defined(MATMUL_OTHER_TYPES)  // float times double
void program() {
  auto a = some_matrix();
  auto b = dp::ones<double, host>(dp::extents<3, 2>{});
  std::cout << dp::matmul(a, b);
}
#endif

#if defined(MATMUL_ROW)  // a matrix times an array of one axis
void program() {
  auto a = some_matrix();
  row v{1, 2, 3};
  std::cout << dp::matmul(a, v);
}
#endif

#if defined(MATMUL_NUMBER)  // a matrix times a number by matmul
void program() {
  auto a = some_matrix();
  std::cout << dp::matmul(a, 2.0f);
}
#endif

#if defined(MATMUL_OF_SUM)  // a product of a sum
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  std::cout << dp::matmul(a + a, b);
}
#endif

#if defined(MATMUL_INTEGERS)  // a product of integers
void program() {
  dp::tensor<int, dp::extents<2, 2>, host> a{{1, 2}, {3, 4}};
  std::cout << dp::matmul(a, a);
}
#endif

#if defined(MATMUL_INTO_ORDER)  // the destination last
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 4>{}), c = b.clone();
  auto d = dp::zeros<float, host>(dp::extents<2, 4>{});
  dp::matmul_into(a, b, d);
  std::cout << d;
}
#endif

#if defined(MATMUL_INTO_ITSELF)  // run: a square matrix into itself
void program() {
  auto s = dp::ones<float, host>(dp::extents<70, 70>{});
  dp::matmul_into(s, s, s);
  std::cout << s(0, 0);
}
#endif

#if defined(MATMUL_INTO_TYPE)  // a product of floats into doubles
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  auto c = dp::zeros<double, host>(dp::extents<2, 2>{});
  dp::matmul_into(c, a, b);
  std::cout << c;
}
#endif

#if defined(DOT)  // the scalar product by numpy's name
void program() {
  row v{1, 2, 3};
  std::cout << dp::dot(v, v);
}
#endif

#if defined(TAKE_ROWS_BY_FLOATS)  // rows by indices that are floats
void program() {
  auto a = some_matrix();
  row i{0, 1, 0};
  std::cout << dp::take_rows(a, i);
}
#endif

#if defined(TAKE_ROWS_BY_VECTOR)  // rows by indices in a vector
void program() {
  auto a = some_matrix();
  std::vector<std::int64_t> i{1, 0};
  std::cout << dp::take_rows(a, i);
}
#endif

#if defined(TAKE_ROWS_PAST_THE_END)  // run: a row that does not exist
void program() {
  auto a = some_matrix();
  dp::tensor<std::int64_t, dp::extents<2>, host> i{0, 2};
  std::cout << dp::take_rows(a, i);
}
#endif

#if defined(TAKE_ROWS_ORDER)  // the indices first
void program() {
  auto a = some_matrix();
  dp::tensor<std::int64_t, dp::extents<2>, host> i{1, 0};
  std::cout << dp::take_rows(i, a);
}
#endif

#if defined(SORT_IN_PLACE)  // run: a sort whose result nobody takes
void program() {
  row v{3, 1, 2};
  dp::sort(v);
  std::cout << v;
}
#endif

#if defined(SORT_BY_FUNCTION)  // a sort by a comparison, as std::sort has it
void program() {
  row v{3, 1, 2};
  std::cout << dp::sort(v, std::greater<>{});
}
#endif

#if defined(TOP_K_TOO_MANY)  // run: five of three
void program() {
  row v{3, 1, 2};
  auto [values, positions] = dp::top_k(v, 5);
  std::cout << values;
}
#endif

#if defined(CUMSUM_AXIS)  // a cumulative sum along an axis
void program() {
  auto a = some_matrix();
  std::cout << dp::cumsum(a, 0);
}
#endif

#if defined(COPY_TO_OTHER_SHAPE)  // a copy between two shapes
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, host>(dp::extents<3, 2>{});
  dp::copy(b, a);
  std::cout << b;
}
#endif

#if defined(COPY_ARGUMENTS_SWAPPED)  // run: copy(from, to), as std::copy has it
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, host>(dp::extents<2, 3>{});
  dp::copy(a, b);
  std::cout << b;
}
#endif

#if defined(COPY_TO_CONST)  // a copy into a constant
void program() {
  const auto a = some_matrix();
  auto b = some_matrix();
  dp::copy(a, b);
  std::cout << a;
}
#endif

#if defined(COPY_OTHER_TYPE)  // a copy of doubles into floats
void program() {
  auto a = some_matrix();
  auto b = dp::ones<double, host>(dp::extents<2, 3>{});
  dp::copy(a, b);
  std::cout << a;
}
#endif

#if defined(COPY_VECTOR)  // a vector copied into a tensor
void program() {
  auto a = some_matrix();
  std::vector<float> v(6);
  dp::copy(a, v);
  std::cout << a;
}
#endif
