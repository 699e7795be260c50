// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The IDX format in memory (http://yann.lecun.com/exdb/mnist): two bytes of zero, the element type, the rank, one
// 32-bit extent for each axis, then the elements; all numbers are big-endian.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/dtype.hpp>

// Defines gzip_reader: the macro names gzip_zlib.hpp or, without the component zlib, gzip_absent.hpp.
#include DEVPLACE_GZIP_READER

namespace devplace::detail {

template <class T>
concept idx_element = is_element<T> && dtype_of<T>->idx != 0;

[[noreturn]] inline void fail_idx(std::string_view name, const std::string& found) {
  throw file_error({"read_idx: ", in_quotes(name), " ", found});
}

inline std::string hexadecimal(unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

/// Size of the longest header, with 255 extents.
inline constexpr std::size_t longest_idx_header = 4 + 4 * 255;

/// Parses the header at the start of `bytes`. Throws file_error with `name`, what was found and what was expected.
inline stored_array parse_idx_header(std::span<const unsigned char> bytes, std::string_view name) {
  if (bytes.empty()) fail_idx(name, "is empty; an IDX file starts with the bytes 0, 0, element type and rank.");
  for (std::size_t i = 0; i < 2 && i < bytes.size(); ++i)
    if (bytes[i] != 0)
      fail_idx(name, joined({"is not an IDX file: its byte ", i, " is ", hexadecimal(bytes[i]),
                             "; an IDX file starts with the bytes 0, 0, element type and rank."}));
  if (bytes.size() < 4)
    fail_idx(name,
             joined({"ends inside its header, after ", bytes_text(bytes.size()), ". Copy or download it again."}));

  const auto type = std::find_if(dtypes.begin(), dtypes.end(),
                                 [&](const dtype& known) { return known.idx == bytes[2] && bytes[2] != 0; });
  if (type == dtypes.end())
    fail_idx(
        name,
        joined({"holds elements of type ", hexadecimal(bytes[2]),
                "; devplace reads 0x08 (uint8), 0x0c (int32), 0x0d (float) and 0x0e (double). Convert the file."}));
  const std::size_t rank = bytes[3];
  const std::size_t header_bytes = 4 + 4 * rank;
  if (bytes.size() < header_bytes)
    fail_idx(name,
             joined({"ends inside its header: the header of an array with ", rank, " axes takes ",
                     bytes_text(header_bytes), " and the file has ", bytes.size(), ". Copy or download it again."}));

  std::vector<std::size_t> extents(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    for (std::size_t i = 0; i < 4; ++i) extents[axis] = extents[axis] << 8 | bytes[4 + 4 * axis + i];
  const auto data_bytes = stored_bytes(extents, type->bytes);
  if (!data_bytes)
    fail_idx(name,
             "announces an array larger than any memory; its header is damaged. Copy or download the file again.");
  return {type, std::move(extents), *data_bytes, std::endian::native == std::endian::little};
}

/// Reads a header whose first bytes, at most 4, were read before and are in `begun`. Throws as parse_idx_header does.
inline stored_array read_idx_header(byte_source& source, std::span<const unsigned char> begun, std::string_view name) {
  unsigned char header[longest_idx_header];
  std::copy(begun.begin(), begun.end(), header);
  std::size_t size = begun.size();
  size += source.read(header + size, 4 - size);
  if (size == 4 && header[0] == 0 && header[1] == 0) size += source.read(header + 4, std::size_t{4} * header[3]);
  return parse_idx_header({header, size}, name);
}

inline namespace DEVPLACE_CONFIGURATION {

/// Reads a plain or compressed file's header and calls `continuation(source, array)`; `source` continues with the
/// elements.
template <class Continuation> auto read_idx_file(byte_source& file, std::string_view name, Continuation continuation) {
  unsigned char begun[4];
  const std::span<const unsigned char> start(begun, file.read(begun, 4));
  const auto go_on = [&](byte_source& source, std::span<const unsigned char> read) {
    const stored_array array = read_idx_header(source, read, name);
    return continuation(source, array);
  };
  if (start.size() < 2 || start[0] != 0x1f || start[1] != 0x8b) return go_on(file, start);  // RFC 1952
  gzip_reader contents(file, start, "read_idx", name);
  return go_on(contents, {});
}

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::detail
