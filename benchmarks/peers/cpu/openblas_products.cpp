// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products of float and double by OpenBLAS: the questions `product` of operations_bench.cpp.

#include <cstddef>
#include <string>
#include <vector>

#include <cblas.h>

#include "support/product_shape.hpp"
#include "support/questions.hpp"
#include "support/timing.hpp"

namespace {

template <class T> double product(const devplace::bench::product_shape& s) {
  const std::vector<T> a(s.m * s.k, T(0.5)), b(s.k * s.n, T(0.25));
  std::vector<T> c(s.m * s.n);
  const auto transpose_a = s.transpose_a ? CblasTrans : CblasNoTrans;
  const auto transpose_b = s.transpose_b ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  const int lda = s.transpose_a ? m : k, ldb = s.transpose_b ? k : n;
  return devplace::bench::time_of([&] {
    if constexpr (sizeof(T) == 8)
      cblas_dgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), n);
    else
      cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), n);
  });
}

}  // namespace

int main() {
  devplace::bench::answer_questions(openblas_set_num_threads, [](const std::string& what, const std::string& of) {
    if (what != "product") return devplace::bench::not_done;
    const devplace::bench::product_shape shape(of);
    return shape.type == "double" ? product<double>(shape) : product<float>(shape);
  });
}
