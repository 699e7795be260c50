// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/tensor.hpp>

using device_tensor = devplace::tensor<float, devplace::extents<1000>, devplace::on<devplace::cuda<0>>>;

/// Three ways to allocate on a simulated device. The bodies depend on the configuration: in a checked one the host
/// cannot access the memory.
struct configured_file {
  bool checked;
  device_tensor (*by_constructor)();
  device_tensor (*by_function)();
  device_tensor (*by_member)(const device_tensor&);
  std::uint64_t (*allocations)();
};

extern const configured_file checked_file, unchecked_file;

namespace {

[[maybe_unused]] configured_file this_file() {
  namespace dp = devplace;
  return {dp::detail::configuration::checked, [] { return device_tensor(dp::extents<1000>{}); },
          [] { return dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<1000>{}); },
          [](const device_tensor& x) { return x.clone(); },
          [] { return dp::memory_statistics<dp::cuda<0>>().allocations; }};
}

}  // namespace
