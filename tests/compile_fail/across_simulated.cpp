// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <span>
#include <string_view>
#include <utility>

#include <devplace/data/loader.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

// Models across processes and the type of their batches can be named; operations that must know the rank do not
// compile.
using net = nn::sequential<nn::linear<6, 6>>;
using where = dp::across<dp::replicated<0, 1>>;
using model_type = dp::model<net, where>;
using batch_type = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::batch_placement_t<where>>;
using summands_type = dp::tensor<float, dp::extents<3>, dp::across<dp::partial<dp::reduction::sum, 0, 1>>>;

// A user's engine for the places of one process.
struct engine_of_one_process {
  static constexpr std::string_view name = "of one process";
  template <class Backend> using communicator = dp::parallel::direct<Backend>;
  template <class Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
};

batch_type part(const dp::participants& own) { return batch_type(dp::extents<dp::dyn, 6>{8}, dp::split::even, own); }

#if defined(ADDRESSES_GATHERED)  // expect: devplace: process_group: all_gather is for numbers and structs of numbers
auto gather(const dp::process_group& processes, std::span<float> values) { return processes.all_gather(values); }
#endif

#if defined(BACKWARD_TO_INPUT_ACROSS)  // expect: devplace: backward_to_input: the model lies across processes
void differentiate(model_type& model, const batch_type& x, const batch_type& y) {
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::mse{}(output, y);
  auto both = model.backward_to_input(std::move(saved), gradient);
}
#endif

#if defined(TRAINER_WITHOUT_RANK)  // expect: devplace: trainer: the model lies across processes, and the policy's
                                   // engine
void train(model_type& model) {
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, collective::all_reduce<engine_of_one_process>{}};
}
#endif

#if defined(STEP_BY_HAND_OF_THE_FIRST_PLACE)  // expect: devplace: optimizer: this optimizer belongs to a trainer and
                                              // updates
using of_one_place = dp::model<net, dp::across<dp::on<dp::cpu>>>;
void update(of_one_place& model, of_one_place::gradient_type&& gradients) {
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, collective::scatter_gather{}};
  step.optimizer().step(model, dp::synchronize(std::move(gradients)));
}
#endif

#if defined(SYNCHRONIZE_WITHOUT_RANK)  // expect: devplace: synchronize: the gradients lie across processes, and the
auto reduce(model_type::gradient_type&& gradients) {
  return dp::synchronize<collective::all_reduce<engine_of_one_process>>(std::move(gradients));
}
#endif

#if defined(UNREDUCED_ACROSS)  // expect: devplace: the gradients are partial
void update(model_type& model, dp::optimizer<dp::optim::sgd, model_type>& optimizer,
            model_type::gradient_type&& gradients) {
  optimizer.step(model, std::move(gradients));
}
#endif

#if defined(BATCH_WITHOUT_RANK)  // expect: devplace: a tensor that is split across processes must know which
                                 // participants
batch_type batch() { return batch_type(dp::extents<dp::dyn, 6>{8}); }
#endif

#if defined(ALL_REDUCE_ACROSS)  // expect: devplace: this function works between the places of one process, and the
                                // tensor
auto sum(const summands_type& summands) { return dp::all_reduce(summands); }
#endif

#if defined(SCATTER_ACROSS)  // expect: devplace: this function works between the places of one process, and the tensor
auto split(const dp::tensor<float, dp::extents<8, 6>, dp::on<dp::cpu>>& whole) {
  return dp::scatter<dp::batch_placement_t<where>>(whole);
}
#endif

#if defined(TO_ONE_PLACE)  // expect: devplace: this function works between the places of one process, and the tensor
auto fetch(const dp::tensor<float, dp::extents<3>, dp::across<dp::on<dp::cpu>>>& x) {
  return dp::to<dp::on<dp::cpu>>(x);
}
#endif

#if defined(MEMORY_PLAN_ACROSS)  // expect: devplace: memory_plan: a model across processes needs the number of
constexpr std::size_t bytes = dp::memory_plan<model_type, dp::batch<64>, dp::optim::sgd>::bytes;
#endif

#if defined(MEMORY_PLAN_OF_NO_PROCESSES)  // expect: devplace: memory_plan: processes<Count> is at least one process
constexpr std::size_t bytes =
    dp::memory_plan<model_type, dp::batch<64>, dp::optim::sgd, collective::all_reduce<>, dp::processes<0>>::bytes;
#endif

#if defined(TRAFFIC_WITHOUT_PARTICIPANTS)  // expect: no (matching|instance of|default constructor)
constexpr dp::step_traffic<model_type, collective::all_reduce<>> traffic{};
#endif
