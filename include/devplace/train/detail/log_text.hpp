// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/place/error.hpp>

// The text of a training_log's file.

namespace devplace::train::detail {

/// The shortest text that reads as the same number; whole numbers without an exponent.
inline std::string number_text(double number) {
  char text[32];
  if (number == std::floor(number) && std::abs(number) < 0x1p53)
    return {text, std::to_chars(text, text + sizeof text, static_cast<long long>(number)).ptr};
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

inline bool read_number(std::string_view text, double& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size();
}
/// The number of a text that number_text has made.
inline double number_of(std::string_view text) {
  double number = 0;
  read_number(text, number);
  return number;
}

inline std::string joined(const std::vector<std::string>& cells) {
  std::string line = cells.front();
  for (std::size_t i = 1; i < cells.size(); ++i)
    line.append(",").append(cells[i]);
  return line;
}

inline std::vector<std::string_view> split_line(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

inline void check_columns(const std::vector<std::string>& columns) {
  if (columns.empty())
    throw argument_error("training_log: it has no columns; name them: training_log log{path, {\"step\", \"loss\"}}.");
  for (auto name = columns.begin(); name != columns.end(); ++name) {
    if (name->empty() || name->find_first_of(",\"\r\n") != std::string::npos)
      throw argument_error("training_log: \"" + *name +
                           "\" is no name of a column: names are not empty and have no commas, quotes or ends of "
                           "lines.");
    if (std::find(columns.begin(), name, *name) != name)
      throw argument_error("training_log: two columns are named \"" + *name + "\"; give each a name of its own.");
  }
}

inline std::string text_of_file(const std::string& path, const char* operation) {
  devplace::detail::input_file file(path, operation, true);
  std::string text(static_cast<std::size_t>(file.following().exact ? file.following().most : 0), '\0');
  text.resize(file.read(text.data(), text.size()));
  return text;
}

/// A file's columns, and where each row begins; the last number is where the next one would.
struct log_text {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> values;
  std::vector<std::size_t> row_begin;
};

/// Reads whole lines. Throws file_error.
inline log_text parsed_log(std::string_view text, const std::string& path) {
  log_text read;
  const auto fail = [&](const std::string& what) {
    throw file_error("training_log: " + devplace::detail::in_quotes(path) + " " + what +
                     ". Remove that line, or give the path of a file that a training_log has written.");
  };
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string_view> cells = split_line(text.substr(begin, end - begin));
    begin = end + 1;
    read.row_begin.push_back(begin);
    if (number == 1) {
      read.columns.assign(cells.begin(), cells.end());
      read.values.resize(cells.size());
      continue;
    }
    const std::string line = "line " + std::to_string(number);
    if (cells.size() != read.columns.size())
      fail("has " + std::to_string(cells.size()) + " cells in " + line + " and " + std::to_string(read.columns.size()) +
           " columns");
    for (std::size_t column = 0; column < cells.size(); ++column) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (!cells[column].empty() && !read_number(cells[column], value))
        fail("has a cell that is no number in " + line + ", column \"" + read.columns[column] + "\"");
      read.values[column].push_back(value);
    }
  }
  if (read.columns.empty())
    throw file_error("training_log: " + devplace::detail::in_quotes(path) +
                     " has no line with the names of columns. Give the path of a file that a training_log has "
                     "written.");
  return read;
}

}  // namespace devplace::train::detail
