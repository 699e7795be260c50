// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The IDX format in memory (http://yann.lecun.com/exdb/mnist): two bytes of zero, the element type, the rank, one
// 32-bit extent for each axis, then the elements; all numbers are big-endian.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/io/file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/dtype.hpp>

// Either header defines gzip_reader.
#include DEVPLACE_GZIP_READER

namespace devplace::detail {

template <class T>
concept idx_element =
    std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> || std::same_as<T, float> || std::same_as<T, double>;

/// The contents of a file's header.
struct idx_header {
  const stored_type* type;
  std::vector<std::size_t> extents;
  std::size_t header_bytes;
  std::size_t data_bytes;
};

[[noreturn]] inline void fail_idx(std::string_view name, const std::string& found) {
  throw file_error("read_idx: " + in_quotes(name) + " " + found);
}

inline std::string hexadecimal(unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

/// Size of the longest header that the format allows, that of 255 extents.
inline constexpr std::size_t longest_idx_header = 4 + 4 * 255;

/// The header at the start of `bytes`. Throws file_error naming `name`, what was found and what was expected.
inline idx_header parse_idx_header(std::span<const unsigned char> bytes, std::string_view name) {
  if (bytes.empty()) fail_idx(name, "is empty; an IDX file starts with the bytes 0, 0, element type and rank.");
  for (std::size_t i = 0; i < 2 && i < bytes.size(); ++i)
    if (bytes[i] != 0)
      fail_idx(name, "is not an IDX file: its byte " + std::to_string(i) + " is " + hexadecimal(bytes[i]) +
                         "; an IDX file starts with the bytes 0, 0, element type and rank.");
  if (bytes.size() < 4)
    fail_idx(name, "ends inside its header, after " + bytes_text(bytes.size()) + ". Copy or download it again.");

  const auto type = std::find_if(std::begin(stored_types), std::end(stored_types),
                                 [&](const stored_type& known) { return known.idx == bytes[2] && bytes[2] != 0; });
  if (type == std::end(stored_types))
    fail_idx(name, "holds elements of type " + hexadecimal(bytes[2]) +
                       "; devplace reads 0x08 (uint8), 0x0c (int32), 0x0d (float) and 0x0e (double). Convert the "
                       "file.");
  const std::size_t rank = bytes[3];
  const std::size_t header_bytes = 4 + 4 * rank;
  if (bytes.size() < header_bytes)
    fail_idx(name, "ends inside its header: the header of an array with " + std::to_string(rank) + " axes takes " +
                       bytes_text(header_bytes) + " and the file has " + std::to_string(bytes.size()) +
                       ". Copy or download it again.");

  std::vector<std::size_t> extents(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    for (std::size_t i = 0; i < 4; ++i)
      extents[axis] = extents[axis] << 8 | bytes[4 + 4 * axis + i];
  const auto data_bytes = stored_bytes(extents, type->bytes);
  if (!data_bytes || *data_bytes > static_cast<std::size_t>(-1) - header_bytes)
    fail_idx(name, "announces an array larger than any memory; its header is damaged. Copy or download it again.");
  return {type, std::move(extents), header_bytes, *data_bytes};
}

/// The array in the bytes of an uncompressed file; its elements are big-endian. Throws file_error as parse_idx_header
/// does.
inline stored_array parse_idx(std::span<const unsigned char> bytes, std::string_view name) {
  idx_header header = parse_idx_header(bytes, name);
  const std::span<const unsigned char> data = bytes.subspan(header.header_bytes);
  if (data.size() < header.data_bytes)
    fail_idx(name, "is truncated: its header announces " + bytes_text(header.data_bytes) + " of elements and " +
                       bytes_text(data.size()) + (data.size() == 1 ? " follows" : " follow") +
                       ". Copy or download it again.");
  if (data.size() > header.data_bytes)
    fail_idx(name, "is longer than its header announces: " + bytes_text(header.data_bytes) +
                       " of elements were expected and more follow. It is damaged or not an IDX file.");
  return {header.type, std::move(header.extents), data};
}

inline namespace DEVPLACE_CONFIGURATION {

/// Decompresses an IDX file, but never more than one byte beyond the size that its own header claims; parse_idx rejects
/// a file with that extra byte.
inline std::vector<unsigned char> gunzip_idx(std::span<const unsigned char> compressed, std::string_view name) {
  gzip_reader reader(compressed, "read_idx", name);
  std::vector<unsigned char> bytes;
  reader.read(bytes, longest_idx_header);
  const idx_header header = parse_idx_header(bytes, name);
  const std::size_t whole = header.header_bytes + header.data_bytes;
  if (bytes.size() <= whole) reader.read(bytes, whole + 1 - bytes.size());
  return bytes;
}

}  // namespace DEVPLACE_CONFIGURATION

/// Copies an array's elements to `out` in native byte order.
template <idx_element T>
void decode_idx(std::span<const unsigned char> data, T* out) {
  if (data.empty()) return;
  std::memcpy(out, data.data(), data.size());
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) {
    auto* bytes = reinterpret_cast<unsigned char*>(out);
    for (std::size_t at = 0; at < data.size(); at += sizeof(T))
      std::reverse(bytes + at, bytes + at + sizeof(T));
  }
}

}  // namespace devplace::detail
