// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <devplace/data/labelled_images.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::temporary_folder;

namespace {

template <std::size_t N> std::string bytes(const char (&literal)[N]) { return {literal, N - 1}; }

// All compressed by Python's gzip module. The IDX file 1 2 3 / 4 5 6:
const std::string uint8_2x3 = bytes(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x62\x60\x60\x00\x61\x66\x46\x26\x66\x16\x56\x36\x00\x48"
    "\x94\x3e\xe5\x12\x00\x00\x00");
// This file as two gzip members, of 10 and 8 bytes.
const std::string two_members = bytes(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x62\x60\x60\x00\x62\x00\x84\xb6\x74\xa4\x0a\x00\x00\x00"
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\x66\x64\x62\x66\x61\x65\x03\x00\x73\x13\xfe\x64\x08\x00\x00\x00");
// A header that announces 4 bytes of data, cut off after 6 of the header's 8 bytes.
const std::string short_header =
    bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x64\x60\x00\x00\x7b\xe3\xb4\x75\x06\x00\x00\x00");

/// A header that announces 4 bytes, followed by 100,000 zeros.
std::string bomb() {
  std::string file = bytes(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\xb1\x0d\x00\x30\x08\xc0\xb0\x20\x75\xe0\xff"
      "\x8b\x79\xa3\x83\xed\xda\xa9\x5e");
  file.append(96, '\0');
  return file + bytes("\xc0\xb7\x0e\x20\xfb\x37\x52\xa8\x86\x01\x00");
}

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

TEST_CASE("read_idx reads gzip files with one or several members", "[data]") {
  const temporary_folder folder;
  for (const std::string& content : {uint8_2x3, two_members}) {
    const auto x = dp::read_idx<std::uint8_t, dp::extents<2, 3>>(folder.write("x", content));
    for (std::size_t i = 0; i < 6; ++i) CHECK(x.data()[i] == i + 1);
  }
  folder.write("y.gz", uint8_2x3);
  CHECK(dp::read_idx<std::uint8_t, dp::extents<2, 3>>(folder.file("y"))(1, 2) == 6);
}

TEST_CASE("read_idx rejects damaged gzip files", "[data]") {
  SECTION("cut anywhere") {
    for (const std::string& whole : {uint8_2x3, two_members})
      for (std::size_t size = 2; size < whole.size(); ++size) {
        INFO(size);
        const std::string text = failure(whole.substr(0, size));
        if (whole == two_members && size == 28)  // ends at the end of the first member
          CHECK_THAT(text, ContainsSubstring("the header of an array with 2 axes takes 12 bytes and the file has 10"));
        else
          CHECK_THAT(text, ContainsSubstring("ends inside its gzip stream"));
      }
  }
  SECTION("a wrong checksum, length or block") {
    std::string damaged = uint8_2x3;
    damaged[damaged.size() - 5] ^= 1;
    CHECK_THAT(failure(damaged), ContainsSubstring("is a damaged gzip file: incorrect data check"));
    damaged = uint8_2x3;
    damaged[damaged.size() - 1] ^= 1;
    CHECK_THAT(failure(damaged), ContainsSubstring("is a damaged gzip file: incorrect length check"));
    damaged = uint8_2x3;
    damaged[10] = '\x07';
    CHECK_THAT(failure(damaged), ContainsSubstring("is a damaged gzip file: invalid block type"));
    damaged = uint8_2x3;
    damaged[2] = '\x07';
    CHECK_THAT(failure(damaged), ContainsSubstring("is a damaged gzip file: unknown compression method"));
  }
  SECTION("bytes after the stream") {
    CHECK_THAT(failure(uint8_2x3 + std::string(9, '\0') + "abc"),
               ContainsSubstring("has 12 bytes after its gzip stream"));
    CHECK_THAT(failure(uint8_2x3 + std::string(2 << 20, '\0')),
               ContainsSubstring("has more than 1 MiB of zeros after its gzip stream"));
    CHECK_THAT(failure(uint8_2x3 + "abc"), ContainsSubstring("has 3 bytes after its gzip stream"));
    CHECK_THAT(failure(uint8_2x3 + "\x1f"), ContainsSubstring("ends inside its gzip stream"));
  }
  SECTION("the content is not an IDX file, or incomplete") {
    CHECK_THAT(failure(short_header), ContainsSubstring("the header of an array with 1 axes takes 8 bytes"));
  }
}

TEST_CASE("decompression stops one byte after the announced size", "[data]") {
  const std::string file = bomb();
  REQUIRE(file.size() == 138);
  const temporary_folder folder;
  CHECK_THROWS_WITH((dp::read_idx<std::uint8_t, dp::extents<dp::dyn>>(folder.write("x", file))),
                    ContainsSubstring("is longer than its header announces: 4 bytes"));
}

TEST_CASE("an array too large for the compressed file is rejected before allocation", "[data]") {
  // A complete gzip file of 12 bytes: the header of an array of 2^31 x 2^10 bytes without data.
  const std::string content = bytes(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01\x0c\x00\xf3\xff\x00\x00\x08\x02\x80\x00\x00\x00\x00\x00\x04\x00"
      "\xc3\xee\xa3\x71\x0c\x00\x00\x00");
  CHECK_THAT(failure(content),
             ContainsSubstring("is truncated: its header announces 2199023255552 bytes of elements and at most "));
}

TEST_CASE("read_idx ignores zeros after a gzip stream, as gzip does", "[data]") {
  const temporary_folder folder;
  for (const std::size_t padding : {1u, 512u, 100'000u}) {
    const auto x =
        dp::read_idx<std::uint8_t, dp::extents<2, 3>>(folder.write("x", two_members + std::string(padding, '\0')));
    CHECK(x(1, 2) == 6);
  }
}

TEST_CASE("read_mnist reads the four original files", "[data]") {
  const char* folder = std::getenv("DEVPLACE_TEST_MNIST");
  if (folder == nullptr) DEVPLACE_SKIP("set DEVPLACE_TEST_MNIST to a folder with the four MNIST files");
  const dp::labelled_images data = dp::read_mnist(folder);
  CHECK(data.train.size() == 60000);
  CHECK(data.test.size() == 10000);
  CHECK(data.train.images.extents() == dp::extents<60000, 28, 28>{});
  CHECK(data.classes() == 10);
  // The first labels, as published with the data set.
  const std::vector<int> first_train{5, 0, 4, 1, 9, 2, 1, 3, 1, 4};
  const std::vector<int> first_test{7, 2, 1, 0, 4, 1, 4, 9, 5, 9};
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(data.train.labels(i) == first_train[i]);
    CHECK(data.test.labels(i) == first_test[i]);
  }
  // The mean pixel, 0.1307 x 255, which every MNIST example uses to normalise.
  double sum = 0;
  for (std::size_t i = 0; i < data.train.images.size(); ++i) sum += data.train.images.data()[i];
  CHECK(sum / static_cast<double>(data.train.images.size()) / 255 == Catch::Approx(0.1307).margin(0.00005));
}
