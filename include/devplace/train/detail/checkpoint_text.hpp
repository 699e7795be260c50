// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/options.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/safetensors.hpp>

namespace devplace::train::detail {

/// A checksum of texts and data in their order. Detects damage but no forgery: changing one word always changes the
/// checksum.
class checksum {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    devplace::detail::add_to_hash(value_, bytes);
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t), from += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, from, sizeof word);
      devplace::detail::add_to_hash(value_, word);
    }
    std::uint64_t rest = 0;
    if (bytes != 0) std::memcpy(&rest, from, bytes);
    devplace::detail::add_to_hash(value_, rest);
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::string text() const {
    char digits[16];
    return {digits, std::to_chars(digits, digits + sizeof digits, value_, 16).ptr};
  }

 private:
  std::uint64_t value_ = devplace::detail::hash_of_nothing;
};

/// Writes a number as text that reads back exactly.
template <class Number> std::string exact_text(Number number) {
  if constexpr (std::is_same_v<Number, bool>) {
    return number ? "true" : "false";
  } else {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
  }
}

/// Reads a whole text as a number. Returns whether the text is a number.
template <class Number> bool read_number(std::string_view text, Number& number) {
  if constexpr (std::is_same_v<Number, bool>) {
    number = text == "true";
    return number || text == "false";
  } else {
    return devplace::detail::parse_number(text, number) == std::errc{};
  }
}

class checkpoint_texts {
 public:
  checkpoint_texts(const safetensors_metadata& metadata, std::string_view path) : metadata_(metadata), path_(path) {}

  /// Returns the text of a key, or null.
  const std::string* find(std::string_view key) const {
    for (const auto& [name, value] : metadata_)
      if (name == key) return &value;
    return nullptr;
  }
  const std::string& text(std::string_view key) const {
    if (const std::string* const value = find(key)) return *value;
    fail(devplace::detail::joined({"has no ", key, " in its metadata"}));
  }
  template <class Number> Number number(std::string_view key) const {
    Number result{};
    if (!read_number(text(key), result))
      fail(devplace::detail::joined({"has ", devplace::detail::in_quotes(text(key)), " as ", key, " in its metadata"}));
    return result;
  }
  /// Reads numbers separated by spaces.
  std::vector<double> numbers(std::string_view key) const {
    std::vector<double> result;
    std::string_view rest = text(key);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (!read_number(rest.substr(0, end), result.emplace_back())) fail("has no numbers as " + std::string(key));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return result;
  }
  [[noreturn]] void fail(const std::string& found) const {
    throw file_error(
        {"load_checkpoint: ", devplace::detail::in_quotes(path_), " ", found,
         ". It is damaged, or was written by another version of devplace; load the checkpoint before it."});
  }

 private:
  const safetensors_metadata& metadata_;
  std::string_view path_;
};

template <class Options> void add_options(safetensors_metadata& to, const std::string& prefix, const Options& options) {
  devplace::detail::for_each_option(options, [&](const char* name, const auto& value) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
      to.emplace_back(prefix + name, exact_text(value));
  });
}

/// Sets the options that for_each_option passes as references to members; skips constants and results of functions.
template <class Options> void set_options(Options& options, const std::string& prefix, const checkpoint_texts& from) {
  devplace::detail::for_each_option(options, [&](const char* name, auto&& value) {
    using number = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<number>) {
      const auto stored = from.number<number>(prefix + name);
      if constexpr (std::is_assignable_v<decltype(value), number>) value = stored;
    }
  });
}

}  // namespace devplace::train::detail
