// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/tensor/shared_tensor.hpp>

#include "support/catch.hpp"
#include "support/segment_file.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::segment_file;
using support::segment_head;
using support::segment_name;

namespace {

using shared = dp::on<dp::shared_memory>;
using matrix = dp::tensor<float, dp::extents<2, 3>, shared>;
using rows = dp::tensor<std::int32_t, dp::extents<dp::dyn, 2>, shared>;

rows ten_rows(const std::string& name) {
  rows x = dp::create_shared<rows>(name, dp::extents<dp::dyn, 2>(10));
  for (std::size_t i = 0; i != 10; ++i) x(i, 0) = static_cast<std::int32_t>(i), x(i, 1) = 7;
  return x;
}

/// The message of opening, or an empty string after all ten rows were read.
std::string failure(const std::string& name) {
  try {
    const rows x = dp::open_shared<rows>(name);
    if (x.extent(0) != 10) return "a wrong value";
    for (std::size_t i = 0; i != 10; ++i)
      if (x(i, 0) != static_cast<std::int32_t>(i) || x(i, 1) != 7) return "a wrong value";
    return "";
  } catch (const dp::argument_error& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("every changed byte before the data of shared memory is rejected or harmless") {
  const std::string name = segment_name("bytes");
  const rows x = ten_rows(name);
  const segment_file file(name);
  const std::vector<char> valid = file.read(file.bytes());
  std::size_t refused = 0;
  for (std::size_t at = 0; at != 512; ++at) {
    std::vector<char> bytes{'\0', '\1', '\x7f', '\x80', '\xff'};
    for (int bit = 0; bit != 8; ++bit) bytes.push_back(static_cast<char>(valid[at] ^ (1 << bit)));
    for (const char byte : bytes) {
      file.write(&byte, 1, at);
      const std::string message = failure(name);
      INFO("byte " << at << " is " << static_cast<int>(byte) << ": " << message);
      REQUIRE((message.empty() || message.find("devplace: open_shared: ") == 0));
      if (!message.empty()) ++refused;
    }
    file.write(&valid[at], 1, at);
  }
  CHECK(failure(name) == "");
  // Every changed bit of magic number, sizes, first extent and text is rejected.
  CHECK(refused >= 8 * (4 * 8 + 8 + file.text().size()));
}

TEST_CASE("opening throws if a shared-memory file is shorter or longer than its header says") {
  const std::string name = segment_name("short");
  const rows x = ten_rows(name);
  const segment_file file(name);
  const std::size_t bytes = file.bytes();
  REQUIRE(bytes == 4096 + 80);
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 103, 104, 300, 4095, 4096, bytes - 1, bytes + 1, 8192}) {
    file.resize(size);
    INFO(size);
    CHECK_THAT(failure(name), ContainsSubstring("another program made or changed /dev/shm/devplace."));
  }
}

TEST_CASE("opening throws if the extents exceed the shared-memory file") {
  const std::string name = segment_name("extents");
  const rows x = ten_rows(name);
  const segment_file file(name);
  const segment_head valid = file.head();
  const std::string text = file.text(), line = "extents: ";
  const std::size_t at = text.find(line + "10x2");
  REQUIRE(at != std::string::npos);
  // The description matches the extents, as if another program had written the file.
  const auto forged = [&](std::uint64_t count, std::size_t bytes_of_data) {
    segment_head head = valid;
    std::string changed = text;
    changed.replace(at, line.size() + 4, line + std::to_string(count) + "x2");
    head.extents[0] = count;
    head.text_bytes = changed.size();
    head.total_bytes = head.data_begin + bytes_of_data;
    file.resize(static_cast<std::size_t>(head.total_bytes));
    file.set_head(head);
    file.set_text(changed);
    return failure(name);
  };
  CHECK(forged(10, 80) == "");
  const auto refused = ContainsSubstring("has a header that does not fit its file");
  CHECK_THAT(forged(11, 80), refused);
  CHECK_THAT(forged(100'000, 80), refused);
  CHECK_THAT(forged(10, 72), refused);
  CHECK_THAT(forged(10, 0), refused);
  CHECK_THAT(forged(std::uint64_t{1} << 40, 80), refused);
  CHECK_THAT(forged((std::uint64_t{1} << 61) + 10, 80), refused);  // times 8 bytes it is 80, modulo 2 to the 64
  CHECK_THAT(forged(~std::uint64_t{0}, 80), refused);
}

TEST_CASE("opening throws if data does not begin on the page after the description") {
  const std::string name = segment_name("begin");
  const matrix x = dp::create_shared<matrix>(name, matrix{{1, 2, 3}, {4, 5, 6}});
  const segment_file file(name);
  const segment_head valid = file.head();
  for (const std::uint64_t begin : {valid.data_begin + 1, valid.data_begin + 4, valid.data_begin - 64,
                                    sizeof(segment_head) + valid.text_bytes, std::uint64_t{0}, ~std::uint64_t{0}}) {
    segment_head head = valid;
    head.data_begin = begin;
    file.set_head(head);
    INFO(begin);
    CHECK_THROWS_WITH(dp::open_shared<matrix>(name), ContainsSubstring("has a header that does not fit its file"));
  }
  file.set_head(valid);
  CHECK(dp::open_shared<matrix>(name)(1, 2) == 6);
}
