// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of integers by collective::nccl are exact: one process on one GPU, or several processes with one GPU each,
// started by a launcher or by scripts/gpu-check. Needs no MPI. Exits with 4 without a GPU.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include <devplace/parallel/nccl.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/process/launch.hpp>
#include <devplace/tensor/copy.hpp>

namespace dp = devplace;

int main() try {
  if (!dp::available<dp::cuda<0>>()) {
    std::puts("skipped: there is no CUDA device");
    return 4;
  }
  const dp::process_group processes = dp::launched_processes();
  const int ordinal = 0, n = processes.size();
  auto sums = dp::collective::nccl{}.connect_across<dp::backend::cuda>(std::span<const int>(&ordinal, 1), processes);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{3000001}}) {
    dp::tensor<float, dp::extents<dp::dyn>, dp::on<dp::cpu>> values{dp::extents<dp::dyn>{count}};
    for (std::size_t i = 0; i != count; ++i)
      values.data()[i] = static_cast<float>(i % 1000) + static_cast<float>(processes.rank());
    auto on_gpu = dp::to<dp::on<dp::cuda<0>>>(values);
    float* const buffer = on_gpu.data().get();
    sums.all_reduce(std::span(&buffer, 1), count, dp::reduction::sum);
    const auto back = dp::to<dp::on<dp::cpu>>(on_gpu);
    for (std::size_t i = 0; i != count; ++i)
      if (back.data()[i] != static_cast<float>(n * static_cast<int>(i % 1000) + n * (n - 1) / 2))
        throw std::runtime_error("another sum of " + std::to_string(count) + " numbers");
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
