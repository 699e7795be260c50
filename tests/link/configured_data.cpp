// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Data and files, arrays without networks, gradients in a program's own hands and shared memory, for the symbol test;
// never run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/data/transforms.hpp>
#include <devplace/io/csv.hpp>
#include <devplace/io/npz.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/shared_memory.hpp>
#include <devplace/sorting.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using features_type = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::cpu>;
using labels_type = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu>;

struct doubled {
  float* data;
  DEVPLACE_HD void operator()(std::size_t i, std::size_t j) const { data[i * 6 + j] *= 2; }
};
struct element_of {
  const float* data;
  DEVPLACE_HD float operator()(std::size_t i) const { return data[i]; }
};

template <class Where> void use_loaders(const dp::image_set& images, features_type& features, labels_type& labels) {
  dp::loader<Where> of_images{images, {.batch = 4, .workers = 1}};
  for (const auto& [x, y] : of_images.epoch(0)) static_cast<void>(x.extent(0) + y.extent(0));
  const dp::transforms changed{dp::extents<1, 28, 28>{}, dp::seed{1}, dp::horizontal_flip{}, dp::cutout{}};
  std::vector<float> sample(28 * 28);
  changed(std::span<float>(sample), 0, 0);
  static_cast<void>(dp::wrap(sample, dp::extents<1, 28, 28>{}).size());
  dp::loader<Where> of_changed{images, {.batch = 4}, changed};
  for (const auto& [x, y] : of_changed.epoch(0)) static_cast<void>(x.extent(0) + y.extent(0));
  auto of_variables = dp::make_loader<Where>(features, labels, {.batch = 4});
  auto of_temporaries = dp::make_loader<Where>(features.clone(), labels.clone(), {.batch = 4});
  for (const auto& [x, y] : of_variables.epoch(0)) static_cast<void>(x.extent(0) + y.extent(0));
  for (const auto& [x, y] : of_temporaries.epoch(0)) static_cast<void>(x.extent(0) + y.extent(0));
}

template <class Where> void use_arrays(const features_type& features) {
  auto x = features.to<Where>();
  dp::parallel_for(Where{}, x.extents(), doubled{std::to_address(x.data())});
  dp::parallel_for(x, x.extents(), doubled{std::to_address(x.data())});
  const dp::extents<dp::dyn> all{x.size()};
  const auto largest = dp::parallel_reduce<dp::reduction::max>(Where{}, all, element_of{std::to_address(x.data())});
  for (auto row : dp::rows(x)) row += dp::item(largest);
  for (auto row : dp::rows(x.view())) row *= 2.0f;
  const auto sorted = dp::sort(x, dp::axis<1>{});
  dp::copy(x, dp::cumsum(sorted, dp::axis<1>{}));
  const auto stream = dp::stream<Where>::current();
  static_cast<void>(stream.native_handle());
  const auto host = std::move(x).template to<dp::cpu>();
  static_cast<void>(host.size());
}

template <class Where, class P = float> void use_gradients(const features_type& features, const labels_type& labels) {
  dp::model<net, Where, P> model{dp::seed{1}};
  dp::optimizer<dp::optim::sgd, dp::model<net, Where, P>> update{model, {}};
  const auto x = dp::to_batch<Where>(features);
  auto [out, saved] = model.forward(x);
  auto loss = nn::cross_entropy{}(out, dp::to_batch<Where>(labels));
  auto summands = model.backward(std::move(saved), loss.gradient);
  static_cast<void>(std::as_const(summands).template local<0>());
  static_cast<void>(summands.template local<0>());
  static_cast<void>(summands.template only_on<1>(0));
  static_cast<void>(std::as_const(summands).template only_on<1>(0));
  auto gradients = dp::synchronize<dp::collective::all_reduce<>>(std::move(summands));
  static_cast<void>(gradients.template local<0>());
  update.step(model, std::move(gradients));
  static_cast<void>(std::as_const(model).template parameter<0>());
  static_cast<void>(model.template parameter_only_on<1>(0));
  const auto use_view = [](const std::string&, const auto& values) { static_cast<void>(values.size()); };
  model.for_each_parameter(use_view);
  model.for_each_buffer(use_view);
  std::as_const(model).for_each_parameter(use_view);
  std::as_const(model).for_each_buffer(use_view);
}

}  // namespace

void use_data(const std::string& file) {
  const dp::labelled_images images = dp::read_mnist(file);
  features_type features = dp::read_npy<float, dp::extents<dp::dyn, 6>>(file);
  labels_type labels = dp::read_csv<std::int64_t, dp::extents<dp::dyn>>(file);
  dp::image_set none;
  const auto numbers = dp::read_idx<std::uint8_t, dp::extents<dp::dyn>>(file);
  dp::write_npy(file, numbers);
  dp::write_npy(file, none.labels);
  use_loaders<dp::cpu>(images.train, features, labels);
  use_loaders<dp::cuda<0>>(images.train, features, labels);
  use_loaders<dp::replicated<0, 1>>(images.train, features, labels);
  use_loaders<dp::across<dp::cuda<0>>>(images.train, features, labels);
  use_arrays<dp::cpu>(features);
  use_arrays<dp::cuda<0>>(features);
  use_gradients<dp::cpu>(features, labels);
  use_gradients<dp::cuda<0>>(features, labels);
  use_gradients<dp::replicated<0, 1>>(features, labels);
}

void use_shared_memory(const std::string& name, const features_type& features, const labels_type& labels) {
  using shared_tensor = dp::tensor<float, dp::extents<dp::dyn, 6>, dp::shared_memory>;
  using shared_model = dp::model<net, dp::shared_memory>;
  auto zeros = dp::create_shared<shared_tensor>(name, dp::extents<dp::dyn, 6>{4});
  auto copy = dp::create_shared<shared_tensor>(name, features);
  copy = dp::open_shared<shared_tensor>(name);
  auto model = dp::create_shared<shared_model>(name, dp::seed{1});
  auto of_device = dp::create_shared<shared_model>(name, dp::model<net, dp::cuda<0>>{dp::seed{1}});
  auto opened = dp::open_shared<shared_model>(name);
  dp::trainer step{opened, nn::cross_entropy{}, dp::optim::sgd{}};
  step(features, labels);
  step.flush();
  model.assign(dp::to<dp::cpu>(opened));
  const dp::exported on_gpu{dp::to<dp::cuda<0>>(features)};
  const auto mapped = dp::open_ipc<dp::cuda<0>>(on_gpu.handle());
  const auto predicted = dp::to<dp::cuda<0>>(model).predict(dp::to<dp::cuda<0>>(features));
  static_cast<void>(predicted.size() + mapped.size() + zeros.size() + of_device.parameter_count());
}
