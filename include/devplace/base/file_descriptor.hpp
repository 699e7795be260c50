// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include <devplace/base/fork_count.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

/// The descriptors to close in children of fork(): while a child has a copy of a socket, the peer does not notice that
/// this process has ended.
struct descriptors_of_parent {
  descriptors_of_parent() {
    pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                   [] {
                     for (const int fd : all().open) ::close(fd);
                     all().open.clear();
                     all().mutex.unlock();
                   });
  }
  /// Never destroyed, because destructors of static objects may call fork().
  [[gnu::noinline]] static descriptors_of_parent& all() {
    static auto* const one = new descriptors_of_parent;
    return *one;
  }

  std::mutex mutex;
  std::vector<int> open;
};

/// Owns a file descriptor. The destructor closes it and keeps errno.
class file_descriptor {
 public:
  file_descriptor() = default;
  explicit file_descriptor(int fd) noexcept : fd_(fd) {}
  file_descriptor(file_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), forks_(other.forks_) {}
  file_descriptor& operator=(file_descriptor other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~file_descriptor() {
    if (get() >= 0) close();
  }

  /// Lets children of fork() close the descriptor; get() is -1 there.
  void close_in_children() {
    if (fd_ < 0 || forks_ != 0) return;
    const std::lock_guard lock(descriptors_of_parent::all().mutex);
    descriptors_of_parent::all().open.push_back(fd_);
    forks_ = fork_count();
  }

  int get() const noexcept { return forks_ == 0 || forks_ == fork_count() ? fd_ : -1; }
  explicit operator bool() const noexcept { return get() >= 0; }

 private:
  DEVPLACE_COMPILABLE() void close() const noexcept {
    const int reason = errno;
    std::unique_lock<std::mutex> lock;
    if (forks_ != 0) {  // the lock prevents a fork() between erase and close
      lock = std::unique_lock(descriptors_of_parent::all().mutex);
      std::erase(descriptors_of_parent::all().open, fd_);
    }
    ::close(fd_);
    errno = reason;
  }

  int fd_ = -1;
  unsigned forks_ = 0;  // fork_count() of the only process that has the descriptor; 0: children have a copy
};
DEVPLACE_COMPILED(void file_descriptor::close() const noexcept)

}  // namespace devplace::detail
