// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Everything except sorting.hpp, whose CUB headers are expensive for nvcc. Narrower umbrella headers: core.hpp (tensors
// and operations), nn.hpp (also layers, models, optimizers), parallel.hpp (also several places). This one adds data,
// files and training.

// First the headers that refuse wrong programs, each behind those that it includes: compilers print a line for every
// header on the way to a message, and so there are few.
// clang-format off
#include <devplace/memory/stream.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/up_to.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/view.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/pending.hpp>
#include <devplace/tensor/copy_async.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/wrap.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/detail/operations.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/distributed_matmul.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/data/idx.hpp>
#include <devplace/data/shuffle_seed.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/detail/calls.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/runtime/gradients.hpp>
#include <devplace/runtime/predict.hpp>
#include <devplace/nn/model_parameters.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sum_losses.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/all_reduce.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/parallel_apply.hpp>
#include <devplace/parallel/reduce.hpp>
#include <devplace/parallel/reduce_scatter.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/progress.hpp>
#include <devplace/train/accumulate.hpp>
#include <devplace/train/step_loss.hpp>
#include <devplace/train/detail/rejected_trainer.hpp>
#include <devplace/train/trainer.hpp>
// clang-format on

#include <devplace/core.hpp>
#include <devplace/data/idx.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/data/sampler.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/progress.hpp>
#include <devplace/train/trainer.hpp>
