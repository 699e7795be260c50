// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: for any input, reading it as an IDX file, plain or compressed, returns an array inside these bytes
// or throws file_error; decompression stops one byte after what the header announces.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <devplace/data/detail/idx_format.hpp>

namespace {

namespace detail = devplace::detail;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
void decode(const detail::stored_array& array) {
  std::vector<T> elements(array.data.size() / sizeof(T));
  detail::decode_idx(array.data, elements.data());
}

void read_plain(std::span<const unsigned char> bytes) {
  const detail::stored_array array = detail::parse_idx(bytes, "input");
  const auto expected = detail::stored_bytes(array.extents, array.type->bytes);
  require(expected && *expected == array.data.size());
  require(array.data.data() + array.data.size() == bytes.data() + bytes.size());
  if (array.type == detail::stored_type_of<std::uint8_t>()) decode<std::uint8_t>(array);
  if (array.type == detail::stored_type_of<std::int32_t>()) decode<std::int32_t>(array);
  if (array.type == detail::stored_type_of<float>()) decode<float>(array);
  if (array.type == detail::stored_type_of<double>()) decode<double>(array);
}

void read_compressed(std::span<const unsigned char> bytes) {
  const std::vector<unsigned char> file = detail::gunzip_idx(bytes, "input");
  const detail::idx_header header = detail::parse_idx_header(file, "input");
  const std::size_t whole = header.header_bytes + header.data_bytes;
  require(file.size() <= whole + 1 || file.size() <= detail::longest_idx_header);
  read_plain(file);
}

/// A valid file: type, rank, extents, elements.
std::string plain_seed(unsigned number) {
  const std::vector<const detail::stored_type*> types = {
      detail::stored_type_of<std::uint8_t>(), detail::stored_type_of<std::int32_t>(), detail::stored_type_of<float>(),
      detail::stored_type_of<double>()};
  const detail::stored_type& type = *types[number % 4];
  const unsigned rank = number / 4 % 4;
  std::string file{'\0', '\0', static_cast<char>(type.idx), static_cast<char>(rank)};
  for (unsigned axis = 0; axis < rank; ++axis)
    file += std::string("\0\0\0\2", 4);
  file.append(type.bytes << rank, '\1');
  return file;
}

#if defined(DEVPLACE_WITH_ZLIB)
/// The same compressed with gzip, every other one as two members.
std::string seed_file(unsigned number) {
  const std::string plain = plain_seed(number / 3);
  if (number % 3 == 0) return plain;
  const std::size_t cut = number % 3 == 1 ? plain.size() : plain.size() / 2;
  std::string file;
  for (const std::string& part : {plain.substr(0, cut), plain.substr(cut)}) {
    if (part.empty()) continue;
    z_stream stream{};
    unsigned char out[512];
    require(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    stream.next_out = out;
    stream.avail_out = sizeof out;
    require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    file.append(reinterpret_cast<char*>(out), sizeof out - stream.avail_out);
    deflateEnd(&stream);
  }
  return file;
}
#else
std::string seed_file(unsigned number) {
  return plain_seed(number);
}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const unsigned char> bytes(data, size);
  try {
    if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
      read_compressed(bytes);
    else
      read_plain(bytes);
  } catch (const devplace::file_error&) {
    return 0;
  }
  return 0;
}

/// One input in eight starts from a valid file: a fuzzer alone does not find a gzip stream with a valid checksum.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned seed) {
  if (seed % 8 == 0) {
    const std::string file = seed_file(seed / 8);
    if (file.size() <= capacity) {
      std::memcpy(data, file.data(), file.size());
      size = file.size();
    }
  }
  return LLVMFuzzerMutate(data, size, capacity);
}
