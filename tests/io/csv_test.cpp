// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/csv.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::dyn;

namespace {

using matrix = dp::extents<dyn, dyn>;

template <class T, class Extents = matrix> auto read(const std::string& text, const dp::csv_options& options = {}) {
  const support::temporary_folder folder;
  return dp::read_csv<T, Extents>(folder.write("x.csv", text), options);
}

template <class T> std::vector<T> values(const std::string& text, const dp::csv_options& options = {}) {
  const auto x = read<T>(text, options);
  return {x.data(), x.data() + x.size()};
}

template <class T = float> std::string failure(const std::string& text, const dp::csv_options& options = {}) {
  try {
    static_cast<void>(read<T>(text, options));
  } catch (const dp::error& refusal) {
    const std::string found = refusal.what();
    CHECK(found.starts_with("devplace: read_csv: "));
    CHECK(found.ends_with("."));
    return found;
  }
  return "none";
}

const std::string people =
    "name,height, weight ,\"age, years\"\r\n"
    "Ada,1.65,55.5,36\r\n"
    "\r\n"
    "\"Grace \"\"Amazing\"\" Hopper\", +1.60 ,\"5.85e1\",-85\r\n";

}  // namespace

TEST_CASE("read_csv reads columns by name and by number", "[io]") {
  const support::temporary_folder folder;
  const std::string path = folder.write("people.csv", people);
  const auto x = dp::read_csv<float, dp::extents<dp::dyn, 3>>(path, {.columns = {"weight", "age, years", 1}});
  REQUIRE(x.extent(0) == 2);
  CHECK(x(0, 0) == 55.5f);
  CHECK(x(0, 1) == 36);
  CHECK(x(0, 2) == 1.65f);
  CHECK(x(1, 0) == 58.5f);
  CHECK(x(1, 1) == -85);
  CHECK(x(1, 2) == 1.6f);
  const auto ages = dp::read_csv<std::int64_t, dp::extents<dyn>>(path, {.columns = {std::string("age, years")}});
  CHECK(ages(1) == -85);
  CHECK_THROWS_WITH((dp::read_csv<float, dp::extents<dyn, 3>>(path, {.columns = {1, 2}})),
                    ContainsSubstring("of shape 2x2, which does not fit extents<dyn, 3>"));
}

TEST_CASE("read_csv reads all columns, delimiters, and files without a header", "[io]") {
  CHECK(values<double>("1;2\n3;4", {.delimiter = ';', .header = false}) == std::vector<double>{1, 2, 3, 4});
  CHECK(values<std::int32_t>("a\tb\n1\t -2147483648\n", {.delimiter = '\t'}) ==
        std::vector<std::int32_t>{1, std::numeric_limits<std::int32_t>::min()});
  CHECK(values<std::uint8_t>("\xef\xbb\xbf"
                             "a b\n1 255\n",
                             {.delimiter = ' '}) == std::vector<std::uint8_t>{1, 255});
  CHECK(read<float>("a,b\n").extent(0) == 0);
  CHECK(read<float>("a,b\n").extent(1) == 2);
  CHECK(values<double>("a\n0.1\n1e308\n4.9e-324\n1e-999\n-1e-999\n-inf\n") ==
        std::vector<double>{0.1, 1e308, 4.9e-324, 0, -0.0, -std::numeric_limits<double>::infinity()});
  CHECK(std::isnan(values<float>("a\nnan\n")[0]));
  CHECK(values<float>("a\n1e-60\n")[0] == 0);
  const std::string zeros(60, '0');
  CHECK(values<float>("a\n0." + zeros + "1\n-0." + zeros + "1E+9\n1" + zeros + "e-30\n1e-99999999999999999999\n") ==
        std::vector<float>{0, -0.0f, 1e30f, 0});
  for (const char* exponent : {"e-1", ".5e-01", "e+99999999999999999999"})
    CHECK_THAT(failure("a\n1" + zeros + exponent + "\n"), ContainsSubstring("out of the range of float"));
}

TEST_CASE("missing fields are rejected, or replaced as the options say", "[io]") {
  CHECK_THAT(failure("a,b\n1,2\n3,\n"),
             ContainsSubstring("has no number, but an empty field, in line 3, column 2 ('b'). Set the option missing"));
  CHECK_THAT(failure("a,b\nNA,2\n"), ContainsSubstring("but 'NA', in line 2, column 1 ('a')"));
  const auto x = values<float>("a,b\n1,\nN/A,\"\"\n", {.missing = std::nan("")});
  CHECK(x[0] == 1);
  CHECK((std::isnan(x[1]) && std::isnan(x[2]) && std::isnan(x[3])));
  CHECK(values<std::int64_t>("a,b\n1,\n", {.missing = -1}) == std::vector<std::int64_t>{1, -1});
  CHECK_THAT(failure<std::uint8_t>("a\n1\n", {.missing = 256}), ContainsSubstring("which is not of type uint8"));
  CHECK_THAT(failure<std::int64_t>("a\n1\n", {.missing = NAN}), ContainsSubstring("read the file as double"));
}

TEST_CASE("a blank line in a file of one column is a missing field", "[io]") {
  const dp::csv_options replaced{.missing = -1};
  using numbers = std::vector<std::int32_t>;
  CHECK(values<std::int32_t>("label\n1\n\n3\n", replaced) == numbers{1, -1, 3});
  CHECK(values<std::int32_t>("label\r\n1\r\n\r\n3\r\n", replaced) == numbers{1, -1, 3});
  CHECK(values<std::int32_t>("label\n\n \t\n3", replaced) == numbers{-1, -1, 3});
  CHECK(values<std::int32_t>("\n1\n", {.header = false, .missing = -1}) == numbers{-1, 1});
  const auto labels = read<std::int32_t, dp::extents<dyn>>("label\n1\n\n3\n", replaced);
  CHECK(labels.extent(0) == 3);
  for (const char* text : {"label\n1\n\n3\n", "label\n1\n \n", "label\n1\n\n"})
    CHECK_THAT(failure(text),
               ContainsSubstring("has no number, but an empty field, in line 3, column 1 ('label'). Set the option "
                                 "missing, as in {.missing = NAN}, or remove the line."));
  SECTION("the final line break starts no line, each further line break is a blank line") {
    CHECK(values<std::int32_t>("label\n1", replaced) == numbers{1});
    CHECK(values<std::int32_t>("label\n1\n", replaced) == numbers{1});
    CHECK(values<std::int32_t>("label\n1\n\n", replaced) == numbers{1, -1});
    CHECK(values<std::int32_t>("label\n1\n\n\n", replaced) == numbers{1, -1, -1});
    CHECK(read<float>("label\n").extent(0) == 0);
  }
  SECTION("blank lines before the header are skipped") { CHECK(values<std::int32_t>("\n\nlabel\n1\n") == numbers{1}); }
}

TEST_CASE("blank lines in files with several columns are skipped, and lines of delimiters are rows", "[io]") {
  CHECK(values<float>("a,b\n1,2\n\n \t\n3,4\n\n", {.missing = -1}) == std::vector<float>{1, 2, 3, 4});
  CHECK(values<float>("a,b\n,\n3,4\n", {.missing = -1}) == std::vector<float>{-1, -1, 3, 4});
  CHECK(values<float>("a\tb\n1\t2\n\t\n3\t4\n", {.delimiter = '\t', .missing = -1}) ==
        std::vector<float>{1, 2, -1, -1, 3, 4});
  CHECK(values<float>("a\tb\n1\t2\n  \n3\t4\n", {.delimiter = '\t', .missing = -1}) == std::vector<float>{1, 2, 3, 4});
  CHECK(values<float>("a b\n1 2\n \n3 4\n", {.delimiter = ' ', .missing = -1}) ==
        std::vector<float>{1, 2, -1, -1, 3, 4});
  CHECK_THAT(failure("a\tb\n1\t2\n\t\n", {.delimiter = '\t'}),
             ContainsSubstring("has no number, but an empty field, in line 3, column 1 ('a')"));
}

TEST_CASE("errors for numbers not representable in a type name the fix", "[io]") {
  CHECK_THAT(failure("a\n1e400\n"), ContainsSubstring("has '1e400', which is out of the range of float, in line 2, "
                                                      "column 1 ('a'). Correct the number, or leave out the column."));
  CHECK_THAT(failure<double>("a\n-1e400\n"),
             ContainsSubstring("has '-1e400', which is out of the range of double, in line 2, column 1 ('a'). "
                               "Correct the number, or leave out the column."));
  CHECK_THAT(failure("a\n1e40\n"), ContainsSubstring("has '1e40', which is out of the range of float, in line 2, "
                                                     "column 1 ('a'). Read the file as double, or leave out"));
  CHECK_THAT(failure<std::int32_t>("a\n1e400\n"), ContainsSubstring("which is out of the range of int32"));
  CHECK_THAT(failure<std::int32_t>("a\n3000000000\n"),
             ContainsSubstring("which is out of the range of int32, in line 2, column 1 ('a'). Read the file as"));
  for (const char* text : {"1.0", "1e3", "1e-400", "0.5"})
    CHECK_THAT(failure<std::int32_t>(std::string("a\n") + text + "\n"),
               ContainsSubstring(std::string("has '") + text +
                                 "', which is not of type int32, in line 2, column 1 ('a'). Read "
                                 "the file as double; cast<std::int32_t>(x) converts whole numbers, or write the "
                                 "number without a point and an exponent."));
  CHECK_THAT(failure<std::int32_t>("a\none\n"), ContainsSubstring("Choose the columns with numbers"));
}

TEST_CASE("errors for invalid tables name line and column", "[io]") {
  CHECK_THAT(failure(people),
             ContainsSubstring("has 'Ada', which is not of type float, in line 2, column 1 ('name'). Choose the"));
  CHECK_THAT(failure("a,b\n1,2\n\n1,2x\n"),
             ContainsSubstring("has '2x', which is not of type float, in line 4, column 2"));
  CHECK_THAT(failure("a\n1.5.\n"), ContainsSubstring("'1.5.'"));
  CHECK_THAT(failure("a\n+-1\n"), ContainsSubstring("'+-1'"));
  CHECK_THAT(failure("a\n1e999\n"), ContainsSubstring("out of the range of float"));
  CHECK_THAT(failure<std::uint8_t>("a\n256\n"), ContainsSubstring("out of the range of uint8"));
  CHECK_THAT(failure<std::int32_t>("a\n3.0\n"), ContainsSubstring("Read the file as double"));
  CHECK_THAT(failure("a;b\n1,5;2\n", {.delimiter = ';'}), ContainsSubstring("decimal point"));
  CHECK_THAT(failure("a,b\n1,2\n", {.header = false}), ContainsSubstring("set header to true"));
  CHECK_THAT(failure("a,b\n1,2\n1,2,3\n"), ContainsSubstring("has 3 fields in line 3, and 2 in its first line"));
  CHECK_THAT(failure("a,b\n1\n"), ContainsSubstring("has 1 field in line 2"));
  CHECK_THAT(failure("a\n\"1\n2\"\n"), ContainsSubstring("quotation mark in line 2 that is not closed"));
  CHECK_THAT(failure("a\n\"1\"2\n"), ContainsSubstring("text behind a closing quotation mark in line 2"));
  CHECK_THAT(failure(""), ContainsSubstring("is empty"));
  CHECK_THAT(failure("\xff\xfe"
                     "a"),
             ContainsSubstring("is UTF-16 text"));
  CHECK_THAT(failure("a\n\x1b[1m\n"), ContainsSubstring("'?[1m'"));
  CHECK_THAT(failure("a,b\n1,2\n", {.columns = {"c"}}), ContainsSubstring("has no column 'c'; it has 'a', 'b'."));
  CHECK_THAT(failure("a,a\n1,2\n", {.columns = {"a"}}), ContainsSubstring("several columns 'a'"));
  CHECK_THAT(failure("a,b\n1,2\n", {.columns = {2}}), ContainsSubstring("numbered from 0"));
  CHECK_THAT(failure("a,b\n1,2\n", {.columns = {-1}}), ContainsSubstring("read_csv: column -1 was asked for"));
  CHECK_THAT(failure("1,2\n", {.columns = {"a"}, .header = false}), ContainsSubstring("the option header is false"));
  CHECK_THAT(failure("a\n", {.delimiter = '.'}), ContainsSubstring("the delimiter is a character"));
  CHECK_THROWS_WITH((dp::read_csv<float, matrix>("/no/such.csv")), ContainsSubstring("cannot be opened"));
  CHECK_THROWS_WITH((dp::read_csv<float, matrix>("/tmp")), ContainsSubstring("is a folder"));
}
