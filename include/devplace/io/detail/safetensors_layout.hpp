// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/detail/json_text.hpp>
#include <devplace/io/detail/safetensors_format.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/output_file.hpp>

namespace devplace::detail {

/// A tensor in memory to be written; the entry's offset is not yet set.
struct safetensors_source {
  safetensors_entry entry;
  const void* data = nullptr;
};

/// The start of a safetensors file, up to its data, and the order of the tensors in the data.
struct safetensors_layout {
  std::string header;
  std::vector<std::size_t> order;
};

/// Throws file_error unless the names can be keys of one object in JSON.
inline void check_json_keys(std::vector<std::string_view> names, const char* fault, const std::string& subject) {
  const auto fail = [&](std::initializer_list<text_part> found) {
    throw file_error({subject, " cannot have ", joined(found)});
  };
  for (const std::string_view name : names)
    if (const std::size_t valid = valid_utf8(name); valid < name.size())
      fail({fault, " that is not UTF-8 at its byte ", valid, ". Encode it as UTF-8."});
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail({fault, " ", json_string(*twice), " twice. Give each a name of its own."});
}

/// Lays out the tensors; `subject` begins error messages. The header keeps the given order. The data are sorted stably
/// by element size, largest first, as in the reference implementation, so that all elements are aligned.
inline safetensors_layout lay_out_safetensors(const std::vector<safetensors_source>& tensors,
                                              const safetensors_metadata& metadata, const std::string& subject) {
  std::vector<std::string_view> names, keys;
  for (const safetensors_source& tensor : tensors) names.push_back(tensor.entry.name);
  for (const auto& [key, value] : metadata) keys.push_back(key);
  if (std::find(names.begin(), names.end(), safetensors_metadata_key) != names.end())
    throw file_error(
        subject +
        " cannot have a tensor \"__metadata__\", which is the name of the metadata. Give the tensor another name.");
  check_json_keys(names, "a tensor's name", subject);
  check_json_keys(keys, "a key of metadata", subject);
  for (const auto& [key, value] : metadata) check_json_keys({value}, "a text of metadata", subject);

  safetensors_layout result;
  std::vector<std::uint64_t> offsets(tensors.size());
  std::uint64_t end = 0;
  for (const std::size_t element : {8U, 4U, 2U, 1U})
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (safetensors_type_named(tensors[i].entry.dtype).bytes != element) continue;
      offsets[i] = std::exchange(end, end + tensors[i].entry.bytes);
      result.order.push_back(i);
    }

  std::string text = "{";
  const auto add_member = [&](std::string_view name, std::initializer_list<text_part> value) {
    text += joined({text.back() == '{' ? "" : ",", json_string(name), ":", joined(value)});
  };
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) add_member(key, {json_string(value)});
    text += '}';
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const safetensors_entry& entry = tensors[i].entry;
    std::string shape;
    for (const std::size_t extent : entry.extents) shape += joined({shape.empty() ? "" : ",", extent});
    add_member(entry.name, {"{\"dtype\":\"", entry.dtype, "\",\"shape\":[", shape, "],\"data_offsets\":[", offsets[i],
                            ",", offsets[i] + entry.bytes, "]}"});
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > longest_safetensors_header)
    throw file_error({subject, " would have a header of ", text.size(), byte_word(text.size()),
                      ", and headers have at most 100 MB. Write several files."});
  for (int i = 0; i < 8; ++i) result.header += static_cast<char>(text.size() >> (8 * i) & 0xff);
  result.header += text;
  return result;
}

/// Writes a file under a temporary name and renames it. Throws file_error with the operation's name, leaving an old
/// file unchanged.
inline void write_safetensors_file(const std::string& path, const char* operation,
                                   const std::vector<safetensors_source>& tensors,
                                   const safetensors_metadata& metadata) {
  const safetensors_layout layout = lay_out_safetensors(tensors, metadata, joined({operation, ": ", in_quotes(path)}));
  output_file file(path, operation);
  file.write(layout.header.data(), layout.header.size());
  for (const std::size_t i : layout.order) file.write(tensors[i].data, tensors[i].entry.bytes);
  file.commit();
}

}  // namespace devplace::detail
