// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <devplace/io/npy.hpp>
#include <devplace/io/output_file.hpp>
#include <devplace/train/detail/checkpoint_folder.hpp>
#include <devplace/train/training_log.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using support::temporary_folder;

namespace {

/// A call of fsync.
struct flush {
  std::string path;
  int unfinished;  // number of unfinished files in the folder at the call
};
std::vector<flush> flushes;

/// Makes write() fail in this process beyond `bytes` of a file, during its lifetime.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_) == 0);
    const rlimit limited{bytes, old_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
};

}  // namespace

/// Replaces the system's function in this program.
extern "C" int fsync(int file) {
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)).string();
  const std::string folder = std::filesystem::is_directory(path) ? path : path.substr(0, path.rfind('/'));
  int unfinished = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    unfinished += entry.path().string().find("unfinished") != std::string::npos;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  flushes.push_back({path, unfinished});
  return static_cast<int>(::syscall(SYS_fsync, file));
}

TEST_CASE("write_npy leaves nothing behind when it fails", "[io]") {
  const temporary_folder folder;
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{1};
  SECTION("the destination is a folder") {
    std::filesystem::create_directory(folder.file("x.npy"));
    CHECK_THROWS_WITH(dp::write_npy(folder.file("x.npy"), x),
                      ContainsSubstring("is a folder, a pipe or a device, which is not replaced by a file"));
    CHECK(folder.names() == std::vector<std::string>{"x.npy"});
  }
  SECTION("the destination is a pipe or a socket") {  // not /dev/null: a mistake would replace it
    const std::string pipe = folder.file("pipe");
    const std::string socket = folder.file("socket");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    REQUIRE(::mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0);
    for (const std::string& path : {pipe, socket})
      CHECK_THROWS_WITH(dp::write_npy(path, x),
                        ContainsSubstring("is a folder, a pipe or a device, which is not replaced by a file"));
    CHECK(std::filesystem::is_fifo(pipe));
    CHECK(std::filesystem::is_socket(socket));
    CHECK(folder.names().size() == 2);
  }
  SECTION("the file exceeds a system limit, as on a full disk") {
    dp::tensor<double, dp::dextents<1>, dp::on<dp::cpu>> large(dp::dextents<1>(1 << 16));
    std::fill_n(large.data(), large.size(), 1.0);
    folder.write("x.npy", std::string("old"));
    std::string message;
    {
      const file_size_limit limit(4096);
      try {
        dp::write_npy(folder.file("x.npy"), large);
      } catch (const dp::file_error& error) {
        message = error.what();
      }
    }
    CHECK_THAT(message,
               ContainsSubstring("cannot be written: File too large") && ContainsSubstring("x.npy' is unchanged"));
    CHECK(folder.names() == std::vector<std::string>{"x.npy"});
    CHECK(support::contents(folder.file("x.npy")) == "old");
  }
  SECTION("another writer's unfinished file is not touched") {
    folder.write("x.npy.partial", std::string("other"));
    dp::write_npy(folder.file("x.npy"), x);
    CHECK(support::contents(folder.file("x.npy.partial")) == "other");
    CHECK(folder.names().size() == 2);
  }
}

TEST_CASE("write_npy keeps the old file's mode and follows symbolic links", "[io]") {
  using std::filesystem::perms;
  const temporary_folder folder;
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{7};
  const auto mode_of = [](const std::string& path) { return std::filesystem::status(path).permissions(); };
  const auto value_of = [](const std::string& path) { return dp::read_npy<float, dp::extents<1>>(path)(0); };
  SECTION("a new file's mode follows the umask") {
    const mode_t old = ::umask(027);
    dp::write_npy(folder.file("x.npy"), x);
    ::umask(old);
    CHECK(mode_of(folder.file("x.npy")) == perms(0640));
  }
  SECTION("an existing file keeps its mode") {
    for (const perms mode : {perms(0600), perms(0666), perms(0750)}) {
      std::filesystem::permissions(folder.write("x.npy", std::string("old")), mode);
      dp::write_npy(folder.file("x.npy"), x);
      CHECK(mode_of(folder.file("x.npy")) == mode);
      CHECK(value_of(folder.file("x.npy")) == 7);
    }
  }
  SECTION("links") {
    std::filesystem::create_directory(folder.file("data"));
    folder.write("data/best.npy", std::string("old"));
    std::filesystem::create_symlink("data/best.npy", folder.file("x.npy"));
    dp::write_npy(folder.file("x.npy"), x);
    CHECK(std::filesystem::is_symlink(folder.file("x.npy")));
    CHECK_FALSE(std::filesystem::is_symlink(folder.file("data/best.npy")));
    CHECK(value_of(folder.file("data/best.npy")) == 7);
    std::filesystem::create_symlink("none", folder.file("dangling"));
    CHECK_THROWS_WITH(dp::write_npy(folder.file("dangling"), x),
                      ContainsSubstring("is a symbolic link that cannot be followed: No such file"));
    CHECK(std::filesystem::is_symlink(folder.file("dangling")));
    CHECK(folder.names().size() == 3);
  }
}

TEST_CASE("write_npy writes names of 255 bytes and paths without a folder", "[io]") {
  const temporary_folder folder;
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{7};
  const std::string name(255, 'n');
  dp::write_npy(folder.file(name), x);
  CHECK(folder.names() == std::vector<std::string>{name});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  dp::write_npy("x.npy", x);
  std::filesystem::current_path(before);
  CHECK(support::contents(folder.file("x.npy")) == support::contents(folder.file(name)));
}

TEST_CASE("unfinished files of dead writers are removed, others are kept", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("x.npy");
  const dp::tensor<float, dp::extents<1>, dp::on<dp::cpu>> x{7};
  folder.write("x.npy.devplace-unfinished-0", std::string("left over"));
  folder.write("x.npy.devplace-unfinished-5", std::string("left over"));
  folder.write("y.npy.devplace-unfinished-0", std::string("of another file"));
  {
    dp::detail::output_file other(path, "test");
    other.write("other", 5);
    CHECK(folder.names().size() == 2);
    dp::write_npy(path, x);
    CHECK(dp::read_npy<float, dp::extents<1>>(path)(0) == 7);
    CHECK(folder.names().size() == 3);  // including the file of the other writer, which is still writing
    other.commit();
  }
  CHECK(support::contents(path) == "other");
  CHECK(folder.names().size() == 2);
  const std::string pipe = folder.file("x.npy.devplace-unfinished-3");  // not made by devplace
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  dp::write_npy(path, x);
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("many threads that write one file leave one thread's whole file", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("x.npy");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&path, thread] {
      const auto value = static_cast<float>(thread);
      const dp::tensor<float, dp::extents<4>, dp::on<dp::cpu>> x{value, value, value, value};
      for (int i = 0; i < 25; ++i) dp::write_npy(path, x);
    });
  for (std::thread& thread : threads) thread.join();
  const auto x = dp::read_npy<float, dp::extents<4>>(path);
  CHECK(x(0) == x(3));
  CHECK(folder.names() == std::vector<std::string>{"x.npy"});
}

TEST_CASE("the file is flushed before it is renamed, and its folder afterwards", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.write("x.npy", std::string("old"));
  flushes.clear();
  dp::write_npy(path, dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>{{1, 2, 3}, {-4, 0.5f, 0.001f}});
  REQUIRE(flushes.size() == 2);
  CHECK_THAT(flushes[0].path, ContainsSubstring("x.npy.devplace-unfinished"));
  CHECK(flushes[0].unfinished == 1);
  CHECK(std::filesystem::equivalent(flushes[1].path, folder.path()));
  CHECK(flushes[1].unfinished == 0);
}

TEST_CASE("an uncommitted temporary file leaves the old file", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.write("x", std::string("old"));
  {
    dp::detail::output_file file(path, "test");
    file.write("new", 3);
    CHECK(folder.names().size() == 2);
  }
  CHECK(support::contents(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("the name of a new log is flushed to disk", "[io]") {
  const temporary_folder folder;
  flushes.clear();
  {
    dp::training_log log(folder.file("x.csv"), {"step"});
  }
  REQUIRE(flushes.size() == 1);
  CHECK(flushes[0].path == folder.path());
  dp::training_log again(folder.file("x.csv"), {"step"});
  CHECK(flushes.size() == 1);
}

TEST_CASE("new folders for checkpoints are flushed to disk", "[io]") {
  const temporary_folder folder;
  flushes.clear();
  const dp::train::detail::checkpoint_folder made(folder.file("a/b"));
  REQUIRE(flushes.size() == 2);
  CHECK(flushes[0].path == folder.file("a"));
  CHECK(flushes[1].path == folder.path());
  const dp::train::detail::checkpoint_folder existing(folder.file("a/b"));
  CHECK(flushes.size() == 2);
}
