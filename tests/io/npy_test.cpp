// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/io/npy.hpp>
#include <devplace/io/npz.hpp>

#include "io/failure_of_file.hpp"
#include "io/npy_bytes.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using namespace npy_bytes;
using support::temporary_folder;

namespace {

/// The error message of reading `content` as float, extents<dyn>.
std::string failure(const std::string& content) {
  const temporary_folder folder;
  const std::string path = folder.write("x.npy", content);
  const std::string text = failure_of_file(path);
  if (text != no_failure) {
    REQUIRE(text.starts_with("devplace: read_npy: '" + path + "' "));
    REQUIRE(text.ends_with("."));
  }
  return text;
}

std::string failure_of_dict(const std::string& dict) { return failure(bare_file(dict, "")); }

template <class T, class Extents, class Where>
bool same(const dp::tensor<T, Extents, Where>& a, const dp::tensor<T, Extents, Where>& b) {
  if (!(a.extents() == b.extents())) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != b.data()[i]) return false;
  return true;
}

template <class T, class Extents> void round_trip(const Extents& extents) {
  const temporary_folder folder;
  dp::tensor<T, Extents, dp::on<dp::cpu>> x(extents);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(i * 37 % 101);
  if (x.size() > 1) {
    x.data()[0] = std::numeric_limits<T>::max();
    x.data()[1] = std::numeric_limits<T>::lowest();
  }
  dp::write_npy(folder.file("x.npy"), x);
  CHECK(same(x, dp::read_npy<T, Extents>(folder.file("x.npy"))));
}

}  // namespace

TEST_CASE("read_npy reads what NumPy wrote", "[io]") {
  const temporary_folder folder;
  SECTION("float, static extents") {
    const auto x = dp::read_npy<float, dp::extents<2, 3>>(folder.write("x.npy", float_2x3));
    CHECK(x(0, 0) == 1.0f);
    CHECK(x(0, 2) == 3.0f);
    CHECK(x(1, 0) == -4.0f);
    CHECK(x(1, 1) == 0.5f);
    CHECK(x(1, 2) == 0.001f);
  }
  SECTION("float, dynamic and mixed extents") {
    const std::string path = folder.write("x.npy", float_2x3);
    const auto x = dp::read_npy<float, dp::extents<dp::dyn, dp::dyn>>(path);
    CHECK(x.extent(0) == 2);
    CHECK(x.extent(1) == 3);
    CHECK(dp::read_npy<float, dp::extents<dp::dyn, 3>>(path)(1, 1) == 0.5f);
  }
  SECTION("uint8") {
    const std::string file =
        numpy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", bytes("\x00\x01\xff"));
    const auto x = dp::read_npy<std::uint8_t, dp::extents<3>>(folder.write("x.npy", file));
    CHECK(x(0) == 0);
    CHECK(x(1) == 1);
    CHECK(x(2) == 255);
  }
  SECTION("half, written back unchanged") {
    const std::string file =
        numpy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", bytes("\x00\x3e\xff\xfb\x01\x00"));
    const auto x = dp::read_npy<dp::half, dp::extents<3>>(folder.write("x.npy", file));
    CHECK(x(0) == 1.5f);
    CHECK(x(1) == -65504.0f);
    CHECK(x(2) == 0x1p-24f);
    dp::write_npy(folder.file("y.npy"), x);
    CHECK(support::contents(folder.file("y.npy")) == file);
  }
  SECTION("an int64 scalar") {
    const std::string file = numpy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
                                        bytes("\xfb\xff\xff\xff\xff\xff\xff\xff"));
    CHECK(dp::read_npy<std::int64_t, dp::extents<>>(folder.write("x.npy", file)).data()[0] == -5);
  }
  SECTION("an empty double array") {
    const std::string file = numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", "");
    const auto x = dp::read_npy<double, dp::extents<dp::dyn, 3>>(folder.write("x.npy", file));
    CHECK(x.extent(0) == 0);
    CHECK(x.size() == 0);
  }
  SECTION("versions 2.0 and 3.0") {
    for (const char version : {'\2', '\3'}) {
      const std::string file =
          numpy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", bytes("\x07\x00\x00\x00"), version);
      CHECK(dp::read_npy<std::int32_t, dp::extents<dp::dyn>>(folder.write("x.npy", file))(0) == 7);
    }
  }
}

TEST_CASE("read_npy accepts other spellings of headers", "[io]") {
  const temporary_folder folder;
  const std::string four(bytes("\x00\x00\x80?\x00\x00\x00@"));
  for (const char* dict : {
           "{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}\n",
           "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
           "  { 'descr' : '<f4' ,\n\t'fortran_order' : False , 'shape' : ( 2 , ) , } \n",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }\n",
       }) {
    INFO(dict);
    const auto x = dp::read_npy<float, dp::extents<dp::dyn>>(folder.write("x.npy", bare_file(dict, four)));
    CHECK(x.size() == 2);
    CHECK(x(1) == 2.0f);
  }
  const std::string file = bare_file("{'descr': '<u1', 'fortran_order': False, 'shape': (1, 1)}", "\x09");
  CHECK(dp::read_npy<std::uint8_t, dp::extents<1, 1>>(folder.write("x.npy", file))(0, 0) == 9);
}

TEST_CASE("read_npy converts Fortran order to C order", "[io]") {
  const temporary_folder folder;
  const auto read = [&]<class Extents>(const std::string& shape, Extents) {
    const std::string dict = "{'descr': '|u1', 'fortran_order': True, 'shape': " + shape + "}";
    const auto x = dp::read_npy<std::uint8_t, Extents>(
        folder.write("x.npy", bare_file(dict, bytes("\0\1\2\3\4\5\6\7\10\11\12\13"))));
    return std::vector<int>(x.data(), x.data() + x.size());
  };
  const std::vector<int> in_order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  SECTION("one axis longer than 1: unchanged") {
    CHECK(read("(12,)", dp::extents<dp::dyn>{0}) == in_order);
    CHECK(read("(1, 12)", dp::extents<1, 12>{}) == in_order);
    CHECK(read("(12, 1)", dp::extents<dp::dyn, 1>{0}) == in_order);
    CHECK(read("(1, 12, 1, 1)", dp::dextents<4>{0, 0, 0, 0}) == in_order);
  }
  SECTION("several axes") {  // the expected elements: np.arange(12).reshape(shape, order='F').ravel()
    CHECK(read("(3, 4)", dp::extents<3, 4>{}) == std::vector<int>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
    CHECK(read("(4, 3)", dp::dextents<2>{0, 0}) == std::vector<int>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CHECK(read("(2, 3, 2)", dp::extents<2, dp::dyn, 2>{0}) == std::vector<int>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
    CHECK(read("(2, 1, 6)", dp::dextents<3>{0, 0, 0}) == std::vector<int>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
    CHECK(read("(3, 2, 1, 2)", dp::dextents<4>{0, 0, 0, 0}) == std::vector<int>{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11});
  }
  SECTION("no elements, and a scalar") {
    const std::string none = bare_file("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0, 2)}", "");
    CHECK(dp::read_npy<double, dp::dextents<3>>(folder.write("x.npy", none)).size() == 0);
    const std::string scalar = bare_file("{'descr': '|u1', 'fortran_order': True, 'shape': ()}", "\7");
    CHECK(dp::read_npy<std::uint8_t, dp::extents<>>(folder.write("x.npy", scalar)).data()[0] == 7);
  }
  SECTION("more bytes than one read, also when the file is too short or too long") {
    constexpr std::size_t rows = 301, columns = 70;
    std::string elements;
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = 0; row < rows; ++row) {
        const double value = static_cast<double>(1000 * row + column);
        elements.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    const std::string file = bare_file("{'descr': '<f8', 'fortran_order': True, 'shape': (301, 70)}", elements);
    const auto x = dp::read_npy<double, dp::extents<dp::dyn, columns>>(folder.write("x.npy", file));
    REQUIRE(x.extent(0) == rows);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        wrong += x(row, column) != static_cast<double>(1000 * row + column);
    CHECK(wrong == 0);
    const auto read_as_it_is = [&] { return dp::read_npy<double, dp::dextents<2>>(folder.file("x.npy")); };
    folder.write("x.npy", file.substr(0, file.size() - 3));
    CHECK_THROWS_WITH(read_as_it_is(), ContainsSubstring("is truncated: its header announces 168560 bytes"));
    folder.write("x.npy", file + "abc");
    CHECK_THROWS_WITH(read_as_it_is(), ContainsSubstring("has 3 bytes after its last element"));
  }
  SECTION("written by NumPy, big-endian and in .npz files") {
    const std::string numpy = DEVPLACE_TEST_REFERENCE_DIR "/npz/fortran";
    const auto check_cube = [](const auto& cube) {
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
          for (int k = 0; k < 2; ++k) CHECK(cube(i, j, k) == 100 * i + 10 * j + k);
    };
    check_cube(dp::read_npy<std::int32_t, dp::extents<3, 4, 2>>(numpy + ".npy"));
    const dp::npz_file stored(numpy + ".npz");
    check_cube(stored.read<std::int32_t, dp::dextents<3>>("cube"));
    const auto matrix = stored.read<double, dp::extents<3, 4>>("matrix");
    const auto axes = stored.read<float, dp::extents<4, 3, 2>>("reversed_axes");
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 3; ++j) {
        CHECK(matrix(j, i) == 3 * i + j);
        CHECK(axes(i, j, 1) == static_cast<float>(12 + 4 * j + i));
      }
  }
}

TEST_CASE("write_npy writes the same bytes as NumPy", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("x.npy");
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> x{{1, 2, 3}, {-4, 0.5f, 0.001f}};
  dp::write_npy(path, x);
  CHECK(support::contents(path) == float_2x3);
  SECTION("a view, replacing an old file") {
    dp::write_npy(path, x.slice(1, 2));
    const auto row = dp::read_npy<float, dp::extents<1, 3>>(path);
    CHECK(row(0, 0) == -4.0f);
    CHECK(row(0, 2) == 0.001f);
  }
  SECTION("a scalar and an empty array") {
    dp::tensor<std::int64_t, dp::extents<>, dp::on<dp::cpu>> scalar{dp::extents<>{}};
    scalar.data()[0] = -5;
    dp::write_npy(path, scalar);
    CHECK(support::contents(path) == numpy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
                                                bytes("\xfb\xff\xff\xff\xff\xff\xff\xff")));
    dp::tensor<double, dp::extents<dp::dyn, 3>, dp::on<dp::cpu>> empty(dp::extents<dp::dyn, 3>(0));
    dp::write_npy(path, empty);
    CHECK(support::contents(path) == numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", ""));
  }
  CHECK(folder.names() == std::vector<std::string>{"x.npy"});
}

TEST_CASE("a .npy round trip keeps every element type and rank", "[io]") {
  const auto all_ranks = []<class T>(T) {
    round_trip<T>(dp::extents<>{});
    round_trip<T>(dp::extents<5>{});
    round_trip<T>(dp::extents<dp::dyn>(0));
    round_trip<T>(dp::extents<dp::dyn, 3>(4));
    round_trip<T>(dp::extents<2, dp::dyn, 2>(3));
    round_trip<T>(dp::extents<dp::dyn, 3, dp::dyn>(2, 0));
    round_trip<T>(dp::extents<2, 3, 4, 5>{});
  };
  all_ranks(float{});
  all_ranks(double{});
  all_ranks(std::int32_t{});
  all_ranks(std::int64_t{});
  all_ranks(std::uint8_t{});
}

TEST_CASE("read_npy's errors name what was found and what was expected", "[io]") {
  SECTION("files of other formats") {
    CHECK_THAT(failure(""), ContainsSubstring("is empty"));
    CHECK_THAT(failure("hello, this is text"), ContainsSubstring("is not a .npy file"));
    CHECK_THAT(failure("\x93NUM"), ContainsSubstring("ends inside its header, after 4 bytes"));
    CHECK_THAT(failure(float_2x3.substr(0, 11)), ContainsSubstring("ends inside its header, after 11 bytes"));
    CHECK_THAT(failure(float_2x3.substr(0, 127)), ContainsSubstring("ends inside its header, after 127 bytes"));
    std::string version_9 = float_2x3;
    version_9[6] = '\x09';
    CHECK_THAT(failure(version_9), ContainsSubstring("has format version 9.0; devplace reads 1.0, 2.0 and 3.0"));
    CHECK_THAT(failure(std::string(bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"))),
               ContainsSubstring("ends inside its header"));
  }
  SECTION("too few or too many elements") {
    CHECK_THAT(failure(float_2x3.substr(0, float_2x3.size() - 1)),
               ContainsSubstring("is truncated: its header announces 24 bytes of elements and 23 bytes follow"));
    CHECK_THAT(failure(float_2x3 + "ab"), ContainsSubstring("has 2 bytes after its last element"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
               ContainsSubstring("announces an array larger than any memory"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807, 9)}"),
               ContainsSubstring("announces an array larger than any memory"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}"),
               ContainsSubstring("has an extent too large for this machine"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}"),
               ContainsSubstring("is truncated: its header announces 4000000000000 bytes"));
  }
  SECTION("arrays of other kinds") {
    CHECK_THAT(failure_of_dict("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"),
               ContainsSubstring("holds elements of type '|O'"));
    CHECK_THAT(failure_of_dict("{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}"),
               ContainsSubstring("holds elements of type '<V2'"));
    CHECK_THAT(failure_of_dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
               ContainsSubstring("holds a structured array"));
    CHECK_THAT(failure(numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "12345678")),
               ContainsSubstring("holds elements of type '<f8', but float ('<f4') was asked for; read it as double, or "
                                 "convert the array with .astype('<f4')"));
    CHECK_THAT(failure(float_2x3), ContainsSubstring("holds an array of shape 2x3, which does not fit extents<dyn>"));
  }
  SECTION("damaged headers") {
    for (const char* dict : {
             "",
             "{",
             "()",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
             "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
             "{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
             "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
             "{descr: '<f4', 'fortran_order': False, 'shape': (2,)}",
         }) {
      INFO(dict);
      CHECK_THAT(failure_of_dict(dict), ContainsSubstring("has a header that is not a valid dict"));
    }
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x"),
               ContainsSubstring("has text after its header's dict"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False}"),
               ContainsSubstring("lacks one of the header's three keys"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (0,)}"),
               ContainsSubstring("has the header key 'descr', which is unknown or given twice"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), 'more': 1}"),
               ContainsSubstring("has the header key 'more'"));
    CHECK_THAT(failure_of_dict("{'descr': '<f4"), ContainsSubstring("has an unfinished string in its header"));
    CHECK_THAT(failure_of_dict("{'de\\scr': '<f4'}"), ContainsSubstring("characters in its header"));
  }
  SECTION("static extents") {
    const temporary_folder folder;
    const std::string path = folder.write("x.npy", float_2x3);
    CHECK_THROWS_WITH((dp::read_npy<float, dp::extents<dp::dyn, 4>>(path)),
                      ContainsSubstring("holds an array of shape 2x3, which does not fit extents<dyn, 4>"));
  }
}

TEST_CASE("read_npy reads big-endian elements", "[io]") {
  const temporary_folder folder;
  const auto first = [&]<class T>(T, const std::string& type, std::string_view elements) {
    const std::string dict = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,)}";
    return dp::read_npy<T, dp::extents<1>>(folder.write("x.npy", bare_file(dict, elements)))(0);
  };
  CHECK(first(float{}, ">f4", bytes("\xc0\x20\x00\x00")) == -2.5f);
  CHECK(first(double{}, ">f8", bytes("\xbf\xf8\x00\x00\x00\x00\x00\x00")) == -1.5);
  CHECK(first(std::int32_t{}, ">i4", bytes("\x01\x02\x03\x04")) == 0x01020304);
  CHECK(first(std::int64_t{}, ">i8", bytes("\x01\x02\x03\x04\x05\x06\x07\x08")) == 0x0102030405060708);
  CHECK(first(dp::half{}, ">f2", bytes("\x3e\x00")) == 1.5f);
  CHECK(first(std::uint8_t{}, ">u1", bytes("\x09")) == 9);
}

TEST_CASE("read_npy's error suggests a fix for the element type found", "[io]") {
  const auto advice = [](const std::string& type) {
    return failure_of_dict("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}");
  };
  for (const auto& [type, fix] : {
           std::pair{"|b1", "Convert the booleans with .astype('|u1') before np.save."},
           std::pair{"|i1", "Convert the integers with .astype('<i4') before np.save."},
           std::pair{"<i2", "Convert the integers with .astype('<i4') before np.save."},
           std::pair{">u2", "Convert the integers with .astype('<i4') before np.save."},
           std::pair{"<u4", "Convert the integers with .astype('<i8') before np.save."},
           std::pair{"<u8", "Convert the integers, if they are below 2**63, with .astype('<i8') before np.save."},
           std::pair{"<V2", "convert them with .astype('<f4') before np.save, read float and use cast<bf16>(x)."},
           std::pair{"<f16", "Convert the numbers with .astype('<f8') before np.save."},
           std::pair{"<c8", "Save array.real and array.imag as two files."},
           std::pair{"<M8[ns]", "Convert the times with .astype('<i8') before np.save."},
           std::pair{"|O", "These are Python objects: make an array of numbers from them"},
           std::pair{"<U5", "This is text: save numbers"},
           std::pair{"|V3", "Save an array of one of these types."},
           std::pair{"x<f4", "Save an array of one of these types."},
       }) {
    INFO(type);
    CHECK_THAT(advice(type), ContainsSubstring("holds elements of type '" + std::string(type) + "'"));
    CHECK_THAT(advice(type), ContainsSubstring(fix));
  }
  CHECK_THAT(advice("|u1"), ContainsSubstring("read it as uint8, or convert the array with .astype('<f4')"));
}

TEST_CASE("read_npy reads headers of at most 64 KiB", "[io]") {
  const temporary_folder folder;
  SECTION("a header of 20 MB") {
    std::string file(bytes("\x93NUMPY\x02\x00\x00\x00\x31\x01"));  // 0x01310000 bytes
    file.append(0x01310000, ' ');
    CHECK_THAT(failure(file), ContainsSubstring("announces a header of 19988480 bytes; devplace reads headers of at "
                                                "most 64 KiB"));
  }
  SECTION("the longest accepted header") {
    const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
    std::string file(bytes("\x93NUMPY\x02\x00\x00\x00\x01\x00"));
    file += dict + std::string(0x10000 - dict.size(), ' ') + std::string(bytes("\x00\x00\x80\x3f"));
    CHECK(dp::read_npy<float, dp::extents<dp::dyn>>(folder.write("x.npy", file))(0) == 1);
  }
}

TEST_CASE("errors of read_npy and write_npy give the reason why a path is unusable", "[io]") {
  const temporary_folder folder;
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{1};
  CHECK_THROWS_WITH((dp::read_npy<float, dp::extents<1>>(folder.file("none.npy"))),
                    ContainsSubstring("none.npy' cannot be opened: No such file or directory"));
  CHECK_THROWS_WITH((dp::read_npy<float, dp::extents<1>>(folder.path())),
                    ContainsSubstring("cannot be read: Is a directory"));
  CHECK_THROWS_WITH(dp::write_npy(folder.file("none/x.npy"), x),
                    ContainsSubstring("cannot be created: No such file or directory"));
}

TEST_CASE("without zlib npz_file reads stored arrays, and the error for compressed arrays names the fix", "[io]") {
  const std::string folder = DEVPLACE_TEST_REFERENCE_DIR "/npz/";
  CHECK(dp::npz_file(folder + "stored.npz").read<double, dp::extents<>>("scalar")() == 2.5);
  CHECK_THROWS_WITH((dp::npz_file(folder + "compressed.npz").read<double, dp::extents<>>("scalar")),
                    ContainsSubstring("Link devplace::zlib"));
}
