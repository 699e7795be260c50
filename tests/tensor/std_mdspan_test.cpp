// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <version>

// Of C++23, in newer compilers.
#if defined(__cpp_lib_mdspan)
  #include <mdspan>

  #include "support/mdspan_cases.hpp"

namespace {

struct standard_library {
  template <class Index, std::size_t... N> using extents = std::extents<Index, N...>;
  template <class Index, std::size_t Rank> using dextents = std::dextents<Index, Rank>;
  using layout_right = std::layout_right;
  using layout_left = std::layout_left;
  using layout_stride = std::layout_stride;
  template <class T, class E, class Layout> using mdspan = std::mdspan<T, E, Layout>;
};

}  // namespace

TEST_CASE("views of the standard library's mdspans, and mdspans of views", "[tensor][mdspan]") {
  devplace::test::wraps_every_layout<standard_library>();
  devplace::test::wraps_every_rank<standard_library>();
  devplace::test::makes_every_layout<standard_library>();
  devplace::test::returns_the_same_view<standard_library>();
  devplace::test::refuses_what_no_mdspan_has<standard_library>();
}
#endif
