// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// With component nccl.
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/nccl.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
using net = dp::nn::sequential<dp::nn::linear<4, 2>>;
using by_nccl = dp::collective::all_reduce<dp::collective::nccl>;
static_assert(dp::collective_policy<by_nccl, dp::backend::cuda>);
static_assert(dp::collective_policy<dp::collective::all_reduce<dp::collective::wire<dp::bf16, dp::collective::nccl>>,
                                    dp::backend::cuda>);

#if defined(NCCL_BETWEEN_CPUS)  // expect: devplace: collective::nccl connects CUDA devices, and these places have none
void train(dp::model<net, dp::across<dp::cpu>>& model) {
  dp::trainer step{model, dp::nn::cross_entropy{}, dp::optim::sgd{}, by_nccl{}};
}
#endif

#if defined(NCCL_OF_16_BITS)  // expect: devplace: NCCL has no integers of 16 bits
void sum(dp::parallel::nccl_communicator<dp::backend::cuda>& devices, std::span<short* const> buffers) {
  devices.all_reduce(buffers, 1, dp::reduction::sum);
}
#endif
