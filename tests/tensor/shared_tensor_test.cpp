// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/tensor/shared_tensor.hpp>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/file.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include <devplace/memory/report.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"

namespace dp = devplace;

namespace {

using shared = dp::on<dp::shared_memory>;
using matrix = dp::tensor<float, dp::extents<2, 3>, shared>;
using rows = dp::tensor<std::int32_t, dp::extents<dp::dyn, 2>, shared>;

/// A name unique among test cases that run concurrently.
std::string name_of(const std::string& what) { return "test." + std::to_string(::getpid()) + "." + what; }

std::string path_of(const std::string& name) { return "/dev/shm/devplace." + std::to_string(::geteuid()) + "." + name; }

bool is_there(const std::string& name) { return ::access(path_of(name).c_str(), F_OK) == 0; }

template <class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const dp::error& failure) {
    return failure.what();
  }
  return "no error";
}

/// A process that has called `f` and then waits to be killed.
class waiting_process {
 public:
  template <class F> explicit waiting_process(F&& f) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      [[maybe_unused]] const auto kept = f();
      static_cast<void>(::write(ready[1], "x", 1) == 1);
      for (;;) ::pause();
    }
    char answer = 0;
    ::close(ready[1]);
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    ::close(ready[0]);
  }
  ~waiting_process() { kill(); }

  /// Sends SIGKILL; returns when the process has ended.
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  ::pid_t process_ = 0;
};

}  // namespace

TEST_CASE("a tensor in shared memory computes like a cpu tensor") {
  const matrix a{{1, 2, 3}, {4, 5, 6}};
  const dp::tensor b = a + 2.0f * a;
  static_assert(std::is_same_v<decltype(b)::placement_type, shared>);
  CHECK(b(1, 2) == 18);
  const auto c = dp::to<dp::on<dp::cpu>>(b);
  CHECK(c(1, 0) == 12);
  CHECK(dp::to<shared>(c)(0, 1) == 6);
  CHECK(a.clone()(0, 2) == 3);
  const auto window = dp::wrap(a.data(), a.extents());
  static_assert(std::is_same_v<decltype(window)::placement_type, dp::on<dp::cpu>>);
  CHECK(window(1, 1) == 5);
  CHECK(dp::placement_name<shared>() == "shared_memory");
  CHECK(dp::available<shared>());
}

TEST_CASE("a process shares unnamed memory with its forked children") {
  matrix x;
  const auto children = support::in_forked_processes(3, [&](int rank) { x(1, rank) = static_cast<float>(rank + 1); });
  CHECK(support::failures(children).empty());
  CHECK((x(1, 0) == 1 && x(1, 1) == 2 && x(1, 2) == 3));
  CHECK(x(0, 0) == 0);
}

TEST_CASE("unnamed memory has no name in the file system") {
  const auto file_of = [](const void* data) {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
      std::uintptr_t first = 0, last = 0;
      char dash = 0;
      std::istringstream range(line);
      range >> std::hex >> first >> dash >> last;
      const auto address = reinterpret_cast<std::uintptr_t>(data);
      if (first <= address && address < last) return line.substr(line.find('/'));
    }
    return std::string("not mapped");
  };
  const matrix x;
  CHECK(file_of(x.data()) == "/memfd:devplace (deleted)");
  const std::string name = name_of("mapped");
  const matrix named = dp::create_shared<matrix>(name);
  CHECK(is_there(name));
}

TEST_CASE("shared memory is counted separately from the cpu's memory") {
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  {
    const matrix x;
    const matrix y = dp::create_shared<matrix>(name_of("counted"));
    CHECK(dp::memory_statistics<dp::shared_memory>().allocated == 2 * 6 * sizeof(float));
    CHECK(dp::memory_table().find("shared_memory") != std::string::npos);
  }
  CHECK(dp::memory_statistics<dp::shared_memory>().allocated == 0);
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before);
}

TEST_CASE("another process opens a tensor by name") {
  const std::string name = name_of("opened");
  matrix x = dp::create_shared<matrix>(name, matrix{{1, 2, 3}, {4, 5, 6}});
  const auto children = support::in_forked_processes(1, [&](int) {
    auto there = dp::open_shared<matrix>(name);
    const float read = there(1, 2);
    there(0, 0) = 7;
    return std::to_string(read);
  });
  CHECK(children[0].text == std::to_string(6.0f));
  CHECK(x(0, 0) == 7);
}

TEST_CASE("shared memory is created as a copy of a tensor or a view of another place") {
  const dp::tensor<float, dp::extents<3, 2>, dp::on<dp::cpu>> x{{1, 2}, {3, 4}, {5, 6}};
  const matrix there = dp::create_shared<matrix>(name_of("copy"), x.permute(dp::axis<1>{}, dp::axis<0>{}));
  CHECK((there(0, 1) == 3 && there(1, 2) == 6));
  CHECK(dp::create_shared<rows>(name_of("of.dynamic"), rows(dp::extents<dp::dyn, 2>(3))).extent(0) == 3);
}

TEST_CASE("run-time extents are read from the shared memory") {
  const std::string name = name_of("rows");
  const rows x = dp::create_shared<rows>(name, dp::extents<dp::dyn, 2>(5));
  CHECK(dp::open_shared<rows>(name).extent(0) == 5);
  CHECK(dp::open_shared<dp::tensor<std::int32_t, dp::extents<5, dp::dyn>, shared>>(name).extent(1) == 2);
  CHECK(x(4, 1) == 0);
  const rows none = dp::create_shared<rows>(name_of("none"), dp::extents<dp::dyn, 2>(0));
  CHECK(dp::open_shared<rows>(name_of("none")).size() == 0);
}

TEST_CASE("opening as another type throws, naming the first difference") {
  const std::string name = name_of("typed");
  const matrix x = dp::create_shared<matrix>(name);
  const std::string extents =
      error_of([&] { static_cast<void>(dp::open_shared<dp::tensor<float, dp::extents<2, 4>, shared>>(name)); });
  CHECK_THAT(extents, Catch::Matchers::ContainsSubstring("\"extents: 2x4\" and \"extents: 2x3\""));
  const std::string element =
      error_of([&] { static_cast<void>(dp::open_shared<dp::tensor<double, dp::extents<2, 3>, shared>>(name)); });
  CHECK_THAT(element, Catch::Matchers::ContainsSubstring("\"element type: double\" and \"element type: float\""));
  const std::string rank =
      error_of([&] { static_cast<void>(dp::open_shared<dp::tensor<float, dp::extents<dp::dyn>, shared>>(name)); });
  CHECK_THAT(rank, Catch::Matchers::ContainsSubstring("\"extents: 2\" and \"extents: 2x3\""));
}

TEST_CASE("the last process with the memory removes the name, in any order of exit") {
  const std::string name = name_of("last");
  std::optional<matrix> first(dp::create_shared<matrix>(name));
  std::optional<matrix> second(dp::open_shared<matrix>(name));
  first.reset();
  CHECK(is_there(name));
  (*second)(0, 0) = 1;
  CHECK(dp::open_shared<matrix>(name)(0, 0) == 1);
  second.reset();
  CHECK(!is_there(name));
  CHECK_THAT(error_of([&] { static_cast<void>(dp::open_shared<matrix>(name)); }),
             Catch::Matchers::ContainsSubstring("does not exist"));
}

TEST_CASE("a forked process keeps the memory and its name") {
  const std::string name = name_of("inherited");
  std::optional<matrix> x(dp::create_shared<matrix>(name));
  waiting_process child([] { return 0; });  // has inherited x
  x.reset();
  CHECK(is_there(name));
  CHECK(dp::open_shared<matrix>(name).size() == 6);
  child.kill();
  const matrix another = dp::create_shared<matrix>(name_of("another"));
  CHECK(!is_there(name));
}

TEST_CASE("after kill -9 of one process, the others keep the memory") {
  const std::string name = name_of("survivor");
  waiting_process creator([&] { return dp::create_shared<matrix>(name, matrix{{1, 2, 3}, {4, 5, 6}}); });
  std::optional<matrix> x(dp::open_shared<matrix>(name));
  creator.kill();
  CHECK((*x)(1, 1) == 5);
  CHECK(dp::open_shared<matrix>(name)(1, 2) == 6);
  x.reset();
  CHECK(!is_there(name));
}

TEST_CASE("memory left by kill -9 of all processes cannot be opened, and the next creation removes it") {
  const std::string name = name_of("killed");
  // Whether the file is left; a concurrent test that creates shared memory may have removed it.
  const auto kill_all = [&] {
    waiting_process creator([&] { return dp::create_shared<matrix>(name); });
    waiting_process user([&] { return dp::open_shared<matrix>(name); });
    creator.kill();
    user.kill();
    return is_there(name);
  };
  bool left = false;
  for (int i = 0; i < 50 && !left; ++i) {
    left = kill_all();
    const matrix other = dp::create_shared<matrix>(name_of("other"));
    CHECK(!is_there(name));
  }
  CHECK(left);
  kill_all();
  CHECK_THAT(error_of([&] { static_cast<void>(dp::open_shared<matrix>(name)); }),
             Catch::Matchers::ContainsSubstring("does not exist"));
  CHECK(!is_there(name));
  kill_all();
  const matrix again = dp::create_shared<matrix>(name);
  CHECK(again(0, 0) == 0);
}

TEST_CASE("names in use and invalid names are rejected") {
  const std::string name = name_of("used");
  const matrix x = dp::create_shared<matrix>(name);
  CHECK_THAT(
      error_of([&] { static_cast<void>(dp::create_shared<matrix>(name)); }),
      Catch::Matchers::ContainsSubstring("exists already, and a process uses it; choose another name, or open it"));
  CHECK(is_there(name));
  for (const std::string& wrong : {std::string(), std::string("a/b"), std::string("a b"), std::string(201, 'a')})
    CHECK_THAT(error_of([&] { static_cast<void>(dp::create_shared<matrix>(wrong)); }),
               Catch::Matchers::ContainsSubstring("is not a name of shared memory; use 1 to 200 letters"));
}

TEST_CASE("only the user can open the file") {
  const std::string name = name_of("private");
  const ::mode_t before = ::umask(0);
  const matrix x = dp::create_shared<matrix>(name);
  ::umask(before);
  struct ::stat found = {};
  REQUIRE(::stat(path_of(name).c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0600);
}

TEST_CASE("opening a foreign file throws") {
  const std::string name = name_of("foreign");
  const std::string elsewhere = "/dev/shm/" + name;  // an unlocked file would be removed as abandoned
  const int file = ::open(elsewhere.c_str(), O_CREAT | O_RDWR, 0600);
  REQUIRE(file >= 0);
  REQUIRE(::flock(file, LOCK_SH) == 0);
  REQUIRE(std::rename(elsewhere.c_str(), path_of(name).c_str()) == 0);
  const auto message = [&] { return error_of([&] { static_cast<void>(dp::open_shared<matrix>(name)); }); };
  CHECK_THAT(message(), Catch::Matchers::ContainsSubstring(
                            "has a header that does not fit its file: another program made or changed /dev/shm/"));
  REQUIRE(::ftruncate(file, 8192) == 0);
  CHECK_THAT(message(), Catch::Matchers::ContainsSubstring(
                            "has a header that does not fit its file: another program made or changed /dev/shm/"));
  ::close(file);
  ::unlink(path_of(name).c_str());
}

TEST_CASE("more memory than the machine has is rejected before allocation") {
  using bytes_of = dp::tensor<std::uint8_t, dp::extents<dp::dyn>, shared>;
  const dp::extents<dp::dyn> too_many(std::size_t{1} << 50);
  CHECK_THAT(error_of([&] { static_cast<void>(bytes_of(too_many)); }),
             Catch::Matchers::ContainsSubstring("shared_memory: 1125899906842624 bytes") &&
                 Catch::Matchers::ContainsSubstring("bytes left for all programs"));
  CHECK_THROWS_AS(bytes_of(too_many), dp::out_of_memory);
}

TEST_CASE("more than /dev/shm can hold is an error with numbers, not a later signal") {
  struct ::statvfs space = {};
  REQUIRE(::statvfs("/dev/shm", &space) == 0);
  using bytes_of = dp::tensor<std::uint8_t, dp::extents<dp::dyn>, shared>;
  if (space.f_blocks == 0) DEVPLACE_SKIP("/dev/shm has no limit");
  const std::size_t bytes = (space.f_blocks + 1) * space.f_frsize;
  const std::string name = name_of("large");
  const std::string message =
      error_of([&] { static_cast<void>(dp::create_shared<bytes_of>(name, dp::extents<dp::dyn>(bytes))); });
  CHECK_THAT(message, Catch::Matchers::ContainsSubstring("bytes are free in /dev/shm") &&
                          Catch::Matchers::ContainsSubstring(std::to_string(space.f_blocks * space.f_frsize)) &&
                          Catch::Matchers::ContainsSubstring("--shm-size"));
  CHECK(!is_there(name));
}

TEST_CASE("processes that create, open and leave one name at random and are killed never see incomplete memory") {
  const std::string name = name_of("stress");
  dp::test::forked_ranks processes;
  constexpr int count = 6;
  for (int p = 0; p < count; ++p)
    processes.start([&name, p] {
      std::minstd_rand random(static_cast<unsigned>(p + 1));
      const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> sevens{{7, 7, 7}, {7, 7, 7}};
      for (int round = 0; round < 2000; ++round) {
        std::optional<matrix> x;
        try {
          x.emplace(random() % 2 == 0 ? dp::create_shared<matrix>(name, sevens) : dp::open_shared<matrix>(name));
        } catch (const dp::argument_error&) {
          continue;  // the name exists, or does not
        }
        if ((*x)(0, 0) != 7 || (*x)(1, 2) != 7) throw std::runtime_error("other elements");
        if (p < 2 && random() % 500 == 0) ::kill(::getpid(), SIGKILL);
      }
    });
  const auto ended = processes.wait(60);
  for (std::size_t p = 0; p < ended.size(); ++p) {
    INFO(ended[p].text);
    CHECK((ended[p].end == "exit 0" || (p < 2 && ended[p].end == "signal 9")));
  }
  const matrix last = dp::create_shared<matrix>(name);  // removes abandoned memory, which frees the name
  CHECK(last(0, 0) == 0);
}
