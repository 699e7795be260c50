// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers, losses, models and optimizers; includes core.hpp.
#include <devplace/core.hpp>
#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/elementwise.hpp>
#include <devplace/nn/elu.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/init.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/leaky_relu.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/parameter.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/saved.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/silu.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/softplus.hpp>
#include <devplace/nn/sum_losses.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/schedule_function.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/runtime/gradients.hpp>

// The code that all networks share, for component compiled.
namespace devplace {

DEVPLACE_COMPILED_LOOP(nn::detail::initial_values<float>)
DEVPLACE_COMPILED_LOOP(normalize_row<float, true, float>)
DEVPLACE_COMPILED_LOOP(normalize_backward_row<float, true, float>)
DEVPLACE_COMPILED_LOOP(
    assign_linear<float, node<elementary::gated<elementary::normal>, std::index_sequence<0>, linear_leaf<float>>>)
DEVPLACE_COMPILED_LOOP(assign_linear<float, node<elementary::gated_gradient<elementary::normal>,
                                                 std::index_sequence<0, 1>, linear_leaf<float>, linear_leaf<float>>>)
DEVPLACE_COMPILED_PLAIN(struct detail::linear_products<float, backend::cpu>)
DEVPLACE_COMPILED_PLAIN(void detail::linear_products<float, backend::cpu>::input_gradient(float*, const float*,
                                                                                          const float*, float) const)
DEVPLACE_COMPILED(class nn::detail::chain_pass<float>)
DEVPLACE_COMPILED_PLAIN(void nn::detail::sum_columns<backend::cpu>(int, float*, const float*, std::size_t, std::size_t,
                                                                   float))
DEVPLACE_COMPILED_PLAIN(class nn::detail::branch_pass<backend::cpu, float, true>)
DEVPLACE_COMPILED_PLAIN(void optim::detail::update_by_formula<2, backend::cpu>(const adam_formula&,
                                                                               const step_arguments<float>&))
DEVPLACE_COMPILED_PLAIN(std::shared_ptr<runtime::model_state<float>> runtime::empty_state<float, backend::cpu>(
    std::span<const int>, const arena_sizes&))

}  // namespace devplace
