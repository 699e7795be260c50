// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/io/csv_options.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The lines and fields of a CSV file in memory. Columns and lines count from 1 in messages.
class csv_text {
 public:
  /// Reads the header, if there is one. The arguments must outlive the object. Throws file_error or argument_error.
  csv_text(std::string_view text, const csv_options& options, std::string_view path)
      : options_(options), path_(path), at_{text, 0} {
    check_delimiter();
    if (at_.rest.starts_with("\xef\xbb\xbf")) at_.rest.remove_prefix(3);  // the byte order mark of UTF-8
    if (at_.rest.starts_with("\xff\xfe") || at_.rest.starts_with("\xfe\xff"))
      fail({"is UTF-16 text. Save it as UTF-8."});
    start_ = at_;
    std::string_view line;
    if (!next_line(line)) fail({"is empty; give a file with at least one line."});
    std::vector<field> found;
    split(line, found);
    fields_ = found.size();
    if (options.header) {
      for (const field& name : found) names_.push_back(unquoted(name));
      start_ = at_;
    }
    if (options.columns.empty())
      for (std::size_t column = 0; column < fields_; ++column) chosen_.push_back(column);
    for (const csv_column& column : options.columns)
      chosen_.push_back(column.by_name() ? position_of(column.name()) : numbered(column.number()));
  }

  /// Number of chosen columns, and number of lines with numbers.
  std::size_t columns() const { return chosen_.size(); }
  std::size_t rows() {
    at_ = start_;
    std::size_t count = 0;
    for (std::string_view line; next_line(line);) ++count;
    return count;
  }

  /// Writes the numbers, row by row.
  template <element T> void parse(T* to) {
    at_ = start_;
    const T missing = missing_as<T>();
    std::vector<field> found;
    for (std::string_view line; next_line(line);) {
      split(line, found);
      for (const std::size_t column : chosen_) *to++ = number<T>(found[column], column, missing);
    }
  }

 private:
  struct field {
    std::string_view text;  ///< without the quotes and the space around it
    bool quoted = false;
  };
  struct position {
    std::string_view rest;
    std::size_t line;
  };

  void check_delimiter() const {
    const auto c = static_cast<unsigned char>(options_.delimiter);
    const bool letter = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    if (letter || c >= 128 || std::string_view("\"\r\n.+-\0", 7).find(options_.delimiter) != std::string_view::npos)
      throw argument_error(
          "read_csv: the delimiter is a character that occurs in fields or ends lines; give ',', ';', '\\t' or another "
          "character that only separates fields.");
  }

  /// Finds the next line, without its end. Skips blank lines, except in a file of one column, where they are empty
  /// fields.
  bool next_line(std::string_view& line) {
    while (!at_.rest.empty()) {
      const std::size_t end = at_.rest.find('\n');
      line = at_.rest.substr(0, end);
      at_.rest.remove_prefix(end == std::string_view::npos ? at_.rest.size() : end + 1);
      ++at_.line;
      if (line.ends_with('\r')) line.remove_suffix(1);
      const auto in_field = [this](char c) { return !is_space(c); };
      if (fields_ == 1 || std::any_of(line.begin(), line.end(), in_field)) return true;
    }
    return false;
  }

  bool is_space(char c) const { return (c == ' ' || c == '\t') && c != options_.delimiter; }

  /// Returns the field at `at` and moves `at` behind the delimiter, or past the line's end after the last field.
  field next_field(std::string_view line, std::size_t& at) const {
    while (at < line.size() && is_space(line[at])) ++at;
    field found;
    if (at < line.size() && line[at] == '"') {
      std::size_t end = line.find('"', at + 1);
      while (end != std::string_view::npos && end + 1 < line.size() && line[end + 1] == '"')
        end = line.find('"', end + 2);
      if (end == std::string_view::npos)
        fail({"has a quotation mark in line ", at_.line,
              " that is not closed in that line. Close it, or remove line breaks within fields."});
      found = {line.substr(at + 1, end - at - 1), true};
      for (at = end + 1; at < line.size() && is_space(line[at]);) ++at;
      if (at < line.size() && line[at] != options_.delimiter)
        fail({"has text behind a closing quotation mark in line ", at_.line,
              ". Double the quotation marks within a field."});
    } else {
      const std::size_t end = std::min(line.find(options_.delimiter, at), line.size());
      found.text = line.substr(at, end - at);
      while (!found.text.empty() && is_space(found.text.back())) found.text.remove_suffix(1);
      at = end;
    }
    ++at;
    return found;
  }

  void split(std::string_view line, std::vector<field>& found) const {
    found.clear();
    std::size_t at = 0;
    do found.push_back(next_field(line, at));
    while (at <= line.size());
    if (fields_ != 0 && found.size() != fields_)
      fail({"has ", found.size(), found.size() == 1 ? " field" : " fields", " in line ", at_.line, ", and ", fields_,
            " in its first line. Correct the line, or give the delimiter (it is '", printable({&options_.delimiter, 1}),
            "')."});
  }

  static std::string unquoted(const field& from) {
    std::string text(from.text);
    for (std::size_t at = 0; from.quoted && (at = text.find("\"\"", at)) != text.npos; ++at) text.erase(at, 1);
    return text;
  }

  std::size_t numbered(std::size_t number) const {
    if (number >= fields_)
      throw argument_error({"read_csv: column ", static_cast<std::ptrdiff_t>(number), " was asked for, and ",
                            in_quotes(path_), " has ", fields_, " columns, numbered from 0."});
    return number;
  }

  std::size_t position_of(std::string_view name) const {
    if (!options_.header)
      throw argument_error({"read_csv: the column ", in_quotes(name), " of ", in_quotes(path_),
                            " was asked for by its name, and the option header is false. Give its number, from 0."});
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at == names_.end())
      fail({"has no column ", in_quotes(name), "; it has ",
            listed(names_.size(), [this](std::size_t k) { return in_quotes(printable(names_[k])); }), "."});
    if (std::find(at + 1, names_.end(), name) != names_.end())
      fail({"has several columns ", in_quotes(name), ". Give the number of a column, counted from 0."});
    return static_cast<std::size_t>(at - names_.begin());
  }

  static bool is_missing(std::string_view text) {
    for (const std::string_view word : {"", "NA", "N/A", "null", "NULL", "None"})
      if (text == word) return true;
    return false;
  }

  template <element T> T missing_as() const {
    if (!options_.missing) return T{};
    const double value = *options_.missing;
    if constexpr (std::integral<T>) {
      const bool fits = value >= -0x1p63 && value < 0x1p63 && std::trunc(value) == value;
      if (!fits || !std::in_range<T>(static_cast<std::int64_t>(value)))
        throw argument_error({"read_csv: the option missing is ", format_number(value), ", which is not of type ",
                              dtype_name<T>(), ". Give a value of that type, or read the file as double."});
    }
    return static_cast<T>(value);
  }

  template <element T> T number(const field& from, std::size_t column, T missing) const {
    if (is_missing(from.text)) {
      if (options_.missing) return missing;
      fail_at(column,
              std::string("has no number, but ") + (from.text.empty() ? "an empty field" : in_quotes(from.text)),
              "Set the option missing, as in {.missing = NAN}, or remove the line.");
    }
    std::string_view text = from.text;
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    T value{};
    const std::errc code = parse_number(text, value);
    if (code == std::errc{}) return value;
    double real{};
    const std::errc as_double = parse_number(text, real);
    const bool too_small = as_double != std::errc::invalid_argument && is_below_one(text);
    if constexpr (std::floating_point<T>)  // NumPy and pandas also read such a number as 0
      if (too_small) return text.starts_with('-') ? -T{0} : T{0};
    if (!too_small && (code == std::errc::result_out_of_range || as_double == std::errc::result_out_of_range))
      fail_at(column, joined({"has ", in_quotes(text), ", which is out of the range of ", dtype_name<T>()}),
              as_double == std::errc{} ? "Read the file as double, or leave out the column."
                                       : "Correct the number, or leave out the column.");
    fail_at(column, joined({"has ", in_quotes(printable(from.text)), ", which is not of type ", dtype_name<T>()}),
            std::integral<T> && as_double != std::errc::invalid_argument
                ? joined({"Read the file as double; cast<std::", dtype_name<T>(),
                          "_t>(x) converts whole numbers, or write the number without a point and an exponent."})
                : remedy(text));
  }

  /// Whether a number that std::from_chars accepts lies between -1 and 1. The exponent may have any size.
  static bool is_below_one(std::string_view text) {
    const std::size_t mantissa = std::min(text.find_first_of("eE"), text.size());
    const std::size_t first = text.find_first_of("123456789"), point = std::min(text.find('.'), mantissa);
    if (first >= mantissa) return true;
    const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point ? 1 : 0);
    std::string_view digits = text.substr(std::min(mantissa + 1, text.size()));
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::int64_t exponent = 0;
    return parse_number(digits, exponent) == std::errc::result_out_of_range ? digits.starts_with('-')
                                                                            : exponent < -places;
  }

  std::string remedy(std::string_view text) const {
    if (options_.delimiter != ',' && text.find(',') != text.npos) return "Write numbers with a decimal point.";
    if (at_.line == 1 && !options_.header) return "If the first line has the names of the columns, set header to true.";
    return "Choose the columns with numbers by the option columns, or correct the field.";
  }

  [[noreturn]] void fail_at(std::size_t column, const std::string& found, const std::string& advice) const {
    std::string text = joined({found, ", in line ", at_.line, ", column ", column + 1});
    if (options_.header) text += joined({" (", in_quotes(printable(names_[column])), ")"});
    fail({text, ". ", advice});
  }
  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_file("read_csv", path_, found); }

  const csv_options& options_;
  std::string_view path_;
  position at_, start_;     ///< the next line, and the first one with numbers
  std::size_t fields_ = 0;  ///< of each line; 0 before the first one
  std::vector<std::string> names_;
  std::vector<std::size_t> chosen_;
};

}  // namespace devplace::detail
