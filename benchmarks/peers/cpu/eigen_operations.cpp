// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products, the chain of elementwise operations and sums by Eigen, for these questions of operations_bench.cpp.
// Eigen uses threads for products only.

#include <string>

#include <Eigen/Core>

#include "support/product_shape.hpp"
#include "support/questions.hpp"
#include "support/timing.hpp"

namespace {

using devplace::bench::time_of;

template <class T> double product(const devplace::bench::product_shape& s) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto m = static_cast<Eigen::Index>(s.m), n = static_cast<Eigen::Index>(s.n), k = static_cast<Eigen::Index>(s.k);
  const matrix a = s.transpose_a ? matrix::Random(k, m) : matrix::Random(m, k);
  const matrix b = s.transpose_b ? matrix::Random(n, k) : matrix::Random(k, n);
  matrix c(m, n);
  return time_of([&] {
    if (s.transpose_a)
      c.noalias() = a.transpose() * b;
    else if (s.transpose_b)
      c.noalias() = a * b.transpose();
    else
      c.noalias() = a * b;
  });
}

double chain(Eigen::Index n) {
  const Eigen::ArrayXf a = Eigen::ArrayXf::Random(n), b = Eigen::ArrayXf::Random(n), c = Eigen::ArrayXf::Random(n),
                       d = Eigen::ArrayXf::Random(n), e = Eigen::ArrayXf::Random(n);
  Eigen::ArrayXf y(n);
  return time_of([&] { y = (a * b + c).max(0.0F) * d - e; });
}

double sum(Eigen::Index n) {
  const Eigen::ArrayXf a = Eigen::ArrayXf::Random(n);
  volatile float kept = 0;
  return time_of([&] { kept = a.sum(); });
}

}  // namespace

int main() {
  devplace::bench::answer_questions(Eigen::setNbThreads, [](const std::string& what, const std::string& of) {
    if (what == "product") {
      const devplace::bench::product_shape shape(of);
      return shape.type == "double" ? product<double>(shape) : product<float>(shape);
    }
    if (what == "chain") return chain(std::stol(of));
    if (what == "sum") return sum(std::stol(of));
    return devplace::bench::not_done;
  });
}
