// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/ipc.hpp>

#include <string>

#include <devplace/place/availability.hpp>

#include "support/catch.hpp"
#include "tensor/ipc_case.hpp"

TEST_CASE("processes exchange a GPU tensor by handle", "[tensor]") {
  // This process must not use CUDA before it forks, so a child looks for the device.
  const auto found = support::in_forked_processes(
      1, [](int) { return std::string(devplace::available<devplace::cuda<0>>() ? "found" : ""); });
  if (found[0].text != "found") DEVPLACE_SKIP("this machine has no CUDA device");
  ipc_case::check_exchange();
}
