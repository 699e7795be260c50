// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "link/training.hpp"

/// Storage, an expression, a product and a training step on each device, and steps on several devices. Only thin
/// wrappers may be instantiated per ordinal or per number of places, but no kernel and no large function.
namespace {

namespace dp = devplace;
namespace nn = devplace::nn;

/// Training with both policies, and by single steps.
template <class Where> float use_replicas() {
  const dp::tensor<float, dp::extents<dp::dyn, 6>, dp::on<dp::cpu>> samples(dp::extents<dp::dyn, 6>{5});
  const dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> classes(dp::extents<dp::dyn>{5});
  const auto x = dp::to_batch<Where>(samples);
  const auto y = dp::to_batch<Where>(classes);
  dp::model<training::net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, dp::collective::scatter_gather{},
                   dp::accumulate<2>{}};
  step(x, y);
  step.flush();
  dp::optimizer optimizer{model, dp::optim::adam{}};
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(output, y);
  optimizer.step(model, dp::synchronize(model.backward(std::move(saved), gradient)));
  dp::check_replicas(model);
  return training::losses<Where>().back() + loss.item() + dp::gather<dp::on<dp::cpu>>(model.predict(x)).data()[0];
}

template <int I> float use_device() {
  using where = dp::on<dp::cuda<I>>;
  dp::tensor<float, dp::extents<4, 4>, where> a(dp::extents<4, 4>{}), b(dp::extents<4, 4>{});
  dp::uniform_into(a, dp::seed{1}, 0, -1, 1);
  b = dp::relu(a * 2.0f + a);
  auto c = dp::matmul(a, b);
  auto d = dp::softmax(c);
  const dp::model<training::net, dp::on<dp::cpu>> source{dp::seed{1}};
  const auto replicas = dp::replicate<where>(source);
  const dp::tensor<float, dp::extents<dp::dyn, 6>, where> x(dp::extents<dp::dyn, 6>{4});
  const auto outputs = dp::parallel_apply(replicas, std::tie(x));
  dp::check_replicas(std::get<0>(replicas));
  return dp::to<dp::on<dp::cpu>>(dp::sum(d))() + training::losses<where>().back() +
         dp::item(dp::sum(std::get<0>(outputs))) +
         use_replicas<std::conditional_t<I % 2 == 0, dp::replicated<9, I, 8>, dp::replicated<I, 8>>>();
}

template <int... I> float use_devices() { return (0.0f + ... + use_device<I>()); }

}  // namespace

#if defined(SEVERAL_ORDINALS)
float ordinals() { return use_devices<0, 1, 7>(); }
#else
float ordinals() { return use_devices<0>(); }
#endif
