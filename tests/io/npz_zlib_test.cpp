// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/npz.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/npy_bytes.hpp"
#include "io/zip_of.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::dyn;
using support::temporary_folder;

namespace {

const std::string folder = DEVPLACE_TEST_REFERENCE_DIR "/npz/";
constexpr std::uint32_t float_2x3_checksum = 0xb176ee6c;  // zlib.crc32 in Python

zip_part stored() { return {"x.npy", npy_bytes::float_2x3, float_2x3_checksum}; }

/// The message for opening a file and reading its array x; checks that it ends with a full stop.
std::string failure(const std::string& content) {
  const temporary_folder place;
  const std::string path = place.write("x.npz", content);
  try {
    static_cast<void>(dp::npz_file(path).read<float, dp::extents<2, 3>>("x"));
  } catch (const dp::file_error& refusal) {
    const std::string text = refusal.what();
    CHECK(text.find(path) != text.npos);
    CHECK(text.ends_with("."));
    return text;
  }
  return "none";
}

std::string failure(const zip_part& part) { return failure(zip_of({part})); }

}  // namespace

TEST_CASE("npz_file reads NumPy's files, stored and compressed", "[io]") {
  for (const char* name : {"stored.npz", "compressed.npz"}) {
    const dp::npz_file file(folder + name);
    const auto images = file.read<float, dp::extents<dp::dyn, 60>>("images");
    REQUIRE(images.extent(0) == 10);
    bool equal = true;
    for (std::size_t i = 0; i < images.size(); ++i) equal = equal && images.data()[i] == static_cast<float>(i) / 8;
    CHECK(equal);
    const auto labels = file.read<std::int64_t, dp::extents<dyn>>("labels");
    CHECK(std::vector(labels.data(), labels.data() + labels.size()) ==
          std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
    CHECK(file.read<double, dp::extents<>>("scalar")() == 2.5);
    CHECK(file.read<std::uint8_t, dp::extents<dyn, 4>>("empty").extent(0) == 0);
    CHECK_THROWS_WITH(
        (file.read<std::uint8_t, dp::extents<2>>("flags")),
        ContainsSubstring("devplace: npz_file: '" + folder + name + ":flags' holds elements of type '|b1'"));
    CHECK_THROWS_WITH((file.read<double, dp::extents<dyn, 60>>("images")), ContainsSubstring("read it as float"));
    CHECK_THROWS_WITH((file.read<float, dp::extents<dyn, 61>>("images")), ContainsSubstring("10x60"));
  }
  const dp::npz_file file(folder + "stored.npz");
  CHECK(file.names() == std::vector<std::string>{"images", "labels", "scalar", "empty", "flags", "arr_0"});
  CHECK(file.read<std::int32_t, dp::extents<1>>("arr_0")(0) == 7);
  CHECK_THROWS_WITH(
      (file.read<float, dp::extents<2>>("image")),
      ContainsSubstring("has no array 'image'; it has 'images', 'labels', 'scalar', 'empty', 'flags', 'arr_0'."));
}

TEST_CASE("npz_file converts compressed arrays from Fortran order to C order", "[io]") {
  const auto x = dp::npz_file(folder + "fortran_compressed.npz").read<std::int32_t, dp::extents<3, 4, 2>>("cube");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 2; ++k) CHECK(x(i, j, k) == 100 * i + 10 * j + k);
}

TEST_CASE("64-bit numbers and a comment in a zip file are accepted", "[io]") {
  CHECK(failure(zip_of({stored()})) == "none");
  CHECK(failure(zip_of({{"other", "", 0}, stored()}, true)) == "none");
  CHECK(failure(zip_of({stored()}, false, "PK\5\6 by a program")) == "none");
  CHECK_THAT(failure(zip_of({})), ContainsSubstring("has no array 'x'; it has none."));
  CHECK_THAT(failure(zip_of({{"\x1b[1m" + std::string(60, 'n') + ".npy", "", 0}})),
             ContainsSubstring("it has '?[1m" + std::string(36, 'n') + "...'."));
}

TEST_CASE("damaged and hostile zip files are rejected", "[io]") {
  const std::string whole = zip_of({stored()});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    CHECK_THAT(failure(whole.substr(0, bytes)), ContainsSubstring("no end record"));
  for (const bool wide : {false, true}) {
    const std::string valid = zip_of({stored()}, wide);
    for (std::size_t at = 0; at < valid.size(); ++at) {
      std::string damaged = valid;
      damaged[at] = static_cast<char>(~damaged[at]);
      static_cast<void>(failure(damaged));  // must not crash; some bytes, such as dates, are ignored
      if (at > 60 && at < 60 + npy_bytes::float_2x3.size() - 20) CHECK(failure(damaged) != "none");
    }
  }
  zip_part part = stored();
  part.bytes.back() = 'x';
  CHECK_THAT(failure(part), ContainsSubstring("x.npz:x' is damaged: its checksum (CRC-32)"));
  part = stored();
  part.flags = 1;
  CHECK_THAT(failure(part), ContainsSubstring("is encrypted"));
  part = stored();
  part.method = 12;
  CHECK_THAT(failure(part), ContainsSubstring("compressed by method 12"));
  part = stored();
  part.contents += 1;
  CHECK_THAT(failure(part),
             ContainsSubstring("announces 153 bytes of contents, which 152 bytes in the file cannot hold"));
  part = {"x.npy", "\3", 0, std::uint64_t{1} << 40, 8};
  CHECK_THAT(failure(zip_of({part}, true)), ContainsSubstring("exhaust memory"));
  part = {"x.npy", "\3", float_2x3_checksum, 152, 8};
  CHECK_THAT(failure(part), ContainsSubstring("ends inside its compressed data"));
  part = {"x.npy", "\7\7\7", float_2x3_checksum, 152, 8};
  CHECK_THAT(failure(part), ContainsSubstring("is damaged: invalid block type"));
  part = {"x.npy", std::string("\3\0", 2), float_2x3_checksum, 152, 8};
  CHECK_THAT(failure(part), ContainsSubstring("has less contents than"));
  CHECK_THAT(failure(zip_of({stored(), stored()})), ContainsSubstring("two members named 'x.npy'"));
  CHECK_THAT(failure(zip_of({{"x", "not an array", 0xa38337c7}})), ContainsSubstring("is not a .npy file"));
  const temporary_folder place;
  CHECK_THROWS_WITH(dp::npz_file(place.file("none.npz")), ContainsSubstring("cannot be opened"));
}
