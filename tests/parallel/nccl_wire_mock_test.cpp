// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks sums of 16-bit elements moved by NCCL bitwise. devplace's own kernels run on the mock's device memory, which
// is host memory, as soon as they are enqueued: by then NCCL must have delivered its part to the devices.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/parallel/nccl.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/process/launch.hpp>

#include "parallel/nccl_buffers.hpp"
#include "process/control/job.hpp"
#include "process/torchrun.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_nccl/mock_nccl.hpp"

namespace devplace {

template <> struct implementation<backend::cuda, op::for_each> {
  template <class F> static void run(int, std::size_t n, std::size_t, const F& f) {
    for (std::size_t i = 0; i != n; ++i) f(i);
  }
};

}  // namespace devplace

namespace dp = devplace;
namespace cuda = devplace::test::mock_cuda;
namespace nccl = devplace::test::mock_nccl;
using Catch::Matchers::ContainsSubstring;
using dp::reduction;

namespace {

using names = std::vector<std::string>;
using wire_values = std::vector<std::vector<float>>;  // of the participants
constexpr std::array<int, 8> wire_devices{0, 1, 2, 3, 4, 5, 6, 7};

wire_values random_gradients(std::size_t ranks, std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> number;
  wire_values all(ranks, std::vector<float>(count));
  for (auto& one : all)
    for (std::size_t i = 0; i != count; ++i) one[i] = std::ldexp(number(random), static_cast<int>(i % 30) - 20);
  return all;
}

/// Buffers of the participants from `first` on, on the devices of a backend.
template <class Backend, class T> struct wire_buffers {
  wire_buffers(const wire_values& values, std::size_t first, std::size_t places) : count(values[0].size()) {
    for (std::size_t k = 0; k != places; ++k) {
      const std::vector<T> start(values[first + k].begin(), values[first + k].end());
      blocks.push_back(dp::detail::allocate<Backend>(wire_devices[k], count * sizeof(T)));
      at.push_back(static_cast<T*>(blocks[k].data()));
      dp::detail::copy_in<Backend>(wire_devices[k], at[k], start.data(), count * sizeof(T));
    }
  }
  std::span<T* const> span() const { return at; }
  std::vector<float> values(std::size_t k) const {
    std::vector<T> result(count);
    dp::detail::copy_out<Backend>(wire_devices[k], result.data(), at[k], count * sizeof(T));
    return {result.begin(), result.end()};
  }

  std::size_t count;
  std::vector<dp::detail::memory_block> blocks;
  std::vector<T*> at;
};

std::vector<std::size_t> wire_shares(std::size_t count, std::size_t ranks) {
  std::vector<std::size_t> begins(ranks + 1);
  for (std::size_t r = 0; r <= ranks; ++r) begins[r] = dp::parallel::share_begin(count, ranks, r);
  return begins;
}

/// The sums of rounded elements, added in float and rounded once; and the number of them that would differ if rounded
/// after each addition.
template <class Short> std::vector<float> rounded_once(const wire_values& before, std::size_t& rounded_more) {
  std::vector<float> sums(before[0].size());
  for (std::size_t i = 0; i != sums.size(); ++i) {
    Short each(0.0f);
    for (const auto& one : before) {
      sums[i] += static_cast<float>(Short(one[i]));
      each = Short(static_cast<float>(each) + static_cast<float>(Short(one[i])));
    }
    sums[i] = static_cast<float>(Short(sums[i]));
    rounded_more += sums[i] != static_cast<float>(each);
  }
  return sums;
}

template <class Short> void check_sums() {
  std::size_t rounded_more = 0;
  for (const std::size_t n : {1u, 2u, 3u, 4u}) {
    auto all = dp::collective::nccl{}.connect<dp::backend::cuda>(std::span(wire_devices).first(n));
    for (const std::size_t count : {0u, 1u, 15u, 64u, 3001u}) {
      INFO(count << " elements on " << n);
      const wire_values before = random_gradients(n, count);
      const std::vector<float> expected = rounded_once<Short>(before, rounded_more);
      const auto begins = wire_shares(count, n);
      const wire_buffers<dp::backend::cuda, Short> whole(before, 0, n), root(before, 0, n), shares(before, 0, n);
      all.all_reduce(whole.span(), count, reduction::sum);
      all.reduce(root.span(), count, reduction::sum, static_cast<int>(n) - 1);
      all.reduce_scatter(shares.span(), std::span<const std::size_t>(begins), reduction::sum);
      CHECK(root.values(n - 1) == expected);
      for (std::size_t r = 0; r != n; ++r) {
        CHECK(whole.values(r) == expected);
        const auto from = static_cast<std::ptrdiff_t>(begins[r]), to = static_cast<std::ptrdiff_t>(begins[r + 1]);
        const std::vector<float> share = shares.values(r);
        CHECK(std::equal(share.begin() + from, share.begin() + to, expected.begin() + from));
      }
      all.all_gather(shares.span(), std::span<const std::size_t>(begins));
      CHECK(shares.values(0) == expected);
    }
  }
  CHECK(rounded_more > 100);
  CHECK(dp::test::violations().empty());
}

/// The values of this process's participants after the engine has reduced gradients in bf16 as a trainer does after
/// backward, and in two buckets during backward.
template <class Backend, class Communicator>
std::vector<std::vector<float>> reduced_in_16_bits(Communicator communicator, const wire_values& before) {
  const auto first = static_cast<std::size_t>(communicator.first_rank());
  const auto places = static_cast<std::size_t>(communicator.local_count());
  const std::size_t count = before[0].size(), half = count / 2;
  std::vector<std::vector<float>> all;
  const wire_buffers<Backend, float> whole(before, first, places), started(before, first, places);
  communicator.reduce_rounded(whole.span(), count, true);
  const auto begins = wire_shares(count - half, static_cast<std::size_t>(communicator.size()));
  communicator.prepare(count, sizeof(float));
  communicator.prepare_rounded(count);
  for (std::size_t k = 0; k != places; ++k) {
    communicator.round(k, static_cast<const float*>(started.at[k]), 0, half);
    communicator.mark_ready(k);
    communicator.round(k, static_cast<const float*>(started.at[k] + half), half, count - half);
    communicator.mark_ready(k);
  }
  communicator.start_all_reduce(communicator.rounded(0), half, reduction::sum);
  communicator.progress();
  communicator.start_reduce_scatter(communicator.rounded(half), begins, reduction::sum);
  communicator.finish();
  for (std::size_t k = 0; k != places; ++k) {
    communicator.take(k, started.at[k], 0, half);
    communicator.take_part(k, started.at[k] + half, half, begins);
    all.push_back(whole.values(k));
    all.push_back(started.values(k));
  }
  return all;
}

template <class Engine> auto connect_wire(std::size_t places, const dp::process_group& group) {
  return dp::collective::wire<dp::bf16, Engine>{}.template connect_across<dp::backend::cuda>(
      std::span(wire_devices).first(places), group);
}

/// The values of all participants after the same reduction by the built-in engine on CPUs.
std::vector<std::vector<float>> reduced_by_direct(const wire_values& before) {
  const std::vector<int> ordinals(before.size(), 0);
  using by_direct = dp::collective::wire<dp::bf16>;
  return reduced_in_16_bits<dp::backend::cpu>(by_direct::communicator<dp::backend::cpu>(ordinals), before);
}

}  // namespace

TEST_CASE("NCCL sums of 16-bit elements are formed in float in rank order", "[parallel][nccl]") {
  cuda::set_devices(4);
  check_sums<dp::bf16>();
  check_sums<dp::half>();
  CHECK(nccl::live_communicators() == 0);
}

TEST_CASE("gradients in 16 bits are bitwise equal over NCCL and direct", "[parallel][nccl]") {
  cuda::set_devices(4);
  nccl::set_delay(GENERATE(0, 3));
  for (const std::size_t n : {2u, 3u}) {
    const wire_values before = random_gradients(n, 1003);
    using by_nccl = dp::collective::wire<dp::bf16, dp::collective::nccl>;
    CHECK(reduced_in_16_bits<dp::backend::cuda>(by_nccl{}.connect<dp::backend::cuda>(std::span(wire_devices).first(n)),
                                                before) == reduced_by_direct(before));
  }
  CHECK(dp::test::violations().empty());
}

TEST_CASE("processes that send gradients in 16 bits over NCCL are bitwise equal to one process", "[parallel][nccl]") {
  const auto places = GENERATE(std::size_t{1}, std::size_t{2});
  const int size = GENERATE(2, 3);
  nccl::meet_in_shared_memory();
  cuda::set_devices(size * static_cast<int>(places));
  const wire_values before = random_gradients(static_cast<std::size_t>(size) * places, 1003);
  const auto expected = reduced_by_direct(before);
  dp::test::forked_ranks processes;
  dp::test::start_as_torchrun(processes, size, size, [&] {
    const dp::process_group group = dp::launched_processes(dp::test::quick());
    const auto got = reduced_in_16_bits<dp::backend::cuda>(connect_wire<dp::collective::nccl>(places, group), before);
    const auto first = static_cast<std::ptrdiff_t>(2 * static_cast<std::size_t>(group.rank()) * places);
    if (!std::equal(got.begin(), got.end(), expected.begin() + first)) throw std::logic_error("other bits");
    if (const std::string wrong = dp::test::violations(); !wrong.empty()) throw std::logic_error(wrong);
  });
  for (const auto& [end, text] : processes.wait()) {
    CHECK(end == "exit 0");
    CHECK(text.empty());
  }
}

TEST_CASE("a started sum of 16-bit elements is sent in parts, added and gathered without allocation",
          "[parallel][nccl]") {
  auto both = dp::collective::nccl{}.connect<dp::backend::cuda>(std::span(wire_devices).first(2));
  const wire_values before = random_gradients(2, 67);
  const wire_buffers<dp::backend::cuda, dp::bf16> values(before, 0, 2);
  const auto start = [&] {
    both.mark_ready(0);
    both.mark_ready(1);
    both.start_all_reduce(values.span(), 67, reduction::sum);
  };
  CHECK_THROWS_WITH(start(), ContainsSubstring("call prepare with the largest number of elements"));
  both.abandon();
  both.prepare(67, sizeof(dp::bf16));
  nccl::clear_calls();
  cuda::clear_calls();
  start();
  CHECK(nccl::calls() == names{"ncclGroupStart", "ncclSend rank 0 of 2, 35 bfloat16, to rank 1, on device 0",
                               "ncclRecv rank 0 of 2, 32 bfloat16, from rank 1, on device 0",
                               "ncclSend rank 1 of 2, 32 bfloat16, to rank 0, on device 1",
                               "ncclRecv rank 1 of 2, 35 bfloat16, from rank 0, on device 1", "ncclGroupEnd"});
  nccl::clear_calls();
  both.progress();
  CHECK(nccl::calls() == names{"ncclGroupStart", "ncclAllGather rank 0 of 2, 32 bfloat16, on device 0",
                               "ncclBroadcast rank 0 of 2, 3 bfloat16, root 1, on device 0",
                               "ncclAllGather rank 1 of 2, 32 bfloat16, on device 1",
                               "ncclBroadcast rank 1 of 2, 3 bfloat16, root 1, on device 1", "ncclGroupEnd"});
  both.finish();
  for (const std::string& call : cuda::calls()) CHECK_THAT(call, !ContainsSubstring("cudaMalloc"));
  std::size_t rounded_more = 0;
  CHECK(values.values(0) == rounded_once<dp::bf16>(before, rounded_more));
  CHECK_THROWS_WITH(both.all_reduce(values.span(), 67, reduction::mean), ContainsSubstring("Divide after a sum"));
  CHECK_THROWS_WITH(both.all_reduce(values.span(), 67, reduction::max), ContainsSubstring("ignore NaN"));
  nccl::clear_calls();
  start();
  both.abandon();  // the other ranks may wait for the second part
  CHECK(nccl::aborted_communicators() == 0);
  nccl::hang();
  start();
  both.abandon();
  CHECK(nccl::aborted_communicators() == 2);
  CHECK(dp::test::violations().empty());
}

TEST_CASE("every failure of an NCCL sum of 16-bit elements is reported and ends the communicator", "[parallel][nccl]") {
  const std::string function = GENERATE("ncclSend", "ncclRecv", "ncclAllGather");
  const bool later = GENERATE(false, true);
  nccl::recover();
  const int aborted = nccl::aborted_communicators();
  auto both = dp::collective::nccl{}.connect<dp::backend::cuda>(std::span(wire_devices).first(2));
  const wire_buffers<dp::backend::cuda, dp::bf16> values(random_gradients(2, 64), 0, 2);
  (later ? nccl::fail_later : nccl::fail)(function, ncclSystemError, 2);
  CHECK_THROWS_WITH(both.all_reduce(values.span(), 64, reduction::sum),
                    ContainsSubstring(function) && ContainsSubstring("unhandled system error"));
  CHECK(nccl::aborted_communicators() == aborted + 2);
  CHECK_THROWS_AS(both.all_reduce(values.span(), 64, reduction::sum), dp::communication_error);
  CHECK(dp::test::violations().empty());
}
