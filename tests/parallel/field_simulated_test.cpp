// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <devplace/all.hpp>  // before fields.hpp, whose names it must not hide
#include <devplace/fields.hpp>

#include "parallel/field_oracle.hpp"
#include "support/catch.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using dp::axis;
namespace edge = dp::edge;
using dp::test::in_processes;
using dp::test::whole_field;

namespace {

/// A value that differs from cell to cell; sums of products of some of them are exact in every type.
struct mixed_values {
  template <class T, class... Index>
    requires(sizeof...(Index) != 0)
  DEVPLACE_HD void operator()(T& x, Index... index) const {
    std::size_t hash = 5;
    ((hash = (hash * 31 + index) % 1009), ...);
    x = static_cast<T>(hash % 23) - 11;
  }
};

// Stencils that read every kind of neighbour, corners included. Values are kept small, so that doubles are exact.
struct in_a_row {
  DEVPLACE_HD auto operator()(const auto& u) const { return u(-2) - 2 * u(-1) + 3 * u(0) + u(2); }
};
struct nine_points {
  DEVPLACE_HD auto operator()(const auto& u) const {
    return u(0, 0) * 2 - u(-1, 0) + 3 * u(1, 0) + u(0, -1) - 2 * u(0, 1) + u(-1, -1) + 2 * u(-1, 1) - u(1, -1) +
           5 * u(1, 1);
  }
};
struct add_nine_points {
  DEVPLACE_HD void operator()(double& to, const auto& u) const { to += nine_points{}(u); }
};
struct wide {
  DEVPLACE_HD auto operator()(const auto& u) const { return u(-2, 0) + 2 * u(2, -1) - u(1, 1) + 3 * u(0, 0); }
};
struct in_space {
  DEVPLACE_HD auto operator()(const auto& u) const {
    return u(0, 0, 0) + 2 * u(-1, 0, 0) - u(1, 0, 0) + 3 * u(0, -1, 0) - u(0, 1, 0) + 2 * u(0, 0, -1) - u(0, 0, 1) +
           u(-1, 1, -1) - 2 * u(1, 1, 1);
  }
};

/// Steps of a stencil by plain loops.
template <class T, std::size_t Rank, class F>
whole_field<T, Rank> expected(const std::array<std::size_t, Rank>& size, const F& f,
                              const std::array<edge::rule, Rank>& edges, int steps) {
  whole_field<T, Rank> u(size), v(size);
  u.for_cells([&](const auto& index) { std::apply([&](auto... i) { mixed_values{}(u.at(index), i...); }, index); });
  for (int step = 0; step != steps; ++step) {
    u.for_cells([&](const auto& index) { v.at(index) = f(dp::test::oracle_cell<T, Rank>{u, edges, index}); });
    std::swap(u, v);
  }
  return u;
}

/// Takes the steps of the oracle with fields on `Where`, with and without overlap, and gathers the cells.
template <class T, class Where, class Halo, std::size_t Rank, class F>
void step_fields(whole_field<T, Rank>& result, const F& f, const std::array<edge::rule, Rank>& edges, int steps) {
  const auto sizes = std::apply([](auto... n) { return dp::dextents<Rank>(n...); }, result.size);
  dp::field<T, dp::dextents<Rank>, Where, Halo> u(sizes), v(sizes);
  dp::parallel_for(mixed_values{}, u);
  for (int step = 0; step != steps; ++step) {
    std::apply(
        [&](const auto&... rule) {
          if (step % 2 == 0)
            dp::stencil(v, f, dp::exchange(u, rule...));
          else
            dp::stencil(v, f, dp::exchange_async(u, rule...));
        },
        edges);
    std::swap(u, v);
  }
  dp::test::store_parts(u, result);
}

template <class Where, class Halo, class T, std::size_t Rank, class F>
void check(const std::array<std::size_t, Rank>& size, const F& f, const std::array<edge::rule, Rank>& edges) {
  constexpr int steps = 4;
  const auto wanted = expected<T, Rank>(size, f, edges, steps);
  whole_field<T, Rank> found(size);
  step_fields<T, Where, Halo>(found, f, edges, steps);
  CHECK(found.cells == wanted.cells);
}

template <class Halo, std::size_t Rank, class F>
void check_processes(int processes, const std::array<std::size_t, Rank>& size, const F& f,
                     const std::array<edge::rule, Rank>& edges, std::size_t portion) {
  const auto wanted = expected<double, Rank>(size, f, edges, 4);
  whole_field<double, Rank> on_cpu(size), on_devices(size), columns(size);
  in_processes(
      processes,
      [&](const dp::process_group& group) {
        const dp::process_scope scope{group};
        step_fields<double, dp::across<dp::sharded_on<axis<0>, dp::cpu>>, Halo>(on_cpu, f, edges, 4);
        step_fields<double, dp::across<dp::sharded<axis<0>, 0, 1>>, Halo>(on_devices, f, edges, 4);
        step_fields<double, dp::across<dp::sharded_on<axis<Rank - 1>, dp::cpu>>, Halo>(columns, f, edges, 4);
      },
      portion);
  CHECK(on_cpu.cells == wanted.cells);
  CHECK(on_devices.cells == wanted.cells);
  CHECK(columns.cells == wanted.cells);
}

template <class Where> void check_grid(int processes, const std::array<edge::rule, 2>& edges, std::size_t portion) {
  const auto wanted = expected<double, 2>({13, 8}, nine_points{}, edges, 4);
  whole_field<double, 2> found({13, 8});
  in_processes(
      processes,
      [&](const dp::process_group& group) {
        const dp::process_scope scope{group};
        step_fields<double, Where, dp::halo<1, 1>>(found, nine_points{}, edges, 4);
      },
      portion);
  CHECK(found.cells == wanted.cells);
}

constexpr auto periodic = edge::periodic, mirrored = edge::mirrored, fixed = edge::fixed(3),
               sloped = edge::fixed(-1, 4);

}  // namespace

TEST_CASE("a stencil on any number of places has the cells of plain loops", "[field]") {
  using sizes = std::array<std::size_t, 2>;
  using rules = std::array<edge::rule, 2>;
  using halo = dp::halo<1, 1>;
  for (const rules& edges : {rules{periodic, periodic}, rules{fixed, fixed}, rules{mirrored, mirrored},
                             rules{periodic, sloped}, rules{sloped, mirrored}, rules{mirrored, periodic}})
    for (const sizes& size : {sizes{3, 3}, sizes{13, 40}, sizes{8, 71}, sizes{4, 3}}) {
      check<dp::cpu, halo, double>(size, nine_points{}, edges);
      check<dp::cuda<1>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<axis<0>, 0, 1>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<axis<0>, 2, 0, 1>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<axis<1>, 0, 1, 2>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<dp::grid<2, 2>, 0, 1, 2, 3>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<dp::grid<1, 3>, 2, 0, 1>, halo, double>(size, nine_points{}, edges);
      check<dp::sharded<dp::grid<3>, 0, 1, 2>, halo, double>(size, nine_points{}, edges);
    }
}

TEST_CASE("halos of several rows, and of some axes", "[field]") {
  using rules = std::array<edge::rule, 2>;
  for (const rules& edges : {rules{periodic, sloped}, rules{fixed, periodic}, rules{mirrored, mirrored}}) {
    check<dp::cpu, dp::halo<2, 1>, double, 2>({17, 11}, wide{}, edges);
    check<dp::sharded<axis<0>, 0, 1, 2, 3>, dp::halo<2, 1>, double, 2>({17, 11}, wide{}, edges);
    check<dp::sharded<axis<1>, 0, 1, 2, 3>, dp::halo<2, 2>, double, 2>({17, 11}, wide{}, edges);
  }
  check<dp::cpu, dp::halo<2>, double, 1>({9}, in_a_row{}, {periodic});
  check<dp::sharded<axis<0>, 0, 1, 2, 3>, dp::halo<2>, double, 1>({9}, in_a_row{}, {mirrored});
  check<dp::sharded<axis<0>, 0, 1>, dp::halo<2>, std::int64_t, 1>({100}, in_a_row{}, {fixed});
}

TEST_CASE("stencils in three dimensions, and other element types", "[field]") {
  using rules = std::array<edge::rule, 3>;
  using halo = dp::halo<1, 1, 1>;
  for (const rules& edges : {rules{periodic, sloped, mirrored}, rules{fixed, periodic, periodic}}) {
    check<dp::cpu, halo, double, 3>({5, 6, 37}, in_space{}, edges);
    check<dp::sharded<axis<0>, 0, 1>, halo, float, 3>({5, 6, 37}, in_space{}, edges);
    check<dp::sharded<axis<1>, 0, 1, 2>, halo, std::int32_t, 3>({5, 6, 7}, in_space{}, edges);
    check<dp::sharded<axis<2>, 0, 1, 2>, halo, double, 3>({5, 6, 7}, in_space{}, edges);
    check<dp::sharded<dp::grid<1, 2, 2>, 0, 1, 2, 3>, halo, double, 3>({5, 6, 7}, in_space{}, edges);
    check<dp::sharded<dp::grid<2, 1, 2>, 0, 1, 2, 3>, halo, double, 3>({5, 6, 7}, in_space{}, edges);
  }
}

TEST_CASE("fields over processes have the cells of plain loops", "[field]") {
  using rules = std::array<edge::rule, 2>;
  for (const int processes : {1, 2, 3})
    for (const rules& edges : {rules{periodic, sloped}, rules{sloped, periodic}, rules{mirrored, mirrored}}) {
      check_processes<dp::halo<1, 1>, 2>(processes, {13, 8}, nine_points{}, edges, std::size_t{1} << 20);
      check_processes<dp::halo<2, 1>, 2>(processes, {13, 7}, wide{}, edges, 256);  // layers in several pieces
    }
}

TEST_CASE("fields over grids of processes have the cells of plain loops", "[field]") {
  using rules = std::array<edge::rule, 2>;
  for (const rules& edges : {rules{periodic, periodic}, rules{sloped, periodic}, rules{mirrored, fixed}})
    for (const std::size_t portion : {std::size_t{1} << 20, std::size_t{256}}) {
      check_grid<dp::across<dp::sharded_on<dp::grid<dp::dyn, 2>, dp::cpu>>>(4, edges, portion);
      check_grid<dp::across<dp::sharded_on<dp::grid<2, dp::dyn>, dp::cpu>>>(2, edges, portion);
      check_grid<dp::across<dp::sharded_on<dp::grid<2, 3>, dp::cpu>>>(6, edges, portion);
      check_grid<dp::across<dp::sharded<dp::grid<dp::dyn, 2>, 0, 1>>>(3, edges, portion);
      check_grid<dp::across<dp::sharded<dp::grid<2, dp::dyn>, 0, 1>>>(3, edges, portion);  // rows of 3, places of 2
    }
  CHECK_NOTHROW(in_processes(3, [](const dp::process_group& group) {
    const dp::process_scope scope{group};
    using grid = dp::across<dp::sharded_on<dp::grid<dp::dyn, 2>, dp::cpu>>;
    try {
      dp::field<float, dp::dextents<2>, grid> x(dp::extents{4, 4});
    } catch (const dp::argument_error& refused) {
      const std::string text = refused.what();
      if (text ==
          "devplace: field: across<sharded<grid<dyn, 2>, cpu>> needs a multiple of 2 participants, and there are 3.")
        return;
      throw dp::error(text);
    }
    throw dp::error("not refused");
  }));
}

namespace {

using plate = dp::field<double, dp::dextents<2>, dp::sharded<axis<0>, 0, 1>, dp::halo<1, 1>>;

struct above {
  DEVPLACE_HD double operator()(const auto& u) const { return u(-1, 0); }
};
/// A neighbour at a distance that clang does not know.
struct at_distance {
  int rows, columns;
  DEVPLACE_HD double operator()(const auto& u) const { return u(rows, columns); }
};
struct with_value {
  DEVPLACE_HD double operator()(const auto& u, double x) const { return u(0, 1) + 10 * x; }
};
struct add_one {
  DEVPLACE_HD void operator()(double& x) const { x += 1; }
};
struct add {
  DEVPLACE_HD void operator()(double& x, double y) const { x += y; }
};

}  // namespace

TEST_CASE("ghost rows are stale after a write", "[field]") {
  using Catch::Matchers::ContainsSubstring;
  plate u(dp::extents{6, 5}), v(u.extents());
  const auto stale = ContainsSubstring("the ghost rows are stale");
  auto rows = dp::exchange(u, edge::periodic);
  CHECK_NOTHROW(dp::stencil(v, above{}, rows));
  CHECK_NOTHROW(dp::stencil(v, above{}, rows));  // v is written, not u

  dp::parallel_for(add_one{}, u);
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);
  rows = dp::exchange(u, edge::periodic);
  dp::parallel_for(add{}, v, std::as_const(u));
  CHECK_NOTHROW(dp::stencil(v, above{}, rows));  // u was only read
  static_cast<void>(std::as_const(u).local(0));
  CHECK_NOTHROW(dp::stencil(v, above{}, rows));
  u.local(1) = 2;
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);
  rows = dp::exchange(u, edge::periodic);
  static_cast<void>(u.local<dp::cuda<0>>());
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);

  rows = dp::exchange(u, edge::periodic);
  dp::stencil(u, above{}, dp::exchange(v, edge::periodic));
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);
  rows = dp::exchange(u, edge::periodic);
  std::swap(u, v);
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);
  rows = dp::exchange(u, edge::periodic);
  static_cast<void>(dp::exchange(u, edge::fixed(0)));
  CHECK_THROWS_WITH(dp::stencil(v, above{}, rows), stale);
  CHECK_THROWS_WITH(rows.current(), stale);
}

TEST_CASE("fields that do not fit are named", "[field]") {
  using Catch::Matchers::ContainsSubstring;
  plate u(dp::extents{6, 5}), v(u.extents()), other(dp::extents{6, 6});
  CHECK_THROWS_WITH(dp::stencil(u, above{}, dp::exchange(u, edge::periodic)),
                    ContainsSubstring("a field is written while its neighbours are read"));
  CHECK_THROWS_WITH(dp::stencil(other, above{}, dp::exchange(u, edge::periodic)),
                    ContainsSubstring("different extents"));
  CHECK_THROWS_WITH(dp::parallel_for(add{}, u, std::as_const(other)), ContainsSubstring("different extents"));
  using wide_plate = dp::field<float, dp::dextents<2>, dp::sharded<axis<0>, 0, 1, 2>, dp::halo<2>>;
  CHECK_THROWS_WITH(
      wide_plate(dp::extents{5, 5}),
      "devplace: field: axis 0 has 5 indices in 3 parts, and its halo is 2 wide; each part needs at least that many "
      "indices: use fewer places, a larger field or a narrower halo.");
  CHECK_NOTHROW(wide_plate(dp::extents{6, 1}));
  if (DEVPLACE_CHECK_BOUNDS) {
    dp::field<double, dp::dextents<2>, dp::cpu, dp::halo<1>> a(dp::extents{4, 4}), b(a.extents());
    CHECK_THROWS_WITH(
        dp::stencil(b, at_distance{-2, 0}, dp::exchange(a, edge::periodic)),
        "devplace: stencil: the relative index -2 along axis 0 is beyond the field's halo, which is 1 wide there; give "
        "the field a wider halo.");
    CHECK_THROWS_WITH(dp::stencil(b, at_distance{0, 1}, dp::exchange(a, edge::periodic)),
                      ContainsSubstring("index 1 along axis 1"));
  }
}

TEST_CASE("a stencil takes several fields, and values of fields that are not exchanged", "[field]") {
  plate u(dp::extents{6, 5}), v(u.extents());
  dp::parallel_for(mixed_values{}, u);
  const plate before = u.clone();
  v = u.clone();
  dp::stencil(v, with_value{}, dp::exchange(u, edge::periodic), v);  // each cell reads its own old value
  whole_field<double, 2> old({6, 5}), result({6, 5});
  dp::test::store_parts(before, old);
  dp::test::store_parts(v, result);
  old.for_cells([&](const std::array<std::size_t, 2>& i) {
    CHECK(result.at(i) == old.at({i[0], (i[1] + 1) % 5}) + 10 * old.at(i));
  });
}

TEST_CASE("loops and reductions of a field whose exchange is on its way wait for the ghost rows", "[field]") {
  // The ghost rows of axis 1 are filled after those of axis 0 have arrived.
  dp::field<double, dp::dextents<2>, dp::sharded<axis<0>, 0, 1>, dp::halo<1, 1>> u(dp::extents{6, 5}), v(u.extents());
  dp::parallel_for(mixed_values{}, u);
  const auto check = [&](const auto& result_of) {
    const double wanted = result_of(dp::exchange(u, edge::fixed(7)));
    static_cast<void>(dp::exchange(u, edge::fixed(0)));
    CHECK(result_of(dp::exchange_async(u, edge::fixed(7))) == wanted);
  };
  check([](const auto& rows) { return dp::parallel_reduce(nine_points{}, rows); });
  check([](const auto& rows) { return dp::exact_sum(nine_points{}, rows); });
  check([&](const auto& rows) {
    v = decltype(v)(u.extents());
    dp::parallel_for(add_nine_points{}, v, rows);
    return dp::parallel_reduce(nine_points{}, dp::exchange(v, edge::periodic));
  });
}

TEST_CASE("an exchange that nobody waited for ends with its object", "[field]") {
  plate u(dp::extents{6, 5}), v(u.extents());
  dp::parallel_for(mixed_values{}, u);
  static_cast<void>(dp::exchange_async(u, edge::periodic));
  auto pending = dp::exchange_async(u, edge::periodic);
  const auto rows = pending.get();
  dp::stencil(v, above{}, rows);
  dp::stencil(v, above{}, pending);
  whole_field<double, 2> old({6, 5}), result({6, 5});
  dp::test::store_parts(u, old);
  dp::test::store_parts(v, result);
  old.for_cells([&](const std::array<std::size_t, 2>& i) { CHECK(result.at(i) == old.at({(i[0] + 5) % 6, i[1]})); });
}
