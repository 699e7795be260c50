// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/memory/stream.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
using on_device = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cuda<0>>>;

void tensors(matrix& a, const matrix& constant, on_device& d) {
  matrix b = a.clone();
  a = b.clone();
  dp::copy(a[0], b[1]);
  d.view().erased();
  dp::tensor<float, dp::extents<3>, on_cpu> list{1, 2, 3};
  dp::item(list.slice(0, 1));
#if defined(RAGGED_LIST)  // expect: devplace: the nested list does not have the tensor.s extents
  matrix ragged{{1, 2, 3}, {4, 5}};
#endif
#if defined(NESTED_LIST_OF_OTHER_EXTENTS)  // expect: devplace: the nested list does not have the tensor's extents
  matrix transposed{{1, 2}, {3, 4}, {5, 6}};
#endif
#if defined(LIST_OF_OTHER_EXTENT)  // expect: devplace: the list does not have the tensor's extents
  { dp::tensor<float, dp::extents<3>, on_cpu> short_list{1, 2}; }
#endif
#if defined(NESTED_LIST_NARROWS)  // expect: (narrowing|no matching constructor|no instance of constructor)
  { dp::tensor<std::int32_t, dp::extents<1, 2>, on_cpu> fractions{{1.5, 2}}; }
#endif
#if defined(LIST_NARROWS)  // expect: devplace: the list has floating-point values and the tensor integer elements
  { dp::tensor<std::int32_t, dp::extents<2>, on_cpu> fractions{1.5, 2}; }
#endif
#if defined(COPY_CONSTRUCTED)  // expect: (USE_clone_TO_COPY_A_TENSOR|deleted constructor of 'matrix')
  matrix copied = a;
#endif
#if defined(COPY_ASSIGNED)  // expect: USE_clone_TO_COPY_A_TENSOR
  b = a;
#endif
#if defined(VIEW_ASSIGNED)  // expect: USE_copy_TO_COPY_ELEMENTS
  a[0] = b[1];
#endif
#if defined(VIEW_VARIABLE_ASSIGNED)  // expect: USE_copy_TO_COPY_ELEMENTS
  auto to = a.view();
  to = b.view();
#endif
#if defined(ELEMENT_OF_A_DEVICE)  // expect: COPY_IT_FIRST_WITH_to_on_cpu
  d(0, 1) = 2;
#endif
#if defined(ELEMENT_OF_A_DEVICE_VIEW)  // expect: COPY_IT_FIRST_WITH_to_on_cpu
  d.view()(0, 1) = 2;
#endif
#if defined(CONST_ELEMENT)  // expect: (read-only location|cannot assign to return value|must be a modifiable lvalue)
  constant(0, 1) = 2;
#endif
#if defined(VIEW_OF_TEMPORARY)  // expect: (deleted function|overload resolution selected deleted|cannot be referenced)
  auto row = a.clone()[0];
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
#if defined(ITEM_OF_MANY)  // expect: devplace: item: the tensor has more or fewer elements than one
  dp::item(a);
#endif
#if defined(UNIFORM_INTEGERS)  // expect: devplace: random: uniform and normal numbers are float or double
  dp::uniform_into(dp::zeros<std::int64_t, on_cpu>(dp::extents<2>{}), dp::seed{1}, 0, 0, 9);
#endif
#if defined(FROM_SPAN_OF_CHARACTERS)  // expect: devplace: from_span: the elements must be float, double
  dp::from_span<on_cpu>("text", dp::extents<5>{});
#endif
#if defined(PINNED_WITHOUT_COMPONENT)  // expect: devplace: a tensor on pinned needs the component cuda
  { dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> staging{dp::extents<3>{}}; }
#endif
#if defined(STREAM_WITHOUT_COMPONENT)  // expect: devplace: a stream of a cuda place needs the component cuda
  { dp::stream<dp::cuda<0>> side; }
#endif
  static_cast<void>(constant);
}
