// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/ipc.hpp>

#include <string>

#include "support/catch.hpp"
#include "tensor/ipc_case.hpp"

namespace dp = devplace;
using namespace ipc_case;

TEST_CASE("processes with simulated devices exchange a tensor by its handle") {
  check_exchange();
}

TEST_CASE("a simulated device of another number is not the exporter's") {
  const auto ended = exporter_and_importer(
      [](const auto& send, const auto& wait) {
        const dp::exported out{matrix{{1, 2, 3}, {4, 5, 6}}};
        return std::string(send(out.handle()) && wait() ? "" : "no pipe");
      },
      [](const handle_type& handle, const auto& done) {
        std::string message;
        try {
          static_cast<void>(dp::open_ipc<dp::cuda<1>>(handle));
        } catch (const dp::argument_error& failure) {
          message = failure.what();
        }
        return done() ? message : "no pipe";
      });
  CHECK_THAT(ended[1].output,
             Catch::Matchers::ContainsSubstring("\"device: simulated device 1\" and \"device: simulated device 0\""));
}
