// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: any input is read to its end as a .npy file, or throws file_error. Writes and reads the header of
// each accepted input again.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <devplace/io/detail/npy_format.hpp>
#include <devplace/io/read_array.hpp>

#include "memory_source.hpp"
#include "mutate_valid_files.hpp"

namespace {

/// Checks element by element that `elements` are the file's in row-major order.
void require_order(const devplace::detail::stored_array& array, std::span<const unsigned char> elements,
                   std::span<const unsigned char> in_file) {
  const std::size_t width = array.type->bytes;
  for (std::size_t i = 0; i < array.bytes / width; ++i) {
    std::size_t in_column_major = 0, stride = array.bytes / width, left = i;
    for (std::size_t axis = array.extents.size(); axis-- > 0; left /= array.extents[axis]) {
      stride /= array.extents[axis];
      in_column_major += left % array.extents[axis] * stride;
    }
    const std::size_t from = (array.read_reordered != nullptr ? in_column_major : i) * width;
    for (std::size_t k = 0; k < width; ++k)
      require(elements[i * width + k] == in_file[from + (array.swapped ? width - 1 - k : k)]);
  }
}

/// The array in these bytes; throws file_error.
devplace::detail::stored_array read_whole(std::span<const unsigned char> bytes) {
  memory_source source(bytes);
  const devplace::detail::stored_array array = devplace::detail::read_npy_header(source, {"read_npy", "input"});
  devplace::detail::check_elements(array, source.remaining(), {"read_npy", "input"});
  require(array.bytes <= bytes.size());
  std::vector<unsigned char> elements(array.bytes);
  devplace::detail::read_elements(source, array, elements.data(), {"read_npy", "input"});
  require(source.remaining().count == 0);
  require_order(array, elements, bytes.last(array.bytes));
  return array;
}

void round_trip(const devplace::detail::stored_array& array) {
  const std::string header = devplace::detail::npy_header(*array.type, array.extents);
  std::vector<unsigned char> bytes(header.begin(), header.end());
  bytes.resize(bytes.size() + array.bytes);
  const devplace::detail::stored_array again = read_whole(bytes);
  require(again.type == array.type && again.extents == array.extents && again.bytes == array.bytes);
}

/// A header of version 2.0 or 3.0 that contains this dict verbatim.
std::string spelled(char version, const std::string& dict) {
  const char length[] = {static_cast<char>(dict.size()), 0, 0, 0};
  return std::string("\x93NUMPY") + version + std::string(1, '\0') + std::string(length, 4) + dict;
}

/// Valid files of several types and ranks, and headers in other spellings than np.save's.
std::string seed_file(unsigned number) {
  const auto file = [](const devplace::detail::dtype* type, const std::vector<std::size_t>& extents,
                       std::size_t bytes) {
    return devplace::detail::npy_header(*type, extents) + std::string(bytes, '\1');
  };
  using devplace::detail::dtype_of;
  switch (number % 8) {
    case 0:
      return file(dtype_of<float>, {2, 3}, 24);
    case 1:
      return file(dtype_of<std::uint8_t>, {}, 1);
    case 2:
      return file(dtype_of<std::int64_t>, {0, 3}, 0);
    case 3:
      return file(dtype_of<double>, {1, 2, 1}, 16);
    case 4:
      return file(dtype_of<std::int32_t>, {2}, 8);
    case 5:
      return spelled('\2', "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<i4\"}\n") + std::string(8, '\2');
    case 6:
      return spelled('\3', "{'descr':'>i4' , 'fortran_order':True,'shape':(2 , 3 , 2)}  \n") +
             std::string("\1\2\3\4\5\6\7\b\t\n\v\f\r\16\17\20\21\22\23\24\25\26\27\30", 24) + std::string(24, '\3');
    default:
      return spelled('\3', "{'descr':'|u1' , 'fortran_order':True,'shape':(1 , 2 , )}  \n") + std::string(2, '\3');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  devplace::detail::stored_array array;
  try {
    array = read_whole({data, size});
  } catch (const devplace::file_error&) {
    return 0;
  }
  const auto expected = devplace::detail::stored_bytes(array.extents, array.type->bytes);
  require(expected && *expected == array.bytes);
  // write_npy rejects headers with more extents than fit into version 1.0.
  if (array.extents.size() < 1000) round_trip(array);
  return 0;
}
