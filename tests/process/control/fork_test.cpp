// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <devplace/process/control/plane.hpp>

#include "process/control/job.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

namespace dp = devplace;
namespace detail = devplace::parallel::detail;
using Catch::Matchers::ContainsSubstring;
using dp::parallel::control_plane;
using dp::test::forked_ranks;
using dp::test::quick;
using dp::test::together;
using dp::test::wait_in;

namespace {

/// A child that a rank forks and that sleeps until the end of the test.
class sleeping_child {
 public:
  sleeping_child() {
    void* const at = ::mmap(nullptr, sizeof(::pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no memory for a process's number");
    pid_ = static_cast<::pid_t*>(at);
  }
  sleeping_child(const sleeping_child&) = delete;
  sleeping_child& operator=(const sleeping_child&) = delete;
  ~sleeping_child() {
    if (*pid_ > 0) ::kill(*pid_, SIGKILL);
    ::munmap(pid_, sizeof *pid_);
  }

  /// Called by the rank.
  void start() {
    const ::pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child != 0) {
      *pid_ = child;
      return;
    }
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);  // the test reads until all copies are closed
    ::alarm(60);
    for (;;) ::pause();
  }
  /// Whether the child exists and has not ended; a child that the system has not let run to its pause is alive, too.
  bool is_alive() const {
    if (*pid_ <= 0) return false;
    std::ifstream status("/proc/" + std::to_string(*pid_) + "/stat");
    std::string text;
    std::getline(status, text);
    const std::size_t name_ends = text.rfind(") ");  // the state follows the name
    return name_ends != std::string::npos && std::string("ZX").find(text.at(name_ends + 2)) == std::string::npos;
  }

 private:
  ::pid_t* pid_ = nullptr;
};

}  // namespace

TEST_CASE("a killed process is detected although its forked child is still alive", "[process][control_plane]") {
  for (const std::size_t killed : {std::size_t{0}, std::size_t{1}}) {
    sleeping_child child;
    // quick() has no heartbeat timeout, so only the closed connection ends the wait.
    const auto ends = dp::test::run_job(3, quick(), [&](control_plane& plane, int rank) {
      together(plane);
      if (rank == static_cast<int>(killed)) {
        child.start();
        std::raise(SIGKILL);
      }
      wait_in(plane);
    });
    CHECK(child.is_alive());
    std::string text;
    for (std::size_t r = 0; r != 3; ++r) {
      CHECK(ends[r].end == (r == killed ? "signal 9" : "exit 75"));
      text += ends[r].text;
    }
    CHECK_THAT(text, ContainsSubstring("rank " + std::to_string(killed) + " (host "));
    CHECK_THAT(text, ContainsSubstring(") ended without leaving the group, last known "));
  }
}

TEST_CASE("a job's name is free after its processes have ended, although a forked child is still alive",
          "[process][control_plane]") {
  const std::string token = dp::test::new_token();
  const bool complete = GENERATE(false, true);
  sleeping_child child;
  {
    forked_ranks first;
    if (complete)
      dp::test::start_job(
          first, 2, quick(),
          [&](control_plane& plane, int rank) {
            together(plane);
            if (rank == 0) child.start();
            together(plane);
          },
          token);
    else  // process 0 waits for the others while another thread forks
      first.start([&] {
        std::thread forks([&] {
          forked_ranks::sleep_for(0.2);
          child.start();
          std::raise(SIGKILL);
        });
        control_plane plane({token, 0, 2, ""}, {}, quick());
      });
    for (const auto& one : first.wait()) {
      INFO(one.text);
      CHECK(one.end == (complete ? "exit 0" : "signal 9"));
    }
  }
  REQUIRE(child.is_alive());
  forked_ranks second;
  dp::test::start_job(second, 2, quick(), [](control_plane& plane, int) { together(plane); }, token);
  for (const auto& one : second.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}
