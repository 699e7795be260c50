// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The estimates in docs/gpu-runs.md follow from what the GPU in software counts when it executes nvcc's PTX.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/attention.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernels.hpp"

namespace dp = devplace;
using device = dp::on<dp::cuda<0>>;

namespace {

// Of an H100 SXM, by NVIDIA's data sheet: bytes per second, and instructions per second of 132 multiprocessors with 128
// lanes at 1.755 GHz.
constexpr double bandwidth = 3.35e12, issue = 132 * 128 * 1.755e9;

struct estimate {
  std::string operation;
  double bytes, instructions;  // per element

  /// Time of 10^8 elements in microseconds, by the slower limit.
  double microseconds() const { return 1e14 * std::max(bytes / bandwidth, instructions / issue); }
  /// Share of the bandwidth in that time.
  double share() const { return 1e14 * bytes / bandwidth / microseconds(); }
  std::string row() const {
    char text[160];
    std::snprintf(text, sizeof text, "| %s | %.1f | %.0f | %.0f | %.0f %% |", operation.c_str(), bytes, instructions,
                  microseconds(), 100 * share());
    return text;
  }
};

/// Counts what the kernels of f() read and write, per element.
template <class F> estimate count(const std::string& operation, std::size_t elements, const F& f) {
  const auto& gpu = dp::test::mock_cuda::gpu_of_kernels();
  const auto counted = [&] {
    dp::synchronize<dp::cuda<0>>();
    const auto& all = gpu.all_launches();
    return std::pair(all.global_read_bytes + all.global_write_bytes, all.instructions);
  };
  f();  // allocates and plans
  const auto before = counted();
  f();
  const auto after = counted();
  const auto n = static_cast<double>(elements);
  return {operation, static_cast<double>(after.first - before.first) / n,
          static_cast<double>(after.second - before.second) / n};
}

template <class... Sizes> auto ones(Sizes... sizes) {
  return dp::ones<float, device>(dp::dextents<sizeof...(Sizes)>{sizes...});
}

std::vector<estimate> estimates() {
  std::vector<estimate> all;
  constexpr std::size_t n = 1 << 17;
  const auto a = ones(n), b = ones(n);
  auto y = ones(n);
  all.push_back(count("y = a + b", n, [&] { y = a + b; }));
  all.push_back(count("dropout", n, [&] {
    dp::dropout_into(y.reshape(dp::dextents<2>{128, n / 128}), a.reshape(dp::dextents<2>{128, n / 128}), 0.5,
                     dp::dropout_key{1, 2, 3});
  }));
  auto sum = dp::ones<float, device>(dp::extents<1>{});
  all.push_back(count("sum", n, [&] { dp::sum_into(sum, a.reshape(dp::dextents<2>{1, n}), dp::axis<1>{}); }));
  for (const std::size_t columns : {std::size_t{10}, std::size_t{1000}, std::size_t{32000}}) {
    const std::size_t rows = columns < 100 ? 1000 : columns == 1000 ? 100 : 4;
    const auto x = ones(rows, columns);
    auto p = ones(rows, columns);
    const std::string of = " of rows of " + std::to_string(columns);
    all.push_back(count("softmax" + of, rows * columns, [&] { dp::softmax_into(p, x); }));
    const auto labels = dp::zeros<std::int64_t, device>(dp::dextents<1>{rows});
    auto losses = ones(rows);
    auto sums = dp::ones<float, device>(dp::extents<2>{});
    all.push_back(count("cross-entropy with gradient" + of, rows * columns,
                        [&] { dp::cross_entropy_into(sums, p, losses, x, labels); }));
  }
  // A hidden layer of 256 units: the gradient of its output is given, or the product with the next layer's weight.
  constexpr std::size_t units = 256, rows = n / units;
  auto sums = ones(units);
  const auto weight = ones(16 * units);
  for (const std::size_t outputs : {std::size_t{0}, std::size_t{10}})
    all.push_back(count(outputs == 0 ? "gradient of relu" : "gradient of relu, with the product of 10 outputs", n, [&] {
      dp::detail::dispatch<dp::op::relu_gradient, dp::backend::cuda>(
          0, dp::detail::relu_gradient_arguments<float>{rows, units, y.data().get(), a.data().get(), b.data().get(),
                                                        sums.data().get(), 0, weight.data().get(), outputs});
    }));
  auto parameters = ones(n), m = ones(n), v = ones(n);
  auto steps = dp::zeros<float, device>(dp::dextents<1>{dp::optim::step_memory_bytes / sizeof(float)});
  alignas(16) std::byte sent[dp::optim::step_memory_bytes] = {};
  dp::optim::step_arguments<float> step;
  step.n = n, step.parameters = parameters.data().get(), step.gradients = a.data().get();
  step.state[0] = m.data().get(), step.state[1] = v.data().get();
  step.step_memory = steps.data().get(), step.sent = sent, step.step = 1;
  all.push_back(count("update of Adam", n, [&] {
    dp::optim::adam{}.step<dp::backend::cuda>(step);
    ++step.step;
  }));
  // Elements are scores: pairs of a query and a key.
  constexpr std::size_t length = 256, width = 64;
  const dp::detail::attention_shape shape{1, length, 1, width, false};
  auto queries = dp::zeros<dp::bf16, device>(dp::dextents<2>{length, 3 * width}), dqueries = queries.clone();
  auto results = dp::zeros<dp::bf16, device>(dp::dextents<2>{length, width}), dresults = results.clone();
  auto log_sums = ones(length), products = ones(length);
  const dp::detail::columns_of_head<2> columns{};
  all.push_back(count("attention in bf16, heads of 64, per score", length * length, [&] {
    dp::detail::dispatch<dp::op::attention, dp::backend::cuda>(
        0,
        dp::detail::attention_arguments<dp::bf16>{
            shape, 1, {}, queries.data().get(), results.data().get(), log_sums.data().get()},
        columns);
  }));
  all.push_back(count("gradient of this attention, per score", length * length, [&] {
    dp::detail::dispatch<dp::op::attention_gradient, dp::backend::cuda>(
        0,
        dp::detail::attention_gradient_arguments<dp::bf16>{shape,
                                                           1,
                                                           {},
                                                           queries.data().get(),
                                                           results.data().get(),
                                                           log_sums.data().get(),
                                                           dresults.data().get(),
                                                           dqueries.data().get(),
                                                           products.data().get()},
        columns);
  }));
  return all;
}

/// Returns the cells of a row of a table.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  std::istringstream text(row);
  for (std::string cell; std::getline(text, cell, '|');) found.push_back(cell);
  return found;
}

}  // namespace

TEST_CASE("the page on GPU runs has the estimates that follow from nvcc's PTX", "[docs]") {
  std::ifstream page(DEVPLACE_TEST_REFERENCE_DIR "/../../docs/gpu-runs.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) lines.push_back(line);
  for (const estimate& each : estimates()) {
    INFO(each.row());
    const auto row = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find("| " + each.operation + " |") == 0;
    });
    CHECK(row != lines.end());
    if (row == lines.end()) continue;
    const auto quoted = cells(*row), found = cells(each.row());
    CHECK(quoted[2] == found[2]);                                                              // bytes
    CHECK(std::abs(std::stod(quoted[3]) - each.instructions) <= 1 + 0.2 * each.instructions);  // depend on nvcc
    CHECK(std::abs(std::stod(quoted[4]) - each.microseconds()) <= 1 + 0.2 * each.microseconds());
    CHECK(std::abs(std::stod(quoted[5]) - 100 * each.share()) <= 1 + 20 * each.share());
  }
}
