// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>

// The zip format (PKWARE's APPNOTE.TXT 6.3.10) as np.savez and zipfile write it: members, each behind a local header,
// then the central directory, which lists the members, then the end record. Numbers are little-endian. A
// field whose bits are all ones means that the number needs more bits: an additional field or record, of the extension
// zip64, holds the number in 64 bits.

// Either header defines deflate_reader and zip_checksum.
#include DEVPLACE_INFLATE_READERS

namespace devplace::detail {

struct zip_entry {
  std::string name;
  std::uint64_t compressed = 0;  ///< bytes in the file
  std::uint64_t contents = 0;    ///< bytes after decompression
  std::uint64_t header = 0;      ///< offset of the local header
  std::uint32_t checksum = 0;
  unsigned method = 0, flags = 0;
};

template <int Bytes> std::uint64_t zip_number(const unsigned char* at) {
  std::uint64_t number = 0;
  for (int i = Bytes; i-- != 0;) number = number << 8 | at[i];
  return number;
}

/// A file, or bytes in memory, with random access, and its directory.
struct zip_file {
  std::size_t (*read_some)(const void* object, std::uint64_t offset, void* to, std::size_t bytes);
  const void* object;
  std::uint64_t size;
  std::string_view path;  ///< for messages

  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_file("npz_file", path, found); }
  /// Reads `count` bytes at an offset. Throws file_error if the file ends before all bytes are read.
  void read(std::uint64_t offset, void* to, std::size_t count) const {
    if (offset > size || count > size - offset || read_some(object, offset, to, count) < count)
      fail({"is truncated: it ends inside its directory or one of its members. Copy or download it again."});
  }

  /// Reads all members in their order. Throws file_error for a damaged or incomplete directory.
  std::vector<zip_entry> entries() const {
    const place_of_directory place = find();
    if (place.offset > place.before || place.bytes > place.before - place.offset)
      fail({"has a directory that is not where its end record says. ", advice});
    if (place.entries > place.bytes / header_bytes)
      fail({"announces ", place.entries, " members and has a directory for at most ", place.bytes / header_bytes, ". ",
            advice});
    std::vector<unsigned char> directory(static_cast<std::size_t>(place.bytes));
    read(place.offset, directory.data(), directory.size());
    std::vector<zip_entry> result;
    result.reserve(static_cast<std::size_t>(place.entries));
    std::size_t at = 0;
    for (std::uint64_t k = 0; k != place.entries; ++k) {
      const zip_entry& one = result.emplace_back(entry_at(directory, at));
      if (one.header > place.offset || one.compressed > place.offset - one.header)
        fail({"has a member, ", in_quotes(printable(one.name)), ", that reaches into its directory. ", advice});
    }
    if (at != directory.size()) fail({"has bytes behind the last entry of its directory. ", advice});
    refuse_repeated(result);
    return result;
  }

 private:
  struct place_of_directory {
    std::uint64_t entries, bytes, offset, before;  ///< `before`: an upper bound for the directory's end
  };
  static constexpr std::size_t header_bytes = 46, end_bytes = 22, locator_bytes = 20, end64_bytes = 56;
  static constexpr std::size_t longest_comment = 0xffff;
  static constexpr const char* advice = "Write it again with np.savez.";

  place_of_directory find() const {
    const std::size_t tail = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_bytes + longest_comment));
    std::vector<unsigned char> bytes(tail);
    read(size - tail, bytes.data(), tail);
    for (std::size_t at = tail < end_bytes ? 0 : tail - end_bytes + 1; at-- != 0;) {
      const unsigned char* const end = bytes.data() + at;
      if (zip_number<4>(end) != 0x06054b50 || zip_number<2>(end + 20) != tail - at - end_bytes) continue;
      return described(end, size - tail + at);
    }
    fail({"is not a .npz file: it has no end record of a zip file. If it was one, it is truncated; copy it again."});
  }

  place_of_directory described(const unsigned char* end, std::uint64_t offset) const {
    place_of_directory place{zip_number<2>(end + 10), zip_number<4>(end + 12), zip_number<4>(end + 16), offset};
    const bool large = place.entries == 0xffff || place.bytes == 0xffffffff || place.offset == 0xffffffff;
    unsigned char locator[locator_bytes];
    if (large && offset >= locator_bytes) {
      read(offset - locator_bytes, locator, locator_bytes);
      if (zip_number<4>(locator) == 0x07064b50) return described64(zip_number<8>(locator + 8), offset - locator_bytes);
    }
    if (zip_number<2>(end + 4) != 0 || zip_number<2>(end + 6) != 0) refuse_parts();
    return place;
  }

  place_of_directory described64(std::uint64_t offset, std::uint64_t before) const {
    unsigned char end[end64_bytes];
    read(offset, end, end64_bytes);
    if (zip_number<4>(end) != 0x06064b50 || offset > before || before - offset < end64_bytes)
      fail({"has no 64-bit end record where its locator says. ", advice});
    if (zip_number<4>(end + 16) != 0 || zip_number<4>(end + 20) != 0) refuse_parts();
    return {zip_number<8>(end + 32), zip_number<8>(end + 40), zip_number<8>(end + 48), offset};
  }

  /// Reads the entry at `at` and moves `at` behind it.
  zip_entry entry_at(const std::vector<unsigned char>& directory, std::size_t& at) const {
    const auto need = [&](std::size_t bytes) {
      if (directory.size() - at < bytes) fail({"has a directory that ends inside an entry. ", advice});
    };
    need(header_bytes);
    const unsigned char* const header = directory.data() + at;
    if (zip_number<4>(header) != 0x02014b50) fail({"has a damaged directory. ", advice});
    const auto name = static_cast<std::size_t>(zip_number<2>(header + 28));
    const auto extra = static_cast<std::size_t>(zip_number<2>(header + 30));
    const auto comment = static_cast<std::size_t>(zip_number<2>(header + 32));
    need(header_bytes + name + extra + comment);
    zip_entry result;
    result.name.assign(reinterpret_cast<const char*>(header) + header_bytes, name);
    result.flags = static_cast<unsigned>(zip_number<2>(header + 8));
    result.method = static_cast<unsigned>(zip_number<2>(header + 10));
    result.checksum = static_cast<std::uint32_t>(zip_number<4>(header + 16));
    result.compressed = zip_number<4>(header + 20);
    result.contents = zip_number<4>(header + 24);
    result.header = zip_number<4>(header + 42);
    widen(result, header + header_bytes + name, extra);
    at += header_bytes + name + extra + comment;
    return result;
  }

  /// Reads 64-bit numbers from an extra field, in place of the 32-bit numbers whose bits are all set. The field has
  /// only these numbers, in the order below.
  void widen(zip_entry& entry, const unsigned char* extra, std::size_t bytes) const {
    std::uint64_t* const numbers[] = {&entry.contents, &entry.compressed, &entry.header};
    const unsigned char* wide = nullptr;
    std::size_t left = 0;
    while (bytes >= 4 && wide == nullptr) {
      const auto length = static_cast<std::size_t>(zip_number<2>(extra + 2));
      if (length > bytes - 4) fail({"has an entry, ", in_quotes(printable(entry.name)), ", that is damaged. ", advice});
      if (zip_number<2>(extra) == 1) wide = extra + 4, left = length;
      extra += 4 + length;
      bytes -= 4 + length;
    }
    for (std::uint64_t* const number : numbers) {
      if (*number != 0xffffffff) continue;
      if (left < 8)
        fail({"has an entry, ", in_quotes(printable(entry.name)), ", without its size of 64 bits. ", advice});
      *number = zip_number<8>(wide);
      wide += 8;
      left -= 8;
    }
  }

  void refuse_repeated(const std::vector<zip_entry>& all) const {
    std::vector<std::string_view> names;
    for (const zip_entry& entry : all) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
      fail({"has two members named ", in_quotes(printable(*twice)), ". ", advice});
  }

  [[noreturn]] void refuse_parts() const {
    fail({"is a part of a zip file that is divided into several files. Join them, as by zip -s 0."});
  }
};

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
    if (entry.method == deflated) inflated_.emplace(bytes_, file_origin{"npz_file", label_});
  }

  std::size_t read(void* to, std::size_t bytes) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    const std::size_t got = source().read(to, count);
    if (got < count) fail({"has less contents than its directory announces. Copy it again."});
    if (got != 0) checksum_ = zip_checksum(checksum_, to, got);
    left_ -= got;
    if (left_ != 0 || std::exchange(checked_, true)) return got;
    unsigned char more;
    if (source().read(&more, 1) != 0) fail({"has more contents than its directory announces. Copy it again."});
    if (checksum_ != entry_.checksum)
      fail({"is damaged: its checksum (CRC-32) is not that of its directory. Copy or download it again."});
    return got;
  }
  remaining_bytes remaining() const override { return {left_, true}; }

 private:
  static constexpr unsigned stored = 0, deflated = 8;

  byte_source& source() {
    if (inflated_) return *inflated_;
    return bytes_;
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
