// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <devplace/data/labelled_images.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::temporary_folder;

namespace {

/// An IDX file of uint8 with extents below 256.
std::string idx(const std::vector<unsigned char>& extents, const std::string& elements) {
  std::string file{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const unsigned char extent : extents) file += std::string(3, '\0') + static_cast<char>(extent);
  return file + elements;
}

/// The four files of a data set with three training and two test images of 2x1 pixels.
void write_set(const temporary_folder& folder) {
  folder.write("train-images-idx3-ubyte", idx({3, 2, 1}, "abcdef"));
  folder.write("train-labels-idx1-ubyte", idx({3}, "\x01\x04\x02"));
  folder.write("t10k-images-idx3-ubyte", idx({2, 2, 1}, "ghij"));
  folder.write("t10k-labels-idx1-ubyte", idx({2}, "\x06\x03"));
}

dp::image_set digits() {
  const std::string folder = DEVPLACE_TEST_DATA_DIR;
  return dp::read_image_set(folder + "/digits-images-idx3-ubyte", folder + "/digits-labels-idx1-ubyte");
}

}  // namespace

TEST_CASE("read_mnist reads the four files of a folder", "[data]") {
  const temporary_folder folder;
  write_set(folder);
  const auto read = dp::read_mnist;  // no template, so that std::async takes it
  const dp::labelled_images data = read(folder.path());
  CHECK(data.train.size() == 3);
  CHECK(data.train.images.extents() == dp::extents<3, 2, 1>{});
  CHECK(data.train.images(2, 1, 0) == 'f');
  CHECK(data.train.labels(1) == 4);
  CHECK(data.train.classes() == 5);
  CHECK(data.test.size() == 2);
  CHECK(data.test.images(1, 0, 0) == 'i');
  CHECK(data.test.labels(0) == 6);
  CHECK(data.classes() == 7);
}

TEST_CASE("read_mnist rejects mismatched files", "[data]") {
  const temporary_folder folder;
  write_set(folder);
  SECTION("a file is missing") {
    std::filesystem::remove(folder.file("t10k-labels-idx1-ubyte"));
    CHECK_THROWS_WITH(dp::read_mnist(folder.path()), ContainsSubstring("t10k-labels-idx1-ubyte' does not exist, nor "));
  }
  SECTION("more images than labels") {
    folder.write("train-labels-idx1-ubyte", idx({2}, "\x01\x02"));
    CHECK_THROWS_WITH(dp::read_mnist(folder.path()),
                      ContainsSubstring("train-images-idx3-ubyte' holds 3 images and ") &&
                          ContainsSubstring("train-labels-idx1-ubyte' holds 2 labels"));
  }
  SECTION("images and labels swapped") {
    folder.write("train-images-idx3-ubyte", idx({3}, "\x01\x02\x03"));
    CHECK_THROWS_WITH(dp::read_mnist(folder.path()),
                      ContainsSubstring("holds an array of shape 3, which does not fit extents<dyn, dyn, dyn>"));
  }
  SECTION("train and test images of different sizes") {
    folder.write("t10k-images-idx3-ubyte", idx({2, 1, 2}, "ghij"));
    CHECK_THROWS_WITH(dp::read_mnist(folder.path()),
                      ContainsSubstring("have the shape 3x2x1 and the test images 2x1x2"));
  }
}

TEST_CASE("the digits in examples/data are the test part of UCI's set", "[data]") {
  const dp::image_set set = digits();
  REQUIRE(set.images.extents() == dp::extents<1797, 8, 8>{});
  REQUIRE(set.labels.extents() == dp::extents<1797>{});
  CHECK(set.classes() == 10);
  // The number of images of each digit, from UCI's description of the data.
  std::vector<int> count(10);
  for (std::size_t i = 0; i < set.size(); ++i) ++count[set.labels(i)];
  CHECK(count == std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
  int sum = 0, largest = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    sum += set.images.data()[i];
    largest = std::max<int>(largest, set.images.data()[i]);
  }
  CHECK(largest == 16);
  CHECK(sum == 561718);                                        // sum of the source's pixel columns, by awk
  const std::vector<int> third_row{0, 3, 15, 2, 0, 11, 8, 0};  // from the source's first line
  for (std::size_t x = 0; x < 8; ++x) CHECK(set.images(0, 2, x) == third_row[x]);
  CHECK(set.labels(1796) == 8);
}

TEST_CASE("split holds out the last images", "[data]") {
  const dp::image_set all = digits();
  const dp::labelled_images data = dp::hold_out(all, 360);
  REQUIRE(data.train.images.extents() == dp::extents<1437, 8, 8>{});
  REQUIRE(data.test.images.extents() == dp::extents<360, 8, 8>{});
  bool same = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool kept = i < 1437;
    const dp::image_set& part = kept ? data.train : data.test;
    const std::size_t at = kept ? i : i - 1437;
    same = same && part.labels(at) == all.labels(i);
    for (std::size_t pixel = 0; pixel < 64; ++pixel)
      same = same && part.images(at, pixel / 8, pixel % 8) == all.images(i, pixel / 8, pixel % 8);
  }
  CHECK(same);
  SECTION("none or all") {
    CHECK(dp::hold_out(all, 0).test.size() == 0);
    CHECK(dp::hold_out(all, 0).test.classes() == 0);
    CHECK(dp::hold_out(all, 1797).train.size() == 0);
    CHECK(dp::hold_out(all, 1797).train.images.extent(1) == 8);
  }
  SECTION("more than available") {
    CHECK_THROWS_AS(dp::hold_out(all, 1798), dp::argument_error);
    CHECK_THROWS_WITH(dp::hold_out(all, 1798), ContainsSubstring("1798 images were to be held out of 1797"));
    CHECK_THROWS_WITH(dp::hold_out(all, static_cast<std::size_t>(-3)), ContainsSubstring("-3 images were to be held"));
  }
  SECTION("a fraction of the images") {
    CHECK(dp::hold_out(all, 0.2).test.size() == 359);
    CHECK(dp::hold_out(all, 0.2f).train.size() == 1438);
    CHECK(dp::hold_out(all, 0.0).test.size() == 0);
    CHECK(dp::hold_out(all, 1.0).train.size() == 0);
    CHECK(dp::hold_out(all, 0.2, dp::seed{3}).test.labels(7) == dp::hold_out(all, 359, dp::seed{3}).test.labels(7));
    for (const double fraction : {-0.1, 1.5, 360.0, std::nan("")})
      CHECK_THROWS_WITH(dp::hold_out(all, fraction), ContainsSubstring("does not lie between 0 and 1"));
  }
  SECTION("a set with a different number of labels and images") {
    const dp::image_set uneven{digits().images.clone(), data.test.labels.clone()};
    CHECK_THROWS_WITH(dp::hold_out(uneven, 1), ContainsSubstring("has 1797 images and 360 labels"));
  }
}

TEST_CASE("split with a seed holds out images drawn at random", "[data]") {
  const std::size_t count = 50;
  dp::image_set all{dp::tensor<std::uint8_t, dp::extents<dp::dyn, dp::dyn, dp::dyn>, dp::on<dp::cpu>>(
                        dp::extents<dp::dyn, dp::dyn, dp::dyn>(count, 1, 2)),
                    dp::tensor<std::uint8_t, dp::extents<dp::dyn>, dp::on<dp::cpu>>(dp::extents<dp::dyn>(count))};
  for (std::size_t i = 0; i < count; ++i) {
    all.labels(i) = static_cast<std::uint8_t>(i);
    all.images(i, 0, 0) = static_cast<std::uint8_t>(i + 100);
    all.images(i, 0, 1) = static_cast<std::uint8_t>(i + 200);
  }
  const auto labels_of = [](const dp::image_set& part) {
    return std::vector<std::uint8_t>(part.labels.data(), part.labels.data() + part.size());
  };

  const dp::labelled_images data = dp::hold_out(all, 20, dp::seed{3});
  REQUIRE(data.train.size() == 30);
  REQUIRE(data.test.size() == 20);
  std::vector<std::size_t> seen(count, 0);
  std::size_t from_the_end = 0;
  for (const dp::image_set* part : {&data.train, &data.test})
    for (std::size_t i = 0; i < part->size(); ++i) {
      const std::uint8_t label = part->labels(i);
      ++seen[label];
      if (part == &data.test && label >= 30) ++from_the_end;
      CHECK(part->images(i, 0, 0) == static_cast<std::uint8_t>(label + 100));
      CHECK(part->images(i, 0, 1) == static_cast<std::uint8_t>(label + 200));
    }
  CHECK(seen == std::vector<std::size_t>(count, 1));
  CHECK(from_the_end > 0);
  CHECK(from_the_end < 20);
  CHECK(labels_of(dp::hold_out(all, 20, dp::seed{3}).test) == labels_of(data.test));
  CHECK(labels_of(dp::hold_out(all, 20, dp::seed{4}).test) != labels_of(data.test));
}
