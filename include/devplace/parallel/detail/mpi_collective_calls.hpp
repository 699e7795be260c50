// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/parallel/detail/mpi_counts.hpp>
#include <devplace/parallel/detail/mpi_types.hpp>

namespace devplace::parallel::detail {

// Wrap MPI's non-blocking, in-place collectives as functions of a communicator and a request, for
// mpi_transport::start_mpi. For a mean MPI computes the sum; the caller divides it. MPI reads `counts` until the call
// has ended.

template <class T> auto mpi_all_reduce(T* at, std::size_t count, reduction op) {
  return [=](MPI_Comm in, MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(count), mpi_type<T>(), mpi_operation<T>(op), in, request);
  };
}

/// `is_root`: whether this process is `root` and gets the result.
template <class T> auto mpi_reduce(T* at, std::size_t count, reduction op, int root, bool is_root) {
  return [=](MPI_Comm in, MPI_Request* request) {
    const void* const from = is_root ? MPI_IN_PLACE : at;
    return MPI_Ireduce(from, is_root ? at : nullptr, static_cast<int>(count), mpi_type<T>(), mpi_operation<T>(op), root,
                       in, request);
  };
}

template <class T> auto mpi_broadcast(T* at, std::size_t count, int root) {
  return [=](MPI_Comm in, MPI_Request* request) {
    return MPI_Ibcast(at, static_cast<int>(count), mpi_type<T>(), root, in, request);
  };
}

/// Stores this process's part of the result at `at`.
template <class T> auto mpi_reduce_scatter(T* at, const mpi_counts& counts, reduction op) {
  return [=, &counts](MPI_Comm in, MPI_Request* request) {
    return MPI_Ireduce_scatter(MPI_IN_PLACE, at, counts.sizes.data(), mpi_type<T>(), mpi_operation<T>(op), in, request);
  };
}

template <class T> auto mpi_all_gather(T* at, const mpi_counts& counts) {
  return [=, &counts](MPI_Comm in, MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at, counts.sizes.data(), counts.displacements.data(),
                           mpi_type<T>(), in, request);
  };
}

}  // namespace devplace::parallel::detail
