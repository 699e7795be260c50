// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Throws file_error unless the remaining bytes `rest` can be the array's elements, and the elements fit into this
/// machine's memory.
DEVPLACE_COMPILABLE()
void check_elements(const stored_array& array, byte_source::remaining_bytes rest, const file_origin& from) {
  if (rest.count < array.bytes)
    fail_read(from, {"is truncated: its header announces ", array.bytes, byte_word(array.bytes), " of elements and ",
                     rest.exact ? "" : "at most ", rest.count, byte_word(rest.count),
                     rest.count == 1 ? " follows" : " follow", ". Copy or download it again."});
  if (const std::uint64_t more = rest.count - array.bytes; rest.exact && more != 0)
    fail_read(from, {"is longer than its header announces: ", array.bytes, byte_word(array.bytes),
                     " of elements were expected and it has ", more, byte_word(more),
                     " after its last element. It is damaged or holds more than one array; "
                     "write each array to a file of its own."});
  const std::uint64_t memory =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (array.bytes > memory)
    fail_read(from, {"announces ", array.bytes, byte_word(array.bytes),
                     " of elements, more than the memory of this machine, ", memory, byte_word(memory),
                     ". Give the right file, or divide it."});
}
DEVPLACE_COMPILED(void check_elements(const stored_array&, byte_source::remaining_bytes, const file_origin&))

/// Reads the elements to `to`, in row-major order and this machine's byte order. Throws file_error if the source has
/// fewer or more elements.
DEVPLACE_COMPILABLE()
void read_elements(byte_source& source, const stored_array& array, void* to, const file_origin& from) {
  auto* const bytes = static_cast<unsigned char*>(to);
  const std::size_t got =
      array.read_reordered != nullptr ? array.read_reordered(source, array, bytes) : source.read(bytes, array.bytes);
  if (got < array.bytes) check_elements(array, {got, true}, from);
  unsigned char more;
  if (source.read(&more, 1) != 0)
    fail_read(from, {"is longer than its header announces: ", array.bytes, byte_word(array.bytes),
                     " of elements were expected and more follow. It is damaged or holds "
                     "more than one array; write each array to a file of its own."});
  if (!array.swapped || array.type->bytes == 1) return;
  for (std::size_t at = 0; at < array.bytes; at += array.type->bytes)
    std::reverse(bytes + at, bytes + at + array.type->bytes);
}
DEVPLACE_COMPILED(void read_elements(byte_source&, const stored_array&, void*, const file_origin&))

/// Reads the elements that follow in `source`, of type T, into a tensor. Checks shape and size before it allocates
/// memory. Throws file_error.
template <element T, extents_like Extents>
DEVPLACE_CONFIGURED tensor<T, Extents, on<cpu>> read_array(byte_source& source, const stored_array& array,
                                                           const file_origin& from) {
  check_elements(array, source.remaining(), from);
  tensor<T, Extents, on<cpu>> result(checked_extents<Extents>({array.extents.data(), array.extents.size()}, from));
  read_elements(source, array, result.data(), from);
  return result;
}

}  // namespace devplace::detail
