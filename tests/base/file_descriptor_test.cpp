// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/base/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "support/catch.hpp"
#include "support/forked_ranks.hpp"

using devplace::detail::file_descriptor;
using devplace::test::forked_ranks;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a descriptor is closed with its owner, which keeps errno", "[base]") {
  int number = -1;
  {
    file_descriptor owner(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = owner.get();
    REQUIRE(is_open(number));
    errno = EPERM;
  }
  const int reason = errno;
  CHECK(reason == EPERM);
  CHECK_FALSE(is_open(number));
  CHECK_FALSE(file_descriptor(-1));
}

TEST_CASE("a child of fork() closes exactly the descriptors that are private to its parent", "[base]") {
  forked_ranks processes;
  processes.start([] {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    file_descriptor both(::dup(null)), moved_from(::dup(null)), closed(::dup(null));
    const int fd = moved_from.get(), closed_fd = closed.get();
    moved_from.close_in_children();
    moved_from.close_in_children();
    closed.close_in_children();
    closed = {};
    const int again = ::dup(null);  // reuses the closed descriptor's number
    file_descriptor of_parent;
    of_parent = std::move(moved_from);
    if (again != closed_fd || of_parent.get() != fd) throw std::runtime_error("other numbers");
    if (::fork() == 0) {
      if (!is_open(both.get()) || !is_open(again))
        throw std::runtime_error("the child closed a descriptor that it may keep");
      if (is_open(fd)) throw std::runtime_error("the child did not close it");
      if (of_parent || of_parent.get() != -1) throw std::runtime_error("the child has no such descriptor");
      const int of_child = ::dup(null);
      if (of_child != fd) throw std::runtime_error("another number");
      of_parent = {};  // does not close the new descriptor
      if (!is_open(of_child)) throw std::runtime_error("the child closed its own");
      std::_Exit(0);
    }
    int status = -1;
    ::wait(&status);
    if (status != 0 || !is_open(fd) || of_parent.get() != fd) throw std::runtime_error("the parent has lost it");
  });
  const auto ends = processes.wait();
  CHECK(ends[0].text.empty());
  CHECK(ends[0].end == "exit 0");
}
