// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(INDEX_ONE)  // one index of a matrix
void program() {
  auto a = some_matrix();
  std::cout << a(1);
}
#endif

#if defined(INDEX_THREE)  // three indices of a matrix
void program() {
  auto a = some_matrix();
  std::cout << a(0, 1, 2);
}
#endif

#if defined(INDEX_IN_BRACKETS)  // an element by two pairs of brackets, as a number
void program() {
  auto a = some_matrix();
  const float x = a[0][1];
  std::cout << x;
}
#endif

#if defined(INDEX_WITH_COMMA)  // an element by brackets with a comma
void program() {
  auto a = some_matrix();
  const float x = a[0, 1];
  std::cout << x;
}
#endif

#if defined(INDEX_NEGATIVE)  // run: the last row, as numpy has it
void program() {
  auto a = some_matrix();
  std::cout << a(-1, 0);
}
#endif

#if defined(INDEX_PAST_THE_END)  // run: an element beyond the row
void program() {
  auto a = some_matrix();
  a(0, 4) = 7;
  std::cout << a;
}
#endif

#if defined(INDEX_PAST_THE_END_OF_VIEW)  // run: an element beyond a view's row
void program() {
  auto a = some_matrix();
  auto r = a[0];
  r(3) = 7;
  std::cout << a;
}
#endif

#if defined(INDEX_BY_FRACTION)  // a computed index that is not an integer
void program() {
  auto a = some_matrix();
  std::cout << a(0, 3 * 0.5);
}
#endif

#if defined(ROW_PAST_THE_END)  // run: a row beyond the matrix
void program() {
  auto a = some_matrix();
  std::cout << a[2];
}
#endif

#if defined(ROW_AS_NUMBER)  // a row where a number is due
void program() {
  auto a = some_matrix();
  float x = a[0];
  std::cout << x;
}
#endif

#if defined(LOOP_OVER_ELEMENTS)  // the elements of a matrix in a loop
void program() {
  auto a = some_matrix();
  float s = 0;
  for (float x : a) s += x;
  std::cout << s;
}
#endif

#if defined(EXTENT_OF_NO_AXIS)  // the size of the third axis of a matrix
void program() {
  auto a = some_matrix();
  std::cout << a.extent(2);
}
#endif

#if defined(SLICE_TOO_LONG)  // run: five rows of two
void program() {
  auto a = some_matrix();
  std::cout << a.slice(0, 5);
}
#endif

#if defined(SLICE_BACKWARDS)  // run: first and last exchanged
void program() {
  auto a = some_matrix();
  std::cout << a.slice(2, 1);
}
#endif

#if defined(SLICE_AS_A_STRING)  // numpy's notation in a string
void program() {
  auto a = some_matrix();
  std::cout << a.slice(":, 1");
}
#endif

#if defined(SLICE_AXIS_AS_NUMBER)  // run: columns 0 to 1, with the axis as a number
void program() {
  auto a = some_matrix();
  std::cout << a.slice(1, 0, 2);
}
#endif

#if defined(SELECT_AXIS_AS_NUMBER)  // a column, with the axis as a number
void program() {
  auto a = some_matrix();
  std::cout << a.select(1, 0);
}
#endif

#if defined(SELECT_NO_AXIS)  // an axis that a matrix does not have
void program() {
  auto a = some_matrix();
  std::cout << a.select(dp::axis<2>{}, 0);
}
#endif

#if defined(SELECT_PAST_THE_END)  // run: a column that does not exist
void program() {
  auto a = some_matrix();
  std::cout << a.select(dp::axis<1>{}, 3);
}
#endif

#if defined(PERMUTE_TOO_FEW)  // two axes of three
void program() {
  auto a = dp::zeros<float, host>(dp::extents<2, 3, 4>{});
  std::cout << a.permute(dp::axis<1>{}, dp::axis<0>{});
}
#endif

#if defined(PERMUTE_TWICE_THE_SAME)  // one axis twice
void program() {
  auto a = some_matrix();
  std::cout << a.permute(dp::axis<1>{}, dp::axis<1>{});
}
#endif

#if defined(PERMUTE_NUMBERS)  // the axes as numbers, as numpy has them
void program() {
  auto a = some_matrix();
  std::cout << a.permute(1, 0);
}
#endif

#if defined(RESHAPE_OTHER_SIZE)  // a shape of another size
void program() {
  auto a = some_matrix();
  std::cout << a.reshape(dp::extents<4, 2>{});
}
#endif

#if defined(RESHAPE_OTHER_SIZE_DYNAMIC)  // run: a shape of another size, known at run time
void program() {
  auto a = some_matrix();
  std::cout << a.reshape(dp::extents<dp::dyn, 2>(4));
}
#endif

#if defined(RESHAPE_NUMBERS)  // a shape in plain numbers
void program() {
  auto a = some_matrix();
  std::cout << a.reshape(3, 2);
}
#endif

#if defined(RESHAPE_MINUS_ONE)  // run: -1 for "whatever fits"
void program() {
  auto a = some_matrix();
  std::cout << a.reshape(dp::extents<dp::dyn, 2>(-1));
}
#endif

#if defined(BROADCAST_TO_LESS)  // a matrix broadcast to a row
void program() {
  auto a = some_matrix();
  std::cout << a.broadcast_to(dp::extents<3>{});
}
#endif

#if defined(BROADCAST_WRITTEN)  // a broadcast view that is written to
void program() {
  row a{1, 2, 3};
  auto b = a.broadcast_to(dp::extents<2, 3>{});
  b(0, 0) = 1;
  std::cout << a;
}
#endif

#if defined(TRANSPOSE_METHOD)  // numpy's transpose
void program() {
  auto a = some_matrix();
  std::cout << a.T();
}
#endif

#if defined(TRANSPOSE_A_ROW)  // the transpose of a row
void program() {
  row a{1, 2, 3};
  std::cout << dp::transposed(a);
}
#endif

#if defined(VIEW_OF_TEMPORARY)  // a row of a matrix that nobody keeps
void program() {
  auto r = some_matrix()[0];
  std::cout << r;
}
#endif

#if defined(VIEW_METHOD_OF_TEMPORARY)  // a view of a matrix that nobody keeps
void program() {
  auto r = dp::zeros<float, host>(dp::extents<2, 3>{}).view();
  std::cout << r;
}
#endif

#if defined(VIEW_OF_LOCAL_RETURNED)  // run: a row of a local matrix, returned
auto first_row() {
  matrix t = some_matrix();
  return t[0];
}
void program() {
  auto r = first_row();
  auto other = dp::full<float, host>(dp::extents<2, 3>{}, 9);
  std::cout << r << other;
}
#endif

#if defined(VIEW_OUTLIVES_A_BLOCK)  // run: a view that is used after the block of its matrix
std::optional<matrix::view_type> kept;
void program() {
  {
    matrix t = some_matrix();
    kept.emplace(t.view());
  }
  auto other = dp::full<float, host>(dp::extents<2, 3>{}, 9);
  std::cout << *kept << other;
}
#endif

#if defined(VIEW_AFTER_ASSIGNMENT)  // run: a view of memory that an assignment replaced
void program() {
  auto a = some_matrix();
  auto r = a[0];
  a = dp::zeros<float, host>(dp::extents<2, 3>{});
  std::cout << r;
}
#endif

#if defined(VIEW_WRITTEN_THROUGH_CONST)  // an element of a constant matrix
void program() {
  const auto a = some_matrix();
  a(0, 0) = 1;
  std::cout << a;
}
#endif

#if defined(VIEW_OF_CONST_WRITTEN)  // a row of a constant matrix
void program() {
  const auto a = some_matrix();
  a[0] = a[1] * 2.0f;
  std::cout << a;
}
#endif

#if defined(VIEW_OTHER_RANK_PASSED)  // an array of three axes for a function of matrices
void show(dp::view<const float, dp::extents<dp::dyn, dp::dyn>, host> m) { std::cout << m; }
void program() {
  auto a = dp::zeros<float, host>(dp::extents<2, 3, 4>{});
  show(a.view());
}
#endif

#if defined(VIEW_OTHER_TYPE_PASSED)  // doubles for a function of floats
void show(dp::view<const float, dp::extents<2, 3>, host> m) { std::cout << m; }
void program() {
  auto a = dp::zeros<double, host>(dp::extents<2, 3>{});
  show(a.view());
}
#endif

#if defined(VIEW_CONSTRUCTED_WITH_LIST)  // a view of a pointer with its shape in braces
void program() {
  std::vector<float> v(6);
  dp::view<float, dp::extents<dp::dyn, dp::dyn>, host> x(v.data(), {2, 3});
  std::cout << x(0, 2);
}
#endif

#if defined(VIEW_STRIDED_AS_ROWS)  // a column where rows of contiguous elements are due
void show(dp::view<const float, dp::extents<2>, host> m) { std::cout << m; }
void program() {
  auto a = some_matrix();
  show(a.select(dp::axis<1>{}, 0));
}
#endif

#if defined(WRAP_TOO_SMALL)  // run: five numbers wrapped as six
void program() {
  std::vector<float> v(5);
  auto a = dp::wrap(v, dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(WRAP_WITHOUT_SHAPE)  // a vector wrapped without a shape
void program() {
  std::vector<float> v(6);
  auto a = dp::wrap(v);
  std::cout << a;
}
#endif

#if defined(WRAP_ARGUMENTS_SWAPPED)  // the shape before the vector
void program() {
  std::vector<float> v(6);
  auto a = dp::wrap(dp::extents<2, 3>{}, v);
  std::cout << a;
}
#endif

#if defined(WRAP_TEMPORARY)  // a vector that nobody keeps
void program() {
  auto a = dp::wrap(std::vector<float>(6, 1.0f), dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(WRAP_SHAPE_IN_BRACES)  // a vector wrapped with a shape in braces
void program() {
  std::vector<float> v(6);
  auto a = dp::wrap(v, {2, 3});
  std::cout << a;
}
#endif

#if defined(WRAP_VECTOR_OF_BOOL)  // a vector<bool>, which has no elements in memory
void program() {
  std::vector<bool> v(6);
  auto a = dp::wrap(v, dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(WRAP_VECTOR_OF_VECTORS)  // rows that are vectors of their own
void program() {
  std::vector<std::vector<float>> v(2, std::vector<float>(3));
  auto a = dp::wrap(v, dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(WRAP_AS_TENSOR)  // wrapped integers as a tensor of float
void program() {
  std::vector<int> v(6);
  matrix a = dp::wrap(v, dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(WRAP_STRIDES_TOO_MANY)  // three strides for two axes
void program() {
  std::vector<float> v(6);
  auto a = dp::wrap(v.data(), dp::extents<2, 3>{}, {1, 2, 3});
  std::cout << a;
}
#endif

#if defined(SPAN_OF_TENSOR)  // a tensor where a span of another type is due
double total(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
void program() {
  auto a = some_matrix();
  std::cout << total(a);
}
#endif

#if defined(STD_FILL)  // std::fill over a matrix
void program() {
  auto a = some_matrix();
  std::fill(a.begin(), a.end(), 1.0f);
  std::cout << a;
}
#endif

#if defined(ASSIGN_ROW_LIST)  // a row assigned from a list
void program() {
  auto a = some_matrix();
  a[0] = {7, 8, 9};
  std::cout << a;
}
#endif

#if defined(ASSIGN_ROW_FROM_VECTOR)  // a row assigned from a vector
void program() {
  auto a = some_matrix();
  std::vector<float> v{7, 8, 9};
  a[0] = v;
  std::cout << a;
}
#endif

#if defined(ASSIGN_ROW_OTHER_SIZE)  // a row of two elements into one of three
void program() {
  auto a = some_matrix();
  dp::tensor<float, dp::extents<2>, host> b{1, 2};
  a[0] = b + 0.0f;
  std::cout << a;
}
#endif
