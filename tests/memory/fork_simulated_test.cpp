// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include <devplace/data/loader.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>
#include <devplace/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/in_child.hpp"
#include "support/labelled_samples.hpp"
#include "support/sanitizers.hpp"
#include "support/wait_for_host.hpp"

namespace dp = devplace;

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("simulated devices cannot be used in a child of fork", "[memory]") {
  using on_device = dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>>;
  const dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>> x{1, 2, 3};
  const auto uses = [&x] { return dp::to<dp::on<dp::cpu>>(dp::to<dp::on<dp::cuda<0>>>(x))(2) == 3; };
  CHECK(support::in_child(uses).empty());  // before the first use of a device
  static on_device kept = dp::to<dp::on<dp::cuda<0>>>(x);
  CHECK(uses());
  CHECK(support::in_child([] { return true; }).empty());
  CHECK(support::in_child([&] {
          try {
            static_cast<void>(uses());
          } catch (const dp::error& error) {
            return std::string(error.what()) ==
                   "devplace: cuda places cannot be used in this process: it was forked from one that had used them. "
                   "Fork before the first use of a cuda place, or start the child by exec.";
          }
          return false;
        }).empty());
  CHECK(support::in_child([&] {
          const on_device moved = std::move(kept);
          return true;
        }).empty());
  CHECK(uses());
}

TEST_CASE("a child of fork can destroy objects that wait for the parent's simulated devices", "[memory]") {
  const dp::image_set data = support::numbered_images(8);
  std::optional<dp::loader<dp::on<dp::cuda<0>>>> batches(std::in_place, data,
                                                         dp::loader_options{.batch = 4, .workers = 1});
  std::optional epoch = batches->epoch(0);
  const dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> x{1, 2, 3};
  std::atomic<bool> go = false;
  dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, dp::test::wait_for_host{&go});
  static_cast<void>(epoch->begin());  // its copies wait for the device
  std::optional copy = dp::to_async<dp::on<dp::cuda<0>>>(x);
  dp::event<dp::cuda<0>> reached;
  reached.record();
  const auto ended = support::in_forked_processes(
      1,
      [&](int) {
        epoch.reset();
        batches.reset();
        copy.reset();
        reached.wait();
      },
      20);
  CHECK(ended[0].end == "exit 3");
  CHECK(ended[0].text.find("it was forked from one that had used them") != std::string::npos);
  go = true;
  reached.wait();
}
#endif
