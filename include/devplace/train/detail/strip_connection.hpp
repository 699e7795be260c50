// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include <devplace/config.hpp>
#include <devplace/nn/strips.hpp>
#include <devplace/parallel/row_halos.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/train/detail/connection.hpp>

namespace devplace {

namespace train::detail {

/// A batch split along the rows of its images, seen as a batch of strips: each place has as many samples as the batch
/// has, which are the strips of its rows.
template <class Tensor, class Extents, class Where> class batch_of_strips {
 public:
  using value_type = typename Tensor::value_type;
  using extents_type = Extents;
  using placement_type = devplace::detail::with_kind_t<Where, split_along<0>>;

  explicit batch_of_strips(const Tensor& batch) : batch_(batch) {}
  std::size_t extent(std::size_t) const { return local_place_count<Where> * batch_.extent(0); }
  DEVPLACE_CONFIGURED auto only_on(std::size_t k) const { return batch_.only_on(k); }

 private:
  const Tensor& batch_;
};

}  // namespace train::detail

template <class Tensor, class Extents, class Where>
inline constexpr bool detail::is_tensor<train::detail::batch_of_strips<Tensor, Extents, Where>> = true;

namespace train::detail {

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
      : base(policy), halos_(std::make_shared<halos_type>(devplace::detail::mesh_of<Where>::ordinals)) {
    base::prepare();  // the memory for `largest` integers, of which small batches need less
  }

  DEVPLACE_CONFIGURED runtime::row_exchange* rows(std::size_t k) { return halos().of(k); }
  /// Exchanges the rows or reduces the numbers that the layers of a stop requested. A communicator of the program's own
  /// may have a member `exchange_rows(std::span<const runtime::row_exchange>)`, which then exchanges the rows.
  DEVPLACE_CONFIGURED void reduce(const std::array<runtime::reduction_request, Parts>& requests) {
    if (const auto rows = halos().requested(); !rows.empty()) {
      if constexpr (requires { this->communicator().exchange_rows(rows); })
        this->communicator().exchange_rows(rows);
      else
        halos().exchange(rows);
    }
    std::array<runtime::reduction_request, Parts> portion = requests;
    for (std::size_t first = 0; first < requests[0].count; first += largest)
      for (std::size_t k = 0; k != Parts; ++k) {
        portion[k].numbers = requests[k].numbers + first;
        portion[k].count = std::min(largest, requests[k].count - first);
        if (k + 1 == Parts) base::reduce(portion);
      }
  }

 private:
  /// Number of integers in one reduction, for which the communicator prepared memory.
  static constexpr std::size_t largest = runtime::network_plan<nn::strips<Net, Parts>>::reduction_integers;
  DEVPLACE_CONFIGURED halos_type& halos() const { return *static_cast<halos_type*>(halos_.get()); }

  std::shared_ptr<void> halos_;  // its type depends on the configuration
};

}  // namespace train::detail
}  // namespace devplace
