// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/ipc.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"

/// Processes with separate devices, forked before any of them uses a device.
namespace ipc_case {

namespace dp = devplace;
using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cuda<0>>>;
using handle_type = dp::ipc_handle<float, dp::extents<2, 3>>;

/// The results of two processes with a pipe from the first to the second.
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
  for (const int end : {to_second[0], to_second[1], to_first[0], to_first[1]}) ::close(end);
  CHECK(support::failures(ended).empty());
  return ended;
}

/// One process exports a tensor, the other reads the tensor and adds 1 to its elements.
inline void check_exchange() {
  const auto ended = exporter_and_importer(
      [](const auto& send, const auto& wait) {
        matrix x{{1, 2, 3}, {4, 5, 6}};
        dp::exported out{std::move(x)};
        auto view = out.view();
        view = view * 2.0f;  // enqueued before the handle is created
        if (!send(out.handle()) || !wait()) return std::string("no pipe");
        return std::to_string(dp::to<dp::on<dp::cpu>>(out.view())(0, 0));
      },
      [](const handle_type& handle, const auto& done) {
        auto there = dp::open_ipc<dp::cuda<0>>(handle);
        const float read = dp::to<dp::on<dp::cpu>>(there)(1, 2);
        there = there + 1.0f;
        dp::synchronize<dp::cuda<0>>();
        if (!done()) return std::string("no pipe");
        return std::to_string(read);
      });
  CHECK(ended[0].text == std::to_string(3.0f));
  CHECK(ended[1].text == std::to_string(12.0f));
}

}  // namespace ipc_case
