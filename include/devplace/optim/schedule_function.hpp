// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/options.hpp>

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

namespace devplace::optim::detail {

/// Falls from 1 to 0 as x grows from 0 to 1.
inline double cosine_factor(double x) { return (1 + std::cos(3.14159265358979323846 * x)) / 2; }

template <class Schedule>
concept has_rate = requires(const Schedule& schedule, std::int64_t step) {
  { schedule.rate(0.1, step) } -> std::convertible_to<double>;
};
template <class Schedule>
concept has_momentum = requires(const Schedule& schedule, std::int64_t step) {
  { schedule.momentum(0.9, step) } -> std::convertible_to<double>;
};

/// The schedule made from a T: schedule_function if T is a function of the step, otherwise T.
template <class T>
using schedule_type =
    std::conditional_t<!has_rate<T> && std::is_invocable_r_v<double, const T&, std::int64_t>, schedule_function, T>;

// Optional members of schedules, with their defaults.

template <class Schedule> void for_each_option_of(std::string prefix, Schedule& schedule, auto&& f) {
  if constexpr (requires { Schedule::name; }) prefix.append(Schedule::name).append("'s ");
  devplace::detail::for_each_option(schedule, [&](const char* name, auto&& value) {
    f((prefix + name).c_str(), std::forward<decltype(value)>(value));
  });
}
template <class Schedule> double momentum_of(const Schedule& schedule, double base, std::int64_t step) {
  if constexpr (has_momentum<Schedule>)
    return schedule.momentum(base, step);
  else
    return base;
}
template <class Schedule> bool needs_momentum(const Schedule& schedule) {
  if constexpr (requires { schedule.needs_momentum(); })
    return schedule.needs_momentum();
  else
    return has_momentum<Schedule>;
}

}  // namespace devplace::optim::detail
