// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// Rules that divide an axis among places: each place gets consecutive indices, in the order of the places. A part is
/// empty if there are fewer indices than places.
namespace split {

/// The rules that divide an axis of any size.
enum class rule : unsigned char { even, torch };

/// Sizes differ by at most one, larger ones first: 10 over 4 places is 3, 3, 2, 2 (as numpy.array_split).
inline constexpr rule even = rule::even;
/// The rule of torch.chunk, which torch.nn.DataParallel uses: parts of ceil(size / places) until nothing is left. The
/// last part may be smaller, and the last places may get nothing: 9 over 4 places is 3, 3, 3, 0.
inline constexpr rule torch = rule::torch;

/// A size for each place: `split::sizes{3, 3, 1}`. The sizes must add up to the axis's extent.
template <std::size_t Places> struct sizes {
  /// The sizes in the order of the places.
  std::array<std::size_t, Places> values{};

  /// From a list. Throws argument_error for a negative number.
  template <std::integral... Size>
    requires(sizeof...(Size) == Places && Places > 0)
  constexpr explicit sizes(Size... size) : values{checked(size)...} {}
  /// From an array.
  constexpr explicit sizes(const std::array<std::size_t, Places>& array) : values(array) {}

 private:
  template <class Size> static constexpr std::size_t checked(Size size) {
    if constexpr (std::is_signed_v<Size>) {
      if (size < 0) throw argument_error({"split::sizes: ", size, " is negative; sizes count from 0."});
    }
    return static_cast<std::size_t>(size);
  }
};
/// Deduces the number of places: three for `split::sizes{3, 3, 1}`.
template <std::integral... Size> sizes(Size...) -> sizes<sizeof...(Size)>;

}  // namespace split

namespace detail {

template <class Split> inline constexpr bool is_split_sizes = false;
template <std::size_t Places> inline constexpr bool is_split_sizes<split::sizes<Places>> = true;

/// The first index of each part along an axis, followed by the end of the last part.
template <std::size_t Places> using part_begins = std::array<std::size_t, Places + 1>;

/// First index of part `part` if `size` indices are divided among `parts`; `size` for `part` == `parts`.
constexpr std::size_t split_begin(split::rule rule, std::size_t size, std::size_t parts, std::size_t part) {
  if (rule == split::rule::even) return part_begin(size, parts, part);
  const std::size_t chunk = divided_up(size, parts);
  return chunk == 0 || part > size / chunk ? size : part * chunk;
}

/// Divides an axis among all participants; returns the parts of this process. `participants` gives this process's
/// participants; by default, all participants.
template <std::size_t Places>
constexpr part_begins<Places> divide(std::size_t size, split::rule rule,
                                     const participants& participants = {0, Places}) {
  if (participants.count < Places || participants.first > participants.count - Places)
    throw argument_error({"split: the ", Places, " places of this process are participants from rank ",
                          participants.first, " on, and there are only ", participants.count,
                          " participants in total; give the first rank of this process and the total number."});
  part_begins<Places> begins{};
  for (std::size_t part = 0; part <= Places; ++part)
    begins[part] = split_begin(rule, size, participants.count, participants.first + part);
  return begins;
}

/// Takes the given sizes as parts. Throws argument_error if they do not add up to `size`.
template <std::size_t Places, std::size_t Given>
constexpr part_begins<Places> divide(std::size_t size, const split::sizes<Given>& sizes) {
  static_assert(Given == Places,
                "devplace: split::sizes has another number of sizes than the placement has places; give one for each "
                "place, 0 for a place that is to have nothing.");
  part_begins<Places> begins{};
  std::size_t left = size;
  bool fits = true;
  for (std::size_t part = 0; part != Places && part != Given; ++part) {
    fits = fits && sizes.values[part] <= left;
    if (fits) left -= sizes.values[part];
    begins[part + 1] = size - left;
  }
  if (!fits || left != 0) {
    std::string sum;
    for (const std::size_t part : sizes.values) sum.append(sum.empty() ? "" : " + ").append(std::to_string(part));
    throw argument_error({"split::sizes: ", sum, " is not ", size,
                          ", the extent of the axis that is split; give sizes that add up to it."});
  }
  return begins;
}

/// The rule that a tensor keeps for later extents: given sizes apply to one extent only, so `even` divides later
/// extents.
constexpr split::rule rule_of(split::rule rule) { return rule; }
template <std::size_t Places> constexpr split::rule rule_of(const split::sizes<Places>&) { return split::even; }

}  // namespace detail

/// The ways to divide an axis: `split::even`, `split::torch`, `split::sizes{...}`.
template <class Split>
concept split_rule = std::same_as<Split, split::rule> || detail::is_split_sizes<Split>;

}  // namespace devplace
