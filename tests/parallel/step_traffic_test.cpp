// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <sstream>
#include <string>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/parallel/wire.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

namespace {

using mnist = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
/// 203,530 parameters, the last bias padded to 16, followed by 16 elements for the sums.
constexpr std::size_t parameters = 203530 + 6, gradients = parameters + 16;

template <class Where, class Policy, class T = float>
using traffic = dp::step_traffic<dp::model<mnist, Where, T>, Policy>;
using two = dp::replicated<0, 1>;
using four = dp::replicated<3, 1, 0, 2>;
using eight = dp::replicated<0, 1, 2, 3, 4, 5, 6, 7>;

// 16 bits for each gradient; the sums are not rounded.
using in_bf16 = collective::all_reduce<collective::wire<dp::bf16>>;
static_assert(traffic<four, in_bf16>{}.bytes == 2 * 3 * (parameters * 2 + 16 * 4));
using shares_in_bf16 = collective::sharded_all_reduce<collective::wire<dp::bf16>>;
static_assert(traffic<four, shares_in_bf16>{}.bytes == 3 * (parameters * 2 + 2 * 16 * 4 + parameters * 4));

// Each of n places receives the others' summands of its slice, and the others' slices: 2 (n - 1) S in total.
using all_reduce = collective::all_reduce<>;
static_assert(traffic<two, all_reduce>{}.bytes == 2 * gradients * 4);
static_assert(traffic<four, all_reduce>{}.bytes == 2 * 3 * gradients * 4);
static_assert(traffic<eight, all_reduce>{}.bytes == 2 * 7 * gradients * 4);
static_assert(traffic<eight, all_reduce, double>{}.bytes == 2 * 7 * gradients * 8);
static_assert(traffic<four, all_reduce>{}.parameters == 0 && traffic<four, all_reduce>{}.participants == 4);
static_assert(traffic<four, collective::ring_all_reduce>{}.bytes == traffic<four, all_reduce>{}.bytes);

// Each place sums its slice from n - 1 others, and n - 1 places send their slice to the first; parameters go back to
// n - 1 places.
using scatter_gather = collective::scatter_gather;
static_assert(traffic<two, scatter_gather>{}.gradients == gradients * 4 + gradients * 4 / 2);
static_assert(traffic<four, scatter_gather>{}.gradients == 3 * gradients * 4 + 3 * gradients * 4 / 4);
static_assert(traffic<eight, scatter_gather>{}.parameters == 7 * parameters * 4);
static_assert(traffic<four, scatter_gather>{}.bytes ==
              traffic<four, scatter_gather>{}.gradients + traffic<four, scatter_gather>{}.parameters);
// With many places the traffic approaches all_reduce's.
static_assert(traffic<eight, scatter_gather>{}.bytes < traffic<eight, all_reduce>{}.bytes * 17 / 16);

// One half of all_reduce's bytes are gradients for the place that updates, the other half are its parameters.
using sharded = collective::sharded_all_reduce<>;
static_assert(traffic<four, sharded>{}.bytes == traffic<four, all_reduce>{}.bytes);
static_assert(traffic<four, sharded>{}.gradients == 3 * (gradients + 16) * 4);
static_assert(traffic<four, sharded>{}.parameters == 3 * parameters * 4);
// A step that clips also reduces the three integers of the norm.
static_assert(traffic<four, sharded>{}.clipping == 2 * 3 * 3 * 8 && traffic<four, all_reduce>{}.clipping == 0);
static_assert(traffic<eight, sharded, double>{}.clipping == 2 * 7 * 3 * 8);

// In mixed<half> every step reduces them, to find non-finite gradients, and the place that updates sends the loss
// scale (24 bytes) with the parameters.
using in_half = dp::mixed<dp::half>;
static_assert(traffic<four, sharded, in_half>{}.bytes ==
              traffic<four, sharded>{}.bytes + traffic<four, sharded>{}.clipping);
static_assert(traffic<four, sharded, in_half>{}.gradients == traffic<four, sharded>{}.gradients + 144 &&
              traffic<four, sharded, in_half>{}.clipping == 0);
static_assert(traffic<four, scatter_gather, in_half>{}.bytes == traffic<four, scatter_gather>{}.bytes + 3 * 24);
static_assert(traffic<four, all_reduce, in_half>{}.bytes == traffic<four, all_reduce>{}.bytes);

// Across processes the number of participants is an argument; the rest is the same.
template <std::size_t Participants, class Policy>
constexpr dp::step_traffic<dp::model<mnist, dp::across<dp::on<dp::cpu>>>, Policy> between{Participants};
static_assert(between<4, all_reduce>.bytes == traffic<four, all_reduce>{}.bytes && between<1, all_reduce>.bytes == 0);
static_assert(between<4, sharded>.bytes == traffic<four, sharded>{}.bytes && between<1, sharded>.bytes == 0);
// The first process gets all gradients, and the others the sums that follow them.
static_assert(between<4, scatter_gather>.gradients == 3 * gradients * 4 + 3 * 64);
static_assert(between<4, scatter_gather>.parameters == traffic<four, scatter_gather>{}.parameters);

// On one place nothing is moved.
static_assert(traffic<dp::on<dp::cpu>, all_reduce>{}.bytes == 0 &&
              traffic<dp::on<dp::cpu>, scatter_gather>{}.bytes == 0);
static_assert(traffic<dp::replicated<5>, scatter_gather>{}.bytes == 0);

template <class Traffic> std::string text_of() {
  std::ostringstream out;
  out << Traffic{};
  return out.str();
}

}  // namespace

TEST_CASE("the bytes that a step moves are printed on one line", "[parallel]") {
  CHECK(text_of<traffic<two, all_reduce>>() ==
        "1628416 bytes between 2 participants in a step: 1628416 of gradients, 0 of parameters");
  CHECK(text_of<traffic<two, scatter_gather>>() ==
        "2035456 bytes between 2 participants in a step: 1221312 of gradients, 814144 of parameters");
  CHECK(text_of<traffic<dp::on<dp::cpu>, all_reduce>>() ==
        "0 bytes between 1 participant in a step: 0 of gradients, 0 of parameters");
}
