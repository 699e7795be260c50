// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/update.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <vector>

#include <devplace/optim/rmsprop.hpp>

#include "support/catch.hpp"
#include "support/simt/emulator.hpp"
#include "support/simt/rows.hpp"

namespace dp = devplace;
namespace simt = devplace::test::simt;

namespace {

/// Four arenas that are aligned for wide accesses, or one element off.
struct arenas {
  static constexpr std::size_t room = 6000;
  alignas(16) std::array<float, 4 * room> data{};
  std::size_t n, offset;

  arenas(std::size_t count, std::size_t first) : n(count), offset(first) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::vector<float> values = simt::logits(n, static_cast<std::uint32_t>(k + 1));
      for (std::size_t i = 0; i < n; ++i)
        of(k)[i] = k == 3 ? values[i] * values[i] : values[i];  // second moments must not be negative
    }
  }
  float* of(std::size_t k) { return data.data() + k * room + offset; }

  dp::runtime::adam_update<float> adam(const float* divisor) {
    return {{of(0), divisor, nullptr}, of(1), of(2), of(3), &of_adam};
  }
  template <bool Momentum>
  dp::runtime::sgd_update<float, Momentum> sgd(const float* divisor) {
    return {{of(0), divisor, nullptr}, of(1), Momentum ? of(2) : nullptr, &of_sgd};
  }

  dp::optim::detail::rmsprop_update<float> rmsprop(const float* divisor) {
    return {{of(0), divisor, nullptr}, of(1), of(3), of(2), &of_rmsprop};
  }

  dp::runtime::step_record<dp::runtime::adam_hyper, float> of_adam{};
  dp::runtime::step_record<dp::runtime::sgd_hyper, float> of_sgd{};
  dp::runtime::step_record<dp::optim::detail::rmsprop_hyper, float> of_rmsprop{};
};

constexpr dp::runtime::adam_hyper adam_hyper{0.125, 0.9, 0.99, 1e-8, 0.25, 0.01};
constexpr dp::runtime::sgd_hyper sgd_hyper{0.125, 0.5, 0, 0.25, true};

/// Three steps by the kernel, which gets the same arguments each time, against the single-element formula with the
/// numbers of steps 4, 5 and 6 in turn.
template <class Hyper, class Make>
void check_update(const Hyper& hyper, const Make& make, bool wide = true) {
  const float divisor = 32;
  for (const std::size_t n : {1u, 3u, 4u, 257u, 1024u, 5001u})
    for (const std::size_t offset : {0u, 1u}) {
      INFO(n << " elements, offset " << offset);
      arenas by_kernel(n, offset);
      arenas one_by_one(n, offset);
      const auto kernel = dp::detail::make_update_kernel(n, make(by_kernel, &divisor));
      CHECK(kernel.groups == (wide && offset == 0 ? n / 4 : 0));
      auto& record = *kernel.update.steps;
      record.begin(hyper, 4);
      auto numbers = make(one_by_one, &divisor).numbers();
      for (unsigned step = 4; step < 7; ++step) {
        hyper.set(numbers.by, step);
        for (std::size_t i = 0; i < n; ++i)
          numbers.element(i, numbers.source.factor());
        simt::launch(step - 2, kernel, step);
        CHECK(by_kernel.data == one_by_one.data);
        CHECK(record.step == step + 1);
        CHECK(record.ticket == 0);
      }
    }
}

}  // namespace

TEST_CASE("the kernel of Adam's update is the formula for each element, and counts the steps", "[cuda]") {
  check_update(adam_hyper, [](arenas& a, const float* divisor) { return a.adam(divisor); });
}

TEST_CASE("the kernel of SGD's update is the formula for each element, with and without momentum", "[cuda]") {
  check_update(sgd_hyper, [](arenas& a, const float* divisor) { return a.sgd<true>(divisor); });
  check_update(sgd_hyper, [](arenas& a, const float* divisor) { return a.sgd<false>(divisor); });
}

TEST_CASE("the kernel of a formula without wide accesses of its own computes it for each element", "[cuda]") {
  constexpr dp::optim::detail::rmsprop_hyper hyper{0.125, 0.9, 1e-8, 0.25, 0.5};
  check_update(
      hyper, [](arenas& a, const float* divisor) { return a.rmsprop(divisor); }, false);
}

TEST_CASE("an update kernel does not divide by 0 if all samples are ignored", "[cuda]") {
  arenas a(9, 0);
  const float none = 0;
  const auto update = a.sgd<false>(&none);
  a.of_sgd.begin(sgd_hyper, 1);
  const std::vector<float> before(a.of(1), a.of(1) + 9);
  simt::launch(1, dp::detail::make_update_kernel(9, update), 1);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(a.of(1)[i] == before[i] - 0.125F * (0.25F * before[i]));  // only weight decay acts
}
