// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/host.hpp>

#include <fstream>
#include <string>

#include "support/catch.hpp"

TEST_CASE("the host's name and its start are those of the kernel", "[base]") {
  std::string name, start;
  std::ifstream("/proc/sys/kernel/hostname") >> name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> start;
  CHECK(devplace::detail::host_name() == name);
  CHECK(devplace::detail::boot_id().substr(0, start.size()) == start);
}
