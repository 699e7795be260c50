// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The files in tests/reference/safetensors were written by the reference implementation (make_safetensors.py).

#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/io/safetensors.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using devplace::test::reference_path;
using support::temporary_folder;

namespace {

using shape = std::vector<std::size_t>;

/// A file with this header and `data_bytes` bytes of data.
std::string safetensors_bytes(std::string_view header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file.append(header).append(data_bytes, '\1');
}

std::string safetensors_failure(const std::string& content) {
  const temporary_folder folder;
  const std::string path = folder.write("x.safetensors", content);
  try {
    const dp::safetensors_file file(path);
    return "opened without an error";
  } catch (const dp::file_error& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with("devplace: safetensors_file: '" + path + "' "));
    REQUIRE(text.ends_with("."));
    return text;
  }
}

std::string failure_of_header(std::string_view header, std::size_t data_bytes = 0) {
  return safetensors_failure(safetensors_bytes(header, data_bytes));
}

/// A header with one tensor of these members.
std::string failure_of_tensor(const std::string& members, std::size_t data_bytes = 0) {
  return failure_of_header("{\"t\":{" + members + "}}", data_bytes);
}

template <class T> bool has_numbers(const dp::tensor<T, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  const double numbers[] = {0, -0.0, 1, -2.5, 65504, 0x1p-24};
  bool equal = true;
  for (std::size_t i = 0; i < 6; ++i) {
    const double value = static_cast<double>(x.data()[i]), expected = static_cast<double>(static_cast<T>(numbers[i]));
    equal = equal && value == expected && std::signbit(value) == std::signbit(expected);
  }
  return equal;
}

}  // namespace

TEST_CASE("a safetensors file of the reference implementation is read, and written back byte for byte", "[io]") {
  const std::string path = reference_path("safetensors/types.safetensors");
  const dp::safetensors_file file(path);
  CHECK(file.metadata().empty());
  const auto f64 = file.read<double, dp::extents<2, 3>>("f64");
  const auto f32 = file.read<float, dp::extents<2, 3>>("f32");
  const auto f16 = file.read<dp::half, dp::extents<2, 3>>("f16");
  const auto bf16 = file.read<dp::bf16, dp::extents<2, 3>>("bf16");
  const auto i64 = file.read<std::int64_t, dp::dextents<1>>("i64");
  const auto i32 = file.read<std::int32_t, dp::dextents<1>>("i32");
  const auto u8 = file.read<std::uint8_t, dp::dextents<1>>("u8");
  const auto scalar = file.read<float, dp::extents<>>("scalar");
  const auto empty = file.read<dp::half, dp::extents<dp::dyn, 3>>("empty");
  CHECK((has_numbers(f64) && has_numbers(f32) && has_numbers(f16) && has_numbers(bf16)));
  CHECK((i64.size() == 3 && i64(0) == std::numeric_limits<std::int64_t>::min() && i64(1) == -1));
  CHECK(i64(2) == std::numeric_limits<std::int64_t>::max());
  CHECK((i32.size() == 3 && i32(0) == std::numeric_limits<std::int32_t>::min() && i32(1) == 7));
  CHECK(i32(2) == std::numeric_limits<std::int32_t>::max());
  CHECK((u8.size() == 3 && u8(0) == 0 && u8(1) == 1 && u8(2) == 255));
  CHECK(scalar.data()[0] == 0.5f);
  CHECK(empty.extent(0) == 0);

  const temporary_folder folder;
  dp::write_safetensors(folder.file("x"), {{"i64", i64},
                                           {"f64", f64},
                                           {"f32", f32},
                                           {"scalar", scalar},
                                           {"i32", i32},
                                           {"bf16", bf16},
                                           {"empty", empty},
                                           {"f16", f16},
                                           {"u8", u8}});
  CHECK(support::contents(folder.file("x")) == support::contents(path));

  SECTION("reordered tensors are aligned in the data, and the header keeps their order") {
    dp::write_safetensors(folder.file("x"), {{"u8", u8}, {"f16", f16}, {"i32", i32}, {"i64", i64}});
    const dp::safetensors_file mixed(folder.file("x"));
    const char* const names[] = {"u8", "f16", "i32", "i64"};
    const std::size_t sizes[] = {1, 2, 4, 8};
    REQUIRE(mixed.tensors().size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(mixed.tensors()[i].name == names[i]);
      CHECK(mixed.tensors()[i].offset % sizes[i] == 0);
    }
    CHECK(has_numbers(mixed.read<dp::half, dp::extents<2, 3>>("f16")));
    CHECK(mixed.read<std::int64_t, dp::dextents<1>>("i64")(1) == -1);
  }
}

TEST_CASE("a safetensors file's names, types, shapes and metadata are listed", "[io]") {
  SECTION("names of any characters, and metadata") {
    const std::string path = reference_path("safetensors/names.safetensors");
    const dp::safetensors_file file(path);
    CHECK(file.metadata() == dp::safetensors_metadata{{"format", "pt"}});
    const std::string names[] = {"a.weight", "quote \" and \\", "smile \xf0\x9f\x98\x80", "tab\tnewline\nbell\a",
                                 "umlaut \xc3\xbc"};
    REQUIRE(file.tensors().size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(file.tensors()[i].name == names[i]);
      CHECK(file.find(names[i]) == &file.tensors()[i]);
    }
    CHECK(file.find("a.weigh") == nullptr);
    float values[5];
    for (std::size_t i = 0; i < 5; ++i) file.read_elements(file.tensors()[i], &values[i]);
    CHECK((values[1] == 1 && values[2] == 4 && values[3] == 2 && values[4] == 3));

    const temporary_folder folder;
    std::vector<dp::named_tensor> tensors;
    const dp::tensor<float, dp::extents<5>, dp::on<dp::cpu>> x{values[0], values[1], values[2], values[3], values[4]};
    for (std::size_t i = 0; i < 5; ++i) tensors.emplace_back(names[i], x.slice(i, i + 1));
    dp::write_safetensors(folder.file("x"), tensors, file.metadata());
    CHECK(support::contents(folder.file("x")) == support::contents(path));
  }
  SECTION("no tensor") {
    const std::string path = reference_path("safetensors/nothing.safetensors");
    CHECK(dp::safetensors_file(path).tensors().empty());
    const temporary_folder folder;
    dp::write_safetensors(folder.file("x"), {});
    CHECK(support::contents(folder.file("x")) == support::contents(path));
  }
  SECTION("unsupported element types") {
    const dp::safetensors_file file(reference_path("safetensors/bool.safetensors"));
    REQUIRE(file.tensors().size() == 1);
    CHECK(file.tensors()[0].dtype == "BOOL");
    CHECK(file.tensors()[0].extents == shape{2});
    unsigned char values[2];
    file.read_elements(file.tensors()[0], values);
    CHECK((values[0] == 1 && values[1] == 0));
    CHECK_THROWS_WITH((file.read<std::uint8_t, dp::dextents<1>>("bool")),
                      EndsWith("bool.safetensors:bool' holds elements of type BOOL, but uint8 (U8) was asked for; "
                               "tensors have no such elements; convert them before saving them, or use "
                               "read_elements."));
  }
}

TEST_CASE("tensors are written to a safetensors file, listed and read", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("layer.safetensors");
  const dp::tensor<dp::bf16, dp::extents<2, 3>, dp::on<dp::cpu>> weight{{dp::bf16(1), dp::bf16(2), dp::bf16(3)},
                                                                        {dp::bf16(4), dp::bf16(5), dp::bf16(6)}};
  const dp::tensor<float, dp::extents<2>, dp::on<dp::cpu>> bias{-1, -2};
  std::ostringstream out;
  dp::write_safetensors(path, {{"fc.weight", weight}, {"fc.bias", bias}}, {{"format", "pt"}});
  const dp::safetensors_file file(path);
  for (const dp::safetensors_entry& entry : file.tensors())
    out << entry.name << ": " << entry.dtype << ", " << entry.bytes << " bytes\n";
  auto read = file.read<dp::bf16, dp::extents<dp::dyn, 3>>("fc.weight");
  CHECK(out.str() == "fc.weight: BF16, 12 bytes\nfc.bias: F32, 8 bytes\n");
  CHECK((read.extent(0) == 2 && read(1, 2) == 6.0f));
  CHECK(file.metadata() == dp::safetensors_metadata{{"format", "pt"}});
}

TEST_CASE("all 16-bit numbers pass through a safetensors file unchanged", "[io]") {
  const auto all = []<class T>(T) {
    dp::tensor<T, dp::dextents<1>, dp::on<dp::cpu>> x(dp::dextents<1>(65536));
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::bit_cast<T>(static_cast<std::uint16_t>(i));
    const temporary_folder folder;
    dp::write_safetensors(folder.file("x"), {{"x", x}});
    const auto y = dp::safetensors_file(folder.file("x")).read<T, dp::dextents<1>>("x");
    std::size_t different = y.size() == 65536 ? 0 : 1;
    for (std::size_t i = 0; i < y.size(); ++i) different += std::bit_cast<std::uint16_t>(y.data()[i]) != i;
    CHECK(different == 0);
  };
  all(dp::bf16{});
  all(dp::half{});
}

TEST_CASE("errors for a safetensors tensor name what was found and what was expected", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("x");
  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> x{{1, 2, 3}, {4, 5, 6}};
  dp::write_safetensors(path, {{"a", x}, {"b", x}});
  const dp::safetensors_file file(path);
  const std::string start = "devplace: safetensors_file: '" + path;
  CHECK_THROWS_WITH((file.read<float, dp::dextents<1>>("c")), start + "' has no tensor \"c\"; it has \"a\", \"b\".");
  CHECK_THROWS_WITH((file.read<dp::bf16, dp::dextents<1>>("a")),
                    start + ":a' holds elements of type F32, but bf16 (BF16) was asked for; read it as float.");
  CHECK_THROWS_WITH((file.read<float, dp::extents<2, 4>>("b")),
                    ContainsSubstring(start + ":b' holds an array of shape 2x3, which does not fit extents<2, 4>"));
  CHECK_THROWS_WITH(dp::safetensors_file(folder.file("none")), ContainsSubstring("cannot be opened: No such file"));
  CHECK_THROWS_WITH(dp::safetensors_file(folder.path()), ContainsSubstring("is a folder. Give the path of a file"));
  CHECK_THROWS_WITH(dp::safetensors_file("/dev/zero"), ContainsSubstring("is a pipe, a device or a socket"));
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);  // without a writer, opening the pipe would block forever
  CHECK_THROWS_WITH(dp::safetensors_file(folder.file("pipe")), ContainsSubstring("is a pipe, a device or a socket"));
  std::filesystem::resize_file(path, 100);
  CHECK_THROWS_WITH((file.read<float, dp::dextents<2>>("b")), ContainsSubstring("was truncated after it was opened"));

  std::vector<dp::named_tensor> many;
  for (char name = 'a'; name < 'k'; ++name) many.emplace_back(std::string(1, name), x);
  dp::write_safetensors(path, many);
  CHECK_THROWS_WITH((dp::safetensors_file(path).read<float, dp::dextents<1>>("z")),
                    ContainsSubstring("\"h\" and 2 more."));
}

TEST_CASE("write_safetensors rejects invalid names, and keeps the old file", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.write("x", std::string("old"));
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{1};
  CHECK_THROWS_WITH(dp::write_safetensors(path, {{"a", x}, {"b", x}, {"a", x}}),
                    ContainsSubstring("cannot have a tensor's name \"a\" twice"));
  CHECK_THROWS_WITH(dp::write_safetensors(path, {{"__metadata__", x}}), ContainsSubstring("the name of the metadata"));
  CHECK_THROWS_WITH(dp::write_safetensors(path, {{"a\xff", x}}), ContainsSubstring("not UTF-8 at its byte 1"));
  CHECK_THROWS_WITH(dp::write_safetensors(path, {{"a", x}}, {{"k", "1"}, {"k", "2"}}),
                    ContainsSubstring("a key of metadata \"k\" twice"));
  CHECK_THROWS_WITH(dp::write_safetensors(path, {{"a", x}}, {{"k", "\xc0\x80"}}),
                    ContainsSubstring("a text of metadata that is not UTF-8 at its byte 0"));
  CHECK(support::contents(path) == "old");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("opening a damaged safetensors file throws", "[io]") {
  SECTION("lengths of file and header") {
    CHECK_THAT(safetensors_failure(""), ContainsSubstring("has 0 bytes; a safetensors file starts with 8 bytes"));
    CHECK_THAT(safetensors_failure("1234567"), ContainsSubstring("has 7 bytes"));
    CHECK_THAT(safetensors_failure("this is text"), ContainsSubstring("is not a safetensors file: its first 8 bytes"));
    CHECK_THAT(safetensors_failure({"PK\x03\x04\x00\x00\x08\x08", 8}), ContainsSubstring("A file of torch.save is"));
    std::string length(8, '\0');
    CHECK_THAT(safetensors_failure(length), ContainsSubstring("does not start with '{'"));
    CHECK_THAT(safetensors_failure(length.replace(0, 4, "\x01\xe1\xf5\x05")),
               ContainsSubstring("announce a header of 100000001 bytes, and headers have at most 100 MB"));
    CHECK_THAT(safetensors_failure(length.replace(0, 4, std::string("\x00\xe1\xf5\x05", 4))),
               ContainsSubstring("ends inside its header, which should have 100000000 bytes and has 0 bytes"));
    CHECK_THAT(failure_of_header(" {}"), ContainsSubstring("does not start with '{'"));
  }
  SECTION("a header that is not valid JSON of the format") {
    for (const char* header : {"{",
                               "{]",
                               "{}{}",
                               "{} x",
                               "{,}",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{\"a\":1}",
                               "{\"a\":null}",
                               "{\"a\":[]}",
                               "{\"a\":[[[[]]]]}",
                               "{\"a\":{},}",
                               "{'a':{}}",
                               "{\"a",
                               "{\"a\\",
                               "{\"a\\u00",
                               "{\"a\\x\":{}}",
                               "{\"a\nb\":{}}",
                               "{\"\\u12g4\":{}}",
                               "{\"\\ud800\":{}}",
                               "{\"\\udc00\":{}}",
                               "{\"\\ud800\\u0041\":{}}",
                               "{\"\\ud800\\n\":{}}",
                               "{\"__metadata__\":[]}",
                               "{\"__metadata__\":null}",
                               "{\"__metadata__\":{\"a\":1}}",
                               "{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}",
                               "{\"__metadata__\":{\"a\":\"b\",}}"}) {
      INFO(header);
      CHECK_THAT(failure_of_header(header),
                 ContainsSubstring("is not the JSON of its format") || ContainsSubstring("lacks one of the keys"));
    }
    CHECK_THAT(failure_of_header("{\"a\\x\":{}}"), ContainsSubstring("is missing at byte 4 of the header"));
    const std::string deep = "{\"a\":" + std::string(1 << 20, '[');
    CHECK_THAT(failure_of_header(deep), ContainsSubstring("'{' is missing at byte 5"));
    for (const char* name : {"\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82", "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
      CHECK_THAT(failure_of_header("{\"" + std::string(name) + "\":{}}"),
                 ContainsSubstring("is not UTF-8 at its byte 2"));
  }
  SECTION("names given twice") {
    const std::string empty = ":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
    CHECK_THAT(failure_of_header("{\"a\"" + empty + ",\"b\"" + empty + ",\"\\u0061\"" + empty + "}"),
               ContainsSubstring("has \"a\" twice in its header"));
    CHECK_THAT(failure_of_header("{\"__metadata__\":{},\"__metadata__\":{}}"),
               ContainsSubstring("\"__metadata__\" twice"));
    CHECK_THAT(failure_of_header("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"), ContainsSubstring("has \"k\" twice"));
  }
  SECTION("a tensor's members") {
    CHECK_THAT(failure_of_tensor("\"dtype\":\"F32\",\"shape\":[]"),
               ContainsSubstring("tensor \"t\" lacks one of the keys"));
    CHECK_THAT(failure_of_tensor("\"dtype\":\"F32\",\"dtype\":\"F32\""), ContainsSubstring("has the key \"dtype\""));
    CHECK_THAT(failure_of_tensor("\"strides\":[1]"),
               ContainsSubstring("has the key \"strides\" in the header, which is unknown"));
    CHECK_THAT(failure_of_tensor("\"dtype\":\"F128\""),
               ContainsSubstring("has elements of type \"F128\", whose size is not known"));
    CHECK_THAT(failure_of_tensor("\"dtype\":\"f32\""), ContainsSubstring("\"f32\""));
    for (const char* number :
         {"-1", "1.0", "1.", "1e3", "01", "00", "+1", "18446744073709551616", "\"1\"", "true", ""}) {
      INFO(number);
      for (const char* key : {"shape", "data_offsets"})
        CHECK_THAT(failure_of_tensor("\"" + std::string(key) + "\":[1," + number + "]"),
                   ContainsSubstring("an integer from 0 to 2^64 - 1 is missing at byte"));
    }
  }
  SECTION("ranges that do not fit the shape") {
    const auto failure = [](const char* dtype, const char* shape, const char* offsets) {
      return failure_of_tensor(
          std::string("\"dtype\":\"") + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets, 8);
    };
    CHECK_THAT(failure("F32", "[1]", "[0,8]"),
               ContainsSubstring("of shape 1 and type F32 has 4 bytes, but its offsets are 0 and 8"));
    CHECK_THAT(failure("F32", "[]", "[0,8]"), ContainsSubstring("of shape scalar and type F32 has 4 bytes"));
    CHECK_THAT(failure("U8", "[0]", "[8,0]"), ContainsSubstring("offsets are 8 and 0"));
    CHECK_THAT(failure("F32", "[2]", "[8]"), ContainsSubstring("has 1 offsets"));
    CHECK_THAT(failure("F32", "[2]", "[0,4,8]"), ContainsSubstring("has 3 offsets"));
    CHECK_THAT(failure("F32", "[4294967296,4294967296]", "[0,0]"), ContainsSubstring("is larger than any memory"));
    CHECK_THAT(failure("F64", "[2305843009213693952]", "[0,0]"), ContainsSubstring("is larger than any memory"));
    CHECK_THAT(failure("U8", "[18446744073709551615]", "[0,18446744073709551615]"),
               ContainsSubstring("is larger than any"));
    CHECK_THAT(failure("F4", "[3]", "[0,2]"), ContainsSubstring("do not fill its last byte"));
    CHECK_THAT(failure("U8", "[7]", "[1,8]"),
               ContainsSubstring("starts at byte 1 of the data and the tensors before it end at byte 0"));
    CHECK_THAT(failure("U8", "[7]", "[0,7]"), ContainsSubstring("has 1 byte after its last tensor"));
    CHECK_THAT(failure("U8", "[9]", "[0,9]"),
               ContainsSubstring("is truncated: its header announces 9 bytes of elements and 8 bytes"));
    CHECK(failure("F6_E2M3", "[8]", "[0,6]").find("has 2 bytes after its last tensor") != std::string::npos);
    CHECK(failure("F4", "[8,2]", "[0,8]") == "opened without an error");
  }
  SECTION("tensors that overlap or leave a hole") {
    const auto failure = [](const char* first, const char* second) {
      const auto tensor = [](const char* name, const char* offsets) {
        return "\"" + std::string(name) + "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" + offsets + "]}";
      };
      return failure_of_header("{" + tensor("a", first) + "," + tensor("b", second) + "}", 8);
    };
    CHECK(failure("0,4", "4,8") == "opened without an error");
    CHECK(failure("4,8", "0,4") == "opened without an error");
    CHECK_THAT(failure("0,4", "0,4"),
               ContainsSubstring("starts at byte 0 of the data and the tensors before it end at byte 4"));
    CHECK_THAT(failure("0,4", "3,7"), ContainsSubstring("tensor \"b\" starts at byte 3"));
    CHECK_THAT(failure("0,4", "5,9"), ContainsSubstring("tensor \"b\" starts at byte 5"));
    CHECK_THAT(failure("4,8", "4,8"), ContainsSubstring("the tensors before it end at byte 0"));
  }
}

TEST_CASE("other spellings of a safetensors header are accepted", "[io]") {
  const temporary_folder folder;
  const std::string header =
      "{ \"\\u00fc\\uD83D\\uDE00\\/\\b\" :\n\t{\"shape\" : [ 2 , 1 ], \"data_offsets\":[0,4],\r \"dtype\":\"BF16\" } ,"
      "\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]},\"__metadata__\":{\"\":\"\"}}   \n";
  const dp::safetensors_file file(folder.write("x", safetensors_bytes(header, 4)));
  REQUIRE(file.tensors().size() == 2);
  CHECK(file.tensors()[0].name == "\xc3\xbc\xf0\x9f\x98\x80/\b");
  CHECK(file.tensors()[0].extents == shape{2, 1});
  CHECK(file.tensors()[0].offset == 8 + header.size());
  CHECK(file.tensors()[1].name.empty());
  CHECK(file.tensors()[1].offset == 12 + header.size());
  CHECK(file.metadata() == dp::safetensors_metadata{{"", ""}});
  CHECK(file.read<std::uint8_t, dp::dextents<1>>("").size() == 0);
}
