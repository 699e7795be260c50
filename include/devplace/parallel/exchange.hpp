// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/parallel/field.hpp>
#include <devplace/place/halo.hpp>

namespace devplace {

namespace parallel::detail {
struct exchange_access;
}

/// A field whose ghost rows exchange() has filled, for stencil(). Refers to the field, and is valid until the field is
/// written, exchanged again or moved: later uses throw argument_error.
template <class Field> class DEVPLACE_NODISCARD exchanged {
 public:
  /// The field's type.
  using field_type = Field;

  /// The field. Throws argument_error if its ghost rows are stale.
  const Field& current() const {
    if (parallel::detail::field_access::write(*field_) != write_)
      throw argument_error(
          "stencil: the ghost rows are stale, because the field was written, exchanged again or moved after this "
          "exchange; call exchange(x, edge) after the last write.");
    return *field_;
  }

 private:
  friend struct parallel::detail::exchange_access;
  explicit exchanged(const Field& x) : field_(&x), write_(parallel::detail::field_access::write(x)) {}

  const Field* field_;
  std::uint64_t write_;
};

/// An exchange on its way, made by exchange_async(). stencil() computes the interior cells while the ghost rows arrive,
/// then waits for them and computes the others. Other loops and get() wait at once. Until then the field must not be
/// written or moved, and between processes the group makes no other call.
template <class Field> class DEVPLACE_NODISCARD exchanging {
 public:
  /// The field's type.
  using field_type = Field;

  exchanging& operator=(exchanging&&) = delete;
  /// Ends the exchange.
  DEVPLACE_CONFIGURED ~exchanging() {
    try {
      static_cast<void>(get());
    } catch (...) {  // the group or device reports the failure at its next use
    }
  }

  /// Waits for the ghost rows and returns the exchanged field.
  DEVPLACE_CONFIGURED exchanged<Field> get() const {
    if (std::exchange(open_, false)) parallel::detail::field_access::ghosts(*field_).finish();
    return result_;
  }
  /// The field, as that of an exchanged one.
  const Field& current() const { return result_.current(); }

 private:
  friend struct parallel::detail::exchange_access;
  exchanging(Field& x, const exchanged<Field>& result) : field_(&x), result_(result) {}

  Field* field_;
  exchanged<Field> result_;
  mutable bool open_ = true;
};

namespace parallel::detail {

template <class X> inline constexpr bool is_exchanging = false;
template <class Field> inline constexpr bool is_exchanging<exchanging<Field>> = true;

struct exchange_access {
  template <class Field, class... Edge>
  DEVPLACE_CONFIGURED static exchanging<Field> start(Field& x, const Edge&... edges) {
    field_access::note_write(x);  // an earlier exchange may have had other edges
    field_access::ghosts(x).start(edges...);
    return {x, exchanged<Field>(x)};
  }
  /// The field behind an operand, which has been checked before.
  template <class X> static const auto& behind(const X& x) {
    if constexpr (is_field<X>)
      return x;
    else
      return *x.field_;
  }
};

/// Whether an argument is a field in a variable that is not const, and the rules of its edges.
template <class X, class... Edge> constexpr bool check_exchange() {
  using type = std::remove_cvref_t<X>;
  constexpr bool of_field = is_field<type>, variable = !of_field || (std::is_lvalue_reference_v<X> &&
                                                                     !std::is_const_v<std::remove_reference_t<X>>);
  constexpr bool edges = (std::is_same_v<Edge, edge::rule> && ...);
  static_assert(of_field, "devplace: exchange: the argument is a field; tensors have no ghost rows.");
  static_assert(variable, "devplace: exchange: the field is a temporary or const; exchange one in a variable.");
  static_assert(edges,
                "devplace: exchange: after the field come the rules of its edges, as in exchange(x, "
                "edge::periodic) or exchange(x, edge::fixed(0), edge::mirrored).");
  if constexpr (of_field && variable && edges) {
    constexpr bool one_or_each = sizeof...(Edge) == 1 || sizeof...(Edge) == type::rank;
    static_assert(one_or_each, "devplace: exchange: give one rule for the edges of all axes, or one for each axis.");
    return one_or_each;
  } else {
    return false;
  }
}

}  // namespace parallel::detail

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Starts to fill the ghost rows of a field, as exchange() does, without waiting for them. Pass the result to
/// stencil().
template <class Field, class... Edge> auto exchange_async(Field&& x, const Edge&... edges) {
  if constexpr (parallel::detail::check_exchange<Field&&, Edge...>())
    return parallel::detail::exchange_access::start(x, edges...);
  else
    return devplace::detail::refusal{};
}

/// Fills the ghost rows of a field: between two parts with the neighbour's cells, and at the field's edges by a rule
/// for all axes or one for each axis, `exchange(x, edge::periodic)`, `exchange(x, edge::fixed(0), edge::mirrored)`.
/// Nothing else fills ghost rows. Over processes all make the call. On devices the host does not wait. The first
/// exchange of a field allocates.
template <class Field, class... Edge> auto exchange(Field&& x, const Edge&... edges) {
  if constexpr (parallel::detail::check_exchange<Field&&, Edge...>())
    return exchange_async(x, edges...).get();
  else
    return devplace::detail::refusal{};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
