// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/parallel/nccl.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/process/launch.hpp>

#include "parallel/nccl_buffers.hpp"
#include "process/control/job.hpp"
#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_nccl/mock_nccl.hpp"

namespace dp = devplace;
namespace cuda = devplace::test::mock_cuda;
namespace nccl = devplace::test::mock_nccl;
using Catch::Matchers::ContainsSubstring;
using dp::test::by_direct;
using dp::test::forked_ranks;
using dp::test::rank_buffers;
using dp::test::start_as_torchrun;

namespace {

using connected = dp::parallel::nccl_communicator<dp::backend::cuda>;
const std::array<int, 2> two{0, 1};
const std::span<const int> one = std::span(two).first(1);

connected connect(std::span<const int> ordinals, const dp::process_group& group) {
  return dp::collective::nccl{}.connect_across<dp::backend::cuda>(ordinals, group);
}

void require(bool fact, const char* what) {
  if (!fact) throw std::runtime_error(what);
}

dp::process_options throwing() {
  dp::process_options options = dp::test::quick();
  options.failure = dp::on_failure::throw_;
  return options;
}

/// Compares NCCL with `places` GPUs in each process to `direct` with as many places in one process.
void compare_with_direct(const dp::process_group& group, std::size_t places) {
  const auto ordinals = std::span(two).first(places);
  const auto n = static_cast<std::size_t>(group.size()) * places;
  {
    connected all = connect(ordinals, group);
    require(all.size() == static_cast<int>(n) && all.local_count() == static_cast<int>(places), "another size");
    const auto first = static_cast<std::size_t>(all.first_rank());
    for (const std::size_t count : {1u, 40u, 64u, 1003u}) {
      std::vector<std::size_t> begins(n + 1);
      for (std::size_t r = 0; r <= n; ++r) begins[r] = dp::parallel::share_begin(count, n, r);
      const std::span<const std::size_t> at = begins;
      const auto check = [&](const char* what, bool shared, const auto& f) {
        const rank_buffers<float> given(ordinals, count, all.first_rank());
        f(all, given.span());
        const auto expected = by_direct<float>(n, count, f);
        for (std::size_t k = 0; k != places; ++k) {
          const auto values = given.values(k);
          for (std::size_t i = shared ? at[first + k] : 0; i != (shared ? at[first + k + 1] : count); ++i)
            require(values[i] == expected[first + k][i], what);
        }
      };
      check("all_reduce", false, [&](auto& c, auto b) { c.all_reduce(b, count, dp::reduction::sum); });
      check("broadcast", false, [&](auto& c, auto b) { c.broadcast(b, count, 1); });
      check("reduce_scatter", true, [&](auto& c, auto b) { c.reduce_scatter(b, at, dp::reduction::sum); });
      check("all_gather", false, [&](auto& c, auto b) { c.all_gather(b, at); });
    }
  }
  require(nccl::live_communicators() == 0 && nccl::aborted_communicators() == 0, "communicators are left");
  if (const std::string wrong = dp::test::violations(); !wrong.empty()) throw std::runtime_error(wrong);
}

void check_success(forked_ranks& processes) {
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 0");
    CHECK(text.empty());
  }
}

/// The messages of two processes, by default on the same GPU, while they connect.
template <class F> std::vector<std::string> errors_of_two(const F& before) {
  nccl::meet_in_shared_memory();
  forked_ranks processes;
  start_as_torchrun(processes, 2, 2, [&] {
    const dp::process_group group = dp::launched_processes(throwing());
    before(group.rank());
    static_cast<void>(connect(one, group));
  });
  std::vector<std::string> texts;
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 3");
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

TEST_CASE("NCCL over processes equals direct in one process", "[parallel][nccl]") {
  const auto places = GENERATE(std::size_t{1}, std::size_t{2});
  const int size = GENERATE(2, 4);
  nccl::meet_in_shared_memory();
  cuda::set_devices(size * static_cast<int>(places));
  forked_ranks processes;
  start_as_torchrun(processes, size, size,
                    [places] { compare_with_direct(dp::launched_processes(dp::test::quick()), places); });
  check_success(processes);
}

TEST_CASE("NCCL connects each part of a split group separately", "[parallel][nccl]") {
  nccl::meet_in_shared_memory();
  cuda::set_devices(4);
  forked_ranks processes;
  start_as_torchrun(processes, 4, 4, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const dp::process_group part = group.split(group.rank() % 2);
    require(part.size() == 2, "another part");
    compare_with_direct(part, 1);
  });
  check_success(processes);
}

TEST_CASE("NCCL connects the GPUs of several hosts started by torchrun", "[parallel][nccl]") {
  nccl::meet_in_shared_memory();
  forked_ranks processes;
  start_as_torchrun(processes, 4, 2, [] {
    ::setenv("NCCL_HOSTID", std::getenv("GROUP_RANK"), 1);
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    compare_with_direct(group, 1);
    compare_with_direct(group.split(group.rank() % 2), 1);
  });
  check_success(processes);
}

TEST_CASE("two processes on one GPU both get the error", "[parallel][nccl]") {
  ::setenv("DEVPLACE_DEVICE_MAP", "0:0", 1);
  for (const std::string& text : errors_of_two([](int) {}))
    CHECK_THAT(text, ContainsSubstring("ranks 0 and 1 use one GPU (PCI address 0000:01:00.0), and NCCL 2."));
}

TEST_CASE("two processes may share one GPU if NCCL_HOSTID declares them as two hosts", "[parallel][nccl]") {
  ::setenv("DEVPLACE_DEVICE_MAP", "0:0", 1);
  nccl::meet_in_shared_memory();
  forked_ranks processes;
  start_as_torchrun(processes, 2, 2, [] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    ::setenv("NCCL_HOSTID", group.is_main() ? "a" : "b", 1);
    compare_with_direct(group, 1);
  });
  check_success(processes);
}

TEST_CASE("processes with different NCCL versions get an error", "[parallel][nccl]") {
  for (const std::string& text : errors_of_two([](int rank) { nccl::set_version(rank == 0 ? 22809 : 22907); }))
    CHECK_THAT(text, ContainsSubstring("process 0 has loaded NCCL 2.28.9 and process 1 NCCL 2.29.7. All must load the "
                                       "same"));
}

TEST_CASE("all processes get the error if the first cannot create NCCL's id", "[parallel][nccl]") {
  const auto texts = errors_of_two([](int) { nccl::fail("ncclGetUniqueId", ncclSystemError); });
  CHECK_THAT(texts[0], ContainsSubstring("ncclGetUniqueId failed: unhandled system error"));
  CHECK_THAT(texts[1], ContainsSubstring("process 0 could not make NCCL's id (ncclSystemError); its output says why."));
}

TEST_CASE("processes with different numbers of places get an error", "[parallel][nccl]") {
  nccl::meet_in_shared_memory();
  cuda::set_devices(4);
  forked_ranks processes;
  start_as_torchrun(processes, 2, 2, [] {
    const dp::process_group group = dp::launched_processes(throwing());
    static_cast<void>(connect(group.is_main() ? one : std::span<const int>(two), group));
  });
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 3");
    CHECK_THAT(text, ContainsSubstring("process 0 has 1 places and process 1 has 2; all processes must be started from "
                                       "the same program."));
  }
}

TEST_CASE("a failing process ends the others, which wait in NCCL or for their devices", "[parallel][nccl]") {
  const std::string how = GENERATE("is killed", "throws", "leaves");
  const bool on_device = GENERATE(false, true);
  const bool throws = GENERATE(false, true);
  nccl::meet_in_shared_memory();
  cuda::set_devices(3);
  forked_ranks processes;
  start_as_torchrun(processes, 3, 3, [&] {
    const dp::process_group group = dp::launched_processes(throws ? throwing() : dp::test::quick());
    connected all = connect(one, group);
    const rank_buffers<float> values(one, 100, group.rank());
    all.all_reduce(values.span(), 100, dp::reduction::sum);
    if (group.rank() != 1) {
      // The mock waits for the other ranks in the call; NCCL's kernel waits on the device.
      if (!on_device) all.all_reduce(values.span(), 100, dp::reduction::sum);
      cuda::set_done(false);
      dp::synchronize<dp::cuda<0>>();
      throw std::logic_error("the devices cannot have come to the end");
    }
    dp::synchronize<dp::cuda<0>>();
    if (how == "is killed") std::raise(SIGKILL);
    if (how == "throws") throw std::runtime_error("no memory");
    std::_Exit(0);
  });
  const auto ends = processes.wait();
  INFO("one " << how << (on_device ? ", on the device" : "") << "\n0: " << ends[0].text << "2: " << ends[2].text);
  CHECK(ends[1].end == (how == "is killed" ? "signal 9" : how == "throws" ? "exit 3" : "exit 0"));
  for (const std::size_t r : {0u, 2u}) {
    CHECK(ends[r].end == (throws ? "exit 3" : "exit 75"));
    if (throws || r == 0) CHECK_THAT(ends[r].text, ContainsSubstring("rank 1 (host "));
  }
}

TEST_CASE("a process that leaves out an NCCL collective is named", "[parallel][nccl]") {
  nccl::meet_in_shared_memory();
  cuda::set_devices(3);
  forked_ranks processes;
  start_as_torchrun(processes, 3, 3, [&] {
    const dp::process_group group = dp::launched_processes(throwing());
    connected all = connect(one, group);
    const rank_buffers<float> values(one, 100, group.rank());
    if (group.rank() != 2) all.all_reduce(values.span(), 100, dp::reduction::sum);
    all.broadcast(values.span(), 50, 0);
  });
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 3");
    CHECK_THAT(text, ContainsSubstring("rank 2 (host "));
    CHECK_THAT(text, ContainsSubstring("makes broadcast"));
  }
}
