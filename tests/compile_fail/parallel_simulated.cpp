// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches that are replicated, and models over several places.
#include <tuple>
#include <utility>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/parallel_apply.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::linear<6, 3>;
using where = dp::replicated<0, 1>;
using parts = dp::sharded<dp::axis<0>, 0, 1>;
template <class W> using samples = dp::tensor<float, dp::extents<dp::dyn, 6>, W>;
template <class W> using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, W>;

void work(dp::model<net, where>& model, const samples<where>& copies, const labels<where>& copies_labels,
          const samples<parts>& split, const labels<parts>& split_labels, const samples<dp::on<dp::cuda<0>>>& first,
          const samples<dp::on<dp::cuda<1>>>& second) {
  auto of_copies = model.forward(copies);
  auto of_parts = model.forward(split);
  const auto on_copies = nn::cross_entropy{}(of_copies.output, copies_labels).gradient;
  const auto on_parts = nn::cross_entropy{}(of_parts.output, split_labels).gradient;
  const auto replicas = dp::replicate<where>(model);
  dp::parallel_apply(replicas, std::tie(first, second));
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
#if defined(OPTIMIZER_OF_THE_RULE_FIRST)  // expect: devplace: optimizer: its arguments are .* in this order
  {
    dp::optimizer wrong{dp::optim::sgd{}, model};
  }
#endif
#if defined(LOSS_OF_SUMMANDS)  // expect: devplace: the loss's output and targets are partial, a summand on each place
  const samples<dp::partial<dp::reduction::sum, 0, 1>> summands(dp::extents<dp::dyn, 6>{2});
  static_cast<void>(nn::mse{}(summands, summands));
#endif
#if defined(PARALLEL_APPLY_OF_COPIES)  // expect: devplace: parallel_apply: the inputs are one tensor that is not split
  dp::parallel_apply(replicas, copies);
#endif
#if defined(PARALLEL_APPLY_ON_OTHER_PLACES)  // expect: devplace: parallel_apply: the models do not lie on the places of
  dp::parallel_apply(dp::replicate<dp::replicated<1, 0>>(model), split);
#endif
#if defined(PARALLEL_APPLY_OF_OTHER_OUTPUTS)  // expect: devplace: parallel_apply: the models' outputs differ in type
  dp::parallel_apply(
      std::tuple{dp::model<net, dp::cuda<0>>{dp::seed{1}}, dp::model<nn::linear<6, 4>, dp::cuda<1>>{dp::seed{1}}},
      split);
#endif
#if defined(UNSHARDED_BATCH_IN_FORWARD)  // expect: devplace: the batch does not lie where.*scatter.*broadcast<Where>
  model.forward(first);
#endif
#if defined(FORWARD_OVER_ALL_PLACES)  // expect: devplace: forward: a layer of the network, such as batch_norm
  dp::model<nn::sequential<net, nn::batch_norm<3, nn::over_all_places>>, where>{dp::seed{1}}.forward(split);
#endif
#if defined(REPLICATED_BATCH_IN_A_TRAINER)  // expect: devplace: the batch does not lie where.*every place would do the
                                            // same
  step(copies, copies_labels);
#endif
#if defined(WHOLE_GRADIENTS_REDUCED)  // expect: devplace: synchronize: these gradients are whole, and reducing them
  dp::synchronize(model.backward(std::move(of_copies.saved), on_copies));
#endif
#if defined(SUMMAND_OF_GRADIENTS_READ)  // expect: devplace: one place's summand is not the value
  {
    auto summands = model.backward(std::move(of_parts.saved), on_parts);
    auto of_one = dp::to<dp::cpu>(summands.local<0>(1));
  }
#endif
#if defined(ONE_REPLICA_WRITTEN)  // expect: devplace: fill: the destination's elements are const.*only_on
  dp::fill(model.parameter<0>(1), 0.0f);
#endif
#if defined(GRADIENTS_NOT_MOVED)  // expect: devplace: synchronize consumes the gradients that backward
  {
    auto summands = model.backward(std::move(of_parts.saved), on_parts);
    static_cast<void>(dp::synchronize(summands));
  }
#endif
#if defined(SAVED_AND_LOSS_OF_TWO_BATCHES)  // expect: devplace: backward: forward's batch and the loss's gradient lie
  model.backward(std::move(of_copies.saved), on_parts);
#endif
#if defined(WHOLE_ADDED_TO_SUMMANDS)  // expect: devplace: backward: whole gradients and summands cannot be added
  {
    auto earlier = model.backward(std::move(of_parts.saved), on_parts);
    static_cast<void>(model.backward(std::move(of_copies.saved), on_copies, std::move(earlier)));
  }
#endif
#if defined(SUMMANDS_ADDED_TO_WHOLE)  // expect: devplace: backward: whole gradients and summands cannot be added
  {
    auto earlier = model.backward(std::move(of_copies.saved), on_copies);
    static_cast<void>(model.backward(std::move(of_parts.saved), on_parts, std::move(earlier)));
  }
#endif
#if defined(MODEL_TO_SHARDS)  // expect: devplace: to: a model's placement is on<P> or replicated
  dp::to<parts>(model);
#endif
#if defined(MODELS_ON_SHARDS)  // expect: devplace: replicate: the copies' places are given as replicated
  dp::replicate<parts>(model);
#endif
#if defined(INPUT_OF_ANOTHER_MODEL)  // expect: devplace: parallel_apply: an input does not lie on the place
  dp::parallel_apply(replicas, std::tie(second, first));
#endif
#if defined(MODEL_WITHOUT_INPUT)  // expect: devplace: parallel_apply: the numbers of models and inputs differ
  dp::parallel_apply(replicas, std::tie(first));
#endif
#if defined(MODELS_WITHOUT_TUPLES)  // expect: devplace: parallel_apply: the models are a tuple, and the inputs
  auto outputs = dp::parallel_apply(model, first);
#endif
#if defined(MODELS_NOWHERE)  // expect: devplace: replicate: the copies' places are given as replicated
  auto several = dp::replicate(model);
#endif
#if defined(TRAFFIC_OF_A_NETWORK)  // expect: devplace: step_traffic: the first argument is a model
  static_cast<void>(dp::step_traffic<net, dp::collective::all_reduce<>>{});
#endif
  static_cast<void>(on_copies);
  static_cast<void>(on_parts);
}
