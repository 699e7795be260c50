// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/nn/draw_elements.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/optim/rmsprop.hpp>
#include <devplace/optim/sgd.hpp>

#include "optim/optimizer_case.hpp"

namespace devplace::test {

/// A copy of an array, on device 0 of a backend.
template <class Backend, class T> class device_array {
 public:
  explicit device_array(const std::vector<T>& values)
      : block_(devplace::detail::allocate<Backend>(0, values.size() * sizeof(T))), size_(values.size()) {
    devplace::detail::copy_in<Backend>(0, block_.data(), values.data(), size_ * sizeof(T));
  }
  T* data() { return static_cast<T*>(block_.data()); }
  std::vector<T> values() {
    std::vector<T> result(size_);
    devplace::detail::copy_out<Backend>(0, result.data(), block_.data(), size_ * sizeof(T));
    return result;
  }

 private:
  devplace::detail::memory_block block_;
  std::size_t size_;
};

template <class T> double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

/// The largest difference between the parameters after three steps with clipped gradients on a backend's device 0 and
/// on the CPU.
template <class Backend, class T, class Rule> double steps_differ_by(const Rule& rule) {
  constexpr std::size_t n = 20011;
  const std::vector<std::int64_t> workspace(optim::clip_workspace_size);
  const optimizer_case<T> start(n);
  const auto run = [&]<class Place>(Place) {
    device_array<Place, T> parameters(start.parameters), gradients(start.gradients), first(start.first_state);
    device_array<Place, T> second(start.second_state), divisor({64}), factor({0}), norm({0});
    device_array<Place, std::int64_t> work(workspace);
    std::vector<std::uint64_t> sent(optim::step_memory_bytes / 8);
    device_array<Place, std::uint64_t> steps(std::vector<std::uint64_t>(optim::step_memory_bytes / 8));
    optim::step_arguments<T> a;
    a.n = n;
    a.parameters = parameters.data();
    a.gradients = gradients.data();
    a.state[0] = first.data();
    a.state[1] = second.data();
    a.divisor = divisor.data();
    a.gradient_factor = factor.data();
    a.step_memory = steps.data();
    a.sent = sent.data();
    for (a.step = 1; a.step <= 3; ++a.step) {
      optim::clip_norm_into<Place>(
          optim::clip_norm{0.5},
          optim::clip_arguments<T>{0, n, gradients.data(), divisor.data(), factor.data(), norm.data(), work.data()});
      rule.template step<Place>(a);
    }
    return parameters.values();
  };
  return largest_difference(run(Backend{}), run(backend::cpu{}));
}

/// The largest difference between initial values on a backend's device 0 and on the CPU.
template <class Backend, class T> double initial_values_differ_by(const nn::initialization& how) {
  constexpr std::size_t n = 20011;
  const auto run = [&]<class Place>(Place) {
    device_array<Place, T> data{std::vector<T>(n)};
    nn::draw_elements<Place>(0, data.data(), n, how, 5, "7");
    return data.values();
  };
  return largest_difference(run(Backend{}), run(backend::cpu{}));
}

}  // namespace devplace::test
