// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/tensor/detail/any_tensor.hpp>

namespace devplace {

/// One place's summand of a partial tensor, or of gradients that were not reduced. The host can print a summand, and
/// read the elements if it can access the memory; operations reject summands. Must not outlive the memory.
template <class View> class summand_view {
 public:
  /// The properties given by the type: element type, extents, backend.
  ///@{
  using value_type = typename View::value_type;
  using extents_type = typename View::extents_type;
  using backend_type = typename View::backend_type;
  ///@}

  /// From a view of the summand.
  constexpr explicit summand_view(const View& elements) : elements_(elements) {}
  /// The sizes of all axes.
  constexpr const extents_type& extents() const { return elements_.extents(); }
  /// The size of one axis.
  constexpr std::size_t extent(std::size_t axis) const { return elements_.extent(axis); }
  /// Number of elements.
  constexpr std::size_t size() const { return elements_.size(); }
  /// Element access, if the host can access the memory; checked like a view's.
  template <class... Index> constexpr value_type operator()(Index... indices) const {
    constexpr bool reachable = host_accessible<typename View::placement_type>;
    static_assert(reachable,
                  "devplace: the host cannot reach this summand's elements; print it, or copy it with "
                  "to<cpu>(x.only_on(k)).");
    if constexpr (reachable) return elements_(indices...);
    return {};
  }

 private:
  friend struct detail::distributed_access;

  View elements_;
};

namespace detail {
template <class View> inline constexpr rejection rejection_of<summand_view<View>> = rejection::summand;

/// Returns the elements of one place, as a summand_view if the placement has summands.
template <bool Summand, class View> constexpr auto local_view(const View& part) {
  if constexpr (Summand)
    return summand_view<View>(part);
  else
    return part;
}

}  // namespace detail
}  // namespace devplace
