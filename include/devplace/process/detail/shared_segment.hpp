// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <devplace/base/clock.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/base/host.hpp>
#include <devplace/process/shared_layout.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

using devplace::detail::file_descriptor;
using devplace::detail::joined;

/// Memory that several processes of a host have mapped. One of them creates the segment and sends where(); the others
/// open it, and then all call close(). The segment has no name in any file system, so it disappears with its processes,
/// however they end. Steps record failures in failed() instead of throwing, because processes that wait for each other
/// must all go through the same steps.
class shared_segment {
 public:
  /// Identifies the segment for other processes. They check inode and size before they open the file, because in
  /// another container the process identifier may belong to another process.
  struct address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t device = 0, inode = 0, bytes = 0;
  };
  /// The step that failed, and errno.
  struct failure {
    enum step_number : std::int32_t { none, create, find, allocate };
    std::int32_t step = none;
    std::int32_t number = 0;
  };

  shared_segment& operator=(shared_segment&&) = delete;
  ~shared_segment() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  void create(std::size_t bytes) {
    bytes_ = bytes;
    descriptor_ = file_descriptor(::memfd_create("devplace", MFD_CLOEXEC));
    if (!descriptor_) return fail(failure::create);
    if (::ftruncate(descriptor_.get(), static_cast<::off_t>(bytes)) != 0) return fail(failure::allocate);
    map();
  }
  void open(const address& segment) {
    bytes_ = static_cast<std::size_t>(segment.bytes);
    const std::string path = joined({"/proc/", segment.process, "/fd/", segment.descriptor});
    struct ::stat found = {};
    if (::stat(path.c_str(), &found) != 0) return fail(failure::find);
    if (found.st_dev != segment.device || found.st_ino != segment.inode || found.st_size != ::off_t(segment.bytes)) {
      errno = ENOENT;
      return fail(failure::find);
    }
    descriptor_ = file_descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!descriptor_) return fail(failure::find);
    map();
  }
  /// The address at which other processes can open the segment until close(); after a failure only `bytes` is valid.
  address where() const {
    struct ::stat own = {};
    if (descriptor_) static_cast<void>(::fstat(descriptor_.get(), &own));
    return {::getpid(), descriptor_.get(), own.st_dev, own.st_ino, bytes_};
  }
  /// Allocates the memory of a range in advance, because a first write without free memory would end the process by
  /// SIGBUS.
  void reserve(std::size_t first, std::size_t bytes) {
    if (failed_.step != failure::none || bytes == 0) return;
    int result = 0;
    do result = ::posix_fallocate(descriptor_.get(), static_cast<::off_t>(first), static_cast<::off_t>(bytes));
    while (result == EINTR);
    errno = result;
    if (result != 0) fail(failure::allocate);
  }
  /// Closes the descriptor when all processes have opened the segment, so that no further process can open it.
  void close() noexcept { descriptor_ = {}; }

  const failure& failed() const noexcept { return failed_; }
  /// The page-aligned memory; null after a failure.
  std::byte* data() const noexcept { return data_; }

  [[noreturn]] static void report(const failure& failed, int rank, int processes, std::size_t bytes) {
    const std::string sentence =
                          joined({"shared_memory_transport: rank ", rank, " of ", processes, " processes could not "}),
                      why = std::generic_category().message(failed.number);
    switch (failed.step) {
      case failure::create:
        throw communication_error({sentence, "create shared memory (", why,
                                   "). Allow the processes to use memfd_create, or connect them by MPI."});
      case failure::find:
        throw communication_error(
            {sentence, "open the memory of rank 0 by /proc (", why,
             "). Start all processes on one host, in one container and as one user, or connect them by MPI."});
      default:
        throw communication_error({sentence, "get ", bytes, " bytes of shared memory (", why,
                                   "). Give the job more memory, or start fewer processes."});
    }
  }

 private:
  void fail(failure::step_number step) noexcept {
    if (failed_.step == failure::none) failed_ = {step, errno};
  }
  void map() {
    void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (at == MAP_FAILED) return fail(failure::allocate);
    data_ = static_cast<std::byte*>(at);
  }

  file_descriptor descriptor_;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
  failure failed_;
};

/// Copies from the memory of another process of this host. Sets errno and returns false if Linux refuses, as it does
/// where a process may not trace others of its user, or if the other process has ended.
inline bool copy_from_process(std::int64_t process, void* to, std::uint64_t at, std::size_t bytes) noexcept {
  auto* into = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ::iovec here{into, bytes}, there{reinterpret_cast<void*>(at), bytes};
    const ::ssize_t copied = ::process_vm_readv(static_cast<::pid_t>(process), &here, 1, &there, 1, 0);
    if (copied <= 0) return false;
    into += copied;
    at += static_cast<std::size_t>(copied);
    bytes -= static_cast<std::size_t>(copied);
  }
  return true;
}

/// Tells other processes how to find this one's memory. In another container the process identifier may belong to
/// another process, so they look for the original of this object, of which they have a copy.
struct memory_identity {
  std::int64_t process = ::getpid(), made = devplace::detail::monotonic_nanoseconds();
  std::uint64_t at = reinterpret_cast<std::uint64_t>(this);

  /// Whether this process can copy from the memory of the process that made the original.
  bool readable() const noexcept {
    unsigned char original[sizeof(memory_identity)];
    return copy_from_process(process, original, at, sizeof original) &&
           std::memcmp(original, this, sizeof original) == 0;
  }
};

/// Opens the segment of a group's processes on one host. The first process creates the segment, the others open it.
class shared_opening {
 public:
  struct message {
    shared_segment::address segment;
    std::uint64_t portion = 0;
    memory_identity memory;
    ::cpu_set_t processors = devplace::detail::own_processors();
  };

  /// Takes the arguments of shared_memory_transport::connect.
  shared_opening(const process_ranks& ranks, auto& all_gather, std::size_t wanted) : size_(ranks.size) {
    if (ranks.local_size != ranks.size)
      throw communication_error({"shared_memory_transport: only ", ranks.local_size, " of the ", ranks.size,
                                 " processes are on the host of rank ", ranks.rank,
                                 ". Processes of several hosts are connected by MPI: start "
                                 "them by mpirun or srun, and link devplace::mpi."});
    const auto processes = static_cast<std::size_t>(ranks.size);
    if (ranks.rank == 0) {
      if (wanted == 0) wanted = shared_layout::usual_portion(processes);
      own_.portion = std::max(wanted, processes * sizeof(message) + 63) / 64 * 64;  // at least the messages of a split
      segment->create(shared_layout{processes, own_.portion}.bytes());
      own_.segment = segment->where();
    }
    std::vector<message> messages(processes);
    all_gather(static_cast<const void*>(&own_), sizeof own_, static_cast<void*>(messages.data()));
    for (const message& other : messages) {
      static_cast<void>(CPU_OR(&own_.processors, &own_.processors, &other.processors));
      lenders.push_back(other.memory.process);
      reads_ = reads_ && other.memory.readable();
    }
    oversubscribed = ranks.size > CPU_COUNT(&own_.processors);
    portion = messages[0].portion;
    bytes_ = messages[0].segment.bytes;
    if (ranks.rank != 0 && messages[0].segment.descriptor >= 0) segment->open(messages[0].segment);
    if (segment->data() == nullptr) return;
    const shared_layout layout{processes, portion};
    if (ranks.rank == 0) segment->reserve(0, layout.arrivals_bytes());
    segment->reserve(layout.memory_at(static_cast<std::size_t>(ranks.rank)), layout.memory_bytes());
  }

  /// Whether this process has mapped the segment and allocated its own memory.
  bool usable() const { return segment->data() != nullptr && segment->failed().step == shared_segment::failure::none; }

  /// Throws in all processes if the segment is unusable in any process. Otherwise closes the segment to new processes.
  template <class AllGather> void finish(AllGather& all_gather) {
    struct outcome {
      shared_segment::failure failed;
      std::int32_t reads;
    };
    const outcome own{segment->failed(), reads_};
    std::vector<outcome> all(static_cast<std::size_t>(size_));
    all_gather(static_cast<const void*>(&own), sizeof own, static_cast<void*>(all.data()));
    for (int r = 0; r != size_; ++r) {
      const outcome& of = all[static_cast<std::size_t>(r)];
      if (of.failed.step != 0) shared_segment::report(of.failed, r, size_, bytes_);
      if (of.reads == 0) lenders.clear();
    }
    segment->close();
  }

  std::shared_ptr<shared_segment> segment = std::make_shared<shared_segment>();
  std::size_t portion = 0;      ///< maximum number of bytes of a call, as the first process has chosen
  bool oversubscribed = false;  ///< whether there are more processes than processors
  /// The processes, if each can copy from the memory of all others; otherwise empty after finish().
  std::vector<std::int64_t> lenders;

 private:
  int size_;
  message own_;
  bool reads_ = true;
  std::uint64_t bytes_ = 0;
};

}  // namespace devplace::parallel::detail
