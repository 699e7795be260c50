// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using where = dp::replicated<0, 1>;
template <class W> using samples = dp::tensor<float, dp::extents<dp::dyn, 6>, W>;
template <class W> using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, W>;

void steps(dp::model<net, where>& model, dp::model<net, dp::on<dp::cuda<0>>>& single,
           const samples<dp::sharded<dp::axis<0>, 0, 1>>& x, const labels<dp::sharded<dp::axis<0>, 0, 1>>& y,
           const samples<dp::on<dp::cuda<0>>>& whole, const labels<dp::on<dp::cuda<0>>>& whole_labels,
           const samples<dp::on<dp::cuda<1>>>& elsewhere) {
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  step(x, y);
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(output, y);
  dp::optimizer optimizer{model, dp::optim::sgd{}};
  dp::optimizer of_single{single, dp::optim::sgd{}};
  auto partial = model.backward(std::move(saved), gradient);
  single.predict(whole);
  static_cast<void>(whole_labels);
  static_cast<void>(elsewhere);
#if defined(OPTIMIZER_OF_A_PARAMETER)  // expect: devplace: optimizer: its arguments are .* in this order
  {
    dp::optimizer<dp::optim::sgd, decltype(single.parameter<0>())> wrong{single.parameter<0>()};
  }
#endif
#if defined(WIRE_OF_FLOAT)  // expect: devplace: collective::wire sends gradients as bf16 or half
  dp::trainer in_float{model, nn::cross_entropy{}, dp::optim::sgd{},
                       dp::collective::all_reduce<dp::collective::wire<float>>{}};
#endif
#if defined(RING_IN_16_BITS)  // expect: devplace: collective::wire rounds gradients to 16 bits and lets
                              // collective::direct
  dp::trainer rounded{model, nn::cross_entropy{}, dp::optim::sgd{},
                      dp::collective::all_reduce<dp::collective::wire<dp::bf16, dp::collective::ring>>{}};
  rounded(x, y);
#endif
#if defined(PARTIAL_GRADIENTS)  // expect: devplace: the gradients are partial
  optimizer.step(model, std::move(partial));
#endif
#if defined(SHARES_BY_HAND)  // expect: devplace: optimizer: this optimizer belongs to a trainer and updates
  dp::trainer in_shares{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::collective::sharded_all_reduce{}};
  in_shares.optimizer().step(model, dp::synchronize(std::move(partial)));
#endif
#if defined(REDUCED_TWICE)  // expect: devplace: synchronize: these gradients are whole, and reducing them again
  dp::synchronize(dp::synchronize(std::move(partial)));
#endif
#if defined(GRADIENTS_DECLARED_WHOLE)  // expect: (private|inaccessible)
  optimizer.step(model, dp::gradients<net, where, float>(model.shared_state(), dp::reduction::mean));
#endif
#if defined(UNSHARDED_BATCH)  // expect: devplace: the batch does not lie where the model takes it
  step(whole, whole_labels);
#endif
#if defined(BATCH_OF_ANOTHER_DEVICE)  // expect: devplace: the batch does not lie where the model takes it
  single.predict(elsewhere);
#endif
#if defined(PREDICT_INTO_ANOTHER_PLACE)  // expect: devplace: predict_into: the result and the batch lie on different
  {
    dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cpu>> wrong(dp::extents<dp::dyn, 3>{2});
    single.predict_into(wrong, whole);
  }
#endif
#if defined(TRY_PREDICT_INTO_ANOTHER_PLACE)  // expect: devplace: predict_into: the result and the batch lie on
                                             // different
  {
    dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cuda<1>>> wrong(dp::extents<dp::dyn, 3>{2});
    static_cast<void>(single.try_predict_into(wrong, whole));
  }
#endif
#if defined(TRY_PREDICT_FOR_ANOTHER_DEVICE)  // expect: devplace: the batch does not lie where the model takes it
  {
    dp::tensor<float, dp::extents<dp::dyn, 3>, dp::on<dp::cuda<2>>> outputs(dp::extents<dp::dyn, 3>{2});
    const dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cuda<2>>> wrong(dp::extents<dp::dyn, 6>{2});
    static_cast<void>(single.try_predict_into(outputs, wrong));
  }
#endif
#if defined(TARGETS_ELSEWHERE)  // expect: devplace: the step's samples and targets lie on different placements
  step(x, whole_labels);
#endif
#if defined(LOSS_OF_TWO_PLACEMENTS)  // expect: devplace: the loss's output and targets lie on different placements
  nn::cross_entropy{}(output, whole_labels);
#endif
#if defined(NUMBER_FOR_A_POLICY)  // expect: devplace: trainer: the argument after the rule is neither a collective
                                  // policy nor
  dp::trainer of_number{model, nn::cross_entropy{}, dp::optim::sgd{}, 25};
#endif
#if defined(ENGINE_FOR_A_POLICY)  // expect: devplace: trainer: the argument after the rule is neither a collective
                                  // policy nor
  dp::trainer by_engine{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::collective::ring{}};
#endif
#if defined(SYNCHRONIZE_BY_AN_ENGINE)  // expect: devplace: synchronize: this type is not a collective policy
  optimizer.step(model, dp::synchronize(std::move(partial), dp::collective::ring{}));
#endif
#if defined(BUCKETS_OF_NOTHING)  // expect: devplace: a bucket holds at least one byte
  using by_nothing = dp::collective::all_reduce<dp::collective::direct, dp::collective::buckets<0>>;
  dp::trainer in_nothing{model, nn::cross_entropy{}, dp::optim::sgd{}, by_nothing{}};
#endif
#if defined(ACCUMULATED_NOTHING)  // expect: devplace: accumulate<k> adds up the gradients
  dp::trainer of_nothing{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::accumulate<0>{}};
#endif
}
