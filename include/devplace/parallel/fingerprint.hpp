// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/first_difference.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/options.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel {

/// Lists named values that must be equal in all processes: processes with different models or options would deadlock,
/// or silently train different models. The class is a template, so that only programs of several processes compile it.
template <class Text = std::string> class basic_fingerprint {
 public:
  /// Adds a value. The message about a difference shows names and values.
  ///@{
  void add(std::string_view name, std::string_view value) { text_.append(name).append(": ").append(value) += '\n'; }
  template <std::integral T> void add(std::string_view name, T value) {
    add(name, std::string_view(std::to_string(value)));
  }
  void add(std::string_view name, double value) {
    char digits[32];  // the shortest text that identifies the number
    add(name, std::string_view(digits, std::to_chars(digits, digits + sizeof digits, value).ptr));
  }
  template <class T>
    requires std::is_enum_v<T>
  void add(std::string_view name, T value) {
    add(name, static_cast<std::underlying_type_t<T>>(value));
  }
  void add(std::string_view name, const std::vector<double>& values) {
    add(name, "");
    for (std::size_t i = 0; i != values.size(); ++i)
      add(std::string(name).append("[").append(std::to_string(i)).append("]"), values[i]);
  }
  void add(const basic_fingerprint& more) { text_ += more.text_; }
  ///@}
  /// Adds the options that a rule or a loss lists in for_each_option.
  template <class Options> void add_options(std::string_view prefix, const Options& options) {
    devplace::detail::for_each_option(
        options, [&](const char* name, const auto& value) { add(std::string(prefix).append(name), value); });
  }

  /// Compares the fingerprints of all processes. All processes call this. Throws communication_error in every process
  /// if a fingerprint differs from rank 0's. The message begins with `subject` and names the first difference and both
  /// ranks.
  void require_equal(const process_group& processes, std::string_view subject) const {
    const std::vector<std::uint64_t> hashes = processes.all_gather(hash());
    int other = 0;
    while (other != processes.size() && hashes[static_cast<std::size_t>(other)] == hashes[0]) ++other;
    if (other == processes.size()) return;
    const Text first = text_of(processes, 0), second = text_of(processes, other);
    const auto [expected, found] = devplace::detail::first_difference(first, second);
    throw communication_error(
        {subject, ": rank ", other, " has \"", found, "\" where rank 0 has \"", expected,
         "\". Start the same program with the same options in all processes, and make each change in all of them "
         "before the same step."});
  }

  /// A hash of everything that was added.
  std::uint64_t hash() const { return devplace::detail::hash_of(text_); }

 private:
  Text text_of(const process_group& processes, int rank) const {
    Text text(processes.broadcast(text_.size(), rank), ' ');
    if (processes.rank() == rank) text = text_;
    processes.broadcast(std::span(text.data(), text.size()), rank);
    return text;
  }

  Text text_;
};

/// The fingerprint of a trainer.
using fingerprint = basic_fingerprint<>;

/// Identifies a batch of a loader on `across<...>`; trainers compare the notes of all processes.
struct batch_note {
  fingerprint loader;             ///< the extents of the loader's data, and its options
  std::uint64_t loader_hash = 0;  ///< hash of `loader`
  int epoch = 0;                  ///< the batch's epoch
  std::size_t number = 0;         ///< the batch's number in the epoch, from 0
};

}  // namespace devplace::parallel
