// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/chart.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;

namespace {

std::string drawn(const std::vector<dp::chart_panel>& panels) {
  const support::temporary_folder folder;
  const std::string path = folder.file("curves.svg");
  dp::write_chart(path, "step", panels);
  return support::contents(path);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

bool has(const std::string& text, const std::string& part) { return count(text, part) != 0; }

}  // namespace

// The axes of the first panel span (76, 316) to (936, 46).

TEST_CASE("a chart has a point for each value, on a logarithmic or linear axis", "[io]") {
  const auto logarithmic = drawn({{"loss", {{"a", {100, 10, 1}}}}});
  CHECK(has(logarithmic, "points='362.667,46 649.333,181 936,316 '"));
  CHECK(has(logarithmic, ">0.1<") == false);
  for (const char* const tick : {">1<", ">10<", ">100<", ">step<", ">loss<", ">a<"}) CHECK(has(logarithmic, tick));
  const auto linear = drawn({{"accuracy", {{"", {0.5, 0, 1}, {0, 5, 10}}}, true, false}});
  CHECK(has(linear, "points='76,181 506,316 936,46 '"));
  for (const char* const tick : {">0<", ">0.2<", ">0.4<", ">0.6<", ">0.8<", ">1<"}) CHECK(has(linear, tick));
  CHECK(count(linear, "<rect") == 1);  // the background, and no legend
}

TEST_CASE("a chart leaves out points that cannot be drawn", "[io]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto text = drawn({{"loss", {{"a", {1, nan, 0, infinity, -1, 10}}}}});
  CHECK(has(text, "points='219.333,316 936,46 '"));
  CHECK(has(drawn({{"nothing", {{"a", {}}}}}), "points=''"));
  CHECK(has(drawn({}), "</svg>\n"));
  CHECK_FALSE(has(drawn({{"one", {{"a", {3}}}, false, false}}), "nan"));
  const auto far = drawn({{"no scale has both", {{"a", {1e308, -1e308, 0, 1}}}, false, false}});
  CHECK(has(far, "points='721,316 936,46 '"));
}

TEST_CASE("panels are stacked, and equal names share one legend", "[io]") {
  const auto text = drawn({{"a < b & c", {{"x", {1, 2}}, {"y", {2, 3}}}}, {"second", {{"x", {1}}, {"y", {2}}}}});
  CHECK(has(text, "height='698'"));
  CHECK(has(text, ">a &lt; b &amp; c<"));
  CHECK(count(text, "<polyline") == 4);
  CHECK(count(text, "<rect") == 2);
}

TEST_CASE("charts that cannot be drawn are errors", "[io]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(drawn({{"loss", std::vector<dp::chart_curve>(6)}}),
                    ContainsSubstring("has 6 curves, and only five can"));
  CHECK_THROWS_WITH(drawn({{"loss", {{"a", {1, 2}, {1}}}}}), ContainsSubstring("2 values at 1 positions"));
  CHECK_THROWS_WITH(drawn({{"loss", {{"a", {1, 2}, {-1, 1}}}}}), ContainsSubstring("a negative position"));
  CHECK_THROWS_AS(dp::write_chart("/no/such/folder/a.svg", "step", {}), dp::file_error);
}
