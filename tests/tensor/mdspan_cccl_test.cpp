// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/tensor/mdspan.hpp>

#include <cuda/std/mdspan>
#include <cuda/std/utility>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/mdspan_cases.hpp"

namespace dp = devplace;
namespace cs = cuda::std;

namespace {

struct cuda_library {
  template <class Index, std::size_t... N> using extents = cs::extents<Index, N...>;
  template <class Index, std::size_t Rank> using dextents = cs::dextents<Index, Rank>;
  using layout_right = cs::layout_right;
  using layout_left = cs::layout_left;
  using layout_stride = cs::layout_stride;
  template <class T, class E, class Layout> using mdspan = cs::mdspan<T, E, Layout>;
};

}  // namespace

TEST_CASE("an mdspan of libcu++ of every layout is wrapped", "[tensor][mdspan]") {
  dp::test::wraps_every_layout<cuda_library>();
}

TEST_CASE("mdspans of libcu++ of every rank are wrapped", "[tensor][mdspan]") {
  dp::test::wraps_every_rank<cuda_library>();
}

TEST_CASE("tensors and views become mdspans of libcu++", "[tensor][mdspan]") {
  dp::test::makes_every_layout<cuda_library>();
}

TEST_CASE("the view of libcu++'s mdspan of a view is that view", "[tensor][mdspan]") {
  dp::test::returns_the_same_view<cuda_library>();
}

TEST_CASE("what no mdspan of libcu++ can express is an error", "[tensor][mdspan]") {
  dp::test::refuses_what_no_mdspan_has<cuda_library>();
}

// Older toolkits have no submdspan.
#if __has_include(<cuda/std/__mdspan/submdspan_mapping.h>)
TEST_CASE("results of submdspan are wrapped", "[tensor][mdspan]") {
  std::vector<float> memory(4 * 5 * 6);
  const cs::mdspan all(memory.data(), cs::extents<int, 4, 5, 6>{});
  const auto check = [&](const auto& part, auto index_of) {
    const auto x = dp::wrap(part);
    REQUIRE(x.rank == part.rank());
    for (std::size_t i = 0; i != x.extent(0); ++i)
      for (std::size_t j = 0; j != x.extent(1); ++j) CHECK(&x(i, j) == &memory[index_of(i, j)]);
  };
  check(cs::submdspan(all, 2, cs::full_extent, cs::full_extent), [](auto i, auto j) { return 60 + i * 6 + j; });
  check(cs::submdspan(all, cs::full_extent, 3, cs::full_extent), [](auto i, auto j) { return i * 30 + 18 + j; });
  check(cs::submdspan(all, cs::full_extent, cs::full_extent, 5), [](auto i, auto j) { return i * 30 + j * 6 + 5; });
  check(cs::submdspan(all, cs::pair{1, 3}, 0, cs::strided_slice<int, int, int>{1, 5, 2}),
        [](auto i, auto j) { return (i + 1) * 30 + 1 + j * 2; });
  const cs::mdspan<float, cs::extents<int, 20, 6>, cs::layout_left> left(memory.data());
  check(cs::submdspan(left, cs::full_extent, cs::pair{2, 5}), [](auto i, auto j) { return i + (j + 2) * 20; });
  check(cs::submdspan(left, cs::pair{4, 9}, cs::full_extent), [](auto i, auto j) { return i + 4 + j * 20; });
}
#endif
