// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace devplace {

/// A column of a CSV file, chosen by its name in the header line or by its number, counted from 0.
class csv_column {
 public:
  /// Chooses a column by name or number.
  ///@{
  csv_column(const char* name) : name_(name) {}
  csv_column(std::string name) : name_(std::move(name)) {}
  csv_column(std::integral auto number) : number_(static_cast<std::size_t>(number)), by_name_(false) {}
  ///@}
  /// Whether the column was given by name, and its name or number.
  ///@{
  bool by_name() const { return by_name_; }
  const std::string& name() const { return name_; }
  std::size_t number() const { return number_; }
  ///@}

 private:
  std::string name_;
  std::size_t number_ = 0;
  bool by_name_ = true;
};

/// Options of read_csv: ``{.columns = {"height", "weight", 7}, .delimiter = ';'}``.
struct csv_options {
  /// The columns to read, in this order; empty: all.
  std::vector<csv_column> columns = {};
  /// Separates fields: a comma, a semicolon, a tab or another character that numbers do not contain.
  char delimiter = ',';
  /// Whether the first line has the columns' names.
  bool header = true;
  /// Replaces fields that are empty, NA, N/A, null, NULL or None. If unset, such fields are errors.
  std::optional<double> missing = {};
};

}  // namespace devplace
