// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/reduce_in_rank_order.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel {

/// How MPI accesses elements on a device: through pinned host memory, or directly at their addresses.
enum class mpi_access : unsigned char { staged, direct };

namespace detail {

/// Gives MPI access to the elements of a device's buffer: directly, or window by window through pinned memory.
template <class Backend> class mpi_elements {
  static constexpr bool of_host = std::is_same_v<Backend, backend::cpu>;

 public:
  /// `ordinal` is the first of this process's `places` devices; errors name this first device. Windows have at most
  /// `portion` bytes if the elements are staged, otherwise at most `most` elements.
  mpi_elements(int ordinal, std::size_t places, mpi_access access, std::size_t portion, std::size_t most)
      : ordinal_(ordinal),
        places_(places),
        staged_(!of_host && access == mpi_access::staged),
        portion_(portion),
        most_(most) {}

  /// Allocates the memory for windows of up to `count` elements.
  void reserve(std::size_t count, std::size_t element_bytes) {
    const std::size_t bytes = std::min(window(element_bytes), count) * element_bytes;
    if (!staged_ || block_.bytes() >= bytes) return;
    block_ = {};
    block_ = devplace::detail::allocate<staging_backend>(0, bytes, memory_purpose::workspace);
  }
  /// Calls f(first, last) for each window of the elements [begin, end).
  template <class T, class F> void in_windows(std::size_t begin, std::size_t end, const F& f) {
    reserve(end - begin, sizeof(T));
    for (std::size_t first = begin, last = begin; first != end; first = last) {
      last = first + std::min(window(sizeof(T)), end - first);
      f(first, last);
    }
  }

  /// Waits until the device has computed the elements [from, to) of `buffer`, and stages the elements if necessary.
  /// Returns the address that MPI uses for element `first`, the first one of the window.
  template <class T> T* take(T* buffer, std::size_t first, std::size_t from, std::size_t to) {
    T* const elements = buffer + first;
    if constexpr (of_host) {
      return elements;
    } else {
      T* const for_mpi = staged_ ? static_cast<T*>(block_.data()) : elements;
      on_device([&] {
        if (staged_)
          devplace::detail::copy_out<Backend>(ordinal_, for_mpi + (from - first), buffer + from,
                                              (to - from) * sizeof(T));
        else
          devplace::detail::memory_of<Backend>().wait(ordinal_);
      });
      return for_mpi;
    }
  }
  /// Copies MPI's result at `from` to the device's memory `to`.
  template <class T> void put(T* to, const T* from, std::size_t count) {
    if (to == from || count == 0) return;
    if constexpr (of_host) {
      std::memmove(to, from, count * sizeof(T));
    } else {
      on_device([&] {
        if (staged_)
          devplace::detail::copy_in<Backend>(ordinal_, to, from, count * sizeof(T));
        else
          devplace::detail::copy_within<Backend>(ordinal_, to, from, count * sizeof(T));
      });
    }
  }
  /// Divides MPI's sums over `participants` in place if `op` is a mean.
  template <class T> void divide(T* at, std::size_t count, reduction op, int participants) {
    if (op != reduction::mean) return;
    with_reduction<T>(op, [&]<reduction Op>() {
      const finish_reduction<T, Op> divided{at, participants};
      if (staged_)
        devplace::detail::for_each_index<backend::cpu>(0, count, grain, divided);
      else
        devplace::detail::for_each_index<Backend>(ordinal_, count, grain, divided);
    });
  }

 private:
  using staging_backend = std::conditional_t<of_host, backend::cpu, backend::pinned>;
  static constexpr std::size_t grain = 16384;

  std::size_t window(std::size_t element_bytes) const {
    return staged_ ? std::max(portion_ / element_bytes, std::size_t{1}) : most_;
  }
  template <class F> void on_device(const F& f) {
    devplace::detail::on_behalf_of_replica<Backend>(0, places_, ordinal_, f);
  }

  int ordinal_;
  std::size_t places_;
  bool staged_;
  std::size_t portion_, most_;
  devplace::detail::memory_block block_;
};

}  // namespace detail
}  // namespace devplace::parallel
