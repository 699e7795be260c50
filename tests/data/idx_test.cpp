// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <devplace/data/idx.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::temporary_folder;

namespace {

template <std::size_t N> std::string bytes(const char (&literal)[N]) { return {literal, N - 1}; }

const std::string uint8_2x3 = bytes("\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x01\x02\x03\x04\x05\xff");

/// The error message of reading `content` as uint8, extents<dyn, dyn>.
std::string failure(const std::string& content) {
  const temporary_folder folder;
  const std::string path = folder.write("x", content);
  try {
    static_cast<void>(dp::read_idx<std::uint8_t, dp::extents<dp::dyn, dp::dyn>>(path));
  } catch (const dp::file_error& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with("devplace: read_idx: '" + path + "' "));
    REQUIRE(text.ends_with("."));
    return text;
  }
  return "read without an error";
}

}  // namespace

TEST_CASE("read_idx reads every supported element type", "[data]") {
  const temporary_folder folder;
  SECTION("uint8") {
    const std::string path = folder.write("x", uint8_2x3);
    const auto x = dp::read_idx<std::uint8_t, dp::extents<dp::dyn, dp::dyn>>(path);
    REQUIRE(x.extent(0) == 2);
    REQUIRE(x.extent(1) == 3);
    CHECK(x(0, 0) == 1);
    CHECK(x(0, 2) == 3);
    CHECK(x(1, 0) == 4);
    CHECK(x(1, 2) == 255);
    CHECK(dp::read_idx<std::uint8_t, dp::extents<2, 3>>(path)(1, 1) == 5);
    CHECK(dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 3>>(path)(1, 1) == 5);
  }
  SECTION("int32, big-endian") {
    const std::string path =
        folder.write("x", bytes("\x00\x00\x0c\x01\x00\x00\x00\x03\x01\x02\x03\x04\xff\xff\xff\xfe\x80\x00\x00\x00"));
    const auto x = dp::read_idx<std::int32_t, dp::extents<3>>(path);
    CHECK(x(0) == 0x01020304);
    CHECK(x(1) == -2);
    CHECK(x(2) == -2147483647 - 1);
  }
  SECTION("float, big-endian") {
    const std::string path =
        folder.write("x", bytes("\x00\x00\x0d\x01\x00\x00\x00\x02\x3f\x80\x00\x00\xc0\x20\x00\x00"));
    const auto x = dp::read_idx<float, dp::extents<dp::dyn>>(path);
    CHECK(x(0) == 1.0f);
    CHECK(x(1) == -2.5f);
  }
  SECTION("double, big-endian") {
    const std::string path =
        folder.write("x", bytes("\x00\x00\x0e\x01\x00\x00\x00\x01\xbf\xf8\x00\x00\x00\x00\x00\x00"));
    CHECK(dp::read_idx<double, dp::extents<dp::dyn>>(path)(0) == -1.5);
  }
}

TEST_CASE("read_idx reads every rank and empty arrays", "[data]") {
  const temporary_folder folder;
  CHECK(dp::read_idx<std::uint8_t, dp::extents<>>(folder.write("x", bytes("\x00\x00\x08\x00\x07"))).data()[0] == 7);
  const auto empty = dp::read_idx<std::uint8_t, dp::extents<dp::dyn, dp::dyn, 2>>(
      folder.write("x", bytes("\x00\x00\x08\x03\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x02")));
  CHECK(empty.extent(0) == 3);
  CHECK(empty.size() == 0);
  const auto rank_4 = dp::read_idx<std::uint8_t, dp::dextents<4>>(
      folder.write("x", bytes("\x00\x00\x08\x04\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02"
                              "\x0a\x0b\x0c\x0d")));
  CHECK(rank_4(0, 1, 0, 0) == 0x0c);
  CHECK(rank_4(0, 1, 0, 1) == 0x0d);
}

TEST_CASE("read_idx's errors name what was found and what was expected", "[data]") {
  SECTION("headers") {
    CHECK_THAT(failure(""),
               ContainsSubstring("is empty; an IDX file starts with the bytes 0, 0, element type and rank"));
    CHECK_THAT(failure("PK\x03\x04"), ContainsSubstring("is not an IDX file: its byte 0 is 0x50"));
    CHECK_THAT(failure(bytes("\x00\x08\x08\x02")), ContainsSubstring("is not an IDX file: its byte 1 is 0x08"));
    CHECK_THAT(failure(bytes("\x00\x00\x08")), ContainsSubstring("ends inside its header, after 3 bytes"));
    CHECK_THAT(failure(uint8_2x3.substr(0, 11)),
               ContainsSubstring("the header of an array with 2 axes takes 12 bytes and the file has 11"));
    CHECK_THAT(failure(bytes("\x00\x00\x09\x01\x00\x00\x00\x01\x01")),
               ContainsSubstring("holds elements of type 0x09; devplace reads 0x08 (uint8), 0x0c (int32)"));
  }
  SECTION("too few or too many elements") {
    CHECK_THAT(failure(uint8_2x3.substr(0, uint8_2x3.size() - 1)),
               ContainsSubstring("is truncated: its header announces 6 bytes of elements and 5 bytes follow"));
    CHECK_THAT(failure(uint8_2x3.substr(0, 13)), ContainsSubstring("6 bytes of elements and 1 byte follows"));
    CHECK_THAT(failure(uint8_2x3 + "x"), ContainsSubstring("is longer than its header announces: 6 bytes"));
  }
  SECTION("extents larger than the file") {
    CHECK_THAT(failure(bytes("\x00\x00\x08\x02\xff\xff\xff\xff\x7f\xff\xff\xff")),
               ContainsSubstring("is truncated: its header announces 9223372030412324865 bytes"));
    CHECK_THAT(failure(bytes("\x00\x00\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x02")),
               ContainsSubstring("announces an array larger than any memory"));
    CHECK_THAT(failure(bytes("\x00\x00\x08\x04\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
               ContainsSubstring("announces an array larger than any memory"));
    std::string rank_255 = bytes("\x00\x00\x08\xff");
    rank_255.append(4 * 255, '\1');
    CHECK_THAT(failure(rank_255), ContainsSubstring("announces an array larger than any memory"));
  }
  SECTION("a type, rank or extent other than requested") {
    CHECK_THAT(failure(bytes("\x00\x00\x0c\x01\x00\x00\x00\x00")),
               ContainsSubstring("holds elements of type int32, but uint8 was asked for"));
    CHECK_THAT(failure(bytes("\x00\x00\x08\x01\x00\x00\x00\x01\x07")),
               ContainsSubstring("holds an array of shape 1, which does not fit extents<dyn, dyn>"));
    CHECK_THAT(failure(bytes("\x00\x00\x08\x00\x07")), ContainsSubstring("holds an array of shape scalar"));
    const temporary_folder folder;
    CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::extents<dp::dyn, 28>>(folder.write("x", uint8_2x3))),
                      ContainsSubstring("holds an array of shape 2x3, which does not fit extents<dyn, 28>"));
  }
}

TEST_CASE("read_idx checks type, shape and size before it reads or allocates", "[data]") {
  const temporary_folder folder;
  using vector = dp::extents<dp::dyn>;
  const auto sparse = [&](const std::string& content, std::uintmax_t bytes) {
    const std::string path = folder.write("sparse", content);
    std::filesystem::resize_file(path, bytes);
    return path;
  };
  constexpr std::uintmax_t tebibytes = std::uintmax_t{4} << 40;
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, vector>(sparse("", tebibytes))),
                    ContainsSubstring("holds elements of type 0x00"));
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::dextents<2>>(sparse(uint8_2x3, tebibytes))),
                    ContainsSubstring("is longer than its header announces"));
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::dextents<2>>(
                        sparse(bytes("\x00\x00\x08\x02\x00\x40\x00\x00\x00\x10\x00\x00"), tebibytes + 12))),
                    ContainsSubstring("announces 4398046511104 bytes of elements, more than the memory"));
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, vector>("/dev/zero")),
                    ContainsSubstring("'/dev/zero' is a pipe, a device or a socket"));
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::extents<3>>("/dev/zero")),
                    ContainsSubstring("holds elements of type 0x00"));
}

TEST_CASE("read_idx's errors give the reason why a path is unusable", "[data]") {
  const temporary_folder folder;
  const std::string path = folder.file("none");
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::extents<dp::dyn>>(path)),
                    Catch::Matchers::Equals("devplace: read_idx: '" + path + "' does not exist, nor does '" + path +
                                            ".gz'. Check the path."));
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::extents<dp::dyn>>(folder.path())),
                    ContainsSubstring("cannot be read: Is a directory"));
}

TEST_CASE("read_idx falls back to path.gz, and detects compression by content, not by name", "[data]") {
  const temporary_folder folder;
  folder.write("x.gz", uint8_2x3);
  CHECK(dp::read_idx<std::uint8_t, dp::extents<2, 3>>(folder.file("x"))(0, 0) == 1);
}

TEST_CASE("without the component zlib, the error for a compressed file names what to add", "[data]") {
  CHECK_THAT(failure(bytes("\x1f\x8b\x08\x00")),
             ContainsSubstring("is compressed with gzip and this program was built without zlib. Link devplace::zlib "
                               "(find_package(devplace COMPONENTS zlib)), or decompress the file with gunzip."));
}
