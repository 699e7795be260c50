// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work of networks_bench.cpp in LibTorch. Argument `idiomatic`: nn::Sequential, autograd, optimizers and data
// loaders of LibTorch, as its tutorials write them. Argument `tuned`: no autograd, results written into existing
// tensors, and the optimizer's fused kernel over one tensor of all parameters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>
#include <torch/torch.h>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace {

using devplace::bench::not_done;
using devplace::bench::once;
using devplace::bench::quantile_of;
using devplace::bench::time_of;
using torch::Tensor;

enum class activation { relu, tanh, gelu };

struct network {
  std::vector<std::int64_t> sizes;
  activation between;
  bool classes;  // cross-entropy of classes; otherwise binary cross-entropy of numbers from 0 to 1
};

network network_of(const std::string& name) {
  if (name == "mlp") return {{784, 256, 10}, activation::relu, true};
  if (name == "tanh") return {{28, 300, 300, 300, 300, 300, 1}, activation::tanh, false};
  return {{1024, 1024, 1024, 1024, 1024}, activation::gelu, true};
}

/// Data in memory of MNIST's size: bytes, and labels of the type that LibTorch's losses take.
struct image_set {
  Tensor images = torch::randint(256, {60'000, 784}, torch::kByte), labels = torch::arange(60'000) % 10;
};

/// The samples one by one, as the data loaders of LibTorch take them.
class samples : public torch::data::datasets::Dataset<samples> {
 public:
  explicit samples(const image_set& set) : set_(set) {}
  torch::data::Example<> get(std::size_t i) override { return {set_.images[i], set_.labels[i]}; }
  torch::optional<std::size_t> size() const override { return static_cast<std::size_t>(set_.images.size(0)); }

 private:
  image_set set_;
};

Tensor targets_of(const network& net, std::int64_t batch) {
  return net.classes ? torch::arange(batch) % net.sizes.back() : torch::rand({batch, net.sizes.back()});
}

torch::nn::Sequential model_of(const network& net) {
  torch::nn::Sequential model;
  for (std::size_t i = 0; i + 1 < net.sizes.size(); ++i) {
    if (i != 0 && net.between == activation::relu) model->push_back(torch::nn::ReLU());
    if (i != 0 && net.between == activation::tanh) model->push_back(torch::nn::Tanh());
    if (i != 0 && net.between == activation::gelu) model->push_back(torch::nn::GELU());
    model->push_back(torch::nn::Linear(net.sizes[i], net.sizes[i + 1]));
  }
  return model;
}

/// Times an epoch that stacks the samples to a batch of bytes and scales it as a whole.
double idiomatic_epoch(const network& net, std::int64_t batch) {
  static const image_set set;
  torch::nn::Sequential model = model_of(net);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  const auto batches = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      samples(set).map(torch::data::transforms::Stack<>()), static_cast<std::size_t>(batch));
  const auto train = [&](std::size_t most) {
    for (const auto& [bytes, labels] : *batches) {
      optimizer.zero_grad();
      const Tensor y = model->forward(bytes.to(torch::kFloat).div_(255));
      torch::nn::functional::cross_entropy(y, labels).backward();
      optimizer.step();
      if (--most == 0) break;
    }
  };
  train(20);  // warm-up
  return once([&] { train(0); });
}

double idiomatic(const std::string& what, const network& net, std::int64_t batch) {
  if (what == "epoch") return idiomatic_epoch(net, batch);
  torch::nn::Sequential model = model_of(net);
  const Tensor x = torch::rand({batch, net.sizes.front()}), t = targets_of(net, batch);
  if (what == "p50" || what == "p99") {
    const c10::InferenceMode inference;
    return quantile_of(what == "p50" ? 0.5 : 0.99, [&] { model->forward(x); });
  }
  const auto train = [&](auto&& optimizer) {
    const auto step = [&] {
      optimizer.zero_grad();
      const Tensor y = model->forward(x);
      const Tensor loss = net.classes ? torch::nn::functional::cross_entropy(y, t)
                                      : torch::nn::functional::binary_cross_entropy_with_logits(y, t);
      loss.backward();
      optimizer.step();
    };
    return what == "once" ? once(step) : time_of(step);
  };
  if (what == "adam" || what == "once")
    return train(torch::optim::Adam(model->parameters(), torch::optim::AdamOptions(1e-3)));
  if (what == "sgd") return train(torch::optim::SGD(model->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9)));
  return not_done;
}

/// Layers whose parameters are parts of one tensor and whose results are allocated once.
class tuned {
 public:
  tuned(const network& net, std::int64_t batch)
      : net_(net), x_(torch::rand({batch, net.sizes.front()})), targets_(targets_of(net, batch)) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i + 1 < net.sizes.size(); ++i) count += (net.sizes[i] + 1) * net.sizes[i + 1];
    parameters_ = torch::randn({count}) * 0.05;
    for (Tensor* like : {&gradients_, &first_, &second_}) *like = torch::zeros({count});
    std::int64_t begin = 0;
    for (std::size_t i = 0; i + 1 < net.sizes.size(); ++i) {
      const std::int64_t in = net.sizes[i], out = net.sizes[i + 1];
      layer l;
      const auto part = [&](const Tensor& of, std::int64_t first, std::int64_t size) {
        return of.narrow(0, first, size);
      };
      l.weight = part(parameters_, begin, in * out).view({out, in});
      l.weight_gradient = part(gradients_, begin, in * out).view({out, in});
      l.bias = part(parameters_, begin + in * out, out);
      l.bias_gradient = part(gradients_, begin + in * out, out);
      for (Tensor* like : {&l.z, &l.y, &l.dy}) *like = torch::empty({batch, out});
      layers_.push_back(l);
      begin += (in + 1) * out;
    }
  }

  /// Reads the samples of these positions, at most as many as the constructor made, in place of the constructor's.
  void read(const image_set& set, const Tensor& positions) {
    const std::int64_t batch = positions.size(0);
    if (x_.size(0) != batch) {
      for (layer& l : layers_)
        for (Tensor* result : {&l.z, &l.y, &l.dy}) result->resize_({batch, result->size(1)});
      for (Tensor* input : {&x_, &bytes_}) input->resize_({batch, x_.size(1)});
      targets_.resize_({batch});
    }
    at::index_select_out(bytes_, set.images, 0, positions);
    at::index_select_out(targets_, set.labels, 0, positions);
    x_.copy_(bytes_).mul_(1.0 / 255);
  }

  const Tensor& forward() {
    const Tensor* x = &x_;
    for (layer& l : layers_) {
      at::addmm_out(l.z, l.bias, *x, l.weight.t());
      if (&l == &layers_.back()) return l.z;
      if (net_.between == activation::relu) at::clamp_min_out(l.y, l.z, 0);
      if (net_.between == activation::tanh) at::tanh_out(l.y, l.z);
      if (net_.between == activation::gelu) at::gelu_out(l.y, l.z);
      x = &l.y;
    }
    return *x;
  }

  void backward() {
    layer& last = layers_.back();
    if (net_.classes) {
      at::_softmax_out(last.dy, last.z, 1, false);
      last.dy.scatter_add_(1, targets_.unsqueeze(1), minus_one_.expand({x_.size(0), 1}));
    } else {
      at::sigmoid_out(last.dy, last.z);
      last.dy.sub_(targets_);
    }
    last.dy.mul_(1.0 / static_cast<double>(x_.size(0)));
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layer& l = layers_[i];
      at::mm_out(l.weight_gradient, l.dy.t(), i == 0 ? x_ : layers_[i - 1].y);
      at::sum_out(l.bias_gradient, l.dy, 0);
      if (i == 0) break;
      layer& before = layers_[i - 1];
      at::mm_out(before.dy, l.dy, l.weight);
      if (net_.between == activation::relu) at::threshold_backward_out(before.dy, before.dy, before.y, 0);
      if (net_.between == activation::tanh) at::tanh_backward_out(before.dy, before.dy, before.y);
      if (net_.between == activation::gelu) at::gelu_backward_out(before.dy, before.dy, before.z);
    }
  }

  void adam() {
    step_ += 1;
    at::_fused_adam_({parameters_}, {gradients_}, {first_}, {second_}, {}, {step_}, 1e-3, 0.9, 0.999, 0.0, 1e-8, false,
                     false);
  }
  void sgd() { at::_fused_sgd_({parameters_}, {gradients_}, {first_}, 0.0, 0.9, 1e-3, 0.0, false, false, false); }

 private:
  struct layer {
    Tensor weight, bias, weight_gradient, bias_gradient, z, y, dy;
  };

  network net_;
  Tensor x_, bytes_ = torch::empty_like(x_, torch::kByte), targets_, parameters_, gradients_, first_, second_;
  Tensor step_ = torch::zeros({}), minus_one_ = -torch::ones({1, 1});
  std::vector<layer> layers_;
};

double tuned_epoch(const network& net, std::int64_t batch) {
  static const image_set set;
  tuned work(net, batch);
  const auto train = [&](std::int64_t images) {
    for (const Tensor& positions : torch::randperm(set.images.size(0)).narrow(0, 0, images).split(batch)) {
      work.read(set, positions);
      work.forward();
      work.backward();
      work.adam();
    }
  };
  train(20 * batch);  // warm-up
  return once([&] { train(set.images.size(0)); });
}

double tuned_seconds(const std::string& what, const network& net, std::int64_t batch) {
  const c10::InferenceMode inference;
  if (what == "epoch") return tuned_epoch(net, batch);
  tuned work(net, batch);
  if (what == "p50" || what == "p99") return quantile_of(what == "p50" ? 0.5 : 0.99, [&] { work.forward(); });
  const auto step = [&] {
    work.forward();
    work.backward();
    what == "sgd" ? work.sgd() : work.adam();
  };
  if (what == "once") return once(step);
  return what == "adam" || what == "sgd" ? time_of(step) : not_done;
}

}  // namespace

int main(int, char** argv) {
  const bool best = std::string(argv[1]) == "tuned";
  devplace::bench::answer_questions(torch::set_num_threads, [&](const std::string& what, const std::string& of) {
    const std::size_t slash = of.find('/');
    const network net = network_of(of.substr(0, slash));
    const std::int64_t batch = std::stol(of.substr(slash + 1));
    return best ? tuned_seconds(what, net, batch) : idiomatic(what, net, batch);
  });
}
