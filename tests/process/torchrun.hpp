// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string>

#include "process/control/job.hpp"
#include "support/forked_ranks.hpp"

namespace devplace::test {

/// A free port; the port before it is free for torchrun.
inline int free_port() {
  const parallel::job_member who{new_token(), 0, 1};
  return parallel::control_listener(who, {"127.0.0.1", 0}).endpoint().port;
}

/// Starts the processes that torchrun --nproc-per-node `local_size` would start. This host stands in for further hosts.
template <class F> void start_as_torchrun(forked_ranks& processes, int size, int local_size, const F& f) {
  const std::string job = new_token();
  const int port = size == local_size ? 29500 : free_port() - 1;
  for (int rank = 0; rank != size; ++rank)
    processes.start([&, rank] {
      const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
      set("RANK", std::to_string(rank));
      set("WORLD_SIZE", std::to_string(size));
      set("LOCAL_RANK", std::to_string(rank % local_size));
      set("LOCAL_WORLD_SIZE", std::to_string(local_size));
      set("GROUP_RANK", std::to_string(rank / local_size));
      set("GROUP_WORLD_SIZE", std::to_string(size / local_size));
      set("MASTER_ADDR", "127.0.0.1");
      set("MASTER_PORT", std::to_string(port));
      set("TORCHELASTIC_RUN_ID", job);
      set("TORCHELASTIC_RESTART_COUNT", "0");
      set("TORCHELASTIC_MAX_RESTARTS", "0");
      set("DEVPLACE_JOB_TOKEN", "the secret of " + job);
      f();
    });
}

}  // namespace devplace::test
