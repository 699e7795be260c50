// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::test {

/// Values on device 0 of a backend, which may be a test backend.
template <class Backend, class T> class values_on {
 public:
  explicit values_on(const std::vector<T>& values)
      : block_(detail::allocate<Backend>(0, values.size() * sizeof(T))), size_(values.size()) {
    detail::copy_in<Backend>(0, block_.data(), values.data(), size_ * sizeof(T));
  }

  T* data() const { return static_cast<T*>(block_.data()); }
  view<const T, extents<dyn>, here<Backend>> in() const { return {data(), extents<dyn>{size_}}; }
  view<T, extents<dyn>, here<Backend>> out() const { return {data(), extents<dyn>{size_}}; }
  view<T, extents<dyn, dyn>, here<Backend>> matrix(std::size_t rows) const {
    return {data(), extents<dyn, dyn>{rows, size_ / rows}};
  }

  std::vector<T> read() const {
    std::vector<T> result(size_);
    detail::copy_out<Backend>(0, result.data(), block_.data(), size_ * sizeof(T));
    return result;
  }

 private:
  detail::memory_block block_;
  std::size_t size_;
};

/// Returns the elements of `formula(view...)`.
template <class Backend, class R, class Formula, class First, class... Rest>
std::vector<R> elements(const Formula& formula, const std::vector<First>& x, const std::vector<Rest>&... more) {
  const values_on<Backend, R> result{std::vector<R>(x.size())};
  const auto compute = [&](const auto&... on) { result.out() = formula(on.in()...); };
  compute(values_on<Backend, First>(x), values_on<Backend, Rest>(more)...);
  return result.read();
}

}  // namespace devplace::test
