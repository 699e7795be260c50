// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_nccl/mock_nccl.hpp"

namespace devplace::test {

/// A buffer on each of this process's devices, which are the participants from `first` on. The values are integers, so
/// sums are exact in any order.
template <class T> class rank_buffers {
 public:
  rank_buffers(std::span<const int> ordinals, std::size_t count, int first = 0)
      : count_(count), ordinals_(ordinals.begin(), ordinals.end()) {
    for (std::size_t k = 0; k != ordinals.size(); ++k) {
      blocks_.push_back(detail::allocate<backend::cuda>(ordinals[k], count * sizeof(T)));
      at_.push_back(static_cast<T*>(blocks_[k].data()));
      detail::copy_in<backend::cuda>(ordinals[k], at_[k], start(first + static_cast<int>(k), count).data(),
                                     count * sizeof(T));
    }
  }
  static std::vector<T> start(int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i != count; ++i) values[i] = static_cast<T>(rank * 20 + static_cast<int>(i % 7));
    return values;
  }
  std::span<T* const> span() const { return at_; }
  std::vector<T> values(std::size_t k) const {
    std::vector<T> result(count_);
    detail::copy_out<backend::cuda>(ordinals_[k], result.data(), at_[k], count_ * sizeof(T));
    return result;
  }

 private:
  std::size_t count_;
  std::vector<int> ordinals_;
  std::vector<detail::memory_block> blocks_;
  std::vector<T*> at_;
};

/// The result of `f(communicator, buffers)` with `direct` on the CPU, for each participant.
template <class T, class F> std::vector<std::vector<T>> by_direct(std::size_t ranks, std::size_t count, const F& f) {
  std::vector<std::vector<T>> values;
  std::vector<T*> at;
  for (std::size_t r = 0; r != ranks; ++r) values.push_back(rank_buffers<T>::start(static_cast<int>(r), count));
  for (auto& one : values) at.push_back(one.data());
  const std::vector<int> ordinals(ranks, 0);
  parallel::direct<backend::cpu> reference(ordinals);
  f(reference, std::span<T* const>(at));
  return values;
}

/// The violations that the mocks recorded, one per line.
inline std::string violations() {
  std::string all;
  for (const auto& some : {mock_cuda::violations(), mock_nccl::violations()})
    for (const std::string& violation : some) all += violation + "\n";
  return all;
}

}  // namespace devplace::test
