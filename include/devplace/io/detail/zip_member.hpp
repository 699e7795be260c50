// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <devplace/config.hpp>
#include <devplace/io/detail/zip_directory.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

// Either header defines deflate_reader and zip_checksum.
#include DEVPLACE_DEFLATE_READER

namespace devplace::detail {

/// The stored bytes of a member.
class zip_bytes final : public byte_source {
 public:
  zip_bytes(const zip_file& file, const zip_entry& entry) : file_(file), left_(entry.compressed) {
    unsigned char header[30];
    file.read(entry.header, header, sizeof header);
    const auto name_bytes = static_cast<std::size_t>(zip_number<2>(header + 26));
    std::string name(name_bytes, '\0');
    file.read(entry.header + sizeof header, name.data(), name_bytes);
    if (zip_number<4>(header) != 0x04034b50 || name != entry.name)
      file.fail({"has no member ", in_quotes(printable(entry.name)),
                 " where its directory says. Write it again with np.savez."});
    offset_ = entry.header + sizeof header + name_bytes + zip_number<2>(header + 28);
  }

  std::size_t read(void* to, std::size_t bytes) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    file_.read(offset_, to, count);
    offset_ += count;
    left_ -= count;
    return count;
  }
  remaining_bytes remaining() const override { return {left_, true}; }

 private:
  const zip_file& file_;
  std::uint64_t offset_ = 0, left_;
};

inline namespace DEVPLACE_CONFIGURATION {

/// A member of a zip file, stored or deflated. Reading its last byte checks the checksum.
class zip_member final : public byte_source {
 public:
  /// `label`, which appears in messages, and the other arguments must outlive the reader. Throws file_error.
  zip_member(const zip_file& file, const zip_entry& entry, std::string_view label)
      : entry_(entry), label_(label), left_(entry.contents), bytes_(file, entry) {
    constexpr unsigned encrypted = 0x2041;  // bits of encryption, of strong encryption and of a masked directory
    if ((entry.flags & encrypted) != 0)
      fail({"is encrypted, and devplace does not decrypt. Save it without a password."});
    if (entry.method != stored && entry.method != deflated)
      fail({"is compressed by method ", entry.method,
            " of zip files; devplace reads stored (0) and deflated (8) members. Write it again with np.savez."});
    // Deflate expands a byte to at most 1032 bytes, which limits the memory for a member.
    const bool possible =
        entry.method == stored ? entry.contents == entry.compressed : entry.contents / 1032 <= entry.compressed;
    if (!possible)
      fail({"announces ", entry.contents, byte_word(entry.contents), " of contents, which ", entry.compressed,
            byte_word(entry.compressed),
            " in the file cannot hold. It is damaged or made to exhaust memory; write it again with np.savez."});
    if (entry.method == deflated) inflated_.emplace(bytes_, "npz_file", label_);
  }

  std::size_t read(void* to, std::size_t bytes) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    const std::size_t got = source().read(to, count);
    if (got < count) fail({"has less contents than its directory announces. Copy it again."});
    if (got != 0) checksum_ = zip_checksum(checksum_, to, got);
    left_ -= got;
    if (left_ == 0 && !checked_) check_end();
    return got;
  }
  remaining_bytes remaining() const override { return {left_, true}; }

 private:
  static constexpr unsigned stored = 0, deflated = 8;

  byte_source& source() {
    if (inflated_) return *inflated_;
    return bytes_;
  }

  void check_end() {
    checked_ = true;
    unsigned char more;
    if (source().read(&more, 1) != 0) fail({"has more contents than its directory announces. Copy it again."});
    if (checksum_ != entry_.checksum)
      fail({"is damaged: its checksum (CRC-32) is not that of its directory. Copy or download it again."});
  }

  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_file("npz_file", label_, found); }

  const zip_entry& entry_;
  std::string_view label_;
  std::uint64_t left_;
  std::uint32_t checksum_ = 0;
  bool checked_ = false;
  zip_bytes bytes_;
  std::optional<deflate_reader> inflated_;
};

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace devplace::detail
