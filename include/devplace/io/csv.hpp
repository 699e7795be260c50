// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <string>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/csv_options.hpp>
#include <devplace/io/detail/csv_text.hpp>
#include <devplace/io/input_file.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads columns of numbers of a CSV file into a tensor on the CPU, one row per line: `auto x = dp::read_csv<float,
/// dp::extents<dp::dyn, 3>>("x.csv", {.columns = {"height", "weight", 7}})`. With one axis, `extents<dyn>`, reads a
/// single column, such as labels.
///
/// Fields may be quoted, with doubled quotation marks inside, and have spaces and tabs around them, but no line breaks
/// inside. Lines end with LF or CRLF; UTF-8's byte order mark is skipped. All lines have as many fields as the first
/// line. Blank lines are skipped, except in a file of one column, where they are empty fields. Numbers are parsed as by
/// std::from_chars in any locale, with an optional plus sign; nan and inf are numbers. Numbers too small for the type
/// become zero, numbers too large are errors. `T` is float, double, int32, int64 or uint8.
///
/// Throws file_error with the line and the column, both counted from 1, for text that is no number, for missing fields
/// (see csv_options::missing) and for an unknown column. Throws argument_error for wrong options. Reads the whole file
/// into memory. Use `to<Where>` to bring the tensor to another place.
template <class T = void, class Extents = void>
auto read_csv(const std::string& path, const csv_options& options = {}) try {
  constexpr bool is_type = detail::is_element<T> && !detail::storage_element<T>, is_shape = extents_like<Extents>;
  static_assert(is_type && is_shape,
                "devplace: read_csv: the element type (float, double, std::int32_t, std::int64_t or std::uint8_t) and "
                "the extents are the template arguments, as in read_csv<float, extents<dyn, 3>>(path).");
  if constexpr (is_type && is_shape) {
    static_assert(Extents::rank == 1 || Extents::rank == 2,
                  "devplace: read_csv: a file has rows and columns, extents<dyn, 3>, or one column, extents<dyn>.");
    const std::string content = detail::text_of_file(path, "read_csv");
    detail::csv_text text(content, options, path);
    const std::array<std::size_t, 2> found{text.rows(), text.columns()};
    const bool one_column = Extents::rank == 1 && found[1] == 1;
    tensor<T, Extents, on<cpu>> result(
        detail::checked_extents<Extents>(std::span(found).first(one_column ? 1 : 2), {"read_csv", path}));
    text.parse(result.data());
    return result;
  } else {
    return 0;
  }
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the tensor of read_csv");
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
