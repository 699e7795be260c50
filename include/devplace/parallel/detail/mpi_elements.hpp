// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/combine.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel {

/// How MPI gets elements that lie on a device: through pinned memory of the host, or by their addresses.
enum class mpi_access : unsigned char { staged, direct };

namespace detail {

/// Where MPI finds the elements of a device's buffer: where they are, or in pinned memory that they are copied to, as
/// many as a window has at a time.
template <class Backend>
class mpi_elements {
  static constexpr bool of_host = std::is_same_v<Backend, backend::cpu>;

 public:
  /// The first of `places` devices of this process has the number `ordinal`; it is named in errors. Windows have at
  /// most `portion` bytes if the elements are staged, else at most `most` elements.
  mpi_elements(int ordinal, std::size_t places, mpi_access access, std::size_t portion, std::size_t most)
      : ordinal_(ordinal),
        places_(places),
        staged_(!of_host && access == mpi_access::staged),
        portion_(portion),
        most_(most) {}

  /// Allocates what windows of up to `count` elements need.
  void reserve(std::size_t count, std::size_t element_bytes) {
    const std::size_t bytes = std::min(window(element_bytes), count) * element_bytes;
    if (!staged_ || block_.bytes() >= bytes) return;
    block_ = {};
    block_ = devplace::detail::allocate<staging_backend>(0, bytes, memory_purpose::workspace);
  }
  /// Calls f(first, last) for each window of the elements from `begin` to `end`.
  template <class T, class F>
  void in_windows(std::size_t begin, std::size_t end, const F& f) {
    reserve(end - begin, sizeof(T));
    for (std::size_t first = begin, last = begin; first != end; first = last) {
      last = first + std::min(window(sizeof(T)), end - first);
      f(first, last);
    }
  }

  /// Where MPI finds elements of `buffer`, which the window from `first` on begins with, after the device has computed
  /// [from, to).
  template <class T>
  T* take(T* buffer, std::size_t first, std::size_t from, std::size_t to) {
    T* const there = buffer + first;
    if constexpr (of_host) {
      return there;
    } else {
      T* const here = staged_ ? static_cast<T*>(block_.data()) : there;
      on_device([&] {
        if (staged_)
          devplace::detail::copy_out<Backend>(ordinal_, here + (from - first), buffer + from, (to - from) * sizeof(T));
        else
          devplace::detail::memory_of<Backend>().wait(ordinal_);
      });
      return here;
    }
  }
  /// Writes elements that MPI has put at `from` to the device's memory `to`.
  template <class T>
  void put(T* to, const T* from, std::size_t count) {
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
  /// Makes means of sums over `participants`, where MPI has put them.
  template <class T>
  void divide(T* at, std::size_t count, reduction op, int participants) {
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
  /// Number of elements that justify a thread.
  static constexpr std::size_t grain = 16384;

  std::size_t window(std::size_t element_bytes) const {
    return staged_ ? std::max(portion_ / element_bytes, std::size_t{1}) : most_;
  }
  template <class F>
  void on_device(const F& f) {
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
