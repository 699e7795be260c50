// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <devplace/config.hpp>
#include <devplace/nn/strips.hpp>
#include <devplace/parallel/row_halos.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/train/detail/connection.hpp>

namespace devplace::train::detail {

/// The connection of the places of a model in parts: also exchanges rows. Gradients are reduced as those of replicas,
/// which compute other samples in place of other rows.
template <class Net, std::size_t Parts, class Where, class P, class Policy>
class connection<nn::strips<Net, Parts>, Where, P, Policy>
    : public connection<typename nn::strips<Net, Parts>::wrapped_layer, Where, P, Policy> {
  using base = connection<typename nn::strips<Net, Parts>::wrapped_layer, Where, P, Policy>;
  using halos_type = parallel::row_halos<placement_backend_t<Where>>;

 public:
  using base::reduce;

  template <class Given>
  DEVPLACE_CONFIGURED explicit connection(const Given& policy)
      : base(policy), halos_(std::make_shared<halos_type>(devplace::detail::mesh_of<Where>::ordinals)) {}

  runtime::row_exchange* rows(std::size_t k) { return halos_->of(k); }
  /// Exchanges the rows or reduces the numbers that the layers of a stop requested.
  DEVPLACE_CONFIGURED void reduce(const std::array<runtime::reduction_request, Parts>& requests) {
    halos_->exchange();
    base::reduce(requests);
  }

 private:
  std::shared_ptr<halos_type> halos_;
};

}  // namespace devplace::train::detail
