// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A component is linked but the machine has no device: candidates are skipped at run time.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <devplace/place/first_available.hpp>
#include <devplace/place/select.hpp>

namespace dp = devplace;

namespace {

const auto name = [](auto where) { return dp::placement_name<decltype(where)>(); };

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "0", 1);
  if (dp::first_available<dp::replicated<0, 1>, dp::on<dp::cuda<0>>, dp::on<dp::cpu>>(name) != "cpu") return 1;
  if (dp::available<dp::on<dp::cuda<0>>>()) return 1;
  if (dp::list_devices().size() != 1) return 1;
  if (dp::cuda_support_description().find("no device: cuda:0 does not exist") == std::string::npos) return 1;
  try {
    static_cast<void>(dp::first_available<dp::on<dp::cuda<0>>>(name));
    return 1;
  } catch (const dp::placement_unavailable& nothing) {
    std::puts(nothing.what());
  }
  try {
    static_cast<void>(dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>>("cuda", name));
    return 1;
  } catch (const dp::placement_unavailable& missing) {
    std::puts(missing.what());
  }
  return 0;
}
