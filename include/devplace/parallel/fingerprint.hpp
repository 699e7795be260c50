// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/parallel/process_group.hpp>
#include <devplace/place/detail/first_difference.hpp>
#include <devplace/place/error.hpp>

namespace devplace::parallel {

/// What must be the same in all processes before they work together: named values in an order. Processes whose models
/// or options differ would otherwise wait for each other for ever, or train different models without a word. A
/// template, so that only programs of several processes compile it.
template <class Text = std::string>
class basic_fingerprint {
 public:
  /// Adds a value; names and values are shown in the message about a difference.
  ///@{
  void add(std::string_view name, std::string_view value) { text_.append(name).append(": ").append(value) += '\n'; }
  template <std::integral T>
  void add(std::string_view name, T value) {
    add(name, std::string_view(std::to_string(value)));
  }
  void add(std::string_view name, double value) {
    // With all bits, since the decimal digits of different numbers can be equal.
    char bits[17] = {};
    for (int i = 0; i < 16; ++i)
      bits[i] = "0123456789abcdef"[std::bit_cast<std::uint64_t>(value) >> (60 - 4 * i) & 15];
    add(name, std::to_string(value).append(" (0x").append(bits).append(")"));
  }
  template <class T>
    requires std::is_enum_v<T>
  void add(std::string_view name, T value) { add(name, static_cast<std::underlying_type_t<T>>(value)); }
  void add(std::string_view name, const std::vector<double>& values) {
    add(name, "");
    for (std::size_t i = 0; i != values.size(); ++i)
      add(std::string(name).append("[").append(std::to_string(i)).append("]"), values[i]);
  }
  void add(const basic_fingerprint& more) { text_ += more.text_; }
  ///@}
  /// Adds the options of a rule or a loss that has `for_each_option(f)`, which calls f(name, value).
  template <class Options>
  void add_options(std::string_view prefix, const Options& options) {
    if constexpr (requires { options.for_each_option([](const char*, const auto&) {}); })
      options.for_each_option(
          [&](const char* name, const auto& value) { add(std::string(prefix).append(name), value); });
  }

  /// Compares with the other processes, which all call it, and throws communication_error in all of them if one of them
  /// differs from rank 0. The message names the first difference and both ranks. `what` begins it.
  void require_equal(const process_group& processes, const char* what) const {
    const std::vector<std::uint64_t> hashes = processes.all_gather(hash());
    int other = 0;
    while (other != processes.size() && hashes[static_cast<std::size_t>(other)] == hashes[0])
      ++other;
    if (other == processes.size()) return;
    const Text first = text_of(processes, 0), second = text_of(processes, other);
    const devplace::detail::first_difference<Text> differ(first, second);
    throw communication_error(std::string(what) + ": rank " + std::to_string(other) +
                              " does not train what rank 0 does. First difference, of rank " + std::to_string(other) +
                              " and rank 0: \"" + differ.in_second + "\" and \"" + differ.in_first +
                              "\". Start the same program with the same options in all processes.");
  }

 private:
  /// FNV-1a.
  std::uint64_t hash() const {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text_)
      value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
  }

  Text text_of(const process_group& processes, int rank) const {
    Text text(processes.broadcast(text_.size(), rank), ' ');
    if (processes.rank() == rank) text = text_;
    processes.broadcast(std::span(text), rank);
    return text;
  }

  Text text_;
};

/// A fingerprint as a trainer has it.
using fingerprint = basic_fingerprint<>;

}  // namespace devplace::parallel
