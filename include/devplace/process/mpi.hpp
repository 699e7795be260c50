// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Component devplace::mpi. Not part of all.hpp, because this header includes <mpi.h>.
#if !__has_include(<mpi.h>)
  #error \
      "devplace: process/mpi.hpp needs MPI. Link devplace::mpi, found by find_package(devplace COMPONENTS mpi), or compile with mpicxx. Debian: apt-get install libopenmpi-dev or libmpich-dev."
#else

  #include <exception>
  #include <memory>
  #include <string>

  #include <devplace/base/error.hpp>
  #include <devplace/base/fork_count.hpp>
  #include <devplace/base/thread_team.hpp>
  #include <devplace/process/bind_devices.hpp>
  #include <devplace/process/detail/mpi_rendezvous.hpp>
  #include <devplace/process/detail/mpi_transport.hpp>
  #include <devplace/process/mpi_calls.hpp>
  #include <devplace/process/process_group.hpp>
  #include <devplace/process/process_options.hpp>

namespace devplace {

namespace parallel::detail {

/// Makes a group with a duplicate of `communicator`. Messages name the function `caller`.
inline process_group mpi_group(const char* caller, MPI_Comm communicator, const process_options& options) {
  check_mpi_runs(caller);
  if (options.heartbeat != 0) check_options(options);
  if (mpi_thread_level() == MPI_THREAD_SINGLE && thread_count() > 1)
    throw communication_error(
        {caller,
         ": MPI was initialised for a process of one thread (MPI_THREAD_SINGLE, as by MPI_Init), and devplace computes "
         "with ",
         thread_count(), " threads. Ask MPI_Init_thread for MPI_THREAD_FUNNELED, or call set_thread_count(1) first."});
  if (communicator == MPI_COMM_NULL)
    throw argument_error(
        std::string(caller) +
        ": the communicator is MPI_COMM_NULL, so this process is in no communicator. MPI_Comm_split gives "
        "MPI_COMM_NULL to processes that pass the color MPI_UNDEFINED; only the other processes can make a group.");
  int between_groups = 0;
  check_mpi("MPI_Comm_test_inter", MPI_Comm_test_inter(communicator, &between_groups));
  if (between_groups != 0)
    throw argument_error(
        std::string(caller) +
        ": the communicator is an intercommunicator, which connects two groups. Merge both with MPI_Intercomm_merge.");
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi("MPI_Comm_dup", MPI_Comm_dup(communicator, &own));
  return process_group(mpi_transport::connect(own, [&](const process_ranks& ranks) -> std::shared_ptr<group_monitor> {
    // Watching needs a thread, which MPI_THREAD_SINGLE does not allow.
    int watched = options.heartbeat != 0 && mpi_thread_level() != MPI_THREAD_SINGLE;
    check_mpi("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &watched, 1, MPI_INT, MPI_MIN, own));
    if (watched == 0 || ranks.size == 1) return nullptr;
    return mpi_rendezvous(own, ranks).watch(options);
  }));
}

/// The transport of a group that MPI connects; throws argument_error for other groups. The message names the engine
/// `caller`.
inline std::shared_ptr<mpi_transport> mpi_transport_of(const process_group& processes, const char* caller) {
  auto transport = std::dynamic_pointer_cast<mpi_transport>(processes.transport());
  if (transport == nullptr)
    throw argument_error({caller, ": the group is ", processes.description(),
                          ", and this engine calls MPI's collectives. Make the group by mpi_session or mpi_processes "
                          "(devplace/process/mpi.hpp), or use collective::direct, which works with every group."});
  return transport;
}

/// Initialises and finalizes MPI, unless the program has initialised it.
class mpi_runtime {
 public:
  mpi_runtime(int* argc, char*** argv) {
    if (mpi_finalised())
      throw communication_error(
          "mpi_session: MPI is finalized, and a process can initialise it only once. Make one mpi_session, in main, "
          "that lives as long as the processes communicate.");
    if (mpi_initialised()) return;
    int level = MPI_THREAD_SINGLE;
    check_mpi("MPI_Init_thread", MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level));
    initialised_in_ = devplace::detail::fork_count();
  }
  mpi_runtime& operator=(mpi_runtime&&) = delete;
  /// Finalizes MPI, except after an exception: MPI_Finalize waits for all processes, and would deadlock if only this
  /// process has failed. If this process ends without MPI_Finalize, the launcher ends the others. Does nothing in a
  /// child of fork().
  ~mpi_runtime() {
    const bool finalizes =
        initialised_in_ == devplace::detail::fork_count() && std::uncaught_exceptions() == exceptions_;
    if (finalizes && !mpi_finalised()) MPI_Finalize();
  }

 private:
  /// The fork_count() of the process in which this object initialised MPI; 0 if the program has initialised MPI.
  unsigned initialised_in_ = 0;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace parallel::detail

/// Makes a group of the processes of the program's own MPI communicator, for programs that use MPI. Duplicates the
/// communicator, so that messages of the program and of devplace do not mix; errors of the duplicate are exceptions
/// with MPI's own text. The last object that uses the group frees the duplicate, unless MPI is finalized by then. All
/// processes of the communicator call this function; their ranks may be in any order.
///
/// MPI must have been initialised by MPI_Init_thread with MPI_THREAD_FUNNELED or more; with less than
/// MPI_THREAD_SERIALIZED only the initialising thread may use the group. Waiting processes poll MPI, and sleep between
/// polls during long waits.
///
/// A thread that does not call MPI watches the processes over a control connection, as for launched_processes. On one
/// host the connection is an abstract Unix socket. On several hosts it uses TCP, at the first address of process 0's
/// host that all hosts can reach; the system chooses the port. If a process ends, stops or makes other calls than the
/// rest, all processes end, as is usual for MPI, or throw: see process_options. All processes therefore destroy the
/// group together, and process 0 waits for the others; a process that ends earlier counts as failed. No thread
/// watches with `process_options{.heartbeat = 0}`, or if the program called MPI_Init, which allows no further thread.
///
/// Throws communication_error if MPI is not initialised, is finalized or has a lower thread level than required, and
/// argument_error if the communicator is MPI_COMM_NULL or an intercommunicator.
inline process_group mpi_processes(MPI_Comm communicator, const process_options& options = {}) {
  return parallel::detail::mpi_group("mpi_processes", communicator, options);
}

/// Initialises MPI and finalizes it at the end of the scope, for a program that does not use MPI otherwise. Declare it
/// in main:
///
///     int main(int argc, char** argv) {
///       dp::mpi_session session{argc, argv};
///       dp::process_scope scope{session.processes()};
///
/// Divides each host's GPUs among its processes by bind_devices. If the program has initialised MPI, the session uses
/// it and leaves MPI_Finalize to the program. If an exception ends the scope, MPI is not finalized, because
/// MPI_Finalize would wait for the other processes; mpirun then ends them.
class [[nodiscard]] mpi_session {
 public:
  /// Initialises MPI, which may remove its own options from the arguments. Watches the processes as mpi_processes does.
  ///@{
  mpi_session(int& argc, char**& argv, const process_options& options = {})
      : runtime_(&argc, &argv), processes_(connect(options)) {
    bind_devices(processes_);
  }
  explicit mpi_session(const process_options& options = {}) : runtime_(nullptr, nullptr), processes_(connect(options)) {
    bind_devices(processes_);
  }
  ///@}

  /// The processes of MPI_COMM_WORLD, which were started together; a single process if the program was started without
  /// mpirun.
  const process_group& processes() const { return processes_; }

 private:
  static process_group connect(const process_options& options) {
    return parallel::detail::mpi_group("mpi_session", MPI_COMM_WORLD, options);
  }

  parallel::detail::mpi_runtime runtime_;
  process_group processes_;
};

}  // namespace devplace

#endif
