// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/cell_loop.hpp>
#include <devplace/parallel/exchange.hpp>
#include <devplace/parallel/field.hpp>

// The fields of a loop, and the loop over the parts of this process.
namespace devplace::parallel::detail {

/// The field's type of an operand: of a field, or of an exchanged one.
template <class X> struct field_of_operand : std::type_identity<void> {};
template <class T, class E, class W, class H>
struct field_of_operand<field<T, E, W, H>> : std::type_identity<field<T, E, W, H>> {};
template <class Field> struct field_of_operand<exchanged<Field>> : std::type_identity<Field> {};
template <class Field> struct field_of_operand<exchanging<Field>> : std::type_identity<Field> {};
template <class X> using field_of_operand_t = typename field_of_operand<std::remove_cvref_t<X>>::type;

/// Whether a loop takes an argument, a reference or value of type X.
template <class X> inline constexpr bool is_loop_operand = !std::is_void_v<field_of_operand_t<X>>;
/// Whether a loop writes a field that it is given as X.
template <class X>
inline constexpr bool is_written = is_field<std::remove_cvref_t<X>> && !std::is_const_v<std::remove_reference_t<X>>;

template <class X> const field_of_operand_t<X>& field_behind(const X& x) {
  if constexpr (is_field<X>)
    return x;
  else
    return x.current();
}

/// How a loop accesses an operand.
template <class X, class Field = field_of_operand_t<X>> struct access {
  using T = typename Field::value_type;
  static constexpr std::size_t rank = Field::rank;
  using type = std::conditional_t<!is_field<std::remove_cvref_t<X>>,
                                  exchanged_cells<T, typename Field::halo_type, rank, (DEVPLACE_CHECK_BOUNDS != 0)>,
                                  plain_cells<std::conditional_t<is_written<X>, T, const T>, rank>>;

  static type of(const Field& x, std::size_t k) {
    const auto part = field_access::layout(x).part(k);
    type cells{field_access::memory(x, k) + part.origin(), {}};
    std::copy_n(part.strides().begin(), rank, cells.strides);
    return cells;
  }
};
template <class X> using access_t = typename access<X>::type;

/// How a loop calls a functor.
template <class F, class First, class... Rest>
struct call_with_operands
    : functor_call<F, std::make_index_sequence<field_of_operand_t<First>::rank>, access_t<First>, access_t<Rest>...> {};

/// Whether these are operands on the same places, and F can be called with their cells.
template <class F, class First, class... Rest> constexpr bool check_loop() {
  using field = field_of_operand_t<First>;
  constexpr bool same_rank = ((field_of_operand_t<Rest>::rank == field::rank) && ...);
  constexpr bool same_mesh =
      (std::is_same_v<typename field_of_operand_t<Rest>::placement_type, typename field::placement_type> && ...);
  constexpr bool copied = std::is_trivially_copyable_v<F>;
  static_assert(
      same_mesh,
      "devplace: stencil, parallel_for, parallel_reduce: the fields lie on different places, or are split along "
      "different axes; make them on one placement.");
  static_assert(same_rank,
                "devplace: stencil, parallel_for, parallel_reduce: the fields have different numbers of axes.");
  static_assert(
      copied,
      "devplace: stencil, parallel_for, parallel_reduce: devices get a bytewise copy of the functor, so it must "
      "be trivially copyable: give it numbers and pointers, not tensors, vectors or strings.");
  if constexpr (same_rank && same_mesh && copied) {
    using call = call_with_operands<F, First, Rest...>;
    constexpr bool callable = call::takes_cells || call::takes_indices;
    static_assert(
        callable,
        "devplace: stencil, parallel_for, parallel_reduce: the functor must be callable with the cell of each "
        "field, or with the cells and a std::size_t for each axis, and its operator() must be const.");
    return callable;
  } else {
    return false;
  }
}

/// As check_loop, for stencil().
template <class F, class Out, class... In> constexpr bool check_stencil() {
  constexpr bool out = is_written<Out>, in = (is_loop_operand<In> && ...),
                 any = !in || (!is_field<std::remove_cvref_t<In>> || ...);
  static_assert(out,
                "devplace: stencil: the first argument is the field that is written, in a variable that is not const.");
  static_assert(in,
                "devplace: stencil: the arguments are the field that is written, the functor, and the fields that are "
                "read: stencil(out, f, exchange(u, edge)).");
  static_assert(
      any,
      "devplace: stencil: the ghost rows of the inputs are not filled; exchange the field whose neighbours are "
      "read: stencil(out, f, exchange(u, edge::periodic)).");
  if constexpr (out && in && any) {
    constexpr bool one = !spans_processes<typename field_of_operand_t<Out>::placement_type> ||
                         (std::size_t{is_exchanging<std::remove_cvref_t<In>>} + ... + 0) <= 1;
    static_assert(
        one,
        "devplace: stencil: between processes one exchange is on its way at a time; exchange the other inputs "
        "with exchange(u, edge) instead of exchange_async, before the last one.");
    if constexpr (one) return check_loop<assigned_result<F>, Out, const std::remove_reference_t<In>&...>();
  }
  return false;
}

[[noreturn]] inline void throw_other_cells() {
  throw shape_error(
      "stencil, parallel_for, parallel_reduce: the fields have different extents, or belong to groups of different "
      "processes; give fields with the same cells.");
}

/// Joins lines without ghosts between them to one line, as short ones take longer: their number becomes 1 along the
/// axes that are joined with the last one.
template <class... Field, std::size_t Rank> per_axis<Rank> merged_lines(per_axis<Rank> sizes) {
  for (std::size_t axis = Rank - 1; axis != 0 && ((Field::halo_type::width(axis) == 0) && ...); --axis)
    sizes[Rank - 1] *= std::exchange(sizes[axis - 1], 1);
  return sizes;
}

inline namespace DEVPLACE_CONFIGURATION {

/// Waits for the ghost rows of an operand that is exchanged asynchronously.
template <class X> void finish_exchange(X& x) {
  if constexpr (is_exchanging<std::remove_cv_t<X>>) static_cast<void>(x.get());
}

/// The checked operands of a loop. `X` are references, const ones to fields that are only read.
template <class First, class... Rest> class loop_operands {
  using field = field_of_operand_t<First>;
  static constexpr std::size_t rank = field::rank;
  struct box {
    per_axis<rank> first, size;
    std::size_t cells() const {
      std::size_t count = 1;
      for (const std::size_t n : size) count *= n;
      return count;
    }
  };

 public:
  /// Throws if an exchanged field is stale or also written, and if the fields have different cells.
  explicit loop_operands(const auto& first, const auto&... rest) : layout_(field_access::layout(field_behind(first))) {
    if (!((field_access::layout(field_behind(rest)) == layout_) && ...)) throw_other_cells();
  }

  /// Makes the ghost rows of the fields that the loop writes stale.
  template <class... X> static void note_writes(X&... x) {
    (check_unread(x, x...), ...);
    (note_write(x), ...);
  }

  /// Calls the functor for all cells or, if `Interior`, only for those whose neighbours are no ghosts of an exchange on
  /// its way; for_border() calls it for the others.
  ///@{
  template <bool Interior = false, class F, class... X> void for_cells(const F& f, X&... x) const {
    for (std::size_t k = 0; k != field::places; ++k) {
      box cells{{}, layout_.part(k).size};
      for (std::size_t axis = 0; Interior && axis != rank; ++axis) cut(cells, axis);
      run(k, cells, f, x...);
    }
  }
  template <class F, class... X> void for_border(const F& f, X&... x) const {
    for (std::size_t k = 0; k != field::places; ++k) {
      box left{{}, layout_.part(k).size};
      for (std::size_t axis = 0; axis != rank; ++axis) {
        box low = left, high = left;
        cut(left, axis);
        low.size[axis] = left.first[axis];
        high.first[axis] = left.first[axis] + left.size[axis];
        high.size[axis] = layout_.part(k).size[axis] - high.first[axis];
        run(k, low, f, x...);
        run(k, high, f, x...);
      }
    }
  }
  ///@}

 private:
  static constexpr std::size_t grain = 4096;
  static constexpr std::size_t width(std::size_t axis) {
    return std::max({width_of<First>(axis), width_of<Rest>(axis)...});
  }
  template <class X> static constexpr std::size_t width_of(std::size_t axis) {
    return is_exchanging<std::remove_cvref_t<X>> ? field_of_operand_t<X>::halo_type::width(axis) : 0;
  }
  /// Leaves out the cells at both ends of an axis that read ghosts.
  static void cut(box& of, std::size_t axis) {
    const std::size_t low = std::min(width(axis), of.size[axis]), high = std::min(width(axis), of.size[axis] - low);
    of.first[axis] += low;
    of.size[axis] -= low + high;
  }

  /// Throws if a field is written while its neighbours are read.
  template <class X> static void check_unread(X& written, const auto&... others) {
    if constexpr (is_written<X&>)
      if (((!is_field<std::remove_cvref_t<decltype(others)>> && same_object(written, field_behind(others))) || ...))
        throw argument_error(
            "stencil, parallel_for: a field is written while its neighbours are read, so results would depend on the "
            "order of the cells; write another field, and exchange the two with std::swap.");
  }
  static bool same_object(const auto& a, const auto& b) {
    return static_cast<const void*>(&a) == static_cast<const void*>(&b);
  }
  template <class X> static void note_write(X& x) {
    if constexpr (is_written<X&>) field_access::note_write(x);
  }

  template <class F, class... X> void run(std::size_t k, const box& of, const F& f, X&... x) const {
    using backend_type = typename field::backend_type;
    using loop = cell_loop<F, rank, access_t<X&>...>;
    if (of.cells() == 0) return;  // an empty part has no memory to begin at
    loop body{f, {{moved_to(access<X&>::of(exchange_access::behind(x), k), of.first.data())}...}, {}, {}};
    const auto part = layout_.part(k);
    const auto sizes = loop::indexed ? of.size : merged_lines<field_of_operand_t<X>...>(of.size);
    std::copy_n(sizes.begin(), rank, body.sizes);
    for (std::size_t axis = 0; axis != rank; ++axis) body.begin[axis] = part.begin[axis] + of.first[axis];
    devplace::detail::for_each_index<backend_type>(
        devplace::detail::mesh_of<typename field::placement_type>::ordinals[k], of.cells(), grain, body);
  }

  const field_layout<rank>& layout_;
};

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::parallel::detail
