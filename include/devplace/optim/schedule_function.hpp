// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace devplace::optim {

/// A schedule from a function that returns the factor of the rule's learning rate for a step, PyTorch's LambdaLR:
/// `optim::scheduled{optim::adam{}, [](std::int64_t step) { return 1.0 / (1.0 + 0.01 * double(step)); }}`. Steps count
/// from 0. The function must depend on the step alone: optimizers may call it several times for one step, and after a
/// resumption the first call is for the step at which the training stopped. Copies share the function.
class schedule_function {
 public:
  /// Wraps a function object and erases its type.
  template <class F>
    requires(std::is_invocable_r_v<double, const F&, std::int64_t> && !std::same_as<F, schedule_function>)
  schedule_function(F factor)
      : function_(std::make_shared<const F>(std::move(factor))), call_([](const void* function, std::int64_t step) {
          return static_cast<double>((*static_cast<const F*>(function))(step));
        }) {}

  /// Returns the learning rate of a step.
  double rate(double base, std::int64_t step) const { return base * call_(function_.get(), step); }

  /// Calls f(name, value) with the function's first factor, for comparison between processes.
  static void for_each_option(auto& self, auto&& f) { f("schedule's first factor", self.rate(1, 0)); }

 private:
  // Not std::function, whose header every program would include.
  std::shared_ptr<const void> function_;
  double (*call_)(const void*, std::int64_t);
};

}  // namespace devplace::optim
