// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/parallel/nccl.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/share.hpp>

#include "parallel/nccl_buffers.hpp"
#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_nccl/mock_nccl.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace cuda = devplace::test::mock_cuda;
namespace nccl = devplace::test::mock_nccl;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using dp::reduction;
using dp::test::by_direct;
using dp::test::violations;
template <class T> using buffers = dp::test::rank_buffers<T>;

namespace {

using names = std::vector<std::string>;
using connected = dp::parallel::nccl_communicator<dp::backend::cuda>;

connected connect(std::span<const int> ordinals) { return dp::collective::nccl{}.connect<dp::backend::cuda>(ordinals); }

std::vector<std::size_t> shares(std::size_t count, std::size_t ranks) {
  std::vector<std::size_t> begins(ranks + 1);
  for (std::size_t r = 0; r <= ranks; ++r) begins[r] = dp::parallel::share_begin(count, ranks, r);
  return begins;
}

names calls_without_groups() {
  names all;
  for (const std::string& call : nccl::calls())
    if (call != "ncclGroupStart" && call != "ncclGroupEnd") all.push_back(call);
  return all;
}

const std::array<int, 4> four{0, 1, 2, 3};
const std::span<const int> two = std::span(four).first(2);

}  // namespace

TEST_CASE("NCCL's communicators are created in one group, each on its device, and destroyed in order",
          "[parallel][nccl]") {
  {
    const connected both = connect(two);
    CHECK(both.size() == 2);
    CHECK(both.first_rank() == 0);
    CHECK(both.local_count() == 2);
    CHECK(nccl::calls() == names{"ncclGetVersion", "ncclGetUniqueId", "ncclGroupStart",
                                 "ncclCommInitRankConfig rank 0 of 2, on device 0",
                                 "ncclCommInitRankConfig rank 1 of 2, on device 1", "ncclGroupEnd"});
    nccl::clear_calls();
  }
  CHECK(nccl::calls() == names{"ncclGroupStart", "ncclCommFinalize rank 0 of 2", "ncclCommFinalize rank 1 of 2",
                               "ncclGroupEnd", "ncclGroupStart", "ncclCommDestroy rank 0 of 2",
                               "ncclCommDestroy rank 1 of 2", "ncclGroupEnd"});
  CHECK(nccl::live_communicators() == 0);
  CHECK(nccl::aborted_communicators() == 0);
  CHECK(cuda::live_events() == 0);
  CHECK(violations().empty());
}

TEST_CASE("NCCL's collectives equal direct's for every type, size and number of devices", "[parallel][nccl]") {
  cuda::set_devices(4);
  const auto compare = [](auto zero, std::span<const int> ordinals) {
    using T = decltype(zero);
    connected all = connect(ordinals);
    const auto n = ordinals.size();
    for (const std::size_t count : {0u, 1u, 15u, 16u, 64u, 1000u, support::sanitized ? 5003u : 100003u}) {
      const std::vector<std::size_t> begins = shares(count, n);
      const auto check = [&](const char* what, bool shared, const auto& f) {
        const buffers<T> given(ordinals, count);
        f(all, given.span());
        const auto expected = by_direct<T>(n, count, f);
        INFO(what << " of " << count << " on " << n);
        for (std::size_t r = 0; r != n; ++r) {
          const std::vector<T> got = given.values(r);
          const std::size_t from = shared ? begins[r] : 0, to = shared ? begins[r + 1] : count;
          CHECK(std::equal(got.begin() + static_cast<std::ptrdiff_t>(from),
                           got.begin() + static_cast<std::ptrdiff_t>(to),
                           expected[r].begin() + static_cast<std::ptrdiff_t>(from)));
        }
      };
      const int last = static_cast<int>(n) - 1;
      check("all_reduce", false, [&](auto& c, auto b) { c.all_reduce(b, count, reduction::sum); });
      check("broadcast", false, [&](auto& c, auto b) { c.broadcast(b, count, last); });
      check("reduce_scatter", true,
            [&](auto& c, auto b) { c.reduce_scatter(b, std::span<const std::size_t>(begins), reduction::sum); });
      check("all_gather", false, [&](auto& c, auto b) { c.all_gather(b, std::span<const std::size_t>(begins)); });
      if (!std::is_floating_point_v<T>)
        check("maximum", false, [&](auto& c, auto b) { c.all_reduce(b, count, reduction::max); });
      const buffers<T> given(ordinals, count);
      const auto reduce = [&](auto& c, auto b) { c.reduce(b, count, reduction::sum, last); };
      reduce(all, given.span());
      CHECK(given.values(n - 1) == by_direct<T>(n, count, reduce)[n - 1]);
    }
  };
  for (std::size_t n = 1; n <= 4; ++n) {
    compare(float{}, std::span(four).first(n));
    compare(double{}, std::span(four).first(n));
  }
  compare(std::int32_t{}, std::span(four).first(3));
  compare(std::int64_t{}, std::span(four).first(3));
  compare(std::uint8_t{}, std::span(four).first(2));
  CHECK(nccl::live_communicators() == 0);
  CHECK(violations().empty());
}

TEST_CASE("an NCCL collective runs on a high-priority stream between the device's earlier and later work",
          "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> gradients(two, 100);
  cuda::clear_calls();
  nccl::clear_calls();
  both.all_reduce(gradients.span(), 100, reduction::sum);
  CHECK(nccl::calls() == names{"ncclGroupStart", "ncclAllReduce rank 0 of 2, 100 float32, sum, on device 0",
                               "ncclAllReduce rank 1 of 2, 100 float32, sum, on device 1", "ncclGroupEnd"});
  CHECK(cuda::calls() == names{"cudaEventRecord device 0", "cudaEventRecord device 1", "cudaStreamWaitEvent device 0",
                               "cudaStreamWaitEvent device 1", "ncclAllReduce device 0", "ncclAllReduce device 1",
                               "cudaEventRecord device 0", "cudaStreamWaitEvent device 0", "cudaEventRecord device 1",
                               "cudaStreamWaitEvent device 1"});
  REQUIRE(nccl::streams().size() == 2);
  for (std::size_t k = 0; k != 2; ++k) {
    CHECK(nccl::streams()[k] != dp::detail::cuda_scope(static_cast<int>(k)).stream());
    CHECK(cuda::priority_of(nccl::streams()[k]) == -5);
  }
  CHECK(violations().empty());
}

TEST_CASE("a started NCCL reduction does not delay the device's later work before finish", "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> first(two, 100), second(two, 70);
  STATIC_REQUIRE(dp::parallel::overlapping_communicator<connected>);
  CHECK_THROWS_WITH(both.start_all_reduce(first.span(), 100, reduction::sum), ContainsSubstring("mark_ready(k)"));
  cuda::clear_calls();
  for (const std::size_t k : {0u, 1u, 0u, 1u}) both.mark_ready(k);
  both.start_all_reduce(first.span(), 100, reduction::sum);
  both.start_reduce(second.span(), 70, reduction::sum, 1);
  both.progress();
  const auto waits = [] {
    return std::count(cuda::calls().begin(), cuda::calls().end(), "cudaStreamWaitEvent device 0");
  };
  CHECK(waits() == 2);  // NCCL's streams wait for the marks
  both.finish();
  CHECK(waits() == 3);  // and the device's stream waits for NCCL's
  CHECK_THROWS_WITH(both.start_all_reduce(first.span(), 100, reduction::sum), ContainsSubstring("mark_ready(k)"));
  CHECK(first.values(0)[3] == 26);
  CHECK(second.values(1)[3] == 26);
  CHECK(violations().empty());
}

TEST_CASE("NCCL reductions ended by an exception are ordered, or aborted if ranks are missing", "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> values(two, 100);
  const auto start = [&] {
    both.mark_ready(0);
    both.mark_ready(1);
    both.start_all_reduce(values.span(), 100, reduction::sum);
  };
  start();
  both.abandon();
  CHECK(nccl::aborted_communicators() == 0);
  both.all_reduce(values.span(), 100, reduction::sum);  // still usable
  CHECK(values.values(0)[3] == 52);
  nccl::hang();
  start();
  both.abandon();
  CHECK(nccl::aborted_communicators() == 2);
  CHECK_THROWS_AS(start(), dp::communication_error);
  CHECK(violations().empty());
}

TEST_CASE("after the loss of a device the other's later work follows the started reductions", "[parallel][nccl]") {
  cuda::set_devices(4);
  for (const auto& [lost, other] : {std::array{0, 1}, {3, 2}}) {
    const std::array ordinals{std::min(lost, other), std::max(lost, other)};
    connected both = connect(ordinals);
    const buffers<float> values(ordinals, 100);
    both.mark_ready(0);
    both.mark_ready(1);
    both.start_all_reduce(values.span(), 100, reduction::sum);
    cuda::break_device(lost, cudaErrorIllegalAddress);
    cuda::clear_calls();
    both.abandon();
    const std::string wait = "cudaStreamWaitEvent device " + std::to_string(other);
    CHECK(std::count(cuda::calls().begin(), cuda::calls().end(), wait) == 1);
  }
  CHECK(violations().empty());
}

TEST_CASE("equal parts take one NCCL call, unequal parts one per participant", "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> values(two, 100);
  const std::vector<std::size_t> equal{0, 48, 96}, unequal{0, 64, 100}, one_part{0, 0, 10};
  const auto made = [](const auto& f) {
    nccl::clear_calls();
    f();
    return calls_without_groups();
  };
  const auto scatter = [&](const auto& begins) {
    return made([&] { both.reduce_scatter(values.span(), std::span<const std::size_t>(begins), reduction::sum); });
  };
  const auto gather = [&](const auto& begins) {
    return made([&] { both.all_gather(values.span(), std::span<const std::size_t>(begins)); });
  };
  CHECK(scatter(equal) == names{"ncclReduceScatter rank 0 of 2, 48 float32, sum, on device 0",
                                "ncclReduceScatter rank 1 of 2, 48 float32, sum, on device 1"});
  CHECK(scatter(unequal) == names{"ncclReduce rank 0 of 2, 64 float32, sum, root 0, on device 0",
                                  "ncclReduce rank 0 of 2, 36 float32, sum, root 1, on device 0",
                                  "ncclReduce rank 1 of 2, 64 float32, sum, root 0, on device 1",
                                  "ncclReduce rank 1 of 2, 36 float32, sum, root 1, on device 1"});
  CHECK(scatter(one_part) == names{"ncclReduce rank 0 of 2, 10 float32, sum, root 1, on device 0",
                                   "ncclReduce rank 1 of 2, 10 float32, sum, root 1, on device 1"});
  CHECK(gather(equal) == names{"ncclAllGather rank 0 of 2, 48 float32, on device 0",
                               "ncclAllGather rank 1 of 2, 48 float32, on device 1"});
  CHECK(gather(unequal).size() == 4);
  CHECK(violations().empty());
}

TEST_CASE("operations that NCCL computes differently from devplace are rejected before any call", "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> values(two, 10);
  const buffers<std::int32_t> whole(two, 10);
  nccl::clear_calls();
  CHECK_THROWS_WITH(both.all_reduce(values.span(), 10, reduction::mean), ContainsSubstring("Divide after a sum"));
  CHECK_THROWS_WITH(both.reduce(values.span(), 10, reduction::max, 0), ContainsSubstring("ignore NaN"));
  CHECK_THROWS_WITH(both.all_reduce(whole.span(), 10, reduction::mean), ContainsSubstring("Divide after a sum"));
  CHECK_THROWS_AS(both.all_reduce(values.span().first(1), 10, reduction::sum), dp::argument_error);
  CHECK_THROWS_AS(both.broadcast(values.span(), 10, 2), dp::argument_error);
  const std::vector<std::size_t> begins{0, 5};
  CHECK_THROWS_AS(both.all_gather(values.span(), std::span<const std::size_t>(begins)), dp::argument_error);
  CHECK(nccl::calls().empty());
  both.all_reduce(values.span(), 10, reduction::sum);
  CHECK(values.values(0) == values.values(1));
  CHECK(violations().empty());
}

TEST_CASE("NCCL is polled until a call is done", "[parallel][nccl]") {
  nccl::set_delay(5);
  connected both = connect(two);
  const buffers<double> values(two, 10);
  for (int i = 0; i != 3; ++i) both.all_reduce(values.span(), 10, reduction::sum);
  CHECK(values.values(1)[1] == 4 * 22);
  CHECK(violations().empty());
}

TEST_CASE("two places on one GPU are rejected by name", "[parallel][nccl]") {
  dp::set_device_map({{0, 0}, {1, 0}});
  CHECK_THROWS_WITH(
      connect(two),
      Equals("devplace: collective::nccl: ranks 0 and 1 use one GPU (PCI address 0000:01:00.0), and NCCL " +
             dp::parallel::detail::nccl_version_text(NCCL_VERSION_CODE) +
             " needs one GPU for each rank. Start no more processes on a host than it has GPUs, give "
             "each place its own device in DEVPLACE_DEVICE_MAP, or use collective::direct, which shares "
             "GPUs."));
  CHECK(calls_without_groups() == names{"ncclGetVersion"});
}

TEST_CASE("two places share a GPU if requested and supported by NCCL", "[parallel][nccl]") {
  dp::set_device_map({{0, 0}, {1, 0}});
  ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  CHECK_THROWS_AS(connect(two), dp::communication_error);
  nccl::set_version(23003);
  CHECK(connect(two).size() == 2);
}

TEST_CASE("an NCCL older than at compilation is rejected", "[parallel][nccl]") {
  nccl::set_version(22602);
  CHECK_THROWS_WITH(connect(two), ContainsSubstring("and has loaded NCCL 2.26.2, which is older"));
}

namespace {

struct result_of_nccl {
  ncclResult_t code;
  const char* name;
  const char* fix;
};
const result_of_nccl results[] = {
    {ncclUnhandledCudaError, "ncclUnhandledCudaError", "A CUDA call inside NCCL failed"},
    {ncclSystemError, "ncclSystemError", "A call of the system or of the network failed"},
    {ncclInternalError, "ncclInternalError", "NCCL_DEBUG=WARN says more"},
    {ncclInvalidArgument, "ncclInvalidArgument", "All processes must be started from the same program"},
    {ncclInvalidUsage, "ncclInvalidUsage", "All processes must be started from the same program"},
    {ncclRemoteError, "ncclRemoteError", "Another process failed, or the network to it"},
};

/// The failure of a small program that makes every call of NCCL.
std::string failure_of_program() {
  try {
    connected both = connect(two);
    const buffers<float> values(two, 100);
    const std::vector<std::size_t> equal{0, 48, 96}, unequal{0, 64, 100};
    both.all_reduce(values.span(), 100, reduction::sum);
    both.reduce(values.span(), 100, reduction::sum, 0);
    both.broadcast(values.span(), 100, 0);
    both.reduce_scatter(values.span(), std::span<const std::size_t>(equal), reduction::sum);
    both.all_gather(values.span(), std::span<const std::size_t>(equal));
    both.reduce_scatter(values.span(), std::span<const std::size_t>(unequal), reduction::sum);
    both.all_gather(values.span(), std::span<const std::size_t>(unequal));
  } catch (const dp::communication_error& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every error of every NCCL call is an exception that names both, and leaves nothing behind",
          "[parallel][nccl]") {
  const char* const functions[] = {
      "ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRankConfig", "ncclGroupStart",    "ncclGroupEnd",
      "ncclAllReduce",  "ncclReduce",      "ncclBroadcast",          "ncclReduceScatter", "ncclAllGather"};
  for (const char* const function : functions)
    for (const int nth : {1, 2})
      for (const auto& [code, name, fix] : results) {
        nccl::fail(function, code, nth);
        nccl::set_last_error("the cause");
        const std::string text = failure_of_program();
        INFO(function << " returns " << name << " in call " << nth << ": " << text);
        const bool called_once =
            nth == 2 && (std::string(function) == "ncclGetVersion" || std::string(function) == "ncclGetUniqueId");
        CHECK(text.empty() == called_once);
        if (!called_once) {
          CHECK_THAT(text, ContainsSubstring(std::string("(") + name + "); NCCL's last error is: the cause. "));
          CHECK_THAT(text, ContainsSubstring(fix));
          if (std::string(function).find("ncclGroup") != 0) CHECK_THAT(text, ContainsSubstring(function));
        }
        CHECK(nccl::live_communicators() == 0);
        nccl::recover();
      }
  CHECK(violations().empty());
}

TEST_CASE("an asynchronous NCCL error is thrown, and the communicators are aborted", "[parallel][nccl]") {
  for (const char* const function : {"ncclCommInitRankConfig", "ncclAllReduce", "ncclReduce", "ncclBroadcast"})
    for (const auto& [code, name, fix] : results) {
      nccl::fail_later(function, code, 2);
      const int aborted = nccl::aborted_communicators();
      const std::string text = failure_of_program();
      INFO(function << " comes to " << name << ": " << text);
      CHECK_THAT(text, ContainsSubstring(std::string(function) + " of rank 1 of 2 (cuda:1) failed: "));
      CHECK_THAT(text, ContainsSubstring(name));
      CHECK_THAT(text, ContainsSubstring(fix));
      CHECK(nccl::aborted_communicators() == aborted + 2);
      CHECK(nccl::live_communicators() == 0);
      nccl::recover();
    }
  CHECK(violations().empty());
}

TEST_CASE("errors while NCCL is shut down abort its communicators", "[parallel][nccl]") {
  for (const auto& [code, name, fix] : results) {
    nccl::fail("ncclCommFinalize", code);
    CHECK(failure_of_program().empty());
    CHECK(nccl::live_communicators() == 0);
  }
  CHECK(nccl::aborted_communicators() == 2 * 6);
  CHECK(violations().empty());
}

TEST_CASE("an NCCL communicator is not used again after a failure", "[parallel][nccl]") {
  connected both = connect(two);
  const buffers<float> values(two, 10);
  nccl::fail("ncclAllReduce", ncclInternalError);
  CHECK_THROWS_AS(both.all_reduce(values.span(), 10, reduction::sum), dp::communication_error);
  nccl::recover();
  nccl::clear_calls();
  CHECK_THROWS_WITH(both.broadcast(values.span(), 10, 0),
                    ContainsSubstring("an earlier collective of this communicator failed"));
  CHECK(nccl::calls().empty());
}

TEST_CASE("an exception in the program aborts NCCL, which would otherwise wait for the other ranks",
          "[parallel][nccl]") {
  CHECK_THROWS_AS(
      [] {
        const connected both = connect(two);
        throw std::runtime_error("another mistake");
      }(),
      std::runtime_error);
  CHECK(nccl::aborted_communicators() == 2);
  CHECK(violations().empty());
}

namespace {

/// A group of one process with a timeout of 0.1 s, whose monitor counts its checks.
class impatient_group final : public dp::parallel::transport {
 public:
  struct monitor_type final : dp::parallel::group_monitor {
    void enter(const dp::parallel::collective_call& call) noexcept override { calls += std::string(call.name) + " "; }
    void leave() noexcept override { calls += "left "; }
    void resume() noexcept override { calls += "waits "; }
    void check() override {
      if (++checks == fails_at) throw dp::communication_error("rank 1 is gone.");
    }
    dp::process_options options() const override {
      dp::process_options options;
      options.init_timeout = options.op_timeout = 0.1;
      return options;
    }
    std::string calls;
    int checks = 0, fails_at = 0;
  };

  impatient_group() : transport({}) {}
  std::string description() const override { return "1 process"; }
  std::size_t portion() const noexcept override { return std::size_t{1} << 20; }
  void start_collect(std::span<std::byte* const>, std::span<const std::size_t>) override {}
  bool poll() override { return true; }
  void wait() override {}
  collected summands() noexcept override { return {}; }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    for (std::byte* const buffer : buffers) std::memmove(buffer, part, begins.back());
  }
  void barrier() override {}
  std::shared_ptr<transport> split(int, int) override { return nullptr; }
  dp::parallel::group_monitor* monitor() noexcept override { return &watching; }

  monitor_type watching;
};

}  // namespace

TEST_CASE("an NCCL call that never ends times out", "[parallel][nccl]") {
  nccl::recover();
  const int aborted = nccl::aborted_communicators();
  const auto group = std::make_shared<impatient_group>();
  SECTION("at the start") {
    nccl::hang();
    CHECK_THROWS_WITH(connected(two, dp::process_group(group)),
                      ContainsSubstring("ncclCommInitRankConfig of rank 0 of 2 (cuda:0) is not done after"));
    CHECK(group->watching.checks > 1);
  }
  SECTION("later") {
    connected both(two, dp::process_group(group));
    const buffers<float> values(two, 10);
    nccl::hang();
    CHECK_THROWS_WITH(both.all_reduce(values.span(), 10, reduction::sum),
                      ContainsSubstring("another rank did not make this call, or cannot be reached"));
  }
  SECTION("as soon as the group reports a failure") {
    group->watching.fails_at = 3;
    nccl::hang();
    CHECK_THROWS_WITH(connected(two, dp::process_group(group)), Equals("devplace: rank 1 is gone."));
  }
  SECTION("during shutdown") {
    const std::optional<connected> both(std::in_place, two, dp::process_group(group));
    nccl::hang();
  }
  CHECK(nccl::live_communicators() == 0);
  CHECK(nccl::aborted_communicators() == aborted + 2);
  CHECK(violations().empty());
}

TEST_CASE("a thread that waits for a device learns that its collective cannot end", "[parallel][nccl]") {
  nccl::recover();
  const int aborted = nccl::aborted_communicators();
  const auto group = std::make_shared<impatient_group>();
  connected both(two, dp::process_group(group));
  const buffers<float> values(two, 10);
  dp::synchronize<dp::cuda<0>>();
  group->watching.calls.clear();
  both.all_reduce(values.span(), 10, reduction::sum);
  dp::synchronize<dp::cuda<0>>();
  CHECK(group->watching.calls == "all_reduce left ");
  cuda::set_done(false);  // the devices never finish
  SECTION("from NCCL") {
    nccl::fail("ncclCommGetAsyncError", ncclRemoteError);
    CHECK_THROWS_WITH(dp::synchronize<dp::cuda<1>>(),
                      ContainsSubstring("ncclAllReduce of rank 0 of 2 (cuda:0) failed: remote process exited"));
  }
  SECTION("from the group") {
    group->watching.fails_at = group->watching.checks + 2;
    CHECK_THROWS_WITH(dp::synchronize<dp::cuda<0>>(), Equals("devplace: rank 1 is gone."));
  }
  SECTION("by timeout") {
    CHECK_THROWS_WITH(values.values(0), ContainsSubstring("ncclAllReduce of rank 0 of 2 (cuda:0) is not done after"));
  }
  CHECK(group->watching.calls == "all_reduce left waits left ");
  CHECK(nccl::aborted_communicators() == aborted + 2);
  cuda::set_done(true);
}

TEST_CASE("NCCL's error texts name the fix for the most frequent errors", "[parallel][nccl]") {
  const auto fix = [](const char* last_error) {
    return dp::parallel::detail::nccl_remedy(ncclSystemError, last_error);
  };
  CHECK_THAT(fix("Error while creating shared memory segment /dev/shm/nccl-x (size 9637888)"),
             ContainsSubstring("--shm-size=1g"));
  CHECK_THAT(fix("Mismatched NCCL version detected : rank 0 ..."), ContainsSubstring("the same version of NCCL"));
  CHECK_THAT(fix("Cuda failure 2 'out of memory'"), ContainsSubstring("NCCL_BUFFSIZE"));
  CHECK_THAT(fix("no route to host"), ContainsSubstring("NCCL_SOCKET_IFNAME"));
}
