// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/mdspan.hpp>
#include <devplace/tensor/wrap.hpp>

#include <cuda/std/mdspan>

#include <cstddef>
#include <utility>
#include <vector>

namespace dp = devplace;
namespace cs = cuda::std;

// Component cuda for the mdspan of the toolkit alone: nothing here needs a kernel.
using matrix = dp::tensor<float, dp::extents<2, 3>, dp::cpu>;
template <class T, class Layout = cs::layout_right> using of_two_axes = cs::mdspan<T, cs::dextents<int, 2>, Layout>;
template <class T>
using of_device = cs::mdspan<T, cs::dextents<int, 1>, cs::layout_right, dp::device_accessor<T, dp::cuda<0>>>;

/// A layout that does not promise strides.
struct mixed_order {
  template <class E> struct mapping : cs::layout_right::mapping<E> {
    using layout_type = mixed_order;
    using cs::layout_right::mapping<E>::mapping;
    static constexpr bool is_always_strided() { return false; }
  };
};

/// Elements that are computed.
struct negated {
  using offset_policy = negated;
  using element_type = const float;
  using reference = float;
  using data_handle_type = const float*;
  float access(const float* data, std::size_t offset) const { return -data[offset]; }
  const float* offset(const float* data, std::size_t offset) const { return data + offset; }
};

/// An accessor with a handle of its own, which is not made of an address.
struct from_file {
  struct data_handle_type {};
  using offset_policy = from_file;
  using element_type = float;
  using reference = float;
  float access(data_handle_type, std::size_t) const { return 0; }
  data_handle_type offset(data_handle_type, std::size_t) const { return {}; }
};

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void mdspans(matrix& x, const of_device<float>& there, std::vector<float>& values) {
  dp::as_mdspan<of_two_axes<float>>(x);
  static_cast<void>(dp::wrap(of_two_axes<float>(values.data(), 2, 3)));
  static_cast<void>(dp::wrap<dp::cuda<0>>(there));

#if defined(WRAPPED_MDSPAN_OF_CHARACTERS)  // expect: devplace: wrap\(mdspan\): the elements have a type that tensors do
                                           // not
  in_a_template([](auto text) { dp::wrap(cs::mdspan(text, 2, 3)); }, static_cast<char*>(nullptr));
#endif

#if defined(WRAPPED_MDSPAN_WITHOUT_STRIDES)  // expect: devplace: wrap\(mdspan\): the layout has no strides
  in_a_template([](auto data) { dp::wrap(of_two_axes<float, mixed_order>(data, 2, 3)); }, values.data());
#endif

#if defined(WRAPPED_MDSPAN_OF_COMPUTED_ELEMENTS)  // expect: devplace: wrap\(mdspan\): the accessor computes the
                                                  // elements
  in_a_template(
      [](auto data) { dp::wrap(cs::mdspan<const float, cs::dextents<int, 1>, cs::layout_right, negated>(data, 3)); },
      values.data());
#endif

#if defined(WRAPPED_MDSPAN_ON_ANOTHER_PLACE)  // expect: devplace: wrap\(mdspan\): the mdspan's accessor names another
                                              // place
  in_a_template([](const auto& m) { dp::wrap<dp::cuda<1>>(m); }, there);
#endif

#if defined(MDSPAN_OF_NO_TYPE_OF_MDSPAN)  // expect: devplace: as_mdspan<M>\(x\): name the type of an mdspan
  in_a_template([](auto& y) { dp::as_mdspan<float*>(y); }, x);
#endif

#if defined(MDSPAN_OF_A_VECTOR)  // expect: devplace: as_mdspan: give a tensor or view
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<float>>(y); }, values);
#endif

#if defined(MDSPAN_OF_SEVERAL_PLACES)  // expect: devplace: as_mdspan: give a tensor or view on one place
  dp::tensor<float, dp::extents<2, 3>, dp::replicated_on<dp::cpu>> everywhere{dp::extents<2, 3>{}};
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<float>>(y); }, everywhere);
#endif

#if defined(MDSPAN_OF_A_TEMPORARY)  // expect: devplace: as_mdspan: a temporary tensor would be gone
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<const float>>(y.clone()); }, x);
#endif

#if defined(MDSPAN_OF_OTHER_ELEMENTS)  // expect: devplace: as_mdspan: the mdspan has elements of another type
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<double>>(y); }, x);
#endif

#if defined(MDSPAN_TO_WRITE_CONST)  // expect: devplace: as_mdspan: the elements are const, and those of the mdspan are
                                    // not
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<float>>(y); }, std::as_const(x));
#endif

#if defined(MDSPAN_OF_OTHER_RANK)  // expect: devplace: as_mdspan: the mdspan has another number of axes
  in_a_template([](auto& y) { dp::as_mdspan<cs::mdspan<float, cs::dextents<int, 3>>>(y); }, x);
#endif

#if defined(MDSPAN_OF_OTHER_EXTENTS)  // expect: devplace: as_mdspan: the static extents of the mdspan differ
  in_a_template([](auto& y) { dp::as_mdspan<cs::mdspan<float, cs::extents<int, 3, cs::dynamic_extent>>>(y); }, x);
#endif

#if defined(MDSPAN_IN_ANOTHER_ORDER)  // expect: devplace: as_mdspan: the elements are in another order
  in_a_template([](auto& y) { dp::as_mdspan<of_two_axes<float, cs::layout_left>>(y); }, x);
#endif

#if defined(MDSPAN_WITH_ANOTHER_HANDLE)  // expect: devplace: as_mdspan: the mdspan's accessor does not take an address
  in_a_template([](auto& y) { dp::as_mdspan<cs::mdspan<float, cs::dextents<int, 2>, cs::layout_right, from_file>>(y); },
                x);
#endif

#if defined(MDSPAN_ELEMENT_ON_THE_HOST)  // expect: devplace: the host cannot reach the elements of this mdspan
  in_a_template([](const auto& m) { return m(1); }, there);
#endif
}
