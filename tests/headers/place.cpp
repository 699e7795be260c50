// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/place/algebra.hpp>

static_assert(dp::detail::row_function_result<1, dp::sharded<dp::axis<0>, 0, 1>>::why == dp::detail::mismatch::none);

#include <devplace/place/availability.hpp>

inline bool is_available() {
  dp::require_available<dp::on<dp::cpu>>();
  return dp::available(dp::cpu{}) && dp::device_information_of<dp::cpu>().units > 0;
}

#include <devplace/place/axis.hpp>

constexpr dp::axis<1> columns;

#include <devplace/place/backend.hpp>

struct doubled {};
template <> struct dp::implementation<dp::backend::cpu, doubled> {
  static void run(int, float* x) { *x *= 2; }
};
inline void dispatch(float* x) { dp::detail::dispatch<doubled, dp::backend::cpu>(0, x); }

#include <devplace/place/device_info.hpp>

inline void print_devices(std::ostream& out) {
  for (const dp::device_information& device : dp::list_devices()) out << device;
  out << dp::device_count() << dp::cuda_support_description();
}

#include <devplace/place/device_map.hpp>

inline std::string map_devices() {
  dp::set_device_map({{0, 1}, {1, 0}});
  return dp::device_map_description();
}

#include <devplace/place/first_available.hpp>

inline int choose_first() {
  return dp::first_available<dp::on<dp::cpu>>([](auto) { return 1; });
}

#include <devplace/place/grid.hpp>

static_assert(dp::placement_traits<dp::sharded<dp::grid<2, 2>, 0, 1, 2, 3>>::kind::parts[1] == 2);

#include <devplace/place/halo.hpp>

static_assert(dp::halo<2, 1>::width(1) == 1);
static_assert(dp::edge::fixed(1).high == 1);

#include <devplace/place/in_parts.hpp>

using batch = dp::batch_placement_t<dp::in_parts<dp::axis<2>, 0, 1>>;
static_assert(batch{} == dp::sharded<dp::axis<2>, 0, 1>{});

#include <devplace/place/kind.hpp>

static_assert(dp::split_along<1>::is_split && dp::summands<dp::reduction::mean>::is_linear);

#include <devplace/place/mesh.hpp>

using two_replicas = dp::mesh<dp::replicas<2>, dp::shares<dp::dyn>>;

#include <devplace/place/place.hpp>

inline void print_place(std::ostream& out) { out << dp::cuda<1>{} << dp::place_name<dp::cpu>(); }

#include <devplace/place/placement.hpp>

inline void print_placement(std::ostream& out) {
  out << dp::replicated<0, 1>{} << dp::participant_count<dp::sharded<dp::axis<0>, 0, 1>>()
      << dp::placement_name<dp::gradient_placement_t<dp::replicated<0, 1>>>();
}

#include <devplace/place/replica_error.hpp>

inline bool has_failed(const dp::detail::device_failure& failure) { return static_cast<bool>(failure); }
inline void run(int ordinal) {
  dp::detail::on_behalf_of_replica<dp::backend::cpu>(0, 2, ordinal, [] {});
}

#include <devplace/place/select.hpp>

inline int choose_by_name(const std::string& name) {
  return dp::select<dp::on<dp::cpu>>(name, [](auto) { return 1; });
}

#include <devplace/place/spread.hpp>

static_assert(dp::stores_shares<dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2>>, 0, 1, 2, 3>>);

#include <devplace/place/up_to.hpp>

constexpr dp::up_to<2> devices;
