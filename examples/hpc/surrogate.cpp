// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "surrogate.hpp"

#include <cstddef>
#include <optional>

#include <devplace/all.hpp>
#include <devplace/process/mpi.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

#if defined(HPC_DEVICE)
using device = HPC_DEVICE;  // -DHPC_DEVICE='dp::cuda<0>': one GPU per rank
#else
using device = dp::cpu;
#endif
using all_ranks = dp::across<device>;

constexpr std::size_t inputs = surrogate::inputs, outputs = 1;
using net = nn::sequential<nn::linear<inputs, 32>, nn::tanh, nn::linear<32, 32>, nn::tanh, nn::linear<32, outputs>>;

/// The number of rows evaluated at a time, which fixes the memory at compile time.
using tile = dp::batch<4096>;
static_assert(dp::memory_plan<dp::model<net, device>, tile>::bytes < 2 << 20);

template <std::size_t Columns> using rows_of = dp::extents<dp::dyn, Columns>;
template <std::size_t Columns>
using batch_of_all = dp::tensor<float, rows_of<Columns>, dp::batch_placement_t<all_ranks>>;

/// This rank's part, with any number of rows.
template <std::size_t Columns>
batch_of_all<Columns> batch(const float* own, std::size_t rows, const dp::participants& of) {
  batch_of_all<Columns> result(rows_of<Columns>{rows * of.count}, dp::split::even, of);
  dp::copy(result.local(0), dp::wrap(own, rows_of<Columns>{rows}));
  return result;
}

}  // namespace

struct surrogate::parts {
  explicit parts(const dp::process_group& ranks)
      : of{static_cast<std::size_t>(ranks.rank()), static_cast<std::size_t>(ranks.size())} {}

  dp::participants of;
  dp::model<net, all_ranks> model{dp::seed{1}};
  dp::trainer<dp::model<net, all_ranks>, nn::mse, dp::optim::adam> step{model, nn::mse{},
                                                                        dp::optim::adam{.learning_rate = 2e-3}};

  /// This rank's model. On a device it has copies of the rows there.
  std::optional<dp::model<net, device>> own;
  std::optional<dp::tensor<float, rows_of<inputs>, device>> x;
  std::optional<dp::tensor<float, rows_of<outputs>, device>> y;
};

surrogate::surrogate(MPI_Comm solver_comm) {
  const dp::process_group ranks = dp::mpi_processes(solver_comm);
  dp::bind_devices(ranks);               // of several GPUs on a host, to each rank its own
  const dp::process_scope scope{ranks};  // in which the model and its trainer are made
  parts_ = std::make_unique<parts>(ranks);
}

surrogate::~surrogate() = default;

void surrogate::learn(const float* x, const float* y, int rows) {
  const auto n = static_cast<std::size_t>(rows);
  parts_->step(batch<inputs>(x, n, parts_->of), batch<outputs>(y, n, parts_->of));
}

double surrogate::mean_error() {
  const double error = parts_->step.mean_loss();
  parts_->step.reset_mean_loss();
  return error;
}

void surrogate::deploy(int rows) {
  parts_->own = dp::to<device>(parts_->model);
  if constexpr (!dp::host_accessible<device>) {
    parts_->x.emplace(rows_of<inputs>{static_cast<std::size_t>(rows)});
    parts_->y.emplace(rows_of<outputs>{static_cast<std::size_t>(rows)});
  }
}

void surrogate::evaluate(float* y, const float* x, int rows) const {
  const auto n = static_cast<std::size_t>(rows);
  const auto from = dp::wrap(x, rows_of<inputs>{n});
  const auto to = dp::wrap(y, rows_of<outputs>{n});
  if constexpr (dp::host_accessible<device>) {
    parts_->own->predict_into(to, from, tile{});
  } else {
    const auto there = parts_->x->slice(0, n);
    const auto results = parts_->y->slice(0, n);
    dp::copy(there, from);
    parts_->own->predict_into(results, there, tile{});
    dp::copy(to, results);
  }
}

long surrogate::allocations() const { return static_cast<long>(dp::memory_statistics<device>().allocations); }
