// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code about launchers that docs/processes.md quotes.

#include <cstring>
#include <iostream>
#include <string>

#include <devplace/process/launch_environment.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("a program describes how it was started", "[docs]") {
  const auto started = dp::launch_environment::of_process();
  if (started.rank() == 0) std::cout << started.describe() << '\n';
  CHECK(started.local_rank() < started.size());
}

TEST_CASE("describe() of a task of srun", "[docs]") {
  const auto of_srun = [](const char* name) -> const char* {
    for (const char* set :
         {"SLURM_JOB_ID=5", "SLURM_LOCALID=0", "SLURM_NODEID=1", "SLURM_PROCID=2", "SLURM_STEP_ID=0",
          "SLURM_STEP_NODELIST=node[1-3]", "SLURM_STEP_NUM_TASKS=5", "SLURM_STEP_TASKS_PER_NODE=3,1(x2)"})
      if (std::strncmp(set, name, std::strlen(name)) == 0 && set[std::strlen(name)] == '=')
        return set + std::strlen(name) + 1;
    return nullptr;
  };
  std::string lines = dp::launch_environment::read(of_srun).describe();
  for (std::size_t at = 0; (at = lines.find("; ", at)) != std::string::npos;) lines.replace(at, 2, ";\n");
  CHECK("\n" + lines + "\n" == R"(
rank 2 of 5, started by Slurm's srun (SLURM_PROCID, SLURM_STEP_NUM_TASKS);
local rank 0 of 1 (SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE) on node 1;
rank 0 is at node1 (SLURM_STEP_NODELIST), port 23225 (chosen by the job's name)
)");
}
