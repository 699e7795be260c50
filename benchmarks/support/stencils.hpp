// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/fields.hpp>

#include "support/timing.hpp"

namespace devplace::bench {

/// Fields with a ghost row at each side.
using plate = field<double, dextents<2>, cpu, halo<1, 1>>;
using cube = field<double, dextents<3>, cpu, halo<1, 1, 1>>;

/// Steps of the heat equation in two and three dimensions.
struct five_points {
  double r;
  double operator()(const auto& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};
struct seven_points {
  double r;
  double operator()(const auto& u) const {
    return u(0, 0, 0) +
           r * (u(-1, 0, 0) + u(1, 0, 0) + u(0, -1, 0) + u(0, 1, 0) + u(0, 0, -1) + u(0, 0, 1) - 6 * u(0, 0, 0));
  }
};
struct product {
  double operator()(double x, double y) const { return x * y; }
};

/// Prints the medians of alternated rounds of devplace and of a peer, which use `bytes` of memory.
template <class Field, class Peer>
void compare(const char* name, int rounds, double bytes, const Field& field, const char* peer_name, const Peer& peer) {
  field();
  peer();
  std::vector<double> of_field, of_peer;
  for (int round = 0; round != rounds; ++round) {
    of_field.push_back(once(field));
    of_peer.push_back(once(peer));
  }
  const double a = median(of_field), b = median(of_peer);
  std::printf("%-16s %d threads: devplace %8.3f ms %6.1f GB/s, %s %8.3f ms %6.1f GB/s, ratio %.3f\n", name,
              thread_count(), 1e3 * a, 1e-9 * bytes / a, peer_name, 1e3 * b, 1e-9 * bytes / b, b / a);
}

}  // namespace devplace::bench
