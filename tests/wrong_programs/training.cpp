// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(TRAINER_LOSS_FIRST)  // the loss before the model
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{nn::cross_entropy{}, m, optim::adam{}};
}
#endif

#if defined(TRAINER_RULE_SECOND)  // the rule before the loss
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, optim::adam{}, nn::cross_entropy{}};
}
#endif

#if defined(TRAINER_WITHOUT_RULE)  // a trainer without an optimizer
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}};
}
#endif

#if defined(TRAINER_RATE_AS_NUMBER)  // the learning rate instead of the optimizer
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, 1e-3};
}
#endif

#if defined(TRAINER_WITHOUT_MODEL)  // a trainer of a loss and a rule
void program() { dp::trainer step{nn::cross_entropy{}, optim::adam{}}; }
#endif

#if defined(TRAINER_OF_TEMPORARY)  // a trainer of a model that nobody keeps
void program() { dp::trainer step{dp::model<net, host>{dp::seed{1}}, nn::cross_entropy{}, optim::adam{}}; }
#endif

#if defined(TRAINER_OF_NETWORK)  // a trainer with the network as its argument
void program() { dp::trainer<net> step{nn::cross_entropy{}, optim::adam{}}; }
#endif

#if defined(TRAINER_ACCUMULATE_NUMBER)  // accumulation as a number
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}, 4};
}
#endif

#if defined(TRAINER_COPIED)  // a copy of a trainer
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto other = step;
}
#endif

#if defined(TRAINER_PRINTED)  // a trainer printed
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  std::cout << step;
}
#endif

#if defined(TRAINER_AFTER_ASSIGNMENT)  // run: training on after the model was assigned another one
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  m = dp::model<net, host>{dp::seed{2}};
  step(some_samples(), some_labels());
}
#endif

#if defined(TRAINER_MOVED_FROM)  // run: a step of a trainer that was moved away
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto other = std::move(step);
  step(some_samples(), some_labels());
}
#endif

#if defined(TRAINER_SOFTMAX_TWICE)  // cross-entropy behind softmax
void program() {
  dp::model<nn::sequential<nn::linear<4, 3>, nn::softmax>, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
}
#endif

#if defined(ADAM_LR)  // PyTorch's name of the learning rate
void program() {
  optim::adam rule{.lr = 1e-3};
  std::cout << rule.learning_rate;
}
#endif

#if defined(ADAM_OF_MODEL)  // the parameters as the optimizer's first argument
void program() {
  dp::model<net, host> m{dp::seed{1}};
  optim::adam rule{m, 1e-3};
}
#endif

#if defined(ADAM_NEGATIVE)  // run: a negative learning rate
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{.learning_rate = -1e-3}};
}
#endif

#if defined(SGD_NESTEROV_ALONE)  // run: nesterov without momentum
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::sgd{.learning_rate = 0.1, .nesterov = true}};
}
#endif

#if defined(SGD_NESTEROV_DAMPENED)  // run: nesterov with dampening
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{},
                   optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5, .nesterov = true}};
}
#endif

#if defined(ADAM_BETA_ONE)  // run: a decay rate of 1
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{.beta1 = 1}};
}
#endif

#if defined(RATE_OF_STEP)  // the learning rate as a member of the trainer
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step.learning_rate = 0.1;
}
#endif

#if defined(RATE_OF_COPY)  // run: the learning rate of a copy of the rule
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto rule = step.optimizer().rule();
  rule.learning_rate = 0.1;
  step(some_samples(), some_labels());
}
#endif

#if defined(STEP_SWAPPED)  // labels before samples
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_labels(), some_samples());
}
#endif

#if defined(STEP_WITHOUT_TARGETS)  // a step on samples only
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples());
}
#endif

#if defined(STEP_OF_BATCH)  // a step on the batch as one
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto x = some_samples();
  step(std::pair(x.view(), some_labels()));
}
#endif

#if defined(STEP_OF_VECTORS)  // a step on std::vectors
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(std::vector<float>(24), std::vector<int>(6));
}
#endif

#if defined(STEP_ONE_HOT)  // one-hot targets for cross-entropy
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), dp::ones<float, host>(dp::extents<6, 3>{}));
}
#endif

#if defined(STEP_FLOAT_LABELS)  // labels that are floats
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), dp::ones<float, host>(dp::extents<dp::dyn>(6)));
}
#endif

#if defined(STEP_OTHER_COUNT)  // run: six samples and four labels
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(6), some_labels(4));
}
#endif

#if defined(STEP_LABEL_TOO_LARGE)  // run: a label of a class that the network does not have
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto labels = some_labels();
  labels(0) = 3;
  std::cout << step(some_samples(), labels).item();
}
#endif

#if defined(STEP_PIXELS)  // images as bytes, straight from the file
void program() {
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto set = some_images();
  step(set.images, set.labels);
}
#endif

#if defined(STEP_DOUBLES)  // doubles for a model of float
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::ones<double, host>(dp::extents<6, 4>{}), some_labels());
}
#endif

#if defined(LOSS_AS_NUMBER)  // the loss of a step as a number
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  double l = step(some_samples(), some_labels());
  std::cout << l;
}
#endif

#if defined(LOSS_PRINTED)  // the loss of a step printed
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  std::cout << step(some_samples(), some_labels());
}
#endif

#if defined(LOSS_SUMMED)  // the losses of steps added up
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  double sum = 0;
  sum += step(some_samples(), some_labels());
  std::cout << sum;
}
#endif

#if defined(LOSS_BACKWARD)  // PyTorch's backward of the loss
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), some_labels()).backward();
}
#endif

#if defined(LOSS_READ_LATE)  // run: a loss read after the next step
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  auto l = step(some_samples(), some_labels());
  step(some_samples(), some_labels());
  std::cout << l.item();
}
#endif

#if defined(MSE_OTHER_RANK)  // mse of a column and an array
void program() {
  auto y = dp::ones<float, host>(dp::extents<6, 1>{});
  auto t = dp::ones<float, host>(dp::extents<6>{});
  auto [l, g] = nn::mse{}(y, t);
  std::cout << l;
}
#endif

#if defined(MSE_OTHER_COUNT)  // mse of other extents
void program() {
  auto y = dp::ones<float, host>(dp::extents<6, 1>{});
  auto t = dp::ones<float, host>(dp::extents<5, 1>{});
  auto [l, g] = nn::mse{}(y, t);
  std::cout << l;
}
#endif

#if defined(MSE_SWAPPED)  // run: targets before the output: the gradient has the other sign
void program() {
  auto y = dp::ones<float, host>(dp::extents<6, 1>{});
  auto t = dp::zeros<float, host>(dp::extents<6, 1>{});
  auto [l, g] = nn::mse{}(t, y);
  std::cout << l.item();
}
#endif

#if defined(CROSS_ENTROPY_SWAPPED)  // labels before the output
void program() {
  auto y = dp::ones<float, host>(dp::extents<6, 3>{});
  auto [l, g] = nn::cross_entropy{}(some_labels(), y);
  std::cout << l;
}
#endif

#if defined(CROSS_ENTROPY_NOT_MADE)  // a loss called without braces, as a function
void program() {
  auto y = dp::ones<float, host>(dp::extents<6, 3>{});
  auto r = nn::cross_entropy(y, some_labels());
}
#endif

#if defined(CROSS_ENTROPY_SMOOTHED_TOO_MUCH)  // run: a smoothing of 150 %
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{.label_smoothing = 1.5}, optim::adam{}};
}
#endif

#if defined(CROSS_ENTROPY_WEIGHTS_OF_TWO)  // run: two class weights for three classes
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{.class_weights = {1, 2}}, optim::adam{}};
  step(some_samples(), some_labels());
}
#endif

#if defined(LOSS_OF_GRADIENT_DIVIDED)  // the gradient of a loss divided by the batch, as it is divided already
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto [l, g] = nn::cross_entropy{}(y, some_labels());
  g = g / 6.0f;
  rule.step(m, m.backward(std::move(saved), g));
}
#endif

#if defined(CLIP_BY_NUMBER)  // clipping by a bare number
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step.clip(1.0);
}
#endif

#if defined(CLIP_NEGATIVE)  // run: a negative norm
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step.clip({.max_norm = -1});
}
#endif

#if defined(OPTIMIZER_WITHOUT_GRADIENTS)  // PyTorch's step without arguments
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  rule.step();
}
#endif

#if defined(OPTIMIZER_SWAPPED)  // gradients before the model
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto g = m.backward(std::move(saved), nn::cross_entropy{}(y, some_labels()).gradient);
  rule.step(std::move(g), m);
}
#endif

#if defined(OPTIMIZER_ZERO_GRAD)  // PyTorch's zero_grad
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::optimizer rule{m, optim::sgd{}};
  rule.zero_grad();
}
#endif

#if defined(OPTIMIZER_OF_OTHER_MODEL)  // run: the optimizer of another model
void program() {
  dp::model<net, host> m{dp::seed{1}}, n{dp::seed{2}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = some_samples();
  auto [y, saved] = n.forward(x);
  rule.step(n, n.backward(std::move(saved), nn::cross_entropy{}(y, some_labels()).gradient));
}
#endif

#if defined(GRADIENTS_OF_OTHER_MODEL)  // run: the gradients of another model
void program() {
  dp::model<net, host> m{dp::seed{1}}, n{dp::seed{2}};
  dp::optimizer rule{m, optim::sgd{}};
  auto x = some_samples();
  auto [y, saved] = n.forward(x);
  rule.step(m, n.backward(std::move(saved), nn::cross_entropy{}(y, some_labels()).gradient));
}
#endif

#if defined(LOADER_OF_ALL)  // a loader of both sets
void program() {
  auto data = some_data();
  dp::loader<host> batches{data, {.batch = 4}};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_WITHOUT_OPTIONS)  // a loader without a batch size
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_BATCH_FORGOTTEN)  // run: options without a batch size
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.shuffle = dp::seed{1}}};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_BATCH_AS_NUMBER)  // the batch size as a bare number
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, 4};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_BATCH_SIZE)  // PyTorch's name of the batch size
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch_size = 4}};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_SHUFFLE_TRUE)  // PyTorch's shuffle=True
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch = 4, .shuffle = true}};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_WITHOUT_PLACE)  // a loader; where it gives batches is forgotten
void program() {
  auto data = some_data();
  dp::loader batches{data.train, {.batch = 4}};
  std::cout << batches.size();
}
#endif

#if defined(LOADER_OF_TEMPORARY)  // a loader of images that nobody keeps
void program() {
  dp::loader<host> batches{some_images(), {.batch = 4}};
  for (const auto& [x, y] : batches.epoch(0)) std::cout << x;
}
#endif

#if defined(LOADER_LOOPED_OVER)  // a loop over the loader
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch = 4}};
  for (const auto& [x, y] : batches) std::cout << x;
}
#endif

#if defined(LOADER_EPOCH_WITHOUT_NUMBER)  // a loop over an epoch without its number
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch = 4}};
  for (const auto& [x, y] : batches.epoch()) std::cout << x;
}
#endif

#if defined(LOADER_TWO_EPOCHS)  // run: two epochs of one loader at once
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch = 4}};
  auto&& a = batches.epoch(0);
  auto&& b = batches.epoch(1);
  for (const auto& [x, y] : a) std::cout << x;
  for (const auto& [x, y] : b) std::cout << y;
}
#endif

#if defined(LOADER_BATCHES_KEPT)  // run: pointers to batches kept after the next
void program() {
  auto data = some_data();
  dp::loader<host> batches{data.train, {.batch = 4}};
  std::vector<const dp::loader<host>::batch_type*> all;
  for (const auto& b : batches.epoch(0)) all.push_back(&b);
  std::cout << all[0]->images;
}
#endif

#if defined(LOADER_FOR_DOUBLE)  // a loader of floats for a model of double
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host, double> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  dp::loader<host> batches{data.train, {.batch = 4}};
  for (const auto& [x, y] : batches.epoch(0)) step(x, y);
}
#endif

#if defined(MAKE_LOADER_OTHER_COUNT)  // run: six features and four targets
void program() {
  auto x = some_samples(6);
  auto y = some_labels(4);
  auto batches = dp::make_loader<host>(x, y, {.batch = 2});
  for (const auto& [a, b] : batches.epoch(0)) std::cout << a;
}
#endif

#if defined(MAKE_LOADER_OF_VECTORS)  // a loader of std::vectors
void program() {
  std::vector<float> x(24);
  std::vector<int> y(6);
  auto batches = dp::make_loader<host>(x, y, {.batch = 2});
}
#endif

#if defined(MAKE_LOADER_OF_TEMPORARY)  // a loader of targets that nobody keeps
void program() {
  auto x = some_samples();
  auto batches = dp::make_loader<host>(x, some_labels(), {.batch = 2});
}
#endif

#if defined(MAKE_LOADER_WITHOUT_PLACE)  // make_loader; where it gives batches is forgotten
void program() {
  auto x = some_samples();
  auto y = some_labels();
  auto batches = dp::make_loader(x, y, {.batch = 2});
}
#endif

#if defined(ACCURACY_SWAPPED)  // the data before the model
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  std::cout << dp::accuracy(data.test, m);
}
#endif

#if defined(ACCURACY_OF_ALL)  // the accuracy on both sets
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  std::cout << dp::accuracy(m, data);
}
#endif

#if defined(ACCURACY_OF_TENSORS)  // the accuracy on samples and labels
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << dp::accuracy(m, some_samples(), some_labels());
}
#endif

#if defined(ACCURACY_TOP_AS_NUMBER)  // the accuracy among five, as a bare number
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  std::cout << dp::accuracy(m, data.test, 2);
}
#endif

#if defined(ACCURACY_TOP_TOO_LARGE)  // run: the accuracy among five of three classes
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  std::cout << dp::accuracy(m, data.test, {.top = 5});
}
#endif

#if defined(ACCURACY_OF_STEP)  // the accuracy of a trainer
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  std::cout << dp::accuracy(step, data.test);
}
#endif

#if defined(PROGRESS_SWAPPED)  // run: samples before epochs
void program() {
  std::size_t samples = 60000;
  int epochs = 5;
  dp::progress p{samples, epochs, {.stream = nullptr}};
  p.update(0, 100, [] { return 1.0; });
  std::cout << "no word";
}
#endif

#if defined(PROGRESS_LOSS_READ)  // the loss itself instead of how to read it
void program() {
  dp::progress p{5, {.samples = 60000, .stream = nullptr}};
  p.update(0, 100, 0.5);
}
#endif

#if defined(PLAN_OF_NETWORK)  // the plan of a network instead of a model
void program() { std::cout << dp::memory_plan<net, dp::batch<64>, optim::adam>::bytes; }
#endif

#if defined(PLAN_BATCH_AS_NUMBER)  // the batch as a bare number
void program() { std::cout << dp::memory_plan<dp::model<net, host>, 64, optim::adam>::bytes; }
#endif

#if defined(PLAN_WITHOUT_RULE)  // right: a plan without an optimizer, of a model that only predicts
void program() { std::cout << dp::memory_plan<dp::model<net, host>, dp::batch<64>>::bytes; }
#endif

#if defined(PLAN_SWAPPED)  // the optimizer before the batch
void program() { std::cout << dp::memory_plan<dp::model<net, host>, optim::adam, dp::batch<64>>::bytes; }
#endif

#if defined(PLAN_ACCUMULATE)  // accumulation where the policy belongs
void program() {
  std::cout << dp::memory_plan<dp::model<net, host>, dp::batch<64>, optim::adam, dp::accumulate<4>>::bytes;
}
#endif

#if defined(HOLD_OUT_TOO_MANY)  // run: more images held out than there are
void program() {
  auto d = dp::hold_out(some_images(), 100);
  std::cout << d.test.size();
}
#endif

#if defined(HOLD_OUT_PERCENT)  // run: a percentage held out
void program() {
  auto d = dp::hold_out(some_images(), 20.0);
  std::cout << d.test.size();
}
#endif

#if defined(HOLD_OUT_SEED_AS_NUMBER)  // a bare number as the seed
void program() {
  auto d = dp::hold_out(some_images(), 3, 42);
  std::cout << d.test.size();
}
#endif
