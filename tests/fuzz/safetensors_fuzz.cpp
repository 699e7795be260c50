// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: any input is accepted as a safetensors file whose tensors lie inside it one after the other, or
// throws file_error. Writes and reads the header of each accepted input again if devplace can write it, and reads the
// metadata as a checkpoint's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <devplace/io/detail/safetensors_format.hpp>
#include <devplace/io/detail/safetensors_layout.hpp>
#include <devplace/train/detail/checkpoint_text.hpp>

#include "memory_source.hpp"
#include "mutate_valid_files.hpp"

namespace {

namespace detail = devplace::detail;

detail::safetensors_header read_header_of(std::span<const unsigned char> bytes) {
  memory_source source(bytes);
  detail::safetensors_header header = detail::read_safetensors_header(source, "input");
  std::size_t data = 0;
  for (const devplace::safetensors_entry& entry : header.tensors) {
    require(entry.bytes <= bytes.size() && entry.offset >= bytes.size() - source.remaining().count &&
            entry.offset <= bytes.size() - entry.bytes);
    data += entry.bytes;
  }
  require(data == source.remaining().count);
  return header;
}

bool can_be_written(const devplace::safetensors_entry& entry) {
  return std::any_of(detail::dtypes.begin(), detail::dtypes.end(),
                     [&](const detail::dtype& type) { return type.safetensors == entry.dtype; });
}

void round_trip(const detail::safetensors_header& header) {
  std::vector<detail::safetensors_source> sources;
  for (const devplace::safetensors_entry& entry : header.tensors) {
    if (!can_be_written(entry)) return;
    sources.push_back({entry, nullptr});
  }
  const std::string start = detail::lay_out_safetensors(sources, header.metadata, "output").header;
  std::vector<unsigned char> bytes(start.begin(), start.end());
  for (const auto& source : sources) bytes.resize(bytes.size() + source.entry.bytes);
  const detail::safetensors_header again = read_header_of(bytes);
  require(again.metadata == header.metadata && again.tensors.size() == header.tensors.size());
  for (std::size_t i = 0; i < again.tensors.size(); ++i) {
    const devplace::safetensors_entry &a = again.tensors[i], &b = header.tensors[i];
    require(a.name == b.name && a.dtype == b.dtype && a.extents == b.extents && a.bytes == b.bytes);
  }
}

/// Numbers in texts are accepted or rejected; accepted numbers are written as texts of equal numbers.
void read_numbers(const detail::safetensors_header& header) {
  namespace train = devplace::train::detail;
  const train::checkpoint_texts texts(header.metadata, "input");
  for (const auto& [key, value] : header.metadata) try {
      for (const double number : texts.numbers(key)) {
        double again = 0;
        require(train::read_number(train::exact_text(number), again) && (again == number || number != number));
      }
      const auto integer = texts.number<std::int64_t>(key);
      require(train::exact_text(integer) == value || value == "-0" || value.find('0') != std::string::npos);
      static_cast<void>(texts.number<bool>(key));
    } catch (const devplace::file_error&) {
    }
}

/// Valid files, in plain and in other spellings.
std::string seed_file(unsigned number) {
  const char* const headers[] = {
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[],"data_offsets":[8,9]}} )",
      R"({"__metadata__":{"format":"pt","":"\n"},"\u00fc\ud83d\ude00":{"dtype":"F4","shape":[3,6],"data_offsets":[0,9]}})",
      R"({ "x" : {"shape":[0,3], "data_offsets":[9,9],"dtype":"I64"},"":{"dtype":"U8","shape":[1,9],"data_offsets":[0,9]}})",
      R"({"__metadata__":{"a":"0.25 -1e-07 inf","b":"-12","c":"true"},"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})"};
  const std::string header = headers[number % 4];
  return static_cast<char>(header.size()) + std::string(7, '\0') + header + std::string(9, '\1');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  detail::safetensors_header header;
  try {
    header = read_header_of({data, size});
  } catch (const devplace::file_error&) {
    return 0;
  }
  round_trip(header);
  read_numbers(header);
  return 0;
}
