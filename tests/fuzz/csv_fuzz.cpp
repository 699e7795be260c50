// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: read_csv accepts any input or throws an error. Writes and reads the numbers of each accepted input
// again. The first two bytes choose the options.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/io/detail/csv_text.hpp>

#include "memory_source.hpp"
#include "mutate_valid_files.hpp"

namespace {

std::string seed_file(unsigned number) {
  constexpr const char* files[] = {"\1,a,b\n1,2\n3.5,-4e3\n", "\1;\"a\"\"\";b\r\n\"1\"; 2 \r\n\r\n+nan;inf\r\n",
                                   "\2,1,2\n,NA\n",           "\4,a,b,c\n1,x,3\n",
                                   "\1\ta\n1e-400\n\t1\n",    "\3,a\n1\n\n3\n \n"};
  return files[number % 6];
}

template <class T>
std::vector<T> numbers(std::string_view text, const devplace::csv_options& options, std::size_t& columns) {
  devplace::detail::csv_text file(text, options, "input");
  columns = file.columns();
  const std::size_t rows = file.rows();
  require(columns > 0 && rows <= text.size() && columns <= text.size() + 3);
  std::vector<T> result(rows * columns);
  file.parse(result.data());
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  devplace::csv_options options;
  options.header = (data[0] & 1) != 0;
  if ((data[0] & 2) != 0) options.missing = 7;
  if ((data[0] & 4) != 0) options.columns = {2, 0};
  if ((data[0] & 8) != 0) options.columns.push_back("b");
  options.delimiter = static_cast<char>(data[1]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::size_t columns = 0;
  try {
    static_cast<void>(numbers<std::int32_t>(text, options, columns));
  } catch (const devplace::error&) {
  }
  std::vector<double> found;
  try {
    found = numbers<double>(text, options, columns);
  } catch (const devplace::error&) {
    return 0;
  }
  std::string written;
  for (std::size_t i = 0; i < found.size(); ++i) {
    char digits[64];
    written.append(digits, std::to_chars(digits, digits + sizeof digits, found[i]).ptr);
    written += (i + 1) % columns == 0 ? '\n' : ',';
  }
  if (found.empty()) return 0;
  const std::vector<double> again = numbers<double>(written, {.header = false}, columns);
  require(again.size() == found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    require(again[i] == found[i] || (again[i] != again[i] && found[i] != found[i]));
  return 0;
}
