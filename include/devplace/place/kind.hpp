// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/base/joined.hpp>
#include <devplace/place/mesh.hpp>

// Kinds say how a value is distributed over the places of a mesh. The algebra of placements takes kinds of tensors,
// whose meshes have one axis; the kind of a model in shares covers both axes of its mesh.

namespace devplace {

/// How summands or replicas are combined.
enum class reduction : unsigned char { sum, mean, max, min };

namespace detail {

/// Default values of the properties of a kind. Each kind redeclares the properties with other values.
struct kind_properties {
  static constexpr bool is_distributed = true;  ///< over several places
  static constexpr bool is_whole = false;       ///< on one place, or copies
  static constexpr bool is_copies = false;      ///< each of several places has the whole value
  static constexpr bool is_split = false;       ///< each place has a part along `axis`
  static constexpr bool is_grid = false;        ///< a grid of places has parts along several axes
  static constexpr bool is_shares = false;      ///< each place stores a share of a model's parameters
  static constexpr bool is_parts = false;       ///< each place has a part of the activations of a model's samples
  static constexpr bool is_summands = false;    ///< the value is the reduction `op` of one summand per place
  static constexpr bool is_linear = false;      ///< a linear function of the summands is a summand of the result
  static constexpr std::size_t axis = static_cast<std::size_t>(-1);
  static constexpr reduction op = reduction::sum;
};

/// The kind of values on one place, also of numbers and of views without an ordinal.
struct on_one_place : kind_properties {
  static constexpr bool is_whole = true;
  static constexpr bool is_distributed = false;
};

}  // namespace detail

/// Kind of a placement (`placement_traits<Where>::kind`): every place has the whole value.
struct copies : detail::kind_properties {
  static constexpr bool is_whole = true;   ///< each place has all elements
  static constexpr bool is_copies = true;  ///< distinguishes this kind
};

/// Kind of a placement: every place has a part along `Axis`.
template <std::size_t Axis> struct split_along : detail::kind_properties {
  static constexpr bool is_split = true;     ///< distinguishes this kind
  static constexpr std::size_t axis = Axis;  ///< the split axis
};

/// Kind of a placement: the value is the reduction `Op` of the places' summands.
template <reduction Op> struct summands : detail::kind_properties {
  static constexpr bool is_summands = true;  ///< distinguishes this kind
  /// Whether a linear function of the summands is a summand of the function's result.
  static constexpr bool is_linear = Op == reduction::sum || Op == reduction::mean;
  static constexpr reduction op = Op;  ///< how the summands are combined
};

/// Kind of a model's placement: every place stores one of `Count` shares of the parameters, and `Replicas` places store
/// each share. Counted are the places of a process or, if one of the numbers is `dyn`, one place of each process.
template <std::size_t Replicas, std::size_t Count> struct in_shares : detail::kind_properties {
  static constexpr bool is_shares = true;            ///< distinguishes this kind
  static constexpr std::size_t replicas = Replicas;  ///< number of places with the same share
  static constexpr std::size_t count = Count;        ///< number of shares
};

namespace detail {

/// Whether the reduction of equal summands equals each summand: true for max and min, and for kinds without summands;
/// false for sums, and for means, which round.
template <class Kind>
inline constexpr bool keeps_equal_summands =
    !Kind::is_summands || Kind::op == reduction::max || Kind::op == reduction::min;

inline std::string reduction_name(reduction op) {
  constexpr const char* names[] = {"sum", "mean", "max", "min"};
  return names[static_cast<std::size_t>(op)];
}

/// The mesh of a model in shares.
template <std::size_t Replicas, std::size_t Count> std::string mesh_text(in_shares<Replicas, Count>) {
  const auto number = [](std::size_t n) { return n == dyn ? std::string("dyn") : std::to_string(n); };
  const std::string replicas = joined({"replicas<", number(Replicas), ">, "});
  return joined({"mesh<", Replicas == 1 ? "" : replicas, "shares<", number(Count), ">>"});
}

inline std::string kind_name(copies) { return "replicated<"; }
template <std::size_t Replicas, std::size_t Count> std::string kind_name(in_shares<Replicas, Count> kind) {
  return Replicas == 1 ? "fully_sharded<" : joined({"spread<", mesh_text(kind), ", "});
}
template <std::size_t Axis> std::string kind_name(split_along<Axis>) { return joined({"sharded<axis<", Axis, ">, "}); }
template <reduction Op> std::string kind_name(summands<Op>) { return joined({"partial<", reduction_name(Op), "; "}); }

}  // namespace detail

}  // namespace devplace
