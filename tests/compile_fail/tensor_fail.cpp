// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/io/npy.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/wrap.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
using on_device = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cuda<0>>>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void tensors(matrix& a, const matrix& constant, on_device& d) {
  matrix b = a.clone();
  a = b.clone();
  dp::copy(a[0], b[1]);
  d.view().erased();
  dp::tensor<float, dp::extents<3>, on_cpu> list{1, 2, 3};
  dp::item(list.slice(0, 1));
#if defined(NPY_FILE_OF_BF16)  // expect: devplace: .npy files have no bf16 elements
  dp::write_npy("numbers.npy", dp::tensor<dp::bf16, dp::extents<3>, on_cpu>(dp::extents<3>{}));
#endif

#if defined(RAGGED_LIST)  // expect: devplace: the nested list does not have the tensor.s extents
  matrix ragged{{1, 2, 3}, {4, 5}};
#endif

#if defined(NESTED_LIST_OF_OTHER_EXTENTS)  // expect: devplace: the nested list does not have the tensor's extents
  matrix transposed{{1, 2}, {3, 4}, {5, 6}};
#endif

#if defined(LIST_OF_OTHER_EXTENT)  // expect: devplace: the list does not have the tensor's extents
  {
    dp::tensor<float, dp::extents<3>, on_cpu> short_list{1, 2};
  }
#endif

#if defined(NESTED_LIST_NARROWS)  // expect: (narrowing|no matching constructor|no instance of constructor)
  {
    dp::tensor<std::int32_t, dp::extents<1, 2>, on_cpu> fractions{{1.5, 2}};
  }
#endif

#if defined(LIST_NARROWS)  // expect: devplace: the list has floating-point values, and the tensor has integer
  {
    dp::tensor<std::int32_t, dp::extents<2>, on_cpu> fractions{1.5, 2};
  }
#endif

#if defined(FRACTION_AS_A_SIZE)  // expect: devplace: extents: a size has a fraction
  {
    const dp::extents<dp::dyn> most(0.8 * 10);
  }
#endif

#if defined(VALUE_BESIDE_EXTENTS)  // expect: devplace: for elements of one value write full<T, Where>
  {
    matrix ones(dp::extents<2, 3>{}, 1.0f);
  }
#endif

#if defined(VALUE_BESIDE_EXTENTS_OF_A_PLACED_TENSOR)  // expect: devplace: a tensor over several places is made of
  {
    dp::tensor<float, dp::extents<2, 3>, dp::sharded<dp::axis<0>, 0, 1>> ones(dp::extents<2, 3>{}, 1);
  }
#endif

#if defined(ANYTHING_BESIDE_EXTENTS)  // expect: devplace: for elements of one value write full<T, Where>
  {
    matrix other(dp::extents<2, 3>{}, "1");
  }
#endif
#if defined(FUNCTION_BESIDE_EXTENTS)  // expect: devplace: a tensor is not made of a function; assign its elements
  {
    matrix sums(dp::extents<2, 3>{}, [](auto i, auto j) { return static_cast<float>(i + j); });
  }
#endif
#if defined(FUNCTION_ALONE)  // expect: devplace: a tensor is not made of a function; assign its elements
  {
    matrix sums([](int i, int j) { return static_cast<float>(i + j); });
  }
#endif
#if defined(LIST_OF_TEXTS)  // expect: devplace: a tensor is made of its extents or of a list of numbers
  {
    dp::tensor<float, dp::extents<2>, on_cpu> texts{"1", "2"};
  }
#endif
#if defined(FLAT_LIST_OF_A_MATRIX)  // expect: devplace: a list of numbers makes a tensor of one axis
  {
    matrix flat{1, 2, 3, 4, 5, 6};
  }
#endif

#if defined(SIZES_AS_NUMBERS)  // expect: devplace: a list of numbers makes .*sizes are given as extents.3, 4.
  {
    dp::tensor<float, dp::extents<dp::dyn, dp::dyn>, on_cpu> sized(2, 3);
  }
#endif

#if defined(NESTED_LISTS_OF_ONE_AXIS)  // expect: devplace: nested lists make a matrix
  {
    dp::tensor<float, dp::extents<2>, on_cpu> nested{{1, 2}, {3, 4}};
  }
#endif

#if defined(TENSOR_FROM_ANOTHER_PLACE)  // expect: devplace: a tensor is not made of another tensor, a view
  on_device moved = a;
#endif

#if defined(TENSOR_OF_OTHER_EXTENTS)  // expect: devplace: a tensor is not made of another tensor.* with other extents
  dp::tensor<double, dp::dextents<2>, on_cpu> sized = dp::tensor<double, dp::extents<1, 2>, on_cpu>{{1, 2}};
#endif

#if defined(TENSOR_FROM_A_VECTOR)  // expect: devplace: a tensor is not made of another tensor, a view or a container
  dp::tensor<float, dp::extents<3>, on_cpu> of_vector(std::vector<float>{1, 2, 3});
#endif

#if defined(TO_AN_ELEMENT_TYPE)  // expect: devplace: to: an element type is not a place
  auto converted = dp::to<double>(a);
#endif

#if defined(TENSOR_DEDUCED_FROM_A_VIEW)  // expect: devplace: a tensor is not made of another tensor, a view
  {
    dp::tensor some = constant.slice(0, 1);
  }
#endif

#if defined(ASSIGNED_FROM_ANOTHER_PLACE)  // expect: devplace: a tensor is assigned an expression, a number
  a = d;
#endif

#if defined(ASSIGNED_A_VECTOR)  // expect: devplace: a tensor is assigned an expression, a number, or a tensor
  a = std::vector<float>{1, 2, 3};
#endif

#if defined(ROW_ASSIGNED_A_VECTOR)  // expect: devplace: a view is assigned an expression or a number
  a[0] = std::vector<float>{1, 2, 3};
#endif

#if defined(PLACED_TENSOR_ASSIGNED_FROM_ONE_PLACE)  // expect: devplace: a tensor over several places is assigned
  [](dp::tensor<float, dp::extents<2, 3>, dp::replicated<0, 1>>& copies, matrix& x) { copies = x; };
#endif

#if defined(FRACTION_ASSIGNED_TO_INTEGERS)  // expect: devplace: a number with a fraction is assigned to integer
  {
    auto counts = dp::zeros<int, on_cpu>(3);
    counts = 0.5;
  }
#endif

#if defined(COPY_CONSTRUCTED)  // expect: deleted (function|constructor|operator|member)
  matrix copied = a;
#endif

#if defined(COPY_ASSIGNED)  // expect: deleted (function|constructor|operator|member)
  b = a;
#endif

#if defined(VIEW_ASSIGNED)  // expect: deleted (function|constructor|operator|member)
  a[0] = b[1];
#endif

#if defined(VIEW_VARIABLE_ASSIGNED)  // expect: deleted (function|constructor|operator|member)
  auto to = a.view();
  to = b.view();
#endif

#if defined(ELEMENT_BY_ONE_INDEX)  // expect: devplace: an element is named by one integer for each axis
  a(1) = 0;
#endif

#if defined(ELEMENT_BY_THREE_INDICES)  // expect: devplace: an element is named by one integer for each axis
  static_cast<void>(constant(0, 1, 2));
#endif

#if defined(ELEMENT_OF_A_VIEW_BY_ONE_INDEX)  // expect: devplace: an element is named by one integer for each axis
  static_cast<void>(constant.view()(1));
#endif

#if defined(ELEMENT_BY_A_FRACTION)  // expect: devplace: an element is named by one integer for each axis
  a(0.5, 1) = 0;
#endif

#if defined(ELEMENT_OF_A_DEVICE)  // expect: devplace: the host cannot reach these elements
  d(0, 1) = 2;
#endif

#if defined(ELEMENT_OF_A_DEVICE_VIEW)  // expect: devplace: the host cannot reach these elements
  static_cast<void>(std::as_const(d).view()(0, 1));
#endif

#if defined(LOOP_OVER_A_DEVICE)  // expect: devplace: the host cannot reach these elements in a loop.*to<on<cpu>>\(x\)
  for (const float element : std::as_const(d)) static_cast<void>(element);
#endif

#if defined(LOOP_OVER_A_DEVICE_VIEW)  // expect: devplace: the host cannot reach these elements in a loop or algorithm
  for (const float element : d.view()) static_cast<void>(element);
#endif

#if defined(SORTED_ON_A_DEVICE)  // expect: devplace: the host cannot reach these elements in a loop or algorithm
  std::sort(d.begin(), d.end());
#endif

#if defined(ROWS_OF_A_TEMPORARY)  // expect: devplace: rows: a temporary tensor would be gone before the loop
  for (auto row : dp::rows(matrix(dp::extents<2, 3>{}))) static_cast<void>(row);
#endif

#if defined(CONST_ELEMENT)  // expect: (read-only location|cannot assign to return value|must be a modifiable lvalue)
  constant(0, 1) = 2;
#endif

#if defined(VIEW_OF_TEMPORARY)  // expect: deleted (function|constructor|operator|member)
  auto row = a.clone()[0];
#endif

#if defined(WHOLE_VIEW_OF_TEMPORARY)  // expect: deleted (function|constructor|operator|member)
  auto all = a.clone().view();
#endif

#if defined(COPY_OF_OTHER_EXTENTS)  // expect: devplace: copy: the static extents of destination and source differ
  dp::copy(list, a);
#endif

#if defined(COPY_OF_OTHER_TYPE)  // expect: devplace: copy: the element types differ.*cast<T>
  dp::copy(dp::zeros<double, on_cpu>(dp::extents<2, 3>{}), a);
#endif

#if defined(COPY_INTO_CONST)  // expect: devplace: copy: the destination's elements are const
  dp::copy(constant, a);
#endif

#if defined(COPY_SWAPPED)  // expect: devplace: copy: the destination's elements are const; the destination is the first
  dp::copy(constant[0], list);
#endif

#if defined(ITEM_OF_MANY)  // expect: devplace: item: the tensor has more or fewer elements than one
  dp::item(a);
#endif
#if defined(ITEM_AS_A_MEMBER)  // expect: no member .*item
  const float number = list.item();
#endif
#if defined(ITEM_OF_AN_EXPRESSION)  // expect: devplace: item: the tensor has more or fewer elements than one
  const float number = dp::item(list + 1.0f);
#endif
#if defined(ITEM_OF_A_NAMED_EXPRESSION)  // expect: devplace: an expression with a name would be computed at each use
  const auto sum = list[0] + list[1];
  const float number = dp::item(sum);
#endif
#if defined(ITEM_OF_A_VECTOR)  // expect: devplace: item: the argument is not a tensor, view or expression
  const float number = dp::item(std::vector<float>{1});
#endif
#if defined(UNIFORM_INTEGERS)  // expect: devplace: random: random numbers are float, double, bf16 or half
  dp::uniform_into(dp::zeros<std::int64_t, on_cpu>(dp::extents<2>{}), dp::seed{1}, 0, 0, 9);
#endif

#if defined(ELEMENT_TYPE_OF_HALF)  // expect: std::uint8_t or, for storage, bf16 and half
  {
    dp::tensor<_Float16, dp::extents<2>, on_cpu> half(dp::extents<2>{});
  }
#endif

#if defined(TENSOR_ARGUMENTS_SWAPPED)  // expect: devplace: the second argument of tensor is its extents
  {
    dp::tensor<float, on_cpu, dp::extents<2>> swapped(dp::extents<2>{});
  }
#endif

#if defined(TENSOR_WITHOUT_PLACEMENT)  // expect: devplace: the third argument of tensor is its placement
  {
    dp::tensor<float, dp::extents<4>> nowhere(dp::extents<4>{});
  }
#endif

#if defined(ZEROS_SWAPPED)  // expect: devplace: the second template argument must be a placement
  dp::zeros<on_cpu, float>(dp::extents<2>{});
#endif

#if defined(ZEROS_OF_BOOL)  // expect: devplace: the first template argument must be an element type
  dp::zeros<bool, on_cpu>(dp::extents<2>{});
#endif

#if defined(ZEROS_OF_A_VECTOR)  // expect: devplace: a tensor's size must be given as extents
  dp::zeros<float, on_cpu>(std::vector<int>{2, 3});
#endif

#if defined(ARANGE_NOWHERE)  // expect: devplace: arange: the template arguments must be an element type and one place
  dp::arange<float>(10);
#endif

#if defined(UNIFORM_OF_A_NUMBER_OF_ELEMENTS)  // expect: devplace: random numbers take extents and a seed
  dp::uniform<float, on_cpu>(2, dp::seed{1});
#endif

#if defined(UNIFORM_OF_INTEGERS)  // expect: devplace: random: random numbers are float, double, bf16 or half
  in_a_template([](auto size) { dp::uniform<int, on_cpu>(size, dp::seed{1}, 0, 10); }, dp::extents<2>{});
#endif

#if defined(SELECT_NO_AXIS)  // expect: devplace: select\(axis<1>{}, index\): the first argument is an axis
  a.view().select(dp::axis<2>{}, 0);
#endif

#if defined(SLICE_NO_AXIS)  // expect: devplace: slice\(axis<1>{}, first, last, step\)
  a.view().slice(dp::axis<2>{}, 0, 1);
#endif

#if defined(SLICE_WITH_THE_AXIS_AS_A_NUMBER)  // expect: devplace: slice\(axis<1>{}, first, last, step\)
  a.slice(1, 0, 2);
#endif

#if defined(VIEW_OF_SIZES_IN_BRACES)  // expect: devplace: view: give the shape as extents
  dp::view<float, dp::extents<dp::dyn, dp::dyn>, on_cpu> sized(a.data(), {2, 3});
#endif

#if defined(TOO_MANY_SIZES)  // expect: devplace: extents: give one size for each axis, or for each dyn
  dp::extents<dp::dyn, 3> sizes(2, 3, 4);
#endif

#if defined(ROW_ASSIGNED_A_LIST)  // expect: devplace: a view is assigned an expression or a number
  a[0] = {7, 8, 9};
#endif

#if defined(EXTENTS_AS_NUMBERS)  // expect: (type/value mismatch|template type parameter must be a type|expected a type)
  dp::tensor<float, 2, 3> of_numbers;
#endif

#if defined(TENSOR_OF_A_LIST_ALONE)  // expect: devplace: the first argument of tensor is its element type
  {
    dp::tensor deduced{1.0f, 2.0f};
  }
#endif

#if defined(PERMUTE_AXIS_TWICE)  // expect: devplace: permute\(axis<1>{}, axis<0>{}\): name every axis once
  a.permute(dp::axis<1>{}, dp::axis<1>{});
#endif

#if defined(PERMUTE_AXIS_MISSING)  // expect: devplace: permute\(axis<1>{}, axis<0>{}\): name every axis once
  a.permute(dp::axis<0>{});
#endif

#if defined(PERMUTE_NO_AXIS)  // expect: devplace: permute\(axis<1>{}, axis<0>{}\): name every axis once
  a.permute(dp::axis<0>{}, dp::axis<2>{});
#endif

#if defined(PERMUTE_TEMPORARY)  // expect: deleted (function|constructor|operator|member)
  auto gone = a.clone().permute(dp::axis<1>{}, dp::axis<0>{});
#endif

#if defined(RESHAPE_OF_OTHER_SIZE)  // expect: devplace: reshape.*: give extents with the number of elements of x
  a.reshape(dp::extents<4>{});
#endif
#if defined(RESHAPE_BY_NUMBERS)  // expect: devplace: reshape.*: give extents with the number of elements of x
  auto reshaped = a.reshape(3, 2);
#endif
#if defined(BROADCAST_TO_FEWER_AXES)  // expect: devplace: broadcast_to.*with at least the array's axes
  a.broadcast_to(dp::extents<6>{});
#endif

#if defined(WRITE_BROADCAST_ELEMENT)  // expect: (read-only location|cannot assign to return value|must be a modifiable)
  list.broadcast_to(dp::extents<2, 3>{})(0, 1) = 2;
#endif

#if defined(WRITE_BROADCAST_VIEW)  // expect: devplace: assign: the elements of the view are const
  a.broadcast_to(dp::extents<2, 2, 3>{}) = a + 1.0f;
#endif

#if defined(ROW_MAJOR_FROM_STRIDED)  // expect: (conversion from|no viable conversion|no suitable user-defined)
  dp::view<const float, dp::extents<2>, on_cpu> column = a.select(dp::axis<1>{}, 0);
#endif

#if defined(WRAPPED_TEMPORARY)  // expect: devplace: wrap: a temporary would be gone before the view
  dp::wrap(std::vector<float>{1, 2, 3}, dp::extents<3>{});
#endif

#if defined(WRAPPED_WITHOUT_EXTENTS)  // expect: devplace: wrap.*: give the memory of elements
  dp::wrap(list.data());
#endif

#if defined(WRAPPED_WITH_EXTENTS_IN_BRACES)  // expect: devplace: wrap.*: give the memory of elements
  dp::wrap(std::as_const(list).data(), {1, 3});
#endif

#if defined(WRAPPED_WITH_TOO_MANY_STRIDES)  // expect: devplace: wrap.*: give the memory of elements
  dp::wrap(list.data(), dp::extents<3>{}, {1, 3});
#endif

#if defined(WRAPPED_CHARACTERS)  // expect: devplace: wrap.*: give the memory of elements
  dp::wrap("text", dp::extents<5>{});
#endif

#if defined(EXTENTS_THAT_OVERFLOW)  // expect: devplace: extents: an array of this shape has more elements than
  dp::extents<dp::dyn, std::size_t{1} << 40, std::size_t{1} << 40> huge(1);
#endif

#if defined(PINNED_WITHOUT_COMPONENT)  // expect: devplace: a tensor on pinned needs the component cuda
  {
    dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> staging{dp::extents<3>{}};
  }
#endif

#if defined(STREAM_WITHOUT_COMPONENT)  // expect: devplace: a stream of a cuda place needs the component cuda
  {
    dp::stream<dp::cuda<0>> side;
  }
#endif
  static_cast<void>(constant);
}
