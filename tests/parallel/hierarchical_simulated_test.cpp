// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over the places of each process and then over the processes are bitwise equal to loops in the same order.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/hierarchical.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using device = dp::backend::cuda;

namespace {

constexpr std::array<int, 8> ordinals{0, 1, 2, 3, 4, 5, 6, 7};

using values = std::vector<std::vector<float>>;  // of the participants

values random_values(std::size_t participants, std::size_t count) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> number(-1, 1);
  values all(participants, std::vector<float>(count));
  for (auto& one : all)
    for (float& x : one) x = number(random);
  return all;
}

/// The expected result of a reduction in two levels.
std::vector<float> reduced(const values& all, std::size_t local, dp::reduction op) {
  const auto both = [op](float a, float b) { return op == dp::reduction::max ? std::max(a, b) : a + b; };
  const auto divided = [op](float sum, std::size_t n) {
    return op == dp::reduction::mean ? sum / static_cast<float>(n) : sum;
  };
  std::vector<float> result(all[0].size());
  for (std::size_t i = 0; i != result.size(); ++i) {
    for (std::size_t first = 0; first != all.size(); first += local) {
      float of_process = all[first][i];
      for (std::size_t k = 1; k != local; ++k) of_process = both(of_process, all[first + k][i]);
      of_process = divided(of_process, local);
      result[i] = first == 0 ? of_process : both(result[i], of_process);
    }
    result[i] = divided(result[i], all.size() / local);
  }
  return result;
}

/// Each participant's values after every process has called the collective `f(communicator, buffers)`.
template <class F> values after(int processes, std::size_t local, const values& before, const F& f) {
  values result(before.size());
  dp::test::in_processes(processes, [&](const dp::process_group& group) {
    const std::size_t first = static_cast<std::size_t>(group.rank()) * local, count = before[0].size();
    const std::span<const int> own(ordinals.data() + first, local);
    std::vector<dp::detail::memory_block> blocks;
    std::vector<float*> buffers;
    for (std::size_t k = 0; k != local; ++k) {
      blocks.push_back(dp::detail::allocate<device>(own[k], count * sizeof(float)));
      buffers.push_back(static_cast<float*>(blocks[k].data()));
      dp::detail::copy_in<device>(own[k], buffers[k], before[first + k].data(), count * sizeof(float));
    }
    auto communicator = dp::collective::hierarchical{}.connect_across<device>(own, group);
    if (communicator.size() != processes * static_cast<int>(local) ||
        communicator.first_rank() != static_cast<int>(first) || communicator.local_count() != static_cast<int>(local))
      throw std::logic_error("the communicator has other participants.");
    communicator.prepare(count, sizeof(float));
    f(communicator, std::span<float* const>(buffers));
    for (std::size_t k = 0; k != local; ++k) {
      result[first + k].resize(count);
      dp::detail::copy_out<device>(own[k], result[first + k].data(), buffers[k], count * sizeof(float));
    }
  });
  return result;
}

/// Boundaries of uneven parts, of which the second is empty; the first elements are in no part.
std::vector<std::size_t> uneven(std::size_t participants, std::size_t count) {
  std::vector<std::size_t> begins(participants + 1, count);
  for (std::size_t r = 0; r != participants; ++r)
    begins[r] = r == 2 ? begins[1] : count * (r * r + 1) / (participants * participants + 1);
  return begins;
}

/// Counts the bytes that are summed over the processes.
class counting_transport final : public dp::parallel::transport {
 public:
  explicit counting_transport(std::shared_ptr<transport> via) : transport(via->ranks()), via_(std::move(via)) {}
  std::string description() const override { return via_->description(); }
  std::size_t portion() const noexcept override { return via_->portion(); }
  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    bytes += buffers.size() * begins.back();
    via_->start_collect(buffers, begins);
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    via_->start_distribute(part, buffers, begins);
  }
  bool poll() override { return via_->poll(); }
  void wait() override { via_->wait(); }
  collected summands() noexcept override { return via_->summands(); }
  void barrier() override { via_->barrier(); }
  std::shared_ptr<transport> split(int color, int key) override { return via_->split(color, key); }

  std::size_t bytes = 0;

 private:
  std::shared_ptr<transport> via_;
};

}  // namespace

TEST_CASE("sums are formed first over the places of each process, then over the processes", "[parallel]") {
  for (const auto& [processes, local] : {std::pair{1, 3}, {2, 2}, {2, 4}, {4, 2}, {3, 1}}) {
    const auto of_process = static_cast<std::size_t>(local),
               participants = static_cast<std::size_t>(processes) * of_process;
    const int last = static_cast<int>(participants) - 1;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5003}}) {
      INFO(processes << " processes with " << local << " places each, " << count << " elements");
      const values before = random_values(participants, count);
      const auto begins = uneven(participants, count);
      for (const auto op : {dp::reduction::sum, dp::reduction::mean, dp::reduction::max}) {
        const auto expected = reduced(before, of_process, op);
        CHECK(after(processes, of_process, before, [&](auto& c, auto buffers) { c.all_reduce(buffers, count, op); }) ==
              values(participants, expected));
        for (const int root : {0, last})
          CHECK(after(processes, of_process, before, [&](auto& c, auto buffers) {
                  c.reduce(buffers, count, op, root);
                })[static_cast<std::size_t>(root)] == expected);
        const values parts =
            after(processes, of_process, before, [&](auto& c, auto buffers) { c.reduce_scatter(buffers, begins, op); });
        for (std::size_t r = 0; r != participants; ++r)
          CHECK(std::equal(parts[r].data() + begins[r], parts[r].data() + begins[r + 1], expected.data() + begins[r]));
      }
      for (const int root : {0, last})
        CHECK(after(processes, of_process, before, [&](auto& c, auto buffers) { c.broadcast(buffers, count, root); }) ==
              values(participants, before[static_cast<std::size_t>(root)]));
      values gathered = before;
      for (auto& one : gathered)
        for (std::size_t r = 0; r != participants; ++r)
          std::copy(before[r].data() + begins[r], before[r].data() + begins[r + 1], one.data() + begins[r]);
      CHECK(after(processes, of_process, before, [&](auto& c, auto buffers) { c.all_gather(buffers, begins); }) ==
            gathered);
    }
  }
}

TEST_CASE("one buffer of each process is sent, however many places it has", "[parallel]") {
  const std::size_t count = 1024;
  CHECK_NOTHROW(dp::test::in_processes(2, [&](const dp::process_group& group) {
    const auto via = std::make_shared<counting_transport>(group.transport());
    const std::span<const int> own = std::span(ordinals).subspan(static_cast<std::size_t>(group.rank()) * 4, 4);
    std::vector<dp::detail::memory_block> blocks;
    std::vector<float*> buffers;
    for (const int ordinal : own) {
      blocks.push_back(dp::detail::allocate<device>(ordinal, count * sizeof(float)));
      buffers.push_back(static_cast<float*>(blocks.back().data()));
    }
    const std::span<float* const> all(buffers);
    const auto bytes_by = [&](auto engine) {
      via->bytes = 0;
      engine.template connect_across<device>(own, dp::process_group(via)).all_reduce(all, count, dp::reduction::sum);
      return via->bytes;
    };
    if (bytes_by(dp::collective::direct{}) != 4 * count * sizeof(float))
      throw std::logic_error("direct gives not the buffers of all places to the transport.");
    if (bytes_by(dp::collective::hierarchical{}) != count * sizeof(float))
      throw std::logic_error("hierarchical gives other buffers than one to the transport.");
  }));
}

TEST_CASE("a communicator in two levels rejects misuse by name", "[parallel]") {
  auto communicator =
      dp::collective::hierarchical{}.connect_across<device>(std::span(ordinals).first(2), dp::process_group{});
  const std::array<float*, 2> two{};
  const std::array<std::size_t, 2> too_few{0, 0};
  const std::span<float* const> buffers(two);
  CHECK_THROWS_WITH(communicator.reduce(buffers, 0, dp::reduction::sum, 2),
                    ContainsSubstring("the root is rank 2; give one from 0 to 1."));
  CHECK_THROWS_WITH(communicator.broadcast(buffers, 0, -1), ContainsSubstring("the root is rank -1"));
  CHECK_THROWS_WITH(communicator.all_gather(buffers, too_few),
                    ContainsSubstring("one more than there are participants in all processes"));
  CHECK_THROWS_WITH(communicator.reduce_scatter(buffers, too_few, dp::reduction::sum),
                    ContainsSubstring("one more than there are participants in all processes"));
  CHECK_THROWS_WITH(communicator.all_reduce(buffers.first(1), 0, dp::reduction::sum),
                    ContainsSubstring("collective: 1 buffers were given for 2 places"));
  // A process without the root refuses them too, and does not wait for the others: their next call is another one.
  const values before = random_values(4, 8);
  const values sums = after(2, 2, before, [](auto& both, std::span<float* const> two_buffers) {
    try {
      both.broadcast(two_buffers.first(1), 8, 0);
      throw std::logic_error("a buffer is missing.");
    } catch (const dp::argument_error&) {
    }
    both.all_reduce(two_buffers, 8, dp::reduction::sum);
  });
  for (const auto& sum : sums) CHECK(sum == reduced(before, 2, dp::reduction::sum));
}
