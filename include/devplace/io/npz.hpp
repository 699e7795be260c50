// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/zip_member.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/npy.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A file written by `np.savez` or `np.savez_compressed`, open for reading: `const dp::npz_file file("data.npz")`, then
/// `auto x = file.read<float, dp::extents<dp::dyn, 784>>("images")`.
///
/// The constructor checks the file's directory; read() checks a member's size before it allocates memory, and then the
/// member's checksum. Compressed members need the component zlib. Files above 4 GiB (zip64) are supported. Encrypted
/// and multi-part files, other compression methods, and members with an impossible size are errors. Threads may read
/// concurrently.
class npz_file {
 public:
  /// Opens a regular file and reads its directory. Throws file_error, naming what was found and what was expected.
  explicit npz_file(const std::string& path) try : path_(path), file_(path, "npz_file", true) {
    if (!file_.remaining().exact) detail::fail_file("npz_file", path, {"is a folder, and not a file. Check the path."});
    entries_ = zip().entries();
    for (const detail::zip_entry& entry : entries_) names_.push_back(name_of(entry));
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the directory of npz_file");
  }

  /// The names of all arrays in the file's order. np.savez gives unnamed arrays the names `arr_0`, `arr_1`, ...
  const std::vector<std::string>& names() const DEVPLACE_LIFETIMEBOUND { return names_; }

  /// Reads the array of this name to the CPU, as read_npy does. Throws file_error, naming what was found, what was
  /// expected, and the file's names.
  template <class T = void, class Extents = void> auto read(std::string_view name) const try {
    constexpr bool is_type = detail::is_element<T>, is_shape = extents_like<Extents>;
    static_assert(is_type && is_shape,
                  "devplace: npz_file: the array's element type and extents are the template arguments, as in "
                  "file.read<float, dextents<2>>(name); the tensor is on the CPU, and to<cuda<0>>(x) copies it.");
    if constexpr (is_type && is_shape) {
      const detail::zip_entry& entry = existing(name);
      const std::string label = path_ + ':' + std::string(name);
      const detail::zip_file file = zip();
      detail::zip_member member(file, entry, label);
      return detail::read_npy_from<T, Extents>(member, {"npz_file", label});
    } else {
      return 0;
    }
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the tensor of npz_file");
  }

 private:
  static std::string name_of(const detail::zip_entry& entry) {
    const std::string_view name = entry.name;
    return std::string(name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name);
  }

  detail::zip_file zip() const {
    const auto read_some = [](const void* file, std::uint64_t offset, void* to, std::size_t bytes) {
      return static_cast<const detail::input_file*>(file)->read_at(offset, to, bytes);
    };
    return {read_some, &file_, file_.remaining().count, path_};
  }

  const detail::zip_entry& existing(std::string_view name) const {
    for (std::size_t k = 0; k != names_.size(); ++k)
      if (names_[k] == name) return entries_[k];
    const std::string names = detail::listed(
        names_.size(), [this](std::size_t k) { return detail::in_quotes(detail::printable(names_[k])); });
    zip().fail({"has no array ", detail::in_quotes(name), "; it has ", names.empty() ? "none" : names, "."});
  }

  std::string path_;
  detail::input_file file_;
  std::vector<detail::zip_entry> entries_;
  std::vector<std::string> names_;
};

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
