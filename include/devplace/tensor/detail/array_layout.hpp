// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/joined.hpp>

// Places brackets, blanks and line breaks as numpy does: lines of at most 75 columns; arrays of more than 1000 elements
// show only the first and last 3 along each axis.
namespace devplace::detail {

inline constexpr std::size_t print_threshold = 1000;
inline constexpr std::size_t print_edge = 3;
inline constexpr std::size_t print_line = 75;

class array_layout {
 public:
  explicit array_layout(std::vector<std::size_t> extents) : extents_(std::move(extents)), summarised_(false) {
    std::size_t size = 1;
    for (const std::size_t extent : extents_) size *= extent;
    summarised_ = size > print_threshold;
  }

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

  std::vector<std::size_t> extents_;
  bool summarised_;
};

}  // namespace devplace::detail
