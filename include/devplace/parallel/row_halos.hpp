// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/runtime/pass.hpp>

namespace devplace::parallel {

/// Exchanges rows of images between neighbouring places of one process.
template <class Backend> class row_halos {
 public:
  /// Of these devices, in the order of their rows.
  explicit row_halos(std::span<const int> ordinals)
      : devices_(ordinals, [](std::span<const int>) { return false; }), rows_(ordinals.size()) {}

  /// Place k's part in the next exchange, for the layers of its pass.
  runtime::row_exchange* of(std::size_t k) {
    rows_[k] = {k, rows_.size()};
    return &rows_[k];
  }
  /// The parts of all places in the next exchange, if the layers requested one.
  std::span<const runtime::row_exchange> requested() const {
    return {rows_.data(), rows_[0].to_next == nullptr ? 0 : rows_.size()};
  }

  /// Makes an exchange. On devices the host does not wait.
  void exchange(std::span<const runtime::row_exchange> rows) {
    devices_.fence();
    for (std::size_t k = 0; k + 1 != rows.size(); ++k) {
      const runtime::row_exchange &own = rows[k], &next = rows[k + 1];
      const int place = static_cast<int>(k);
      devices_.copy(place + 1, next.from_previous, place, own.to_next, own.forward);
      devices_.copy(place, own.from_next, place + 1, next.to_previous, next.backward);
    }
    devices_.fence();
  }

 private:
  detail::rank_devices<Backend> devices_;
  std::vector<runtime::row_exchange> rows_;
};

}  // namespace devplace::parallel
