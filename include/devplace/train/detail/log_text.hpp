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

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/io/csv.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

// The text of a training_log's file.

namespace devplace::train::detail {

/// Returns the shortest text that reads back exactly; whole numbers have no exponent.
inline std::string number_text(double number) {
  char text[32];
  if (number == std::floor(number) && std::abs(number) < 0x1p53)
    return {text, std::to_chars(text, text + sizeof text, static_cast<long long>(number)).ptr};
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

inline std::string joined(const std::vector<std::string>& cells) {
  std::string line = cells.front();
  for (std::size_t i = 1; i < cells.size(); ++i) line.append(",").append(cells[i]);
  return line;
}

inline void check_columns(const std::vector<std::string>& columns) {
  if (columns.empty())
    throw argument_error("training_log: it has no columns; name them: training_log log{path, {\"step\", \"loss\"}}.");
  for (auto name = columns.begin(); name != columns.end(); ++name) {
    if (name->empty() || name->find_first_of(",\"\r\n") != std::string::npos)
      throw argument_error(
          {"training_log: \"", *name,
           "\" is no name of a column: names are not empty and have no commas, quotes or ends of lines."});
    if (std::find(columns.begin(), name, *name) != name)
      throw argument_error({"training_log: two columns are named \"", *name, "\"; give each a name of its own."});
  }
}

/// Returns the names in the first line, which may end with CRLF.
inline std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names(1);
  for (const char c : text.substr(0, text.find_first_of("\r\n")))
    if (c == ',')
      names.emplace_back();
    else
      names.back() += c;
  return names;
}

/// Calls `f(number, begin)` with each row's number and the offset of its line, until f returns false. Blank lines are
/// rows only in a file of one column. Throws file_error for a row without a number.
template <class F> void for_each_row(std::string_view text, const std::string& path, const F& f) {
  const bool one_column = text.substr(0, text.find('\n')).find(',') == text.npos;
  std::size_t line = 2;
  for (std::size_t begin = text.find('\n') + 1; begin != 0 && begin < text.size();
       begin = text.find('\n', begin) + 1, ++line) {
    const std::string_view row = text.substr(begin, text.find('\n', begin) - begin);
    if (!one_column && row.find_first_not_of(" \t\r") == row.npos) continue;
    const std::string_view cell = row.substr(0, row.find_first_of(",\r"));
    double number = 0;
    if (devplace::detail::parse_number(cell, number) != std::errc{} || !devplace::detail::is_finite(number))
      throw file_error(
          {"training_log: ", devplace::detail::in_quotes(path), " has ", devplace::detail::in_quotes(cell),
           " in the first column of line ", line,
           ", where the row's number belongs. Write it there, without spaces and quotes, or remove the line."});
    if (!f(number, begin)) return;
  }
}

/// Returns the numbers of each column, NaN for empty cells. Throws file_error.
inline std::vector<std::vector<double>> numbers_in(std::string_view text, const std::string& path) {
  for_each_row(text, path, [](double, std::size_t) { return true; });
  const csv_options options{.missing = std::numeric_limits<double>::quiet_NaN()};
  devplace::detail::csv_text file(text, options, path);
  const std::size_t rows = file.rows(), columns = file.columns();
  std::vector<double> numbers(rows * columns);
  file.parse(numbers.data());
  std::vector<std::vector<double>> values(columns, std::vector<double>(rows));
  for (std::size_t i = 0; i < numbers.size(); ++i) values[i % columns][i / columns] = numbers[i];
  return values;
}

}  // namespace devplace::train::detail
