// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/io/detail/npy_format.hpp>
#include <devplace/io/file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads a file written by `np.save` into a tensor on the CPU:
/// `auto x = dp::read_npy<float, dp::extents<dp::dyn, 784>>("x.npy")`.
///
/// The file's element type must be `T` ('<f4' for float, '<f8' double, '<i4' int32, '<i8' int64, '|u1' uint8), its
/// shape must have the rank and the static extents of `Extents`, and its order must be C. Format versions 1.0, 2.0 and
/// 3.0. Throws file_error, naming what was found and what was expected, for anything else, for a file that cannot be
/// read and for one that is truncated or too long. Use `to<Where>` to bring the tensor to another place.
template <element T, extents_like Extents>
tensor<T, Extents, on<cpu>> read_npy(const std::string& path) {
  const std::vector<unsigned char> bytes = detail::read_file(path, "read_npy");
  const detail::stored_array array = detail::parse_npy(bytes, path);
  constexpr const detail::stored_type* asked = detail::stored_type_of<T>();
  if (array.type != asked)
    detail::fail_npy(path, "holds elements of type '" + std::string(array.type->npy) + "' and " + dtype_name<T>() +
                               " ('" + std::string(asked->npy) +
                               "') was asked for; read it with the file's type, or convert the array with "
                               ".astype(...) before np.save.");
  tensor<T, Extents, on<cpu>> result(detail::checked_extents<Extents>(array.extents, "read_npy", path));
  if (!array.data.empty()) std::memcpy(result.data(), array.data.data(), array.data.size());
  return result;
}

/// Writes a tensor or view on the CPU as a .npy file, byte for byte as `np.save` does (format version 1.0, C order).
///
/// The file is written under a temporary name and then renamed: whoever reads `path` meanwhile sees the old file or the
/// new one. Throws file_error, leaving the old file unchanged, if the folder is not writable or full. Copy a tensor on
/// another place to the CPU first: `write_npy(path, to<on<cpu>>(x))`.
template <tensor_like Source>
void write_npy(const std::string& path, const Source& source) {
  using value_type = typename Source::value_type;
  static_assert(host_accessible<typename Source::placement_type>,
                "devplace: write_npy: the tensor is not where the host can read it; write to<on<cpu>>(x) instead.");
  if constexpr (host_accessible<typename Source::placement_type>) {
    std::vector<std::size_t> extents(Source::rank);
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      extents[axis] = source.extent(axis);
    const std::string header = detail::npy_header(*detail::stored_type_of<value_type>(), extents);
    detail::file_written_aside file(path, "write_npy");
    file.write(header.data(), header.size());
    file.write(source.data(), source.size() * sizeof(value_type));
    file.commit();
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
