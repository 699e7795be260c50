// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <devplace/parallel/detail/own_processors.hpp>
#include <devplace/parallel/transport.hpp>
#include <devplace/place/error.hpp>

// The C interface alone: MPI's C++ one was removed from the standard, and would need a library of its own.
#if !defined(OMPI_SKIP_MPICXX)
  #define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
  #define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

namespace devplace::parallel::detail {

/// The kind of an error code, which is one of the standard's.
inline int mpi_error_class(int code) noexcept {
  int kind = MPI_ERR_UNKNOWN;
  return MPI_Error_class(code, &kind) == MPI_SUCCESS ? kind : MPI_ERR_UNKNOWN;
}

[[noreturn]] inline void throw_mpi_error(const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  std::string message = std::string(call) + " failed with error " + std::to_string(code) + ": " +
                        std::string(text, static_cast<std::size_t>(length)) + ".";
  if (mpi_error_class(code) == MPI_ERR_TRUNCATE)
    message += " The processes of a group must make the same calls in the same order, with as many elements.";
  throw communication_error(message);
}

/// Throws unless `code`, what the MPI function `call` returned, is success.
inline void check_mpi(const char* call, int code) {
  if (code != MPI_SUCCESS) throw_mpi_error(call, code);
}

/// Whether MPI_Init, and whether MPI_Finalize, has been called.
///@{
inline bool mpi_initialised() noexcept {
  int answer = 0;
  return MPI_Initialized(&answer) == MPI_SUCCESS && answer != 0;
}
inline bool mpi_finalised() noexcept {
  int answer = 0;
  return MPI_Finalized(&answer) == MPI_SUCCESS && answer != 0;
}
///@}

/// What MPI_Init_thread granted. Only while MPI runs.
inline int mpi_thread_level() noexcept {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

/// Whether this thread may call MPI, while it runs.
inline bool mpi_takes_calls_of_this_thread() noexcept {
  if (mpi_thread_level() >= MPI_THREAD_SERIALIZED) return true;
  int answer = 0;
  return MPI_Is_thread_main(&answer) == MPI_SUCCESS && answer != 0;
}

/// Throws if MPI cannot be called here and now. `what` wants to, for the message.
inline void check_mpi_runs(const char* what) {
  const std::string operation(what);
  if (mpi_finalised())
    throw communication_error(operation +
                              ": MPI is finalized. Processes can communicate until MPI_Finalize is called, or until "
                              "the scope of the mpi_session ends; end the use of their group before.");
  if (!mpi_initialised())
    throw communication_error(operation +
                              ": MPI is not initialised. Call MPI_Init_thread(..., MPI_THREAD_FUNNELED, ...) first, or "
                              "make an mpi_session, which does; devplace does not do it by itself.");
  if (!mpi_takes_calls_of_this_thread())
    throw communication_error(operation +
                              ": MPI was initialised by another thread, and takes calls of that thread only. "
                              "Communicate, and train, in that one, or ask MPI_Init_thread for MPI_THREAD_SERIALIZED.");
}

/// The library in words: `Open MPI v4.1.4`, `MPICH 4.0.2`.
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

/// A communicator that devplace has made, freed with this object, unless MPI has ended or this thread may not call it.
/// MPI's rule is that all processes free a communicator together.
class mpi_communicator {
 public:
  mpi_communicator() = default;
  explicit mpi_communicator(MPI_Comm made) noexcept : made_(made) {}
  mpi_communicator(mpi_communicator&& other) noexcept : made_(std::exchange(other.made_, MPI_COMM_NULL)) {}
  mpi_communicator& operator=(mpi_communicator&& other) noexcept {
    std::swap(made_, other.made_);
    return *this;
  }
  ~mpi_communicator() {
    if (made_ != MPI_COMM_NULL && mpi_initialised() && !mpi_finalised() && mpi_takes_calls_of_this_thread())
      MPI_Comm_free(&made_);
  }

  MPI_Comm get() const noexcept { return made_; }
  /// It is not freed before MPI_Finalize, for where this process cannot know whether the others free it.
  void leave_to_mpi() noexcept { made_ = MPI_COMM_NULL; }

 private:
  MPI_Comm made_ = MPI_COMM_NULL;
};

/// Where the processes of a communicator are.
struct mpi_places {
  process_ranks ranks;
  bool crowded;  ///< those of this host are more than the processors on which they may run
};

/// All processes of the communicator call it.
inline mpi_places find_mpi_places(MPI_Comm communicator) {
  mpi_places places{};
  process_ranks& ranks = places.ranks;
  check_mpi("MPI_Comm_rank", MPI_Comm_rank(communicator, &ranks.rank));
  check_mpi("MPI_Comm_size", MPI_Comm_size(communicator, &ranks.size));
  MPI_Comm of_host = MPI_COMM_NULL;
  check_mpi("MPI_Comm_split_type",
            MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL, &of_host));
  const mpi_communicator here(of_host);
  check_mpi("MPI_Comm_rank", MPI_Comm_rank(here.get(), &ranks.local_rank));
  check_mpi("MPI_Comm_size", MPI_Comm_size(here.get(), &ranks.local_size));
  ::cpu_set_t processors = own_processors();
  check_mpi("MPI_Allreduce",
            MPI_Allreduce(MPI_IN_PLACE, &processors, sizeof processors, MPI_BYTE, MPI_BOR, here.get()));
  places.crowded = ranks.local_size > CPU_COUNT(&processors);
  return places;
}

}  // namespace devplace::parallel::detail
