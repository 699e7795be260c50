// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that docs/data_parallel.md quotes, and that docs/training.md quotes on masks that are moved.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/data/transforms.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;
using namespace dp::literals;
using dp::test::parameters_of;

namespace {

using net = nn::sequential<nn::linear<64, 32>, nn::relu, nn::linear<32, 10>>;

const dp::labelled_images& digits() {
  static const std::string name = DEVPLACE_TEST_DATA_DIR "/digits-";
  static const dp::labelled_images data =
      dp::hold_out(dp::read_image_set(name + "images-idx3-ubyte", name + "labels-idx1-ubyte"), 360, dp::seed{3});
  return data;
}

/// A batch on the host: 10 images and their labels.
struct host_batch {
  dp::tensor<float, dp::extents<dp::dyn, 64>, dp::on<dp::cpu>> images{dp::extents<dp::dyn, 64>{10}};
  dp::tensor<int, dp::extents<dp::dyn>, dp::on<dp::cpu>> labels{dp::extents<dp::dyn>{10}};

  host_batch() {
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t j = 0; j < 64; ++j) images(i, j) = static_cast<float>((i * j) % 17) / 16;
      labels(i) = static_cast<int>(i);
    }
  }
};

template <class A, class B> double largest_difference(const A& a, const B& b) {
  const std::vector<float> x = parameters_of(a), y = parameters_of(b);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, static_cast<double>(std::abs(x[i] - y[i])));
  return largest;
}

}  // namespace

TEST_CASE("docs/data_parallel.md: a whole training", "[docs]") {
  const dp::labelled_images& data = digits();
  const int epochs = 12;
  const dp::loader_options options{.batch = 32, .shuffle = dp::seed{2}, .scale = 1.0 / 16};

  using where = dp::replicated<0, 1, 2>;
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}, collective::scatter_gather{}};
  dp::loader<where> batches{data.train, options};
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
  const double right = dp::accuracy(model, data.test, options);

  CHECK(right > 0.9);
  dp::check_replicas(model);
}

TEST_CASE("docs/data_parallel.md: the steps of nn.DataParallel", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  const host_batch batch;
  const auto on_one = dp::to<dp::on<dp::cuda<0>>>(dp::model<net, dp::on<dp::cpu>>{dp::seed{1}});

  auto model = dp::to<dp::replicated<0, 1, 2>>(on_one);

  auto images = dp::scatter<dp::batch_placement_t<where>>(batch.images, dp::split::torch);  // 4, 4 and 2 rows
  auto labels = dp::scatter<dp::batch_placement_t<where>>(batch.labels, dp::split::torch);
  CHECK(images.first_row(2) == 8);

  auto [a, b, c] = dp::replicate<dp::replicated<0, 1, 2>>(model);  // a model on cuda<0>, one on cuda<1>, one on cuda<2>

  const auto first = dp::to<dp::on<dp::cuda<0>>>(batch.images.slice(0, 4));
  const auto second = dp::to<dp::on<dp::cuda<1>>>(batch.images.slice(4, 8));
  const auto third = dp::to<dp::on<dp::cuda<2>>>(batch.images.slice(8, 10));
  auto [of_a, of_b, of_c] = dp::parallel_apply(std::tie(a, b, c), std::tie(first, second, third));
  auto of_parts = dp::parallel_apply(std::tie(a, b, c), images);  // a split tensor: each model gets its place's part

  auto parts = model.predict(images);                     // sharded like the batch: each place has its rows
  auto outputs = dp::gather<dp::on<dp::cuda<2>>>(parts);  // all rows on the "output device"

  auto on_the_host = dp::to_host(model.predict(dp::to_batch<where>(batch.images)));

  const auto on_host = dp::to<dp::on<dp::cpu>>(outputs),
             alone = dp::to<dp::on<dp::cpu>>(on_one.predict(dp::to<dp::on<dp::cuda<0>>>(batch.images)));
  const auto of_third = dp::to<dp::on<dp::cpu>>(of_c);
  for (std::size_t j = 0; j < 10; ++j) {
    CHECK(on_host(9, j) == Catch::Approx(alone(9, j)));
    CHECK(of_third(1, j) == on_host(9, j));
    CHECK(dp::to_host(of_parts)(9, j) == on_host(9, j));
    CHECK(on_the_host(9, j) == Catch::Approx(on_host(9, j)));
  }
  static_assert(std::is_same_v<decltype(of_b)::placement_type, dp::on<dp::cuda<1>>>);
  static_assert(std::is_same_v<decltype(of_a)::placement_type, dp::on<dp::cuda<0>>>);

  dp::model<net, where> planned = dp::to<where>(on_one);
  dp::trainer step{planned, nn::cross_entropy{}, dp::optim::adam{}, collective::scatter_gather{}};
  step(images, labels);

  dp::optimizer optimizer{model, dp::optim::adam{}};  // once, beside the model
  auto [output, saved] = model.forward(images);
  auto [loss, gradient] = nn::cross_entropy{}(output, labels);
  auto gradients = model.backward(std::move(saved), gradient);  // partial: each place has the sum over its rows
  optimizer.step(model, dp::synchronize<collective::scatter_gather>(std::move(gradients)));

  CHECK(parameters_of(model) == parameters_of(planned));
  CHECK(std::isfinite(loss.item()));
}

TEST_CASE("docs/data_parallel.md: the steps of DistributedDataParallel", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  const host_batch batch;
  const dp::labelled_images& data = digits();
  dp::model<net, where> model{dp::seed{1}};

  using policy = collective::all_reduce<collective::direct, collective::buckets<(1 << 20), (25 << 20)>>;
  std::cout << dp::describe_buckets<dp::model<net, where>, policy>()       // bucket 0: 0.weight to 2.bias, 9728 bytes
            << dp::step_traffic<dp::model<net, where>, policy>{} << '\n';  // 38912 bytes between 3 participants ...
  static_assert(std::is_same_v<decltype(policy::engine), collective::all_reduce<>::engine_type>);
  CHECK(dp::describe_buckets<dp::model<net, where>, policy>() == "bucket 0: 0.weight to 2.bias, 9728 bytes\n");
  CHECK(dp::step_traffic<dp::model<net, where>, policy>{}.bytes == 38912);

  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::all_reduce{}, dp::accumulate<4>{}};
  dp::loader<where> batches{data.train, {.batch = 8, .shuffle = dp::seed{2}, .scale = 1.0 / 16}};
  for (const auto& [images, labels] : batches.epoch(0))
    step(images, labels);  // every fourth call reduces and updates, by the gradient of 32 samples
  step.flush();            // the remaining batches, if 4 does not divide their number

  dp::model<net, where> other{dp::seed{1}};
  dp::trainer of_32{other, nn::cross_entropy{}, dp::optim::adam{}};
  dp::loader<where> of_32_samples{data.train, {.batch = 32, .shuffle = dp::seed{2}, .scale = 1.0 / 16}};
  for (const auto& [images, labels] : of_32_samples.epoch(0)) of_32(images, labels);
  CHECK(step.optimizer().steps() == of_32.optimizer().steps());
  CHECK(largest_difference(model, other) < 1e-4);

  const auto images = dp::scatter<dp::batch_placement_t<where>>(batch.images);
  const auto labels = dp::scatter<dp::batch_placement_t<where>>(batch.labels);
  const auto more_images = images.clone();
  const auto more_labels = labels.clone();

  dp::optimizer optimizer{model, dp::optim::adam{}};  // once, beside the model
  auto [output, saved] = model.forward(images);
  auto some = model.backward(std::move(saved), nn::cross_entropy{}(output, labels).gradient);
  auto [more_output, more_saved] = model.forward(more_images);
  auto all = model.backward(std::move(more_saved), nn::cross_entropy{}(more_output, more_labels).gradient,
                            std::move(some));  // adds to them; they must not be reduced yet
  optimizer.step(model, dp::synchronize(std::move(all)));

  dp::check_replicas(model);
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("docs/data_parallel.md: the weighting rule", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  const host_batch batch;
  dp::model<net, dp::on<dp::cpu>, double> one{dp::seed{1}};
  dp::model<net, where, double> three{dp::seed{1}};
  const auto images = dp::tensor<double, dp::extents<dp::dyn, 64>, dp::on<dp::cpu>>(dp::cast<double>(batch.images));
  const nn::cross_entropy loss{.ignore_index = 3, .class_weights = {1, 1, 2, 1, 1, 5, 1, 1, 1, 0.5}};
  dp::trainer step_of_one{one, loss, dp::optim::sgd{.learning_rate = 0.1}};
  dp::trainer step_of_three{three, loss, dp::optim::sgd{.learning_rate = 0.1}};

  const dp::split::sizes uneven{0, 9, 1};  // no samples, nine, one
  const double expected = step_of_one(images, batch.labels).item();
  const double same = step_of_three(dp::scatter<dp::batch_placement_t<where>>(images, uneven),
                                    dp::scatter<dp::batch_placement_t<where>>(batch.labels, uneven))
                          .item();

  CHECK(same == Catch::Approx(expected).epsilon(1e-12));
  const auto a = dp::to<dp::on<dp::cpu>>(three);
  CHECK(a.parameter<2>()(3, 7) == Catch::Approx(one.parameter<2>()(3, 7)).epsilon(1e-12));
}

TEST_CASE("docs/data_parallel.md: failures", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  host_batch batch;
  const auto images = dp::scatter<dp::batch_placement_t<where>>(batch.images);
  const auto labels = dp::scatter<dp::batch_placement_t<where>>(batch.labels);
  batch.labels(5) = 99;
  const auto mistaken = dp::scatter<dp::batch_placement_t<where>>(batch.labels);
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, dp::test::throwing_cross_entropy{}, dp::optim::adam{}};
  step(images, labels);
  const std::vector<float> before = parameters_of(model);
  std::string text;

  const auto saved = dp::to<dp::on<dp::cpu>>(model);
  try {
    step(images, mistaken).item();  // the second place's device fails
  } catch (const dp::error& problem) {
    text = problem.what();  // devplace: replica 1 of 3 (cuda:1): ...
  }
  CHECK_THROWS_AS(step(images, labels), dp::error);
  model = dp::to<where>(saved);  // until then every use of the model throws
  dp::trainer step_of_saved{model, nn::cross_entropy{}, dp::optim::adam{}};
  CHECK(parameters_of(model) == before);
  CHECK(step_of_saved(images, labels).item() > 0);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("devplace: replica 1 of 3 (cuda:1): cross_entropy: row 1 has the "
                                                      "label 99"));
}

TEST_CASE("docs/data_parallel.md: equal replicas", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  dp::model<net, where> model{dp::seed{1}};
  dp::check_replicas(model);
  const auto ones = dp::ones<float, dp::on<dp::cpu>>(dp::extents<32>{});
  std::string text;
  try {
    dp::copy(model.parameter_only_on<1>(2), ones);  // into a single replica: a mistake
    dp::check_replicas(model);
  } catch (const dp::error& difference) {
    text = difference.what();  // replicas differ after 0 updates: parameter '0.bias', replica 0 (cuda:0) against ...
  }
  model = dp::to<where>(dp::to<dp::on<dp::cpu>>(model));  // all replicas equal the first place's copy again
  dp::check_replicas(model);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("replicas differ after 0 updates: parameter '0.bias', replica 0 "
                                                      "(cuda:0) against replica 2 (cuda:2): element [0] is "));
}

TEST_CASE("docs/data_parallel.md: shares of the optimizer's state", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  const host_batch batch;
  dp::model<net, where> model{dp::seed{1}}, same{dp::seed{1}};

  using policy = collective::sharded_all_reduce<>;
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
  using whole = dp::memory_plan<dp::model<net, where>, dp::batch<96>, dp::optim::adam>;
  using shared = dp::memory_plan<dp::model<net, where>, dp::batch<96>, dp::optim::adam, policy>;
  static_assert(shared::optimizer_state < whole::optimizer_state / 3 + 256, "a third of it on each of three places");

  const auto images = dp::scatter<dp::batch_placement_t<where>>(batch.images);
  const auto labels = dp::scatter<dp::batch_placement_t<where>>(batch.labels);
  dp::trainer step_of_same{same, nn::cross_entropy{}, dp::optim::adam{}};
  for (int i = 0; i < 3; ++i) {
    step(images, labels);
    step_of_same(images, labels);
  }
  dp::check_replicas(model);
  CHECK(parameters_of(model) == parameters_of(same));
}

TEST_CASE("docs/data_parallel.md: memory", "[docs]") {
  using where = dp::replicated<0, 1, 2>;
  using memory = dp::memory_plan<dp::model<net, where>, dp::batch<96>, dp::optim::adam, collective::all_reduce<>>;
  static_assert(memory::bytes < 1_MiB, "on each place");

  const host_batch batch;
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::scatter_gather{}};
  step(dp::scatter<dp::batch_placement_t<where>>(batch.images),
       dp::scatter<dp::batch_placement_t<where>>(batch.labels));

  const auto state = dp::memory_purpose::optimizer_state;
  const std::size_t of_first = dp::memory_statistics<dp::cuda<0>>().of(state);  // Adam's two arenas
  const std::size_t of_other = dp::memory_statistics<dp::cuda<1>>().of(state);  // none: the first place updates
  std::cout << dp::memory_table();
  CHECK(of_first == memory::optimizer_state);
  CHECK(of_first > 0);
  CHECK(of_other == 0);
}

namespace {

struct zoom {  // shows a part of the image in its whole size
  double most;
  dp::sample_move operator()(dp::sample_random& random) const {
    const double part = 1 - most * random.unit();
    return {.xx = part, .yy = part};
  }
};

/// The first channel's pixels and their classes in one epoch, on the host.
template <dp::placement where> auto augmented_epoch() {
  dp::tensor<std::uint8_t, dp::extents<12, 3, 16, 16>, dp::on<dp::cpu>> images{dp::extents<12, 3, 16, 16>{}};
  dp::tensor<std::int32_t, dp::extents<12, 16, 16>, dp::on<dp::cpu>> masks{dp::extents<12, 16, 16>{}};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    masks.data()[i] = i % 16 + i / 16 % 16 > 9 ? 1 : 0;  // pixels below a diagonal, which are light
    for (std::size_t c = 0; c < 3; ++c) images.data()[(i / 256 * 3 + c) * 256 + i % 256] = masks.data()[i] ? 200 : 100;
  }

  const dp::transforms augment{dp::extents<3, 16, 16>{},      dp::seed{3}, dp::random_crop{.padding = 2},
                               dp::horizontal_flip{},         zoom{0.3},   dp::random_rotation{.degrees = 15},
                               dp::with_targets{.fill = -100}};
  auto batches = dp::make_loader<where>(images, masks, {.batch = 6, .mean = 0.5, .standard_deviation = 0.25}, augment);

  const auto on_host = [](const auto& x) {
    if constexpr (dp::single_place<where>)
      return dp::to<dp::on<dp::cpu>>(x);
    else
      return dp::gather<dp::on<dp::cpu>>(x);
  };
  std::vector<std::pair<float, std::int32_t>> result;
  for (const auto& [inputs, targets] : batches.epoch(0)) {
    const auto x = on_host(inputs);
    const auto y = on_host(targets);
    for (std::size_t i = 0; i < y.size(); ++i)
      result.emplace_back(x(i / 256, 0, i / 16 % 16, i % 16), y(i / 256, i / 16 % 16, i % 16));
  }
  return result;
}

}  // namespace

TEST_CASE("docs/training.md: images and masks are moved on devices", "[docs]") {
  const auto expected = augmented_epoch<dp::on<dp::cpu>>();
  CHECK(augmented_epoch<dp::replicated<0, 1, 2>>() == expected);
  std::size_t light = 0, dark = 0, outside = 0, others = 0;
  for (const auto& [pixel, label] : expected) {
    const float byte = (pixel * 0.25f + 0.5f) * 255;  // before scaling
    if (label == 1 && byte > 149) ++light;
    if (label == 0 && byte > 49 && byte < 151) ++dark;
    if (label == -100 && byte < 101) ++outside;
    if (label != 0 && label != 1 && label != -100) ++others;
  }
  CHECK(others == 0);
  CHECK(outside > 100);
  CHECK(light + dark + outside > expected.size() * 98 / 100);  // others are corners, where the nearest pixel differs
}
