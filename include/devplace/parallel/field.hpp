// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/parallel/detail/field_layout.hpp>
#include <devplace/parallel/detail/ghost_layers.hpp>
#include <devplace/place/grid.hpp>
#include <devplace/place/halo.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace parallel::detail {

struct field_access;

/// The number of a new field's first write. Later writes count on from there, without atomic operations, which small
/// exchanges would notice; fields that are swapped take their numbers along.
inline std::uint64_t first_write() {
  static std::atomic<std::uint64_t> fields{0};
  return ++fields << 32;
}

/// Number of axes that a field needs, because its placement splits them.
template <class Kind> inline constexpr std::size_t grid_axes = Kind::is_split ? Kind::axis + 1 : 0;
template <std::size_t... Parts> inline constexpr std::size_t grid_axes<split_over<Parts...>> = sizeof...(Parts);
/// Whether a grid in one process has as many parts as there are places.
template <class Where> inline constexpr bool fits_grid = true;
template <std::size_t... Parts, class... P>
inline constexpr bool fits_grid<sharded_on<grid<Parts...>, P...>> =
    ((Parts != dyn) && ...) && (Parts * ...) == sizeof...(P);

/// The layout of a field on `Where`.
template <class Where, std::size_t Rank> field_layout<Rank> layout_of_field(const per_axis<Rank>& sizes) {
  using kind = devplace::detail::kind_of<Where>;
  field_layout<Rank> layout{sizes, {}, {}, {0, 1}};
  layout.parts.fill(1);
  if constexpr (spans_processes<Where>)
    layout.members = current_participants<Where>("field");
  else
    layout.members.count = local_place_count<Where>;
  if constexpr (kind::is_split) {
    layout.parts[kind::axis] = layout.members.count;
  } else if constexpr (kind::is_grid) {
    constexpr std::size_t known = devplace::detail::parts_of_grid(kind{});
    bool varies = false;
    for (std::size_t axis = 0; axis != kind::parts.size(); ++axis) {
      varies = varies || kind::parts[axis] == dyn;
      layout.parts[axis] = kind::parts[axis] == dyn ? layout.members.count / known : kind::parts[axis];
    }
    if (layout.members.count % known != 0 || (!varies && layout.members.count != known))
      throw argument_error({"field: ", placement_name<Where>(), " needs ", varies ? "a multiple of " : "", known,
                            " participants, and there are ", layout.members.count, "."});
  }
  return layout;
}

}  // namespace parallel::detail

/// Cells of a grid over places, with ghost rows: `field<double, dextents<2>, sharded<axis<0>, 0, 1>, halo<1, 1>>`. Each
/// place stores consecutive indices of the split axes, which split::even divides, and ghost rows around its part.
/// exchange() (parallel/exchange.hpp) fills the ghost rows; stencil(), parallel_for() and parallel_reduce()
/// (parallel/stencil.hpp) compute with the cells. `Where` is one place, a split placement, or `across` one, whose
/// fields are made in a process_scope. A moved-from field may only be assigned to or destroyed.
template <element T, extents_like Extents, placement Where, class Halo = halo<>> class DEVPLACE_NODISCARD field {
  using kind = devplace::detail::kind_of<Where>;
  using mesh = devplace::detail::mesh_of<Where>;
  static constexpr bool divisible = !kind::is_distributed || kind::is_split || kind::is_grid,
                        has_axes = Extents::rank != 0;
  static_assert(divisible,
                "devplace: field: a field lies on one place or is split along an axis, as on sharded<axis<0>, 0, 1>; "
                "copies, summands and shares have no neighbours.");
  static_assert(has_axes, "devplace: field: a field has at least one axis.");
  static_assert(parallel::detail::grid_axes<kind> <= Extents::rank,
                "devplace: field: the placement splits an axis that the field does not have; axes count from 0.");
  static_assert(parallel::detail::fits_grid<Where>,
                "devplace: field: the grid has another number of parts than the placement has places; "
                "sharded<grid<2, 2>, 0, 1, 2, 3> has four.");
  static_assert(Halo::rank <= Extents::rank,
                "devplace: field: the halo has more widths than the field has axes; give one for each axis.");
  static_assert(mesh::one_backend, "devplace: the places of one field must be of one kind, all cpu or all cuda.");

 public:
  /// The properties given by the type: element type, extents of the whole, placement, ghost rows, backend.
  ///@{
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;
  using halo_type = Halo;
  using backend_type = typename mesh::backend_type;
  ///@}
  /// Number of axes.
  static constexpr std::size_t rank = has_axes ? Extents::rank : 1;
  /// Number of places of this process.
  static constexpr std::size_t places = local_place_count<Where>;

  /// Cells that are 0. Throws argument_error if a part has fewer indices than the halo is wide.
  DEVPLACE_CONFIGURED explicit field(const Extents& extents)
      : extents_(extents),
        layout_(parallel::detail::layout_of_field<Where, rank>(devplace::detail::sizes_of(extents))) {
    for (std::size_t axis = 0; axis != rank; ++axis) layout_.width[axis] = Halo::width(axis);
    layout_.check();
    if constexpr (spans_processes<Where>) between_ = parallel::current_processes("field").transport();
    for (std::size_t k = 0; k != places; ++k) {
      const std::size_t cells = layout_.part(k).padded_size();
      blocks_[k] = devplace::detail::allocate<backend_type>(mesh::ordinals[k], cells * sizeof(T));
      fill(devplace::detail::view_at<backend_type>(mesh::ordinals[k], memory(k), dextents<1>{cells}), T{});
    }
  }

  /// Moves the memory; no cells are copied.
  ///@{
  field(field&&) noexcept = default;
  field& operator=(field&&) noexcept = default;
  ///@}
  field(const field&) = delete;             // x.clone() is a copy
  field& operator=(const field&) = delete;  // x = other.clone()

  /// A new field with the same cells. Its ghost rows are not exchanged.
  DEVPLACE_CONFIGURED field clone() const {
    field result(extents_, layout_, between_);
    for (std::size_t k = 0; k != places; ++k) {
      result.blocks_[k] = devplace::detail::allocate<backend_type>(mesh::ordinals[k], bytes(k));
      devplace::detail::copy_within<backend_type>(mesh::ordinals[k], result.memory(k), memory(k), bytes(k));
    }
    return result;
  }

  /// The placement; prints as `sharded<axis<0>, cuda:0, cuda:1>`.
  static constexpr Where placement() { return {}; }
  /// Extents of the whole field, without ghost rows.
  const Extents& extents() const { return extents_; }
  /// The size of one axis of the whole field.
  std::size_t extent(std::size_t axis) const { return extents_.extent(axis); }
  /// Number of cells of the whole field.
  std::size_t size() const { return extents_.size(); }
  /// Index, in the whole field, of the first cell of the k-th place of this process.
  std::array<std::size_t, rank> begin(std::size_t k) const { return layout_.part(k).begin; }
  /// This process's participants, and the number of all participants.
  const devplace::participants& participants() const { return layout_.members; }

  /// The cells of the k-th place of this process, or of place `P`, without ghost rows, as a strided view. A view of a
  /// field that is not const may be written to; the ghost rows are stale from the call on, so do not keep the view
  /// beyond an exchange.
  ///@{
  DEVPLACE_CONFIGURED auto local(std::size_t k) & DEVPLACE_LIFETIMEBOUND {
    ++write_;
    return part<T, here<backend_type>>(k);
  }
  DEVPLACE_CONFIGURED auto local(std::size_t k) const& DEVPLACE_LIFETIMEBOUND {
    return part<const T, here<backend_type>>(k);
  }
  template <place P> DEVPLACE_CONFIGURED auto local(P = {}) & DEVPLACE_LIFETIMEBOUND {
    ++write_;
    return part<T, P>(position<P>());
  }
  template <place P> DEVPLACE_CONFIGURED auto local(P = {}) const& DEVPLACE_LIFETIMEBOUND {
    return part<const T, P>(position<P>());
  }
  template <class X> devplace::detail::refusal local(X) const&& {
    static_assert(sizeof(X) == 0,
                  "devplace: local: the temporary field would be destroyed before the view; keep it in a "
                  "variable.");
    return {};
  }
  ///@}

 private:
  friend struct parallel::detail::field_access;

  field(const Extents& extents, const parallel::detail::field_layout<rank>& layout,
        std::shared_ptr<parallel::transport> between)
      : extents_(extents), layout_(layout), between_(std::move(between)) {}

  template <place P> static constexpr std::size_t position() {
    constexpr std::size_t found = devplace::detail::position_in<P, typename mesh::local>;
    static_assert(found < places,
                  "devplace: local: the field has no part on this place; name a place of its placement.");
    return found < places ? found : 0;
  }
  T* memory(std::size_t k) const {
    if (blocks_[k].data() == nullptr && bytes(k) != 0) devplace::detail::throw_moved_from();
    return static_cast<T*>(blocks_[k].data());
  }
  std::size_t bytes(std::size_t k) const { return layout_.part(k).padded_size() * sizeof(T); }
  template <class Element, class On> auto part(std::size_t k) const {
    const auto of = layout_.part(k);
    const auto sizes = std::apply([](auto... size) { return dextents<rank>(size...); }, of.size);
    devplace::detail::device_of<On> device{};
    if constexpr (!place<On>) device = devplace::detail::device_of<On>{mesh::ordinals[k]};
    return view<Element, dextents<rank>, On, strided>(memory(k) + of.origin(), sizes, of.strides(), device);
  }

  std::array<devplace::detail::memory_block, places> blocks_;
  [[no_unique_address]] Extents extents_;
  parallel::detail::field_layout<rank> layout_;
  std::shared_ptr<parallel::transport> between_;
  std::shared_ptr<void> exchanges_;                        // ghost_layers, whose type depends on the configuration
  std::uint64_t write_ = parallel::detail::first_write();  ///< of the latest write or exchange
};

namespace parallel::detail {

/// Gives loops and exchanges access to a field's memory.
struct field_access {
  template <class Field> static const auto& layout(const Field& x) { return x.layout_; }
  template <class Field> static auto* memory(const Field& x, std::size_t k) { return x.memory(k); }
  template <class Field> static const auto& between(const Field& x) { return x.between_; }
  template <class Field> static void note_write(Field& x) { ++x.write_; }
  template <class Field> static std::uint64_t write(const Field& x) { return x.write_; }

  /// The field's ghost rows, which the first exchange prepares.
  template <class Field> DEVPLACE_CONFIGURED static auto& ghosts(Field& x) {
    using T = typename Field::value_type;
    using state = ghost_layers<T, typename Field::backend_type, Field::rank>;
    if (x.exchanges_ == nullptr) {
      std::array<T*, Field::places> memory{};
      for (std::size_t k = 0; k != Field::places; ++k) memory[k] = x.memory(k);
      x.exchanges_ = std::make_shared<state>(x.layout_, Field::mesh::ordinals, memory, x.between_);
    }
    return *static_cast<state*>(x.exchanges_.get());
  }
};

template <class X> inline constexpr bool is_field = false;
template <class T, class Extents, class Where, class Halo>
inline constexpr bool is_field<field<T, Extents, Where, Halo>> = true;

}  // namespace parallel::detail

}  // namespace devplace
