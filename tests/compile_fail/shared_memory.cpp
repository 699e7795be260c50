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
#include <devplace/train/summary.hpp>
#include <devplace/train/training_log.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::sequential<nn::linear<6, 6>>;
using shared = dp::on<dp::shared_memory>;
using vector = dp::tensor<float, dp::extents<6>, shared>;
using batch = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>>;
using model_type = dp::model<net, shared>;

vector keep() {
  return dp::create_shared<vector>("keep");
}
auto step_of(model_type& model) {
  return dp::trainer{model, nn::mse{}, dp::optim::sgd{}};
}

#if defined(ADD_SHARED_AND_OWN)  // expect: MOVE_ONE_OPERAND_FIRST|elementwise: the operands do not fit: move
void add(const vector& x, const dp::tensor<float, dp::extents<6>, dp::on<dp::cpu>>& y) {
  dp::tensor z = x + y;
}
#endif

#if defined(REPLICA_IN_SHARED_MEMORY)  // expect: devplace: shared_memory is one memory of several processes
void replicate() {
  dp::model<net, dp::replicated_on<dp::shared_memory, dp::cpu>> model{dp::seed{1}};
}
#endif

#if defined(REPLICA_ON_DEVICES_AND_SHARED)  // expect: devplace: shared_memory is one memory of several processes
using wrong = dp::tensor<float, dp::extents<6>, dp::sharded_on<dp::axis<0>, dp::cuda<0>, dp::shared_memory>>;
void divide(const wrong& x) {
  static_cast<void>(x.extents());
}
#endif

#if defined(ACROSS_SHARED_MEMORY)  // expect: devplace: shared_memory is one memory of several processes
void across() {
  dp::model<net, dp::across<shared>> model{dp::seed{1}};
}
#endif

#if defined(POLICY_FOR_SHARED_MODEL)  // expect: devplace: trainer: a model in shared memory has one copy
void by_ring(model_type& model) {
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, dp::collective::ring_all_reduce{}};
}
#endif

#if defined(AVERAGE_OF_A_SHARED_MODEL)  // expect: devplace: moving_average: the model is in shared memory
void average_of(model_type& model) {
  dp::moving_average average{model, {.decay = 0.9}};
}
#endif

#if defined(EARLY_STOPPING_OF_A_SHARED_MODEL)  // expect: devplace: early_stopping: the model is in shared memory
void stop_early(model_type& model) {
  dp::early_stopping stopping{model, {.patience = 3}};
}
#endif

#if defined(CHECKPOINT_OF_A_SHARED_MODEL)  // expect: devplace: checkpoint: the model is in shared memory
void save(model_type& model) {
  auto step = step_of(model);
  dp::save_checkpoint(step, {}, "x");
}
#endif

#if defined(CHECKPOINT_WITHOUT_A_POSITION)  // expect: GIVE_THE_TRAINER_THE_POSITION|devplace: save_checkpoint: a
void save_without_position(model_type& model) {
  auto step = step_of(model);
  dp::save_checkpoint(step, "x");
}
#endif

#if defined(CHECKPOINTS_WITHOUT_A_POSITION)  // expect: GIVE_THE_TRAINER_AND_THE_POSITION|devplace: checkpoints: save
void save_without_position(model_type& model, const dp::checkpoints& saved) {
  auto step = step_of(model);
  saved.save(step);
}
#endif

#if defined(CHECKPOINTS_AND_A_NUMBER)  // expect: NAME_THE_NUMBER_AS_IN_keep_3|deleted constructor
void keep_three() {
  const dp::checkpoints saved{"x", 3};
}
#endif

#if defined(AVERAGE_AND_A_NUMBER)  // expect: NAME_THE_DECAY_AS_IN_decay|deleted constructor
void average_of(const dp::model<net, dp::on<dp::cpu>>& model) {
  dp::moving_average average{model, 0.999};
}
#endif

#if defined(STOPPING_AND_A_NUMBER)  // expect: NAME_THE_PATIENCE_AS_IN_patience_3|deleted constructor
void stop_early(const dp::model<net, dp::on<dp::cpu>>& model) {
  dp::early_stopping stopping{model, 3};
}
#endif

#if defined(PROGRESS_OF_EPOCHS)  // expect: GIVE_THE_LOADER_OR_NAME_THE_NUMBER|deleted constructor
void show() {
  dp::progress progress{5};
}
#endif

#if defined(LOG_OF_NAMES)  // expect: GIVE_THE_NAMES_IN_BRACES|deleted constructor
void name() {
  dp::training_log log{"x.csv", "step", "loss"};
}
#endif

#if defined(LOG_OF_NUMBERS)  // expect: NAME_THE_COLUMNS_OF_THE_NUMBERS|devplace: training_log: a row has the columns'
void write(dp::training_log& log) {
  log.append(100, 0.5);
}
#endif

#if defined(SUMMARY_OF_NO_STREAM)  // expect: GIVE_A_STREAM_AND_A_MODEL|devplace: summary: give a stream and a model
void describe(const model_type& model) {
  dp::summary(model);
}
#endif

#if defined(SAVE_AS_IN_PYTORCH)  // expect: USE_save_parameters_AND_load|devplace: save_parameters.model, path., of
void save_model(const model_type& model) {
  model.save("x");
}
#endif

#if defined(LOAD_AS_IN_PYTORCH)  // expect: USE_save_parameters_AND_load|devplace: load_parameters.model, path., of
void load_model(model_type& model) {
  model.load("x");
}
#endif

#if defined(CUDA_AS_IN_PYTORCH)  // expect: USE_to_cuda_0_OF_THE_MODEL|devplace: to<cuda<0>>.model. makes a model
void move_model(const model_type& model) {
  model.cuda();
}
#endif

#if defined(CHECKPOINTS_INTO_A_MODEL)  // expect: GIVE_THE_TRAINER_AS_IN_resume|devplace: checkpoints: resume takes a
void resume(model_type& model, const dp::checkpoints& saved) {
  const dp::training_position at = saved.resume(model);
}
#endif

#if defined(CHECKPOINT_INTO_A_MODEL)  // expect: GIVE_THE_TRAINER_AND_THE_PATH|devplace: load_checkpoint: a checkpoint
void load_into(model_type& model) {
  dp::load_checkpoint(model, "x");
}
#endif

#if defined(READ_PREDICTOR_WITHOUT_A_BATCH)  // expect: GIVE_THE_FILE_AND_THE_LARGEST_BATCH|devplace: read_predictor:
void read_without_batch() {
  auto p = dp::read_predictor<net, dp::on<dp::cpu>>("x");
}
#endif

#if defined(READ_PREDICTOR_WITHOUT_A_PLACE)  // expect: NAME_THE_NETWORK_AND_A_PLACE|devplace: read_predictor: name the
void read_without_place() {
  auto p = dp::read_predictor<net>("x", dp::batch<4>{});
}
#endif

#if defined(READ_PREDICTOR_OF_ITS_TYPE)  // expect: NAME_THE_NETWORK_AND_A_PLACE|devplace: read_predictor: name the
void read_of_its_type() {
  auto p = dp::read_predictor<dp::predictor<net, dp::cpu>>("x", dp::batch<4>{});
}
#endif

#if defined(READ_PREDICTOR_FOR_A_NUMBER)  // expect: GIVE_THE_FILE_AND_THE_LARGEST_BATCH|devplace: read_predictor:
void read_for_a_number() {
  auto p = dp::read_predictor<net, dp::on<dp::cpu>>("x", 256);
}
#endif

#if defined(PATH_BEFORE_THE_MODEL)  // expect: GIVE_THE_MODEL_BEFORE_THE_PATH|devplace: load_parameters: the model is
void load_by_path(model_type& model) {
  dp::load_parameters("x", model);
}
#endif

#if defined(MODEL_WITHOUT_A_PATH)  // expect: GIVE_THE_MODEL_AND_THE_PATH|devplace: save_parameters: give the model and
void save_nowhere(const model_type& model) {
  dp::save_parameters(model);
}
#endif

#if defined(PATH_WITHOUT_A_MODEL)  // expect: GIVE_THE_MODEL_AND_THE_PATH|devplace: load_parameters: parameters are read
auto load_nothing() {
  return dp::load_parameters("x");
}
#endif

#if defined(FILE_OF_A_PREDICTOR)  // expect: A_PREDICTOR_IS_SAVED_BY_as_model|devplace: save_parameters: a predictor has
void save(const model_type& model) {
  dp::save_parameters(dp::predictor<net, dp::on<dp::cpu>>{model, dp::batch<4>{}}, "x");
}
#endif

#if defined(PREDICTOR_OF_A_FILE)  // expect: GIVE_A_MODEL_OF_THE_SAME_NETWORK|devplace: predictor.assign takes a model
void assign(dp::predictor<net, dp::on<dp::cpu>>& p) {
  p.assign("x");
}
#endif

#if defined(SHARE_WHAT_LIES_ON_THE_CPU)  // expect: devplace: create_shared, open_shared: name a tensor or a model on
void open() {
  auto x = dp::open_shared<dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>>("x");
}
#endif

#if defined(SHARE_ON_A_DEVICE)  // expect: devplace: create_shared, open_shared: name a tensor or a model on
void create() {
  auto m = dp::create_shared<dp::model<net, dp::on<dp::cuda<0>>>>("m", dp::seed{1});
}
#endif

#if defined(TOO_MANY_AXES)  // expect: devplace: memory that processes share has tensors of at most 8 axes
void create_axes() {
  auto x = dp::create_shared<dp::tensor<float, dp::extents<1, 1, 1, 1, 1, 1, 1, 1, 1>, shared>>("x");
}
#endif

#if defined(EXPORT_FROM_THE_CPU)  // expect: devplace: exported, open_ipc: handles are for tensors on a cuda place
void export_from_cpu() {
  dp::exported out{dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>{1, 2, 3}};
}
#endif

#if defined(OPEN_ON_THE_CPU)  // expect: devplace: exported, open_ipc: handles are for tensors on a cuda place
void open_on_cpu(const dp::ipc_handle<float, dp::extents<3>>& handle) {
  auto x = dp::open_ipc<dp::cpu>(handle);
}
#endif

#if defined(OPEN_WITHOUT_COMPONENT)  // expect: devplace: exported, open_ipc: a cuda place needs the component cuda
void open_without_component(const dp::ipc_handle<float, dp::extents<3>>& handle) {
  auto x = dp::open_ipc<dp::cuda<0>>(handle);
}
#endif

#if defined(SHARE_MODEL_AS_IN_PYTORCH)  // expect: USE_to_shared_memory_OF_THE_MODEL|devplace: to<shared_memory>\(model
void share(dp::model<net, dp::on<dp::cpu>>& model) {
  model.share_memory();
}
#endif
