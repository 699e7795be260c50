// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <devplace/memory/block.hpp>
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
    return std::span(rows_).first(rows_[0].to_next == nullptr ? 0 : rows_.size());
  }

  /// Makes an exchange. On devices the host does not wait.
  void exchange(std::span<const runtime::row_exchange> rows) {
    devices_.fence();
    for (std::size_t k = 0; k + 1 != rows.size(); ++k) {
      const runtime::row_exchange &own = rows[k], &next = rows[k + 1];
      copy(k + 1, next.from_previous, k, own.to_next, own.forward);
      copy(k, own.from_next, k + 1, next.to_previous, next.backward);
    }
    devices_.fence();
  }

 private:
  void copy(std::size_t to, void* target, std::size_t from, const void* source, std::size_t bytes) {
    if (bytes != 0)
      devplace::detail::copy_from_peer<Backend>(devices_.ordinal(static_cast<int>(to)), target,
                                                devices_.ordinal(static_cast<int>(from)), source, bytes);
  }

  detail::rank_devices<Backend> devices_;
  std::vector<runtime::row_exchange> rows_;
};

}  // namespace devplace::parallel
