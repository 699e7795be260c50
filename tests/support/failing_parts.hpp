// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/optimizer_concept.hpp>

#include "support/wait_for_host.hpp"

namespace devplace::test {

/// The value in a batch that makes `explosive` throw.
inline constexpr double dynamite = 12345;

/// The identity, except that one value throws an exception of a foreign type.
struct explode {
  template <class T> T operator()(T x) const {
    if (x == static_cast<T>(dynamite)) throw std::runtime_error("a functor threw.");
    return x;
  }
};

/// A layer that throws on the device, in its kernel.
struct explosive {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = map(explode{}, c.input); }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1; }
};

/// nn::cross_entropy that throws on the device, in a kernel, for a label that is no class.
struct throwing_cross_entropy : nn::cross_entropy {
  template <class Label> struct check_label {
    const Label* labels;
    std::size_t classes;
    void operator()(std::size_t row) const {
      const auto label = static_cast<std::uint64_t>(labels[row]);
      if (label >= classes)
        throw argument_error({"cross_entropy: row ", row, " has the label ", label, ", and there are ", classes, "."});
    }
  };
  template <class T> struct bound : nn::cross_entropy::bound<T> {
    void into(const auto& sums, const auto& gradient, const auto& rows, const auto& logits, const auto& labels) const {
      using backend = typename std::remove_cvref_t<decltype(logits)>::backend_type;
      using label = std::remove_cvref_t<decltype(*labels.data())>;
      devplace::detail::for_each_index<backend>(
          logits.ordinal(), labels.size(), 4096,
          check_label<label>{labels.data(), logits.extent(std::remove_cvref_t<decltype(logits)>::rank - 1)});
      nn::cross_entropy::bound<T>::into(sums, gradient, rows, logits, labels);
    }
  };
  template <class T, class Backend> bound<T> bind(int ordinal) const {
    return {nn::cross_entropy::bind<T, Backend>(ordinal)};
  }
  auto operator()(const auto& logits, const auto& labels) const { return nn::evaluate_loss(*this, logits, labels); }
};

/// A layer that throws on the host while the step is enqueued, for the part of the batch that begins with sample
/// `refused`.
struct refusing {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  inline static std::uint64_t refused = nowhere;

  template <class In> using output = In;
  static void forward(const auto& c) {
    if (c.key.first_sample == refused) throw std::runtime_error("a layer threw.");
    c.output = c.input * 1;
  }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1; }
};

/// Blocks the work of device `ordinal` until `release()`, so that a failure on the device occurs after the host has
/// enqueued everything.
class held_device {
 public:
  explicit held_device(int ordinal) : held_(devplace::detail::make_event<backend::cuda>(ordinal)) {
    devplace::detail::for_each_index<backend::cuda>(ordinal, 1, 1, wait_for_host{&released_});
    devplace::detail::record_event<backend::cuda>(held_);
  }
  held_device(const held_device&) = delete;
  held_device& operator=(const held_device&) = delete;
  ~held_device() {
    release();
    while (!devplace::detail::events_of<backend::cuda>().ready(held_.get(), held_.ordinal())) std::this_thread::yield();
  }
  void release() { released_ = true; }

 private:
  devplace::detail::event_handle held_;
  std::atomic<bool> released_ = false;
};

/// Where and when `faulty_rule` fails.
struct fault {
  int ordinal = 0;  ///< device that fails; negative: all devices
  std::int64_t step = 1;
  bool on_host = false;             ///< while enqueueing, instead of later on the device
  held_device* releases = nullptr;  ///< released when the failure occurs on the host
};

/// Subtracts gradients times a power of two; throws if `fails`.
template <class T> struct subtract_or_throw {
  T* parameters;
  const T* gradients;
  T factor;
  bool fails;
  DEVPLACE_HD void operator()(std::size_t i) const {
    if (fails && i == 1) throw std::runtime_error("the rule threw.");
    parameters[i] -= gradients[i] * factor;
  }
};

/// A user-defined optimizer that fails as `fault` specifies.
struct faulty_rule {
  fault where = {};

  static constexpr std::size_t state_arenas = 0;
  void validate() const {}
  template <class Backend, class T> void step(const optim::step_arguments<T>& a) const {
    const bool fails = a.step == where.step && (where.ordinal < 0 || where.ordinal == a.ordinal);
    if (fails && where.on_host) {
      if (where.releases != nullptr) where.releases->release();
      throw std::runtime_error("the rule threw.");
    }
    devplace::detail::for_each_index<Backend>(
        a.ordinal, a.n, a.n, subtract_or_throw<T>{a.parameters, a.gradients, static_cast<T>(0.015625), fails});
  }
};

/// Waits until the first three devices have completed, or skipped, all their work; does not consume failures.
inline void let_three_devices_finish() {
  const auto finish = [](auto place) {
    event<decltype(place)> done;
    done.record();
    while (!done.ready()) std::this_thread::yield();
  };
  finish(cuda<0>{});
  finish(cuda<1>{});
  finish(cuda<2>{});
}

}  // namespace devplace::test
