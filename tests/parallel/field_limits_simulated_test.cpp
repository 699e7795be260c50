// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fields at the limits of what is allowed: parts without cells, halos as wide as a part, small element types, moves,
// and exceptions while an exchange is on its way.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <devplace/fields.hpp>

#include "parallel/field_oracle.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using dp::axis;
using dp::reduction;
using dp::test::in_processes;
using dp::test::whole_field;
namespace edge = dp::edge;

namespace {

struct numbered {
  template <class T, class... Index>
    requires(sizeof...(Index) != 0)
  DEVPLACE_HD void operator()(T& x, Index... index) const {
    std::size_t hash = 3;
    ((hash = (hash * 37 + index) % 997), ...);
    x = static_cast<T>(static_cast<float>(hash % 7));
  }
};
struct value {
  template <class T> DEVPLACE_HD T operator()(T x) const { return x; }
};
struct twice {
  DEVPLACE_HD auto operator()(const auto& u) const { return 2 * u(0, 0); }
};
struct add {
  DEVPLACE_HD void operator()(double& x, double y) const { x += y; }
};

void require(bool good, const char* what) {
  if (!good) throw dp::error(what);
}

/// Everything that can be done with a field some of whose parts may be empty.
template <class Where> void use_without_halo(std::size_t rows, std::size_t columns, const std::string& path) {
  using grid = dp::field<double, dp::dextents<2>, Where>;
  grid u(dp::extents{rows, columns}), v(u.extents()), w(u.extents());
  dp::parallel_for(numbered{}, u);
  dp::stencil(v, twice{}, dp::exchange(u, edge::periodic));
  dp::stencil(w, twice{}, dp::exchange_async(u, edge::fixed(1)));
  dp::parallel_for(add{}, w, std::as_const(v));

  double sum = 0, largest = 0, x = 0;
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) {
      numbered{}(x, i, j);
      sum += 4 * x;
      largest = largest < 4 * x ? 4 * x : largest;
    }
  require(dp::parallel_reduce(value{}, w) == sum, "the sum");
  require(dp::exact_sum(value{}, w) == sum, "the exact sum");
  if (rows * columns != 0) {
    require(dp::parallel_reduce<reduction::max>(value{}, w) == largest, "the maximum");
    require(dp::parallel_reduce<reduction::min>(value{}, w) >= 0, "the minimum");
  }
  const grid copy = w.clone();
  const auto whole = dp::gather<dp::cpu>(copy);
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) {
      numbered{}(x, i, j);
      require(whole(i, j) == 4 * x, "a cell");
    }
  for (std::size_t k = 0; k != grid::places; ++k)
    require(copy.local(k).extents() == u.local(k).extents(), "the extents of a part");
  dp::write_npy(path, copy);
  dp::read_npy(path, u);
  require(dp::exact_sum(value{}, u) == sum, "the file");
  grid moved = std::move(u);
  dp::copy(moved, whole);
  require(dp::exact_sum(value{}, moved) == sum, "the copied field");
}

}  // namespace

TEST_CASE("parts of a field without a halo may be empty", "[field]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("field.npy");
  using sizes = std::array<std::size_t, 2>;
  for (const auto& [rows, columns] : {sizes{2, 5}, sizes{1, 1}, sizes{3, 2}, sizes{0, 4}, sizes{4, 0}, sizes{7, 3}}) {
    CAPTURE(rows, columns);
    CHECK_NOTHROW(use_without_halo<dp::cpu>(rows, columns, path));
    CHECK_NOTHROW(use_without_halo<dp::cuda<2>>(rows, columns, path));
    CHECK_NOTHROW(use_without_halo<dp::sharded<axis<0>, 0, 1, 2, 3>>(rows, columns, path));
    CHECK_NOTHROW(use_without_halo<dp::sharded<axis<1>, 0, 1, 2, 3>>(rows, columns, path));
    CHECK_NOTHROW(in_processes(3, [&, rows = rows, columns = columns](const dp::process_group& group) {
      const dp::process_scope scope{group};
      use_without_halo<dp::across<dp::sharded_on<axis<0>, dp::cpu>>>(rows, columns, path);
      use_without_halo<dp::across<dp::sharded<axis<1>, 0, 1>>>(rows, columns, path);
    }));
  }
}

namespace {

struct all_in_a_row {
  DEVPLACE_HD auto operator()(const auto& u) const { return u(-3) + 2 * u(-2) - u(-1) + 3 * u(0) - 2 * u(2) + u(3); }
};
struct all_in_space {
  DEVPLACE_HD auto operator()(const auto& u) const {
    return u(-2, -1, 1) + 2 * u(2, 1, -1) - u(-1, 1, 1) + 3 * u(0, 0, 0) + u(1, -1, -1) - 2 * u(0, 0, 1);
  }
};

/// One step of a stencil, with and without overlap, has the cells of plain loops.
template <class T, class Where, class Halo, std::size_t Rank, class F>
void step(const std::array<std::size_t, Rank>& size, const F& f, const std::array<edge::rule, Rank>& edges,
          whole_field<T, Rank>& found, whole_field<T, Rank>& overlapped) {
  const auto sizes = std::apply([](auto... n) { return dp::dextents<Rank>(n...); }, size);
  dp::field<T, dp::dextents<Rank>, Where, Halo> u(sizes), v(sizes), w(sizes);
  dp::parallel_for(numbered{}, u);
  std::apply([&](const auto&... rule) { dp::stencil(v, f, dp::exchange(u, rule...)); }, edges);
  std::apply([&](const auto&... rule) { dp::stencil(w, f, dp::exchange_async(u, rule...)); }, edges);
  dp::test::store_parts(v, found);
  dp::test::store_parts(w, overlapped);
}

template <class T, class Where, class Halo, std::size_t Rank, class F>
void check_step(const std::array<std::size_t, Rank>& size, const F& f, const std::array<edge::rule, Rank>& edges,
                int processes = 1) {
  whole_field<T, Rank> u(size), wanted(size), found(size), overlapped(size);
  u.for_cells([&](const auto& index) { std::apply([&](auto... i) { numbered{}(u.at(index), i...); }, index); });
  u.for_cells([&](const auto& index) {
    wanted.at(index) = static_cast<T>(f(dp::test::oracle_cell<T, Rank>{u, edges, index}));
  });
  CHECK_NOTHROW(in_processes(
      processes,
      [&](const dp::process_group& group) {
        const dp::process_scope scope{group};
        step<T, Where, Halo>(size, f, edges, found, overlapped);
      },
      512));
  CHECK(found.cells == wanted.cells);
  CHECK(overlapped.cells == wanted.cells);
}

}  // namespace

TEST_CASE("a halo may be as wide as each part", "[field]") {
  using halo = dp::halo<3>;
  for (const edge::rule& rule : {edge::periodic, edge::mirrored, edge::fixed(-2, 5)}) {
    check_step<double, dp::cpu, halo, 1>({3}, all_in_a_row{}, {rule});
    check_step<double, dp::sharded<axis<0>, 0, 1>, halo, 1>({6}, all_in_a_row{}, {rule});
    check_step<double, dp::sharded<axis<0>, 0, 1, 2>, halo, 1>({9}, all_in_a_row{}, {rule});
    check_step<double, dp::sharded<axis<0>, 3, 1, 2, 0>, halo, 1>({13}, all_in_a_row{}, {rule});
    for (const int processes : {1, 2, 3}) {
      check_step<double, dp::across<dp::sharded_on<axis<0>, dp::cpu>>, halo, 1>({9}, all_in_a_row{}, {rule}, processes);
      check_step<double, dp::across<dp::sharded<axis<0>, 0, 1>>, halo, 1>({19}, all_in_a_row{}, {rule}, processes);
    }
  }
}

TEST_CASE("fields of three axes over processes", "[field]") {
  using halo = dp::halo<2, 1, 1>;
  for (const std::array<edge::rule, 3>& edges : {std::array{edge::periodic, edge::mirrored, edge::fixed(3)},
                                                 std::array{edge::fixed(1, 2), edge::periodic, edge::periodic}})
    for (const int processes : {2, 3}) {
      using on_cpu = dp::across<dp::sharded_on<axis<1>, dp::cpu>>;
      check_step<double, on_cpu, halo, 3>({5, 7, 3}, all_in_space{}, edges, processes);
      check_step<float, dp::across<dp::sharded<axis<2>, 1, 0>>, halo, 3>({3, 2, 11}, all_in_space{}, edges, processes);
      check_step<std::int32_t, dp::across<dp::sharded<axis<0>, 2>>, halo, 3>({6, 1, 1}, all_in_space{}, edges,
                                                                             processes);
    }
}

namespace {

struct left_and_right {
  DEVPLACE_HD float operator()(const auto& u) const {
    return static_cast<float>(u(0, -1)) + 2 * static_cast<float>(u(1, 0));
  }
};

template <class T> void check_type() {
  using where = dp::sharded<axis<0>, 0, 1>;
  dp::field<T, dp::extents<6, dp::dyn>, where, dp::halo<1, 1>> u(dp::extents<6, dp::dyn>{5}), v(u.extents());
  dp::parallel_for(numbered{}, u);
  dp::stencil(v, left_and_right{}, dp::exchange(u, edge::periodic, edge::fixed(3)));
  const auto found = dp::gather<dp::cpu>(v);
  for (std::size_t i = 0; i != 6; ++i)
    for (std::size_t j = 0; j != 5; ++j) {
      float left = 3, below = 0;
      if (j != 0) numbered{}(left, i, j - 1);
      numbered{}(below, (i + 1) % 6, j);
      CHECK(static_cast<float>(found(i, j)) == left + 2 * below);
    }
}

}  // namespace

TEST_CASE("fields of small elements, and with constant extents", "[field]") {
  check_type<dp::half>();
  check_type<dp::bf16>();
}

namespace {

using plate = dp::field<double, dp::dextents<2>, dp::sharded<axis<0>, 0, 1>, dp::halo<1, 1>>;

struct above {
  DEVPLACE_HD double operator()(const auto& u) const { return u(-1, 0); }
};
struct difference {
  DEVPLACE_HD double operator()(const auto& u, const auto& v) const { return u(-1, 0) - v(0, 1); }
};
struct left {
  int by;
  DEVPLACE_HD double operator()(const auto& u) const { return u(0, -by); }
};

template <class Field> bool is_above(const Field& v, const Field& u) {
  const std::size_t rows = u.extent(0), columns = u.extent(1);
  whole_field<double, 2> from({rows, columns}), to(from.size);
  dp::test::store_parts(u, from);
  dp::test::store_parts(v, to);
  bool same = true;
  to.for_cells([&](const auto& i) { same = same && to.at(i) == from.at({(i[0] + rows - 1) % rows, i[1]}); });
  return same;
}

}  // namespace

TEST_CASE("a field that was moved keeps its exchanges, and the other one can only be assigned", "[field]") {
  using Catch::Matchers::ContainsSubstring;
  const auto moved_from = ContainsSubstring("was moved from");
  plate u(dp::extents{6, 5}), w(dp::extents{6, 5});
  dp::parallel_for(numbered{}, u);
  const auto rows = dp::exchange(u, edge::fixed(0));
  plate v = std::move(u);
  // The moves are what is tested.
  // NOLINTBEGIN(bugprone-use-after-move)
  CHECK_THROWS_WITH(dp::stencil(w, above{}, rows), moved_from);
  CHECK_THROWS_WITH(dp::exchange(u, edge::periodic), moved_from);
  CHECK_THROWS_WITH(dp::parallel_for(numbered{}, u), moved_from);
  CHECK_THROWS_WITH(dp::parallel_reduce(value{}, u), moved_from);
  CHECK_THROWS_WITH(u.clone(), moved_from);
  CHECK_THROWS_WITH(u.local(0), moved_from);
  dp::stencil(w, above{}, dp::exchange(v, edge::periodic));
  CHECK(is_above(w, v));
  u = v.clone();
  dp::parallel_for(numbered{}, v);  // another field
  dp::stencil(w, above{}, dp::exchange(u, edge::periodic));
  CHECK(is_above(w, u));
  {
    auto pending = dp::exchange_async(u, edge::periodic);
    v = std::move(u);  // must not, and is found
    CHECK_THROWS_WITH(dp::stencil(w, above{}, pending), moved_from);
  }
  dp::stencil(w, above{}, dp::exchange(v, edge::periodic));
  CHECK(is_above(w, v));
  // NOLINTEND(bugprone-use-after-move)
  v = plate(dp::extents{9, 2});
  dp::parallel_for(numbered{}, v);
  CHECK_THROWS_WITH(dp::stencil(w, above{}, dp::exchange(v, edge::periodic)), ContainsSubstring("different extents"));
  w = v.clone();
  dp::stencil(w, above{}, dp::exchange(v, edge::periodic));
  CHECK(is_above(w, v));
}

TEST_CASE("an exception while an exchange is on its way leaves the field usable", "[field]") {
  using Catch::Matchers::ContainsSubstring;
  plate u(dp::extents{6, 5}), v(u.extents()), other(dp::extents{6, 4});
  dp::parallel_for(numbered{}, u);
  CHECK_THROWS_WITH(dp::stencil(other, above{}, dp::exchange_async(u, edge::periodic)),
                    ContainsSubstring("different extents"));
  CHECK_THROWS_WITH(dp::stencil(u, above{}, dp::exchange_async(u, edge::periodic)),
                    ContainsSubstring("a field is written while its neighbours are read"));
  dp::stencil(v, above{}, dp::exchange_async(u, edge::periodic));
  CHECK(is_above(v, u));
  for (const int processes : {1, 3})
    CHECK_NOTHROW(in_processes(processes, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      dp::field<double, dp::dextents<2>, dp::across<dp::sharded_on<axis<0>, dp::cpu>>, dp::halo<1, 1>> x(
          dp::extents{7, 5}),
          y(x.extents());
      dp::parallel_for(numbered{}, x);
      bool thrown = DEVPLACE_CHECK_BOUNDS == 0;
      try {
        if (!thrown) dp::stencil(y, left{2}, dp::exchange_async(x, edge::periodic));
      } catch (const dp::argument_error&) {
        thrown = true;
      }
      require(thrown, "no exception");
      dp::stencil(y, above{}, dp::exchange_async(x, edge::periodic));
      const auto from = dp::gather<dp::cpu>(x), to = dp::gather<dp::cpu>(y);
      for (std::size_t i = 0; i != 7; ++i)
        for (std::size_t j = 0; j != 5; ++j) require(to(i, j) == from((i + 6) % 7, j), "a cell");
    }));
}

TEST_CASE("views of parts are written and exchanged", "[field]") {
  plate u(dp::extents{6, 5}), v(u.extents());
  const plate& constant = u;
  u.local(0) = 3;
  u.local<dp::cuda<1>>() = 5;
  dp::stencil(v, above{}, dp::exchange(u, edge::fixed(7)));
  const auto whole = dp::gather<dp::cpu>(v);
  for (std::size_t j = 0; j != 5; ++j) {
    CHECK(whole(0, j) == 7);
    CHECK(whole(3, j) == 3);
    CHECK(whole(5, j) == 5);
  }
  CHECK(dp::parallel_reduce(value{}, constant) == 15 * 3 + 15 * 5);
  const auto rows = dp::exchange(u, edge::periodic);
  CHECK(dp::parallel_reduce<reduction::max>(above{}, rows) == 5);
  u.local(0) = 9;
  CHECK_THROWS_AS(dp::parallel_reduce(above{}, rows), dp::argument_error);
  CHECK_THROWS_AS(dp::exact_sum(above{}, rows), dp::argument_error);
}

TEST_CASE("two fields are exchanged while the interior is computed", "[field]") {
  plate u(dp::extents{6, 5}), v(u.extents()), w(u.extents());
  dp::parallel_for(numbered{}, u);
  dp::stencil(v, above{}, dp::exchange(u, edge::periodic));
  dp::stencil(w, difference{}, dp::exchange_async(u, edge::periodic), dp::exchange_async(v, edge::mirrored));
  const auto a = dp::gather<dp::cpu>(u), b = dp::gather<dp::cpu>(v), c = dp::gather<dp::cpu>(w);
  for (std::size_t i = 0; i != 6; ++i)
    for (std::size_t j = 0; j != 5; ++j) CHECK(c(i, j) == a((i + 5) % 6, j) - b(i, j == 4 ? 4 : j + 1));
}
