// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/launch.hpp>

#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::test::forked_ranks;
using dp::test::start_as_torchrun;

namespace {

const std::string secret = "0123456789abcdef-secret";

/// Runs two processes on two hosts, which connect after `prepare(rank)`.
template <class F>
std::vector<forked_ranks::outcome> meet(const F& prepare, const dp::process_options& options = dp::test::quick()) {
  forked_ranks processes;
  start_as_torchrun(processes, 2, 1, [&] {
    prepare(std::atoi(std::getenv("RANK")));
    const dp::process_group group = dp::launched_processes(options);
    if (group.all_reduce(group.rank() + 1) != 3) throw std::runtime_error("another result");
  });
  return processes.wait();
}

/// Passes the job's token to process 0 in a file, and to process 1 in a variable.
void set_file(const std::string& file, int rank) {
  ::setenv("DEVPLACE_JOB_TOKEN_FILE", file.c_str(), 1);
  ::unsetenv("DEVPLACE_JOB_TOKEN");
  if (rank == 1) ::setenv("DEVPLACE_JOB_TOKEN", secret.c_str(), 1);
}

/// The message of process 0 about a file that it rejects. Process 1, which would search for process 0, ends at once.
std::string refusal_of(const std::string& file) {
  const auto ends = meet([&](int rank) {
    if (rank == 1) std::_Exit(0);
    set_file(file, rank);
  });
  CHECK(ends[0].end == "exit 3");
  return ends[0].text;
}
/// Beginning and end of the message.
std::string beginning(const std::string& file) {
  return "caught: devplace: launched_processes: DEVPLACE_JOB_TOKEN_FILE=\"" + file + "\" ";
}
const std::string fix = " Make a file with a new token, the same on each host: (umask 077; echo <token> > <file>).\n";

/// The name, or the message of job_name(), in a process with these variables.
std::string name_of_job(const std::vector<std::pair<const char*, std::string>>& variables) {
  forked_ranks processes;
  processes.start([&] {
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
    const auto launched = dp::launch_environment::of_process();
    throw std::runtime_error(dp::parallel::detail::job_name(launched, {}));
  });
  return processes.wait()[0].text;
}

}  // namespace

TEST_CASE("processes of several hosts need a token", "[process][launch]") {
  const bool is_short = GENERATE(false, true);
  const auto ends = meet([&](int) { ::setenv("DEVPLACE_JOB_TOKEN", is_short ? "fifteen letters" : "", 1); });
  for (const auto& one : ends) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text,
               ContainsSubstring(std::string("caught: devplace: launched_processes: processes on several hosts meet "
                                             "over the network and prove by a token that they belong to the job, "
                                             "but ") +
                                 (is_short ? "the token that is set has fewer than 16 characters" : "no token is set") +
                                 ". Set the same token on all hosts before the launcher starts: export "
                                 "DEVPLACE_JOB_TOKEN=$(openssl rand -hex 16). Open MPI's mpirun passes it on with -x "
                                 "DEVPLACE_JOB_TOKEN. This process is rank "));
    CHECK(one.text.find("fifteen letters") == std::string::npos);
  }
}

TEST_CASE("a process with another token takes no rank of the job", "[process][launch]") {
  const int stranger = GENERATE(0, 1);
  auto options = dp::test::quick();
  options.init_timeout = 1;
  options.exit_grace = 0.2;
  const auto ends = meet(
      [&](int rank) {
        ::setenv("DEVPLACE_JOB_TOKEN", rank == stranger ? "another one of a sufficient length" : secret.c_str(), 1);
      },
      options);
  CHECK_THAT(ends[0].text, ContainsSubstring(" got 1 of 2 processes in 1 s; missing: rank 1. "));
  CHECK(
      ends[1].text ==
      "caught: devplace: process 0 at this address belongs to another job: give each job its own MASTER_PORT, and all "
      "processes of a job the same DEVPLACE_JOB_TOKEN.\n");
  for (const auto& one : ends) {
    CHECK(one.end == "exit 3");
    CHECK(one.text.find("secret") == std::string::npos);
    CHECK(one.text.find("another one") == std::string::npos);
  }
}

TEST_CASE("a token may be in a file readable only by the user", "[process][launch]") {
  const support::temporary_folder folder;
  const std::string file = folder.file("token");
  for (const char* const end : {"", "\n", "\r\n"}) {
    std::ofstream(file) << secret << end;
    ::chmod(file.c_str(), 0600);
    for (const auto& one : meet([&](int rank) { set_file(file, rank); })) {
      CHECK(one.end == "exit 0");
      CHECK(one.text.empty());
    }
  }
  for (const ::mode_t mode : {0640u, 0604u, 0620u}) {
    ::chmod(file.c_str(), mode);
    CHECK(refusal_of(file) ==
          beginning(file) + "belongs to another user, or other users can read or write it and may know the token." +
              fix);
  }
  ::chmod(file.c_str(), 0600);
  std::ofstream(file) << "\n";
  CHECK_THAT(refusal_of(file), ContainsSubstring("but no token is set. Set the same token on all hosts"));
  ::unlink(file.c_str());
  CHECK(refusal_of(file) == beginning(file) + "cannot be read: No such file or directory." + fix);
  ::mkdir(file.c_str(), 0700);
  CHECK(refusal_of(file) == beginning(file) + "cannot be read: Is a directory." + fix);
}

TEST_CASE("another user's token file is rejected", "[process][launch]") {
  if (::geteuid() != 0) DEVPLACE_SKIP("only root gives files to other users");
  const support::temporary_folder folder;
  const std::string file = folder.write("token", secret);
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);  // root can still read the file
  CHECK(refusal_of(file) ==
        beginning(file) + "belongs to another user, or other users can read or write it and may know the token." + fix);
}

TEST_CASE("processes of one host need no token, and their socket's name does not depend on a token",
          "[process][launch]") {
  const std::string without = name_of_job({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "4000"}});
  CHECK(without == "caught:  port 4001\n");
  CHECK(name_of_job({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "4000"}, {"DEVPLACE_JOB_TOKEN", secret}}) ==
        without);
}

TEST_CASE("processes started by hand need a port, which identifies their job", "[process][launch]") {
  CHECK_THAT(name_of_job({{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
             ContainsSubstring("caught: devplace: launched_processes: the processes were started by hand without a "
                               "port, which tells the processes of different jobs apart. Set MASTER_PORT to "
                               "a number below 65535, the same for all processes of the job and another one for each "
                               "job: export MASTER_PORT=$((20000 + $$ % 10000)). This process is rank 0 of 2, started "
                               "by hand"));
  CHECK(name_of_job({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"DEVPLACE_PORT", "4000"}}) == "caught:  port 4000\n");
}

TEST_CASE("jobs of MPICH's mpirun are identified by the helper that started them", "[process][launch]") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const auto with = [](int fd) {
    return name_of_job({{"PMI_RANK", "0"},
                        {"PMI_SIZE", "2"},
                        {"MPI_LOCALRANKID", "0"},
                        {"MPI_LOCALNRANKS", "2"},
                        {"PMI_FD", std::to_string(fd)},
                        {"DEVPLACE_PORT", "4000"}});
  };
  CHECK(with(ends[0]) == "caught: MPICH port 4000 helper " + std::to_string(::getpid()) + "\n");
  CHECK(with(-1) == "caught: MPICH port 4000\n");
}
