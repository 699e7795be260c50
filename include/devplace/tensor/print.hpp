// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

// Sets brackets, blanks and line breaks as numpy does: lines of at most 75 columns; arrays of more than 1000 elements
// show only the first and last 3 along each axis.
namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

inline constexpr std::size_t print_threshold = 1000;
inline constexpr std::size_t print_edge = 3;
inline constexpr std::size_t print_line = 75;

class array_layout {
 public:
  array_layout(std::span<const std::size_t> extents, std::size_t size)
      : extents_(extents), summarised_(size > print_threshold) {}

  /// Offsets of the printed elements, in order.
  std::vector<std::size_t> shown() const {
    std::vector<std::size_t> offsets;
    collect(0, 0, offsets);
    return offsets;
  }

  /// Joins the texts of the printed elements into the text of the array.
  std::string text(const std::vector<std::string>& words) const {
    std::size_t next = 0;
    return bracket(0, " ", print_line, words, next);
  }

 private:
  /// Whether the middle of an axis is left out.
  bool cut(std::size_t axis) const { return summarised_ && extents_[axis] > 2 * print_edge; }
  std::size_t shown_of(std::size_t axis) const { return cut(axis) ? 2 * print_edge : extents_[axis]; }

  void collect(std::size_t axis, std::size_t offset, std::vector<std::size_t>& offsets) const {
    if (axis == extents_.size()) {
      offsets.push_back(offset);
      return;
    }
    for (std::size_t k = 0; k < shown_of(axis); ++k) {
      const std::size_t index = cut(axis) && k >= print_edge ? extents_[axis] - 2 * print_edge + k : k;
      collect(axis + 1, offset * extents_[axis] + index, offsets);
    }
  }

  /// Text of the innermost axis, with line breaks.
  std::string row(const std::string& indent, std::size_t width, std::size_t axis, const std::vector<std::string>& words,
                  std::size_t& next) const {
    std::string text, line = indent;
    const auto append = [&](const std::string& word) {
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        line.resize(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line = indent;
      }
      line += word;
    };
    const std::size_t count = shown_of(axis);
    for (std::size_t k = 0; k < count; ++k) {
      if (k == print_edge && cut(axis)) {
        append("...");
        line += " ";
      }
      append(words[next++]);
      if (k + 1 != count) line += " ";
    }
    return text + line;
  }

  std::string bracket(std::size_t axis, const std::string& indent, std::size_t width,
                      const std::vector<std::string>& words, std::size_t& next) const {
    std::string text;
    if (axis + 1 == extents_.size()) {
      text = row(indent, width - 1, axis, words, next);
    } else {
      const std::string line_end(extents_.size() - axis - 1, '\n');
      const std::size_t count = shown_of(axis);
      for (std::size_t k = 0; k < count; ++k) {
        if (k == print_edge && cut(axis)) text += joined({indent, "...", line_end});
        text += indent + bracket(axis + 1, indent + " ", width - 1, words, next);
        if (k + 1 != count) text += line_end;
      }
    }
    return joined({"[", text.substr(indent.size()), "]"});
  }

  std::span<const std::size_t> extents_;
  bool summarised_;
};

template <class View> auto elements_of(const View& x) {
  using value_type = typename View::value_type;
  std::vector<value_type> elements(x.size());
  const auto in_order = packed(x);
  copy_out<typename View::backend_type>(x.ordinal(), elements.data(), raw_data(in_order.view),
                                        x.size() * sizeof(value_type));
  return elements;
}

template <class T> std::string printed(const std::vector<T>& elements, std::span<const std::size_t> extents) {
  if (extents.empty()) return format_number(elements[0]);
  if (elements.empty()) return "[]";
  const array_layout layout(extents, elements.size());
  std::vector<T> shown;
  for (const std::size_t offset : layout.shown()) shown.push_back(elements[offset]);
  return layout.text(format_numbers(shown));
}

template <class View> void print(std::ostream& out, const std::string& kind, const View& x) {
  out << kind << dtype_name<typename View::value_type>() << ", " << to_string(x.extents()) << "> on "
      << place_name(typename View::backend_type{}, x.ordinal()) << '\n'
      << printed(elements_of(x), sizes_of(x.extents()));
}

/// A place's part in numpy's notation: ` has [:, 3:6]`.
inline std::string printed_slice(std::size_t axis, std::size_t begin, std::size_t end) {
  std::string text = " has [";
  for (std::size_t before = 0; before != axis; ++before) text.append(":, ");
  return text.append(std::to_string(begin)).append(":").append(std::to_string(end)).append("]");
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Prints a tensor below a head line such as `tensor<float, 2x3> on cpu`, without a final newline. Layout and number
/// format are numpy's defaults (8 digits, lines of 75 columns, `...` for the middle of more than 1000 elements),
/// regardless of the stream's format and locale. Waits for the tensor's place and copies all elements to host memory;
/// no other operation copies from a device implicitly.
template <class T, class Extents, place P> std::ostream& operator<<(std::ostream& out, const tensor<T, Extents, P>& x) {
  detail::print(out, "tensor<", x.view());
  return out;
}

/// Prints a tensor over several places, below a head line such as `tensor<float, 6x2> on sharded<axis<0>, cuda:0,
/// cuda:1>`. Each place's elements follow a line with the place and, for a split tensor, the part in numpy's notation
/// (`cuda:1 has [3:6]`). Prints copies that are bitwise equal once, with a note.
template <class T, class Extents, class Where>
  requires(placement<Where> && !single_place<Where>)
std::ostream& operator<<(std::ostream& out, const tensor<T, Extents, Where>& x) {
  using kind = detail::kind_of<Where>;
  using backend_type = typename tensor<T, Extents, Where>::backend_type;
  out << "tensor<" << dtype_name<T>() << ", " << detail::to_string(x.extents()) << "> on " << placement_name<Where>();
  std::vector<std::vector<T>> parts;
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) parts.push_back(detail::elements_of(x.only_on(k)));
  if constexpr (kind::is_whole) {
    bool equal = true;
    for (const std::vector<T>& part : parts)
      equal = equal && (part.empty() || std::memcmp(part.data(), parts[0].data(), part.size() * sizeof(T)) == 0);
    if (equal) return out << "\nthe same on every place\n" << detail::printed(parts[0], detail::sizes_of(x.extents()));
    out << "\nthe copies differ";
  } else if constexpr (kind::is_summands) {
    constexpr const char* names[] = {"sum", "mean", "maximum", "minimum"};
    out << "\nsummands: the value is their " << names[static_cast<std::size_t>(kind::op)];
  }
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
    const auto part = x.only_on(k);
    std::string where = detail::place_name(backend_type{}, part.ordinal());
    if constexpr (kind::is_split) where += detail::printed_slice(kind::axis, x.part_begin(k), x.part_begin(k + 1));
    out << '\n' << where << '\n' << detail::printed(parts[k], detail::sizes_of(part.extents()));
  }
  return out;
}

/// Computes an expression and prints it as a tensor.
template <class Expression>
  requires requires { std::remove_cvref_t<Expression>::is_lazy; }
std::ostream& operator<<(std::ostream& out, Expression&& x) {
  if constexpr (detail::check_unnamed<Expression>()) out << evaluated(x);
  return out;
}

/// Prints sizes as `2x3`.
template <std::size_t... E> std::ostream& operator<<(std::ostream& out, const extents<E...>& x) {
  return out << detail::to_string(x);
}

/// Prints a view, below a head line such as `view<const float, 2x3> on cpu`.
template <class T, class Extents, class Where, class Layout>
std::ostream& operator<<(std::ostream& out, const view<T, Extents, Where, Layout>& x) {
  detail::print(out, std::is_const_v<T> ? "view<const " : "view<", x);
  return out;
}

/// Prints a summand, below a head line such as `summand<float, 2x3> on cuda:0`.
template <class View> std::ostream& operator<<(std::ostream& out, const summand_view<View>& x) {
  detail::print(out, "summand<", detail::distributed_access::elements(x));
  return out;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
