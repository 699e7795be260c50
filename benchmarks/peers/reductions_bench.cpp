// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of reductions, sorts and a transposed copy on the CPU.
//
// Answers questions on standard input, one per line, with seconds per call: `<operation> <rows>x<columns>`; `threads
// <count>` comes first. benchmarks/peers/reductions.py asks this program and PyTorch in turn.

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/sort.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/transposed.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

/// Times a reduction of all elements, or, if the operation ends in `_of_rows` or `_of_columns`, of each row or column.
template <class Reduce> double of(const std::string& operation, const Reduce& reduce) {
  if (operation.ends_with("_of_rows")) return time_of([&] { const auto y = reduce(dp::axis<1>{}); });
  if (operation.ends_with("_of_columns")) return time_of([&] { const auto y = reduce(dp::axis<0>{}); });
  return time_of([&] { const auto y = reduce(); });
}

double seconds(const std::string& operation, const std::string& shape) {
  const std::size_t x_at = shape.find('x');
  const dp::extents<dp::dyn, dp::dyn> extents{std::stoul(shape.substr(0, x_at)), std::stoul(shape.substr(x_at + 1))};
  const auto x = dp::normal<float, on_cpu>(extents, dp::seed{1});
  if (operation.starts_with("sum")) return of(operation, [&](auto... axis) { return dp::sum(x, axis...); });
  if (operation.starts_with("mean")) return of(operation, [&](auto... axis) { return dp::mean(x, axis...); });
  if (operation.starts_with("max")) return of(operation, [&](auto... axis) { return dp::max(x, axis...); });
  if (operation.starts_with("argmax")) return of(operation, [&](auto... axis) { return dp::argmax(x, axis...); });
  if (operation == "sort") return time_of([&] { const auto y = dp::sort(x); });
  if (operation == "argsort") return time_of([&] { const auto y = dp::argsort(x); });
  if (operation == "sort_of_int64") {
    dp::tensor<std::int64_t, dp::extents<dp::dyn, dp::dyn>, on_cpu> numbers(extents);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers.data()[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U >> 2);
    return time_of([&] { const auto y = dp::sort(numbers); });
  }
  if (operation == "transposed_copy") {
    auto y = dp::zeros<float, on_cpu>(dp::extents<dp::dyn, dp::dyn>{x.extent(1), x.extent(0)});
    return time_of([&] { dp::copy(y, dp::transposed(x)); });
  }
  return dp::bench::not_done;
}

}  // namespace

int main() { dp::bench::answer_questions(dp::set_thread_count, seconds); }
