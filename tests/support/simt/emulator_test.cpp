// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"

namespace simt = devplace::test::simt;
using Catch::Matchers::ContainsSubstring;
using devplace::detail::pack;

namespace {

/// A kernel of two warps that runs a lambda.
template <class Body> struct two_warps {
  static constexpr unsigned threads = 64;
  Body body;
  void operator()(simt::thread& t) const { body(t); }
};

template <class Body> void launch(Body body, unsigned blocks = 1, std::uint32_t seed = 1) {
  simt::launch(blocks, two_warps<Body>{body}, seed);
}

struct one_thread_more {
  static constexpr unsigned threads = 33;
  void operator()(simt::thread&) const {}
};

/// Returns the violation that the emulator reports for a kernel; empty if there is none.
template <class Body> std::string reported_violation(Body body, std::uint32_t seed = 1) {
  try {
    launch(body, 1, seed);
  } catch (const simt::violation& found) {
    return found.what();
  }
  return {};
}

/// Every thread passes its number to the opposite thread of the block. `barrier`: whether it uses the barrier that this
/// requires.
auto reversal(std::vector<unsigned>& out, bool barrier) {
  return [&out, barrier](simt::thread& t) {
    const auto numbers = t.shared<unsigned, 64>();
    numbers.store(t.thread_index(), t.thread_index());
    if (barrier) t.sync();
    out[t.thread_index()] = numbers.load(63 - t.thread_index());
  };
}

}  // namespace

TEST_CASE("each thread of each block runs once, in an order that depends on the seed", "[simt]") {
  std::array<std::vector<unsigned>, 2> orders;
  for (std::uint32_t seed : {0u, 1u}) {
    std::vector<unsigned> runs(5 * 64);
    launch(
        [&](simt::thread& t) {
          CHECK(t.block_size() == 64);
          CHECK(t.grid_size() == 5);
          ++runs[t.block_index() * 64 + t.thread_index()];
          orders[seed].push_back(t.block_index() * 64 + t.thread_index());
        },
        5, seed);
    CHECK(runs == std::vector<unsigned>(5 * 64, 1));
  }
  CHECK(orders[0] != orders[1]);
}

TEST_CASE("block barriers make earlier writes visible", "[simt]") {
  std::vector<unsigned> out(64);
  for (std::uint32_t seed = 0; seed < 20; ++seed) CHECK(reported_violation(reversal(out, true), seed).empty());
  for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == 63 - i);
}

TEST_CASE("detected: a missing barrier, as a race or a read of uninitialised memory", "[simt]") {
  std::vector<unsigned> out(64);
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    CHECK_THAT(reported_violation(reversal(out, false), seed),
               ContainsSubstring("without a barrier between") || ContainsSubstring("never written"));
}

TEST_CASE("detected: a missing barrier before shared memory is reused", "[simt]") {
  const auto again = [](bool barrier) {
    return [barrier](simt::thread& t) {
      const auto numbers = t.shared<unsigned, 1>();
      for (unsigned round = 0; round < 3; ++round) {
        if (t.thread_index() == 0) numbers.store(0, round);
        t.sync();
        if (numbers.load(0) != round) throw std::logic_error("an old number");
        if (barrier) t.sync();
      }
    };
  };
  CHECK(reported_violation(again(true)).empty());
  CHECK_THAT(reported_violation(again(false)), ContainsSubstring("written by thread 0 and was read by thread"));
}

TEST_CASE("detected: two threads write one element of shared memory", "[simt]") {
  CHECK_THAT(reported_violation([](simt::thread& t) { t.shared<int, 1>().store(0, 1); }),
             ContainsSubstring("and was written by thread"));
}

TEST_CASE("detected: a barrier that some threads do not reach", "[simt]") {
  CHECK_THAT(reported_violation([](simt::thread& t) {
               if (t.thread_index() < 32) t.sync();
             }),
             ContainsSubstring("threads diverge") && ContainsSubstring("waits at sync") &&
                 ContainsSubstring("of 64 threads 32 are at sync") && ContainsSubstring("32 have exited"));
}

TEST_CASE("detected: threads of a block wait at different barriers", "[simt]") {
  const auto body = [](simt::thread& t) {
    if (t.thread_index() % 2 == 0)
      t.sync();
    else
      t.sync();
  };
  CHECK_THAT(reported_violation(body), ContainsSubstring("wait for each other at different places"));
}

TEST_CASE("lanes of a warp exchange values", "[simt]") {
  std::vector<unsigned> sums(64);
  std::vector<unsigned> firsts(64);
  const auto body = [&](simt::thread& t) {
    unsigned sum = t.thread_index();
    for (unsigned mask = 16; mask != 0; mask /= 2) sum += t.shuffle_xor(sum, mask);
    sums[t.thread_index()] = sum;
    firsts[t.thread_index()] = t.shuffle(t.thread_index(), 1, 8);
  };
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    CHECK(reported_violation(body, seed).empty());
    for (unsigned i = 0; i < 64; ++i) {
      CHECK(sums[i] == (i < 32 ? 496 : 496 + 32 * 32));
      CHECK(firsts[i] == i / 8 * 8 + 1);
    }
  }
}

TEST_CASE("detected: a shuffle after some lanes have exited", "[simt]") {
  CHECK_THAT(reported_violation([](simt::thread& t) {
               if (t.thread_index() % 32 >= 30) return;
               t.shuffle_xor(1, 1);
             }),
             ContainsSubstring("waits at shuffle_xor") && ContainsSubstring("4 have exited"));
}

TEST_CASE("detected: lanes of a warp at different shuffles, and a lane that does not exist", "[simt]") {
  CHECK_THAT(reported_violation([](simt::thread& t) {
               if (t.thread_index() % 2 == 0)
                 t.shuffle_xor(1, 1);
               else
                 t.shuffle(1, 0);
             }),
             ContainsSubstring("shuffle_xor in line") && ContainsSubstring("and shuffle in line"));
  CHECK_THAT(reported_violation([](simt::thread& t) { t.shuffle_xor(1, 32); }), ContainsSubstring("asks for lane"));
}

TEST_CASE("a warp's barrier orders its own threads only", "[simt]") {
  const auto neighbours = [](unsigned distance) {
    return [distance](simt::thread& t) {
      const auto numbers = t.shared<unsigned, 64>();
      numbers.store(t.thread_index(), t.thread_index());
      t.sync_warp();
      numbers.load(t.thread_index() ^ distance);
    };
  };
  CHECK(reported_violation(neighbours(1)).empty());
  CHECK_THAT(reported_violation(neighbours(32)),
             ContainsSubstring("without a barrier between") || ContainsSubstring("never written"));
}

TEST_CASE("detected: misaligned vector accesses", "[simt]") {
  alignas(16) std::array<float, 64 * 4 + 1> values{};
  const auto copy = [&values](std::size_t offset) {
    return [&values, offset](simt::thread& t) {
      float* const mine = values.data() + 4 * t.thread_index() + offset;
      auto four = t.load<float, 4>(mine);
      four.value[3] = 1;
      t.store(mine, four);
    };
  };
  CHECK(reported_violation(copy(0)).empty());
  CHECK(values[3] == 1);
  CHECK_THAT(reported_violation(copy(1)),
             ContainsSubstring("load of 16 bytes in line") && ContainsSubstring("is not a multiple of 16"));
}

TEST_CASE("a launch returns how many bytes its threads read by vector accesses", "[simt]") {
  alignas(16) const std::array<float, 256> numbers{};
  const auto body = [&](simt::thread& t) { t.load<float, 4>(numbers.data() + 4 * t.thread_index()); };
  CHECK(simt::launch(3, two_warps<decltype(body)>{body}, 1) == 3 * sizeof numbers);
}

TEST_CASE("detected: accesses beyond a shared array, and too much shared memory", "[simt]") {
  CHECK_THAT(reported_violation([](simt::thread& t) { t.shared<int, 8>().store(t.thread_index(), 1); }),
             ContainsSubstring("of a shared array of 8"));
  CHECK_THAT(reported_violation([](simt::thread& t) { t.shared<double, 6145>(); }),
             ContainsSubstring("49160 bytes of shared memory"));
}

namespace {

/// The parts of the communication between blocks that a test omits.
struct left_out {
  bool barrier = false, fence_before = false, fence_after = false, being_last = false, reset = false;
};

/// Each block publishes a number; the last block adds them up.
auto sum_over_blocks(std::vector<unsigned>& numbers, unsigned& tickets, unsigned& sum, left_out without) {
  return [&, without](simt::thread& t) {
    const auto ticket = t.shared<unsigned, 1>();
    if (t.thread_index() == 7) t.publish(&numbers[t.block_index()], t.block_index() + 1);
    if (!without.barrier) t.sync();
    if (t.thread_index() == 0) {
      if (!without.fence_before) t.fence();
      const unsigned before = t.ticket(&tickets, t.grid_size() + (without.reset ? 1 : 0));
      if (!without.fence_after) t.fence();
      ticket.store(0, before);
    }
    t.sync();
    if (ticket.load(0) != t.grid_size() - 1 && !without.being_last) return;
    if (t.thread_index() != 40) return;
    unsigned result = 0;
    for (const unsigned& number : numbers) result += t.observe(&number);
    sum = result;
  };
}

/// Returns the violation that the emulator reports for sum_over_blocks with five blocks.
std::string violation_in_blocks(left_out without, std::uint32_t seed = 1) {
  std::vector<unsigned> numbers(5);
  unsigned tickets = 0, sum = 0;
  try {
    for (int round = 1; round <= 3; ++round) {  // several launches, because the last block must reset the counter
      launch(sum_over_blocks(numbers, tickets, sum, without), 5, seed);
      if (sum != 15 || tickets != 0) return "wrong sum";
      sum = 0;
    }
  } catch (const simt::violation& found) {
    return found.what();
  }
  return {};
}

}  // namespace

TEST_CASE("the last of several blocks sees the values that all of them published", "[simt]") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) CHECK(violation_in_blocks({}, seed).empty());
}

TEST_CASE("detected: a missing barrier or fence before or after a ticket", "[simt]") {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    CHECK_THAT(violation_in_blocks({.barrier = true}, seed), ContainsSubstring("no chain of barriers"));
    CHECK_THAT(violation_in_blocks({.fence_before = true}, seed), ContainsSubstring("no chain of barriers"));
    CHECK_THAT(violation_in_blocks({.fence_after = true}, seed), ContainsSubstring("no chain of barriers"));
  }
}

TEST_CASE("detected: a block other than the last observes published values", "[simt]") {
  for (std::uint32_t seed = 0; seed < 10; ++seed)
    CHECK_THAT(violation_in_blocks({.being_last = true}, seed),
               ContainsSubstring("no block of this launch has published") || ContainsSubstring("no chain of barriers"));
}

TEST_CASE("detected: a ticket counter that is not reset", "[simt]") {
  CHECK_THAT(violation_in_blocks({.reset = true}), ContainsSubstring("is left at 5"));
}

TEST_CASE("detected: a missing barrier between the ticket's thread and the others of its block", "[simt]") {
  unsigned number = 0, tickets = 0;
  const auto body = [&](simt::thread& t) {
    if (t.thread_index() != 0) {
      if (t.block_index() == 1 && t.thread_index() == 1 && tickets == 1) t.observe(&number);
      return;
    }
    if (t.block_index() == 0) t.publish(&number, 1u);
    t.fence();
    t.ticket(&tickets, 2);
    t.fence();
  };
  std::string found;
  for (std::uint32_t seed = 0; seed < 20 && found.empty(); ++seed) {
    tickets = 0;
    try {
      launch(body, 2, seed);
    } catch (const simt::violation& v) {
      found = v.what();
    }
  }
  CHECK_THAT(found, ContainsSubstring("no chain of barriers"));
}

TEST_CASE("detected: two blocks publish to one address", "[simt]") {
  unsigned number = 0;
  CHECK_THROWS_WITH(launch(
                        [&](simt::thread& t) {
                          if (t.thread_index() == 0) t.publish(&number, 1u);
                        },
                        2),
                    ContainsSubstring("has published already"));
}

TEST_CASE("an exception of a thread reaches the caller, and the next launch runs", "[simt]") {
  std::vector<unsigned> out(64);
  for (int round = 0; round < 3; ++round) {
    CHECK_THROWS_AS(launch([](simt::thread& t) {
                      t.sync();
                      if (t.thread_index() == 7) throw std::out_of_range("thread 7");
                      t.sync();
                    }),
                    std::out_of_range);
    CHECK(reported_violation(reversal(out, true)).empty());
  }
}

TEST_CASE("a block has whole warps", "[simt]") {
  CHECK_THROWS_WITH(simt::launch(1, one_thread_more{}, 1), ContainsSubstring("33 threads"));
}
