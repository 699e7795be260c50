// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two launched processes on each of two hosts, started by tests/mpi/hosts.sh. `launched_hosts` exchanges values;
// `launched_hosts cut_off` exchanges values until the hosts are disconnected from each other.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include <devplace/process/launch.hpp>

namespace dp = devplace;

namespace {

void require(bool fact, const char* what) {
  if (!fact) throw std::runtime_error(what);
}

void exchange_values(const dp::process_group& group) {
  require(group.size() == 4 && group.local_size() == 2 && group.local_rank() == group.rank() % 2, "another group");
  for (int round = 0; round != 20; ++round) {
    require(group.all_reduce(1 << group.rank()) == 15, "another sum");
    require(group.broadcast(group.rank(), round % 4) == round % 4, "another value");
  }
  const dp::process_group between = group.split(group.rank() % 2);
  require(between.size() == 2 && between.local_size() == 1, "another part between the hosts");
  const dp::process_group here = group.split(group.rank() / 2);
  require(here.size() == 2 && here.local_size() == 2, "another part on this host");
  for (int round = 0; round != 5; ++round)
    require(between.all_gather(group.rank())[1] == 2 + group.rank() % 2, "another value between the hosts");
  require(here.all_reduce(group.rank()) == (group.rank() < 2 ? 1 : 5), "another sum on this host");
  group.barrier();
}

void be_cut_off(const dp::process_group& group) {
  for (int step = 0; step != 30'000; ++step) {
    static_cast<void>(group.all_gather(step));
    if (step == 100 && group.is_main()) {
      std::printf("all of them run\n");
      std::fflush(stdout);
    }
    ::usleep(1000);
  }
}

}  // namespace

int main(int argc, char**) try {
  dp::process_options options;
  options.heartbeat = 0.1;
  options.heartbeat_timeout = 2;
  options.exit_grace = 1;
  const dp::process_group group = dp::launched_processes(options);
  argc == 1 ? exchange_values(group) : be_cut_off(group);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
