// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/train/accumulate.hpp>

constexpr dp::accumulate<4> batches;

#include <devplace/train/accuracy.hpp>

template <class Model, class Batches> double share_of_hits(const Model& model, Batches&& batches) {
  return dp::accuracy(model, batches);
}

#include <devplace/train/checkpoint.hpp>

template <class Trainer> void save(Trainer& step, const std::string& path) {
  dp::save_checkpoint(step, {.epoch = 1}, path);
  dp::load_checkpoint(step, path);
}

#include <devplace/train/checkpoints.hpp>

template <class Trainer> void save(Trainer& step, const std::string& folder) {
  dp::checkpoints(folder, {.keep = 2}).save(step, {.epoch = 1});
}

#include <devplace/train/early_stopping.hpp>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>

using net = dp::nn::sequential<dp::nn::input<2>, dp::nn::flatten>;
inline bool is_over(const dp::model<net, dp::on<dp::cpu>>& model) {
  dp::early_stopping stop(model, {.patience = 2});
  return stop(0.5, model);
}

#include <devplace/train/gradient_norms.hpp>

inline double largest(const dp::unread_gradient_norms<dp::cpu>& norms) { return norms.item().largest; }

#include <devplace/train/hogwild.hpp>

template <class Model, class Rule> using plan = dp::memory_plan<Model, dp::batch<8>, Rule>;

#include <devplace/train/memory_plan.hpp>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>

using net = dp::nn::sequential<dp::nn::input<2>, dp::nn::flatten>;
using dp::literals::operator""_MiB;
static_assert(dp::memory_plan<dp::model<net, dp::on<dp::cpu>>, dp::batch<8>>::bytes < 1_MiB);

#include <devplace/train/moving_average.hpp>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>

using net = dp::nn::sequential<dp::nn::input<2>, dp::nn::flatten>;
inline float predict(const dp::model<net, dp::on<dp::cpu>>& model,
                     const dp::tensor<float, dp::extents<1, 2>, dp::on<dp::cpu>>& x) {
  dp::moving_average average(model, {.decay = 0.9});
  average.update(model);
  return average.model().predict(x)(0, 0);
}

#include <devplace/train/plan_in_parts.hpp>

template <class Net> using plan = dp::memory_plan<dp::model<Net, dp::in_parts<dp::axis<2>, 0, 1>>, dp::batch<8>>;

#include <devplace/train/progress.hpp>

inline void report() {
  dp::progress bar(2, {.samples = 100});
  bar.update(0, 10, [] { return 0.5; });
}

#include <devplace/train/read_predictor.hpp>

template <class Net> auto read(const std::string& path) {
  return dp::read_predictor<Net, dp::on<dp::cpu>>(path, dp::batch<8>{});
}

#include <devplace/train/step_loss.hpp>

template <class S> double read(const dp::step_loss<S, dp::on<dp::cpu>>& loss) { return loss.item(); }

#include <devplace/train/summary.hpp>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>

using net = dp::nn::sequential<dp::nn::input<2>, dp::nn::flatten>;
inline void print(std::ostream& out) { dp::summary<net>(out, dp::batch<8>{}); }

#include <devplace/train/trainer.hpp>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/optim/sgd.hpp>

using net = dp::nn::sequential<dp::nn::linear<2, 1>>;
inline double train(const dp::tensor<float, dp::extents<4, 2>, dp::on<dp::cpu>>& x,
                    const dp::tensor<float, dp::extents<4, 1>, dp::on<dp::cpu>>& y) {
  dp::model<net, dp::on<dp::cpu>> model{dp::seed{1}};
  dp::trainer step{model, dp::nn::mse{}, dp::optim::sgd{}};
  return step(x, y).item();
}

#include <devplace/train/trainer_in_parts.hpp>

template <class Net, class Loss, class Rule>
using training = dp::trainer<dp::model<Net, dp::in_parts<dp::axis<2>, 0, 1>>, Loss, Rule>;

#include <devplace/train/training_log.hpp>

inline void write(const std::string& path) {
  dp::training_log log(path, {"epoch", "loss"});
  log.append({{"epoch", 1}, {"loss", 0.5}});
  dp::write_training_chart(path, path + ".svg", {"loss"});
}

#include <devplace/train/training_state.hpp>

using state = dp::train::training_state<int, float>;
