// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/process/detail/read_launch.hpp>

#include "support/catch.hpp"

TEST_CASE("the first host and the tasks of a node are read from Slurm's lists", "[process]") {
  using devplace::parallel::detail::first_slurm_host;
  using devplace::parallel::detail::slurm_tasks_on_node;
  // The expected hosts are the first ones that `scontrol show hostnames` prints.
  CHECK(first_slurm_host("a1") == "a1");
  CHECK(first_slurm_host("a1,a2") == "a1");
  CHECK(first_slurm_host("node[01-03,7],other") == "node01");
  CHECK(first_slurm_host("node[7,9-12]") == "node7");
  CHECK(first_slurm_host("r[1-2]n[3-4]") == "r1n3");
  CHECK(first_slurm_host("x[2-3].site.org,y") == "x2.site.org");
  CHECK(first_slurm_host("").empty());
  CHECK(first_slurm_host("node[1-").empty());

  const int expected[] = {2, 2, 2, 1, 16, 16};
  for (int node = 0; node < 6; ++node) CHECK(slurm_tasks_on_node("2(x3),1,16(x2)", node) == expected[node]);
  CHECK(slurm_tasks_on_node("2(x3),1,16(x2)", 6) == -1);
  for (const char* wrong : {"", "x", "2(x", "2(x)", "2(x0)", "(x2)", "2(3)", ",", "-1"}) {
    INFO(wrong);
    CHECK(slurm_tasks_on_node(wrong, 0) == -1);
  }
}
