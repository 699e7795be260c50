// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/memory/device_pointer.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/mdspan.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/wrap.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/catch.hpp"

namespace devplace::test {

// Cases for the mdspan of any library. `Library` has mdspan, extents, dextents, layout_right, layout_left and
// layout_stride. The oracle computes an element's place by an mdspan's mapping, or by hand.

/// The element of an mdspan with C++20, which has no m[i, j].
template <class M, class... Index> decltype(auto) at(const M& m, Index... indices) {
  return m.accessor().access(m.data_handle(), static_cast<std::size_t>(m.mapping()(indices...)));
}

template <class Layout, class View>
inline constexpr bool has_layout = std::is_same_v<typename View::layout_type, Layout>;

template <class Library> void wraps_every_layout() {
  std::vector<float> memory(100);
  std::iota(memory.begin(), memory.end(), 0.0F);
  using dynamic = typename Library::template dextents<int, 2>;
  using fixed = typename Library::template extents<std::uint32_t, 4, 5>;

  const typename Library::template mdspan<float, dynamic, typename Library::layout_right> right(memory.data(),
                                                                                                dynamic(4, 5));
  const auto rows = wrap(right);
  static_assert(has_layout<row_major, decltype(rows)>);
  static_assert(std::is_same_v<typename decltype(rows)::extents_type, dextents<2>>);
  static_assert(std::is_same_v<typename decltype(rows)::placement_type, on<cpu>>);

  const typename Library::template mdspan<const float, fixed, typename Library::layout_left> left(memory.data(),
                                                                                                  fixed{});
  const auto columns = wrap(left);
  static_assert(has_layout<column_major, decltype(columns)>);
  static_assert(std::is_same_v<typename decltype(columns)::extents_type, extents<4, 5>>);
  static_assert(std::is_same_v<typename decltype(columns)::element_type, const float>);

  using mapping = typename Library::layout_stride::template mapping<dynamic>;
  using strides = std::remove_cvref_t<decltype(std::declval<const mapping&>().strides())>;
  const typename Library::template mdspan<float, dynamic, typename Library::layout_stride> spaced(
      memory.data() + 1, mapping(dynamic(4, 5), strides{20, 3}));
  const auto parts = wrap(spaced);
  static_assert(has_layout<strided, decltype(parts)>);

  for (std::size_t i = 0; i != 4; ++i)
    for (std::size_t j = 0; j != 5; ++j) {
      CHECK(&rows(i, j) == &memory[i * 5 + j]);
      CHECK(&columns(i, j) == &memory[i + j * 4]);
      CHECK(&parts(i, j) == &memory[1 + i * 20 + j * 3]);
    }

  // An operation on the views, beside a loop over the mdspans.
  rows = parts * 2.0F + columns;
  std::vector<float> before(100);
  std::iota(before.begin(), before.end(), 0.0F);
  for (std::size_t i = 0; i != 4; ++i)
    for (std::size_t j = 0; j != 5; ++j)
      CHECK(at(right, static_cast<int>(i), static_cast<int>(j)) == before[1 + i * 20 + j * 3] * 2 + before[i + j * 4]);
}

template <class Library> void wraps_every_rank() {
  std::vector<double> memory(60);
  std::iota(memory.begin(), memory.end(), 0.0);
  using none = typename Library::template extents<std::size_t>;
  using line = typename Library::template dextents<std::int64_t, 1>;
  using cube = typename Library::template extents<std::size_t, 3, dyn, 5>;
  using empty = typename Library::template dextents<std::size_t, 2>;
  CHECK(&wrap(typename Library::template mdspan<double, none, typename Library::layout_right>(
            memory.data(), none{}))() == memory.data());
  const auto all =
      wrap(typename Library::template mdspan<double, line, typename Library::layout_left>(memory.data(), line(60)));
  static_assert(has_layout<row_major, decltype(all)>);
  CHECK(all(59) == 59);
  const auto left = wrap(
      typename Library::template mdspan<double, cube, typename Library::layout_left>(memory.data(), cube(3, 4, 5)));
  const auto right = wrap(
      typename Library::template mdspan<double, cube, typename Library::layout_right>(memory.data(), cube(3, 4, 5)));
  static_assert(has_layout<strided, decltype(left)> && has_layout<row_major, decltype(right)>);
  static_assert(std::is_same_v<typename decltype(left)::extents_type, extents<3, dyn, 5>>);
  for (std::size_t i = 0; i != 3; ++i)
    for (std::size_t j = 0; j != 4; ++j)
      for (std::size_t k = 0; k != 5; ++k) {
        CHECK(&left(i, j, k) == &memory[i + 3 * j + 12 * k]);
        CHECK(&right(i, j, k) == &memory[20 * i + 5 * j + k]);
      }
  CHECK(wrap(typename Library::template mdspan<double, empty, typename Library::layout_left>(nullptr, empty(0, 3)))
            .size() == 0);
}

template <class Library> void makes_every_layout() {
  tensor<float, extents<4, 6>, on<cpu>> x{extents<4, 6>{}};
  std::iota(x.begin(), x.end(), 0.0F);
  using dynamic = typename Library::template dextents<int, 2>;
  const auto right = as_mdspan<typename Library::template mdspan<float, dynamic, typename Library::layout_right>>(x);
  const auto left =
      as_mdspan<typename Library::template mdspan<float, typename Library::template extents<std::size_t, 6, 4>,
                                                  typename Library::layout_left>>(transposed(x));
  using spaced = typename Library::template mdspan<const float, dynamic, typename Library::layout_stride>;
  const auto every = as_mdspan<spaced>(x.slice(axis<1>{}, 1, 6, 2));
  const auto whole = as_mdspan<spaced>(std::as_const(x));
  static_assert(std::is_same_v<std::remove_const_t<decltype(every)>, spaced>);
  REQUIRE((every.extent(0) == 4 && every.extent(1) == 3));
  for (int i = 0; i != 4; ++i)
    for (int j = 0; j != 6; ++j) {
      const float* const element = &x(i, j);
      CHECK(&at(right, i, j) == element);
      CHECK(&at(left, static_cast<std::size_t>(j), static_cast<std::size_t>(i)) == element);
      CHECK(&at(whole, i, j) == element);
      if (j % 2 == 1) CHECK(&at(every, i, j / 2) == element);
    }
  // Contiguous elements whose strides are known at run time only, and three axes in the order of Fortran.
  CHECK(&at(as_mdspan<typename Library::template mdspan<float, dynamic, typename Library::layout_right>>(
                x.slice(axis<1>{}, 0, 6)),
            3, 5) == &x(3, 5));
  auto cube = x.reshape(extents<2, 3, 4>{});
  const auto turned = as_mdspan<typename Library::template mdspan<float, typename Library::template dextents<int, 3>,
                                                                  typename Library::layout_left>>(
      cube.permute(axis<2>{}, axis<1>{}, axis<0>{}));
  for (int i = 0; i != 2; ++i)
    for (int j = 0; j != 3; ++j)
      for (int k = 0; k != 4; ++k) CHECK(&at(turned, k, j, i) == &cube(i, j, k));
}

template <class Library> void returns_the_same_view() {
  std::vector<std::int32_t> memory(24);
  const auto x = wrap(memory, extents<dyn, 6>{4});
  using fixed = typename Library::template extents<std::int64_t, dyn, 6>;
  const auto same =
      wrap(as_mdspan<typename Library::template mdspan<std::int32_t, fixed, typename Library::layout_right>>(x));
  static_assert(std::is_same_v<decltype(same), decltype(x)>);
  CHECK((same.data() == x.data() && same.extents() == x.extents()));
  const auto part = x.slice(axis<1>{}, 2, 5);
  const auto again =
      wrap(as_mdspan<typename Library::template mdspan<std::int32_t, typename Library::template dextents<int, 2>,
                                                       typename Library::layout_stride>>(part));
  CHECK((again.data() == part.data() && again.extents() == part.extents() && again.strides() == part.strides()));
}

template <class Library> void refuses_what_no_mdspan_has() {
  using Catch::Matchers::ContainsSubstring;
  tensor<float, extents<dyn, 40>, on<cpu>> x{extents<dyn, 40>{5}};
  using dynamic = typename Library::template dextents<int, 2>;
  using spaced = typename Library::template mdspan<const float, dynamic, typename Library::layout_stride>;
  CHECK_THROWS_WITH(
      (as_mdspan<spaced>(x.view().select(axis<0>{}, 0).broadcast_to(extents<3, 40>{}))),
      ContainsSubstring("as_mdspan: an array of 3x40 cannot be an mdspan of this type, because a stride is not "
                        "positive"));
  CHECK_THROWS_AS((as_mdspan<spaced>(wrap(&x(4, 0), extents<5, 40>{}, std::array{-40, 1}))), shape_error);
  CHECK_NOTHROW(as_mdspan<spaced>(wrap(&x(4, 0), extents<1, 40>{}, std::array{-40, 1})));
  CHECK_THROWS_WITH((as_mdspan<typename Library::template mdspan<float, dynamic, typename Library::layout_right>>(
                        x.slice(axis<1>{}, 0, 20))),
                    ContainsSubstring("its layout has other strides than the elements; name layout_stride"));
  CHECK_THROWS_AS((as_mdspan<typename Library::template mdspan<float, typename Library::template extents<int, 4, 40>,
                                                               typename Library::layout_right>>(x)),
                  shape_error);
  CHECK_THROWS_WITH(
      (as_mdspan<typename Library::template mdspan<float, typename Library::template dextents<signed char, 2>,
                                                   typename Library::layout_right>>(x)),
      ContainsSubstring("its index type is too small"));
}

}  // namespace devplace::test
