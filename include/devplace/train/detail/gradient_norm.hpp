// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/optim/clip_norm.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/runtime/clip_factor.hpp>
#include <devplace/runtime/step_record.hpp>
#include <devplace/train/detail/loss_scaler.hpp>
#include <devplace/train/detail/step.hpp>
#include <devplace/train/gradient_norms.hpp>

namespace devplace::train::detail {

/// The norm of all gradients: for clipping, for measuring and, with loss scaling, for detecting gradients that are not
/// finite. Programs that need no norm do not contain its code: allocate(), which they do not call, refers to it.
template <class State, class Connection, class T, std::size_t Places, place P, bool Scales> class gradient_norm {
  using backend_type = backend_of_t<P>;
  using memory_type = std::array<step_memory<T>, Places>;
  using factors_type = std::array<runtime::step_factors<T>, Places>;

 public:
  void clip(const optim::clip_norm& rule) { clip_ = rule; }
  /// `updates`: whether a place of this process updates parameters.
  DEVPLACE_CONFIGURED void measure(bool updates) {
    measures_ = true;
    if (!updates) return;
    if (measured_ == nullptr)
      measured_ = std::make_shared<norms_on_place<P>>();
    else
      measured_->reset();
  }
  DEVPLACE_CONFIGURED unread_gradient_norms<P> measured() const {
    if (!measures_)
      throw error("trainer: gradients are not measured before measure_gradients(); call it once before the steps.");
    if (measured_ == nullptr)
      throw error(
          "trainer: only a process that updates parameters has the norms of gradients; with this policy call "
          "gradient_norms() in the process with rank 0.");
    return unread_gradient_norms<P>(measured_);
  }

  /// Whether the places that update need the norm.
  bool used() const { return Scales || clip_ || measures_; }
  /// Returns the norm above which gradients are clipped: infinity if norms are only measured, 0 if they are neither
  /// clipped nor measured. Processes compare this number.
  double largest() const { return clip_ ? clip_->max_norm : measures_ ? std::numeric_limits<double>::infinity() : 0; }

  /// Allocates the memory of norms; called before the first step that uses them.
  DEVPLACE_CONFIGURED void allocate(const State& state, memory_type& memory, std::size_t updating) {
    constexpr std::size_t bytes = optim::clip_workspace_size * sizeof(std::int64_t);
    for (std::size_t k = 0; k < updating; ++k)
      if (memory[k].clipping.data() == nullptr)
        memory[k].clipping =
            devplace::detail::allocate<backend_type>(state.replicas[k].ordinal, bytes, memory_purpose::workspace);
    compute_ = &gradient_norm::compute;
  }

  /// Computes the norm on the places that update; returns the factors of their steps.
  factors_type factors(const State& state, const memory_type& memory, Connection& connection, reduction loss_reduction,
                       const loss_scaler<Scales>& scaled) const {
    return used() ? (this->*compute_)(state, memory, connection, loss_reduction, scaled) : factors_type{};
  }

 private:
  DEVPLACE_CONFIGURED factors_type compute(const State& state, const memory_type& memory, Connection& connection,
                                           reduction loss_reduction, const loss_scaler<Scales>& scaled) const {
    factors_type result{};
    if constexpr (Connection::updates_shares) reduce_shares(state, memory, connection);
    const bool changes = Scales || clip_;
    const optim::clip_norm rule = clip_.value_or(optim::clip_norm{std::numeric_limits<double>::infinity()});
    for (std::size_t k = 0; k < connection.updating_places(); ++k) {
      runtime::gradient_norm_statistics* const statistics = k == 0 && measured_ ? measured_->numbers() : nullptr;
      if (!changes && statistics == nullptr) continue;
      const auto arguments = clip_arguments_of<T>(state.replicas[k], memory[k], loss_reduction, scaled, statistics);
      if constexpr (Connection::updates_shares)
        runtime::add_squares<backend_type, T>(arguments.ordinal, 0, nullptr, arguments.workspace, true,
                                              optim::clip_result(rule, arguments));
      else
        optim::clip_norm_into<backend_type>(rule, arguments);
      if (changes) result[k].factor = arguments.factor;  // measured gradients do not change, even if they are NaN
      if constexpr (Scales) result[k].skip = &memory[k].scale()->skips;
    }
    return result;
  }
  /// Computes the integers of the norm from the gradients in the places' shares.
  DEVPLACE_CONFIGURED static void reduce_shares(const State& state, const memory_type& memory, Connection& connection) {
    std::array<std::int64_t*, Places> integers;
    for (std::size_t k = 0; k < Places; ++k) integers[k] = static_cast<std::int64_t*>(memory[k].clipping.data());
    connection.for_each_part(state, [&](std::size_t k, std::size_t i, const parallel::bucket& part) {
      const auto& r = state.replicas[k];
      runtime::find_largest<backend_type>(r.ordinal, part.count, r.gradient_data() + part.first, integers[k], i != 0);
    });
    connection.reduce(integers, 1, reduction::max);
    connection.for_each_part(state, [&](std::size_t k, std::size_t i, const parallel::bucket& part) {
      const auto& r = state.replicas[k];
      runtime::add_squares<backend_type, T>(r.ordinal, part.count, r.gradient_data() + part.first, integers[k], i != 0);
    });
    for (std::int64_t*& digits : integers) ++digits;  // behind the largest magnitude
    connection.reduce(integers, runtime::norm_integers - 1, reduction::sum);
  }

  std::optional<optim::clip_norm> clip_;
  bool measures_ = false;
  std::shared_ptr<norms_on_place<P>> measured_;  ///< norms on this process's first place, if it updates
  decltype(&gradient_norm::compute) compute_ = nullptr;
};

}  // namespace devplace::train::detail
