// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/runtime/kept_workspaces.hpp>

#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/streams.hpp>
#include <devplace/memory/stream.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using lease = dp::runtime::kept_workspaces::lease<dp::backend::cuda>;

TEST_CASE("a kept workspace is reused by its own stream only", "[backend][stream]") {
  dp::runtime::kept_workspaces kept;
  const dp::stream<dp::cuda<1>> side;
  const void *own = nullptr, *of_side = nullptr;
  own = lease(kept, 1).at_least(64);
  {
    const dp::stream_scope scope(side);
    of_side = lease(kept, 1).at_least(64);
    CHECK(of_side != own);
    CHECK(lease(kept, 1).at_least(64) == of_side);
  }
  CHECK(lease(kept, 1).at_least(32) == own);
  CHECK(lease(kept, 0).at_least(64) != own);
}

TEST_CASE("simultaneous leases of kept workspaces have separate memory", "[backend]") {
  dp::runtime::kept_workspaces kept;
  const void* first = nullptr;
  {
    lease a(kept, 1), b(kept, 1);
    first = a.at_least(64);
    CHECK(b.at_least(64) != first);
  }
  lease a(kept, 1), b(kept, 1);
  CHECK((a.at_least(64) == first) != (b.at_least(64) == first));
}
