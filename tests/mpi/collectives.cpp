// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun with 1 to 4 processes: tests the guarantees of process_group and its transport over MPI.

#include <mpi.h>  // before devplace's headers, as in a program that uses MPI

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/memory/report.hpp>
#include <devplace/process/mpi.hpp>

#include "mpi/check.hpp"

namespace dp = devplace;

namespace {

/// Byte i of buffer b of process q, and byte i of the part that process q distributes.
std::byte pattern(std::size_t q, std::size_t b, std::size_t i) {
  return static_cast<std::byte>((q * 131 + b * 31 + i * 7 + i / 251) & 255);
}

void poll_until_ended(dp::parallel::transport& via) {
  while (!via.poll()) std::this_thread::yield();
}

/// `polled`: polls calls instead of waiting in them.
void collect_and_distribute(dp::parallel::transport& via, std::size_t count, const std::vector<std::size_t>& begins,
                            bool polled = false) {
  const auto rank = static_cast<std::size_t>(via.ranks().rank), size = static_cast<std::size_t>(via.size());
  const std::size_t total = begins.back(), own = begins[rank], bytes = begins[rank + 1] - own;
  std::vector<std::vector<std::byte>> memory(count, std::vector<std::byte>(total));
  std::vector<std::byte*> buffers;
  for (std::size_t b = 0; b != count; ++b) {
    for (std::size_t i = 0; i != total; ++i) memory[b][i] = pattern(rank, b, i);
    buffers.push_back(memory[b].data());
  }

  if (polled) {
    via.start_collect(buffers, begins);
    if (size > 1) EXPECT_THROWS(dp::error, "before the started call has ended", via.barrier());
    poll_until_ended(via);
  } else {
    via.collect(buffers, begins);
  }
  const auto got = via.summands();
  EXPECT(got.summands.size() == size * count);
  for (std::size_t q = 0; q != size; ++q)
    for (std::size_t b = 0; b != count; ++b)
      for (std::size_t i = 0; i != bytes; ++i) EXPECT(got.summands[q * count + b][i] == pattern(q, b, own + i));
  for (std::size_t i = 0; i != bytes; ++i) got.result[i] = pattern(rank, 99, i);
  if (polled) {
    via.start_distribute(got.result, buffers, begins);
    poll_until_ended(via);
  } else {
    via.distribute(got.result, buffers, begins);
  }
  for (std::size_t b = 0; b != count; ++b)
    for (std::size_t q = 0; q != size; ++q)
      for (std::size_t i = begins[q]; i != begins[q + 1]; ++i) EXPECT(memory[b][i] == pattern(q, 99, i - begins[q]));
}

/// Boundaries of nearly equal parts, and boundaries that give one process everything.
std::vector<std::vector<std::size_t>> divisions(std::size_t size, std::size_t total) {
  std::vector<std::vector<std::size_t>> all(1, std::vector<std::size_t>(size + 1));
  for (std::size_t r = 0; r <= size; ++r) all[0][r] = total * r / size;
  for (const std::size_t owner : {std::size_t{0}, size - 1}) {
    all.emplace_back(size + 1, 0);
    for (std::size_t r = owner + 1; r <= size; ++r) all.back()[r] = total;
  }
  return all;
}

void transport_moves_bytes(const dp::process_group& group) {
  auto& via = *group.transport();
  const auto size = static_cast<std::size_t>(group.size());
  for (const std::size_t total : {std::size_t{0}, std::size_t{1}, std::size_t{13}, std::size_t{64}, std::size_t{4099}})
    for (const std::size_t count : {1U, 2U, 3U})
      for (const auto& begins : divisions(size, total))
        for (const bool polled : {false, true}) collect_and_distribute(via, count, begins, polled);
  collect_and_distribute(via, 1, divisions(size, via.portion())[0]);
  collect_and_distribute(via, 2, divisions(size, 300'001)[0]);

  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4099}}) {
    std::vector<std::byte> one(bytes), two(bytes);
    std::byte* const both[] = {one.data(), two.data()};
    for (std::size_t i = 0; i != bytes; ++i) {
      one[i] = pattern(static_cast<std::size_t>(group.rank()), 0, i);
      two[i] = pattern(static_cast<std::size_t>(group.rank()), 1, i);
    }
    const auto all = via.collect_everywhere(both, bytes);
    EXPECT(all.summands.size() == 2 * size);
    EXPECT(all.result == one.data());
    for (std::size_t q = 0; q != size; ++q)
      for (std::size_t i = 0; i != bytes; ++i)
        EXPECT(all.summands[2 * q][i] == pattern(q, 0, i) && all.summands[2 * q + 1][i] == pattern(q, 1, i));
  }

  // Received data lies in memory that is allocated once and starts at a cache line.
  std::vector<std::byte> memory(3 * size);
  std::byte* const buffer = memory.data();
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  const auto got = via.collect(std::span(&buffer, 1), divisions(size, 3 * size)[0]);
  for (std::size_t q = 0; q != size; ++q)
    if (q != static_cast<std::size_t>(group.rank()))
      EXPECT(reinterpret_cast<std::uintptr_t>(got.summands[q]) % 64 == 0);
  EXPECT(dp::memory_statistics<dp::cpu>().allocations == before);

  // Rejected before anything is read or sent.
  std::vector<std::size_t> far(size + 1, std::size_t{1} << 31);
  far[0] = 0;
  EXPECT_THROWS(dp::argument_error, "part has 2147483648 bytes, and MPI counts to 2147483647.",
                via.collect(std::span(&buffer, 1), far));
}

void small_values(const dp::process_group& group, int calls) {
  const int rank = group.rank(), size = group.size();
  EXPECT(group.all_reduce(rank + 1) == size * (size + 1) / 2);
  EXPECT(group.all_reduce(rank, dp::reduction::max) == size - 1);
  EXPECT(group.all_reduce(1.0 + rank, dp::reduction::mean) == (1.0 + size) / 2);
  // Rank order matters: (1 + 1e100) - 1e100 is 0, but 1e100 - 1e100 + 1 is 1.
  const double term = rank == 0 ? 1 : rank == 1 ? 1e100 : rank == 2 ? -1e100 : 0;
  if (size >= 3) EXPECT(group.all_reduce(term) == 0);
  const std::vector<int> all = group.all_gather(10 * rank);
  for (int r = 0; r != size; ++r) EXPECT(all[static_cast<std::size_t>(r)] == 10 * r);
  for (int root = 0; root != size; ++root) EXPECT(group.broadcast(100 + rank, root) == 100 + root);
  for (int i = 0; i != calls; ++i) {
    if (i % 3 == 0) EXPECT(group.all_reduce(i + rank) == size * i + size * (size - 1) / 2);
    if (i % 3 == 1) EXPECT(group.broadcast(std::int64_t{i} * (rank + 1), i % size) == std::int64_t{i} * (i % size + 1));
    if (i % 3 == 2) group.barrier();
  }

  // More than a portion, so sent in several messages.
  std::vector<double> values(group.transport()->portion() / sizeof(double) + 7, rank);
  for (std::size_t i = 0; rank == size - 1 && i != values.size(); ++i) values[i] = static_cast<double>(i);
  group.broadcast(std::span(values), size - 1);
  for (std::size_t i = 0; i != values.size(); ++i) EXPECT(values[i] == static_cast<double>(i));
}

void splitting(const dp::process_group& group) {
  const int rank = group.rank(), size = group.size();
  const dp::process_group part = group.split(rank % 2 == 0 ? 7 : -5, -rank);
  std::vector<int> expected;
  for (int r = size - 1; r >= 0; --r)
    if (r % 2 == rank % 2) expected.push_back(r);
  EXPECT(part.all_gather(rank) == expected);
  EXPECT(part.local_size() == part.size());
  const dp::process_group alone = part.split(rank);
  EXPECT(alone.size() == 1);
  EXPECT(alone.all_reduce(2.5) == 2.5);
  const dp::process_group again = group.split(0);
  EXPECT(again.all_reduce(1) == size);
}

/// A group on the program's communicator, with another rank order and concurrent messages of the program.
void program_communicator() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(backwards, &before);

  const int left = rank == 0 ? size - 1 : rank - 1, right = rank + 1 == size ? 0 : rank + 1;
  int received = -1;
  MPI_Request any = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, backwards, &any);
  {
    const dp::process_group group = dp::mpi_processes(backwards);
    EXPECT(group.size() == size);
    EXPECT(group.rank() == size - 1 - rank);
    const std::vector<int> all = group.all_gather(rank);
    for (int r = 0; r != size; ++r) EXPECT(all[static_cast<std::size_t>(r)] == size - 1 - r);
    EXPECT(group.broadcast(rank, size - 1) == 0);
    EXPECT(received == -1);
    group.barrier();
    MPI_Isend(&rank, 1, MPI_INT, size - 1 - right, 1, backwards, &sent);
    EXPECT(group.all_reduce(1) == size);
  }
  MPI_Wait(&any, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  EXPECT(received == left);
  MPI_Comm_get_errhandler(backwards, &after);
  EXPECT(before == after);
  MPI_Comm_free(&backwards);
}

void invalid_communicators() {
  EXPECT_THROWS(dp::argument_error, "the communicator is MPI_COMM_NULL, so this process is in no communicator.",
                dp::mpi_processes(MPI_COMM_NULL));
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  MPI_Comm side = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
  EXPECT_THROWS(dp::argument_error, "Merge both with MPI_Intercomm_merge.", dp::mpi_processes(between));
  MPI_Comm_free(&between);
  MPI_Comm_free(&side);
}

}  // namespace

/// Arguments: the library's name in the description of one process, and the number of consecutive small calls.
int main(int argc, char** argv) {
  devplace::test::run_rank([&] {
    dp::mpi_session session{argc, argv};
    EXPECT(argc == 3);
    const dp::process_group& group = session.processes();
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(group.rank() == rank);
    EXPECT(group.size() == size);
    EXPECT(group.local_rank() == rank);
    EXPECT(group.local_size() == size);
    const std::string text = group.description();
    EXPECT(text.starts_with("rank " + std::to_string(rank) + " of " + std::to_string(size) + " process"));
    EXPECT(text.find(std::string(", by MPI (") + argv[1]) != std::string::npos);

    small_values(group, std::stoi(argv[2]));
    transport_moves_bytes(group);
    splitting(group);
    program_communicator();
    invalid_communicators();
    group.barrier();
  });
}
