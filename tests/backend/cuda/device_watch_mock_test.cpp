// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/memory/detail/device_timeout.hpp>

#include <algorithm>
#include <string>

#include <devplace/backend/cuda/events.hpp>
#include <devplace/backend/cuda/memory.hpp>
#include <devplace/backend/cuda/wait.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::Equals;

namespace {

struct counting_watch final : dp::detail::device_watch {
  counting_watch() { dp::detail::device_watches::of_process().add(*this); }
  ~counting_watch() override { dp::detail::device_watches::of_process().remove(*this); }
  void check(int ordinal, double waited) override {
    last = ordinal;
    longer = longer && waited >= seconds;
    seconds = waited;
    if (++asked == fails_at) throw dp::communication_error("the other process is gone.");
    if (asked == done_at) mock::set_done(true);
  }
  void end_wait() noexcept override { ++ended; }

  int asked = 0, ended = 0, last = -1, fails_at = 0, done_at = 0;
  double seconds = 0;
  bool longer = true;
};

}  // namespace

TEST_CASE("waiting for a CUDA device polls the device watches", "[backend][watch]") {
  dp::synchronize<dp::cuda<1>>();
  counting_watch watch;
  dp::synchronize<dp::cuda<1>>();
  CHECK(watch.asked == 0);  // nothing to wait for
  mock::set_done(false);
  watch.done_at = 5;
  dp::synchronize<dp::cuda<1>>();
  CHECK(watch.asked == 5);
  CHECK(watch.last == 1);
  CHECK(watch.longer);
  CHECK(watch.seconds > 0);
  CHECK(watch.ended == 2);
}

TEST_CASE("a watch ends every wait for a CUDA device, and the device remains usable", "[backend][watch]") {
  const auto x = dp::to<dp::on<dp::cuda<0>>>(support::counted<float>(dp::extents<4>{}));
  dp::event<dp::cuda<0>> done;
  done.record();
  counting_watch watch;
  mock::set_done(false);
  const auto ends = [&](const auto& wait) {
    watch.fails_at = watch.asked + 3;
    CHECK_THROWS_WITH(wait(), Equals("devplace: the other process is gone."));
  };
  ends([] { dp::synchronize<dp::cuda<0>>(); });
  ends([&] { done.wait(); });
  ends([&] { static_cast<void>(dp::to<dp::on<dp::cpu>>(x)); });
  CHECK(watch.ended == 3);
  mock::set_done(true);
  CHECK(support::values_of(dp::to<dp::on<dp::cpu>>(x)) == std::vector<float>{0, 1, 2, 3});
}

TEST_CASE("without watches a wait for a CUDA device is one call", "[backend][watch]") {
  {
    const counting_watch gone;
  }
  dp::synchronize<dp::cuda<0>>();
  mock::clear_calls();
  dp::synchronize<dp::cuda<0>>();
  CHECK(mock::calls() == std::vector<std::string>{"cudaStreamSynchronize device 0"});
}
