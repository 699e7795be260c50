// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The safetensors format in memory: https://github.com/huggingface/safetensors, "Format". 8 bytes with the header's
// length (little-endian), the header, and the data. The header is JSON; it starts with '{', and spaces may pad it:
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
// The offsets count from the end of the header; the tensors cover the data without holes and overlaps.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/io/detail/json_text.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

/// A tensor as described by a safetensors file's header.
struct safetensors_entry {
  std::string name;
  std::string_view dtype;            ///< as in the file: `F32`, `BF16`
  std::vector<std::size_t> extents;  ///< empty for a scalar
  std::uint64_t offset = 0;          ///< of its first element in the file
  std::size_t bytes = 0;             ///< of its elements
};

/// Text about a safetensors file as a whole: keys and values. PyTorch's files have `format` with the value `pt`.
using safetensors_metadata = std::vector<std::pair<std::string, std::string>>;

}  // namespace devplace

namespace devplace::detail {

static_assert(std::endian::native == std::endian::little,
              "devplace: safetensors files are read and written on little-endian machines only; this machine is "
              "big-endian, so do not include devplace/io/safetensors.hpp.");

/// An element type of safetensors files: `elements` elements of the type take `bytes` bytes.
struct safetensors_type {
  std::string_view name;
  std::size_t elements, bytes;
};

/// Returns the type of this name; for an unknown name, a type with an empty name.
inline safetensors_type safetensors_type_named(std::string_view name) {
  constexpr safetensors_type others[] = {
      {"BOOL", 1, 1},        {"I8", 1, 1},      {"I16", 1, 2},     {"U16", 1, 2},     {"U32", 1, 4},
      {"U64", 1, 8},         {"C64", 1, 8},     {"F8_E4M3", 1, 1}, {"F8_E5M2", 1, 1}, {"F8_E4M3FNUZ", 1, 1},
      {"F8_E5M2FNUZ", 1, 1}, {"F8_E8M0", 1, 1}, {"F6_E2M3", 4, 3}, {"F6_E3M2", 4, 3}, {"F4", 2, 1}};
  for (const dtype& type : dtypes)
    if (type.safetensors == name) return {type.safetensors, 1, type.bytes};
  for (const safetensors_type& type : others)
    if (type.name == name) return type;
  return {};
}

/// The longest header that the reference implementation accepts.
inline constexpr std::size_t longest_safetensors_header = 100'000'000;
inline constexpr std::string_view safetensors_metadata_key = "__metadata__";

struct safetensors_header {
  std::vector<safetensors_entry> tensors;  ///< in the header's order
  safetensors_metadata metadata;
};

/// Parses a header that is followed by `data_bytes` bytes.
class safetensors_parser {
 public:
  safetensors_parser(std::string_view text, std::string_view path)
      : json_(text, "safetensors_file: " + in_quotes(path)), path_(path), data_start_(8 + text.size()) {}

  safetensors_header parse(std::uint64_t data_bytes) && {
    json_.expect('{');
    for_each_member([&](std::string&& name) {
      if (name == safetensors_metadata_key)
        parse_metadata();
      else
        parse_tensor(std::move(name));
    });
    json_.expect_end();
    refuse_repeated(result_.tensors, [](const safetensors_entry& entry) -> const std::string& { return entry.name; });
    refuse_repeated(result_.metadata, [](const auto& entry) -> const std::string& { return entry.first; });
    check_cover(data_bytes);
    return std::move(result_);
  }

 private:
  /// Reads the rest of an object after its opening brace. Calls `f(name)` at the value of each member.
  template <class F> void for_each_member(F&& f) {
    if (json_.accept('}')) return;
    do {
      std::string name = json_.string();
      json_.expect(':');
      f(std::move(name));
    } while (json_.accept(','));
    json_.expect('}');
  }

  template <class F> void for_each_integer(F&& f) {
    json_.expect('[');
    if (json_.accept(']')) return;
    do f(json_.integer());
    while (json_.accept(','));
    json_.expect(']');
  }

  void parse_metadata() {
    if (std::exchange(metadata_found_, true)) fail({"has \"__metadata__\" twice in its header. Write it again."});
    json_.expect('{');
    for_each_member([&](std::string&& key) { result_.metadata.emplace_back(std::move(key), json_.string()); });
  }

  void parse_tensor(std::string&& name) {
    safetensors_entry entry;
    entry.name = std::move(name);
    safetensors_type type{};
    std::vector<std::uint64_t> offsets;
    bool dtype = false, shape = false, data_offsets = false;
    json_.expect('{');
    for_each_member([&](const std::string& key) {
      bool* const found = key == "dtype"          ? &dtype
                          : key == "shape"        ? &shape
                          : key == "data_offsets" ? &data_offsets
                                                  : nullptr;
      if (found == nullptr || std::exchange(*found, true))
        fail_tensor(entry, {"has the key ", json_string(key),
                            " in the header, which is unknown or given twice. Write it with dtype, shape and "
                            "data_offsets alone."});
      if (found == &dtype)
        type = type_named(entry, json_.string());
      else if (found == &shape)
        for_each_integer([&](std::uint64_t extent) { entry.extents.push_back(extent); });
      else
        for_each_integer([&](std::uint64_t offset) { offsets.push_back(offset); });
    });
    if (!dtype || !shape || !data_offsets)
      fail_tensor(entry, {"lacks one of the keys dtype, shape and data_offsets in the header. Write it again."});
    entry.dtype = type.name;
    set_range(entry, type, offsets);
    result_.tensors.push_back(std::move(entry));
  }

  safetensors_type type_named(const safetensors_entry& entry, const std::string& name) const {
    if (const safetensors_type type = safetensors_type_named(name); !type.name.empty()) return type;
    fail_tensor(entry, {"has elements of type ", json_string(name),
                        ", whose size is not known. Write it as F32, F64, F16, BF16, I32, I64 or U8."});
  }

  void set_range(safetensors_entry& entry, const safetensors_type& type, const std::vector<std::uint64_t>& offsets) {
    const auto bytes = stored_bytes({entry.extents.data(), entry.extents.size()}, type.bytes);
    if (!bytes) fail_tensor(entry, {"is larger than any memory. The header is damaged; copy the file again."});
    if (*bytes % type.elements != 0)
      fail_tensor(entry, {"has elements that do not fill its last byte. Write the file again."});
    entry.bytes = *bytes / type.elements;
    if (offsets.size() != 2) fail_tensor(entry, {"has ", offsets.size(), " offsets instead of two, begin and end."});
    if (offsets[0] > offsets[1] || offsets[1] - offsets[0] != entry.bytes)
      fail_tensor(entry, {"of shape ", sizes_text(entry.extents), " and type ", type.name, " has ", entry.bytes,
                          byte_word(entry.bytes), ", but its offsets are ", offsets[0], " and ", offsets[1],
                          ". Write or copy the file again."});
    entry.offset = offsets[0];  // check_cover() adds the start of the data
  }

  template <class Entry, class Name> void refuse_repeated(const std::vector<Entry>& entries, Name&& name) const {
    std::vector<std::string_view> names;
    names.reserve(entries.size());
    for (const Entry& entry : entries) names.push_back(name(entry));
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      fail({"has ", json_string(*twice), " twice in its header. Write it with a name of its own for each entry."});
  }

  /// Throws unless the tensors cover the data from the first byte to the last without holes and overlaps.
  void check_cover(std::uint64_t data_bytes) {
    std::vector<safetensors_entry*> in_order;
    in_order.reserve(result_.tensors.size());
    for (safetensors_entry& entry : result_.tensors) in_order.push_back(&entry);
    std::sort(in_order.begin(), in_order.end(), [](const safetensors_entry* a, const safetensors_entry* b) {
      return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
    });
    std::uint64_t covered = 0;
    for (safetensors_entry* const entry : in_order) {
      if (entry->offset != covered)
        fail_tensor(*entry, {"starts at byte ", entry->offset, " of the data and the tensors before it end at byte ",
                             covered, ". Tensors follow each other without holes and overlaps; write the file again."});
      covered += entry->bytes;
      entry->offset += data_start_;
    }
    if (covered > data_bytes)
      fail({"is truncated: its header announces ", covered, byte_word(covered), " of elements and ", data_bytes,
            byte_word(data_bytes), data_bytes == 1 ? " follows" : " follow", ". Copy or download it again."});
    if (covered < data_bytes)
      fail({"has ", data_bytes - covered, byte_word(data_bytes - covered),
            " after its last tensor. It is damaged; copy or download it again."});
  }

  [[noreturn]] void fail_tensor(const safetensors_entry& entry, std::initializer_list<text_part> found) const {
    fail({"is not a valid file: its tensor ", json_string(entry.name), " ", joined(found)});
  }
  [[noreturn]] void fail(std::initializer_list<text_part> found) const { fail_file("safetensors_file", path_, found); }

  json_text json_;
  std::string_view path_;
  std::uint64_t data_start_;
  bool metadata_found_ = false;
  safetensors_header result_;
};

/// Reads and checks the header, up to the data. Allocates memory only for a header that the file can contain. Throws
/// file_error with `path`, what was found and what was expected.
inline safetensors_header read_safetensors_header(byte_source& source, std::string_view path) {
  const auto fail = [&](std::initializer_list<text_part> found) { fail_file("safetensors_file", path, found); };
  std::uint64_t length = 0;
  const std::size_t got = source.read(&length, sizeof length);
  if (got < sizeof length)
    fail(
        {"has ", got, byte_word(got), "; a safetensors file starts with 8 bytes, its header's length. Copy it again."});
  if (length > longest_safetensors_header)
    fail({"is not a safetensors file: its first 8 bytes announce a header of ", length, byte_word(length),
          ", and headers have at most 100 MB. A file of torch.save is converted in Python: "
          "safetensors.torch.save_file(torch.load(old), path)."});
  if (const std::uint64_t most = source.remaining().count; most < length)
    fail({"ends inside its header, which should have ", length, byte_word(length), " and has ", most, byte_word(most),
          ". Copy it again, or give a safetensors file."});
  std::string text(length, '\0');
  if (source.read(text.data(), length) < length) fail({"ends inside its header. Copy it again."});
  if (!text.starts_with('{')) fail({"is not a safetensors file: its header does not start with '{'."});
  if (const std::size_t valid = valid_utf8(text); valid < text.size())
    fail({"has a header that is not UTF-8 at its byte ", valid, ". Write or copy the file again."});
  return safetensors_parser(text, path).parse(source.remaining().count);
}

}  // namespace devplace::detail
