// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <devplace/fields.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/tensor/item.hpp>

#include "parallel/field_oracle.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using dp::axis;
using dp::reduction;
using dp::test::in_processes;
namespace edge = dp::edge;

namespace {

/// Numbers of very different magnitudes and signs, whose sum depends on the order.
struct spread_out {
  template <class T> DEVPLACE_HD void operator()(T& x, std::size_t i, std::size_t j) const {
    const std::size_t hash = (i * 7919 + j * 104729 + 13) % 1000003;
    x = static_cast<T>((static_cast<double>(hash) - 500000.5) / (hash % 17 == 0 ? 1e-9 : hash % 5 == 0 ? 1e7 : 3.0));
  }
};
struct whole_numbers {
  template <class T> DEVPLACE_HD void operator()(T& x, std::size_t i, std::size_t j) const {
    x = static_cast<T>((i * 37 + j * 101) % 211) - 97;
  }
};
struct value {
  template <class T> DEVPLACE_HD T operator()(T x) const { return x; }
};
struct product {
  template <class T> DEVPLACE_HD T operator()(T x, T y) const { return x * y; }
};
struct column_times {
  template <class T> DEVPLACE_HD T operator()(T x, std::size_t i, std::size_t j) const {
    return x * static_cast<T>(j + 10 * i);
  }
};
struct slope {
  DEVPLACE_HD double operator()(const auto& u) const { return (u(1, 0) - u(-1, 0)) * (u(0, 1) - u(0, -1)); }
};

/// Calls f(placement) for placements of this process.
template <class F> void on_places(const F& f) {
  f(dp::on<dp::cpu>{});
  f(dp::on<dp::cuda<0>>{});
  f(dp::sharded<axis<0>, 0, 1>{});
  f(dp::sharded<axis<0>, 2, 0, 1>{});
  f(dp::sharded<axis<1>, 0, 1, 2, 3>{});
  f(dp::sharded<dp::grid<2, 2>, 0, 1, 2, 3>{});
}

template <class T, class Where> using grid = dp::field<T, dp::dextents<2>, Where, dp::halo<1, 1>>;

template <class T, class Where> struct results {
  T sum, squares, weighted, largest, smallest;
  explicit results(const dp::dextents<2>& sizes) {
    grid<T, Where> u(sizes), v(sizes);
    dp::parallel_for(whole_numbers{}, u);
    dp::parallel_for(whole_numbers{}, v);
    sum = dp::parallel_reduce(value{}, u);
    squares = dp::parallel_reduce(product{}, u, v);
    weighted = dp::parallel_reduce(column_times{}, u);
    largest = dp::parallel_reduce<reduction::max>(column_times{}, u);
    smallest = dp::parallel_reduce<reduction::min>(value{}, u);
  }
};

template <class T, class Where> void check_whole_numbers(Where, std::size_t rows, std::size_t columns) {
  std::int64_t sum = 0, squares = 0, weighted = 0, largest = std::numeric_limits<std::int64_t>::min(), smallest = 1000;
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) {
      const std::int64_t x = static_cast<std::int64_t>((i * 37 + j * 101) % 211) - 97;
      const std::int64_t w = x * static_cast<std::int64_t>(j + 10 * i);
      sum += x;
      squares += x * x;
      weighted += w;
      largest = std::max(largest, w);
      smallest = std::min(smallest, x);
    }
  const results<T, Where> of(dp::extents{rows, columns});
  CHECK(of.sum == static_cast<T>(sum));
  CHECK(of.squares == static_cast<T>(squares));
  CHECK(of.weighted == static_cast<T>(weighted));
  CHECK(of.largest == static_cast<T>(largest));
  CHECK(of.smallest == static_cast<T>(smallest));
}

template <class T, class Where> double exact(std::size_t rows, std::size_t columns) {
  grid<T, Where> u(dp::extents{rows, columns});
  dp::parallel_for(spread_out{}, u);
  return dp::exact_sum(value{}, u);
}

/// The sum in long double, each bit of which counts for numbers of spread_out().
template <class T> long double accurate(std::size_t rows, std::size_t columns) {
  long double sum = 0, lost = 0;
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) {
      T x = 0;
      spread_out{}(x, i, j);
      const long double next = sum + x, back = next - sum;
      lost += (sum - (next - back)) + (x - back);
      sum = next;
    }
  return sum + lost;
}

struct whole_in_three {
  template <class T> DEVPLACE_HD void operator()(T& x, std::size_t i, std::size_t j, std::size_t k) const {
    x = static_cast<T>((i * 37 + j * 101 + k * 59) % 211) - 97;
  }
};
struct upwards {
  template <class Cell> DEVPLACE_HD auto operator()(const Cell& u, auto v) const {
    return (u(1, 0, 0) - 3 * u(-1, 0, 0)) * v;
  }
};
struct tenth {
  DEVPLACE_HD double operator()(double x) const { return x / 10; }
};
struct third_index {
  template <class T> DEVPLACE_HD T operator()(T x, std::size_t i, std::size_t, std::size_t k) const {
    return x * static_cast<T>(1 + 7 * i + k);
  }
};

/// Compares with plain loops over integers. Lines along the last axes are joined where neither halo is between them.
template <class T, class Halo, class Other, class Where>
void check_joined_lines(Where, const std::array<std::size_t, 3>& size) {
  const dp::extents sizes{size[0], size[1], size[2]};
  dp::field<T, dp::dextents<3>, Where, Halo> u(sizes);
  dp::field<T, dp::dextents<3>, Where, Other> v(sizes);
  dp::parallel_for(whole_in_three{}, u);
  dp::parallel_for(whole_in_three{}, v);
  std::int64_t squares = 0, largest = 0, up = 0, highest = std::numeric_limits<std::int64_t>::min(), indexed = 0,
               weighted = 0;
  const auto at = [](std::size_t i, std::size_t j, std::size_t k) {
    std::int64_t x = 0;
    whole_in_three{}(x, i, j, k);
    return x;
  };
  for (std::size_t i = 0; i != size[0]; ++i)
    for (std::size_t j = 0; j != size[1]; ++j)
      for (std::size_t k = 0; k != size[2]; ++k) {
        const std::int64_t x = at(i, j, k);
        const std::int64_t w = (at((i + 1) % size[0], j, k) - 3 * at((i + size[0] - 1) % size[0], j, k)) * x;
        squares += x * x;
        largest = std::max(largest, x * x);
        up += w;
        highest = std::max(highest, w);
        indexed += x * static_cast<std::int64_t>(1 + 7 * i + k);
        weighted += w * static_cast<std::int64_t>(1 + 7 * i + k);
      }
  const auto exchanged = dp::exchange(u, edge::periodic);
  CHECK(dp::parallel_reduce(product{}, std::as_const(u), std::as_const(v)) == static_cast<T>(squares));
  CHECK(dp::exact_sum(product{}, std::as_const(u), std::as_const(v)) == static_cast<double>(squares));
  CHECK(dp::parallel_reduce<reduction::max>(product{}, std::as_const(v), std::as_const(u)) == static_cast<T>(largest));
  CHECK(dp::parallel_reduce(upwards{}, exchanged, std::as_const(v)) == static_cast<T>(up));
  CHECK(dp::exact_sum(upwards{}, exchanged, std::as_const(v)) == static_cast<double>(up));
  CHECK(dp::parallel_reduce<reduction::max>(upwards{}, exchanged, std::as_const(v)) == static_cast<T>(highest));
  CHECK(dp::parallel_reduce(third_index{}, std::as_const(u)) == static_cast<T>(indexed));
  CHECK(dp::exact_sum(third_index{}, std::as_const(u)) == static_cast<double>(indexed));
  decltype(v) w(sizes), overlapped(sizes);
  dp::stencil(w, upwards{}, exchanged, std::as_const(v));
  CHECK(dp::exact_sum(third_index{}, std::as_const(w)) == static_cast<double>(weighted));
  dp::stencil(overlapped, upwards{}, dp::exchange_async(u, edge::periodic), std::as_const(v));
  CHECK(dp::exact_sum(third_index{}, std::as_const(overlapped)) == static_cast<double>(weighted));
}

}  // namespace

TEST_CASE("lines that follow each other in memory are computed and reduced as one", "[field]") {
  constexpr std::array<std::array<std::size_t, 3>, 4> sizes{{{6, 4, 3}, {67, 4, 8}, {7, 5, 1}, {6, 6, 1200}}};
  on_places([&](auto where) {
    for (const auto& size : sizes) check_joined_lines<double, dp::halo<1>, dp::halo<>>(where, size);
  });
  // The widths of the halos decide which lines are joined; a placement only changes the sizes of parts.
  const auto with_other_halos = [&](auto where) {
    for (const auto& size : sizes) {
      check_joined_lines<std::int64_t, dp::halo<1>, dp::halo<1>>(where, size);
      check_joined_lines<double, dp::halo<2, 1>, dp::halo<>>(where, size);
      check_joined_lines<double, dp::halo<1>, dp::halo<0, 0, 1>>(where, size);
      check_joined_lines<std::int64_t, dp::halo<1>, dp::halo<0, 1>>(where, size);
    }
  };
  with_other_halos(dp::on<dp::cpu>{});
  with_other_halos(dp::sharded<dp::grid<2, 2>, 0, 1, 2, 3>{});
}

TEST_CASE("a sum has the bits of the lines' sums, also where lines follow each other in memory", "[field]") {
  const auto check = []<class Halo>(Halo, std::size_t columns) {
    dp::field<double, dp::dextents<3>, dp::cpu, Halo> u(dp::extents{std::size_t{67}, std::size_t{40}, columns});
    dp::parallel_for(whole_in_three{}, u);
    dp::tensor<double, dp::extents<67, 40>, dp::cpu> lines;
    for (std::size_t i = 0; i != 67; ++i)
      for (std::size_t j = 0; j != 40; ++j) {
        double sum = 0, x = 0;
        for (std::size_t k = 0; k != columns; ++k) {
          whole_in_three{}(x, i, j, k);
          sum += tenth{}(x);
        }
        lines(i, j) = sum;
      }
    CHECK(dp::parallel_reduce(tenth{}, u) == dp::item(dp::sum(lines)));
  };
  for (const std::size_t columns : {1u, 3u, 15u}) {
    check(dp::halo<1, 1>{}, columns);
    check(dp::halo<1, 1, 1>{}, columns);
  }
}

TEST_CASE("reductions of whole numbers are exact on any places", "[field]") {
  on_places([](auto where) {
    check_whole_numbers<double>(where, 5, 7);
    check_whole_numbers<std::int64_t>(where, 30, 61);
  });
  // What a type is accumulated in does not depend on the placement.
  check_whole_numbers<float>(dp::sharded<axis<0>, 2, 0, 1>{}, 9, 40);
  check_whole_numbers<std::int32_t>(dp::on<dp::cuda<0>>{}, 4, 4);
}

TEST_CASE("a maximum or minimum of zeros of both signs is positive on any places", "[field]") {
  dp::tensor<double, dp::dextents<2>, dp::cpu> cells(dp::dextents<2>(11, 14));
  for (const double others : {0.0, 1.0, -1.0}) {
    for (std::size_t i = 0; i != cells.size(); ++i)
      cells.data()[i] = i * i % 7 == 2 ? 0.0 : i * i % 7 == 4 ? -0.0 : others;
    on_places([&](auto where) {
      dp::field<double, dp::dextents<2>, decltype(where)> u(cells.extents());
      dp::copy(u, cells);
      const double largest = dp::parallel_reduce<reduction::max>(value{}, u);
      const double smallest = dp::parallel_reduce<reduction::min>(value{}, u);
      CHECK(largest == std::max(others, 0.0));
      CHECK(smallest == std::min(others, 0.0));
      CHECK_FALSE((std::signbit(largest) || (std::signbit(smallest) && others >= 0)));
    });
  }
}

TEST_CASE("exact sums have the same bits on any places", "[field]") {
  for (const auto& [rows, columns] : {std::array<std::size_t, 2>{4, 4}, {9, 40}, {61, 1200}}) {
    const double doubles = exact<double, dp::cpu>(rows, columns), floats = exact<float, dp::cpu>(rows, columns);
    CHECK(doubles == static_cast<double>(accurate<double>(rows, columns)));
    CHECK(floats == static_cast<double>(accurate<float>(rows, columns)));
    on_places([&, rows = rows, columns = columns](auto where) {
      CHECK(exact<double, decltype(where)>(rows, columns) == doubles);
      CHECK(exact<float, decltype(where)>(rows, columns) == floats);
    });
    for (const int processes : {2, 3})
      CHECK_NOTHROW(in_processes(processes, [&, rows = rows, columns = columns](const dp::process_group& group) {
        const dp::process_scope scope{group};
        using on_cpu = dp::across<dp::sharded_on<axis<0>, dp::cpu>>;
        using on_devices = dp::across<dp::sharded<axis<1>, 0>>;
        if (exact<double, on_cpu>(rows, columns) != doubles) throw dp::error("other bits on the CPU");
        if (exact<double, on_devices>(rows, columns) != doubles) throw dp::error("other bits on devices");
        using on_grid = dp::across<dp::sharded<dp::grid<2, dp::dyn>, 0, 1>>;
        if (exact<double, on_grid>(rows, columns) != doubles) throw dp::error("other bits on a grid");
      }));
  }
}

TEST_CASE("exact sums of extreme and missing values", "[field]") {
  const auto sum_of = [](double a, double b) {
    dp::field<double, dp::dextents<1>, dp::sharded<axis<0>, 0, 1>> u(dp::extents{4});
    u.local(0) = a;
    u.local(1) = b;
    return dp::exact_sum(value{}, u);
  };
  constexpr double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  CHECK(sum_of(0, 0) == 0);
  CHECK(sum_of(most, -most) == 0);
  CHECK(sum_of(most / 4, 0) == most / 2);
  CHECK(sum_of(least, 2 * least) == 6 * least);
  CHECK(sum_of(1, 1e-20) == 2);
  CHECK(sum_of(-0.75, 0.25) == -1);
  CHECK(sum_of(1, -1 + 0x1p-53) == 0x1p-52);
  CHECK(sum_of(-1, 1 - 0x1p-53) == -0x1p-52);
  CHECK(std::isnan(sum_of(1, std::numeric_limits<double>::quiet_NaN())));
  CHECK(sum_of(1, std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
}

TEST_CASE("exact sums count every bit of small numbers beside large ones", "[field]") {
  dp::tensor<double, dp::extents<3>, dp::cpu> cells{1.0, -1.0, 0.0};
  dp::field<double, dp::extents<3>, dp::sharded<axis<0>, 0, 1>> u({});
  const auto sum_beside_one = [&](double small) {
    cells(2) = small;
    dp::copy(u, cells);
    return dp::exact_sum(value{}, u);
  };
  for (const double sign : {1.0, -1.0}) {
    for (const int exponent : {-1, -22, -23, -24, -34, -35})  // the last bit is 2^-87 or more
      CHECK(sum_beside_one(std::ldexp(sign + sign * 0x1p-52, exponent)) == std::ldexp(sign + sign * 0x1p-52, exponent));
    CHECK(std::abs(sum_beside_one(sign * 1e-30)) < 0x1p-86);
  }
}

TEST_CASE("fields without cells", "[field]") {
  on_places([](auto where) {
    dp::field<double, dp::dextents<2>, decltype(where)> u(dp::extents{4, 0}), v(u.extents());
    dp::parallel_for(whole_numbers{}, u);
    CHECK(dp::parallel_reduce(product{}, u, v) == 0);
    CHECK(dp::exact_sum(value{}, u) == 0);
    CHECK(dp::gather<dp::cpu>(u).size() == 0);
  });
}

TEST_CASE("reductions of exchanged fields, means, and fields over processes", "[field]") {
  double expected = 0;
  {
    grid<double, dp::cpu> u(dp::extents{9, 11});
    dp::parallel_for(whole_numbers{}, u);
    expected = dp::parallel_reduce(slope{}, dp::exchange(u, edge::periodic));
    dp::test::whole_field<double, 2> whole({9, 11});
    dp::test::store_parts(u, whole);
    const std::array<edge::rule, 2> edges{edge::periodic, edge::periodic};
    double sum = 0;
    whole.for_cells([&](const auto& i) { sum += slope{}(dp::test::oracle_cell<double, 2>{whole, edges, i}); });
    CHECK(expected == sum);
    CHECK(dp::parallel_reduce<reduction::mean>(value{}, u) == Catch::Approx(dp::parallel_reduce(value{}, u) / 99));
  }
  CHECK_NOTHROW(in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    grid<double, dp::across<dp::sharded<axis<0>, 0, 1>>> u(dp::extents{9, 11});
    dp::parallel_for(whole_numbers{}, u);
    if (dp::parallel_reduce(slope{}, dp::exchange(u, edge::periodic)) != expected) throw dp::error("another sum");
    const results<std::int64_t, dp::across<dp::sharded_on<axis<0>, dp::cpu>>> found(dp::extents{7, 5});
    const results<std::int64_t, dp::cpu> wanted(dp::extents{7, 5});
    if (found.sum != wanted.sum || found.largest != wanted.largest || found.smallest != wanted.smallest)
      throw dp::error("other results");
  }));
}

TEST_CASE("files of fields are read by any number of places", "[field]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("field.npy");
  std::vector<double> wanted(9 * 6);
  for (std::size_t i = 0; i != 9; ++i)
    for (std::size_t j = 0; j != 6; ++j) whole_numbers{}(wanted[i * 6 + j], i, j);
  const auto check_file = [&] {
    const auto whole = dp::read_npy<double, dp::dextents<2>>(path);
    CHECK(std::vector<double>(whole.begin(), whole.end()) == wanted);
    on_places([&](auto where) {
      grid<double, decltype(where)> u(dp::extents{9, 6});
      dp::read_npy(path, u);
      const auto back = dp::gather<dp::cpu>(u);
      CHECK(std::vector<double>(back.begin(), back.end()) == wanted);
    });
  };
  on_places([&](auto where) {
    grid<double, decltype(where)> u(dp::extents{9, 6});
    dp::parallel_for(whole_numbers{}, u);
    dp::write_npy(path, u);
    check_file();
  });
  CHECK_NOTHROW(in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    grid<double, dp::across<dp::sharded_on<axis<1>, dp::cpu>>> u(dp::extents{9, 6}), v(u.extents());
    dp::parallel_for(whole_numbers{}, u);
    dp::write_npy(path, u);
    dp::read_npy(path, v);
    const auto back = dp::gather<dp::cuda<0>>(v);
    const auto on_host = dp::to<dp::cpu>(back);
    if (std::vector<double>(on_host.begin(), on_host.end()) != wanted) throw dp::error("another field");
  }));
  check_file();
  grid<double, dp::cpu> other(dp::extents{9, 7});
  CHECK_THROWS_WITH(dp::read_npy(path, other),
                    Catch::Matchers::ContainsSubstring("the field is 9x7 and the tensor 9x6"));
}
