// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace::detail {

/// The result of a function whose static_assert failed. Converts to everything, so that the compiler reports no further
/// error for each use of the result. Functions that assert return `auto`: they are instantiated at the call, and the
/// compiler shows the user's line.
struct refusal {
  template <class T> operator T() const;
  template <class Stream> friend Stream& operator<<(Stream& stream, refusal);
  template <class X> friend refusal operator+(const X&, refusal);
  template <class X> friend refusal operator-(const X&, refusal);
  template <class X> friend refusal operator+=(const X&, refusal);
  template <class X> friend refusal operator-=(const X&, refusal);
  refusal item() const;
  const refusal* begin() const;
  const refusal* end() const;
};

/// False for every type: the condition of an assertion that fails whenever its template is used.
template <class...> inline constexpr bool accepted = false;

}  // namespace devplace::detail
