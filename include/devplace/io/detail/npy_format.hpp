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
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

static_assert(std::endian::native == std::endian::little,
              "devplace: .npy files are read and written on little-endian machines only; this machine is big-endian, "
              "so do not include devplace/io/npy.hpp.");

/// Returns the description of T; member `npy` is the type's name in files.
template <element T> constexpr const dtype* npy_type_of() {
  static_assert(
      !dtype_of<T>->npy.empty(),
      "devplace: .npy files have no bf16 elements; write cast<float>(x), or read float and use cast<bf16>(x).");
  return dtype_of<T>;
}

/// Returns advice for saving an array of an unsupported element type. `kind` is the type without byte order.
inline std::string npy_advice(std::string_view kind) {
  const auto convert = [](const char* type, const char* subject) {
    return joined({"Convert ", subject, " with .astype('", type, "') before np.save"});
  };
  if (kind == "b1") return convert("|u1", "the booleans");
  if (kind == "i1" || kind == "i2" || kind == "u2") return convert("<i4", "the integers");
  if (kind == "u4") return convert("<i8", "the integers");
  if (kind == "u8") return convert("<i8", "the integers, if they are below 2**63,");
  if (kind == "V2")
    return "If these are ml_dtypes' bfloat16, which the file does not say, convert them with .astype('<f4') before "
           "np.save, read float and use cast<bf16>(x)";
  if (kind == "f12" || kind == "f16") return convert("<f8", "the numbers");
  if (kind.starts_with('M') || kind.starts_with('m')) return convert("<i8", "the times");
  if (kind.starts_with('c')) return "Save array.real and array.imag as two files";
  if (kind.starts_with('O'))
    return "These are Python objects: make an array of numbers from them, for example with np.stack, before np.save";
  if (kind.starts_with('S') || kind.starts_with('U') || kind.starts_with('T'))
    return "This is text: save numbers, for example the index of each word";
  return "Save an array of one of these types";
}

/// Reads the elements of a column-major array to `to` in row-major order. Returns the number of bytes read.
inline std::size_t read_column_major(byte_source& source, const stored_array& array, unsigned char* to) {
  const std::size_t rank = array.extents.size(), width = array.type->bytes;
  std::vector<std::size_t> index(rank, 0), strides(rank, width);
  for (std::size_t axis = rank - 1; axis != 0; --axis) strides[axis - 1] = strides[axis] * array.extents[axis];
  unsigned char chunk[std::size_t{1} << 14];
  std::size_t got = 0, at = 0;
  for (std::size_t more = sizeof chunk; more == sizeof chunk; got += more) {
    more = source.read(chunk, std::min(sizeof chunk, array.bytes - got));
    for (std::size_t k = 0; k + width <= more; k += width) {
      std::memcpy(to + at, chunk + k, width);
      for (std::size_t axis = 0; axis != rank; ++axis) {
        at += strides[axis];
        if (++index[axis] != array.extents[axis]) break;
        at -= strides[axis] * std::exchange(index[axis], 0);
      }
    }
  }
  return got;
}

/// Parses the dict literal of a header: the three keys in any order, quotes of either kind, and any white space.
class npy_header_parser {
 public:
  npy_header_parser(std::string_view text, const file_origin& from) : text_(text), from_(from) {}

  /// Parses the dict; `bytes` of the result stays 0.
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
        fail({"has the header key '", key,
              "', which is unknown or given twice; the keys are 'descr', 'fortran_order' and 'shape', once each"});
      if (accept(",")) continue;
      expect("}");
      break;
    }
    skip_space();
    if (position_ != text_.size()) fail({"has text after its header's dict"});
    if (!has_type || !has_order || !has_shape)
      fail({"lacks one of the header's three keys 'descr', 'fortran_order' and 'shape'"});
    const auto& all = result_.extents;  // With at most one axis longer than 1, both orders are equal.
    if (column_major_ && std::count_if(all.begin(), all.end(), [](std::size_t extent) { return extent > 1; }) > 1)
      result_.read_reordered = &read_column_major;
    return std::move(result_);
  }

 private:
  void element_type() {
    if (accept("[")) fail({"holds a structured array; save each of its fields with np.save as a file of its own"});
    const std::string_view descr = string_literal("the element type");
    const std::string_view kind = descr.substr(descr.find_first_of("<>|=") == 0 ? 1 : 0);
    for (const dtype& type : dtypes)
      if (!type.npy.empty() && kind == type.npy.substr(1)) result_.type = &type;
    result_.swapped = descr.starts_with('>');
    if (result_.type == nullptr)
      fail({"holds elements of type '", descr, "', which devplace does not read (it reads ",
            "float, double, half, int32, int64 and uint8). ", npy_advice(kind)});
  }

  void order() {
    column_major_ = accept("True");
    if (!column_major_ && !accept("False")) fail_expected({"True or False"});
  }

  void shape() {
    expect("(");
    while (!accept(")")) {
      result_.extents.push_back(number());
      if (accept(",")) continue;
      // In Python, (3) is a number and not a tuple.
      if (result_.extents.size() == 1) fail_expected({"',', as in (3,)"});
      expect(")");
      break;
    }
  }

  std::size_t number() {
    skip_space();
    std::size_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) fail({"has an extent too large for this machine"});
    if (code != std::errc{}) fail_expected({"a non-negative extent"});
    position_ = static_cast<std::size_t>(end - text_.data());
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2 wrote long integers as 3L
    return value;
  }

  std::string_view string_literal(const char* expected) {
    skip_space();
    if (position_ == text_.size() || (text_[position_] != '\'' && text_[position_] != '"'))
      fail_expected({expected, " in quotes"});
    const char quote = text_[position_++];
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail({"has an unfinished string in its header"});
    const std::string_view inside = text_.substr(position_, end - position_);
    for (const char c : inside)
      if (c < ' ' || c > '~' || c == '\\') fail({"has characters in its header that NumPy does not write there"});
    position_ = end + 1;
    return inside;
  }

  void skip_space() { position_ = std::min(text_.find_first_not_of(" \t\n\r", position_), text_.size()); }

  bool accept(std::string_view word) {
    skip_space();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  void expect(const char* word) {
    if (!accept(word)) fail_expected({"'", word, "'"});
  }

  [[noreturn]] void fail_expected(std::initializer_list<text_part> expected) const {
    fail({"has a header that is not a valid dict: ", joined(expected), " is missing at its character ", position_,
          ". Write the file again with np.save"});
  }

  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_read(from_, {joined(found), "."}); }

  std::string_view text_;
  file_origin from_;
  std::size_t position_ = 0;
  bool column_major_ = false;
  stored_array result_;
};

/// Reads the header of a .npy file. Throws file_error with the origin, what was found and what was expected.
inline stored_array read_npy_header(byte_source& source, const file_origin& from) {
  const auto fail = [&](std::initializer_list<text_part> found) { fail_read(from, found); };
  const auto fail_inside = [&](std::uint64_t after) {
    fail({"ends inside its header, after ", after, byte_word(after), ". Copy it again."});
  };
  constexpr unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  unsigned char start[12];
  std::size_t got = source.read(start, 8);
  if (got == 0) fail({"is empty; a .npy file has at least a header. Write it again with np.save."});
  if (std::memcmp(start, magic, std::min(got, sizeof(magic))) != 0)
    fail({"is not a .npy file: it does not start with the bytes \\x93NUMPY."});
  if (got < 8) fail_inside(got);
  const unsigned major = start[6];
  const unsigned minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    fail({"has format version ", major, ".", minor, "; devplace reads 1.0, 2.0 and 3.0."});

  const std::size_t length_bytes = major == 1 ? 2 : 4;
  got += source.read(start + 8, length_bytes);
  if (got < 8 + length_bytes) fail_inside(got);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= static_cast<std::size_t>(start[8 + i]) << (8 * i);
  if (const byte_source::remaining_bytes rest = source.remaining(); rest.count < length) fail_inside(got + rest.count);
  if (length > std::size_t{1} << 16)  // NumPy's headers have 128 bytes; only headers of structured arrays are longer
    fail({"announces a header of ", length, byte_word(length),
          "; devplace reads headers of at most 64 KiB. Save each field ",
          "of a structured array with np.save as a file of its own."});
  std::string text(length, '\0');
  got += source.read(text.data(), length);
  if (got < 8 + length_bytes + length) fail_inside(got);

  stored_array result = npy_header_parser(text, from).parse();
  const auto bytes = stored_bytes({result.extents.data(), result.extents.size()}, result.type->bytes);
  if (!bytes) fail({"announces an array larger than any memory; its header is damaged."});
  result.bytes = *bytes;
  return result;
}

/// Returns np.save's header for these extents: version 1.0, padded so that the elements start at a multiple of 64
/// bytes.
inline std::string npy_header(const dtype& type, std::span<const std::size_t> extents) {
  std::string text = joined({"{'descr': '", type.npy, "', 'fortran_order': False, 'shape': ("});
  for (std::size_t i = 0; i < extents.size(); ++i) {
    text += i == 0 ? "" : " ";
    text += std::to_string(extents[i]);
    if (i + 1 < extents.size() || extents.size() == 1) text += ",";
  }
  text += "), }";
  // NumPy reserves space for the first extent to grow to 21 characters, the length of the largest integer.
  if (!extents.empty()) text.append(21 - std::to_string(extents[0]).size(), ' ');
  constexpr std::size_t prefix = 10;
  const std::size_t unpadded = prefix + text.size() + 1;
  text.append(64 - unpadded % 64, ' ');  // NumPy pads by 1 to 64 characters
  text += '\n';
  if (text.size() > 0xffff)
    throw file_error({"write_npy: the array has ", extents.size(),
                      " extents, more than a .npy header of version 1.0 can name. Reshape it first."});

  std::string header("\x93NUMPY\1\0", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace devplace::detail
