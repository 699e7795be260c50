// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// NumPy's .npy format in memory: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// 6 bytes of magic, the version (major, minor), the header's length (2 bytes in version 1.0, 4 in 2.0 and 3.0), a
// Python dict literal padded with spaces and ended by a newline, then the elements.

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <devplace/io/file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

static_assert(
    std::endian::native == std::endian::little,
    "devplace: .npy files are read and written on little-endian machines only; this machine is big-endian, so "
    "do not include devplace/io/npy.hpp.");

[[noreturn]] inline void fail_npy(std::string_view name, const std::string& found) {
  throw file_error("read_npy: " + in_quotes(name) + " " + found);
}

/// Parses the dict literal of a header: the three keys in any order, either kind of quotes, any white space.
class npy_header_parser {
 public:
  npy_header_parser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  /// Leaves `data` of the result empty.
  stored_array parse() {
    bool has_type = false, has_order = false, has_shape = false;
    expect("{");
    while (!accept("}")) {
      const std::string_view key = string_literal("a key");
      expect(":");
      if (key == "descr" && !std::exchange(has_type, true))
        element_type();
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        order();
      else if (key == "shape" && !std::exchange(has_shape, true))
        shape();
      else
        fail("has the header key '" + std::string(key) +
             "', which is unknown or given twice; the keys are 'descr', 'fortran_order' and 'shape', once each");
      if (accept(",")) continue;
      expect("}");
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("has text after its header's dict");
    if (!has_type || !has_order || !has_shape)
      fail("lacks one of the header's three keys 'descr', 'fortran_order' and 'shape'");
    return std::move(result_);
  }

 private:
  void element_type() {
    if (accept("[")) fail("holds a structured array; save each of its fields with np.save as a file of its own");
    const std::string_view descr = string_literal("the element type");
    for (const stored_type& type : stored_types)
      if (descr == type.npy || (type.bytes == 1 && (descr == "<u1" || descr == ">u1"))) result_.type = &type;
    if (result_.type == nullptr)
      fail("holds elements of type '" + std::string(descr) +
           "'; devplace reads '<f4', '<f8', '<i4', '<i8' and '|u1'. Convert the array with .astype('<f4') before "
           "np.save");
  }

  void order() {
    if (accept("False")) return;
    if (accept("True"))
      fail("is in Fortran order and devplace reads C order; save np.ascontiguousarray(array) instead");
    fail_expected("True or False");
  }

  void shape() {
    expect("(");
    while (!accept(")")) {
      result_.extents.push_back(number());
      if (accept(",")) continue;
      // In Python, (3) is a number and not a tuple.
      if (result_.extents.size() == 1) fail_expected("',', as in (3,)");
      expect(")");
      break;
    }
  }

  std::size_t number() {
    skip_space();
    std::size_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) fail("has an extent too large for this machine");
    if (code != std::errc{}) fail_expected("a non-negative extent");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers as 3L
    return value;
  }

  std::string_view string_literal(const char* what) {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      fail_expected(std::string(what) + " in quotes");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("has an unfinished string in its header");
    const std::string_view inside = text_.substr(at_, end - at_);
    for (const char c : inside)
      if (c < ' ' || c > '~' || c == '\\') fail("has characters in its header that NumPy does not write there");
    at_ = end + 1;
    return inside;
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  bool accept(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void expect(const char* word) {
    if (!accept(word)) fail_expected(std::string("'") + word + "'");
  }

  [[noreturn]] void fail_expected(const std::string& what) const {
    fail("has a header that is no valid dict: " + what + " is missing at its character " + std::to_string(at_) +
         ". Write the file again with np.save");
  }

  [[noreturn]] void fail(const std::string& found) const { fail_npy(name_, found + "."); }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  stored_array result_;
};

/// The array in the bytes of a .npy file. Throws file_error naming `name`, what was found and what was expected.
inline stored_array parse_npy(std::span<const unsigned char> bytes, std::string_view name) {
  const auto fail = [&](const std::string& found) { fail_npy(name, found); };
  constexpr unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.empty()) fail("is empty; a .npy file has at least a header. Write it again with np.save.");
  for (std::size_t i = 0; i < sizeof(magic) && i < bytes.size(); ++i)
    if (bytes[i] != magic[i]) fail("is not a .npy file: it does not start with the bytes \\x93NUMPY.");
  if (bytes.size() < 10) fail("ends inside its header, after " + bytes_text(bytes.size()) + ". Copy it again.");

  const unsigned major = bytes[6];
  const unsigned minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0)
    fail("has format version " + std::to_string(major) + "." + std::to_string(minor) +
         "; devplace reads 1.0, 2.0 and 3.0.");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < bytes.size(); ++i)
    length |= static_cast<std::size_t>(bytes[8 + i]) << (8 * i);
  if (bytes.size() < start || bytes.size() - start < length)
    fail("ends inside its header, after " + bytes_text(bytes.size()) + ". Copy it again.");

  const std::string_view text{reinterpret_cast<const char*>(bytes.data()) + start, length};
  stored_array result = npy_header_parser(text, name).parse();
  result.data = bytes.subspan(start + length);
  const auto expected = stored_bytes(result.extents, result.type->bytes);
  if (!expected) fail("announces an array larger than any memory; its header is damaged.");
  if (result.data.size() < *expected)
    fail("is truncated: its header announces " + bytes_text(*expected) + " of elements and " +
         bytes_text(result.data.size()) + " follow. Copy it again.");
  if (result.data.size() > *expected)
    fail("has " + bytes_text(result.data.size() - *expected) +
         " after its last element; devplace reads files with one array. Save each array as a file of its own.");
  return result;
}

/// The header that np.save writes for such an array: version 1.0, padded so that the elements start at a multiple of
/// 64 bytes.
inline std::string npy_header(const stored_type& type, std::span<const std::size_t> extents) {
  std::string text = "{'descr': '";
  text += type.npy;
  text += "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    text += i == 0 ? "" : " ";
    text += std::to_string(extents[i]);
    if (i + 1 < extents.size() || extents.size() == 1) text += ",";
  }
  text += "), }";
  // NumPy reserves space for the first extent to grow to 21 characters, those of the largest integer.
  if (!extents.empty()) text.append(21 - std::to_string(extents[0]).size(), ' ');
  constexpr std::size_t prefix = 10;
  const std::size_t unpadded = prefix + text.size() + 1;
  text.append(64 - unpadded % 64, ' ');  // NumPy pads by 1 to 64 characters, never by none
  text += '\n';
  if (text.size() > 0xffff)
    throw file_error("write_npy: the array has " + std::to_string(extents.size()) +
                     " extents, more than a .npy header of version 1.0 can name. Reshape it first.");

  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace devplace::detail
