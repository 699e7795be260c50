// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun with 1 to 3 processes: steps of a stencil on fields over the processes, whose cells are those of a
// field on one place. The processes of one host send ghost rows by shared memory, and by MPI in a group that is not
// watched.

#include <csignal>
#include <cstddef>
#include <string_view>
#include <utility>

#include <devplace/fields.hpp>
#include <devplace/process/mpi.hpp>
#include <devplace/tensor/copy.hpp>

#include "mpi/check.hpp"

namespace dp = devplace;
namespace edge = devplace::edge;
using dp::axis;

namespace {

struct set {
  void operator()(double& x, std::size_t i, std::size_t j) const { x = static_cast<double>((i * 31 + j * 17) % 23); }
};
struct mix {
  double operator()(const auto& u) const {
    return 0.3 * u(-1, 0) + 0.2 * u(1, 1) - 0.1 * u(0, -1) + 0.45 * u(0, 0) + 0.05 * u(-1, -1);
  }
};

template <class Where> auto stepped(std::size_t rows, std::size_t columns, int steps) {
  dp::field<double, dp::dextents<2>, Where, dp::halo<1, 1>> u(dp::extents{rows, columns}), v(u.extents());
  dp::parallel_for(set{}, u);
  for (int step = 0; step != steps; ++step) {
    const edge::rule rows_end = step < 3 ? edge::periodic : edge::fixed(2, -1);
    if (step % 2 == 0)
      dp::stencil(v, mix{}, dp::exchange(u, rows_end, edge::mirrored));
    else
      dp::stencil(v, mix{}, dp::exchange_async(u, rows_end, edge::periodic));
    std::swap(u, v);
  }
  return u;
}

template <class Where> void compare(std::size_t rows, std::size_t columns, int steps = 6) {
  const auto expected = stepped<dp::cpu>(rows, columns, steps);
  const auto found = stepped<Where>(rows, columns, steps);
  for (std::size_t k = 0; k != found.places; ++k) {
    const auto part = dp::to<dp::cpu>(found.local(k));
    const auto [row, column] = found.begin(k);
    for (std::size_t i = 0; i != part.extent(0); ++i)
      for (std::size_t j = 0; j != part.extent(1); ++j)
        EXPECT(part(i, j) == expected.local(dp::cpu{})(row + i, column + j));
  }
}

/// A group refuses other calls while an exchange is on its way, and works afterwards.
void one_call_at_a_time(const dp::process_group& group) {
  const dp::process_scope scope{group};
  dp::field<double, dp::dextents<2>, dp::across<dp::sharded_on<axis<0>, dp::cpu>>, dp::halo<1, 1>> u(
      dp::extents{13, 5}),
      v(u.extents());
  auto rows = dp::exchange_async(u, edge::periodic);
  if (group.size() > 1) EXPECT_THROWS(dp::error, "another call was made before the started call", group.barrier());
  dp::stencil(v, mix{}, std::move(rows));
  group.barrier();
}

/// One process ends, or makes another call, in the first or the sixth of ten exchanges.
void one_fails(const dp::process_group& group, std::string_view how) {
  const dp::process_scope scope{group};
  dp::field<double, dp::dextents<2>, dp::across<dp::sharded_on<axis<0>, dp::cpu>>, dp::halo<1, 1>> u(
      dp::extents{13, 5});
  for (int step = 0; step != 10; ++step) {
    if (step == (how == "other_first_call" ? 0 : 5) && group.rank() == 1) {
      if (how == "killed") std::raise(SIGKILL);
      group.barrier();
    }
    static_cast<void>(dp::exchange(u, edge::periodic));
  }
}

}  // namespace

int main(int argc, char** argv) {
  dp::test::run_rank([&] {
    const std::string_view how = argc > 1 ? argv[1] : "";
    const dp::mpi_session session{argc, argv, {.op_timeout = 20, .heartbeat = 0.1}};
    if (!how.empty()) return one_fails(session.processes(), how);
    const dp::process_group not_watched = dp::mpi_processes(MPI_COMM_WORLD, {.heartbeat = 0});
    const bool one = session.processes().size() == 1;
    EXPECT((session.processes().transport()->for_messages() == nullptr) == one);
    EXPECT(not_watched.transport()->for_messages() == nullptr);
    for (const dp::process_group& group : {session.processes(), not_watched}) {
      const dp::process_scope scope{group};
      for (const std::size_t columns : {5U, 64U}) {
        compare<dp::across<dp::sharded_on<axis<0>, dp::cpu>>>(13, columns);
        compare<dp::across<dp::sharded_on<axis<1>, dp::cpu>>>(13, columns);
        compare<dp::across<dp::sharded<axis<0>, 0, 1>>>(13, columns);
      }
      one_call_at_a_time(group);
    }
    if (one) return;  // a single process sends no layers
    const dp::process_scope scope{not_watched};
    const auto rows = static_cast<std::size_t>(not_watched.size());
    compare<dp::across<dp::sharded_on<axis<0>, dp::cpu>>>(rows, 1'100'000, 2);  // layers of 8.8 MB, in two pieces
  });
}
