// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/data/distributed_sampler.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;

namespace {

/// All ranks' lists in the format of make_distributed_sampler.py.
std::string lists(std::size_t samples, int size, const dp::distributed_sampler_options& options, int epoch) {
  static constexpr std::string_view indices = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";
  std::string text;
  for (int rank = 0; rank != size; ++rank) {
    if (rank != 0) text += ',';
    dp::distributed_sampler s(samples, size, rank, options);
    const auto own = s.order(epoch);
    if (own.size() != s.size()) text += '!';
    for (const std::int64_t i : own) text += indices[static_cast<std::size_t>(i)];
  }
  return text;
}

}  // namespace

TEST_CASE("the lists of all processes equal those of PyTorch's DistributedSampler", "[data]") {
  std::ifstream file(dp::test::reference_path("samplers/distributed.txt"));
  std::size_t samples = 0, compared = 0;
  int size = 0;
  bool shuffle = false, drop_last = false;
  for (std::string expected; file >> samples >> size >> shuffle >> drop_last && std::getline(file, expected);) {
    INFO(samples << " samples, " << size << " processes, shuffle " << shuffle << ", drop_last " << drop_last);
    dp::distributed_sampler_options options{.shuffle = std::nullopt, .drop_last = drop_last};
    if (shuffle) options.shuffle = dp::seed{7};
    REQUIRE(lists(samples, size, options, static_cast<int>(samples % 5)) == expected.substr(1));
    ++compared;
  }
  CHECK(compared == 64 * 9 * 2 * 2);
}

TEST_CASE("the lists of a large set and of a large seed equal PyTorch's", "[data]") {
  dp::distributed_sampler s(100003, 3, 1, {.shuffle = dp::seed{(std::uint64_t{1} << 40) + 5}});
  for (int epoch = 0; epoch != 2; ++epoch) s.order(epoch);  // an epoch does not depend on earlier ones
  const auto own = s.order(2);
  REQUIRE(own.size() == 33335);
  CHECK(std::vector<std::int64_t>(own.begin(), own.begin() + 4) == std::vector<std::int64_t>{94367, 72116, 558, 84071});
  CHECK(std::vector<std::int64_t>(own.end() - 2, own.end()) == std::vector<std::int64_t>{48627, 31784});
}

TEST_CASE("the processes of a group divide an epoch like DistributedSampler", "[data]") {
  std::vector<std::vector<std::int64_t>> found(3);
  dp::test::in_processes(3, [&](const dp::process_group& processes) {
    dp::distributed_sampler samples{10, processes, {.shuffle = std::nullopt}};
    const auto own = samples.order(0);
    found[static_cast<std::size_t>(processes.rank())].assign(own.begin(), own.end());
  });
  CHECK(found == std::vector<std::vector<std::int64_t>>{{0, 3, 6, 9}, {1, 4, 7, 0}, {2, 5, 8, 1}});
}

TEST_CASE("a distributed sampler of an empty set is empty, and invalid arguments are rejected", "[data]") {
  for (const bool drop_last : {false, true}) {
    dp::distributed_sampler none(0, 3, 2, {.drop_last = drop_last});
    CHECK(none.order(0).empty());
  }
  for (const int rank : {-1, 3, 4})
    CHECK_THROWS_WITH(dp::distributed_sampler(5, 3, rank), "devplace: distributed_sampler: this is process " +
                                                               std::to_string(rank) + " of 3; processes count from 0.");
  CHECK_THROWS_AS(dp::distributed_sampler(5, 0, 0), dp::argument_error);
  dp::distributed_sampler some(5, 3, 1);
  CHECK_THROWS_WITH(some.order(-1), "devplace: epoch -1 was asked for; epochs count from 0.");
  CHECK_THROWS_WITH(
      dp::distributed_sampler(214748364, 3, 1),
      "devplace: distributed_sampler: PyTorch shuffles 214748364 samples by another algorithm, which is not "
      "supported; loader<across<...>> shuffles them.");
  CHECK_THROWS_AS(dp::distributed_sampler(std::numeric_limits<std::size_t>::max(), 3, 1), dp::argument_error);
}
