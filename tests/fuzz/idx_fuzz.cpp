// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: reading any input as a plain or compressed IDX file gives as many elements as the header announces
// and reaches the end, or throws file_error; allocations are bounded by the input's
// decompressed size.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/data/idx.hpp>
#include <devplace/io/read_array.hpp>

#include "memory_source.hpp"
#include "mutate_valid_files.hpp"

namespace {

namespace detail = devplace::detail;

/// A valid file: type, rank, extents, elements.
std::string plain_seed(unsigned number) {
  const std::vector<const detail::dtype*> types = {detail::dtype_of<std::uint8_t>, detail::dtype_of<std::int32_t>,
                                                   detail::dtype_of<float>, detail::dtype_of<double>};
  const detail::dtype& type = *types[number % 4];
  const unsigned rank = number / 4 % 4;
  std::string file{'\0', '\0', static_cast<char>(type.idx), static_cast<char>(rank)};
  for (unsigned axis = 0; axis < rank; ++axis) file += std::string("\0\0\0\2", 4);
  file.append(type.bytes << rank, '\1');
  return file;
}

#if defined(DEVPLACE_WITH_ZLIB)
/// A plain seed compressed with gzip, every other seed as two members.
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
std::string seed_file(unsigned number) { return plain_seed(number); }
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  memory_source file({data, size});
  try {
    detail::idx_contents contents(file, "input");
    const detail::stored_array& array = contents.array();
    const auto expected = detail::stored_bytes(array.extents, array.type->bytes);
    require(expected && *expected == array.bytes);
    detail::check_elements(array, contents.source().remaining(), {"read_idx", "input"});
    require(array.bytes <= (size + (1 << 17)) * 1032);  // deflate's limit
    std::vector<unsigned char> elements(array.bytes);
    detail::read_elements(contents.source(), array, elements.data(), {"read_idx", "input"});
    require(file.remaining().count == 0 && contents.source().read(elements.data(), elements.size()) == 0);
  } catch (const devplace::file_error&) {
    return 0;
  }
  return 0;
}
