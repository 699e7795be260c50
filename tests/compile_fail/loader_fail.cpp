// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

#include <devplace/data/distributed_sampler.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/data/sampler.hpp>
#include <devplace/data/transforms.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/tensor/half.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/progress.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
using where = dp::on<dp::cpu>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

dp::image_set read();
void step(const dp::tensor<float, dp::extents<dp::dyn, dp::dyn, dp::dyn>, where>&);

void train(const dp::image_set& data) {
  dp::loader<where> batches{data, {.batch = 64, .shuffle = dp::seed{2}}};
  for (int epoch = 0; epoch < 5; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images);
}

#if defined(NUMBER_BESIDE_THE_SHUFFLE)  // expect: (no matching|no instance of constructor)
dp::sampler shuffled(10, dp::seed{1}, 64);
#endif

#if defined(LOOP_OVER_LOADER)  // expect: devplace: loader: loop over an epoch
void forgets(dp::loader<where>& batches) {
  for (const auto& [images, labels] : batches) step(images);
}
#endif

#if defined(LOADER_IN_PINNED_MEMORY)  // expect: devplace: a loader's placement is the model's, and no model lies in
void nowhere(const dp::image_set& data) { dp::loader<dp::on<dp::pinned>> batches{data, {.batch = 64}}; }
#endif

#if defined(COPY_OF_A_BATCH)  // expect: (deleted|cannot be referenced)
void copies(dp::loader<where>& batches) {
  for (auto [images, labels] : batches.epoch(0)) step(images);
}
#endif

#if defined(EPOCH_OF_TEMPORARY)  // expect: discards qualifiers|an rvalue
void dangles(const dp::image_set& data) {
  for (const auto& [images, labels] : dp::loader<where>{data, {.batch = 64}}.epoch(0)) step(images);
}
#endif

#if defined(TEMPORARY_DATA)  // expect: devplace: loader: a loader refers to its data
void dangles() { dp::loader<where> batches{read(), {.batch = 64}}; }
#endif

#if defined(CONST_TEMPORARY_TENSOR)  // expect: devplace: make_loader: a const temporary cannot be moved into the loader
const dp::tensor<float, dp::extents<4, 2>, where> const_features();
void dangles(const dp::tensor<std::int64_t, dp::extents<4>, where>& labels) {
  in_a_template([](auto& y) { auto batches = dp::make_loader<where>(const_features(), y, {.batch = 2}); }, labels);
}
#endif

#if defined(ORDER_OF_A_TEMPORARY_SAMPLER)  // expect: discards qualifiers|an rvalue
void dangles() {
  for (const std::int64_t index : dp::sampler(10).order(0)) static_cast<void>(index);
}
#endif

#if defined(ORDER_OF_A_TEMPORARY_DISTRIBUTED_SAMPLER)  // expect: discards qualifiers|an rvalue
void dangles() {
  for (const std::int64_t index : dp::distributed_sampler(10, 1, 0).order(0)) static_cast<void>(index);
}
#endif

#if defined(MUTABLE_TRANSFORM)  // expect: devplace: a loader's transform is called as transform
void races(const dp::image_set& data) {
  dp::loader<where> batches{data, {.batch = 2}, [n = 0](std::span<float>, std::size_t, int) mutable { ++n; }};
}
#endif

#if defined(FEATURES_OF_16_BITS)  // expect: devplace: a loader's features are float, double or integers
void wrong(const dp::tensor<dp::half, dp::extents<4, 2>, where>& features,
           const dp::tensor<std::int64_t, dp::extents<4>, where>& labels) {
  auto batches = dp::make_loader<where>(features, labels, {.batch = 2});
}
#endif

#if defined(MIXED_TOKENS)  // expect: devplace: mixup mixes features and targets, and integers cannot be mixed
void wrong(const dp::tensor<std::int32_t, dp::extents<4, 2>, where>& tokens,
           const dp::tensor<float, dp::extents<4>, where>& targets) {
  const dp::transforms mixing{dp::extents<1, 2>{}, dp::seed{1}, dp::mixup{}};
  in_a_template([](auto& x, auto& y, auto& f) { auto batches = dp::make_loader<where>(x, y, {.batch = 2}, f); }, tokens,
                targets, mixing);
}
#endif

#if defined(ACCURACY_OF_CHANNELS_FIRST)  // expect: devplace: accuracy takes the last axis of the output for the classes
double of_pixels(const dp::tensor<float, dp::extents<4, 1, 8, 8>, where>& images,
                 const dp::tensor<std::int32_t, dp::extents<4, 8, 8>, where>& labels) {
  using net = nn::sequential<nn::input<1, 8, 8>, nn::conv2d<1, 3, nn::kernel<1>>>;
  const dp::model<net, where> model{dp::seed{1}};
  auto batches = dp::make_loader<where>(images, labels, {.batch = 2});
  return dp::accuracy(model, batches.epoch(0));
}
#endif

#if defined(ACCURACY_WITHOUT_A_LABEL_FOR_EACH_ROW)  // expect: devplace: accuracy: there must be one integer label
double of_rows(const dp::tensor<float, dp::extents<4, 6, 2>, where>& series,
               const dp::tensor<std::int32_t, dp::extents<4>, where>& labels) {
  const dp::model<nn::sequential<nn::input<6, 2>, nn::linear<2, 3>>, where> model{dp::seed{1}};
  auto batches = dp::make_loader<where>(series, labels, {.batch = 2});
  return dp::accuracy(model, batches.epoch(0));
}
#endif

#if defined(LOSS_AS_NUMBER)  // expect: devplace: progress takes a function that reads the loss
void slow(dp::progress& progress, float loss) { progress.update(0, 64, loss); }
#endif

#if defined(BOTH_SETS)  // expect: devplace: loader: it takes an image_set
void both(const dp::labelled_images& data) { dp::loader<where> batches{data, {.batch = 64}}; }
#endif

#if defined(PRINTED_LOADER)  // expect: devplace: a model, trainer, loader or loss cannot be printed
void print(const dp::loader<where>& batches) { std::cout << batches; }
#endif

#if defined(TWO_NUMBERS_FOR_PROGRESS)  // expect: devplace: progress: give the number of epochs and the loader
void swapped() { dp::progress progress{60000, 5}; }
#endif

using small_model = dp::model<devplace::nn::linear<4, 2>, where>;

#if defined(DATA_BEFORE_MODEL)  // expect: devplace: accuracy takes the model and then its batches or an image_set
double swapped(const dp::image_set& data, const small_model& model) { return dp::accuracy(data, model); }
#endif

#if defined(ACCURACY_OF_BOTH_SETS)  // expect: devplace: accuracy takes the model and then its batches or an image_set
double both(const dp::labelled_images& data, const small_model& model) { return dp::accuracy(model, data); }
#endif

#if defined(ACCURACY_OF_TENSORS)  // expect: devplace: accuracy takes the model and then its batches or an image_set
double of_tensors(const dp::tensor<float, dp::extents<dp::dyn, 784>, where>& x,
                  const dp::tensor<std::int64_t, dp::extents<dp::dyn>, where>& y, const small_model& model) {
  return dp::accuracy(model, x, y);
}
#endif

#if defined(TOP_AS_A_NUMBER)  // expect: devplace: accuracy takes the model and then its batches or an image_set
double among_five(const dp::image_set& data, const small_model& model) { return dp::accuracy(model, data, 5); }
#endif

#if defined(SHUFFLE_TRUE)  // expect: devplace: a random order is chosen by a seed, not by true or a number
void shuffles(const dp::image_set& data) { dp::loader<where> batches{data, {.batch = 64, .shuffle = true}}; }
#endif

#if defined(SEED_AS_A_NUMBER)  // expect: devplace: a random order is chosen by a seed, not by true or a number
auto parts(const dp::image_set& data) { return dp::hold_out(data, 100, 42); }
#endif

#if defined(PLACE_FORGOTTEN)  // expect: devplace: loader: name the placement of the batches
void nowhere(const dp::image_set& data) { dp::loader batches{data, {.batch = 64}}; }
#endif

#if defined(LOADER_OF_VECTORS)  // expect: devplace: make_loader: name the placement of the batches
void untyped(const std::vector<float>& features, const std::vector<int>& labels) {
  auto batches = dp::make_loader<where>(features, labels, {.batch = 2});
}
#endif

#if defined(TRANSFORMS_WITHOUT_AN_IMAGE)  // expect: devplace: transforms: a sample is an image: give its extents
dp::transforms flat{dp::extents<784>{}, dp::seed{1}, dp::horizontal_flip{}};
#endif

#if defined(TRANSFORMS_OF_NO_STEP)  // expect: devplace: transforms: after the extents and the seed come steps, such as
dp::transforms stepless{dp::extents<28, 28>{}, dp::seed{1}, 0.5};
#endif

#if defined(MIXUP_BEFORE_ANOTHER_STEP)  // expect: devplace: transforms: give steps in the order in which they act
dp::transforms disordered{dp::extents<28, 28>{}, dp::seed{1}, dp::mixup{}, dp::horizontal_flip{}};
#endif

#if defined(MOVE_AFTER_A_CHANGE_OF_VALUES)  // expect: devplace: transforms: give steps in the order in which they act
dp::transforms interpolated{dp::extents<28, 28>{}, dp::seed{1}, dp::cutout{.size = 4}, dp::random_crop{.padding = 2}};
#endif

#if defined(MOVED_LABELS)  // expect: devplace: with_targets moves the pixels of targets, and these targets have no rows
void moved(const dp::image_set& data) {
  const dp::transforms both{dp::extents<28, 28>{}, dp::seed{1}, dp::vertical_flip{}, dp::with_targets{}};
  dp::loader<where> batches{data, {.batch = 64}, both};
}
#endif

#if defined(MIXUP_OF_LABELS)  // expect: devplace: mixup mixes features and targets, and integers cannot be mixed
void mixes(const dp::image_set& data) {
  dp::loader<where> batches{data, {.batch = 64}, dp::transforms{dp::extents<28, 28>{}, dp::seed{1}, dp::mixup{}}};
}
#endif
