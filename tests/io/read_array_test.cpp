// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <filesystem>
#include <string>

#include <devplace/io/npy.hpp>
#include <devplace/io/read_array.hpp>

#include "io/failure_of_file.hpp"
#include "io/npy_bytes.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using npy_bytes::bare_file;
using npy_bytes::failure_of_file;
using npy_bytes::float_2x3;
using support::temporary_folder;

TEST_CASE("an array too large for its file or for memory is rejected before allocation", "[io]") {
  const temporary_folder folder;
  /// A sparse file that begins with `content`.
  const auto sparse = [&](const std::string& content, std::uintmax_t bytes) {
    const std::string path = folder.write("sparse.npy", content);
    std::filesystem::resize_file(path, bytes);
    return path;
  };
  constexpr std::uintmax_t tebibytes = std::uintmax_t{4} << 40;
  CHECK_THAT(failure_of_file(sparse("", tebibytes)), ContainsSubstring("is not a .npy file"));
  CHECK_THAT(failure_of_file(sparse(float_2x3, tebibytes)), ContainsSubstring("is longer than its header announces"));
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}";
  const std::string file = bare_file(dict, "");
  CHECK_THAT(failure_of_file(sparse(file, file.size() + tebibytes)),
             ContainsSubstring("announces 4398046511104 bytes of elements, more than the memory of this machine"));
}

TEST_CASE("an array's size is compared with the rest of its file", "[io]") {
  dp::detail::stored_array array;
  array.bytes = 12;
  const auto failure = [&](dp::detail::byte_source::remaining_bytes rest) {
    try {
      dp::detail::check_elements(array, rest, {"read", "x"});
    } catch (const dp::file_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(failure({12, true}) == "accepted");
  CHECK(failure({40, false}) == "accepted");  // compressed: an upper bound of 40
  CHECK_THAT(failure({11, true}), ContainsSubstring("read: 'x' is truncated: its header announces 12 bytes of elements "
                                                    "and 11 bytes follow"));
  CHECK_THAT(failure({1, false}), ContainsSubstring("and at most 1 byte follows"));
  CHECK_THAT(failure({13, true}), ContainsSubstring("it has 1 byte after its last element"));
}
