// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/process/bind_devices.hpp>

inline void bind(const dp::process_group& processes) { dp::bind_devices(processes); }

#include <devplace/process/combine.hpp>

inline int larger(int a, int b) { return dp::parallel::detail::combine<int, dp::reduction::max>::both(a, b); }

#include <devplace/process/control/endpoint.hpp>

const std::string address = dp::parallel::control_endpoint{"localhost", 1234}.text();

#include <devplace/process/control/plane.hpp>

inline std::shared_ptr<dp::parallel::group_monitor> part(dp::parallel::control_plane& plane,
                                                         std::span<const int> members) {
  return plane.part(members);
}

#include <devplace/process/group_monitor.hpp>

inline std::shared_ptr<dp::parallel::group_monitor> part(dp::parallel::group_monitor& monitor,
                                                         std::span<const int> members) {
  return monitor.part(members);
}

#include <devplace/process/launch.hpp>

inline int rank() { return dp::launched_processes({}).rank(); }

#include <devplace/process/launch_environment.hpp>

inline std::string describe() { return dp::launch_environment::of_process().describe(); }

#include <devplace/process/launcher.hpp>

inline std::string name() { return dp::launcher_name(dp::launcher::none); }

#include <devplace/process/process_group.hpp>

inline int rank() {
  const dp::process_group alone;
  const dp::process_scope scope(alone);
  return dp::is_main_process() ? alone.rank() : alone.size();
}

#include <devplace/process/process_options.hpp>

const dp::process_options options{};

#include <devplace/process/shared_layout.hpp>

static_assert(dp::parallel::shared_layout{2, 4096}.bytes() > 0);

#include <devplace/process/shared_memory_transport.hpp>

inline std::string describe(const dp::parallel::shared_memory_transport& transport) { return transport.description(); }

#include <devplace/process/transport.hpp>

inline std::string describe(const dp::parallel::transport& transport) { return transport.description(); }
