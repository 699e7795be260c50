// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

namespace devplace::detail {

/// An element type at run time: its names and codes in files and libraries. MPI has no column, because MPI's handles
/// need not be constants (parallel/detail/mpi_collective_calls.hpp).
struct dtype {
  const char* name;              ///< dtype_name()
  std::size_t bytes;             ///< of an element
  std::string_view npy;          ///< `descr` of NumPy's files; empty: none
  std::string_view safetensors;  ///< `dtype` of safetensors files
  unsigned char idx;             ///< code in IDX files; 0: none
  unsigned char dlpack;          ///< DLDataTypeCode
  int cuda;                      ///< cudaDataType_t, for cuBLASLt
  int cudnn;                     ///< cudnnDataType_t
  int nccl;                      ///< ncclDataType_t
};

template <class T> struct dtype_row : dtype {};

template <class... T> struct dtype_table : std::array<dtype, sizeof...(T)> {
  constexpr explicit dtype_table(const dtype_row<T>&... row) : std::array<dtype, sizeof...(T)>{row...} {}

  /// Whether X is one of the types. std::is_same_v would be instantiated for each pair of types.
  template <class X> static constexpr bool has = (__is_same(X, T) || ...);
  /// Returns the row of X, or null.
  template <class X> constexpr const dtype* find() const {
    const dtype* row = this->data();
    return ((std::is_same_v<X, T> || (++row, false)) || ...) ? row : nullptr;
  }
  /// Whether the member `code` of the rows has the values `codes`, in the order of the types.
  constexpr bool have(int dtype::* code, const int (&codes)[sizeof...(T)]) const {
    const int* expected = codes;
    return ((find<T>()->*code == *expected++) && ...);
  }
};

/// The element types of tensors. A new type needs a row here and a class like bf16, which converts from and to float.
inline constexpr dtype_table dtypes(  // columns: the members of dtype
    dtype_row<float>{{"float", 4, "<f4", "F32", 0x0d, 2, 0, 0, 7}},
    dtype_row<double>{{"double", 8, "<f8", "F64", 0x0e, 2, 1, 1, 8}},
    dtype_row<half>{{"half", 2, "<f2", "F16", 0, 2, 2, 2, 6}},
    dtype_row<bf16>{{"bf16", 2, "", "BF16", 0, 4, 14, 9, 9}},  // NumPy has no bf16
    dtype_row<std::int32_t>{{"int32", 4, "<i4", "I32", 0x0c, 0, 10, 4, 2}},
    dtype_row<std::int64_t>{{"int64", 8, "<i8", "I64", 0, 0, 24, 10, 4}},
    dtype_row<std::uint8_t>{{"uint8", 1, "|u1", "U8", 0x08, 1, 8, 6, 1}});

/// The row of T; null if T is not an element type.
template <class T> inline constexpr const dtype* dtype_of = dtypes.find<T>();

// A bool instead of a concept, because compilers explain at length why a concept is not satisfied.
template <class T> inline constexpr bool is_element = decltype(dtypes)::has<T>;

/// Floating-point types that only store numbers; arithmetic is done in float.
template <class T>
concept storage_element = is_element<T> && !std::is_arithmetic_v<T>;

}  // namespace devplace::detail

namespace devplace {

/// Element types of tensors: float, double, int32, int64, uint8, and for storage bf16 and half.
template <class T>
concept element = detail::is_element<T>;

/// Floating-point storage types of 16 bits; arithmetic is done in float.
template <class T>
concept half_precision_element = element<T> && detail::storage_element<T> && sizeof(T) == 2;

/// Element types that parameters and gradients can have.
template <class T>
concept floating_element = element<T> && (std::same_as<T, float> || std::same_as<T, double>);

namespace detail {

// Bools instead of concepts, for the reason given at is_element.
template <class T> inline constexpr bool is_half_precision = half_precision_element<T>;
template <class T> inline constexpr bool is_floating = floating_element<T>;

/// The type in which elements of type T are computed: float for storage types, otherwise T.
template <class T> using computed_t = std::conditional_t<storage_element<T>, float, T>;

/// Floating-point element types, including storage types.
template <class T> inline constexpr bool is_floating_or_half_precision = is_element<T> && !std::is_integral_v<T>;

// Kernels can use these constants, but cannot call the functions of std::numeric_limits.
template <class T>
  requires(!std::is_integral_v<T>)
inline constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
  requires(!std::is_integral_v<T>)
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

template <element T> inline constexpr T lowest_number = std::numeric_limits<T>::lowest();

template <element T> inline constexpr T highest_number = std::numeric_limits<T>::max();

}  // namespace detail

/// The element type's name without namespace: `float`, `int64`.
template <element T> constexpr const char* dtype_name() { return detail::dtype_of<T>->name; }

}  // namespace devplace
