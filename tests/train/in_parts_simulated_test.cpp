// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose images are split along their rows train as on one place: with equal bits where all sums are exact, else
// within the rounding of sums in another order.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ratio>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/in_parts.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

template <int... I> using in_rows = dp::in_parts<dp::axis<2>, I...>;
template <class T, class Sample> using images = dp::tensor<T, dp::detail::prepend_t<dp::dyn, Sample>, dp::on<dp::cpu>>;

/// Small integers in an irregular order.
template <class T, class Sample> images<T, Sample> integer_images(std::size_t n, std::size_t seed) {
  images<T, Sample> x(dp::detail::prepend_t<dp::dyn, Sample>{n});
  for (std::size_t i = 0; i != x.size(); ++i)
    x.data()[i] = static_cast<T>((i * i * 7 + i * 5 + seed * (i % 11)) % 7) - T{3};
  return x;
}

template <class Where, class Net, class T, class Policy = collective::all_reduce<>, class Loss = nn::mse>
struct training {
  using model_type = dp::model<Net, Where, T>;
  model_type model{dp::seed{1}};
  dp::trainer<model_type, Loss, dp::optim::sgd, Policy> step{model, Loss{}, dp::optim::sgd{.learning_rate = 0.125}};

  void operator()(std::size_t samples, std::size_t seed) {
    using number = typename model_type::value_type;
    step(distribute<Where>(integer_images<number, typename model_type::input_extents>(samples, seed)),
         distribute<Where>(integer_images<number, typename model_type::output_extents>(samples, seed + 1)));
  }
};

/// Makes single steps from integers on one place and in parts; compares all bits of predictions, losses, parameters and
/// buffers.
template <class Where, class Net, class Policy = collective::all_reduce<>> void check_bits() {
  INFO(dp::placement_name<Where>());
  training<dp::cpu, Net, double> one;
  training<Where, Net, double, Policy> in_parts;
  CHECK(parameters_of(in_parts.model) == parameters_of(one.model));
  for (std::size_t i = 0; i != 3; ++i) {
    dp::test::set_integer_parameters(one.model);
    in_parts.model.assign(one.model);
    const auto start = parameters_of(one.model);
    const auto x = integer_images<double, typename decltype(one.model)::input_extents>(3, i);
    const auto y = one.model.predict(x), same = dp::to_host(in_parts.model.predict(distribute<Where>(x)));
    CHECK(std::equal(y.data(), y.data() + y.size(), same.data()));
    one(4, i);
    in_parts(4, i);
    CHECK(in_parts.step.mean_loss() == one.step.mean_loss());
    CHECK(parameters_of(one.model) != start);
    for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k)
      CHECK(parameters_of(in_parts.model, k) == parameters_of(one.model));
    dp::check_replicas(in_parts.model);
  }
}

/// On four places two have neighbours on both sides. Layers do not depend on the policy.
template <class Net> void check_bits_on_four() { check_bits<in_rows<2, 0, 1, 3>, Net, collective::scatter_gather>(); }
template <class Net> void check_bits_on_two_and_four() {
  check_bits_on_four<Net>();
  check_bits<in_rows<0, 1>, Net>();
}
template <class Net> void check_bits_on_meshes() {
  check_bits_on_two_and_four<Net>();
  check_bits<dp::in_parts_on<dp::axis<2>, dp::cuda<1>, dp::cuda<0>>, Net, collective::sharded_all_reduce<>>();
}

}  // namespace

TEST_CASE("convolutions of split rows train with the bits of one place", "[train]") {
  check_bits_on_meshes<nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 3, nn::kernel<3>, nn::padding<1>>, nn::relu,
                                      nn::conv2d<3, 2, nn::kernel<3>, nn::padding<1>>>>();
}

TEST_CASE("strides, dilation, groups and wide windows of split rows have the bits of one place", "[train]") {
  check_bits_on_two_and_four<
      nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 4, nn::kernel<5, 3>, nn::padding<2, 1>, nn::no_bias>, nn::relu,
                     nn::conv2d<4, 4, nn::kernel<3>, nn::padding<2>, nn::dilation<2>, nn::groups<2>>, nn::relu,
                     nn::conv2d<4, 2, nn::kernel<4>, nn::stride<2>, nn::padding<1>>>>();
  check_bits_on_four<nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 4, nn::kernel<3>, nn::stride<2>, nn::padding<1>>,
                                    nn::relu, nn::frozen<nn::conv2d<4, 4, nn::kernel<2>, nn::stride<2>>>,
                                    nn::named<"last", nn::conv2d<4, 2, nn::kernel<1>>>>>();
}

TEST_CASE("poolings, upsample and branches of split rows have the bits of one place", "[train]") {
  using down = nn::sequential<nn::max_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>, nn::upsample<2>>;
  using block = nn::residual<nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>, nn::relu>;
  check_bits_on_meshes<
      nn::sequential<nn::input<2, 16, 8>, block, nn::concat_of<nn::identity, down>,
                     nn::recomputed<nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>, nn::relu>,
                     nn::avg_pool2d<nn::kernel<4>, nn::stride<2>, nn::padding<1>>, nn::max_pool2d<nn::kernel<2>>,
                     nn::sum_of<nn::conv2d<4, 2, nn::kernel<1>>, nn::conv2d<4, 2, nn::kernel<3>, nn::padding<1>>>>>();
  check_bits_on_four<nn::sequential<nn::input<2, 16, 8>, nn::max_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                                    nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>, nn::avg_pool2d<nn::kernel<2>>>>();
}

TEST_CASE("dropout of split rows drops the elements that it drops on one place", "[train]") {
  check_bits_on_two_and_four<
      nn::sequential<nn::input<2, 16, 8>, nn::dropout<>, nn::conv2d<2, 4, nn::kernel<3>, nn::padding<1>>, nn::dropout<>,
                     nn::relu, nn::conv_transpose2d<4, 2, nn::kernel<2>, nn::stride<2>>,
                     nn::recomputed<nn::dropout<>, nn::conv2d<2, 2, nn::kernel<1>>>>>();
  check_bits_on_four<nn::sequential<nn::input<2, 4, 8>, nn::dropout<>, nn::conv2d<2, 2, nn::kernel<1>>>>();
  // The windows reach no neighbour, so that passes do not stop, and buckets are reduced during backward.
  check_bits<
      in_rows<0, 1>,
      nn::sequential<nn::input<2, 4, 8>, nn::conv2d<2, 4, nn::kernel<1>>, nn::relu, nn::conv2d<4, 2, nn::kernel<1>>>,
      collective::all_reduce<collective::direct, collective::buckets<1, 1>>>();
}

namespace {

/// Down and up again, with normalisations: batch_norm of batches and group_norm of samples.
template <class Samples>
using with_norms =
    nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 6, nn::kernel<3>, nn::padding<1>>, nn::batch_norm<6, Samples>,
                   nn::relu, nn::max_pool2d<nn::kernel<2>>, nn::conv2d<6, 6, nn::kernel<3>, nn::padding<1>>,
                   nn::group_norm<3, 6>, nn::silu,
                   nn::recomputed<nn::conv2d<6, 6, nn::kernel<3>, nn::padding<1>>, nn::group_norm<2, 6>, nn::tanh>,
                   nn::upsample<2>, nn::conv2d<6, 2, nn::kernel<3>, nn::padding<1>>>;

template <class Model> std::vector<typename Model::value_type> all_numbers(const Model& model, std::size_t k = 0) {
  auto numbers = parameters_of(model, k);
  model.for_each_buffer(dp::test::append_values<typename Model::value_type>{numbers}, k);
  return numbers;
}

template <class A, class B> double largest_difference(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i != a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

/// Trains for some steps from the model's initial values.
template <class Where, class Net, class T> struct result_of {
  using number = typename dp::precision_traits<T>::parameter;
  training<Where, Net, T> run;
  std::vector<number> start = all_numbers(run.model);
  std::vector<double> outputs;
  double loss = 0;

  explicit result_of(int steps) {
    for (int i = 0; i != steps; ++i) run(4, static_cast<std::size_t>(i));
    loss = run.step.mean_loss();
    using input = typename decltype(run.model)::input_extents;
    const auto y = dp::to_host(run.model.predict(distribute<Where>(integer_images<number, input>(3, 5))));
    for (std::size_t i = 0; i != y.size(); ++i) outputs.push_back(static_cast<double>(y.data()[i]));
  }
  std::vector<number> numbers(std::size_t k = 0) const { return all_numbers(run.model, k); }
};

template <class Where, class Net, class T> void check_near(double tolerance) {
  INFO(dp::placement_name<Where>());
  const result_of<dp::cpu, Net, T> one(6);
  const result_of<Where, Net, T> in_parts(6);
  CHECK(in_parts.start == one.start);
  CHECK(largest_difference(one.numbers(), one.start) > 0.01);
  for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k)
    CHECK(largest_difference(parameters_of(in_parts.run.model, k), parameters_of(one.run.model)) < tolerance);
  CHECK(largest_difference(in_parts.numbers(), one.numbers()) < tolerance);
  CHECK(largest_difference(in_parts.outputs, one.outputs) < 10 * tolerance);
  CHECK(std::abs(in_parts.loss - one.loss) < tolerance);
}

}  // namespace

TEST_CASE("networks with normalisations of split rows train as on one place, within rounding", "[train]") {
  check_near<in_rows<0, 1>, with_norms<nn::over_all_places>, double>(1e-12);
  check_near<in_rows<3, 0, 2, 1>, with_norms<nn::of_each_place>, double>(1e-12);
  check_near<in_rows<0, 1>, with_norms<nn::of_each_place>, float>(1e-4);
  check_near<in_rows<1, 0>, with_norms<nn::of_each_place>, dp::mixed<dp::bf16>>(2e-2);
}

namespace {

/// Halves elements, and declares that rows do not depend on each other.
struct halve {
  template <class In> using output = In;
  static constexpr bool works_on_rows = true;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { c.output = c.input * 0.5; }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 0.5; }
};

/// The state of a training after some steps.
template <class Where, class Net> struct training_with_momentum {
  dp::model<Net, Where> model{dp::seed{7}};
  dp::trainer<dp::model<Net, Where>, nn::mse, dp::optim::sgd> step{
      model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.9}};

  void operator()(int first, int last) {
    for (int i = first; i != last; ++i)
      step(distribute<Where>(integer_images<float, dp::extents<2, 16, 8>>(4, static_cast<std::size_t>(i))),
           distribute<Where>(integer_images<float, dp::extents<2, 16, 8>>(4, static_cast<std::size_t>(i + 1))));
  }
  auto state() {
    const auto whole = step.state();
    std::vector<float> all = whole.parameters;
    all.insert(all.end(), whole.buffers.begin(), whole.buffers.end());
    for (const auto& moments : whole.optimizer.arenas) all.insert(all.end(), moments.begin(), moments.end());
    return all;
  }
};

}  // namespace

TEST_CASE("checkpoints of models in parts continue on every placement", "[train]") {
  const support::temporary_folder folder;
  const std::string file = folder.file("training"), parameters = folder.file("parameters"), same = folder.file("same");
  using net = with_norms<nn::of_each_place>;
  training_with_momentum<in_rows<0, 1>, net> first;
  first(0, 3);
  dp::save_checkpoint(first.step, {0, 3}, file);
  const auto at_three = first.state();
  first(3, 6);

  training_with_momentum<in_rows<0, 1>, net> again;
  CHECK(dp::load_checkpoint(again.step, file) == dp::training_position{0, 3});
  CHECK(again.state() == at_three);
  again(3, 6);
  CHECK(again.state() == first.state());

  training_with_momentum<dp::cpu, net> one;
  dp::load_checkpoint(one.step, file);
  CHECK(one.state() == at_three);
  one(3, 6);
  CHECK(largest_difference(one.state(), first.state()) < 1e-4);
  training_with_momentum<in_rows<3, 1, 0, 2>, net> four;
  dp::save_checkpoint(one.step, {0, 6}, file);
  dp::load_checkpoint(four.step, file);
  CHECK(four.state() == one.state());

  dp::save_parameters(four.model, parameters);
  dp::save_parameters(one.model, same);
  CHECK(support::contents(parameters) == support::contents(same));
  dp::model<net, in_rows<0, 1>> loaded{dp::seed{1}};
  dp::load_parameters(loaded, parameters);
  CHECK(all_numbers(loaded) == all_numbers(one.model));
  CHECK(all_numbers(dp::to<dp::cpu>(loaded)) == all_numbers(one.model));
  CHECK(all_numbers(dp::to<in_rows<2, 3>>(one.model), 1) == all_numbers(one.model));
}

namespace {

/// Sets all weights of one model; others get them by assign().
template <class Model, class F> void set_parameters(Model& model, const F& value) {
  std::size_t i = 0;
  model.for_each_parameter([&](const std::string&, auto view) {
    std::vector<typename Model::value_type> values(view.size());
    for (auto& number : values) number = value(i++);
    support::set_values(view, values);
  });
}

/// Images of -1 and 1 in an irregular order. Each row has as many of both, so that the mean of a channel, a group or a
/// strip is 0 and its variance 1.
template <class Sample> images<double, Sample> balanced_images(std::size_t n) {
  auto x = integer_images<double, Sample>(n, 1);
  for (std::size_t i = 0; i != x.size(); i += 4) {
    const double first = x.data()[i] < 0 ? -1 : 1;
    for (std::size_t k = 0; k != 4; ++k) x.data()[i + k] = k < 2 ? first : -first;
  }
  return x;
}

/// Compares one step of a network with a normalisation, whose sums are exact, on one place and in parts. The first
/// convolution passes the images on, and receives the gradient of the normalisation's input.
template <class Norm, class... Layers> void check_bits_of_norm() {
  using in = dp::extents<4, 8, 4>;
  using net = nn::sequential<nn::input<4, 8, 4>, nn::conv2d<4, 4, nn::kernel<1>, nn::no_bias>, Norm, Layers...>;
  const auto step_of = []<class Where>(Where) {
    dp::model<net, dp::cpu, double> start{dp::seed{1}};
    set_parameters(
        start, [](std::size_t i) { return i < 16 ? (i % 5 == 0 ? 1.0 : 0.0) : static_cast<double>(i * 5 % 7) - 3; });
    dp::model<net, Where, double> model{dp::seed{1}};
    model.assign(start);
    const auto before = parameters_of(model);
    const auto y = dp::to_host(model.predict(distribute<Where>(balanced_images<in>(2))));
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}};
    step(distribute<Where>(balanced_images<in>(4)), distribute<Where>(integer_images<double, in>(4, 3)));
    CHECK(parameters_of(model) != before);
    auto numbers = all_numbers(model);
    numbers.push_back(step.mean_loss());
    numbers.insert(numbers.end(), y.data(), y.data() + y.size());
    return numbers;
  };
  const auto one = step_of(dp::cpu{});
  CHECK(step_of(in_rows<0, 1>{}) == one);
  CHECK(step_of(in_rows<3, 1, 0, 2>{}) == one);
}

}  // namespace

TEST_CASE("normalisations of split rows have the bits of one place where their sums are exact", "[train]") {
  // The variance is 1, and with epsilon 3 elements are divided by 2.
  using three = std::ratio<3>;
  check_bits_of_norm<nn::group_norm<2, 4, three>>();
  check_bits_of_norm<nn::group_norm<4, 4, three>, nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>>();
  check_bits_of_norm<nn::batch_norm<4, nn::over_all_places, std::ratio<1, 2>, three>>();
  check_bits_of_norm<nn::batch_norm<4, nn::of_each_place, std::ratio<1, 2>, three>,
                     nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>>();
  // Sums of integers have the bits of one place for any data.
  using joint = nn::sequential<nn::input<2, 8, 4>, nn::batch_norm<2, nn::over_all_places>>;
  const result_of<dp::cpu, joint, float> whole(6);
  const result_of<in_rows<0, 1, 2, 3>, joint, float> parts(6);
  CHECK(whole.numbers() != whole.start);
  CHECK(parts.numbers() == whole.numbers());
  CHECK(parts.outputs == whole.outputs);
}

namespace {

/// 1.5 times the squares of the differences, as a program's own loss of elements.
template <class T> struct squares_of_sample {
  const T *y, *target;
  T* gradient;
  std::size_t elements;

  DEVPLACE_HD T operator()(std::size_t sample) const {
    T loss = 0;
    for (std::size_t i = sample * elements; i != (sample + 1) * elements; ++i) {
      const T difference = y[i] - target[i];
      gradient[i] = 3 * difference;
      loss += T(1.5) * difference * difference;
    }
    return loss;
  }
  DEVPLACE_HD T weight(std::size_t) const { return static_cast<T>(elements); }
};
struct weighted_squares {
  static constexpr bool is_of_elements = true;
  dp::reduction reduce = dp::reduction::mean;

  template <class T> struct bound {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& y, const auto& target) const {
      const std::size_t elements = y.extents().stride(0);
      nn::sum_losses(sums, rows, squares_of_sample<T>{y.data(), target.data(), gradient.data(), elements});
    }
  };
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

template <class Loss> void check_loss() {
  using net = nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>>;
  training<dp::cpu, net, double, collective::all_reduce<>, Loss> one;
  training<in_rows<0, 1>, net, double, collective::all_reduce<>, Loss> in_parts;
  const auto start = parameters_of(one.model);
  for (std::size_t i = 0; i != 4; ++i) {
    one(3, i);
    in_parts(3, i);
  }
  CHECK(std::abs(in_parts.step.mean_loss() - one.step.mean_loss()) < 1e-12);
  CHECK(largest_difference(parameters_of(in_parts.model), parameters_of(one.model)) < 1e-12);
  CHECK(largest_difference(parameters_of(one.model), start) > 1e-3);
}

}  // namespace

TEST_CASE("losses of elements train models in parts as on one place", "[train]") {
  check_loss<nn::mse>();
  check_loss<nn::l1>();
  check_loss<nn::smooth_l1>();
  check_loss<nn::bce_with_logits>();
  check_loss<weighted_squares>();
}

TEST_CASE("a loss with weights of single elements is refused for models in parts", "[train]") {
  using net = nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>>;
  dp::model<net, in_rows<0, 1>> model{dp::seed{1}};
  const auto make = [&](const nn::bce_with_logits& loss) { dp::trainer{model, loss, dp::optim::sgd{}}; };
  make({.pos_weight = {2}, .weights = {3}});
  CHECK_THROWS_WITH(make({.weights = std::vector<double>(32, 1)}),
                    Catch::Matchers::ContainsSubstring("bce_with_logits: weights has 32 values, and each place of a "
                                                       "model in parts has some rows of a sample"));
  CHECK_THROWS_AS(make({.pos_weight = std::vector<double>(64, 1)}), dp::argument_error);
}

TEST_CASE("models in parts write predictions to a given tensor", "[train]") {
  using net = nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 3, nn::kernel<3>, nn::padding<1>>,
                             nn::max_pool2d<nn::kernel<2>>>;
  using where = in_rows<0, 1>;
  const dp::model<net, where, double> model{dp::seed{1}};
  const auto x = distribute<where>(integer_images<double, dp::extents<2, 8, 4>>(5, 1));
  const auto other = integer_images<double, dp::extents<3, 4, 2>>(5, 2);
  auto y = distribute<where>(other);
  model.predict_into(y, x);
  const auto written = dp::to_host(y), expected = dp::to_host(model.predict(x));
  CHECK(std::equal(expected.data(), expected.data() + expected.size(), written.data()));
  CHECK_FALSE(std::equal(expected.data(), expected.data() + expected.size(), other.data()));
  auto fewer = distribute<where>(integer_images<double, dp::extents<3, 4, 2>>(4, 2));
  CHECK_THROWS_AS(model.predict_into(fewer, x), dp::shape_error);
  auto uneven = dp::scatter<dp::batch_placement_t<where>>(other, dp::split::sizes{3, 1});
  CHECK_THROWS_AS(model.predict_into(uneven, x), dp::shape_error);
  CHECK(model.try_predict_into(fewer, x) == dp::errc::shape_error);
  const dp::model<nn::sequential<nn::input<2, 8, 4>, nn::max_pool2d<nn::kernel<1>>>, where, double> same{dp::seed{1}};
  auto both = distribute<where>(integer_images<double, dp::extents<2, 8, 4>>(5, 1));
  CHECK_THROWS_WITH(same.predict_into(both, both), Catch::Matchers::ContainsSubstring("shares memory with the batch"));
  CHECK_FALSE(model.try_predict_into(y, x));
}

TEST_CASE("batches of models in parts", "[train]") {
  using net = nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>, halve>;
  check_bits<in_rows<0, 1>, net>();
  using where = in_rows<0, 1>;
  training<where, net, double> run;
  const auto x = integer_images<double, dp::extents<2, 8, 4>>(4, 1);
  const auto uneven = dp::scatter<dp::batch_placement_t<where>>(x, dp::split::sizes{6, 2});
  const auto even = distribute<where>(x);
  CHECK_THROWS_AS(run.step(uneven, uneven), dp::shape_error);
  CHECK_THROWS_AS(run.model.predict(uneven), dp::shape_error);
  CHECK_THROWS_AS(run.step(even, distribute<where>(integer_images<double, dp::extents<2, 8, 4>>(3, 1))),
                  dp::shape_error);
  run.step(even, even);
  const auto before = parameters_of(run.model);
  const auto none = distribute<where>(integer_images<double, dp::extents<2, 8, 4>>(0, 1));
  run.step(none, none);
  CHECK(parameters_of(run.model) == before);
  CHECK(run.model.predict(none).extent(0) == 0);
  // Accumulated gradients are sums over batches and places; clipping sees whole gradients.
  dp::model<net, where, double> parts{dp::seed{1}};
  dp::model<net, dp::cpu, double> whole{dp::seed{1}};
  dp::trainer of_parts{parts, nn::mse{}, dp::optim::sgd{}, dp::accumulate<2>{}};
  dp::trainer of_whole{whole, nn::mse{}, dp::optim::sgd{}, dp::accumulate<2>{}};
  of_parts.clip({.max_norm = 0.5});
  of_whole.clip({.max_norm = 0.5});
  of_parts.prepare(4);
  for (int i = 0; i != 4; ++i) {
    of_parts(even, even);
    of_whole(x, x);
  }
  CHECK(largest_difference(parameters_of(parts), parameters_of(whole)) < 1e-12);
  CHECK(largest_difference(parameters_of(parts), before) > 1e-3);
  CHECK(dp::placement_name<where>() == "in_parts<axis<2>, cuda:0, cuda:1>");
}

TEST_CASE("normalisations of split rows have the same bits for every number of places", "[train]") {
  using net = nn::sequential<nn::input<4, 8, 4>, nn::batch_norm<4>, nn::group_norm<2, 4>>;
  const result_of<in_rows<0, 1>, net, float> two(6);
  const result_of<in_rows<0, 1, 2, 3>, net, float> four(6);
  CHECK(two.numbers() != two.start);
  CHECK(two.numbers() == four.numbers());
  CHECK(two.outputs == four.outputs);
}
