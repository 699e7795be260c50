// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/dtype.hpp>

// The default print format of numpy 2.3 and later: the shortest digits that parse to the same number, at most 8 of them
// after the point. All numbers of an array have one format and are aligned at the point.
namespace devplace::detail {

/// Maximum number of digits after the point.
inline constexpr std::size_t print_precision = 8;

/// A number split at its point: `-12.5` is `-12` and `5`. The fraction has no trailing zeros.
struct printed_number {
  std::string whole;
  std::string fraction;  // digits
  std::string exponent;  // `e+05`, or empty
};

inline printed_number split(std::string text) {
  printed_number result;
  const std::size_t e = text.find('e');
  if (e != std::string::npos) {
    result.exponent = text.substr(e);
    text.resize(e);
  }
  const std::size_t point = text.find('.');
  result.whole = text.substr(0, point);
  if (point != std::string::npos) result.fraction = text.substr(point + 1);
  result.fraction.resize(result.fraction.find_last_not_of('0') + 1);
  return result;
}

/// Formats x as printf's %.<precision>f, e or g in the C locale.
inline std::string rounded_text(double x, std::chars_format format, std::size_t precision) {
  char buffer[512];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, x, format, static_cast<int>(precision)).ptr};
}

/// Shortest digits of a finite number, rounded to at most print_precision after the point.
template <class T> printed_number shortest(T x, std::chars_format format) {
  char buffer[512];
  const printed_number result = split({buffer, std::to_chars(buffer, std::end(buffer), x, format).ptr});
  return result.fraction.size() > print_precision ? split(rounded_text(x, format, print_precision)) : result;
}

inline std::string padded_left(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

template <class T> std::string not_finite(T x) {
  return is_nan(static_cast<double>(x)) ? "nan" : x < 0 ? "-inf" : "inf";
}

/// Whether numpy writes an array of these finite numbers with exponents.
template <class T> bool needs_exponents(const std::vector<T>& finite) {
  T largest = 0, smallest = 0;
  for (const T x : finite) {
    const T magnitude = std::fabs(x);
    if (magnitude == 0) continue;
    largest = std::max(largest, magnitude);
    smallest = smallest == 0 ? magnitude : std::min(smallest, magnitude);
  }
  return largest != 0 &&
         (largest >= (sizeof(T) == 4 ? T(1e6) : T(1e8)) || smallest < T(1e-4) || largest / smallest > T(1000));
}

/// Formats each number; all texts have the same width.
template <class T> std::vector<std::string> format_numbers(const std::vector<T>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  if constexpr (std::is_integral_v<T>) {
    for (const T x : numbers) texts.push_back(std::to_string(x));
  } else if constexpr (storage_element<T>) {
    return format_numbers(std::vector<float>(numbers.begin(), numbers.end()));
  } else {
    std::vector<T> finite;
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(finite), [](T x) { return is_finite(x); });
    const bool scientific = needs_exponents(finite);
    const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
    std::size_t whole = 0, fraction = 0, exponent = 0;
    for (const T x : finite) {
      const printed_number printed = shortest(x, format);
      whole = std::max(whole, printed.whole.size());
      fraction = std::max(fraction, printed.fraction.size());
      exponent = std::max(exponent, printed.exponent.size());
    }
    for (const T x : numbers) {
      if (!is_finite(x)) {
        texts.push_back(not_finite(x));
        continue;
      }
      // As numpy does, pads fractions to a common width: with further digits before exponents, otherwise with blanks.
      const printed_number printed = scientific ? split(rounded_text(x, format, fraction)) : shortest(x, format);
      std::string text = joined({padded_left(printed.whole, whole), ".", printed.fraction});
      text.append(fraction - printed.fraction.size(), scientific ? '0' : ' ');
      if (!printed.exponent.empty())
        text += printed.exponent.substr(0, 2) + std::string(exponent - printed.exponent.size(), '0') +
                printed.exponent.substr(2);
      texts.push_back(text);
    }
  }
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text = padded_left(text, width);
  return texts;
}

/// Formats a single number with all its digits: `3.0`, `1e-05`.
template <class T> [[DEVPLACE_FOR_SIZE]] std::string format_number(T x) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(x);
  } else {
    if (!is_finite(static_cast<double>(x))) return not_finite(x);
    const double magnitude = std::fabs(static_cast<double>(x)), limit = sizeof(T) == 4 ? 1e6 : 1e16;
    const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= limit);
    char buffer[64];
    const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
    const std::string text(buffer, std::to_chars(buffer, std::end(buffer), x, format).ptr);
    return scientific || text.find('.') != std::string::npos ? text : text + ".0";
  }
}
DEVPLACE_COMPILED(std::string format_number(float))
DEVPLACE_COMPILED(std::string format_number(double))

}  // namespace devplace::detail
