// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include <devplace/tensor/shared_tensor.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/segment_file.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::segment_name;
using support::segment_path_of;

namespace {

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::shared_memory>>;
constexpr ::uid_t other_user = 12'345;

std::string failure_of_open(const std::string& name) {
  try {
    static_cast<void>(dp::open_shared<matrix>(name));
  } catch (const dp::error& refused) {
    return refused.what();
  }
  return "no error";
}
std::string failure_of_create(const std::string& name) {
  try {
    static_cast<void>(dp::create_shared<matrix>(name));
  } catch (const dp::error& refused) {
    return refused.what();
  }
  return "no error";
}

/// A file at `path`, locked exclusively while this object exists. The file is named last, since another test's
/// create_shared may remove an unlocked file.
class locked_file {
 public:
  locked_file(std::string path, ::mode_t mode, ::uid_t owner = ::geteuid())
      : path_(std::move(path)), file_(made(path_ + ".made", mode, owner)) {
    REQUIRE(std::rename((path_ + ".made").c_str(), path_.c_str()) == 0);
  }
  locked_file(const locked_file&) = delete;
  locked_file& operator=(const locked_file&) = delete;
  ~locked_file() {
    unlock();
    ::unlink(path_.c_str());
  }
  void unlock() const { ::flock(file_, LOCK_UN); }
  bool exists() const { return ::access(path_.c_str(), F_OK) == 0; }

 private:
  static int made(const std::string& at, ::mode_t mode, ::uid_t owner) {
    const int file = ::open(at.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    REQUIRE(::flock(file, LOCK_EX) == 0);
    REQUIRE(::fchmod(file, mode) == 0);
    if (owner != ::geteuid()) REQUIRE(::fchown(file, owner, owner) == 0);
    return file;
  }

  std::string path_;
  int file_;
};

}  // namespace

TEST_CASE("another user's file with a shared-memory name is rejected without waiting for its lock") {
  if (::geteuid() != 0) DEVPLACE_SKIP("only root makes files of other users");
  const std::string name = segment_name("other");
  for (const ::mode_t mode : {0600U, 0666U}) {
    const locked_file file(segment_path_of(name), mode, other_user);
    const auto refused = ContainsSubstring("is another user's file. Choose another name");
    CHECK_THAT(failure_of_open(name), ContainsSubstring("open_shared: ") && refused);
    CHECK_THAT(failure_of_create(name), ContainsSubstring("create_shared: ") && refused);
    file.unlock();
    CHECK_THAT(failure_of_open(name), refused);
    const matrix another = dp::create_shared<matrix>(segment_name("another"));  // removes this user's abandoned files
    CHECK(file.exists());
  }
}

TEST_CASE("a user without permissions gets an error naming the owner of the shared-memory file") {
  if (::geteuid() != 0) DEVPLACE_SKIP("only root becomes another user");
  const std::string name = segment_name("roots");
  for (const ::mode_t mode : {0600U, 0666U}) {
    const locked_file file(segment_path_of(name, other_user), mode);
    const auto ended = support::in_forked_processes(1, [&](int) {
      if (::setuid(other_user) != 0) return std::string("setuid failed");
      return failure_of_open(name) + "\n" + failure_of_create(name);
    });
    CHECK(ended[0].end == "exit 0");
    CHECK_THAT(ended[0].text, ContainsSubstring("open_shared: ") && ContainsSubstring("create_shared: ") &&
                                  ContainsSubstring("is another user's file"));
    CHECK(file.exists());
  }
}

TEST_CASE("waiting for a lock held by this user's program times out") {
  const std::string name = segment_name("locked");
  const locked_file file(segment_path_of(name), 0600);
  CHECK_THAT(failure_of_open(name), ContainsSubstring("another program of this user has /dev/shm/devplace.") &&
                                        ContainsSubstring("locked exclusively"));
}

TEST_CASE("a file that others may open is rejected as shared memory") {
  const std::string name = segment_name("mode");
  for (const ::mode_t mode : {0660U, 0606U, 0640U}) {
    const locked_file file(segment_path_of(name), mode);
    file.unlock();
    CHECK_THAT(failure_of_open(name), ContainsSubstring("is a file that other users may open"));
    const matrix another = dp::create_shared<matrix>(segment_name("another"));
    CHECK(file.exists());
  }
}

TEST_CASE("pipes, links and folders are rejected as shared memory without waiting for a pipe's other end") {
  const std::string name = segment_name("special"), path = segment_path_of(name);
  const auto check = [&] {
    CHECK_THAT(failure_of_open(name), ContainsSubstring("is not a regular file"));
    CHECK_THAT(failure_of_create(name), ContainsSubstring("is not a regular file"));
  };
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  check();
  CHECK(::unlink(path.c_str()) == 0);
  REQUIRE(::symlink("/etc/passwd", path.c_str()) == 0);
  check();
  CHECK(::unlink(path.c_str()) == 0);
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  check();
  CHECK(::rmdir(path.c_str()) == 0);
}
