// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that keep a log of their training include it.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/io/chart.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/output_file.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/train/detail/log_text.hpp>

namespace devplace {

/// The value of a column in a row of a training_log: `{"loss", 0.25}`.
struct log_value {
  /// Converts a number of any type to double.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr log_value(std::string_view name, Number number) : column(name), value(static_cast<double>(number)) {}

  std::string_view column;  ///< the column's name
  double value;             ///< may be NaN
};

/// A table of numbers as CSV that grows while a program trains:
/// ```
/// dp::training_log log{"training.csv", {"step", "epoch", "loss", "rate", "seconds"}};
/// log.append({{"step", 100}, {"loss", step.mean_loss()}, {"rate", 1e-3}});
/// ```
/// The first line has the columns' names; cells of columns that a row does not name are empty. The first column
/// identifies a row and must increase from row to row. A row is appended by one system call. After `kill -9` the file
/// has every row whose append returned. The next training_log of the file removes a partial last row. Call flush() for
/// rows that must survive a power failure. An existing file with the same columns is continued; a training that is
/// resumed at an earlier step calls rewind(step). Reading a loss waits for the places, so do not log every step. In a
/// process_scope only process 0 writes.
class training_log {
 public:
  /// Opens or creates the file and locks it. Throws file_error, and argument_error for names that are empty, equal, or
  /// contain commas, quotes or line breaks.
  training_log(std::string path, std::vector<std::string> columns)
      : path_(std::move(path)), columns_(std::move(columns)) {
    train::detail::check_columns(columns_);
    if (!is_main_process()) return;
    do {
      file_ = detail::file_descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    } while (!file_ && errno == EINTR);
    if (!file_) fail("cannot be opened", errno, "Check the path and its permissions.");
    begin();
  }
  training_log& operator=(training_log&&) = delete;

  /// Appends a row, given as a list or a vector. Throws argument_error if the first column is missing, not finite or
  /// not above the last row's, and for unknown or repeated names. Throws file_error if the row cannot be written; the
  /// file then does not have the row.
  ///@{
  void append(std::initializer_list<log_value> values) { append_row(std::span(values.begin(), values.size())); }
  template <class... Row> void append(const Row&... row) {
    constexpr bool named = sizeof...(Row) == 1 && (std::convertible_to<const Row&, std::span<const log_value>> && ...);
    static_assert(
        named, "devplace: training_log: a row has the columns' names: log.append({{\"step\", 100}, {\"loss\", 0.5}}).");
    if constexpr (named) append_row(row...);
  }
  ///@}

  /// Removes the rows whose first column is `first` or above, for a training that continues at `first`. Throws
  /// argument_error for NaN, and file_error for an earlier row without a number.
  void rewind(double first) {
    if (detail::is_nan(first))
      throw argument_error("training_log: rewind takes the number of the first row to remove, and this is NaN.");
    if (!file_) return;
    const std::string text = contents();
    std::size_t end = text.size();
    double last = -std::numeric_limits<double>::infinity();
    train::detail::for_each_row(text, path_, [&](double number, std::size_t begin) {
      if (number < first)
        last = number;
      else
        end = begin;
      return number < first;
    });
    cut(end);
    last_ = last;
  }

  /// Waits until all rows are on the disk.
  void flush() {
    if (file_ && !detail::synced_to_disk(file_.get())) fail("cannot be synced to the disk", errno, "Check the disk.");
  }

 private:
  /// Continues behind the last whole row of the file, or writes the first line.
  void begin() {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      struct stat status = {};
      const bool foreign = ::fstat(file_.get(), &status) == 0 && status.st_uid != ::geteuid();
      fail(foreign ? "is another user's file, and a program has locked it" : "is written by another training_log", 0,
           "Give each program a file of its own.");
    }
    const std::string header = train::detail::joined(columns_) + "\n";
    std::string text = contents();
    const std::size_t whole = text.rfind('\n') + 1;  // 0 without a line break
    if (whole == 0 ? header.compare(0, text.size(), text) != 0 : text.compare(0, header.size(), header) != 0)
      fail("does not begin with the names of these columns, " + train::detail::joined(columns_), 0,
           "Give another path, or the columns of this file.");
    if (whole != text.size()) cut(whole);
    text.resize(whole);
    if (text.empty()) {
      write(header);
      const std::string folder = path_.substr(0, path_.rfind('/') + 1);  // npos + 1 is 0
      if (!detail::folder_synced_to_disk(folder.empty() ? "./" : folder.c_str()))
        fail("is in a folder that cannot be synced to the disk", errno, "Check the disk.");
    } else {
      const std::vector<double> numbers = train::detail::numbers_in(text, path_).front();
      if (!numbers.empty()) last_ = numbers.back();
    }
  }

  void append_row(std::span<const log_value> values) {
    std::vector<std::string> cells(columns_.size());
    double first = 0;
    for (const log_value& one : values) {
      const auto column = std::find(columns_.begin(), columns_.end(), one.column);
      if (column == columns_.end())
        throw argument_error({"training_log: there is no column \"", one.column, "\"; the columns are ",
                              train::detail::joined(columns_), "."});
      std::string& cell = cells[static_cast<std::size_t>(column - columns_.begin())];
      if (!cell.empty())
        throw argument_error({"training_log: column \"", one.column, "\" is given twice for one row."});
      cell = train::detail::number_text(one.value);
      if (column == columns_.begin()) check_order(first = one.value);
    }
    if (cells.front().empty())
      throw argument_error({"training_log: the row has no number in the first column, \"", columns_.front(),
                            "\", which numbers the rows."});
    if (!file_) return;
    write(train::detail::joined(cells) + "\n");
    last_ = first;
  }

  void check_order(double number) const {
    if (!detail::is_finite(number))
      throw argument_error({"training_log: the row's \"", columns_.front(), "\" is ",
                            train::detail::number_text(number), ", and it numbers the rows; give a finite number."});
    if (number > last_) return;
    throw argument_error({"training_log: the row's \"", columns_.front(), "\" is ", train::detail::number_text(number),
                          ", and that of the last row is ", train::detail::number_text(last_),
                          "; the numbers must increase. To continue from an earlier row, call rewind(",
                          train::detail::number_text(number), ") first."});
  }

  std::string contents() const { return detail::text_of_file(path_, "training_log"); }

  void write(const std::string& text) {
    const off_t end = ::lseek(file_.get(), 0, SEEK_END);
    ssize_t written;
    do {
      written = ::write(file_.get(), text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(text.size())) return;
    const int reason = written < 0 ? errno : ENOSPC;
    if (written > 0 && end >= 0) cut(static_cast<std::size_t>(end));
    fail("cannot be written", reason, "Free space; the log does not have this row.");
  }

  void cut(std::size_t bytes) {
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail("cannot be shortened", errno, "Check the disk.");
  }

  [[noreturn]] void fail(const std::string& problem, int reason, const char* fix) const {
    throw file_error({"training_log: ", detail::in_quotes(path_), " ", problem,
                      reason == 0 ? std::string() : std::string(": ") + std::strerror(reason), ". ", fix});
  }

  std::string path_;
  std::vector<std::string> columns_;
  double last_ = -std::numeric_limits<double>::infinity();  ///< first column of the last row
  detail::file_descriptor file_;                            ///< none in processes that do not write
};

/// The columns of a training_log's file.
struct training_record {
  std::vector<std::string> columns;         ///< their names
  std::vector<std::vector<double>> values;  ///< the rows' numbers, by column; NaN for empty cells

  /// Returns the numbers of a column. Throws argument_error for an unknown name.
  const std::vector<double>& operator[](std::string_view column) const {
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end())
      throw argument_error({"training_record: there is no column \"", column, "\"; the columns are ",
                            train::detail::joined(columns), "."});
    return values[static_cast<std::size_t>(found - columns.begin())];
  }
};

/// Reads a training_log's file, even while it is being written: skips an incomplete last row. Throws file_error, which
/// names the line and the column, for cells that are no numbers.
inline training_record read_training_log(const std::string& path) {
  std::string text = detail::text_of_file(path, "read_training_log");
  text.resize(text.rfind('\n') + 1);
  return {train::detail::names_in(text), train::detail::numbers_in(text, path)};
}

/// Draws columns of a training_log's file over its first column as an SVG file: `write_training_chart("training.csv",
/// "training.svg", {"loss", "accuracy"})`. Each column has a panel. A panel's axis is logarithmic if the column's
/// numbers are positive and the largest is at least ten times the smallest. Throws file_error and argument_error.
inline void write_training_chart(const std::string& log, const std::string& path,
                                 const std::vector<std::string>& columns) {
  const training_record record = read_training_log(log);
  std::vector<chart_panel> panels;
  for (const std::string& name : columns) {
    const std::vector<double>& values = record[name];
    double least = HUGE_VAL, most = -HUGE_VAL;
    chart_curve curve;
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (!detail::is_finite(values[row])) continue;
      curve.x.push_back(record.values.front()[row]);
      curve.y.push_back(values[row]);
      least = std::min(least, values[row]), most = std::max(most, values[row]);
    }
    panels.push_back({name, {std::move(curve)}, false, least > 0 && most >= 10 * least});
  }
  write_chart(path, record.columns.front(), panels);
}

}  // namespace devplace
