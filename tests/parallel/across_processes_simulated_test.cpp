// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives over processes, for which threads stand in, are bitwise equal to collectives of one process over as many
// places.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/policy.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using dp::test::in_processes;

namespace {

using values = std::vector<std::vector<float>>;  // of the participants

values random_values(std::size_t participants, std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  values all(participants, std::vector<float>(count));
  for (auto& one : all)
    for (float& x : one) x = number(random);
  return all;
}

/// One buffer per device, each with the values of one participant.
template <class Backend> class device_buffers {
 public:
  device_buffers(std::span<const int> ordinals, const values& all, std::size_t first)
      : ordinals_(ordinals.begin(), ordinals.end()), count_(all[0].size()) {
    for (std::size_t k = 0; k != ordinals.size(); ++k) {
      blocks_.push_back(dp::detail::allocate<Backend>(ordinals[k], count_ * sizeof(float)));
      pointers_.push_back(static_cast<float*>(blocks_[k].data()));
      dp::detail::copy_in<Backend>(ordinals[k], pointers_[k], all[first + k].data(), count_ * sizeof(float));
    }
  }
  std::span<float* const> span() const { return pointers_; }
  std::vector<float> read(std::size_t k) const {
    std::vector<float> result(count_);
    dp::detail::copy_out<Backend>(ordinals_[k], result.data(), pointers_[k], count_ * sizeof(float));
    return result;
  }

 private:
  std::vector<int> ordinals_;
  std::size_t count_;
  std::vector<dp::detail::memory_block> blocks_;
  std::vector<float*> pointers_;
};

/// One collective of an engine, called with a communicator, buffers and the number of participants.
struct call {
  const char* name;
  /// Which ranks' buffers are defined afterwards.
  enum { all, root_alone, own_part } defined;
  std::vector<std::size_t> begins;
  int root = 0;
  dp::reduction op = dp::reduction::sum;
};

template <class Communicator>
void make(Communicator&& c, const call& what, std::span<float* const> buffers, std::size_t count) {
  const std::string name = what.name;
  if (name == "all_reduce") return c.all_reduce(buffers, count, what.op);
  if (name == "reduce") return c.reduce(buffers, count, what.op, what.root);
  if (name == "broadcast") return c.broadcast(buffers, count, what.root);
  if (name == "reduce_scatter") return c.reduce_scatter(buffers, what.begins, what.op);
  if (name == "all_gather") return c.all_gather(buffers, what.begins);
  throw std::logic_error("no such collective.");
}

/// Boundaries of uneven parts, some of them empty; the first elements are in no part.
std::vector<std::size_t> uneven(std::size_t participants, std::size_t count) {
  std::vector<std::size_t> begins(participants + 1, count);
  begins[0] = count / 8;
  for (std::size_t r = 1; r < participants; ++r)
    begins[r] = r % 3 == 2 ? begins[r - 1] : std::max(begins[r - 1], count * r * r / (participants * participants));
  return begins;
}

template <class Engine, class Backend>
void compare(int processes, int local, std::size_t count, const call& what, std::size_t portion) {
  const auto participants = static_cast<std::size_t>(processes * local);
  const values before = random_values(participants, count);
  const std::array<int, 8> ordinals{0, 1, 2, 3, 4, 5, 6, 7};

  // The same number of simulated devices in one process.
  const std::span<const int> of_one(ordinals.data(), participants);
  device_buffers<dp::backend::cuda> expected(of_one, before, 0);
  make(Engine{}.template connect<dp::backend::cuda>(of_one), what, expected.span(), count);

  in_processes(
      processes,
      [&](const dp::process_group& group) {
        const auto first = static_cast<std::size_t>(group.rank() * local);
        // Processes have separate devices; here they use other devices of this process.
        const auto own = std::is_same_v<Backend, dp::backend::cpu>
                             ? std::span<const int>(ordinals.data(), 1)
                             : std::span<const int>(ordinals.data() + first, static_cast<std::size_t>(local));
        device_buffers<Backend> buffers(own, before, first);
        auto communicator = Engine{}.template connect_across<Backend>(own, group);
        if (communicator.size() != processes * local || communicator.first_rank() != group.rank() * local ||
            communicator.local_count() != local)
          throw std::logic_error("the communicator has other participants.");
        communicator.prepare(count, sizeof(float));
        make(communicator, what, buffers.span(), count);
        for (std::size_t k = 0; k != own.size(); ++k) {
          const std::size_t rank = first + k;
          if (what.defined == call::root_alone && static_cast<int>(rank) != what.root) continue;
          const bool part = what.defined == call::own_part;
          const std::size_t begin = part ? what.begins[rank] : 0, end = part ? what.begins[rank + 1] : count;
          const auto found = buffers.read(k), wanted = expected.read(rank);
          for (std::size_t i = begin; i != end; ++i)
            if (found[i] != wanted[i])
              throw std::logic_error("element " + std::to_string(i) + " of rank " + std::to_string(rank) + " is " +
                                     std::to_string(found[i]) + " instead of " + std::to_string(wanted[i]) + ".");
        }
      },
      portion);
}

template <class Engine, class Backend> void compare_all(int processes, int local) {
  const auto participants = static_cast<std::size_t>(processes * local);
  // Small enough that some calls take more than one portion.
  const std::size_t portion = 1 << 13;
  for (const std::size_t count : std::vector<std::size_t>{0, 1, participants - 1, 1000, 5003}) {
    INFO(processes << " processes with " << local << " places each, " << count << " elements");
    const auto begins = uneven(participants, count);
    const int last = static_cast<int>(participants) - 1;
    for (const call& what : std::vector<call>{{"all_reduce", call::all, {}, 0, dp::reduction::sum},
                                              {"all_reduce", call::all, {}, 0, dp::reduction::mean},
                                              {"all_reduce", call::all, {}, 0, dp::reduction::max},
                                              {"reduce", call::root_alone, {}, 0},
                                              {"reduce", call::root_alone, {}, last},
                                              {"broadcast", call::all, {}, 0},
                                              {"broadcast", call::all, {}, last},
                                              {"reduce_scatter", call::own_part, begins},
                                              {"all_gather", call::all, begins}}) {
      INFO(what.name);
      CHECK_NOTHROW(compare<Engine, Backend>(processes, local, count, what, portion));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("collectives over processes are bitwise equal to one process with as many places", "[parallel]",
                   collective::direct, collective::ring) {
  for (const int processes : {1, 2, 3, 5}) compare_all<TestType, dp::backend::cpu>(processes, 1);
  compare_all<TestType, dp::backend::cuda>(2, 1);
  compare_all<TestType, dp::backend::cuda>(2, 2);
  compare_all<TestType, dp::backend::cuda>(2, 4);
  compare_all<TestType, dp::backend::cuda>(4, 2);
}

TEST_CASE("a plain collective comes after all earlier work, also after an unused mark", "[parallel]") {
  CHECK_NOTHROW(in_processes(2, [](const dp::process_group& group) {
    const int ordinals[] = {group.rank()};
    auto communicator = collective::direct{}.connect_across<dp::backend::cuda>(ordinals, group);
    const device_buffers<dp::backend::cuda> buffers(ordinals, values(2, std::vector<float>(100, 1)), 0);
    communicator.mark_ready(0);
    dp::detail::simulated_devices::at(ordinals[0]).submit([first = buffers.span()[0]] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      *first = 20;
    });
    communicator.all_reduce(buffers.span(), 100, dp::reduction::sum);
    if (buffers.read(0)[0] != 40 || buffers.read(0)[99] != 2) throw std::logic_error("the sum is of older elements.");
  }));
}

TEST_CASE("a communicator over processes rejects misuse by name", "[parallel]") {
  const std::array<int, 1> one{0};
  auto communicator = collective::direct{}.connect_across<dp::backend::cpu>(one, dp::process_group{});
  std::vector<float> x(4);
  std::vector<int> n(4);
  const std::array<float*, 1> buffers{x.data()};
  const std::array<float*, 2> two{x.data(), x.data()};
  const std::array<int*, 1> integers{n.data()};
  const std::array<std::size_t, 3> too_many{0, 2, 4};
  CHECK_THROWS_WITH(communicator.all_reduce(std::span<float* const>(two), 4, dp::reduction::sum),
                    ContainsSubstring("collective: 2 buffers were given for 1 places of this process"));
  CHECK_THROWS_WITH(communicator.reduce(std::span<float* const>(buffers), 4, dp::reduction::sum, 1),
                    ContainsSubstring("the root is rank 1; give one from 0 to 0."));
  CHECK_THROWS_WITH(communicator.all_gather(std::span<float* const>(buffers), too_many),
                    ContainsSubstring("one more than there are participants in all processes"));
  CHECK_THROWS_WITH(communicator.all_reduce(std::span<int* const>(integers), 4, dp::reduction::mean),
                    ContainsSubstring("a mean over places is defined for"));
  CHECK_THROWS_WITH(communicator.start_all_reduce(std::span<float* const>(buffers), 4, dp::reduction::sum),
                    ContainsSubstring("a collective was started before mark_ready(k) was called"));
}
