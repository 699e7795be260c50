// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/place/algebra.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/division.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/tensor/summand_view.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace parallel {
struct batch_note;
}

/// A tensor over several places. Under `sharded<axis<N>, ...>`, each place stores consecutive indices of axis N as a
/// separate row-major array; the constructor's split divides the axis. Under other placements, each place has the full
/// extents: a copy or a summand. `local(k)` is the array of the placement's k-th place, `local(cuda<1>{})` the array of
/// a given place; `only_on(k)` writes to one copy or summand. Move-only, with deep const; collectives (parallel/)
/// change the distribution. A moved-from tensor may only be assigned to or destroyed.
template <element T, extents_like Extents, placement Where>
  requires(!single_place<Where>)
class DEVPLACE_NODISCARD
    tensor<T, Extents, Where> : public element_range<tensor<T, Extents, Where>, detail::no_iterator> {
  using kind = detail::kind_of<Where>;
  using mesh = detail::mesh_of<Where>;
  static constexpr bool divided = kind::is_split;
  static constexpr std::size_t axis = kind::axis;
  static_assert(mesh::in_own_memory, DEVPLACE_DETAIL_NOT_IN_OWN_MEMORY);
  static_assert(mesh::one_backend, "devplace: the places of one tensor must be of one kind, all cpu or all cuda.");
  static_assert(!kind::is_shares,
                "devplace: tensor: only models lie in shares, as on fully_sharded<0, 1>; tensors are split along an "
                "axis: sharded<axis<0>, 0, 1>, and batches for such a model lie on batch_placement_t<Where>.");
  static_assert(
      !kind::is_parts,
      "devplace: tensor: only models lie in parts, as on in_parts<axis<2>, 0, 1>; batches of such a model are "
      "split along the axis, as on sharded<axis<2>, 0, 1>.");
  static_assert(!kind::is_grid,
                "devplace: tensor: a tensor is split along one axis, as on sharded<axis<0>, 0, 1>; a field "
                "(devplace/fields.hpp) may be split along several.");
  static_assert(!divided || axis < Extents::rank,
                "devplace: the placement splits an axis that the tensor does not have; axes count from 0.");

 public:
  /// The properties given by the type: element type, extents of the whole, placement, backend.
  ///@{
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;
  using backend_type = typename mesh::backend_type;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = Extents::rank;
  /// Number of places.
  static constexpr std::size_t places = local_place_count<Where>;
  /// Extents of the local tensor of one place.
  using local_extents = typename std::conditional_t<(divided && axis < rank), detail::with_dynamic_axis<Extents, axis>,
                                                    std::type_identity<Extents>>::type;

  /// Zeros; every dynamic extent is 0.
  DEVPLACE_CONFIGURED tensor()
    requires(!divided || !mesh::spans_processes)
      : tensor(Extents{}) {
    for (std::size_t k = 0; k != places; ++k) fill(only_on(k), T{});
  }

  /// Uninitialised elements; a split axis is divided evenly.
  DEVPLACE_CONFIGURED explicit tensor(const Extents& extents) : tensor(extents, divided_by(extents, split::even)) {
    static_assert(!divided || !mesh::spans_processes,
                  "devplace: a tensor that is split across processes must know which participants this process has: "
                  "tensor(extents, split::even, participants{first, count}).");
  }

  /// Uninitialised elements; `parts` divides the split axis. Throws argument_error if given sizes do not add up to the
  /// axis's extent.
  template <split_rule Split>
    requires(divided && !mesh::spans_processes)
  DEVPLACE_CONFIGURED tensor(const Extents& extents, const Split& parts)
      : tensor(extents, divided_by(extents, parts)) {}

  /// Uninitialised elements of a tensor split across processes. `extents` are the extents of the whole tensor.
  /// Allocates only the parts of this process, whose participants are given by `participants`. Throws argument_error if
  /// this process's ranks exceed the total number of participants.
  DEVPLACE_CONFIGURED tensor(const Extents& extents, split::rule rule, const devplace::participants& participants)
    requires(divided && mesh::spans_processes)
      : tensor(extents, divided_by(extents, rule, participants)) {}

  /// Rejects lists, values and other tensors.
  template <class... Value>
    requires(detail::list_of_values<Extents, Value...> && (!detail::is_distributed_expression<Value> && ...))
  explicit(!detail::converts_to_tensor<Value...>) tensor(const Value&...) {
    detail::reject_elements<Value...>();
  }

  /// Evaluates an expression (ops/elementwise.hpp) place by place, into a new tensor or into this tensor's elements.
  ///@{
  template <class Expression>
    requires(std::remove_cvref_t<Expression>::is_distributed_expression)
  DEVPLACE_CONFIGURED tensor(Expression&& expression) : tensor(expression.template storage<tensor>()) {
    *this = std::forward<Expression>(expression);
  }
  template <class Expression>
    requires(std::remove_cvref_t<Expression>::is_distributed_expression)
  DEVPLACE_CONFIGURED tensor& operator=(Expression&& expression) {
    static_assert(detail::no_named_expressions<Expression>, DEVPLACE_DETAIL_NAMED_EXPRESSION);
    expression.into(*this);
    return *this;
  }
  ///@}

  /// Sets every element to a number, as fill(x, value) on every place.
  template <class Number>
    requires(!detail::is_distributed_expression<Number>)
  DEVPLACE_CONFIGURED tensor& operator=(const Number& value) {
    if constexpr (detail::check_assigned_number<Number, Where>())
      for (std::size_t k = 0; k != places; ++k) only_on(k) = value;
    return *this;
  }

  /// Moves the memory; no elements are copied.
  ///@{
  tensor(tensor&&) noexcept = default;
  tensor& operator=(tensor&&) noexcept = default;
  ///@}
  tensor(const tensor&) = delete;  // x.clone() is a copy
  tensor& operator=(const tensor&) = delete;

  /// A new tensor with the same elements, places and split.
  DEVPLACE_CONFIGURED tensor clone() const {
    for (std::size_t k = 0; k != places; ++k) static_cast<void>(memory(k));  // throws for a moved-from tensor
    tensor result(extents_, division_);
    detail::copy_parts<backend_type>(result.blocks_, blocks_, mesh::ordinals, part_bytes());
    return result;
  }

  /// The placement; prints as `replicated<cuda:0, cuda:1>`.
  static constexpr Where placement() { return {}; }
  /// Extents of the whole value.
  const Extents& extents() const { return extents_; }
  /// The size of one axis of the whole value.
  std::size_t extent(std::integral auto k) const
      DEVPLACE_REFUSED_IF(detail::no_axis<Extents>(k), DEVPLACE_DETAIL_NO_AXIS) {
    return extents_.extent(static_cast<std::size_t>(k));
  }
  /// Number of elements of the whole value.
  std::size_t size() const { return extents_.size(); }

  /// Returns the elements of the placement's k-th place (`k` is not checked), or of place `P`, as a view typed with
  /// `P`: `x.local(cuda<1>{})`, `x.local<cuda<1>>()`. Parts are writable views. Copies are read-only views, since a
  /// change would not reach the other copies. Summands are summand_views, which operations reject. Does not compile for
  /// temporaries.
  ///@{
  DEVPLACE_CONFIGURED auto local(std::size_t k) & DEVPLACE_LIFETIMEBOUND {
    return detail::local_view<kind::is_summands>(part<local_element>(k));
  }
  DEVPLACE_CONFIGURED auto local(std::size_t k) const& DEVPLACE_LIFETIMEBOUND {
    return detail::local_view<kind::is_summands>(part<const T>(k));
  }
  template <place P> auto local(P = {}) & DEVPLACE_LIFETIMEBOUND {
    return detail::local_view<kind::is_summands>(part_of<local_element, P>());
  }
  template <place P> auto local(P = {}) const& DEVPLACE_LIFETIMEBOUND {
    return detail::local_view<kind::is_summands>(part_of<const T, P>());
  }
  detail::refusal local(std::size_t) const&& { return detail::view_of_temporary<T>(); }
  template <place P> detail::refusal local(P = {}) const&& { return detail::view_of_temporary<P>(); }
  ///@}

  /// Returns the elements on one place as an ordinary view, for collectives of your own. The caller must keep copies
  /// equal. A summand is not the value; the caller must combine all summands.
  ///@{
  DEVPLACE_CONFIGURED auto only_on(std::size_t k) & DEVPLACE_LIFETIMEBOUND { return part<T>(k); }
  DEVPLACE_CONFIGURED auto only_on(std::size_t k) const& DEVPLACE_LIFETIMEBOUND { return part<const T>(k); }
  template <place P> auto only_on(P = {}) & DEVPLACE_LIFETIMEBOUND { return part_of<T, P>(); }
  template <place P> auto only_on(P = {}) const& DEVPLACE_LIFETIMEBOUND { return part_of<const T, P>(); }
  detail::refusal only_on(std::size_t) const&& { return detail::view_of_temporary<T>(); }
  template <place P> detail::refusal only_on(P = {}) const&& { return detail::view_of_temporary<P>(); }
  ///@}

  /// This process's participants, and the number of all participants that share the axis.
  const devplace::participants& participants() const
    requires(divided)
  {
    return division_.participants;
  }
  /// The first index along the split axis of the k-th place's part; for `k` == places, the end of the last part.
  std::size_t part_begin(std::size_t k) const
    requires(divided)
  {
    return division_.begins[k];
  }
  /// The current sizes of the parts: `scatter<Where>(y, x.split_sizes())` splits y like x.
  split::sizes<places> split_sizes() const
    requires(divided)
  {
    std::array<std::size_t, places> result{};
    for (std::size_t k = 0; k < places; ++k) result[k] = division_.begins[k + 1] - division_.begins[k];
    return split::sizes<places>(result);
  }
  /// The first row (index of axis 0) of the k-th place, as an index in the whole tensor.
  std::size_t first_row(std::size_t k) const {
    if constexpr (divided && axis == 0)
      return division_.begins[k];
    else
      return 0;
  }

 private:
  friend struct detail::leading_extent;
  friend struct detail::distributed_access;
  using local_element = std::conditional_t<divided, T, const T>;
  using division_type = std::conditional_t<divided, detail::division<places>, detail::undivided>;

  tensor(std::array<detail::memory_block, places>&& blocks, const Extents& extents, const division_type& division)
      : blocks_(std::move(blocks)), extents_(extents), division_(division) {}

  DEVPLACE_CONFIGURED tensor(const Extents& extents, const division_type& division)
      : extents_(extents), division_(division) {
    detail::allocate_parts<backend_type>(blocks_, mesh::ordinals, part_bytes());
  }

  static division_type divided_by([[maybe_unused]] const Extents& extents, [[maybe_unused]] const auto& parts,
                                  const auto&... participants) {
    if constexpr (divided)
      return {detail::divide<places>(extents.extent(axis), parts, participants...), detail::rule_of(parts),
              participants...};
    else
      return {};
  }

  std::array<std::size_t, places> part_bytes() const {
    std::array<std::size_t, places> bytes{};
    for (std::size_t k = 0; k < places; ++k) bytes[k] = part_extents(k).size() * sizeof(T);
    return bytes;
  }

  local_extents part_extents(std::size_t k) const {
    if constexpr (divided)
      return detail::with_dynamic_axis<Extents, axis>::with(division_.begins[k + 1] - division_.begins[k], extents_);
    else
      return extents_;
  }
  template <class Element> DEVPLACE_CONFIGURED auto part(std::size_t k) const {
    return detail::view_at<backend_type, Element>(mesh::ordinals[k], memory(k), part_extents(k));
  }
  template <class Element, class P> auto part_of() const {
    constexpr std::size_t position = detail::position_in<P, typename mesh::local>, k = position < places ? position : 0;
    constexpr bool found = position < places;
    static_assert(found, "devplace: local: the tensor has no part on this place; name a place of its placement.");
    return devplace::view<Element, local_extents, P>{memory(k), part_extents(k)};
  }
  /// The k-th place's elements; throws error for a moved-from tensor.
  T* memory(std::size_t k) const {
    if (blocks_[k].data() == nullptr && part_extents(k).size() != 0) detail::throw_moved_from();
    return static_cast<T*>(blocks_[k].data());
  }

  std::array<detail::memory_block, places> blocks_;
  [[no_unique_address]] Extents extents_;
  [[no_unique_address]] division_type division_;
  mutable const parallel::batch_note* note_ = nullptr;  ///< set by a loader in its batches; null in clones
};

}  // namespace devplace

#include <devplace/tensor/detail/distributed_access.hpp>
