// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes with simulated devices of their own, which are forked before they use one.

#include <devplace/tensor/ipc.hpp>

#include <unistd.h>

#include <string>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"

namespace dp = devplace;

namespace {

using where = dp::on<dp::cuda<1>>;
using matrix = dp::tensor<float, dp::extents<2, 3>, where>;
using handle_type = dp::ipc_handle<float, dp::extents<2, 3>>;

/// Two processes and a pipe from the first to the second: what they return.
template <class Exporter, class Importer>
std::vector<support::ended_process> exporter_and_importer(const Exporter& first, const Importer& second) {
  int to_second[2], to_first[2];
  REQUIRE(::pipe(to_second) == 0);
  REQUIRE(::pipe(to_first) == 0);
  auto ended = support::in_forked_processes(2, [&](int rank) {
    if (rank == 0) {
      return first(
          [&](const handle_type& handle) { return ::write(to_second[1], &handle, sizeof handle) == sizeof handle; },
          [&] {
            char done = 0;
            return ::read(to_first[0], &done, 1) == 1;
          });
    }
    handle_type handle;
    if (::read(to_second[0], &handle, sizeof handle) != sizeof handle) return std::string("no handle");
    return second(handle, [&] { return ::write(to_first[1], "x", 1) == 1; });
  });
  for (const int end : {to_second[0], to_second[1], to_first[0], to_first[1]})
    ::close(end);
  CHECK(support::failures(ended).empty());
  return ended;
}

}  // namespace

TEST_CASE("processes with simulated devices exchange a tensor by its handle") {
  const auto ended = exporter_and_importer(
      [](const auto& send, const auto& wait) {
        matrix x{{1, 2, 3}, {4, 5, 6}};
        dp::exported out{std::move(x)};
        auto view = out.view();
        view = view * 2.0f;  // enqueued before the handle is made
        if (!send(out.handle()) || !wait()) return std::string("no pipe");
        return std::to_string(dp::to<dp::on<dp::cpu>>(out.view())(0, 0));
      },
      [](const handle_type& handle, const auto& done) {
        auto there = dp::open_ipc<dp::cuda<1>>(handle);
        const float read = dp::to<dp::on<dp::cpu>>(there)(1, 2);
        there = there + 1.0f;
        dp::synchronize<dp::cuda<1>>();
        if (!done()) return std::string("no pipe");
        return std::to_string(read);
      });
  CHECK(ended[0].output == std::to_string(3.0f));
  CHECK(ended[1].output == std::to_string(12.0f));
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
          static_cast<void>(dp::open_ipc<dp::cuda<0>>(handle));
        } catch (const dp::argument_error& failure) {
          message = failure.what();
        }
        return done() ? message : "no pipe";
      });
  CHECK_THAT(ended[1].output,
             Catch::Matchers::ContainsSubstring("\"device: simulated device 0\" and \"device: simulated device 1\""));
}
