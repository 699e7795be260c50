// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/place/replica_error.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/process/mpi_calls.hpp>

#if defined(OPEN_MPI) && OPEN_MPI && __has_include(<mpi-ext.h>)
  #include <mpi-ext.h>
#endif

namespace devplace::parallel {

/// How MPI accesses elements on a device: through pinned host memory, or directly at their addresses.
enum class mpi_access : unsigned char { staged, direct };

namespace detail {

/// Divides sums by the number of participants.
template <class T> struct divide_sum {
  T* sums;
  int participants;

  DEVPLACE_HD void operator()(std::size_t i) const {
    sums[i] = combine<T, reduction::mean>::finish(sums[i], participants);
  }
};
/// If `op` is a mean, divides MPI's sums in place.
template <class Backend, class T>
void divide_sums(int ordinal, T* sums, std::size_t count, reduction op, int participants) {
  if constexpr (std::is_floating_point_v<T>)
    if (op == reduction::mean)
      devplace::detail::for_each_index<Backend>(ordinal, count, 16384, divide_sum<T>{sums, participants});
}

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
  template <class T> void divide(T* at, std::size_t count, reduction op, int participants) {
    if (staged_)
      divide_sums<backend::cpu>(0, at, count, op, participants);
    else
      divide_sums<Backend>(ordinal_, at, count, op, participants);
  }

 private:
  using staging_backend = std::conditional_t<of_host, backend::cpu, backend::pinned>;

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

/// Collects the work that remains when MPI's started reductions have ended: finish() moves results and divides the sums
/// of means.
class mpi_unfinished {
 public:
  template <class T> void add(T* to, const T* from, std::size_t count, reduction op) {
    if (to != from || op == reduction::mean) results_.push_back({to, from, count, op, &finish_one<T>});
  }
  void finish(int participants) const {
    for (const result& one : results_) one.finish(one, participants);
  }
  void clear() noexcept { results_.clear(); }

 private:
  struct result {
    void* to;
    const void* from;
    std::size_t count;
    reduction op;
    void (*finish)(const result&, int participants);
  };

  template <class T> static void finish_one(const result& one, int participants) {
    std::memmove(one.to, one.from, one.count * sizeof(T));
    divide_sums<backend::cpu>(0, static_cast<T*>(one.to), one.count, one.op, participants);
  }

  std::vector<result> results_;
};

/// The sizes and displacements of the processes' parts of a window, as arguments of MPI.
struct mpi_counts {
  explicit mpi_counts(std::size_t processes) : sizes(processes), displacements(processes) {}

  /// Divides the window [first, last) among the processes; the elements of process p begin at begins[p * places].
  /// Returns the elements of process `own` in the window.
  element_range divide(std::span<const std::size_t> begins, std::size_t places, std::size_t first, std::size_t last,
                       std::size_t own) {
    const auto at = [&](std::size_t process) { return std::clamp(begins[process * places], first, last); };
    for (std::size_t p = 0; p != sizes.size(); ++p) {
      sizes[p] = static_cast<int>(at(p + 1) - at(p));
      displacements[p] = static_cast<int>(at(p) - first);
    }
    return {at(own), at(own + 1)};
  }
  /// The first element and the size of process p's part of the window.
  std::pair<std::size_t, std::size_t> part(std::size_t p) const {
    return {static_cast<std::size_t>(displacements[p]), static_cast<std::size_t>(sizes[p])};
  }
  /// Whether the part of a process overlaps its place at the begin of the window, to which MPI_Ireduce_scatter moves
  /// the part: MPICH does so by memcpy.
  bool moves_overlap() const {
    for (std::size_t p = 1; p < sizes.size(); ++p)
      if (displacements[p] < sizes[p]) return true;
    return false;
  }

  std::vector<int> sizes, displacements;
};

/// MPI's type of an element. MPI takes bf16 and half for integers of equal size, and reduces them by functions of
/// devplace.
template <class T> MPI_Datatype mpi_type() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (sizeof(T) == 1)
    return is_signed ? MPI_INT8_T : MPI_UINT8_T;
  else if constexpr (sizeof(T) == 2)
    return is_signed ? MPI_INT16_T : MPI_UINT16_T;
  else if constexpr (sizeof(T) == 4)
    return is_signed ? MPI_INT32_T : MPI_UINT32_T;
  else {
    static_assert(sizeof(T) == 8, "devplace: collective::mpi reduces numbers of 1, 2, 4 or 8 bytes.");
    return is_signed ? MPI_INT64_T : MPI_UINT64_T;
  }
}

/// Returns MPI's operation for elements of type T; for a mean, the operation of the sum. Creates the operation once if
/// MPI has none. MPI must be initialised.
template <class T> MPI_Op mpi_operation(reduction op) {
  if constexpr (std::is_arithmetic_v<T>) {
    return op == reduction::max ? MPI_MAX : op == reduction::min ? MPI_MIN : MPI_SUM;
  } else {
    MPI_Op result = MPI_OP_NULL;
    with_reduction<T>(op, [&]<reduction Op>() {
      static const MPI_Op operation = [] {
        const auto both = [](void* in, void* in_out, int* count, MPI_Datatype*) {
          for (int i = 0; i != *count; ++i) {
            T& to = static_cast<T*>(in_out)[i];
            to = combine<T, Op>::both(static_cast<const T*>(in)[i], to);
          }
        };
        MPI_Op one = MPI_OP_NULL;
        check_mpi("MPI_Op_create", MPI_Op_create(both, 1, &one));
        return one;
      }();
      result = operation;
    });
    return result;
  }
}

/// Whether this MPI declares itself CUDA-aware. MPI must be initialised.
inline bool mpi_takes_cuda_memory() noexcept {
#if defined(MPIX_CUDA_AWARE_SUPPORT)  // Open MPI
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)  // MPICH 4 and its derivatives
  int answer = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &answer) == MPI_SUCCESS && answer != 0;
#else
  return false;
#endif
}

/// MPI's reduction, as a function of a communicator and a request for mpi_transport::start_mpi. Process `root`, which
/// passes true as `is_root`, gets the result. For a mean MPI computes the sum; the caller divides it.
template <class T> auto mpi_reduce(T* at, std::size_t count, reduction op, int root, bool is_root) {
  return [=](MPI_Comm in, MPI_Request* request) {
    const void* const from = is_root ? MPI_IN_PLACE : at;
    return MPI_Ireduce(from, is_root ? at : nullptr, static_cast<int>(count), mpi_type<T>(), mpi_operation<T>(op), root,
                       in, request);
  };
}

}  // namespace detail
}  // namespace devplace::parallel
