// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <string>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/npy_format.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/output_file.hpp>
#include <devplace/io/read_array.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Reads the array of a whole .npy file. Throws file_error.
template <element T, extents_like Extents>
tensor<T, Extents, on<cpu>> read_npy_from(byte_source& source, const file_origin& from) {
  const stored_array array = read_npy_header(source, from);
  constexpr const dtype* expected = npy_type_of<T>();
  if (array.type != expected)
    fail_read(from, {"holds elements of type '", array.type->npy, "', but ", dtype_name<T>(), " ('", expected->npy,
                     "') was asked for; read it as ", array.type->name, ", or convert the array with .astype('",
                     expected->npy, "') before np.save."});
  return read_array<T, Extents>(source, array, from);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads a file written by `np.save` into a tensor on the CPU:
/// `auto x = dp::read_npy<float, dp::extents<dp::dyn, 784>>("x.npy")`.
///
/// The file's element type must be `T` (float, double, half, int32, int64 or uint8, in either byte order), and its
/// shape must have the rank and the static extents of `Extents`. Fortran order becomes C order. Reads format versions
/// 1.0, 2.0 and 3.0 with headers of at most 64 KiB. Checks header and file size before it allocates memory. For another
/// type, shape or version, and for an unreadable, truncated or overlong file, throws file_error with what was found and
/// what was expected. Pipes and devices are read only if all extents are static. Use `to<Where>` to bring the tensor to
/// another place.
template <class T = void, class Extents = void, class... Other> auto read_npy(const std::string& path) try {
  constexpr bool is_type = detail::is_element<T>, is_shape = extents_like<Extents>, only = sizeof...(Other) == 0;
  static_assert(is_type && is_shape && only,
                "devplace: read_npy: the file's element type and extents are the template arguments, as in "
                "read_npy<float, dextents<2>>(path); the tensor is on the CPU, and to<cuda<0>>(x) copies it.");
  if constexpr (is_type && is_shape && only) {
    detail::input_file file(path, "read_npy", !Extents::is_static);
    return detail::read_npy_from<T, Extents>(file, {"read_npy", path});
  } else {
    return 0;
  }
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the tensor of read_npy");
}

/// Writes a tensor or view on the CPU as a .npy file, byte for byte as `np.save` does (format version 1.0, C order).
///
/// The file is written under a temporary name, synced to the disk and then renamed. Readers of `path` see the old file
/// or the new one, even after a power failure. The old file's mode is kept, and a symbolic link is followed. Throws
/// file_error, leaving the old file unchanged, if the disk is full, if the folder is not writable, or if `path` is a
/// folder, a pipe or a device. Copy a tensor on another place to the CPU first: `write_npy(path, to<on<cpu>>(x))`.
template <tensor_like Source> void write_npy(const std::string& path, const Source& source) try {
  using value_type = typename Source::value_type;
  static_assert(host_accessible<typename Source::placement_type>,
                "devplace: write_npy: the tensor is not where the host can read it; write to<on<cpu>>(x) instead.");
  if constexpr (host_accessible<typename Source::placement_type>) {
    const std::string header =
        detail::npy_header(*detail::npy_type_of<value_type>(), detail::sizes_of(source.extents()));
    detail::output_file file(path, "write_npy");
    file.write(header.data(), header.size());
    file.write(detail::as_view(source).data(), source.size() * sizeof(value_type));
    file.commit();
  }
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the file of write_npy");
}

/// Rejects arguments other than tensors.
template <class Path, class X>
  requires(!tensor_like<X>)
void write_npy(const Path&, const X&) {
  static_assert(sizeof(X) == 0,
                "devplace: write_npy: the arguments are the file's name and a tensor or view, as in write_npy(path, "
                "x); give an expression a name first, tensor y = a + b.");
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
