// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Policies are types, so all their properties can be checked at compile time.

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <devplace/parallel/policy.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace collective = devplace::collective;

namespace {

// The default engine sums in a fixed order; ring_all_reduce uses the ring.
static_assert(std::is_same_v<collective::all_reduce<>, collective::all_reduce<collective::direct>>);
static_assert(std::is_same_v<collective::ring_all_reduce, collective::all_reduce<collective::ring>>);
static_assert(std::is_same_v<collective::scatter_gather, collective::reduce_and_broadcast<collective::direct>>);
static_assert(std::is_same_v<collective::all_reduce<>::bucket_sizes, collective::buckets<>>);
static_assert(std::is_same_v<collective::scatter_gather::bucket_sizes, collective::buckets<>>);
static_assert(collective::all_reduce<>::every_place_updates && !collective::scatter_gather::every_place_updates);
static_assert(collective::sharded_all_reduce<>::every_place_updates &&
              std::is_same_v<collective::sharded_all_reduce<>::engine_type, collective::direct>);
static_assert(collective::updates_shares<collective::sharded_all_reduce<collective::ring>> &&
              !collective::updates_shares<collective::all_reduce<>>);
static_assert(collective::direct::name == "direct" && collective::ring::name == "ring");

// The default sizes equal DistributedDataParallel's.
static_assert(collective::buckets<>::first_bytes == 1024 * 1024);
static_assert(collective::buckets<>::other_bytes == 25 * 1024 * 1024);
static_assert(collective::buckets<7>::first_bytes == 7 && collective::buckets<7>::other_bytes == 25 * 1024 * 1024);
static_assert(collective::buckets<7, 9>::other_bytes == 9);

// The engine direct works in place; the ring needs workspace for the largest chunk.
static_assert(collective::direct::workspace_bytes(4, 1000, 4) == 0);
static_assert(collective::ring::workspace_bytes(4, 1000, 4) == 256 * 4);
static_assert(collective::ring::workspace_bytes(3, 1000, 8) == 336 * 8);
static_assert(collective::ring::workspace_bytes(4, 5, 4) == 5 * 4);

static_assert(dp::collective_policy<collective::all_reduce<>>);
static_assert(dp::collective_policy<collective::scatter_gather, dp::backend::cpu, double>);
static_assert(dp::collective_policy<collective::sharded_all_reduce<collective::ring, collective::buckets<1, 1>>>);
static_assert(dp::collective_policy<collective::all_reduce<collective::ring, collective::buckets<1, 1>>>);

/// A user-defined policy needs no base class.
struct of_a_user {
  using engine_type = collective::direct;
  using bucket_sizes = collective::buckets<100, 200>;
  static constexpr bool every_place_updates = true;
  collective::direct engine = {};
};
static_assert(dp::collective_policy<of_a_user> && !collective::updates_shares<of_a_user>);

// A type that lacks a part is not a policy.
struct without_engine {
  using bucket_sizes = collective::buckets<>;
  static constexpr bool every_place_updates = true;
};
struct without_buckets {
  static constexpr bool every_place_updates = true;
  collective::direct engine = {};
};
struct half_a_communicator {
  int size() const { return 1; }
};
struct mistaken_engine {
  template <class Backend> half_a_communicator connect(std::span<const int>) const { return {}; }
};
static_assert(!dp::collective_policy<without_engine> && !dp::collective_policy<without_buckets>);
static_assert(!dp::collective_policy<collective::all_reduce<mistaken_engine>>);
static_assert(!dp::collective_policy<collective::direct> && !dp::collective_policy<int>);

/// A communicator for devices and float only.
struct float_communicator : dp::parallel::direct<dp::backend::cpu> {
  using direct::direct;
  template <std::same_as<float> T> void all_reduce(std::span<T* const>, std::size_t, dp::reduction) {}
};
struct devices_only {
  template <std::same_as<dp::backend::cuda> Backend> float_communicator connect(std::span<const int> ordinals) const {
    return float_communicator(ordinals);
  }
};
using of_devices = collective::all_reduce<devices_only>;
static_assert(dp::collective_policy<of_devices, dp::backend::cuda>);
static_assert(!dp::collective_policy<of_devices, dp::backend::cuda, double>);
static_assert(!dp::collective_policy<of_devices, dp::backend::cpu>);

}  // namespace

TEST_CASE("a policy's engine also connects places on the CPU", "[parallel]") {
  const int ordinals[] = {0};
  const auto communicator = of_a_user{}.engine.connect<dp::backend::cpu>(ordinals);
  CHECK(communicator.size() == 1);
  CHECK(communicator.local_count() == 1);
}
