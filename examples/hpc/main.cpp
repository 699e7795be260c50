// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A solver over MPI that trains a network on its fields while it runs, and then continues with the network instead of
// its fine grid: mpirun -n 4 hpc [picture.svg [cells per side [time steps [training steps per time step]]]]

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <devplace/io/chart.hpp>

#include "closure.hpp"
#include "solver.hpp"

namespace {

constexpr int ratio = 8;  ///< refinement of the fine grid in space and time

/// Calls f and adds the time it takes to `seconds`.
template <class F> void timed(double& seconds, const F& f) {
  const double start = MPI_Wtime();
  f();
  seconds += MPI_Wtime() - start;
}

/// A grid to compare with the fine grid, and its curve.
struct competitor {
  const char* name;
  solver grid;
  int steps;  ///< number of steps per coarse time step
  double seconds = 0;
  std::vector<double> errors = {};
};

int run(const std::string& picture, int n, int steps, int training) {
  const double dt = 0.3 / n;
  solver fine(MPI_COMM_WORLD, n * ratio, dt / ratio), coarse(MPI_COMM_WORLD, n, dt);
  const domain& cells = coarse.cells;
  const auto take_fine = [&](solver& s) { restrict_to(s.cells, s.u, fine.cells, fine.u); };
  int rank = 0, ranks = 0;
  MPI_Comm_rank(cells.comm, &rank);
  MPI_Comm_size(cells.comm, &ranks);
  flux_closure closure(coarse);

  // First release, on the fine grid. The network learns from each coarse time step.
  std::vector<double> losses;
  double fine_seconds = 0, training_seconds = 0;
  fine.start_with_blobs(0);
  for (int step = 0; step < steps; ++step) {
    take_fine(coarse);
    cells.exchange(coarse.u);
    fine.clear_registers();
    timed(fine_seconds, [&] {
      for (int k = 0; k < ratio; ++k) fine.step();
    });
    closure.record(coarse, fine);
    timed(training_seconds, [&] { closure.train(training); });
    if (training > 0) losses.push_back(closure.mean_error());
  }
  closure.deploy();

  // Second release, on the coarse grid. The fine grid continues only for comparison.
  fine.start_with_blobs(0.37);
  competitor plain{"coarse grid, without", {MPI_COMM_WORLD, n, dt}, 1};
  competitor with{"coarse grid, with the surrogate", {MPI_COMM_WORLD, n, dt}, 1};
  competitor twice{"grid twice as fine, without", {MPI_COMM_WORLD, 2 * n, dt / 2}, 2};
  take_fine(plain.grid);
  take_fine(with.grid);
  take_fine(twice.grid);
  std::vector<double> means(static_cast<std::size_t>(cells.field_size()));
  const double mass = with.grid.mass();
  long allocations = 0;
  for (int step = 0; step < steps; ++step) {
    timed(with.seconds, [&] { closure.step(with.grid); });
    if (step == 0) allocations = closure.allocations();
    for (competitor* one : {&plain, &twice})
      timed(one->seconds, [&] {
        for (int k = 0; k < one->steps; ++k) one->grid.step();
      });
    timed(fine_seconds, [&] {
      for (int k = 0; k < ratio; ++k) fine.step();
    });
    take_fine(coarse);
    for (competitor* one : {&plain, &with, &twice}) {
      restrict_to(cells, means.data(), one->grid.cells, one->grid.u);
      one->errors.push_back(relative_error(cells, means.data(), coarse.u));
    }
  }
  const double created = std::abs(with.grid.mass() - mass);
  allocations = closure.allocations() - allocations;

  const bool good = with.errors.back() < 0.5 * plain.errors.back() && created < 1e-13 && allocations == 0;
  if (rank != 0) return good ? 0 : 1;
  const double fine_ms = 1e3 * fine_seconds / (2 * steps);
  std::printf("%d ranks, %d x %d cells, %d time steps: errors at the end, and times of a step\n", ranks, n, n, steps);
  for (const competitor* one : {&plain, &with, &twice})
    std::printf("%-32s %.4f %9.3f ms\n", one->name, one->errors.back(), 1e3 * one->seconds / steps);
  std::printf("%-32s %16.3f ms, %.1f times the surrogate's\n", "fine grid", fine_ms,
              fine_ms / (1e3 * with.seconds / steps));
  std::printf("training took %.2f s; mass changed by %.1e; %ld allocations\n", training_seconds, created, allocations);
  devplace::write_chart(picture, "time step",
                        {{"Error against the fine grid, root mean square, relative",
                          {{plain.name, plain.errors}, {with.name, with.errors}, {twice.name, twice.errors}},
                          true},
                         {"Training: mean square error, in the units of the network", {{"", losses}}}});
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const auto number = [&](int position, int otherwise) {
    return argc > position ? std::atoi(argv[position]) : otherwise;
  };
  int result = 1;
  try {
    result = run(argc > 1 ? argv[1] : "hpc.svg", number(2, 48), number(3, 60), number(4, 100));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // the other ranks would wait forever
  }
  MPI_Finalize();
  return result;
}
