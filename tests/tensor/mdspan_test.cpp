// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/mdspan.hpp>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/mdspan_cases.hpp"
#include "support/minimal_mdspan.hpp"

namespace dp = devplace;

namespace {

struct minimal_library {
  template <class Index, std::size_t... N> using extents = dp::test::minimal::extents<Index, N...>;
  template <class Index, std::size_t Rank> using dextents = dp::test::minimal::dextents<Index, Rank>;
  using layout_right = dp::test::minimal::layout_right;
  using layout_left = dp::test::minimal::layout_left;
  using layout_stride = dp::test::minimal::layout_stride;
  template <class T, class E, class Layout> using mdspan = dp::test::minimal::mdspan<T, E, Layout>;
};

/// A layout of a program's own: rows from the last to the first, so that index 0 is not the first element.
struct rows_upwards {
  template <class E> struct mapping {
    using extents_type = E;
    using index_type = typename E::index_type;
    static constexpr bool is_always_exhaustive() { return true; }
    static constexpr bool is_always_strided() { return true; }
    constexpr mapping() = default;
    constexpr explicit mapping(const E& sizes) : e(sizes) {}
    constexpr const E& extents() const { return e; }
    constexpr index_type stride(std::size_t axis) const { return axis == 0 ? -e.extent(1) : 1; }
    constexpr index_type operator()(index_type i, index_type j) const {
      return (e.extent(0) - 1 - i) * e.extent(1) + j;
    }
    E e;
  };
};

}  // namespace

TEST_CASE("an mdspan of every layout is wrapped", "[tensor][mdspan]") {
  dp::test::wraps_every_layout<minimal_library>();
}

TEST_CASE("mdspans of every rank are wrapped", "[tensor][mdspan]") { dp::test::wraps_every_rank<minimal_library>(); }

TEST_CASE("tensors and views become mdspans of every layout", "[tensor][mdspan]") {
  dp::test::makes_every_layout<minimal_library>();
}

TEST_CASE("the view of an mdspan of a view is that view", "[tensor][mdspan]") {
  dp::test::returns_the_same_view<minimal_library>();
}

TEST_CASE("what no mdspan can express is an error", "[tensor][mdspan]") {
  dp::test::refuses_what_no_mdspan_has<minimal_library>();
}

TEST_CASE("a layout of the program's own is wrapped", "[tensor][mdspan]") {
  std::vector<float> memory{0, 1, 2, 3, 4, 5};
  using e = minimal_library::dextents<int, 2>;
  const auto x = dp::wrap(minimal_library::mdspan<float, e, rows_upwards>(memory.data(), e(3, 2)));
  for (std::size_t i = 0; i != 3; ++i)
    for (std::size_t j = 0; j != 2; ++j) CHECK(&x(i, j) == &memory[(2 - i) * 2 + j]);
}
