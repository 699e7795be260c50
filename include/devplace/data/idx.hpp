// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <string>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/idx_format.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/read_array.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads an IDX file (the format of MNIST) into a tensor on the CPU:
/// `auto images = dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 28, 28>>("train-images-idx3-ubyte")`.
///
/// Files compressed with gzip are detected by their first bytes and need the component zlib. If `path` does not exist,
/// reads `path`.gz. The file's element type (uint8, int32, float or double) must be `T`, and its shape must have the
/// rank and the static extents of `Extents`. Throws file_error with what was found and what was expected if type or
/// shape differ, and for a missing, truncated, damaged or overlong file. Checks type, shape and size before it
/// allocates memory. For compressed files, checks the largest possible size. Reads pipes and devices only if all
/// extents are static.
template <class T = void, class Extents = void> auto read_idx(const std::string& path) try {
  constexpr bool is_type = detail::idx_element<T>, is_shape = extents_like<Extents>;
  static_assert(is_type && is_shape,
                "devplace: read_idx: the file's element type and extents are the template arguments, as in "
                "read_idx<std::uint8_t, dextents<3>>(path).");
  if constexpr (is_type && is_shape) {
    return detail::idx_file(path, *detail::dtype_of<T>, !Extents::is_static).template read<T, Extents>();
  } else {
    return 0;
  }
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the tensor of read_idx");
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
