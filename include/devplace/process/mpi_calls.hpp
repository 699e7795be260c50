// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/host.hpp>
#include <devplace/process/transport.hpp>

// Uses only the C interface: MPI's C++ interface was removed from the standard and needs another library.
#if !defined(OMPI_SKIP_MPICXX)
  #define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
  #define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

namespace devplace::parallel::detail {

inline void check_mpi(const char* call, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, kind = MPI_ERR_UNKNOWN;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  std::string message = devplace::detail::joined(
      {call, " failed with error ", code, ": ", std::string_view(text, static_cast<std::size_t>(length)), "."});
  if (MPI_Error_class(code, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE)
    message += " The processes of a group must make the same calls in the same order, with as many elements.";
  throw communication_error(message);
}

/// The answer of a function of MPI to a question about this process or thread.
inline bool mpi_answer(int (*question)(int*)) noexcept {
  int answer = 0;
  return question(&answer) == MPI_SUCCESS && answer != 0;
}
inline bool mpi_initialised() noexcept { return mpi_answer(MPI_Initialized); }
inline bool mpi_finalised() noexcept { return mpi_answer(MPI_Finalized); }

/// The thread level that MPI_Init_thread has granted. MPI must be initialised.
inline int mpi_thread_level() noexcept {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

/// Whether this thread may call MPI, which must be initialised.
inline bool this_thread_may_call_mpi() noexcept {
  return mpi_thread_level() >= MPI_THREAD_SERIALIZED || mpi_answer(MPI_Is_thread_main);
}

/// Throws if MPI cannot be called now in this thread. The message names `caller`.
inline void check_mpi_runs(const char* caller) {
  if (mpi_finalised())
    throw communication_error({caller,
                               ": MPI is finalized. Processes can communicate until MPI_Finalize is called, or until "
                               "the scope of the mpi_session ends; destroy their groups first."});
  if (!mpi_initialised())
    throw communication_error(
        {caller,
         ": MPI is not initialised. Call MPI_Init_thread(..., MPI_THREAD_FUNNELED, ...) first, or "
         "make an mpi_session, which calls it; devplace itself does not."});
  if (!this_thread_may_call_mpi())
    throw communication_error(
        {caller,
         ": MPI was initialised by another thread, and takes calls of that thread only. "
         "Communicate and train in that thread, or ask MPI_Init_thread for MPI_THREAD_SERIALIZED."});
}

/// The library's name and version: `Open MPI v4.1.4`, `MPICH 4.0.2`.
inline std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  check_mpi("MPI_Get_library_version", MPI_Get_library_version(text, &length));
  std::string name(text, static_cast<std::size_t>(length));
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  const std::string version = " Version:";  // of MPICH, whose first line is `MPICH Version:<tab>4.0.2`
  if (const std::size_t at = name.find(version); at != std::string::npos) name.erase(at, version.size());
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

/// Owns a communicator that devplace has made. Frees it unless MPI is finalized or this thread may not call MPI. All
/// processes must free a communicator together.
class mpi_communicator {
 public:
  mpi_communicator() = default;
  explicit mpi_communicator(MPI_Comm communicator) noexcept : communicator_(communicator) {}
  mpi_communicator(mpi_communicator&& other) noexcept
      : communicator_(std::exchange(other.communicator_, MPI_COMM_NULL)) {}
  mpi_communicator& operator=(mpi_communicator&& other) noexcept {
    std::swap(communicator_, other.communicator_);
    return *this;
  }
  ~mpi_communicator() {
    if (communicator_ != MPI_COMM_NULL && mpi_initialised() && !mpi_finalised() && this_thread_may_call_mpi())
      MPI_Comm_free(&communicator_);
  }

  MPI_Comm get() const noexcept { return communicator_; }
  /// Leaves the communicator to MPI_Finalize, for cases where the other processes might not free it.
  void leave_to_mpi() noexcept { communicator_ = MPI_COMM_NULL; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

struct mpi_position {
  process_ranks ranks;
  bool oversubscribed;  ///< whether this host has more processes than processors for them
};

/// Finds this process's ranks. All processes of the communicator call it.
inline mpi_position find_mpi_position(MPI_Comm communicator) {
  mpi_position position{};
  process_ranks& ranks = position.ranks;
  check_mpi("MPI_Comm_rank", MPI_Comm_rank(communicator, &ranks.rank));
  check_mpi("MPI_Comm_size", MPI_Comm_size(communicator, &ranks.size));
  MPI_Comm of_host = MPI_COMM_NULL;
  check_mpi("MPI_Comm_split_type",
            MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL, &of_host));
  const mpi_communicator on_host(of_host);
  check_mpi("MPI_Comm_rank", MPI_Comm_rank(on_host.get(), &ranks.local_rank));
  check_mpi("MPI_Comm_size", MPI_Comm_size(on_host.get(), &ranks.local_size));
  ::cpu_set_t processors = devplace::detail::own_processors();
  check_mpi("MPI_Allreduce",
            MPI_Allreduce(MPI_IN_PLACE, &processors, sizeof processors, MPI_BYTE, MPI_BOR, on_host.get()));
  position.oversubscribed = ranks.local_size > CPU_COUNT(&processors);
  return position;
}

}  // namespace devplace::parallel::detail
