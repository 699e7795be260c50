// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <devplace/base/joined.hpp>
#include <devplace/ops/detail/product_arguments.hpp>

namespace devplace::detail {

/// The epilogues of cuBLASLt that are used with a product C = alpha op(A) op(B) + beta C of row-major matrices.
enum class library_epilogue : unsigned char {
  none,
  bias,     ///< adds a vector to every row of C
  row_sums  ///< writes the sums of the rows of op(A) to a vector
};

/// Everything that the choice of an algorithm depends on. Excludes alpha and beta: descriptors do not contain them, and
/// an algorithm works for any alpha and beta.
struct product_key {
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t lda = 0, ldb = 0, ldc = 0;
  std::uint64_t batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;  ///< number of products, and strides in elements
  bool transpose_a = false, transpose_b = false;
  const dtype *operand = dtype_of<float>, *result = dtype_of<float>;
  product_math math = product_math::strict;
  library_epilogue epilogue = library_epilogue::none;
  std::uint32_t align_a = 0, align_b = 0, align_c = 0, align_vector = 0;  ///< bytes, powers of two

  friend auto operator<=>(const product_key&, const product_key&) = default;
};

/// Returns the largest power of two, up to 256, that divides an address.
inline std::uint32_t alignment_of(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address) | std::uintptr_t{256};
  return static_cast<std::uint32_t>(value & (~value + 1));
}

/// Returns the alignment shared by all addresses at multiples of `stride` elements from `data`.
template <class T> std::uint32_t alignment_of(const T* data, std::size_t stride) {
  return std::min(alignment_of(data), alignment_of(reinterpret_cast<const void*>(stride * sizeof(T))));
}

/// Makes the key of products; `vector` is the epilogue's vector, null if it has none.
template <class T, class C>
product_key make_product_key(const gemm_batch<T, C>& batch, library_epilogue epilogue, const void* vector) {
  const gemm_arguments<T, C>& g = batch.first;
  product_key key;
  key.batch = batch.count, key.stride_a = batch.stride_a, key.stride_b = batch.stride_b, key.stride_c = batch.stride_c;
  key.m = g.m, key.n = g.n, key.k = g.k;
  key.lda = g.lda, key.ldb = g.ldb, key.ldc = g.ldc;
  key.transpose_a = g.transpose_a, key.transpose_b = g.transpose_b;
  key.operand = dtype_of<T>, key.result = dtype_of<C>;
  key.math = g.math;
  key.epilogue = epilogue;
  key.align_a = alignment_of(g.a, batch.stride_a), key.align_b = alignment_of(g.b, batch.stride_b);
  key.align_c = alignment_of(g.c, batch.stride_c);
  key.align_vector = vector == nullptr ? 0 : alignment_of(vector);
  return key;
}

inline const char* precision_name(const dtype* operand, product_math math) {
  return math == product_math::tf32 ? "tf32" : operand->name;
}

/// Describes the key for error messages: "the product 64x256 = 64x784 by 784x256 (float; rows are 784, 784 and 256
/// elements apart; ...)".
DEVPLACE_COMPILABLE() std::string to_string(const product_key& key) {
  const auto size = [](std::uint64_t rows, std::uint64_t columns, bool transposed) {
    return joined({rows, "x", columns, transposed ? " (transposed)" : ""});
  };
  return joined({"the product ", size(key.m, key.n, false), " = ", size(key.m, key.k, key.transpose_a), " by ",
                 size(key.k, key.n, key.transpose_b), " (", precision_name(key.operand, key.math),
                 key.result == key.operand ? "" : " into float", "; stored rows are ", key.lda, ", ", key.ldb, " and ",
                 key.ldc, " elements apart", key.batch == 1 ? "" : joined({"; ", key.batch, " products of this shape"}),
                 key.epilogue == library_epilogue::bias       ? "; with a bias"
                 : key.epilogue == library_epilogue::row_sums ? "; with the sums of the first operand's rows"
                                                              : "",
                 ")"});
}
DEVPLACE_COMPILED_APART(std::string to_string(const product_key&))

/// Returns the entry of `key` in a cache, made by `make()` at its first use. A full cache loses the entry that was used
/// least recently. Does not allocate if the entry exists.
template <class Key, class Entry, class Make>
Entry& find_or_make(std::map<Key, Entry>& cache, std::size_t capacity, const Key& key, const Make& make) {
  auto found = cache.find(key);
  if (found == cache.end()) {
    Entry made = make();
    const auto older = [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; };
    if (cache.size() == capacity) cache.erase(std::min_element(cache.begin(), cache.end(), older));
    found = cache.emplace(key, std::move(made)).first;
  }
  return found->second;
}

}  // namespace devplace::detail
