// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Throws file_error unless the remaining bytes `rest` can be the array's elements, and the elements fit into this
/// machine's memory.
inline void check_elements(const stored_array& array, byte_source::remaining_bytes rest, std::string_view operation,
                           std::string_view name) {
  const auto fail = [&](const std::string& found) { throw file_error({operation, ": ", in_quotes(name), " ", found}); };
  const std::string announced = bytes_text(array.bytes) + " of elements";
  if (rest.count < array.bytes)
    fail(joined({"is truncated: its header announces ", announced, " and ", rest.exact ? "" : "at most ",
                 bytes_text(rest.count), rest.count == 1 ? " follows" : " follow", ". Copy or download it again."}));
  if (rest.exact && rest.count > array.bytes)
    fail(joined({"is longer than its header announces: ", announced, " were expected and it has ",
                 bytes_text(rest.count - array.bytes),
                 " after its last element. It is damaged or holds more than one array; ",
                 "write each array to a file of its own."}));
  const std::uint64_t memory =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (array.bytes > memory)
    fail(joined({"announces ", announced, ", more than the memory of this machine, ", bytes_text(memory),
                 ". Give the right file, or divide it."}));
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

/// Reads the elements to `to`, in row-major order and this machine's byte order. Throws file_error if the source has
/// fewer or more elements.
inline void read_elements(byte_source& source, const stored_array& array, void* to, std::string_view operation,
                          std::string_view name) {
  auto* const bytes = static_cast<unsigned char*>(to);
  const std::size_t got =
      array.column_major ? read_column_major(source, array, bytes) : source.read(bytes, array.bytes);
  if (got < array.bytes) check_elements(array, {got, true}, operation, name);
  unsigned char more;
  if (source.read(&more, 1) != 0)
    throw file_error({operation, ": ", in_quotes(name), " is longer than its header announces: ",
                      bytes_text(array.bytes), " of elements were expected and more follow. It is damaged or holds ",
                      "more than one array; write each array to a file of its own."});
  if (!array.swapped || array.type->bytes == 1) return;
  for (std::size_t at = 0; at < array.bytes; at += array.type->bytes)
    std::reverse(bytes + at, bytes + at + array.type->bytes);
}

/// Reads the elements that follow in `source`, of type T, into a tensor. Checks shape and size before it allocates
/// memory. Throws file_error.
template <element T, extents_like Extents>
tensor<T, Extents, on<cpu>> read_array(byte_source& source, const stored_array& array, std::string_view operation,
                                       std::string_view name) {
  check_elements(array, source.remaining(), operation, name);
  tensor<T, Extents, on<cpu>> result(checked_extents<Extents>(array.extents, operation, name));
  read_elements(source, array, result.data(), operation, name);
  return result;
}

}  // namespace devplace::detail
