// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/data/detail/idx_format.hpp>
#include <devplace/io/file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// The contents of `path`, or of `path` + ".gz" if only that exists; sets `path` to the name of the file that was read.
inline std::vector<unsigned char> read_file_or_gz(std::string& path) {
  file_handle file{std::fopen(path.c_str(), "rb")};
  if (file == nullptr && errno == ENOENT) {
    const std::string compressed = path + ".gz";
    file.reset(std::fopen(compressed.c_str(), "rb"));
    if (file == nullptr && errno == ENOENT)
      throw file_error("read_idx: " + in_quotes(path) + " does not exist, nor does " + in_quotes(compressed) +
                       ". Check the path.");
    path = compressed;
  }
  if (file == nullptr)
    throw file_error("read_idx: " + in_quotes(path) + " cannot be opened: " + std::strerror(errno) +
                     ". Check its permissions.");
  return read_all(file.get(), "read_idx", path);
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads an IDX file (the format of MNIST) into a tensor on the CPU:
/// `auto images = dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 28, 28>>("train-images-idx3-ubyte")`.
///
/// A file may be compressed with gzip: this is detected from its first bytes and needs the component zlib. If `path`
/// does not exist but `path`.gz does, the latter is read. Element types are uint8, int32, float and double; the file's
/// must be `T`, and its shape must have the rank and the static extents of `Extents`. Throws file_error, naming what
/// was found and what was expected, for anything else and for a missing, truncated, damaged or overlong file. Memory is
/// allocated for the data that the file contains, never for the size that its header claims.
template <detail::idx_element T, extents_like Extents>
tensor<T, Extents, on<cpu>> read_idx(std::string path) {
  std::vector<unsigned char> bytes = detail::read_file_or_gz(path);
  if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)  // gzip's magic number, RFC 1952
    bytes = detail::gunzip_idx(bytes, path);
  const detail::stored_array array = detail::parse_idx(bytes, path);
  if (array.type != detail::stored_type_of<T>())
    detail::fail_idx(path, std::string("holds elements of type ") + array.type->name + " and " + dtype_name<T>() +
                               " was asked for; read it with the file's type.");
  tensor<T, Extents, on<cpu>> result(detail::checked_extents<Extents>(array.extents, "read_idx", path));
  detail::decode_idx(array.data, result.data());
  return result;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
