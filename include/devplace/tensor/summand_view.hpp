// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/detail/refused_uses.hpp>

namespace devplace {

namespace detail {
struct distributed_access;
}  // namespace detail

/// What one place has of a partial tensor, or of gradients that were not reduced: a summand. It can be read where the
/// host reaches it, and printed, but operations refuse it. It must not outlive the memory.
template <class View>
class summand_view {
 public:
  /// The properties given by the type: element type, extents, backend.
  ///@{
  using value_type = typename View::value_type;
  using extents_type = typename View::extents_type;
  using backend_type = typename View::backend_type;
  ///@}

  /// The summand with these elements.
  constexpr explicit summand_view(const View& elements) : elements_(elements) {}
  /// The sizes of all axes.
  constexpr const extents_type& extents() const { return elements_.extents(); }
  /// The size of one axis.
  constexpr std::size_t extent(std::size_t axis) const { return elements_.extent(axis); }
  /// Number of elements.
  constexpr std::size_t size() const { return elements_.size(); }
  /// An element of the summand, where the host can access the memory; checked as views' elements are.
  template <class... Index>
    requires host_accessible<typename View::placement_type>
  constexpr value_type operator()(Index... indices) const { return elements_(indices...); }
  template <class FIX = COPY_IT_FIRST_WITH_to_on_cpu, class... Index>
    requires(!host_accessible<typename View::placement_type>)
  detail::refusal operator()(Index...) const DEVPLACE_REFUSED(
      "the host does not reach this summand's elements; print it, or copy it there with to<cpu>(x.only_on(k)).");

 private:
  friend struct detail::distributed_access;

  View elements_;
};

namespace detail {
template <class X>
inline constexpr bool is_summand_view = false;
template <class View>
inline constexpr bool is_summand_view<summand_view<View>> = true;

/// Of summands a view that says so.
template <bool Summand, class View>
constexpr auto shown(const View& part) {
  if constexpr (Summand)
    return summand_view<View>(part);
  else
    return part;
}
}  // namespace detail

#define DEVPLACE_DETAIL_SUMMAND                                                                                \
  "one place's summand is not the value; combine the summands first, with all_reduce(x), reduce<P>(x) or, of " \
  "gradients, synchronize(g). x.only_on(k) is a summand as an ordinary view."
#define DEVPLACE_DETAIL_OF_SUMMAND(...)                                                                     \
  template <__VA_ARGS__ class View, class... X, class FIX = COMBINE_THE_SUMMANDS_WITH_reduce_OR_all_reduce> \
  detail::refusal
#define DEVPLACE_DETAIL_OF_SUMMANDS                                                       \
  template <class A, class B, class FIX = COMBINE_THE_SUMMANDS_WITH_reduce_OR_all_reduce> \
    requires(detail::is_summand_view<A> || detail::is_summand_view<B>)                    \
  detail::refusal

/// Operations on a summand_view are refused.
///@{
DEVPLACE_DETAIL_OF_SUMMANDS operator+(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator-(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator*(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator/(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator+=(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator-=(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator*=(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS operator/=(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS copy(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMANDS matmul(const A&, const B&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
template <class... Where, class View, class FIX = COMBINE_THE_SUMMANDS_WITH_reduce_OR_all_reduce>
detail::refusal to(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() to_host(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() item(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() sum(const summand_view<View>&, X...) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() mean(const summand_view<View>&, X...) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() max(const summand_view<View>&, X...) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() min(const summand_view<View>&, X...) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() sqrt(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() square(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
DEVPLACE_DETAIL_OF_SUMMAND() abs(const summand_view<View>&) DEVPLACE_REFUSED(DEVPLACE_DETAIL_SUMMAND);
///@}
#undef DEVPLACE_DETAIL_OF_SUMMANDS
#undef DEVPLACE_DETAIL_OF_SUMMAND
#undef DEVPLACE_DETAIL_SUMMAND

}  // namespace devplace
