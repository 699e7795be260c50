// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/cuda.md quotes.

#include <cstdio>
#include <utility>

#include <devplace/core.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

TEST_CASE("docs/cuda.md: copies while the host goes on", "[docs]") {
  dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> staging{1, 2, 3};
  const dp::stream<dp::cuda<0>> copies;
  auto batch = dp::to_async<dp::on<dp::cuda<0>>>(staging, copies);  // returns immediately
  auto& x = batch.after();                                          // orders the GPU's later work after the copy
  const dp::tensor twice = 2.0f * x;                                // enqueued while the copy may still be running
  auto back = dp::to_async<dp::on<dp::pinned>>(twice, copies);
  const auto result = std::move(back).get();  // the host waits here
  CHECK(result(2) == 6);
}

TEST_CASE("docs/cuda.md: into existing tensors", "[docs]") {
  dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> staging{1, 2, 3};
  dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{4, 5, 6};
  const dp::stream<dp::cuda<0>> copies;
  dp::event<dp::cuda<0>> used;
  used.record();      // after the work so far, which uses x
  copies.wait(used);  // so the copy waits for it
  auto filled = dp::copy_async(x, staging, copies);
  filled.after();  // orders later work after the copy
  const float sum = dp::item(dp::sum(x));
  filled.wait();  // staging may be written again
  CHECK(sum == 6);
}

TEST_CASE("docs/cuda.md: streams", "[docs]") {
  const dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{1, 2, 3};
  const dp::stream<dp::cuda<0>> side;
  dp::event<dp::cuda<0>> written, read;
  written.record();
  side.wait(written);
  {
    const dp::stream_scope on(side);  // until the end of the block, as `with torch.cuda.stream(s)`
    const dp::tensor y = x + x;       // work and memory of `side`
    x.record_stream(side);            // x's memory is freed after this work too
    read.record(side);
  }
  read.before<dp::cuda<0>>();  // the place's own stream waits for `side`
  side.synchronize();          // and the host
  CHECK(read.ready());
}

TEST_CASE("docs/cuda.md: a lost device", "[docs]") {
  const auto step = [] { return true; };
  bool done = false;
  try {
    done = step();
  } catch (const dp::device_lost& problem) {  // the message names the error and the last kernel
    std::fputs(problem.what(), stderr);       // other devices remain usable; this one needs a new process
  }
  CHECK(done);
}
