// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that read or write safetensors files include it.

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/safetensors_format.hpp>
#include <devplace/io/detail/safetensors_layout.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/read_array.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A safetensors file open for reading: `const dp::safetensors_file file("model.safetensors")`, then `auto w =
/// file.read<float, dp::extents<128, 784>>("fc1.weight")`.
///
/// The constructor checks the whole header, as the reference implementation does: at most 100 MB of JSON, known element
/// types, and tensors that cover the file to its end without holes and overlaps. Unlike the reference, the constructor
/// also rejects duplicate names and keys other than dtype, shape and data_offsets. Threads may read concurrently.
class safetensors_file {
 public:
  /// Opens a regular file and reads its header. Throws file_error, naming what was found and what was expected.
  explicit safetensors_file(const std::string& path) try : path_(path), file_(path, "safetensors_file", true) {
    if (!file_.remaining().exact)
      detail::fail_file("safetensors_file", path, {"is a folder. Give the path of a file."});
    header_ = detail::read_safetensors_header(file_, path);
    for (const safetensors_entry& entry : header_.tensors) by_name_.push_back(&entry);
    std::sort(by_name_.begin(), by_name_.end(), [](auto* a, auto* b) { return a->name < b->name; });
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the header of safetensors_file");
  }

  /// All tensors, in the header's order.
  const std::vector<safetensors_entry>& tensors() const DEVPLACE_LIFETIMEBOUND { return header_.tensors; }

  /// The file's metadata; empty if it has none.
  const safetensors_metadata& metadata() const DEVPLACE_LIFETIMEBOUND { return header_.metadata; }

  /// Returns the entry of the tensor of this name, or null.
  const safetensors_entry* find(std::string_view name) const DEVPLACE_LIFETIMEBOUND {
    const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                     [](auto* entry, std::string_view wanted) { return entry->name < wanted; });
    return at != by_name_.end() && (*at)->name == name ? *at : nullptr;
  }

  /// Reads the tensor of this name to the CPU. Its element type must be `T` (F32 is float, F64 double, F16 half, BF16
  /// bf16, I32 int32, I64 int64, U8 uint8), its shape must have the rank and the static extents of `Extents`. Throws
  /// file_error, naming what was found and what was expected, before memory is allocated. Use `to<Where>` to bring the
  /// tensor to another place.
  template <class T = void, class Extents = void> auto read(std::string_view name) const try {
    constexpr bool is_type = detail::is_element<T>, is_shape = extents_like<Extents>;
    static_assert(is_type && is_shape,
                  "devplace: safetensors_file: the tensor's element type and extents are the template arguments, as in "
                  "file.read<float, dextents<2>>(name); the tensor is on the CPU, and to<cuda<0>>(x) copies it.");
    if constexpr (is_type && is_shape) {
      const safetensors_entry& entry = existing(name);
      const std::string label = path_ + ':' + entry.name;
      const detail::file_origin from{"safetensors_file", label};
      if (entry.dtype != detail::dtype_of<T>->safetensors) fail_type(entry, *detail::dtype_of<T>);
      detail::stored_array array;
      array.bytes = entry.bytes;
      detail::check_elements(array, {entry.bytes, true}, from);
      tensor<T, Extents, on<cpu>> result(detail::checked_extents<Extents>(entry.extents, from));
      read_elements(entry, result.data());
      return result;
    } else {
      return 0;
    }
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the tensor of safetensors_file");
  }

  /// Reads the elements of a tensor unchanged, `entry.bytes` bytes, even of a type that tensors in devplace do not
  /// have. Throws file_error.
  void read_elements(const safetensors_entry& entry, void* to) const {
    if (file_.read_at(entry.offset, to, entry.bytes) < entry.bytes)
      detail::fail_file("safetensors_file", path_,
                        {"was truncated after it was opened. Write it under another name and rename it."});
  }

 private:
  const safetensors_entry& existing(std::string_view name) const {
    if (const safetensors_entry* const entry = find(name)) return *entry;
    const std::string names =
        detail::listed(by_name_.size(), [this](std::size_t k) { return detail::json_string(header_.tensors[k].name); });
    detail::fail_file("safetensors_file", path_,
                      {"has no tensor ", detail::json_string(name), "; it has ", names.empty() ? "none" : names, "."});
  }

  [[noreturn]] void fail_type(const safetensors_entry& entry, const detail::dtype& expected) const {
    std::string advice = "tensors have no such elements; convert them before saving them, or use read_elements";
    for (const detail::dtype& type : detail::dtypes)
      if (type.safetensors == entry.dtype) advice = std::string("read it as ") + type.name;
    detail::fail_file("safetensors_file", path_ + ':' + entry.name,
                      {"holds elements of type ", entry.dtype, ", but ", expected.name, " (", expected.safetensors,
                       ") was asked for; ", advice, "."});
  }

  std::string path_;
  detail::input_file file_;
  detail::safetensors_header header_;
  std::vector<const safetensors_entry*> by_name_;  ///< sorted
};

/// A tensor or view on the CPU with its name in a file, for write_safetensors. Refers to the tensor.
class named_tensor {
 public:
  /// Refers to a tensor or view that the host can read and that must exist until the file is written.
  template <tensor_like Source> named_tensor(std::string name, const Source& source DEVPLACE_LIFETIMEBOUND) {
    using value_type = typename Source::value_type;
    static_assert(host_accessible<typename Source::placement_type>,
                  "devplace: write_safetensors: the tensor is not where the host can read it; write to<on<cpu>>(x) "
                  "instead.");
    if constexpr (host_accessible<typename Source::placement_type>) {
      safetensors_entry& entry = source_.entry;
      entry.name = std::move(name);
      entry.dtype = detail::dtype_of<value_type>->safetensors;
      for (std::size_t axis = 0; axis < Source::rank; ++axis) entry.extents.push_back(source.extent(axis));
      entry.bytes = source.size() * sizeof(value_type);
      source_.data = detail::as_view(source).data();
    }
  }

  /// The name, type, extents and data to write.
  const detail::safetensors_source& source() const { return source_; }

 private:
  detail::safetensors_source source_;
};

/// Writes tensors and views on the CPU as a safetensors file:
/// `write_safetensors("x.safetensors", {{"weight", w}, {"bias", b}}, {{"format", "pt"}})`.
///
/// The header keeps the order of `tensors`. The data begin at a multiple of 8 bytes, and tensors with larger elements
/// come first, so that all elements are aligned. Replaces an old file when the new one is complete and on the disk, as
/// write_npy does. Throws file_error, leaving the old file unchanged, also for names or metadata that are not UTF-8 and
/// for equal names. Copy a tensor on another place to the CPU first: `{"weight", to<on<cpu>>(x)}`.
inline void write_safetensors(const std::string& path, const std::vector<named_tensor>& tensors,
                              const safetensors_metadata& metadata = {}) try {
  std::vector<detail::safetensors_source> sources;
  for (const named_tensor& tensor : tensors) sources.push_back(tensor.source());
  detail::write_safetensors_file(path, "write_safetensors", sources, metadata);
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the file of write_safetensors");
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
