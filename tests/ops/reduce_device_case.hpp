// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/memory/statistics.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/planning.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace devplace::test {

using matrix_extents = extents<dyn, dyn>;

/// Makes a matrix with elements given by a formula of their index.
template <class T, class Formula>
tensor<T, matrix_extents, on<cpu>> matrix_of(std::size_t rows, std::size_t columns, const Formula& formula) {
  tensor<T, matrix_extents, on<cpu>> x(matrix_extents{rows, columns});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(formula(i));
  return x;
}

/// Returns a small integer; sums of such numbers are exact in any order.
inline double whole_number(std::size_t i) { return static_cast<double>((i * 7919) % 23) - 11; }

/// Checks that reductions of integers on a device equal the CPU's: over all elements, rows and columns, for shapes of
/// one GPU block and of more.
template <class Place> void check_reductions_of(std::size_t rows, std::size_t columns) {
  using where = on<Place>;
  INFO(rows << " x " << columns);
  const auto x = matrix_of<float>(rows, columns, whole_number);
  const auto there = to<where>(x);
  using support::values_of;
  CHECK(values_of(sum(there)) == values_of(sum(x)));
  CHECK(values_of(sum(there, axis<0>{})) == values_of(sum(x, axis<0>{})));
  CHECK(values_of(sum(there, axis<1>{})) == values_of(sum(x, axis<1>{})));
  CHECK(values_of(max(there, axis<0>{})) == values_of(max(x, axis<0>{})));
  CHECK(values_of(min(there, axis<1>{})) == values_of(min(x, axis<1>{})));
  CHECK(values_of(argmax(there, axis<1>{})) == values_of(argmax(x, axis<1>{})));
  CHECK(values_of(argmin(there, axis<0>{})) == values_of(argmin(x, axis<0>{})));
  CHECK(values_of(argmax(there)) == values_of(argmax(x)));
  auto there_sums = to<where>(tensor<float, extents<dyn>, on<cpu>>(sum(x, axis<0>{})));
  sum_into(there_sums, there, {.accumulate = true}, axis<0>{});
  auto sums = sum(x, axis<0>{});
  sum_into(sums, x, {.accumulate = true}, axis<0>{});
  CHECK(values_of(there_sums) == values_of(sums));
  const auto in_columns = [&](auto place, const auto& of) {
    tensor<float, matrix_extents, on<decltype(place)>> both(matrix_extents{columns, 2});
    sum_into(both.select(axis<1>{}, 0), of.view().erased() * 2.0F, axis<0>{});
    max_into(both.select(axis<1>{}, 1), of, axis<0>{});
    return values_of(both);
  };
  CHECK(in_columns(Place{}, there) == in_columns(cpu{}, x));
}

template <class Place> void check_reductions() {
  check_reductions_of<Place>(1, 1);
  check_reductions_of<Place>(64, 10);
  check_reductions_of<Place>(10, 64);
  check_reductions_of<Place>(3, 20'001);
  check_reductions_of<Place>(5000, 37);
  check_reductions_of<Place>(2, 300'000);
  const auto bytes = matrix_of<std::uint8_t>(300, 301, [](std::size_t i) { return i % 251; });
  CHECK(support::values_of(sum(to<on<Place>>(bytes))) == support::values_of(sum(bytes)));
}

/// Checks that a sum of fractions has equal bits in every run and at every alignment, and does not allocate once the
/// device's workspaces exist.
template <class Place> void check_bits_of_sums() {
  const auto fraction = [](std::size_t i) {
    return (i % 3 == 0 ? -1e4 : 1.0) / static_cast<double>(i * 7919 % 1009 + 1);
  };
  const auto x = to<on<Place>>(matrix_of<float>(700, 513, fraction));
  tensor<float, matrix_extents, on<Place>> shifted(matrix_extents{701, 513});
  using backend = backend_of_t<Place>;
  detail::copy_within<backend>(x.view().ordinal(), std::to_address(shifted.data()) + 1, std::to_address(x.data()),
                               x.size() * sizeof(float));
  const view<const float, matrix_extents, on<Place>> behind(std::to_address(shifted.data()) + 1,
                                                            matrix_extents{700, 513});
  tensor<float, extents<1>, on<Place>> total(extents<1>{});
  tensor<float, extents<dyn>, on<Place>> columns(extents<dyn>{513});
  const auto reduce = [&](const auto& of) {
    sum_into(total, of.reshape(matrix_extents{of.size(), 1}), axis<0>{});
    sum_into(columns, of, axis<0>{});
    auto values = support::values_of(columns);
    values.push_back(support::values_of(total)[0]);
    return values;
  };
  detail::prepare_workspaces<backend>(x.view().ordinal());
  const auto allocations = memory_statistics<Place>().allocations;
  const auto first = reduce(x);
  for (int run = 0; run < 5; ++run) CHECK(reduce(x) == first);
  CHECK(reduce(behind) == first);
  CHECK(memory_statistics<Place>().allocations == allocations);
}

}  // namespace devplace::test
