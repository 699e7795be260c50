// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The IDX format in memory (http://yann.lecun.com/exdb/mnist): two bytes of zero, the element type, the rank, one
// 32-bit extent for each axis, then the elements; all numbers are big-endian.

#include <bit>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/read_array.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/tensor.hpp>

// Either header defines gzip_reader.
#include DEVPLACE_INFLATE_READERS

namespace devplace::detail {

template <class T>
concept idx_element = is_element<T> && dtype_of<T>->idx != 0;

[[noreturn]] inline void fail_idx(std::string_view name, std::initializer_list<text_part> found) {
  fail_file("read_idx", name, found);
}

inline std::string_view hexadecimal(unsigned digit) {
  return std::string_view("0123456789abcdef").substr(digit & 15, 1);
}

/// Parses the header at the start of `bytes`. Throws file_error with `name`, what was found and what was expected.
DEVPLACE_COMPILABLE() stored_array parse_idx_header(std::span<const unsigned char> bytes, std::string_view name) {
  if (bytes.empty()) fail_idx(name, {"is empty; an IDX file starts with the bytes 0, 0, element type and rank."});
  if (const std::size_t i = bytes[0] != 0 ? 0 : 1; i < bytes.size() && bytes[i] != 0)
    fail_idx(name, {"is not an IDX file: its byte ", i, " is 0x", hexadecimal(bytes[i] / 16u), hexadecimal(bytes[i]),
                    "; an IDX file starts with the bytes 0, 0, element type and rank."});
  if (bytes.size() < 4)
    fail_idx(name,
             {"ends inside its header, after ", bytes.size(), byte_word(bytes.size()), ". Copy or download it again."});

  const dtype* type = nullptr;
  for (const dtype& known : dtypes)
    if (known.idx == bytes[2] && bytes[2] != 0) type = &known;
  if (type == nullptr)
    fail_idx(name, {"holds elements of type 0x", hexadecimal(bytes[2] / 16u), hexadecimal(bytes[2]),
                    "; devplace reads 0x08 (uint8), 0x0c (int32), 0x0d (float) and 0x0e (double). Convert the file."});
  const std::size_t rank = bytes[3];
  const std::size_t header_bytes = 4 + 4 * rank;
  if (bytes.size() < header_bytes)
    fail_idx(name, {"ends inside its header: the header of an array with ", rank, " axes takes ", header_bytes,
                    byte_word(header_bytes), " and the file has ", bytes.size(), ". Copy or download it again."});

  std::vector<std::size_t> extents(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    for (std::size_t i = 0; i < 4; ++i) extents[axis] = extents[axis] << 8 | bytes[4 + 4 * axis + i];
  const auto data_bytes = stored_bytes({extents.data(), rank}, type->bytes);
  if (!data_bytes)
    fail_idx(name,
             {"announces an array larger than any memory; its header is damaged. Copy or download the file again."});
  return {type, std::move(extents), *data_bytes, std::endian::native == std::endian::little};
}
DEVPLACE_COMPILED(stored_array parse_idx_header(std::span<const unsigned char>, std::string_view))

inline namespace DEVPLACE_CONFIGURATION {

/// The header of a plain or compressed IDX file, and its elements, which are not read yet.
class idx_contents {
 public:
  /// The arguments must outlive the object. Throws as parse_idx_header does.
  idx_contents(byte_source& file, std::string_view name) : source_(&file) {
    unsigned char header[4 + 4 * 255];  // the longest one, with 255 extents
    std::size_t size = file.read(header, 4);
    if (size >= 2 && header[0] == 0x1f && header[1] == 0x8b) {  // RFC 1952
      source_ = &inflated_.emplace(file, std::span<const unsigned char>(header, size), file_origin{"read_idx", name});
      size = source_->read(header, 4);
    }
    if (size == 4 && header[0] == 0 && header[1] == 0) size += source_->read(header + 4, std::size_t{4} * header[3]);
    array_ = parse_idx_header({header, size}, name);
  }

  const stored_array& array() const { return array_; }
  byte_source& source() { return *source_; }

 private:
  std::optional<gzip_reader> inflated_;
  byte_source* source_;
  stored_array array_;
};

/// An IDX file with elements of type `type`. If `path` does not exist, `path`.gz is opened.
class idx_file {
 public:
  idx_file(const std::string& path, const dtype& type, bool any_size)
      : file_(existing(path), "read_idx", any_size), contents_(file_, file_.path()) {
    if (const dtype* const found = contents_.array().type; found != &type)
      fail_idx(file_.path(), {"holds elements of type ", found->name, ", but ", type.name,
                              " was asked for; read it as ", found->name, "."});
  }
  [[gnu::noinline]] ~idx_file() = default;

  template <element T, extents_like Extents> tensor<T, Extents, on<cpu>> read() {
    return read_array<T, Extents>(contents_.source(), contents_.array(), {"read_idx", file_.path()});
  }

 private:
  static std::string existing(const std::string& path) {
    if (input_file::exists(path)) return path;
    std::string compressed = joined({path, ".gz"});
    if (!input_file::exists(compressed))
      fail_idx(path, {"does not exist, nor does '", compressed, "'. Check the path."});
    return compressed;
  }

  input_file file_;
  idx_contents contents_;
};

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::detail

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
