// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The snippets of docs/shared_memory.md.
#include <devplace/all.hpp>
#include <devplace/shared_memory.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;

TEST_CASE("docs/shared_memory.md: memory passed on by fork", "[docs]") {
  dp::tensor<float, dp::extents<4>, dp::on<dp::shared_memory>> results;  // before fork()
  if (::fork() == 0) {
    results(2) = 1.5f;  // the parent sees it
    std::_Exit(0);
  }
  int status = 0;
  ::wait(&status);
  CHECK(results(2) == 1.5f);

  dp::model<net, dp::on<dp::cpu>> trained{dp::seed{1}};
  auto shared = dp::to<dp::on<dp::shared_memory>>(trained);  // PyTorch: model.share_memory()
  CHECK(shared.parameter<0>()(1, 1) == trained.parameter<0>()(1, 1));
}

TEST_CASE("docs/shared_memory.md: memory with a name", "[docs]") {
  const std::string name = "docs." + std::to_string(::getpid());
  using table = dp::tensor<double, dp::extents<dp::dyn, 3>, dp::on<dp::shared_memory>>;
  auto rows = dp::create_shared<table>(name, dp::extents<dp::dyn, 3>{1000});  // zeros
  const auto same = dp::open_shared<table>(name);                             // in another process

  using shared_model = dp::model<net, dp::on<dp::shared_memory>>;
  auto model = dp::create_shared<shared_model>(name + ".model", dp::seed{1});
  auto opened = dp::open_shared<shared_model>(name + ".model");

  rows(999, 2) = 3;
  CHECK(same.extent(0) == 1000);
  CHECK(same(999, 2) == 3);
  CHECK(opened.parameter<0>()(4, 5) == model.parameter<0>()(4, 5));
}

TEST_CASE("docs/shared_memory.md: handles", "[docs]") {
  int to_other[2], back[2];
  REQUIRE(::pipe(to_other) == 0);
  REQUIRE(::pipe(back) == 0);
  const auto ended = support::in_forked_processes(2, [&](int rank) {
    if (rank == 0) {
      dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cuda<0>>> x{{1, 2, 3}, {4, 5, 6}};
      dp::exported out{std::move(x)};    // the destructor waits for the processes that have opened it
      const auto handle = out.handle();  // bytes, for a pipe or processes.broadcast(handle)
      char done = 0;
      if (::write(to_other[1], &handle, sizeof handle) < 0 || ::read(back[0], &done, 1) != 1) return std::string();
      return std::to_string(dp::to<dp::on<dp::cpu>>(out.view())(1, 2));
    }
    dp::ipc_handle<float, dp::extents<2, 3>> handle;
    if (::read(to_other[0], &handle, sizeof handle) != sizeof handle) return std::string();
    auto there = dp::open_ipc<dp::cuda<0>>(handle);  // a tensor: the same elements, in the other process
    there = there + 1.0f;
    dp::synchronize<dp::cuda<0>>();
    return std::string(::write(back[1], "x", 1) == 1 ? "sent" : "");
  });
  CHECK(support::failures(ended).empty());
  CHECK(ended[0].text == std::to_string(7.0f));
}
