// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/parameters.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/shared_memory.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/checkpoints.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/progress.hpp>
#include <devplace/train/read_predictor.hpp>
#include <devplace/train/training_log.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::sequential<nn::linear<6, 6>>;
using shared = dp::on<dp::shared_memory>;
using vector = dp::tensor<float, dp::extents<6>, shared>;
using batch = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>>;
using model_type = dp::model<net, shared>;

vector keep() { return dp::create_shared<vector>("keep"); }
auto step_of(model_type& model) { return dp::trainer{model, nn::mse{}, dp::optim::sgd{}}; }

#if defined(ADD_SHARED_AND_OWN)  // expect: devplace: elementwise: the operands are on different places
void add(const vector& x, const dp::tensor<float, dp::extents<6>, dp::on<dp::cpu>>& y) { dp::tensor z = x + y; }
#endif

#if defined(REPLICA_IN_SHARED_MEMORY)  // expect: devplace: shared_memory is one memory of several processes
void replicate() { dp::model<net, dp::replicated_on<dp::shared_memory, dp::cpu>> model{dp::seed{1}}; }
#endif

#if defined(REPLICA_ON_DEVICES_AND_SHARED)  // expect: devplace: shared_memory is one memory of several processes
using wrong = dp::tensor<float, dp::extents<6>, dp::sharded_on<dp::axis<0>, dp::cuda<0>, dp::shared_memory>>;
void divide(const wrong& x) { static_cast<void>(x.extents()); }
#endif

#if defined(ACROSS_SHARED_MEMORY)  // expect: devplace: shared_memory is one memory of several processes
void across() { dp::model<net, dp::across<shared>> model{dp::seed{1}}; }
#endif

#if defined(POLICY_FOR_SHARED_MODEL)  // expect: devplace: trainer: a model in shared memory has one copy
void by_ring(model_type& model) {
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, dp::collective::ring_all_reduce{}};
}
#endif

#if defined(AVERAGE_OF_A_SHARED_MODEL)  // expect: devplace: moving_average: the model is in shared memory
void average_of(model_type& model) { dp::moving_average average{model, {.decay = 0.9}}; }
#endif

#if defined(EARLY_STOPPING_OF_A_SHARED_MODEL)  // expect: devplace: early_stopping: the model is in shared memory
void stop_early(model_type& model) { dp::early_stopping stopping{model, {.patience = 3}}; }
#endif

#if defined(CHECKPOINT_OF_A_SHARED_MODEL)  // expect: devplace: checkpoint: the model is in shared memory
void save(model_type& model) {
  auto step = step_of(model);
  dp::save_checkpoint(step, {}, "x");
}
#endif

#if defined(CHECKPOINTS_AND_A_NUMBER)  // expect: devplace: options are given by name
void keep_three() { const dp::checkpoints saved{"x", 3}; }
#endif

#if defined(AVERAGE_AND_A_NUMBER)  // expect: devplace: options are given by name
void average_of(const dp::model<net, dp::on<dp::cpu>>& model) { dp::moving_average average{model, 0.999}; }
#endif

#if defined(STOPPING_AND_A_NUMBER)  // expect: devplace: options are given by name
void stop_early(const dp::model<net, dp::on<dp::cpu>>& model) { dp::early_stopping stopping{model, 3}; }
#endif

#if defined(PROGRESS_OF_EPOCHS)  // expect: devplace: progress: give the number of epochs and the loader
void show() { dp::progress progress{5}; }
#endif

#if defined(LOG_OF_NUMBERS)  // expect: devplace: training_log: a row has the columns' names
void write(dp::training_log& log) { log.append(100, 0.5); }
#endif

#if defined(CHECKPOINTS_INTO_A_MODEL)  // expect: devplace: checkpoint: checkpoints are made of a trainer
void resume(model_type& model, const dp::checkpoints& saved) { const dp::training_position at = saved.resume(model); }
#endif

#if defined(SHARE_WHAT_LIES_ON_THE_CPU)  // expect: devplace: create_shared, open_shared: name a tensor or a model on
void open() { auto x = dp::open_shared<dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>>("x"); }
#endif

#if defined(SHARE_ON_A_DEVICE)  // expect: devplace: create_shared, open_shared: name a tensor or a model on
void create() { auto m = dp::create_shared<dp::model<net, dp::on<dp::cuda<0>>>>("m", dp::seed{1}); }
#endif

#if defined(TOO_MANY_AXES)  // expect: devplace: a tensor in shared memory has at most 8 axes
void create_axes() {
  auto x = dp::create_shared<dp::tensor<float, dp::extents<1, 1, 1, 1, 1, 1, 1, 1, 1>, shared>>("x");
}
#endif

#if defined(EXPORT_FROM_THE_CPU)  // expect: devplace: exported, open_ipc: handles are for tensors on a cuda place
void export_from_cpu() { dp::exported out{dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>{1, 2, 3}}; }
#endif

#if defined(OPEN_IN_PINNED_MEMORY)  // expect: devplace: exported, open_ipc: handles are for tensors on a cuda place
void open_in_pinned_memory(const dp::ipc_handle<float, dp::extents<3>>& handle) {
  auto x = dp::open_ipc<dp::pinned>(handle);
}
#endif

#if defined(OPEN_WITHOUT_COMPONENT)  // expect: devplace: exported, open_ipc: a cuda place needs the component cuda
void open_without_component(const dp::ipc_handle<float, dp::extents<3>>& handle) {
  auto x = dp::open_ipc<dp::cuda<0>>(handle);
}
#endif
