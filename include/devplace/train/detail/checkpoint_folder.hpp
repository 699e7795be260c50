// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/output_file.hpp>
#include <devplace/train/detail/checkpoint_text.hpp>

namespace devplace::train::detail {

/// The files checkpoint-<number>.safetensors of a folder. A file has this name only when it is complete.
class checkpoint_folder {
 public:
  /// Makes the folder and its parents if they do not exist, and syncs them to the disk.
  explicit checkpoint_folder(std::string path) : path_(std::move(path)) {
    std::error_code failure, none;
    std::vector<std::filesystem::path> changed;  // folders with a new entry
    for (auto at = std::filesystem::absolute(path_, none);
         at.has_relative_path() && !std::filesystem::exists(at, none);)
      changed.push_back(at = at.parent_path());
    std::filesystem::create_directories(path_, failure);
    if (!std::filesystem::is_directory(path_, none))
      fail("is no folder and cannot be made one", failure, "Give the path of a folder that can be written");
    for (const std::filesystem::path& folder : changed)
      if (!devplace::detail::folder_synced_to_disk(folder.c_str()))
        fail("was made and cannot be synced to the disk", {errno, std::generic_category()}, "Check the disk");
  }

  /// Returns the files' paths, the newest first.
  std::vector<std::string> paths() const {
    std::vector<std::string> result;
    for (const std::uint64_t number : numbers()) result.push_back(path_of(number));
    return result;
  }
  /// Returns the path of the next file: its number follows the newest, even if the program resumed from an older one.
  std::string next_path() const {
    const std::vector<std::uint64_t> all = numbers();
    return path_of(all.empty() ? 1 : all.front() + 1);
  }
  /// Removes all but the `newest` newest files.
  void keep(std::size_t newest) const {
    const std::vector<std::uint64_t> all = numbers();
    for (std::size_t i = newest; i < all.size(); ++i) {
      std::error_code failure;
      std::filesystem::remove(path_of(all[i]), failure);
      if (failure)
        fail("has an old checkpoint that cannot be removed", failure, "The new one is complete; check the folder");
    }
  }

 private:
  static constexpr std::string_view begin = "checkpoint-", end = ".safetensors";
  static constexpr std::size_t digits = 8;

  std::string path_of(std::uint64_t number) const {
    std::string text = exact_text(number);
    if (text.size() < digits) text.insert(0, digits - text.size(), '0');
    return (std::filesystem::path(path_) / std::string(begin).append(text).append(end)).string();
  }

  /// Returns the files' numbers, the largest first.
  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> result;
    std::error_code failure;
    for (std::filesystem::directory_iterator at(path_, failure), last; !failure && at != last; at.increment(failure)) {
      const std::string name = at->path().filename().string();
      std::string_view text = name;
      if (!text.starts_with(begin) || !text.ends_with(end)) continue;
      text.remove_prefix(begin.size());
      text.remove_suffix(end.size());
      std::uint64_t number = 0;
      if (read_number(text, number) && path_of(number) == at->path().string()) result.push_back(number);
    }
    if (failure) fail("cannot be read", failure, "Give the path of a readable folder");
    std::sort(result.rbegin(), result.rend());
    return result;
  }

  [[noreturn]] void fail(const char* problem, const std::error_code& why, const char* fix) const {
    throw file_error(
        {"checkpoints: ", devplace::detail::in_quotes(path_), " ", problem, ": ", why.message(), ". ", fix, "."});
  }

  std::string path_;
};

}  // namespace devplace::train::detail
