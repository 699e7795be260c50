// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun: initialisation and end of MPI, thread levels, and failures. The argument selects the case.

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/memory/report.hpp>
#include <devplace/process/mpi.hpp>

#include "mpi/check.hpp"

namespace dp = devplace;

namespace {

const char* const start_first = "Call MPI_Init_thread(..., MPI_THREAD_FUNNELED, ...) first, or make an mpi_session";

/// A session starts and ends MPI, and its group works only in between.
void session(int argc, char** argv) {
  EXPECT_THROWS(dp::communication_error, start_first, dp::mpi_processes(MPI_COMM_WORLD));
  std::optional<dp::process_group> part;
  std::shared_ptr<dp::parallel::transport> kept;
  {
    const dp::mpi_session runs{argc, argv};
    int level = -1;
    MPI_Query_thread(&level);
    EXPECT(level >= MPI_THREAD_FUNNELED);
    kept = runs.processes().transport();
    part = runs.processes().split(0);
    EXPECT(part->all_reduce(1) == runs.processes().size());
    const dp::mpi_session inner;  // its destructor does not end MPI
    EXPECT(inner.processes().size() == runs.processes().size());
  }
  int ended = 0;
  MPI_Finalized(&ended);
  EXPECT(ended != 0);
  EXPECT_THROWS(dp::communication_error, "MPI is finalized. Processes can communicate until", kept->barrier());
  EXPECT_THROWS(dp::communication_error, "MPI is finalized. Processes can communicate until", part->all_reduce(1));
  EXPECT_THROWS(dp::communication_error, "mpi_processes: MPI is finalized.", dp::mpi_processes(MPI_COMM_WORLD));
  EXPECT_THROWS(dp::communication_error, "a process can initialise it only once", dp::mpi_session{});
  part.reset();  // does not call MPI either
  kept.reset();
}

/// A session does not end MPI if the program initialised it.
void program() {
  int level = -1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  {
    const dp::mpi_session uses_it;
    EXPECT(uses_it.processes().all_reduce(1) == uses_it.processes().size());
  }
  int ended = 1;
  MPI_Finalized(&ended);
  EXPECT(ended == 0);
  {
    const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD);
    std::thread other([&] {
      EXPECT_THROWS(dp::communication_error, "MPI was initialised by another thread", group.barrier());
      EXPECT_THROWS(dp::communication_error, "MPI was initialised by another thread",
                    dp::mpi_processes(MPI_COMM_WORLD));
    });
    other.join();
    group.barrier();
    dp::process_group given = group.split(0);
    std::thread last_user([last = std::move(given)] {});  // leaves the communicator to MPI_Finalize
    last_user.join();
  }
  MPI_Finalize();
}

void one_thread() {
  MPI_Init(nullptr, nullptr);
  int level = -1;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_SINGLE) {
    dp::set_thread_count(2);
    EXPECT_THROWS(dp::communication_error,
                  "mpi_processes: MPI was initialised for a process of one thread (MPI_THREAD_SINGLE, as by MPI_Init), "
                  "and devplace computes with 2 threads. Ask MPI_Init_thread for MPI_THREAD_FUNNELED, or call "
                  "set_thread_count(1) first.",
                  dp::mpi_processes(MPI_COMM_WORLD));
  }
  dp::set_thread_count(1);
  EXPECT(dp::mpi_processes(MPI_COMM_WORLD).all_gather(1).size() != 0);
  MPI_Finalize();
}

void any_thread() {
  int level = -1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  if (level >= MPI_THREAD_SERIALIZED) {
    std::thread other([] {
      const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD);
      EXPECT(group.all_reduce(1) == group.size());
    });
    other.join();
  }
  MPI_Finalize();
}

/// Throws at the 50th check.
struct impatient final : dp::parallel::group_monitor {
  void enter(const dp::parallel::collective_call& call) noexcept override { name = call.name; }
  void leave() noexcept override {}
  void check() override {
    if (++asked == 50) throw dp::communication_error("rank 1 does not come.");
  }
  void explain() override { ++explained; }
  std::string name;
  int asked = 0, explained = 0;
};

std::shared_ptr<impatient> watch(const dp::process_group& group) {
  auto monitor = std::make_shared<impatient>();
  std::dynamic_pointer_cast<dp::parallel::detail::mpi_transport>(group.transport())->watch(monitor);
  return monitor;
}

/// Without a monitor, processes detect different calls by the length of a message. MPICH itself ends the process that
/// receives too long a message.
void different_calls() {
  const dp::mpi_session runs;
  const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD, {.heartbeat = 0});
  EXPECT(group.transport()->monitor() == nullptr);
  const std::string why = "The processes of a group must make the same calls in the same order, with as many elements.";
  if (group.rank() == 0)
    EXPECT_THROWS(dp::communication_error, why, group.all_gather(1.5));
  else
    EXPECT_THROWS(dp::communication_error, why, group.all_gather(1));
  EXPECT_THROWS(dp::communication_error, "an earlier collective call of this group failed", group.barrier());
  EXPECT(runs.processes().all_reduce(1) == 2);  // other groups still work
}

/// The monitor ends the wait for a missing process while messages are in flight.
void watched() {
  const dp::mpi_session runs;
  const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD);
  const auto monitor = watch(group);
  monitor->asked = -1'000'000'000;
  EXPECT(group.split(0).transport()->monitor() != nullptr);
  monitor->asked = 0;
  if (group.rank() == 0) {
    EXPECT_THROWS(dp::communication_error, "rank 1 does not come.", group.all_gather(1));
    EXPECT(monitor->name == "all_gather");
    EXPECT(monitor->explained == 0);
    EXPECT_THROWS(dp::communication_error, "an earlier collective call of this group failed", group.all_gather(1));
  }
  runs.processes().barrier();
}

/// Counts how often MPI frees duplicates of the communicator that has the attribute of count_freed().
int freed = 0;
int count_one_freed(MPI_Comm, int, void*, void*) {
  ++freed;
  return MPI_SUCCESS;
}
int copy_to_duplicates(MPI_Comm, int, void*, void*, void* copy, int* copied) {
  *static_cast<void**>(copy) = nullptr;
  *copied = 1;
  return MPI_SUCCESS;
}
void count_freed(MPI_Comm communicator) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_to_duplicates, count_one_freed, &key, nullptr);
  MPI_Comm_set_attr(communicator, key, nullptr);
}

/// devplace frees every communicator that it has made, even if creating a group fails in one process.
void freed_communicators() {
  const dp::mpi_session runs;
  const int rank = runs.processes().rank();
  const auto connect = [&](int failing) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    count_freed(own);
    return dp::process_group(dp::parallel::detail::mpi_transport::connect(own, [&](const dp::parallel::process_ranks&) {
      if (rank == failing) throw dp::communication_error("no monitor for this one.");
      return nullptr;
    }));
  };
  static_cast<void>(connect(-1));
  EXPECT(freed == 1);
  EXPECT_THROWS(dp::communication_error,
                rank == 1 ? "no monitor for this one." : "another process could not connect to the group", connect(1));
  EXPECT(freed == 2);
}

/// Processes that are bound to the same processor oversubscribe it, however many the host has.
void oversubscribed() {
  const dp::mpi_session runs;
  const int rank = runs.processes().rank(), size = runs.processes().size();
  ::cpu_set_t before = {}, mine = {};
  ::sched_getaffinity(0, sizeof before, &before);
  std::vector<std::size_t> usable;
  for (std::size_t p = 0; p != CPU_SETSIZE; ++p)
    if (CPU_ISSET(p, &before)) usable.push_back(p);
  const auto is_oversubscribed = [&](std::size_t processor) {
    CPU_ZERO(&mine);
    CPU_SET(processor, &mine);
    ::sched_setaffinity(0, sizeof mine, &mine);
    const bool found = dp::parallel::detail::find_mpi_position(MPI_COMM_WORLD).oversubscribed;
    ::sched_setaffinity(0, sizeof before, &before);
    return found;
  };
  const std::size_t first = runs.processes().broadcast(usable[0]);
  EXPECT(is_oversubscribed(first));
  if (static_cast<int>(usable.size()) >= size) EXPECT(!is_oversubscribed(usable[static_cast<std::size_t>(rank)]));
}

/// A message in flight when its call is given up is received later, when the sender continues, into memory kept alive
/// for it.
void abandoned() {
  const dp::mpi_session runs;
  const int rank = runs.processes().rank();
  constexpr std::size_t bytes = std::size_t{4} << 20;
  const auto before = dp::memory_statistics<dp::cpu>().allocated;
  std::vector<std::byte> values(2 * bytes, std::byte{7});
  std::byte* const buffer = values.data();
  const std::vector<std::size_t> begins{0, bytes, 2 * bytes};
  {
    const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD);
    const auto via = group.transport();
    const auto monitor = watch(group);
    if (rank == 0) {
      EXPECT_THROWS(dp::communication_error, "rank 1 does not come.", via->collect(std::span(&buffer, 1), begins));
    } else {
      monitor->asked = -1'000'000'000;
      via->start_collect(std::span(&buffer, 1), begins);
      ::usleep(300'000);  // makes no MPI call, which could send the message, until the other process has given up
    }
    runs.processes().barrier();
    if (rank == 1) via->wait();
  }
  EXPECT(dp::memory_statistics<dp::cpu>().allocated == before + (rank == 0 ? bytes : 0));
  runs.processes().barrier();
}

dp::process_options quick(dp::on_failure failure = dp::on_failure::terminate) {
  return {.op_timeout = 2, .heartbeat = 0.1, .heartbeat_timeout = 2, .exit_grace = 2, .failure = failure};
}

/// Processes that cannot connect by a local socket connect over TCP, at an address that all can reach.
void over_tcp() {
  namespace detail = dp::parallel::detail;
  const dp::mpi_session runs;
  const dp::parallel::process_ranks ranks = runs.processes().transport()->ranks();
  const dp::parallel::job_member someone{"reachable", 0, 1, {}};
  std::vector<detail::mpi_candidate> candidates(3);
  {
    const dp::parallel::control_listener open(someone, {"127.0.0.1", 0});
    const dp::parallel::control_listener also_open(someone, {"127.0.0.1", 0});
    int port = open.endpoint().port;
    for (auto& candidate : candidates) {
      candidate.address = "127.0.0.1";
      candidate.port = std::exchange(port, also_open.endpoint().port);
    }
    candidates[1].address = "127.0.0.2";  // nobody listens there
    EXPECT(detail::reachable(candidates) == 0b101);
  }
  EXPECT(detail::reachable(candidates) == 0);

  detail::mpi_rendezvous rendezvous(MPI_COMM_WORLD, ranks, static_cast<std::uint64_t>(ranks.rank));
  if (runs.processes().broadcast(detail::addresses_of_host().empty())) {
    EXPECT_THROWS(dp::communication_error, "process 0's host has no network address that other hosts could know.",
                  rendezvous.watch(quick()));
    return;
  }
  const auto plane = rendezvous.watch(quick());
  std::vector<int> all(static_cast<std::size_t>(ranks.size), -1);
  plane->all_gather(&ranks.rank, sizeof ranks.rank, all.data());
  for (int r = 0; r != ranks.size; ++r) EXPECT(all[static_cast<std::size_t>(r)] == r);
}

/// One process fails in the fifth of ten steps; without the monitor the others would wait forever.
void one_fails(const std::string& how) {
  const dp::mpi_session runs{quick()};
  const dp::process_group& group = runs.processes();
  for (int step = 0; step != 10; ++step) {
    if (step == 5 && group.rank() == 1) {
      if (how == "killed") std::raise(SIGKILL);
      if (how == "stopped") std::raise(SIGSTOP);
      if (how == "exit") std::_Exit(0);
      if (how == "exception") throw std::runtime_error("this rank has failed");
      if (how == "skips") continue;
      if (how == "one_more") static_cast<void>(group.all_gather(0));
      if (how == "other_call") group.barrier();
      if (how == "other_size") static_cast<void>(group.all_gather(0.5));
      if (how == "late") ::sleep(20);
    }
    static_cast<void>(group.all_gather(step));
  }
}

/// Exchanges values until the test cuts the link between two hosts.
void cut_off() {
  const dp::mpi_session runs{quick()};
  for (int step = 0; step != 30'000; ++step) {
    static_cast<void>(runs.processes().all_gather(step));
    if (step == 100 && runs.processes().is_main()) std::printf("all of them run\n"), std::fflush(stdout);
    ::usleep(1000);
  }
}

/// One process of a part leaves out a call.
void one_skips_in_a_part() {
  const dp::mpi_session runs{quick()};
  const dp::process_group part = runs.processes().split(runs.processes().rank() == 0 ? -1 : 1);
  if (part.size() == 1) ::sleep(20);
  static_cast<void>(part.all_gather(1));
  if (part.rank() == 0) static_cast<void>(part.all_gather(2));
  part.barrier();
}

/// One process is killed or stopped; the others continue without the group.
void one_fails_and_others_catch(int signal) {
  const dp::mpi_session runs{dp::process_options{.heartbeat = 0}};
  auto options = quick(dp::on_failure::throw_);
  options.op_timeout = 30;
  const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD, options);
  group.barrier();
  if (group.rank() == 1) {
    ::usleep(200'000);  // the others have left the barrier
    std::raise(signal);
  }
  EXPECT_THROWS(dp::communication_error, "rank 1 (host ", group.all_gather(1));
  std::fprintf(stderr, "rank %d goes on\n", group.rank());
  std::fflush(nullptr);
  ::usleep(200'000);
  std::_Exit(3);
}

/// Calls of the group throw in a child of fork(), and the child does not end MPI when it destroys session and group.
void forked_child() {
  ::pid_t child = 0;
  {
    const dp::mpi_session runs;
    const dp::process_group part = runs.processes().split(0);
    child = ::fork();
    if (child == 0) {
      ::alarm(20);
      EXPECT_THROWS(dp::communication_error, "barrier: this process was made by fork() in rank ", part.barrier());
      EXPECT_THROWS(dp::communication_error, " of 2 processes", runs.processes().all_reduce(1));
      EXPECT_THROWS(dp::communication_error, "exchange: this process was made by fork() in rank ",
                    runs.processes().transport()->for_messages());
    } else {
      int status = 0;
      EXPECT(::waitpid(child, &status, 0) == child);
      EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      EXPECT(part.all_reduce(1) == 2);
    }
  }
  if (child == 0) std::_Exit(0);
}

/// Concurrent groups of one program, made by all or some processes and destroyed in any order, are isolated from each
/// other.
void many_groups() {
  const dp::mpi_session runs{quick()};
  const int rank = runs.processes().rank();
  std::vector<dp::process_group> groups;
  for (int i = 0; i != 4; ++i) groups.push_back(dp::mpi_processes(MPI_COMM_WORLD, quick()));
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &own);
  groups.push_back(dp::mpi_processes(own, quick()));
  MPI_Comm_free(&own);
  for (const auto& group : groups) EXPECT(group.all_reduce(1) == group.size());
  while (!groups.empty()) groups.erase(rank % 2 == 0 ? groups.begin() : groups.end() - 1);
  runs.processes().barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  devplace::test::run_rank([&] {
    if (name == "session") return session(argc, argv);
    if (name == "program") return program();
    if (name == "one_thread") return one_thread();
    if (name == "any_thread") return any_thread();
    if (name == "different_calls") return different_calls();
    if (name == "watched") return watched();
    if (name == "freed_communicators") return freed_communicators();
    if (name == "oversubscribed") return oversubscribed();
    if (name == "abandoned") return abandoned();
    if (name == "over_tcp") return over_tcp();
    if (name == "skips_in_a_part") return one_skips_in_a_part();
    if (name == "many_groups") return many_groups();
    if (name == "cut_off") return cut_off();
    if (name == "catch_killed") return one_fails_and_others_catch(SIGKILL);
    if (name == "catch_stopped") return one_fails_and_others_catch(SIGSTOP);
    if (name == "forked_child") return forked_child();
    one_fails(name);
  });
}
