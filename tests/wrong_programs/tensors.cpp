// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(CREATE_WITHOUT_PLACE)  // zeros; where they lie is forgotten
void program() {
  auto a = dp::zeros<float>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(CREATE_ARGUMENTS_SWAPPED)  // zeros with the place before the element type
void program() {
  auto a = dp::zeros<host, float>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(CREATE_SHAPE_IN_BRACES)  // zeros of a shape as numpy writes it
void program() {
  auto a = dp::zeros<float, host>({2, 3});
  std::cout << a;
}
#endif

#if defined(CREATE_SHAPE_IN_VECTOR)  // a shape that is known at run time only
void program() {
  std::vector<std::size_t> shape{2, 3};
  auto a = dp::zeros<float, host>(shape);
  std::cout << a;
}
#endif

#if defined(CREATE_WITHOUT_SHAPE)  // zeros with the extents as a type
void program() {
  auto a = dp::zeros<float, host, dp::extents<2, 3>>();
  std::cout << a;
}
#endif

#if defined(CREATE_WITHOUT_TYPES)  // ones like another library's, without anything
void program() {
  auto a = dp::ones(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(CREATE_COMPLEX)  // complex elements
void program() {
  auto a = dp::zeros<std::complex<float>, host>(dp::extents<2, 3>{});
  std::cout << a.size();
}
#endif

#if defined(CREATE_NEGATIVE_EXTENT)  // -1 for "whatever fits", as in reshape of PyTorch
void program() {
  auto a = dp::zeros<float, host>(dp::extents<-1, 3>{});
  std::cout << a;
}
#endif

#if defined(CREATE_DYNAMIC_WITHOUT_SIZE)  // run: the size of a dynamic axis is forgotten
void program() {
  auto a = dp::ones<float, host>(dp::extents<dp::dyn, 3>{});
  std::cout << a;
}
#endif

#if defined(CREATE_TOO_MANY_SIZES)  // all sizes for extents of which one is static
void program() {
  auto a = dp::ones<float, host>(dp::extents<dp::dyn, 3>(2, 3, 4));
  std::cout << a;
}
#endif

#if defined(CREATE_HUGE)  // run: a size that was computed as 0 - 1
void program() {
  std::size_t n = 0;
  auto a = dp::zeros<std::uint8_t, host>(dp::extents<dp::dyn>(n - 1));
  std::cout << a.size();
}
#endif

#if defined(FULL_WITHOUT_VALUE)  // full without a value
void program() {
  auto a = dp::full<float, host>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(FULL_VALUE_FIRST)  // full with the value before the extents
void program() {
  auto a = dp::full<float, host>(1.0f, dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(ONES_LIKE)  // ones like another tensor, which only zeros have
void program() {
  auto a = some_matrix();
  auto b = dp::ones_like(a);
  std::cout << b;
}
#endif

#if defined(ARANGE_WITHOUT_PLACE)  // arange; where it lies is forgotten
void program() {
  auto a = dp::arange<float>(10);
  std::cout << a;
}
#endif

#if defined(ARANGE_STEP_ZERO)  // run: a step of 0
void program() {
  auto a = dp::arange<float, host>(0, 10, 0);
  std::cout << a;
}
#endif

#if defined(UNIFORM_WITHOUT_SEED)  // random numbers without a seed
void program() {
  auto a = dp::uniform<float, host>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(UNIFORM_SEED_AS_NUMBER)  // random numbers with a bare number as the seed
void program() {
  auto a = dp::uniform<float, host>(dp::extents<2, 3>{}, 42);
  std::cout << a;
}
#endif

#if defined(UNIFORM_LIMITS_BEFORE_SEED)  // random numbers with the limits before the seed
void program() {
  auto a = dp::uniform<float, host>(dp::extents<2, 3>{}, -1.0f, 1.0f, dp::seed{1});
  std::cout << a;
}
#endif

#if defined(UNIFORM_OF_INTEGERS)  // random integers
void program() {
  auto a = dp::uniform<int, host>(dp::extents<2, 3>{}, dp::seed{1}, 0, 10);
  std::cout << a;
}
#endif

#if defined(UNIFORM_LIMITS_SWAPPED)  // run: the upper limit before the lower one
void program() {
  auto a = dp::uniform<float, host>(dp::extents<2, 3>{}, dp::seed{1}, 1, -1);
  std::cout << a;
}
#endif

#if defined(NORMAL_NEGATIVE_DEVIATION)  // run: a negative standard deviation
void program() {
  auto a = dp::normal<float, host>(dp::extents<2, 3>{}, dp::seed{1}, 0, -1);
  std::cout << a;
}
#endif

#if defined(PERMUTATION_SEED_FIRST)  // a permutation with the seed before the size
void program() {
  auto a = dp::permutation(dp::seed{1}, 10);
  std::cout << a;
}
#endif

#if defined(RANDN)  // PyTorch's name for normal numbers
void program() {
  auto a = dp::randn<float, host>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(TENSOR_WITHOUT_PLACE)  // a tensor type without a placement
void program() {
  dp::tensor<float, dp::extents<2, 3>> a(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(TENSOR_DEFAULT)  // right: a tensor that is filled later
void program() {
  matrix a;
  a = dp::zeros<float, host>(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(TENSOR_SIZES_AS_NUMBERS)  // the sizes of a dynamic tensor as plain numbers
void program() {
  dp::tensor<float, dp::extents<dp::dyn, dp::dyn>, host> a(2, 3);
  std::cout << a.size();
}
#endif

#if defined(TENSOR_SHAPE_AND_VALUE)  // a tensor of sevens, as std::vector makes it
void program() {
  matrix a(dp::extents<2, 3>{}, 7.0f);
  std::cout << a;
}
#endif

#if defined(TENSOR_TOO_FEW_ROWS)  // one row of two
void program() {
  matrix a{{1, 2, 3}};
  std::cout << a;
}
#endif

#if defined(TENSOR_FLAT_LIST)  // the elements of a matrix in one list
void program() {
  matrix a{1, 2, 3, 4, 5, 6};
  std::cout << a;
}
#endif

#if defined(TENSOR_RAGGED)  // a row that is too short
void program() {
  matrix a{{1, 2, 3}, {4, 5}};
  std::cout << a;
}
#endif

#if defined(TENSOR_TOO_MANY_VALUES)  // four values for three elements
void program() {
  row a{1, 2, 3, 4};
  std::cout << a;
}
#endif

#if defined(TENSOR_OF_VECTOR)  // a tensor of a vector's elements
void program() {
  std::vector<float> v{1, 2, 3};
  row a(v);
  std::cout << a;
}
#endif

#if defined(TENSOR_DEDUCED)  // a tensor whose type nobody says
void program() {
  dp::tensor a{1.0f, 2.0f, 3.0f};
  std::cout << a;
}
#endif

#if defined(TENSOR_FRACTIONS_IN_INTEGERS)  // fractions in a tensor of integers
void program() {
  dp::tensor<int, dp::extents<3>, host> a{0.5, 1.5, 2.5};
  std::cout << a;
}
#endif

#if defined(TENSOR_OF_DOUBLE_FROM_FLOAT)  // a tensor of double from one of float
void program() {
  auto a = some_matrix();
  dp::tensor<double, dp::extents<2, 3>, host> b = a;
  std::cout << b;
}
#endif

#if defined(TENSOR_OF_EXTENTS_ONLY)  // the shape where the place belongs
void program() {
  dp::tensor<float, host, dp::extents<2, 3>> a(dp::extents<2, 3>{});
  std::cout << a;
}
#endif

#if defined(TENSOR_NUMBERS_AS_TYPE)  // the shape as numbers in the type, as Eigen has it
void program() {
  dp::tensor<float, 2, 3> a;
  std::cout << a;
}
#endif

#if defined(COPY_BY_AUTO)  // a copy, as of every other variable
void program() {
  auto a = some_matrix();
  auto b = a;
  b(0, 0) = 9;
  std::cout << a;
}
#endif

#if defined(PASS_BY_VALUE)  // a tensor passed by value
float first(matrix m) { return m(0, 0); }
void program() {
  auto a = some_matrix();
  std::cout << first(a);
}
#endif

#if defined(RETURN_A_MEMBER)  // a getter that returns a member by value
struct holder {
  matrix values;
  matrix get() const { return values; }
};
void program() {
  holder h{some_matrix()};
  std::cout << h.get();
}
#endif

#if defined(COPY_A_STRUCT)  // a copy of a struct that has tensors
struct fields {
  matrix u, v;
};
void program() {
  fields now{some_matrix(), some_matrix()};
  fields before = now;
  std::cout << before.u;
}
#endif

#if defined(ASSIGN_A_TENSOR)  // the elements of one tensor into another by =
void program() {
  auto a = some_matrix(), b = some_matrix();
  a = b;
  std::cout << a;
}
#endif

#if defined(CAPTURE_BY_VALUE)  // a tensor in a lambda's capture
void program() {
  auto a = some_matrix();
  auto f = [a] { return a(0, 0); };
  std::cout << f();
}
#endif

#if defined(VECTOR_OF_COUNT)  // right: three tensors in a vector
void program() {
  std::vector<matrix> v(3);
  std::cout << v.size();
}
#endif

#if defined(VECTOR_OF_COPIES)  // three copies in a vector
void program() {
  auto a = some_matrix();
  std::vector<matrix> v(3, a);
  std::cout << v.size();
}
#endif

#if defined(VECTOR_PUSH_BACK)  // a tensor appended without std::move
void program() {
  std::vector<matrix> v;
  auto a = some_matrix();
  v.push_back(a);
  std::cout << v.size();
}
#endif

#if defined(VECTOR_OF_LIST)  // two tensors in a vector's list
void program() {
  std::vector<matrix> v{some_matrix(), some_matrix()};
  std::cout << v.size();
}
#endif

#if defined(MAP_BY_NAME)  // right: tensors in a map, by operator []
void program() {
  std::map<std::string, matrix> m;
  m["a"] = some_matrix();
  std::cout << m.size();
}
#endif

#if defined(OPTIONAL_COPY)  // a tensor in an optional
void program() {
  auto a = some_matrix();
  std::optional<matrix> o = a;
  std::cout << *o;
}
#endif

#if defined(SHARED_WITHOUT_SHAPE)  // right: a shared tensor without its shape
void program() {
  auto a = std::make_shared<matrix>();
  std::cout << *a;
}
#endif

#if defined(SWAP_BY_COPY)  // two tensors exchanged through a third variable
void program() {
  auto a = some_matrix(), b = some_matrix();
  matrix t = a;
  a = std::move(b);
  b = std::move(t);
  std::cout << a;
}
#endif

#if defined(PRINT_BY_PRINTF)  // a tensor in printf
void program() {
  auto a = some_matrix();
  std::printf("%f\n", a);
}
#endif

#if defined(PRINT_EXPRESSION)  // right: a sum printed without a name
void program() {
  auto a = some_matrix();
  std::cout << a + a;
}
#endif

#if defined(PRINT_TO_STRING)  // a tensor as a string
void program() {
  auto a = some_matrix();
  std::cout << std::to_string(a);
}
#endif

#if defined(COMPARE_WHOLE)  // whether two tensors are equal
void program() {
  auto a = some_matrix(), b = some_matrix();
  if (a == b) std::cout << "equal";
}
#endif

#if defined(COMPARE_IN_CONDITION)  // whether elements are positive, as a condition
void program() {
  auto a = some_matrix();
  if (a > 0) std::cout << "positive";
}
#endif

#if defined(SUM_AS_NUMBER)  // a sum as a number
void program() {
  auto a = some_matrix();
  float s = dp::sum(a);
  std::cout << s;
}
#endif

#if defined(SUM_IN_CONDITION)  // a sum in a condition
void program() {
  auto a = some_matrix();
  if (dp::sum(a) > 3) std::cout << "large";
}
#endif

#if defined(ITEM_OF_MATRIX)  // the one number of a matrix
void program() {
  auto a = some_matrix();
  std::cout << dp::item(a);
}
#endif

#if defined(USE_AFTER_MOVE)  // run: an element of a tensor that was moved away
void program() {
  auto a = some_matrix();
  auto b = std::move(a);
  std::cout << a(0, 0) << b(0, 0);
}
#endif

#if defined(ADD_AFTER_MOVE)  // run: an operation with a tensor that was moved away
void program() {
  auto a = some_matrix();
  auto b = std::move(a);
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(PRINT_AFTER_MOVE)  // run: printing a tensor that was moved away
void program() {
  auto a = some_matrix();
  auto b = std::move(a);
  std::cout << a;
}
#endif

#if defined(CLONE_AFTER_MOVE)  // run: a clone of a tensor that was moved away
void program() {
  auto a = some_matrix();
  auto b = std::move(a);
  auto c = a.clone();
  std::cout << c(0, 0);
}
#endif

#if defined(STATIC_FROM_DYNAMIC)  // a tensor of static extents from one of dynamic extents
void program() {
  auto d = dp::ones<float, host>(dp::extents<dp::dyn, dp::dyn>(2, 3));
  matrix a = std::move(d);
  std::cout << a;
}
#endif

#if defined(SHAPE_METHOD)  // PyTorch's name for the extents
void program() {
  auto a = some_matrix();
  std::cout << a.shape()[0];
}
#endif

#if defined(SIZE_OF_AXIS)  // PyTorch's size of one axis
void program() {
  auto a = some_matrix();
  std::cout << a.size(0);
}
#endif

#if defined(FILL_METHOD)  // PyTorch's method to fill
void program() {
  auto a = some_matrix();
  a.fill_(0);
  std::cout << a;
}
#endif

#if defined(FORGOTTEN_PARENTHESES)  // the size without its parentheses
void program() {
  auto a = some_matrix();
  std::cout << a.size;
}
#endif
