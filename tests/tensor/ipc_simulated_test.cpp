// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/ipc.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <optional>
#include <string>

#include "support/catch.hpp"
#include "support/segment_file.hpp"
#include "tensor/ipc_case.hpp"

namespace dp = devplace;
using namespace ipc_case;

TEST_CASE("processes with simulated devices exchange a tensor by handle") { check_exchange(); }

TEST_CASE("a simulated device with another number is not the exporter's") {
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
  CHECK_THAT(ended[1].text,
             Catch::Matchers::ContainsSubstring("\"device: simulated device 1\" and \"device: simulated device 0\""));
}

TEST_CASE("opening an exported tensor throws if its file was shortened") {
  const auto ended = exporter_and_importer(
      [](const auto& send, const auto& wait) {
        const dp::exported out{matrix{{1, 2, 3}, {4, 5, 6}}};
        const handle_type handle = out.handle();
        const support::segment_file file(handle.name);
        support::segment_head head = file.head();
        head.total_bytes -= 4;
        file.resize(static_cast<std::size_t>(head.total_bytes));
        file.set_head(head);
        return std::string(send(handle) && wait() ? "" : "no pipe");
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
  CHECK_THAT(ended[1].text, Catch::Matchers::ContainsSubstring("has a header that does not fit its file"));
}

TEST_CASE("an exported tensor waits for its importers, also after its name was removed") {
  void* const memory =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& destroyed = *::new (memory) std::atomic<int>(0);
  const auto ended = exporter_and_importer(
      [&](const auto& send, const auto& wait) {
        std::optional<dp::exported<matrix>> out(matrix{{1, 2, 3}, {4, 5, 6}});
        const handle_type handle = out->handle();
        if (!send(handle) || !wait()) return std::string("no pipe");
        if (::unlink(support::segment_path_of(handle.name).c_str()) != 0) return std::string("no name");
        out.reset();
        return std::string(destroyed.load() == 1 ? "" : "the memory was freed while another process had it");
      },
      [&](const handle_type& handle, const auto& done) {
        const auto there = dp::open_ipc<dp::cuda<0>>(handle);
        if (!done()) return std::string("no pipe");
        ::usleep(200'000);
        destroyed.store(1);
        return std::string();
      });
  CHECK(ended[0].text == "");
  CHECK(ended[1].text == "");
  ::munmap(memory, sizeof(std::atomic<int>));
}
