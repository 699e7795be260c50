// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include <devplace/io/input_file.hpp>
#include <devplace/io/npy.hpp>

#include "io/failure_of_file.hpp"
#include "io/npy_bytes.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using npy_bytes::failure_of_file;
using npy_bytes::float_2x3;
using support::temporary_folder;

TEST_CASE("arrays of unknown extents need a regular file", "[io]") {
  const temporary_folder folder;
  SECTION("a device and a pipe, with extents unknown") {
    CHECK_THAT(failure_of_file("/dev/zero"), ContainsSubstring("'/dev/zero' is a pipe, a device or a socket"));
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    CHECK_THAT(failure_of_file(folder.file("pipe")), ContainsSubstring("is a pipe, a device or a socket"));
  }
  SECTION("a device, with extents known") {
    CHECK_THROWS_WITH((dp::read_npy<float, dp::extents<2, 3>>("/dev/zero")), ContainsSubstring("is not a .npy file"));
  }
}

TEST_CASE("read_npy reads an array of static extents from a pipe, also if signals interrupt it", "[io]") {
  const temporary_folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  struct sigaction ignoring{};  // without SA_RESTART, so that system calls return EINTR
  ignoring.sa_handler = [](int) {};
  struct sigaction before{};
  REQUIRE(::sigaction(SIGUSR1, &ignoring, &before) == 0);
  const auto send = [&](const std::string& content) {
    const pthread_t reader = ::pthread_self();
    return std::thread([&pipe, reader, content] {
      const auto interrupt = [reader] {
        for (int i = 0; i < 10; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ::pthread_kill(reader, SIGUSR1);
        }
      };
      interrupt();  // while read_npy opens the pipe
      std::ofstream out(pipe, std::ios::binary);
      for (std::size_t at = 0; at < content.size(); at += 50) {
        interrupt();
        out << content.substr(at, 50) << std::flush;
      }
    });
  };
  std::thread writer = send(float_2x3);
  const auto x = dp::read_npy<float, dp::extents<2, 3>>(pipe);
  writer.join();
  CHECK(x(0, 0) == 1.0f);
  CHECK(x(1, 2) == 0.001f);
  writer = send(float_2x3 + "ab");
  CHECK_THROWS_WITH((dp::read_npy<float, dp::extents<2, 3>>(pipe)),
                    ContainsSubstring("is longer than its header announces: 24 bytes of elements were expected and "
                                      "more follow"));
  writer.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}
